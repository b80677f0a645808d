//! Processes: copies of their makers, their ends, and waiting for these (fork(2), wait4(2), waitid(2)).

use std::io;
use std::mem::zeroed;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use guest::{
    Child, Ended, Meanwhile, PAGE, Pages, Registers, VectorState, address, call, end, invoke, sleep_for_ever,
};
use syscalls::number;
use userlib::Errno;

fn own_pid() -> i32 {
    std::process::id() as i32
}

/// `wait4` for any child or one, without waiting.
fn look(pid: i32, options: i32) -> Result<u64, Errno> {
    // SAFETY: nothing is to be written.
    unsafe { call(number::wait4, &[pid as u64, 0, (options | libc::WNOHANG) as u64, 0]) }
}

#[test]
fn every_status_arrives() {
    let _alone = guest::alone();
    for status in [0, 1, 2, 42, 127, 128, 255] {
        assert_eq!(Child::new(|| status).wait(), Ended::Exit(status));
    }
    assert_eq!(Child::new(|| 256 + 7).wait(), Ended::Exit(7), "the low byte");
}

#[test]
fn every_fatal_signal_arrives() {
    let _alone = guest::alone();
    // All but those that Rust's library handles or ignores.
    for signal in [1, 2, 3, 4, 6, 8, 9, 10, 12, 14, 15, 24, 25, 26, 30, 31, 40, 64] {
        let child = Child::new(|| sleep_for_ever());
        child.kill(signal);
        assert_eq!(child.wait(), Ended::Signal(signal));
    }
}

#[test]
fn a_fault_is_a_signal() {
    let _alone = guest::alone();
    // SAFETY: what it does to this process is what is tested.
    let broken = Child::new(|| unsafe { std::ptr::without_provenance::<i32>(16).read_volatile() });
    assert_eq!(broken.wait(), Ended::Signal(libc::SIGSEGV));
    // SAFETY: likewise.
    let undefined = Child::new(|| unsafe {
        std::arch::asm!("ud2");
        0
    });
    assert_eq!(undefined.wait(), Ended::Signal(libc::SIGILL));
}

#[test]
fn memory_is_copied_and_then_apart() {
    let _alone = guest::alone();
    let pages = Pages::new(64);
    let fill = |value: u8| pages.fill(value);
    let all = |value: u8| (0..64 * PAGE).step_by(64).all(|offset| pages.read(offset) == value);
    fill(1);
    let (reader, writer) = io::pipe().expect("pipe");
    let child = Child::new(|| {
        let before = all(1);
        fill(2);
        wait_for_close(reader.try_clone().expect("dup"), &writer);
        i32::from(!(before && all(2)))
    });
    fill(3);
    drop((reader, writer));
    assert_eq!(child.wait(), Ended::Exit(0));
    assert!(all(3), "what the child wrote is not seen here");
}

/// Waits until the parent has closed its writing end too.
fn wait_for_close(mut reader: io::PipeReader, writer: &io::PipeWriter) {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    // SAFETY: the child's own descriptor, which is used no more.
    unsafe { libc::close(writer.as_raw_fd()) };
    assert_eq!(reader.read(&mut [0; 1]).expect("read"), 0);
}

#[test]
fn shared_memory_stays_shared() {
    let _alone = guest::alone();
    let word = guest::shared_word();
    let child = Child::new(|| {
        word.store(7, Ordering::SeqCst);
        let value = wait_while(word, 7);
        i32::from(value != 8)
    });
    while word.load(Ordering::SeqCst) != 7 {
        wait_while(word, 0);
    }
    word.store(8, Ordering::SeqCst);
    let wake = [address(word), libc::FUTEX_WAKE as u64, u32::MAX as u64 >> 1];
    // Until it has gone to sleep there is nobody to wake, and it sees the new value by itself.
    // SAFETY: the word is this test's own.
    unsafe { call(number::futex, &wake) }.expect("futex");
    assert_eq!(child.wait(), Ended::Exit(0));
}

/// Waits, by a futex that processes share, until a word has another value; returns it.
fn wait_while(word: &AtomicU32, value: u32) -> u32 {
    while word.load(Ordering::SeqCst) == value {
        let timeout = [0_u64, 50_000_000];
        let arguments = [address(word), libc::FUTEX_WAIT as u64, u64::from(value), address(&timeout)];
        // SAFETY: the word and the time-out are there.
        let _changed_or_late = unsafe { call(number::futex, &arguments) };
    }
    word.load(Ordering::SeqCst)
}

#[test]
fn a_wake_reaches_a_waiter_in_another_process() {
    let _alone = guest::alone();
    let word = guest::shared_word();
    let child = Child::new(|| {
        // Without a time-out: only a wake ends it.
        // SAFETY: the word is there.
        let result = unsafe { call(number::futex, &[address(word), libc::FUTEX_WAIT as u64, 0, 0]) };
        i32::from(result != Ok(0))
    });
    let wake = [address(word), libc::FUTEX_WAKE as u64, 1];
    // SAFETY: the word is there.
    while unsafe { call(number::futex, &wake) } != Ok(1) {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait(), Ended::Exit(0));
}

