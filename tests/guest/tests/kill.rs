//! Signals across processes, as far as default actions go: who may send, whom they reach, and that whoever is killed
//! leaves whatever it waits for (kill(2), tkill(2), setuid(2), setpgid(2)).

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::Duration;

use guest::{Child, Ended, address, call, sleep_for_ever};
use syscalls::number;
use userlib::Errno;

fn own_pid() -> i32 {
    userlib::raw::getpid() as i32
}

fn kill(pid: i32, signal: i32) -> Result<u64, Errno> {
    // SAFETY: signals go to processes of these tests only, or are none.
    unsafe { call(number::kill, &[pid as u64, signal as u64]) }
}

fn set_group(pid: i32, group: i32) -> Result<u64, Errno> {
    // SAFETY: changes groups only.
    unsafe { call(number::setpgid, &[pid as u64, group as u64]) }
}

fn group(pid: i32) -> Result<u64, Errno> {
    // SAFETY: reads only.
    unsafe { call(number::getpgid, &[pid as u64]) }
}

/// Waits for a byte that says that a child has come so far.
fn await_byte(reader: &mut io::PipeReader) {
    reader.read_exact(&mut [0]).expect("the child gets so far");
}

fn settle() {
    thread::sleep(Duration::from_millis(5));
}

#[test]
fn a_killed_process_leaves_whatever_it_waits_for() {
    let _alone = guest::alone();
    // The parent's own resources must be of use afterwards, and the child gone at once.
    let (mut reader, mut writer) = io::pipe().expect("pipe");
    let (full_reader, mut full_writer) = io::pipe().expect("pipe");
    let word = AtomicU32::new(0);
    let ways: [&dyn Fn(); 7] = [
        &|| thread::sleep(Duration::from_secs(1000)),
        &|| _ = (&reader).read(&mut [0]),
        &|| _ = (&full_writer).write_all(&vec![0; 1 << 20]),
        &|| {
            // SAFETY: the word is there.
            _ = unsafe { call(number::futex, &[address(&word), libc::FUTEX_WAIT as u64, 0, 0]) };
        },
        // SAFETY: no entries.
        &|| _ = unsafe { call(number::poll, &[0, 0, u64::MAX]) },
        &|| {
            let own = own_pid();
            let _grandchild = Child::new(|| sleep_until_orphan(own));
            // SAFETY: no place to write to.
            _ = unsafe { libc::wait(std::ptr::null_mut()) };
        },
        &|| loop {
            std::hint::spin_loop();
        },
    ];
    for (number, way) in ways.iter().enumerate() {
        for pause in [0, 1, 3] {
            let child = Child::new(|| {
                way();
                sleep_for_ever()
            });
            thread::sleep(Duration::from_millis(pause));
            child.kill(libc::SIGTERM);
            assert_eq!(child.wait(), Ended::Signal(libc::SIGTERM), "way {number}");
        }
    }
    writer.write_all(b"x").expect("the pipe works");
    assert_eq!(reader.read(&mut [0]).expect("the pipe works"), 1);
    drop(full_reader);
    assert!(full_writer.write(b"x").is_err(), "no reader is left");
    reap_orphans();
}

/// Ends when it is a child of `parent` no more.
fn sleep_until_orphan(parent: i32) -> i32 {
    while userlib::raw::getppid() as i32 == parent {
        settle();
    }
    0
}

/// The first process waits for orphans too.
fn reap_orphans() {
    // SAFETY: no place to write to.
    while unsafe { libc::wait(std::ptr::null_mut()) } > 0 {}
}

#[test]
fn all_threads_of_a_killed_process_end() {
    let _alone = guest::alone();
    for _ in 0..5 {
        let (mut reader, writer) = io::pipe().expect("pipe");
        let child = Child::new(|| {
            for number in 0..6 {
                let mut writer = writer.try_clone().expect("dup");
                thread::spawn(move || {
                    writer.write_all(b"x").expect("write");
                    match number % 3 {
                        0 => loop {
                            std::hint::spin_loop();
                        },
                        1 => thread::sleep(Duration::from_secs(1000)),
                        _ => thread::park(),
                    }
                });
            }
            sleep_for_ever()
        });
        drop(writer);
        (0..6).for_each(|_| await_byte(&mut reader));
        child.kill(libc::SIGKILL);
        assert_eq!(reader.read(&mut [0]).expect("read"), 0, "all its descriptors are closed");
        assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
    }
}

