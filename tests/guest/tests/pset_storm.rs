//! Sets created, filled, emptied and destroyed while the LWPs that are bound to them block, wake, fork, end and are killed
//! (K21), at moments that a seed decides (`TALLY_SEED`).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use guest::{Child, Random, Set, address, alone, at_full_length, call, cpus, cpus_of, end, leaves_nothing};
use syscalls::number;
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::lwp::{self, LwpId};
use userlib::pset::{self, PsetId, Who};

/// How often a set is made and destroyed, in each of the rounds that show that nothing is left behind.
fn sets() -> u32 {
    if at_full_length() { 10_000 } else { 100 }
}

/// Of the storm's calls: done, or refused as one may be that comes too late or too early.
#[track_caller]
fn done(what: &str, result: Result<PsetId, Errno>, random: &Random) {
    let may_fail = matches!(result, Err(Errno::ESRCH | Errno::EINVAL | Errno::EBUSY));
    assert!(result.is_ok() || may_fail, "{random}: {what}: {result:?}");
}

/// Blocks, and is woken by whoever comes next.
fn exchange(word: &AtomicU32) {
    let futex = |operation: i32, value: u64, timeout: u64| {
        let operation = (operation | libc::FUTEX_PRIVATE_FLAG) as u64;
        // SAFETY: the word is there, and nothing depends on how long anyone waits.
        _ = unsafe { call(number::futex, &[address(word), operation, value, timeout]) };
    };
    let seen = word.fetch_add(1, Ordering::AcqRel) + 1;
    futex(libc::FUTEX_WAKE, 1, 0);
    let moment = libc::timespec { tv_sec: 0, tv_nsec: 300_000 };
    futex(libc::FUTEX_WAIT, u64::from(seen), address(&raw const moment));
}

/// What a bound LWP's life is.
fn live(random: &mut Random, word: &AtomicU32, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match random.below(8) {
            0 => assert_eq!(Child::new(|| 0).wait(), guest::Ended::Exit(0)),
            1 => {
                let child = Child::new(|| {
                    loop {
                        std::hint::spin_loop();
                    }
                });
                child.kill(libc::SIGKILL);
                assert_eq!(child.wait(), guest::Ended::Signal(libc::SIGKILL));
            }
            2 => thread::spawn(thread::yield_now).join().expect("a thread"),
            3 => (0..2000).for_each(|_| std::hint::spin_loop()),
            _ => exchange(word),
        }
    }
}

/// A child full of LWPs that live until it is killed, in a process group of its own.
fn victim(random: &mut Random) -> Child {
    let mut random = random.fork();
    let victim = Child::new(move || {
        own_group(0);
        static WORD: AtomicU32 = AtomicU32::new(0);
        static NEVER: AtomicBool = AtomicBool::new(false);
        let mut second = random.fork();
        thread::spawn(move || live(&mut second, &WORD, &NEVER));
        live(&mut random, &WORD, &NEVER);
        end(1)
    });
    own_group(victim.pid);
    victim
}

/// Both do it, the child and its parent: whoever comes second comes not too late.
fn own_group(pid: i32) {
    // SAFETY: changes a number of a process of this test's own.
    unsafe { libc::setpgid(pid, 0) };
}

/// Kills the victim and its children, which become the first process's, that is this one's, and waits for all.
fn kill_all(victim: &Child) {
    // SAFETY: a signal to processes of this test's own.
    while unsafe { libc::kill(-victim.pid, libc::SIGKILL) } == 0 {
        // SAFETY: no place is given to write to.
        while unsafe { libc::waitpid(-victim.pid, std::ptr::null_mut(), 0) } > 0 {}
    }
}

/// One of the sets that there are, the other controller's among them, which may be gone when it is used.
fn any_set(random: &mut Random) -> PsetId {
    let mut room = [PsetId::DEFAULT; 2];
    let count = pset::list(&mut room).expect("pset_list").min(room.len());
    room[random.below(count.max(1) as u64) as usize]
}