#[test]
fn a_private_word_is_another_in_each_process() {
    let _alone = guest::alone();
    let word = AtomicU32::new(0);
    let child = Child::new(|| {
        let timeout = [0_u64, 100_000_000];
        let wait = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as u64;
        // SAFETY: word and time-out are there.
        let result = unsafe { call(number::futex, &[address(&word), wait, 0, address(&timeout)]) };
        i32::from(result != Err(Errno::ETIMEDOUT))
    });
    let wake = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as u64;
    for _ in 0..20 {
        // SAFETY: the word is there.
        assert_eq!(unsafe { call(number::futex, &[address(&word), wake, 9]) }, Ok(0));
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait(), Ended::Exit(0));
}

#[test]
fn both_sides_have_all_registers() {
    let _alone = guest::alone();
    for number in [number::fork, number::clone] {
        let before = Registers {
            rax: number as u64,
            rdi: libc::SIGCHLD as u64,
            rsi: 0,
            rdx: 0,
            r10: 0,
            r8: 0,
            ..Registers::default()
        };
        let mut after = before;
        // SAFETY: the child does nothing but compare.
        unsafe { invoke(&mut after) };
        let (result, same) = (after.rax, Registers { rax: before.rax, ..after } == before);
        if result == 0 {
            end(i32::from(!same));
        }
        assert_eq!(Child { pid: result as i32 }.wait(), Ended::Exit(0), "the child's");
        assert!(same, "{before:x?}, {after:x?}");
    }
}

#[test]
fn both_sides_have_the_vector_state() {
    let _alone = guest::alone();
    let place = Pages::new(1);
    let way = Meanwhile { number: number::fork as u64, arguments: [0; 3], page: place.page(0), rounds: 1 };
    let (pid, before) = (own_pid(), VectorState::new(77));
    let mut after = before;
    // SAFETY: the child does nothing but compare.
    unsafe { after.pass_through(&way) };
    if own_pid_now() != pid {
        end(i32::from(after != before));
    }
    let mut status = 0;
    // SAFETY: the place is this test's own. The child's id went to a register that was not kept.
    let child = unsafe { libc::waitpid(-1, &raw mut status, 0) };
    assert!(child > 0);
    assert_eq!((Ended::from_status(status), after), (Ended::Exit(0), before));
}

fn own_pid_now() -> i32 {
    userlib::raw::getpid() as i32
}

#[test]
fn children_know_their_parents() {
    let _alone = guest::alone();
    let parent = own_pid();
    let child = Child::new(|| i32::from(own_pid_now() == parent || userlib::raw::getppid() as i32 != parent));
    assert_eq!(child.wait(), Ended::Exit(0));
    let child = Child::new(|| i32::from(userlib::raw::gettid() != userlib::raw::getpid()));
    assert_eq!(child.wait(), Ended::Exit(0), "the first LWP has the process's id");
}

#[test]
fn without_children_there_is_nothing_to_wait_for() {
    let _alone = guest::alone();
    assert_eq!(look(-1, 0), Err(Errno::ECHILD));
    assert_eq!(look(own_pid(), 0), Err(Errno::ECHILD), "not a child");
    assert_eq!(look(-own_pid(), 0), Err(Errno::ECHILD), "a group without children");
    assert_eq!(look(-1, 0x40), Err(Errno::EINVAL), "no such option");
}

#[test]
fn looking_does_not_wait() {
    let _alone = guest::alone();
    let child = Child::new(|| sleep_for_ever());
    assert_eq!(look(child.pid, 0), Ok(0));
    assert_eq!(look(-1, 0), Ok(0));
    assert_eq!(look(0, 0), Ok(0), "it is of this group");
    child.kill(libc::SIGKILL);
    child.await_end();
    assert_eq!(look(child.pid, 0), Ok(child.pid as u64));
    assert_eq!(look(child.pid, 0), Err(Errno::ECHILD), "once");
}

#[test]
fn a_child_can_be_looked_at_and_waited_for_later() {
    let _alone = guest::alone();
    let child = Child::new(|| 33);
    for _ in 0..3 {
        // SAFETY: all zeros is a value of this plain structure.
        let mut info: libc::siginfo_t = unsafe { zeroed() };
        let options = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: the place is this test's own.
        let result = unsafe { libc::waitid(libc::P_PID, child.pid as u32, &raw mut info, options) };
        // SAFETY: the structure is one about a child.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        assert_eq!((result, info.si_signo, info.si_code), (0, libc::SIGCHLD, libc::CLD_EXITED));
        assert_eq!((pid, status), (child.pid, 33));
    }
    assert_eq!(child.wait(), Ended::Exit(33));
}

