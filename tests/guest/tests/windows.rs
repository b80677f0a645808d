//! However long a call takes, interrupts come in: a sleeper whose time is over is woken then, not when the call is done.
//! Under `--icount`, where nothing else delays anybody.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use guest::{Child, Ended, PAGE, Pages, address, alone, call};
use syscalls::number;
use userlib::lwp;

/// How long the sleeper asks to sleep, and how much longer it may.
const SLEEP: Duration = Duration::from_micros(100);
const LATE: Duration = Duration::from_micros(50);

/// How long somebody sleeps who asks for [`SLEEP`], while this LWP is in the middle of `work`, and how long that takes.
fn slept_during(work: impl FnOnce()) -> (Duration, Duration) {
    let sleeper = thread::spawn(|| {
        let sleeping = || lwp::microstates(lwp::current()).expect("it lives").sleeping;
        let before = sleeping();
        thread::sleep(SLEEP);
        sleeping() - before
    });
    thread::yield_now(); // there is one CPU: the other sleeps when this one comes back
    let start = Instant::now();
    work();
    let took = start.elapsed();
    (sleeper.join().expect("it ends well"), took)
}

fn assert_interrupted(what: &str, work: impl FnOnce()) {
    let (slept, took) = slept_during(work);
    assert!(took > 2 * SLEEP, "{what} takes {took:?}: not long enough to tell");
    guest::assert_within(what, slept, SLEEP..=SLEEP + LATE);
}

fn touched(count: u64) -> Pages {
    let pages = Pages::new(count);
    (0..count).for_each(|page| pages.write(page * PAGE, 1));
    pages
}

#[test]
fn calls_about_much_memory_let_interrupts_in() {
    let _alone = alone();
    if !guest::on_icount() {
        return;
    }
    let pages = touched(40_000);
    let whole = [pages.page(0), 40_000 * PAGE];
    let make = |number: usize, rest: &[u64]| {
        // SAFETY: this test's own pages.
        unsafe { call(number, &[&whole, rest].concat()) }.expect("the call")
    };
    let other_place = pages.page(0) + (1 << 36);
    assert_interrupted("mprotect", || _ = make(number::mprotect, &[libc::PROT_READ as u64]));
    assert_interrupted("fork", || assert_eq!(Child::new(|| 0).wait(), Ended::Exit(0)));
    assert_interrupted("mremap", || {
        make(number::mremap, &[whole[1], (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as u64, other_place]);
    });
    assert_interrupted("munmap", || {
        // SAFETY: where the pages are now.
        unsafe { call(number::munmap, &[other_place, whole[1]]) }.expect("munmap");
    });
    let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_FIXED) as u64;
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    assert_interrupted("mmap", || _ = make(number::mmap, &[protection, flags, u64::MAX, 0]));
}

#[test]
fn the_end_of_a_large_process_lets_interrupts_in() {
    let _alone = alone();
    if !guest::on_icount() {
        return;
    }
    // The child's memory is there before the sleeper is, who is of this process.
    let (mut reader, writer) = std::io::pipe().expect("pipe");
    let child = Child::new(|| {
        let _memory = std::mem::ManuallyDrop::new(touched(40_000));
        std::io::Write::write_all(&mut &writer, &[0]).expect("write");
        guest::sleep_for_ever()
    });
    std::io::Read::read_exact(&mut reader, &mut [0]).expect("read");
    assert_interrupted("exit", || {
        child.kill(libc::SIGKILL);
        assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
    });
}

#[test]
fn waking_many_lets_interrupts_in() {
    const WAITERS: u64 = 3_000;
    static WORD: AtomicU32 = AtomicU32::new(0);
    let _alone = alone();
    if !guest::on_icount() {
        return;
    }
    let wait = libc::FUTEX_WAIT as u64;
    let wake = libc::FUTEX_WAKE as u64;
    let waiters: Vec<_> = (0..WAITERS)
        .map(|_| {
            let build = thread::Builder::new().stack_size(16 << 10);
            build
                .spawn(move || {
                    // SAFETY: the word stays.
                    _ = unsafe { call(number::futex, &[address(&WORD), wait, 0, 0]) };
                })
                .expect("a thread")
        })
        .collect();
    thread::sleep(Duration::from_millis(50));
    WORD.store(1, Ordering::SeqCst);
    assert_interrupted("futex", || {
        // SAFETY: waking does no harm.
        assert_eq!(unsafe { call(number::futex, &[address(&WORD), wake, u64::MAX >> 33]) }, Ok(WAITERS));
    });
    waiters.into_iter().for_each(|waiter| waiter.join().expect("it ends well"));
}