#[test]
fn ignored_signals_do_nothing_and_sigkill_cannot_be_ignored() {
    let _alone = guest::alone();
    let (mut reader, mut writer) = io::pipe().expect("pipe");
    let child = Child::new(|| {
        // SAFETY: this process's own disposition.
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
        // SAFETY: likewise; it fails.
        let refused = unsafe { libc::signal(libc::SIGKILL, libc::SIG_IGN) } == libc::SIG_ERR;
        writer.write_all(if refused { b"x" } else { b"xx" }).expect("write");
        sleep_for_ever()
    });
    await_byte(&mut reader);
    for signal in [libc::SIGTERM, libc::SIGCHLD, libc::SIGURG, libc::SIGWINCH, libc::SIGCONT, 0] {
        child.kill(signal);
    }
    settle();
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
    drop(writer);
    assert_eq!(reader.read(&mut [0]).expect("read"), 0, "SIGKILL's disposition was not changed");
}

#[test]
fn an_lwp_of_another_process_can_be_named() {
    let _alone = guest::alone();
    let child = Child::new(|| sleep_for_ever());
    let (pid, signal) = (child.pid as u64, libc::SIGUSR1 as u64);
    // SAFETY: a child of this test's own.
    unsafe {
        assert_eq!(call(number::tkill, &[pid, 0]), Ok(0));
        assert_eq!(
            call(number::tgkill, &[own_pid() as u64, pid, signal]),
            Err(Errno::ESRCH),
            "another's LWP"
        );
        assert_eq!(call(number::tgkill, &[pid, pid, 65]), Err(Errno::EINVAL));
        assert_eq!(call(number::tgkill, &[pid, pid, signal]), Ok(0));
    }
    child.await_end();
    // SAFETY: no signal. (Linux still finds the LWP that waits to be waited for.)
    let gone = unsafe { call(number::tkill, &[pid, 0]) };
    assert!(matches!(gone, Ok(0) | Err(Errno::ESRCH)), "{gone:?}");
    assert_eq!(child.wait(), Ended::Signal(libc::SIGUSR1));
}

#[test]
fn odd_targets_are_refused() {
    let _alone = guest::alone();
    assert_eq!(kill(i32::MIN, 0), Err(Errno::ESRCH));
    assert_eq!(kill(1 << 20, 0), Err(Errno::ESRCH));
    assert_eq!(kill(-(1 << 20), 0), Err(Errno::ESRCH));
    assert_eq!(kill(own_pid(), 65), Err(Errno::EINVAL));
    assert_eq!(kill(own_pid(), -1), Err(Errno::EINVAL));
    assert_eq!(kill(own_pid(), 0), Ok(0));
    assert_eq!(kill(0, 0), Ok(0), "the own group");
}

#[test]
fn a_group_is_reached_and_nobody_else() {
    let _alone = guest::alone();
    let bystander = Child::new(|| sleep_for_ever());
    let leader = Child::new(|| sleep_for_ever());
    assert_eq!(set_group(leader.pid, 0), Ok(0));
    let member = Child::new(|| sleep_for_ever());
    assert_eq!(set_group(member.pid, leader.pid), Ok(0));
    assert_eq!(group(member.pid), Ok(leader.pid as u64));
    assert_eq!(group(bystander.pid), group(0));
    assert_eq!(kill(-leader.pid, libc::SIGHUP), Ok(0));
    for child in [leader, member] {
        assert_eq!(child.wait(), Ended::Signal(libc::SIGHUP));
    }
    settle();
    bystander.kill(libc::SIGKILL);
    assert_eq!(bystander.wait(), Ended::Signal(libc::SIGKILL));
}

#[test]
fn a_childs_signal_to_its_group_reaches_itself() {
    let _alone = guest::alone();
    let child = Child::new(|| {
        assert_eq!(set_group(0, 0), Ok(0));
        let _grandchild = Child::new(|| sleep_for_ever());
        let _never = kill(0, libc::SIGALRM);
        sleep_for_ever()
    });
    assert_eq!(child.wait(), Ended::Signal(libc::SIGALRM));
    if own_pid() == 1 {
        reap_orphans();
    }
}

