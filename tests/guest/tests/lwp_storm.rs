//! LWPs in numbers, on all CPUs, started, woken, moved and ended at moments that a seed decides (`TALLY_SEED`): no wake-up
//! is lost, nobody runs where it may not, nothing is left behind, and the sums of CPU time close.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use guest::{Random, address, alone, call, leaves_nothing};
use syscalls::number;
use userlib::lwp::{self, LwpId};

fn cpus() -> u64 {
    thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

/// Says which CPUs an LWP may use. It may have ended.
fn allow(tid: LwpId, mask: u64) {
    _ = guest::allow(tid.raw(), mask);
}

/// Some CPUs, of which one at least is there.
fn any_cpus(random: &mut Random) -> u64 {
    random.number() & ((1 << cpus()) - 1) | 1 << random.below(cpus())
}

fn wait(word: &AtomicU32, value: u32) {
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is there; waiting longer than the value lasts is what is tested.
    _ = unsafe { call(number::futex, &[address(word), operation as u64, u64::from(value), 0]) };
}

fn wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: waking does no harm.
    _ = unsafe { call(number::futex, &[address(word), operation as u64, 1]) };
}

/// Two LWPs that hand a word to and fro.
#[derive(Default)]
struct Pair {
    turn: AtomicU32,
    rounds: AtomicU64,
}

