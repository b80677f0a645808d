//! Pipes, second descriptors and waiting for them (pipe(2), dup(2), poll(2), fcntl(2)).

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use guest::{Child, Ended, address, call};
use syscalls::number;
use userlib::Errno;

const CAPACITY: usize = 64 * 1024;

fn pipe() -> (PipeReader, PipeWriter) {
    io::pipe().expect("pipe2")
}

fn set_non_blocking(fd: RawFd, wanted: bool) {
    // SAFETY: the descriptor is a test's own.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    assert!(flags >= 0);
    let flags = if wanted { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
    // SAFETY: as above.
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETFL, flags) }, 0);
}

/// `poll` of one descriptor: what it is ready for.
fn poll(fd: RawFd, events: i16, timeout_ms: i32) -> i16 {
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: the entry is this function's own.
    let ready = unsafe { libc::poll(&raw mut entry, 1, timeout_ms) };
    assert_eq!(ready, i32::from(entry.revents != 0), "{}", io::Error::last_os_error());
    entry.revents
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n.wrapping_mul(7) ^ n >> 8) as u8).collect()
}

#[test]
fn what_goes_in_comes_out() {
    let _alone = guest::alone();
    let (mut reader, mut writer) = pipe();
    writer.write_all(b"some bytes").expect("write");
    let mut buffer = [0; 100];
    assert_eq!(reader.read(&mut buffer[..4]).expect("read"), 4);
    assert_eq!(reader.read(&mut buffer[4..]).expect("read"), 6);
    assert_eq!(&buffer[..10], b"some bytes");
    drop(writer);
    assert_eq!(reader.read(&mut buffer).expect("the end"), 0);
    assert_eq!(reader.read(&mut buffer).expect("the end again"), 0);
}

#[test]
fn more_than_it_holds_goes_through() {
    let _alone = guest::alone();
    let (mut reader, mut writer) = pipe();
    let sent = pattern(1_000_003);
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            for piece in sent.chunks(30_011) {
                writer.write_all(piece).expect("write");
            }
            drop(writer);
        });
        let mut received = Vec::new();
        reader.read_to_end(&mut received).expect("read");
        received
    });
    assert!(received == sent);
}

#[test]
fn it_holds_what_linux_holds_and_no_more() {
    let _alone = guest::alone();
    let (mut reader, mut writer) = pipe();
    set_non_blocking(writer.as_raw_fd(), true);
    let mut total = 0;
    while let Ok(count) = writer.write(&[7; 1000]) {
        total += count;
    }
    // A write of 1000 bytes is not split. (Linux counts pages, not bytes: some of each may stay empty.)
    assert!(total % 1000 == 0 && (60_000..=CAPACITY).contains(&total), "{total}");
    total += writer.write(&[7; 5000]).unwrap_or(0); // a longer one may be
    assert!((64_000..=CAPACITY).contains(&total), "{total}");
    assert_eq!(writer.write(&[7; 4096]).expect_err("full").kind(), ErrorKind::WouldBlock);
    assert_eq!(poll(writer.as_raw_fd(), libc::POLLOUT, 0), 0);
    let mut all = vec![0; CAPACITY + 1];
    let mut read = 0;
    set_non_blocking(reader.as_raw_fd(), true);
    while let Ok(count) = reader.read(&mut all[read..]) {
        assert!(count > 0);
        read += count;
    }
    assert_eq!(read, total);
}

#[test]
fn short_writes_are_never_mixed() {
    let _alone = guest::alone();
    let (mut reader, writer) = pipe();
    let lengths = [1, 100, 1500, 4096];
    let mut bytes = Vec::new();
    thread::scope(|scope| {
        for value in 0..4_u8 {
            let mut writer = writer.try_clone().expect("dup");
            scope.spawn(move || {
                for round in 0..50 {
                    let length = lengths[(round + value as usize) % 4];
                    let mut message = vec![value; length];
                    message[0] = value | 0x80;
                    writer.write_all(&message).expect("write");
                }
            });
        }
        drop(writer);
        reader.read_to_end(&mut bytes).expect("read");
    });
    // A message begins with its marked byte and goes on with the same value.
    let mut position = 0;
    let mut messages = 0;
    while position < bytes.len() {
        assert!(bytes[position] & 0x80 != 0, "at {position}: {:#x}", bytes[position]);
        let value = bytes[position] & 0x7f;
        let rest = bytes[position + 1..].iter().take_while(|&&byte| byte == value).count();
        assert!(lengths.contains(&(rest + 1)), "a message of {} bytes", rest + 1);
        position += rest + 1;
        messages += 1;
    }
    assert_eq!(messages, 200);
}