#[test]
fn groups_and_sessions_are_as_posix_says() {
    let _alone = guest::alone();
    let child = Child::new(|| {
        let own = own_pid();
        assert_eq!(set_group(1 << 20, 0), Err(Errno::ESRCH));
        assert_eq!(set_group(0, -1), Err(Errno::EINVAL));
        assert_eq!(set_group(0, 1 << 20), Err(Errno::EPERM), "no such group");
        // SAFETY: this process's own session.
        assert_eq!(unsafe { call(number::setsid, &[]) }, Ok(own as u64));
        // SAFETY: as above.
        assert_eq!(unsafe { call(number::setsid, &[]) }, Err(Errno::EPERM), "it leads a group");
        // SAFETY: reads only.
        assert_eq!(unsafe { call(number::getsid, &[0]) }, Ok(own as u64));
        assert_eq!((group(0), group(own)), (Ok(own as u64), Ok(own as u64)));
        assert_eq!(set_group(0, 0), Err(Errno::EPERM), "it leads its session");
        0
    });
    assert_eq!(child.wait(), Ended::Exit(0));
}

#[test]
fn users_reach_their_own_processes_only() {
    let _alone = guest::alone();
    let (mut reader, mut writer) = io::pipe().expect("pipe");
    let roots = Child::new(|| sleep_for_ever());
    let become_user = |uid: u64| {
        // SAFETY: changes this process only.
        unsafe { call(number::setuid, &[uid]) }
    };
    let theirs = Child::new(|| {
        become_user(1000).expect("setuid");
        writer.write_all(b"x").expect("write");
        sleep_for_ever()
    });
    await_byte(&mut reader);
    let user = Child::new(|| {
        become_user(1000).expect("setuid");
        assert_eq!(become_user(1000), Ok(0), "what it is");
        assert_eq!((become_user(0), become_user(1001)), (Err(Errno::EPERM), Err(Errno::EPERM)));
        assert_eq!((userlib::raw::getuid(), userlib::raw::geteuid()), (1000, 1000));
        assert_eq!(kill(roots.pid, 0), Err(Errno::EPERM));
        assert_eq!(kill(roots.pid, libc::SIGKILL), Err(Errno::EPERM));
        // SAFETY: refused.
        let by_lwp = unsafe { call(number::tkill, &[roots.pid as u64, libc::SIGKILL as u64]) };
        assert_eq!(by_lwp, Err(Errno::EPERM));
        assert_eq!(kill(theirs.pid, 0), Ok(0));
        assert_eq!(kill(theirs.pid, libc::SIGINT), Ok(0));
        let child = Child::new(|| i32::from(userlib::raw::getuid() != 1000));
        assert_eq!(child.wait(), Ended::Exit(0), "children are their user's");
        0
    });
    assert_eq!(user.wait(), Ended::Exit(0));
    assert_eq!(theirs.wait(), Ended::Signal(libc::SIGINT));
    settle();
    roots.kill(libc::SIGKILL);
    assert_eq!(roots.wait(), Ended::Signal(libc::SIGKILL));
}

#[test]
fn all_can_be_reached_at_once() {
    let _alone = guest::alone();
    // Whoever asks is spared, and so is the first process. Another user's may not be reached: this one reaches its own.
    let (mut reader, mut writer) = io::pipe().expect("pipe");
    let asker = Child::new(|| {
        // SAFETY: changes this process only.
        unsafe { call(number::setuid, &[4711]) }.expect("setuid");
        assert!(kill(-1, 0).is_err(), "nobody else is this user's");
        let children: Vec<Child> = (0..3).map(|_| Child::new(|| sleep_for_ever())).collect();
        assert_eq!(kill(-1, libc::SIGQUIT), Ok(0));
        for child in children {
            assert_eq!(child.wait(), Ended::Signal(libc::SIGQUIT));
        }
        writer.write_all(b"x").expect("write");
        0
    });
    await_byte(&mut reader);
    assert_eq!(asker.wait(), Ended::Exit(0));
}

#[test]
fn kills_at_random_moments_leave_nothing() {
    let _alone = guest::alone();
    let mut seed = 0x1234_5678_u32;
    for _ in 0..60 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let child = Child::new(|| {
            loop {
                let grandchild = Child::new(|| 0);
                thread::scope(|scope| {
                    scope.spawn(thread::yield_now);
                });
                _ = grandchild.wait();
            }
        });
        thread::sleep(Duration::from_micros(u64::from(seed >> 20)));
        child.kill(libc::SIGKILL);
        assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL), "seed {seed}");
        if own_pid() == 1 {
            reap_orphans();
        }
    }
}
