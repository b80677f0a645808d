//! As many LWPs and processes as are promised are there at once, and what is beyond is an error that harms nobody
//! (docs/caveats.md, "Limits"). In a machine of 1 GiB; smaller ones have room for fewer.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use guest::{Child, Ended, add_lwp, address, alone, call, end, settled};
use syscalls::number;
use userlib::Errno::{EAGAIN, ENOMEM};
use userlib::process;

const PROMISED_LWPS: u32 = 10_000;
const PROMISED_PROCESSES: usize = 1_000;

static GATE: AtomicU32 = AtomicU32::new(0);

/// Whether the machine has what the promises are for.
fn has_a_gibibyte() -> bool {
    // SAFETY: all zeros is a value of this plain structure.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is this function's own.
    assert_eq!(unsafe { libc::sysinfo(&raw mut info) }, 0);
    info.totalram * u64::from(info.mem_unit) > 900 << 20
}

/// How many LWPs this process has.
fn own_lwps() -> u32 {
    process::next(userlib::raw::getpid() as i32 - 1).expect("this process").lwps
}

/// Lets all LWPs that wait at the gate go, and waits for their ends.
fn let_all_go() {
    let wake = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as u64;
    GATE.store(1, Ordering::SeqCst);
    while own_lwps() > 1 {
        // SAFETY: waking does no harm.
        unsafe { call(number::futex, &[address(&GATE), wake, i32::MAX as u64]) }.expect("futex");
        thread::yield_now();
    }
}

/// In a child, which has one LWP to begin with.
fn in_child(body: impl FnOnce()) {
    let before = settled();
    let child = Child::new(|| {
        body();
        0
    });
    assert_eq!(child.wait(), Ended::Exit(0));
    let after = settled();
    assert_eq!((before.processes, before.lwps), (after.processes, after.lwps));
}

#[test]
fn ten_thousand_lwps_are_there_at_once_and_end() {
    let _alone = alone();
    if !has_a_gibibyte() {
        return;
    }
    in_child(|| {
        for made in 0..PROMISED_LWPS {
            assert!(add_lwp(&GATE).is_ok(), "LWP {made}");
        }
        assert_eq!(own_lwps(), PROMISED_LWPS + 1);
        let_all_go();
    });
}

#[test]
fn ten_thousand_lwps_end_with_their_process() {
    let _alone = alone();
    if has_a_gibibyte() {
        in_child(|| (0..PROMISED_LWPS).for_each(|_| _ = add_lwp(&GATE).expect("an LWP")));
    }
}

/// Until there is no memory, or no slot. (Where it takes long it would find nothing else.)
#[test]
fn too_many_lwps_are_an_error_and_harm_nobody() {
    let _alone = alone();
    if !guest::on_icount() {
        return;
    }
    in_child(|| {
        let errors = (0..100_000).map(|_| add_lwp(&GATE)).find_map(Result::err);
        assert!(matches!(errors, Some(EAGAIN | ENOMEM)), "{errors:?}");
        let there = own_lwps();
        assert!(there > PROMISED_LWPS || !has_a_gibibyte(), "{there} LWPs fit");
    });
    in_child(|| (0..10).for_each(|_| _ = add_lwp(&GATE).expect("an LWP")));
}

#[test]
fn a_thousand_processes_are_there_at_once() {
    let _alone = alone();
    if !has_a_gibibyte() {
        return;
    }
    in_child(|| {
        let sleep = || -> ! {
            loop {
                // SAFETY: no entries.
                _ = unsafe { call(number::poll, &[0, 0, u64::MAX]) };
            }
        };
        // SAFETY: the child sleeps until it is killed.
        let fork = || unsafe { call(number::fork, &[]) };
        let children: Vec<Child> = (0..PROMISED_PROCESSES)
            .map(|made| match fork() {
                Ok(0) => sleep(),
                Ok(pid) => Child { pid: pid as i32 },
                Err(errno) => panic!("process {made}: {errno}"),
            })
            .collect();
        assert!(process::all().count() > PROMISED_PROCESSES);
        children.iter().for_each(|child| child.kill(libc::SIGKILL));
        children.into_iter().for_each(|child| assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL)));
        end(0);
    });
}
