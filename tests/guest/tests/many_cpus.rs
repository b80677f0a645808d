//! Many CPUs: everyone gets a fair share, nobody runs where it may not, nobody is forgotten. On one CPU these tests hold
//! too; what needs two looks how many there are.

use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use guest::{Spinner, allow, alone, cpus, here};
use userlib::lwp;

/// What everyone had used at a moment.
struct Moment(Instant, Vec<Duration>);

impl Moment {
    fn now(spinners: &[Spinner]) -> Moment {
        Moment(Instant::now(), spinners.iter().map(Spinner::used).collect())
    }

    /// How far the spinner that is farthest off is from its fair share since then: of all CPUs; and where those are more than
    /// the host is taken to have, so that they stand still now and then, of what all spinners had.
    fn worst_share(&self, now: &Moment) -> f64 {
        let used = || self.1.iter().zip(&now.1).map(|(before, after)| (*after - *before).as_secs_f64());
        let all = (now.0 - self.0).as_secs_f64() * cpus() as f64;
        let fair = if cpus() > 2 { used().sum() } else { all } / self.1.len() as f64;
        used().map(|used| (used / fair - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// A second with the spinners: how far off it was, or all seconds so far, whichever was better.
fn a_second(spinners: &[Spinner], first: &Moment, last: &mut Moment) -> f64 {
    thread::sleep(Duration::from_secs(1));
    let before = std::mem::replace(last, Moment::now(spinners));
    before.worst_share(last).min(first.worst_share(last))
}

/// n spinners on m CPUs get m/n of a CPU each, within 5 % over a second, and that though n is no multiple of m: of three on
/// two CPUs it is not always the same two that share one, which would be 50 % off. A busy host does not run all CPUs all the
/// time, so that without virtual time one second of several has to do, or several together.
#[test]
fn spinners_share_all_cpus_evenly() {
    const TOLERANCE: f64 = 0.05;
    let _alone = alone();
    let attempts = if guest::on_icount() { 1 } else { 20 };
    for count in [cpus(), cpus() + 1, 2 * cpus() + 1] {
        let spinners: Vec<Spinner> = (0..count).map(|_| Spinner::silent()).collect();
        thread::sleep(Duration::from_millis(100));
        let (first, mut last) = (Moment::now(&spinners), Moment::now(&spinners));
        let seconds = (0..attempts).map(|_| a_second(&spinners, &first, &mut last));
        let worst: Vec<f64> = seconds.take_while(|&off| off > TOLERANCE).collect();
        assert!(worst.len() < attempts, "{count} spinners: off by {worst:.3?} of the fair share");
    }
}

/// K18: an LWP that runs, or waits, on a CPU that it may no longer use leaves it before the call returns.
#[test]
fn k18_a_running_lwp_leaves_the_cpu_that_is_taken_from_it() {
    let _alone = alone();
    let spinner = Spinner::start();
    for round in 0..20 {
        let target = round % cpus();
        assert!(allow(spinner.lwp.raw(), 1 << target), "sched_setaffinity");
        assert_eq!(spinner.place(), target as i32, "round {round}");
    }
}

/// K19: an LWP that sends itself to an idle CPU runs again at once: the CPU is woken.
#[test]
fn k19_who_moves_to_an_idle_cpu_is_not_left_there() {
    let _alone = alone();
    let start = Instant::now();
    for round in 0..1000 {
        let target = round % cpus();
        assert!(allow(0, 1 << target), "sched_setaffinity");
        assert_eq!(here().raw(), target as i32, "round {round}");
    }
    assert!(allow(0, u64::MAX), "sched_setaffinity");
    assert!(start.elapsed() < Duration::from_secs(20), "1000 moves took {:?}", start.elapsed());
}

/// K20: two LWPs move each other while both run; neither is ever on a stack that the other still uses.
#[test]
fn k20_two_lwps_move_each_other() {
    let _alone = alone();
    let ids = Mutex::new(Vec::new());
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for me in 0..2usize {
            let (ids, barrier) = (&ids, &barrier);
            scope.spawn(move || {
                ids.lock().expect("ids").push((me, lwp::current()));
                barrier.wait();
                let other = ids.lock().expect("ids").iter().find(|(who, _)| *who != me).expect("the other").1;
                for round in 0..1_000 {
                    assert!(allow(other.raw(), 1 << ((round + me) % cpus())), "sched_setaffinity");
                }
                barrier.wait(); // nobody ends while the other still moves it
            });
        }
    });
}

#[test]
fn a_set_of_no_cpu_is_refused() {
    assert!(!allow(0, 0));
    assert!(!allow(0, !((1 << cpus()) - 1)), "CPUs that are not there");
    assert!(!allow(-1, 1) && !allow(99_999, 1));
    assert!(allow(0, u64::MAX));
}