#[test]
fn without_a_reader_writing_fails() {
    let _alone = guest::alone();
    let (reader, mut writer) = pipe();
    drop(reader);
    // Rust programs ignore SIGPIPE.
    assert_eq!(writer.write(b"x").expect_err("no reader").kind(), ErrorKind::BrokenPipe);
    assert_eq!(poll(writer.as_raw_fd(), libc::POLLOUT, 0) & libc::POLLERR, libc::POLLERR);
}

#[test]
fn without_a_reader_writing_kills_who_does_not_ignore_it() {
    let _alone = guest::alone();
    let child = Child::new(|| {
        let (reader, mut writer) = pipe();
        drop(reader);
        // SAFETY: this process's own disposition.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        i32::from(writer.write(b"x").is_err())
    });
    assert_eq!(child.wait(), Ended::Signal(libc::SIGPIPE));
}

#[test]
fn a_blocked_writer_learns_that_nobody_reads() {
    let _alone = guest::alone();
    let (reader, mut writer) = pipe();
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(reader);
        });
        let error = writer.write_all(&vec![0; 3 * CAPACITY]).expect_err("nobody reads");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn an_empty_pipe_makes_wait_or_not() {
    let _alone = guest::alone();
    let (mut reader, writer) = pipe();
    set_non_blocking(reader.as_raw_fd(), true);
    assert_eq!(reader.read(&mut [0]).expect_err("empty").kind(), ErrorKind::WouldBlock);
    set_non_blocking(reader.as_raw_fd(), false);
    thread::scope(|scope| {
        let mut writer = writer;
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(20));
            writer.write_all(b"x").expect("write");
        });
        let start = Instant::now();
        assert_eq!(reader.read(&mut [0; 9]).expect("read"), 1);
        assert!(start.elapsed() >= Duration::from_millis(15), "{:?}", start.elapsed());
    });
}

#[test]
fn poll_tells_what_happens_on_a_pipe() {
    let _alone = guest::alone();
    let (mut reader, mut writer) = pipe();
    let (read_end, write_end) = (reader.as_raw_fd(), writer.as_raw_fd());
    assert_eq!(poll(read_end, libc::POLLIN, 0), 0);
    assert_eq!(poll(write_end, libc::POLLOUT | libc::POLLIN, 0), libc::POLLOUT);
    let start = Instant::now();
    assert_eq!(poll(read_end, libc::POLLIN, 30), 0);
    assert!(start.elapsed() >= Duration::from_millis(30));
    writer.write_all(b"abc").expect("write");
    assert_eq!(poll(read_end, libc::POLLIN, -1), libc::POLLIN);
    reader.read_exact(&mut [0; 3]).expect("read");
    assert_eq!(poll(read_end, libc::POLLIN, 0), 0);
    drop(writer);
    assert_eq!(poll(read_end, libc::POLLIN, -1), libc::POLLHUP);
}

#[test]
fn poll_wakes_for_whichever_comes_first() {
    let _alone = guest::alone();
    let (first, second) = (pipe(), pipe());
    for turn in 0..10 {
        let (mut chosen, fd) = match turn % 2 {
            0 => (first.1.try_clone().expect("dup"), first.0.as_raw_fd()),
            _ => (second.1.try_clone().expect("dup"), second.0.as_raw_fd()),
        };
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(2));
                chosen.write_all(b"x").expect("write");
            });
            let entry = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            let mut entries = [entry(first.0.as_raw_fd()), entry(-1), entry(second.0.as_raw_fd())];
            // SAFETY: the entries are this test's own.
            assert_eq!(unsafe { libc::poll(entries.as_mut_ptr(), 3, -1) }, 1);
            for entry in entries {
                assert_eq!(entry.revents != 0, entry.fd == fd, "turn {turn}: {entry:?}");
            }
        });
        let mut reader = if turn % 2 == 0 { &first.0 } else { &second.0 };
        reader.read_exact(&mut [0]).expect("read");
    }
}

