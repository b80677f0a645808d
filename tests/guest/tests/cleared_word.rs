//! The word that an LWP has the kernel clear when it ends (set_tid_address(2)). C libraries make it a lock that the LWP
//! holds then: who clears it too early lets the others of the process in while things are half done.
//!
//! Other than on Linux, LWPs that are told to end (a fatal signal, `exit_group`, `execve` by another) clear nothing in
//! memory that only they and those who end with them have: until the last has left the CPU it would be seen to change.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use guest::{Child, Ended, address, call, end, shared_word, sleep_for_ever};
use syscalls::number;

/// What the word holds while nobody has cleared it.
const LOCKED: u32 = 1;

/// The caller's word.
fn set_word(word: &AtomicU32) {
    // SAFETY: the word is never unmapped.
    unsafe { call(number::set_tid_address, &[address(word)]) }.expect("set_tid_address");
}

/// Ends the calling LWP, and nothing else.
fn end_lwp() -> ! {
    // SAFETY: nobody joins this thread, and what it had is never given back.
    _ = unsafe { call(number::exit, &[0]) };
    unreachable!("exit returns to nobody")
}

fn wait_while(word: &AtomicU32, value: u32) {
    while word.load(SeqCst) == value {
        thread::yield_now();
    }
}

/// A child of three LWPs that have one word, which outlives them. Two sleep; the first does `last` when they are ready.
fn child_with_word(word: &'static AtomicU32, last: impl FnOnce()) -> Child {
    static READY: AtomicU32 = AtomicU32::new(0);
    word.store(LOCKED, SeqCst);
    Child::new(move || {
        for others in 0..2 {
            thread::spawn(move || {
                set_word(word);
                READY.fetch_add(1, SeqCst);
                sleep_for_ever()
            });
            wait_while(&READY, others);
        }
        set_word(word);
        last();
        sleep_for_ever()
    })
}

#[test]
fn one_that_ends_by_its_own_wish_clears_it() {
    let _alone = guest::alone();
    static WORD: AtomicU32 = AtomicU32::new(LOCKED);
    thread::spawn(|| {
        set_word(&WORD);
        end_lwp()
    });
    wait_while(&WORD, LOCKED);
    assert_eq!(WORD.load(SeqCst), 0);
}

#[test]
fn those_who_are_killed_do_not() {
    let _alone = guest::alone();
    let word = shared_word();
    for _ in 0..20 {
        let child = child_with_word(word, || {});
        thread::yield_now();
        child.kill(libc::SIGKILL);
        assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
        assert_eq!(word.load(SeqCst), LOCKED);
    }
}

#[test]
fn those_whose_process_exits_do_not() {
    let _alone = guest::alone();
    let word = shared_word();
    for _ in 0..20 {
        assert_eq!(child_with_word(word, || end(7)).wait(), Ended::Exit(7));
        assert_eq!(word.load(SeqCst), LOCKED);
    }
}

#[test]
fn those_whose_process_begins_another_program_do_not() {
    let _alone = guest::alone();
    let word = shared_word();
    for _ in 0..5 {
        // Nobody reads what the other program, this one without a test, says.
        let (_reader, writer) = io::pipe().expect("pipe");
        let another_program = || {
            let own_path = std::env::args().next().expect("argv[0]");
            panic!("{}", Command::new(own_path).args(["--exact", "none"]).stdout(writer).exec());
        };
        assert_eq!(child_with_word(word, another_program).wait(), Ended::Exit(0));
        assert_eq!(word.load(SeqCst), LOCKED);
    }
}