impl Pair {
    /// Plays one side `rounds` times; `each` comes in between.
    fn play(&self, mine: u32, rounds: u64, mut each: impl FnMut()) {
        for _ in 0..rounds {
            while self.turn.load(Ordering::Acquire) != mine {
                wait(&self.turn, 1 - mine);
            }
            each();
            self.turn.store(1 - mine, Ordering::Release);
            wake(&self.turn);
            self.rounds.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Waits for the pairs to play all their rounds, and panics where none goes on for long: what is scheduled then would
/// never be.
fn watch(pairs: &[Pair], rounds: u64, random: &Random) {
    const PATIENCE: Duration = Duration::from_secs(20);
    let played = || pairs.iter().map(|pair| pair.rounds.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let (mut last, mut since) = (played(), Instant::now());
    while last.iter().any(|&count| count < 2 * rounds) {
        thread::sleep(Duration::from_millis(10));
        let now = played();
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            eprintln!("{random}: nobody goes on after {last:?} of {} rounds", 2 * rounds);
            std::process::abort(); // the scope would wait for them
        }
    }
}

/// K28: each of a pair on a CPU of its own, one pair, then eight of them on all CPUs.
#[test]
fn k28_no_wake_is_lost_between_cpus() {
    let _alone = alone();
    let random = Random::seeded();
    for (count, rounds) in [(1, 4_000), (8, 500)] {
        let pairs: Vec<Pair> = (0..count).map(|_| Pair::default()).collect();
        thread::scope(|scope| {
            for (index, pair) in pairs.iter().enumerate() {
                for side in 0..2 {
                    scope.spawn(move || {
                        allow(lwp::current(), 1 << ((index as u64 + u64::from(side)) % cpus()));
                        pair.play(side, rounds, || ());
                    });
                }
            }
            watch(&pairs, rounds, &random);
        });
    }
}

/// Pairs whose players move themselves and each other meanwhile, and never find themselves where they may not be.
#[test]
fn nobody_is_lost_who_moves_while_it_is_woken() {
    const PAIRS: usize = 4;
    const ROUNDS: u64 = 300;
    let _alone = alone();
    let mut random = Random::seeded();
    leaves_nothing("moving", || {
        let pairs: Vec<Pair> = (0..PAIRS).map(|_| Pair::default()).collect();
        let players: Vec<AtomicU32> = (0..2 * PAIRS).map(|_| AtomicU32::new(0)).collect();
        thread::scope(|scope| {
            for (index, player) in players.iter().enumerate() {
                let (pair, players, mut random) = (&pairs[index / 2], &players, random.fork());
                scope.spawn(move || {
                    player.store(lwp::current().raw() as u32, Ordering::SeqCst);
                    pair.play(index as u32 % 2, ROUNDS, || move_somebody(players, &mut random));
                });
            }
            watch(&pairs, ROUNDS, &random);
        });
    });
}

/// Moves the caller, and looks whether it has, or another.
fn move_somebody(players: &[AtomicU32], random: &mut Random) {
    match random.below(4) {
        0 => {
            let mask = any_cpus(random);
            allow(lwp::current(), mask);
        }
        1 => {
            let other = players[random.below(players.len() as u64) as usize].load(Ordering::SeqCst);
            if other != 0 {
                allow(LwpId::from_raw(other as i32), any_cpus(random));
            }
        }
        _ => {}
    }
}

/// LWPs that make others, which make others, while all that end are in nobody's way.
#[test]
fn lwps_come_and_go_everywhere() {
    let _alone = alone();
    let mut random = Random::seeded();
    leaves_nothing("coming and going", || {
        thread::scope(|scope| {
            for _ in 0..8 {
                let mut random = random.fork();
                scope.spawn(move || (0..6).for_each(|_| live(3, &mut random)));
            }
        });
    });
}

/// A short life, with up to two shorter ones beside it.
fn live(generations: u32, random: &mut Random) {
    if random.once_in(3) {
        allow(lwp::current(), any_cpus(random));
    }
    thread::scope(|scope| {
        for _ in 0..if generations == 0 { 0 } else { random.below(3) } {
            let mut random = random.fork();
            scope.spawn(move || live(generations - 1, &mut random));
        }
        match random.below(4) {
            0 => thread::yield_now(),
            1 => thread::sleep(Duration::from_micros(random.below(300))),
            2 => (0..random.below(20_000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    });
}

/// Where an LWP may be now, and how often that was changed; any CPU while it is being changed.
fn stamped(round: u64, mask: u64) -> u64 {
    round << 32 | mask
}

/// Compares where it is with where it may be, until it is told to stop; returns how often that was wrong.
fn spy(allowed: &AtomicU64, stop: &AtomicBool, random: &mut Random) -> u64 {
    let mut wrong = 0;
    while !stop.load(Ordering::Relaxed) {
        let before = allowed.load(Ordering::SeqCst);
        // SAFETY: no arguments.
        let here = unsafe { libc::sched_getcpu() };
        // Only where nothing was changed meanwhile is it clear what holds.
        wrong += u64::from(allowed.load(Ordering::SeqCst) == before && before >> here & 1 == 0);
        if random.once_in(4) {
            thread::sleep(Duration::from_micros(random.below(50)));
        }
    }
    wrong
}

/// K18 in a storm: whoever was moved by another is where it may be as soon as that call has returned, whatever it was
/// about.
#[test]
fn k18_whoever_is_moved_is_never_seen_where_it_was() {
    let _alone = alone();
    let mut random = Random::seeded();
    let (stop, allowed) = (AtomicBool::new(false), AtomicU64::new(stamped(0, 0xff)));
    let wrong = thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (mut own, stop, allowed) = (random.fork(), &stop, &allowed);
        let spy = scope.spawn(move || {
            sender.send(lwp::current()).expect("somebody listens");
            spy(allowed, stop, &mut own)
        });
        let moved = receiver.recv().expect("its id");
        for round in 1..400 {
            let mask = any_cpus(&mut random);
            allowed.store(stamped(round, 0xff), Ordering::SeqCst);
            allow(moved, mask);
            allowed.store(stamped(round, mask), Ordering::SeqCst);
            thread::sleep(Duration::from_micros(random.below(100)));
        }
        stop.store(true, Ordering::Relaxed);
        spy.join().expect("it ends well")
    });
    assert_eq!(wrong, 0, "{random}");
}

/// K35: everyone knows itself at each entry into the kernel, from its first call on. (Where scheduling is disturbed, CPUs
/// interrupt one another by NMIs meanwhile. That one comes just where the kernel's GS base is not there yet is rare: QEMU
/// looks for them between blocks of instructions only, and a kernel that went by `cs` there passed three runs.)
#[test]
fn k35_everyone_knows_itself_whatever_interrupts() {
    let _alone = alone();
    let mut random = Random::seeded();
    thread::scope(|scope| {
        for _ in 0..4 {
            let mut random = random.fork();
            scope.spawn(move || {
                let own = userlib::raw::gettid();
                for _ in 0..3_000 {
                    assert_eq!(userlib::raw::gettid(), own);
                }
                for _ in 0..10 {
                    let newborn = thread::spawn(|| (userlib::raw::gettid(), lwp::current()));
                    let (first, second) = newborn.join().expect("it ends well");
                    assert!(first == second.raw() as u64 && first != own);
                }
                allow(lwp::current(), any_cpus(&mut random));
            });
        }
    });
}