/// One set's life, in the middle of which the victims are bound and unbound.
fn set_of_a_round(random: &mut Random, lwps: &[LwpId], victim: &Child) {
    let set = pset::create().expect("pset_create");
    let cpu = |random: &mut Random| CpuId::from_raw(1 + random.below(cpus() as u64 - 1) as i32);
    for _ in 0..random.below(12) {
        match random.below(6) {
            0 | 1 => done("assign", pset::assign(set, cpu(random)), random),
            2 => done("take away", pset::assign(PsetId::DEFAULT, cpu(random)), random),
            3 => done("bind the victim", pset::bind(any_set(random), Who::Process(victim.pid)), random),
            4 => done("unbind", pset::bind(PsetId::DEFAULT, Who::Set(set)), random),
            _ => {
                let lwp = lwps[random.below(lwps.len() as u64) as usize];
                done("bind", pset::bind(any_set(random), Who::Lwp(lwp)), random);
            }
        }
    }
    pset::destroy(set).expect("pset_destroy");
    assert_eq!(pset::destroy(set), Err(Errno::EINVAL), "{random}: a stale id");
}

/// Sets and victims, one after the other. Two do this at once, to the same LWPs and with the same CPUs.
fn control(random: &mut Random, lwps: &[LwpId]) {
    for _ in 0..sets() / 10 {
        let victim = victim(random);
        (0..10).for_each(|_| set_of_a_round(random, lwps, &victim));
        kill_all(&victim);
    }
}

fn storm(random: &mut Random) {
    let (word, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let lwps = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            let mut random = random.fork();
            let (lwps, word, stop) = (&lwps, &word, &stop);
            scope.spawn(move || {
                lwps.lock().unwrap().push(lwp::current());
                live(&mut random, word, stop);
                assert_eq!(pset::binding(Who::Caller), Ok(PsetId::DEFAULT), "a survivor is unbound");
            });
        }
        while lwps.lock().unwrap().len() < 4 {
            thread::sleep(Duration::from_millis(1));
        }
        let lwps = lwps.lock().unwrap().clone();
        let other = scope.spawn({
            let (mut random, lwps) = (random.fork(), lwps.clone());
            move || control(&mut random, &lwps)
        });
        control(random, &lwps);
        other.join().expect("the other controller");
        stop.store(true, Ordering::Relaxed);
    });
}

/// Nobody who is gone still counts in a set, whichever is made, or as bound to a CPU: all CPUs come and go.
fn nobody_counts(random: &Random) {
    let all: Vec<Set> = (0..2 * cpus()).map(|_| Set::of(&[])).collect();
    for set in &all {
        for cpu in (1..cpus() as i32).map(CpuId::from_raw) {
            assert_eq!(pset::assign(set.0, cpu), Ok(PsetId::DEFAULT), "{random}: CPU {cpu}");
            assert_eq!(pset::assign(PsetId::DEFAULT, cpu), Ok(set.0), "{random}: CPU {cpu}");
        }
    }
}

#[test]
fn k21_sets_come_and_go_while_their_lwps_live() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let mut random = Random::seeded();
    let begin = Instant::now();
    leaves_nothing(&format!("a storm of sets, {random}"), || storm(&mut random));
    assert_eq!(cpus_of(PsetId::DEFAULT).len(), cpus(), "{random}: all CPUs are home");
    assert_eq!(pset::list(&mut []), Ok(0), "{random}");
    nobody_counts(&random);
    // Whoever was load is gone: nothing is left of the storm but its average, which falls.
    let before = pset::load_averages(PsetId::DEFAULT).unwrap()[0];
    thread::sleep(Duration::from_millis(500));
    let after = pset::load_averages(PsetId::DEFAULT).unwrap()[0];
    assert!(after <= before, "{random}: load from nobody, after {:?}", begin.elapsed());
}
