//! Processes that come and go in numbers: nothing is lost, nothing is left behind, and limits are errors.
//!
//! Memory, processes and the ledger are compared before and after, once the kernel has what it keeps for the next time.

use std::io;
use std::thread;
use std::time::Duration;

use guest::{Child, Ended, PAGE, Pages, call, leaves_nothing, sleep_for_ever};
use syscalls::number;
use userlib::Errno;
use userlib::process;

fn system() -> libc::sysinfo {
    // SAFETY: all zeros is a value of this plain structure.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is this function's own.
    assert_eq!(unsafe { libc::sysinfo(&raw mut info) }, 0);
    info
}

/// Bytes of memory that are free.
fn free() -> u64 {
    let info = system();
    info.freeram * u64::from(info.mem_unit)
}

#[test]
fn forks_and_waits_leave_nothing() {
    let _alone = guest::alone();
    leaves_nothing("fork", || {
        for n in 0..100 {
            assert_eq!(Child::new(|| n).wait(), Ended::Exit(n));
        }
    });
}

#[test]
fn crowds_leave_nothing() {
    let _alone = guest::alone();
    leaves_nothing("a crowd", || {
        let children: Vec<Child> = (0..100).map(|n| Child::new(move || n)).collect();
        for (n, child) in children.into_iter().enumerate() {
            assert_eq!(child.wait(), Ended::Exit(n as i32));
        }
    });
}

#[test]
fn threads_pipes_and_memory_of_killed_processes_leave_nothing() {
    let _alone = guest::alone();
    leaves_nothing("killed processes", || {
        for pause in 0..10 {
            let child = Child::new(|| {
                let pipes: Vec<_> = (0..20).map(|_| io::pipe().expect("pipe")).collect();
                for (reader, writer) in &pipes {
                    use std::io::{Read, Write};
                    let (mut reader, mut writer) = (reader, writer);
                    writer.write_all(&[7; 5000]).expect("write");
                    reader.read_exact(&mut [0; 100]).expect("read");
                }
                let pages = Pages::new(100);
                pages.fill(1);
                (0..8).for_each(|_| drop(thread::spawn(|| thread::sleep(Duration::from_secs(1000)))));
                let own = userlib::raw::getpid();
                _ = Child::new(|| sleep_until_orphan(own));
                sleep_for_ever()
            });
            thread::sleep(Duration::from_millis(pause));
            child.kill(libc::SIGKILL);
            assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
        }
        reap_orphans();
    });
}

/// Ends when it is a child of `parent` no more.
fn sleep_until_orphan(parent: u64) -> i32 {
    while userlib::raw::getppid() == parent {
        thread::sleep(Duration::from_millis(1));
    }
    0
}

fn reap_orphans() {
    // SAFETY: no place to write to.
    while unsafe { libc::wait(std::ptr::null_mut()) } > 0 {}
}

#[test]
fn programs_that_come_and_go_leave_nothing() {
    let _alone = guest::alone();
    let name = std::ffi::CString::new(std::env::args().next().expect("argv[0]")).expect("no zero inside");
    leaves_nothing("exec", || {
        for _ in 0..20 {
            let child = Child::new(|| {
                let arguments = [name.as_ptr(), c"--list".as_ptr(), std::ptr::null()];
                // SAFETY: this process's own descriptors; the strings are there.
                unsafe {
                    libc::dup2(libc::open(c"/dev/null".as_ptr(), libc::O_RDWR), 1);
                    libc::execv(name.as_ptr(), arguments.as_ptr());
                }
                99
            });
            assert_eq!(child.wait(), Ended::Exit(0));
        }
    });
}

#[test]
fn too_many_processes_are_an_error_and_harm_nobody() {
    let _alone = guest::alone();
    let before = process::all().count();
    // Each with a page of its own, until there is no memory or no place for one more: then all that were made end.
    let mut children = Vec::new();
    let error = loop {
        // SAFETY: the child does nothing but sleep.
        match unsafe { call(number::fork, &[]) } {
            Ok(0) => sleep_for_ever_without_memory(),
            Ok(pid) => children.push(Child { pid: pid as i32 }),
            Err(errno) => break Some(errno),
        }
        if children.len() == 1500 {
            break None;
        }
    };
    assert!(matches!(error, None | Some(Errno::EAGAIN | Errno::ENOMEM)), "{error:?}");
    assert_eq!(process::all().count(), before + children.len());
    let count = children.len();
    children.iter().for_each(|child| child.kill(libc::SIGKILL));
    children.into_iter().for_each(|child| assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL)));
    assert_eq!(process::all().count(), before);
    assert!(count >= 1000 || error.is_some(), "{count}");
    assert_eq!(Child::new(|| 3).wait(), Ended::Exit(3), "afterwards all is as before");
}

/// Blocks without touching anything new.
fn sleep_for_ever_without_memory() -> ! {
    loop {
        // SAFETY: no entries.
        let _never = unsafe { call(number::poll, &[0, 0, u64::MAX]) };
    }
}

#[test]
fn without_memory_a_fork_fails_and_the_parent_goes_on() {
    let _alone = guest::alone();
    // In a child that has most of the memory: even its page tables do not fit in again and again.
    let child = Child::new(|| {
        let count = (free() - free() / 600 - (5 << 20)) / PAGE;
        let most = Pages::new(count);
        (0..count).for_each(|page| most.write(page * PAGE, 1));
        let mut children = Vec::new();
        let error = loop {
            // SAFETY: the child does nothing but sleep.
            match unsafe { call(number::fork, &[]) } {
                Ok(0) => sleep_for_ever_without_memory(),
                Ok(pid) => children.push(Child { pid: pid as i32 }),
                Err(errno) => break errno,
            }
        };
        children.iter().for_each(|child| child.kill(libc::SIGKILL));
        children.into_iter().for_each(|child| _ = child.wait());
        i32::from(!matches!(error, Errno::ENOMEM | Errno::EAGAIN))
    });
    assert_eq!(child.wait(), Ended::Exit(0));
}
