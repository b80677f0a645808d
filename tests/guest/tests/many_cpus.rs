//! Many CPUs: everyone gets a fair share, nobody runs where it may not, nobody is forgotten. On one CPU these tests hold
//! too; what needs two looks how many there are.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use guest::{allow, alone};
use userlib::lwp::{self, LwpId};

fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The CPU that the caller runs on.
fn here() -> usize {
    // SAFETY: no arguments.
    usize::try_from(unsafe { libc::sched_getcpu() }).expect("sched_getcpu")
}

/// A thread that spins until it is told to stop, counting its rounds and showing where it is.
struct Spinner {
    tid: LwpId,
    rounds: Arc<AtomicU64>,
    place: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Spinner {
    fn new() -> Spinner {
        let (rounds, place, stop) =
            (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(99)), Arc::new(AtomicBool::new(false)));
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn({
            let (rounds, place, stop) = (rounds.clone(), place.clone(), stop.clone());
            move || {
                tell.send(lwp::current()).expect("somebody listens");
                while !stop.load(Ordering::Relaxed) {
                    place.store(here() as u64, Ordering::Relaxed);
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Spinner { tid: told.recv().expect("its id"), rounds, place, stop, thread: Some(thread) }
    }

    fn used(&self) -> Duration {
        lwp::cputime(self.tid).expect("it lives").total()
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(thread::JoinHandle::join);
    }
}

/// How far the spinner that is farthest off is from its fair share of all CPUs, over a second.
fn worst_share(spinners: &[Spinner]) -> f64 {
    let before: Vec<Duration> = spinners.iter().map(Spinner::used).collect();
    let start = Instant::now();
    thread::sleep(Duration::from_secs(1));
    let after: Vec<Duration> = spinners.iter().map(Spinner::used).collect();
    let fair = start.elapsed().as_secs_f64() * cpus() as f64 / spinners.len() as f64;
    let shares = before.iter().zip(&after).map(|(before, after)| (*after - *before).as_secs_f64() / fair);
    shares.map(|share| (share - 1.0).abs()).fold(0.0, f64::max)
}

/// n spinners on m CPUs get m/n of a CPU each. A host that is busy does not run all CPUs all the time, so that without
/// virtual time one second of several has to do, and roughly.
#[test]
fn spinners_share_all_cpus_evenly() {
    let _alone = alone();
    let spinners: Vec<Spinner> = (0..cpus() + 1).map(|_| Spinner::new()).collect();
    thread::sleep(Duration::from_millis(100));
    let (attempts, tolerance) = if guest::on_icount() { (1, 0.05) } else { (10, 0.5) };
    let worst: Vec<f64> =
        (0..attempts).map(|_| worst_share(&spinners)).take_while(|&off| off > tolerance).collect();
    assert!(worst.len() < attempts, "off by {worst:.3?} of the fair share");
}

/// K18: an LWP that runs, or waits, on a CPU that it may no longer use leaves it before the call returns.
#[test]
fn k18_a_running_lwp_leaves_the_cpu_that_is_taken_from_it() {
    let _alone = alone();
    let spinner = Spinner::new();
    for round in 0..20 {
        let target = round % cpus();
        assert!(allow(spinner.tid.raw(), 1 << target), "sched_setaffinity");
        let seen = spinner.rounds.load(Ordering::SeqCst);
        // The round under way may have begun before the call; the next one has not.
        while spinner.rounds.load(Ordering::SeqCst) < seen + 2 {
            thread::yield_now();
        }
        assert_eq!(spinner.place.load(Ordering::SeqCst), target as u64, "round {round}");
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
        assert_eq!(here(), target, "round {round}");
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