#[test]
fn an_ended_child_keeps_its_id_until_it_is_waited_for() {
    let _alone = guest::alone();
    let child = Child::new(|| 0);
    child.await_end();
    child.kill(0);
    child.kill(libc::SIGKILL);
    for _ in 0..100 {
        let other = Child::new(|| 0);
        assert_ne!(other.pid, child.pid);
        assert_eq!(other.wait(), Ended::Exit(0));
    }
    assert_eq!(Child { pid: child.pid }.wait(), Ended::Exit(0), "no signal ends it again");
    // SAFETY: no signal.
    assert_eq!(unsafe { call(number::kill, &[child.pid as u64, 0]) }, Err(Errno::ESRCH));
}

#[test]
fn a_bad_pointer_leaves_the_child_to_be_waited_for() {
    let _alone = guest::alone();
    let child = Child::new(|| 5);
    for arguments in [[16, 0, 0], [0, 0, 16], [u64::MAX - 2, 0, 0]] {
        let all = [child.pid as u64, arguments[0], arguments[1], arguments[2]];
        // SAFETY: nothing can be written there.
        assert_eq!(unsafe { call(number::wait4, &all) }, Err(Errno::EFAULT));
    }
    assert_eq!(child.wait(), Ended::Exit(5));
}

#[test]
fn orphans_are_the_first_processes() {
    let _alone = guest::alone();
    let (mut reader, writer) = io::pipe().expect("pipe");
    let parent = Child::new(|| {
        let before = own_pid_now();
        let _orphan = Child::new(|| {
            while userlib::raw::getppid() as i32 == before {
                thread::sleep(Duration::from_millis(1));
            }
            use std::io::Write;
            let written = (&writer).write(&(userlib::raw::getppid() as u32).to_le_bytes());
            i32::from(written.is_err())
        });
        0
    });
    drop(writer);
    assert_eq!(parent.wait(), Ended::Exit(0));
    let mut bytes = [0; 4];
    io::Read::read_exact(&mut reader, &mut bytes).expect("what the orphan says");
    assert_eq!(u32::from_le_bytes(bytes), 1);
    if own_pid() == 1 {
        let mut status = 0;
        // SAFETY: the place is this test's own.
        assert!(unsafe { libc::wait(&raw mut status) } > 1, "the first process waits for orphans");
        assert_eq!(Ended::from_status(status), Ended::Exit(0));
    }
}

#[test]
fn many_children_are_each_waited_for_once() {
    let _alone = guest::alone();
    let children: Vec<Child> = (0..40).map(|n| Child::new(move || n)).collect();
    let mut seen = [false; 40];
    for _ in 0..40 {
        let mut status = 0;
        // SAFETY: the place is this test's own.
        let pid = unsafe { libc::wait(&raw mut status) };
        let n = children.iter().position(|child| child.pid == pid).expect("one of them");
        assert_eq!(Ended::from_status(status), Ended::Exit(n as i32));
        assert!(!std::mem::replace(&mut seen[n], true), "twice");
    }
    assert_eq!(look(-1, 0), Err(Errno::ECHILD));
}

#[test]
fn ignored_children_vanish() {
    let _alone = guest::alone();
    // In a process of its own: dispositions are the whole process's.
    let parent = Child::new(|| {
        // SAFETY: ignores a signal that nobody here waits for.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        let child = Child::new(|| 0);
        let mut status = 0;
        // It waits until the child is gone, and then there is none.
        // SAFETY: the place is this function's own.
        let result = unsafe { libc::waitpid(child.pid, &raw mut status, 0) };
        let errno = io::Error::last_os_error().raw_os_error();
        i32::from(!(result == -1 && errno == Some(libc::ECHILD)))
    });
    assert_eq!(parent.wait(), Ended::Exit(0));
}

#[test]
fn many_threads_wait_for_many_children() {
    let _alone = guest::alone();
    let waited = AtomicU32::new(0);
    let children: Vec<Child> = (0..24)
        .map(|_| {
            Child::new(|| {
                thread::sleep(Duration::from_millis(2));
                0
            })
        })
        .collect();
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                // SAFETY: no place to write to.
                while unsafe { libc::wait(std::ptr::null_mut()) } > 0 {
                    waited.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(waited.into_inner(), children.len() as u32);
}

#[test]
fn a_child_of_any_thread_is_the_processs() {
    let _alone = guest::alone();
    let child = thread::spawn(|| Child::new(|| 4)).join().expect("the thread ends well");
    assert_eq!(child.wait(), Ended::Exit(4));
}

#[test]
fn the_last_thread_to_exit_ends_the_process() {
    let _alone = guest::alone();
    let child = Child::new(|| {
        thread::spawn(|| {
            thread::sleep(Duration::from_millis(20));
            end_thread(9)
        });
        end_thread(3)
    });
    // Linux tells the first thread's status here, tally the last one's: both are within what POSIX leaves open.
    assert!(matches!(child.wait(), Ended::Exit(3 | 9)));
}

/// Ends the calling LWP, without anything that the C library does then.
fn end_thread(status: u64) -> ! {
    // SAFETY: nobody waits for the thread or uses its stack.
    let _never = unsafe { call(number::exit, &[status]) };
    unreachable!("the LWP has ended")
}