#[test]
fn no_byte_and_no_wake_up_is_lost_in_a_ping_pong() {
    let _alone = guest::alone();
    // K28, between processes and through poll.
    let (mut to_child, mut to_parent) = (pipe(), pipe());
    const ROUNDS: u32 = 400;
    let child = Child::new(|| {
        let mut word = [0; 4];
        for round in 0..ROUNDS {
            assert_eq!(poll(to_child.0.as_raw_fd(), libc::POLLIN, -1), libc::POLLIN);
            to_child.0.read_exact(&mut word).expect("read");
            assert_eq!(u32::from_le_bytes(word), round);
            to_parent.1.write_all(&word).expect("write");
        }
        0
    });
    let mut word = [0; 4];
    for round in 0..ROUNDS {
        to_child.1.write_all(&round.to_le_bytes()).expect("write");
        to_parent.0.read_exact(&mut word).expect("read");
        assert_eq!(u32::from_le_bytes(word), round);
    }
    assert_eq!(child.wait(), Ended::Exit(0));
}

#[test]
fn a_killed_reader_takes_nothing_from_the_others() {
    let _alone = guest::alone();
    // K29: one of two readers is killed at about the time when something comes.
    for round in 0..30 {
        let (mut reader, mut writer) = pipe();
        let doomed = Child::new(|| {
            let _never_or_one = reader.read(&mut [0]);
            guest::sleep_for_ever()
        });
        thread::sleep(Duration::from_micros(200 * (round % 4)));
        doomed.kill(libc::SIGKILL);
        writer.write_all(b"x").expect("write");
        assert_eq!(doomed.wait(), Ended::Signal(libc::SIGKILL));
        drop(writer);
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).expect("read");
        assert!(rest.is_empty() || rest == b"x", "{rest:?}");
    }
}

#[test]
fn bad_buffers_take_and_leave_nothing() {
    let _alone = guest::alone();
    // K31: refused while nothing is held, and the pipe works on.
    let (mut reader, mut writer) = pipe();
    writer.write_all(b"kept").expect("write");
    for _ in 0..200 {
        for bad in [0_u64, 16, 0x7fff_ffff_f000, 0xffff_ffff_8020_0000, u64::MAX] {
            // SAFETY: no memory is there.
            let read = unsafe { call(number::read, &[reader.as_raw_fd() as u64, bad, 4]) };
            // SAFETY: likewise.
            let write = unsafe { call(number::write, &[writer.as_raw_fd() as u64, bad, 4]) };
            assert_eq!((read, write), (Err(Errno::EFAULT), Err(Errno::EFAULT)), "{bad:#x}");
        }
    }
    let mut bytes = [0; 9];
    assert_eq!(reader.read(&mut bytes).expect("read"), 4);
    assert_eq!(&bytes[..4], b"kept");
}

#[test]
fn a_pipe_that_cannot_be_handed_out_is_not_made() {
    let _alone = guest::alone();
    // SAFETY: the descriptor is this test's own.
    let next = || unsafe {
        let fd = libc::dup(0);
        libc::close(fd);
        fd
    };
    let before = next();
    // SAFETY: nothing can be written there.
    assert_eq!(unsafe { call(number::pipe2, &[16, 0]) }, Err(Errno::EFAULT));
    let mut ends = [0_i32; 2];
    // SAFETY: the place is this test's own.
    assert_eq!(
        // SAFETY: the ends are the test's own.
        unsafe { call(number::pipe2, &[address(&raw mut ends), 1]) },
        Err(Errno::EINVAL),
        "no such flag"
    );
    assert_eq!(next(), before);
}

#[test]
fn all_descriptors_can_be_used_and_no_more() {
    let _alone = guest::alone();
    let mut open = Vec::new();
    let error = loop {
        match io::pipe() {
            Ok(pipe) => open.push(pipe),
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
    assert!(open.len() > 100, "{}", open.len());
    drop(open);
    drop(pipe());
}

#[test]
fn descriptors_of_one_open_file_have_one_offset() {
    let _alone = guest::alone();
    let path = std::env::args().next().expect("argv[0]");
    let mut file = File::open(path).expect("the program itself");
    let mut twin = file.try_clone().expect("dup");
    file.seek(SeekFrom::Start(100)).expect("lseek");
    assert_eq!(twin.stream_position().expect("lseek"), 100);
    let child = Child::new(|| {
        let mut bytes = [0; 50];
        i32::from(twin.read_exact(&mut bytes).is_err())
    });
    assert_eq!(child.wait(), Ended::Exit(0));
    assert_eq!(file.stream_position().expect("lseek"), 150, "what a child reads is read");
}

#[test]
fn dup2_and_dup3_put_a_descriptor_where_it_is_told() {
    let _alone = guest::alone();
    let (mut reader, mut writer) = pipe();
    let number = 77_u64;
    // SAFETY: no other test has this number.
    unsafe {
        assert_eq!(call(number::dup2, &[writer.as_raw_fd() as u64, number]), Ok(number));
        assert_eq!(call(number::dup2, &[number, number]), Ok(number));
        assert_eq!(call(number::dup2, &[200, 201]), Err(Errno::EBADF));
        assert_eq!(call(number::dup2, &[number, 1 << 20]), Err(Errno::EBADF));
        assert_eq!(call(number::dup2, &[number, u64::MAX]), Err(Errno::EBADF));
        assert_eq!(call(number::dup3, &[number, number, 0]), Err(Errno::EINVAL));
        assert_eq!(call(number::fcntl, &[number, libc::F_GETFD as u64]), Ok(0));
        let cloexec = libc::O_CLOEXEC as u64;
        assert_eq!(call(number::dup3, &[writer.as_raw_fd() as u64, number, cloexec]), Ok(number));
        assert_eq!(call(number::fcntl, &[number, libc::F_GETFD as u64]), Ok(libc::FD_CLOEXEC as u64));
    }
    writer.write_all(b"x").expect("write");
    drop(writer);
    // SAFETY: the number is this test's own.
    let other = unsafe { OwnedFd::from_raw_fd(number as i32) };
    let mut bytes = [0; 2];
    assert_eq!(reader.read(&mut bytes).expect("read"), 1);
    set_non_blocking(reader.as_raw_fd(), true);
    assert_eq!(reader.read(&mut bytes).expect_err("a writer is left").kind(), ErrorKind::WouldBlock);
    drop(other);
    assert_eq!(reader.read(&mut bytes).expect("none is left"), 0);
}

#[test]
fn ends_know_what_they_are_for() {
    let _alone = guest::alone();
    let (reader, writer) = pipe();
    let mut byte = 0_u8;
    let place = address(&raw mut byte);
    // SAFETY: the byte is this test's own.
    unsafe {
        assert_eq!(call(number::read, &[writer.as_raw_fd() as u64, place, 1]), Err(Errno::EBADF));
        assert_eq!(call(number::write, &[reader.as_raw_fd() as u64, place, 1]), Err(Errno::EBADF));
        assert_eq!(call(number::lseek, &[reader.as_raw_fd() as u64, 0, 0]), Err(Errno::ESPIPE));
        let flags = |fd: RawFd| call(number::fcntl, &[fd as u64, libc::F_GETFL as u64]);
        assert_eq!(flags(reader.as_raw_fd()).map(|flags| flags & 3), Ok(libc::O_RDONLY as u64));
        assert_eq!(flags(writer.as_raw_fd()).map(|flags| flags & 3), Ok(libc::O_WRONLY as u64));
    }
    let metadata = File::from(OwnedFd::from(reader)).metadata().expect("fstat");
    use std::os::unix::fs::FileTypeExt;
    assert!(metadata.file_type().is_fifo());
}

#[test]
fn what_changes_during_a_call_is_read_once() {
    // K32: another thread changes the descriptor that is asked about, from one that is ready to one that is not.
    let (full, empty) = (pipe(), pipe());
    (&full.1).write_all(b"x").expect("write");
    let fds = [full.0.as_raw_fd() as u32, empty.0.as_raw_fd() as u32];
    // An entry as `poll` takes it, descriptor first, then the events with the answer above them; and canaries.
    let words = [fds[0], libc::POLLIN as u32, 0xc5c5_c5c5, 0xc5c5_c5c5].map(AtomicU32::new);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in (0..2).cycle().take_while(|_| !stop.load(Ordering::Relaxed)) {
                words[0].store(fds[turn], Ordering::Relaxed);
            }
        });
        for _ in 0..3000 {
            // SAFETY: the entry is this test's own.
            let ready = unsafe { call(number::poll, &[address(&words), 1, 0]) }.expect("poll");
            let answer = words[1].load(Ordering::Relaxed) >> 16;
            assert_eq!(u64::from(answer == libc::POLLIN as u32), ready, "{answer:#x}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    let [_, _, first, second] = words.map(AtomicU32::into_inner);
    assert_eq!([first, second], [0xc5c5_c5c5; 2]);
}
