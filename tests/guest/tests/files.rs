//! The read-only root, descriptors, and the calls that describe the system.

use std::ffi::{CString, c_char};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use guest::{address, call};
use syscalls::number;
use userlib::Errno;

/// The path of the test program, which is a file of the root.
fn own_path() -> String {
    std::env::args().next().expect("argv[0]")
}

fn own_file() -> File {
    File::open(own_path()).expect("the program itself is a file")
}

fn open(path: &str, flags: i32) -> Result<u64, Errno> {
    let path = CString::new(path).expect("no zero inside");
    // SAFETY: the string is this function's own.
    unsafe { call(number::open, &[address(path.as_ptr()), flags as u64, 0]) }
}

#[test]
fn the_programs_own_file_is_an_elf_file_of_its_size() {
    let bytes = fs::read(own_path()).expect("the program itself");
    assert_eq!(&bytes[..4], b"\x7fELF");
    let metadata = fs::metadata(own_path()).expect("stat");
    assert!(metadata.is_file());
    assert_eq!(metadata.len(), bytes.len() as u64);
    let opened = own_file().metadata().expect("fstat");
    assert_eq!(
        (opened.len(), opened.mode(), opened.ino()),
        (metadata.len(), metadata.mode(), metadata.ino())
    );
    assert_ne!(metadata.mode() & 0o111, 0, "it may be executed");
}

#[test]
fn reading_in_pieces_gives_the_whole() {
    let whole = fs::read(own_path()).expect("the program itself");
    let mut file = own_file();
    let (mut pieces, mut buffer) = (Vec::new(), [0; 7001]);
    loop {
        match file.read(&mut buffer).expect("read") {
            0 => break,
            count => pieces.extend_from_slice(&buffer[..count]),
        }
    }
    assert!(pieces == whole);
    assert_eq!(file.read(&mut buffer).expect("read at the end"), 0);
}

#[test]
fn the_offset_goes_where_it_is_told() {
    let whole = fs::read(own_path()).expect("the program itself");
    let length = whole.len() as u64;
    let mut file = own_file();
    let mut four = [0; 4];
    for (to, offset) in [
        (SeekFrom::Start(100), 100),
        (SeekFrom::Current(10), 114),
        (SeekFrom::Current(-18), 100),
        (SeekFrom::End(-4), length - 4),
    ] {
        assert_eq!(file.seek(to).expect("lseek"), offset, "{to:?}");
        file.read_exact(&mut four).expect("read");
        assert_eq!(four, whole[offset as usize..][..4]);
    }
    assert_eq!(file.seek(SeekFrom::Start(length + 1000)).expect("beyond the end"), length + 1000);
    assert_eq!(file.read(&mut four).expect("read beyond the end"), 0);
    assert_eq!(
        file.seek(SeekFrom::Current(-1 << 40)).expect_err("before the start").kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(file.stream_position().expect("lseek"), length + 1000, "a failed seek moves nothing");
}

#[test]
fn a_bad_whence_is_refused() {
    let file = own_file();
    // SAFETY: a seek that is refused.
    let result = unsafe { call(number::lseek, &[file.as_raw_fd() as u64, 0, 99]) };
    assert_eq!(result, Err(Errno::EINVAL));
}

#[test]
fn two_openings_have_two_offsets() {
    let (mut one, mut other) = (own_file(), own_file());
    assert_ne!(one.as_raw_fd(), other.as_raw_fd());
    one.seek(SeekFrom::Start(500)).expect("lseek");
    assert_eq!(other.stream_position().expect("lseek"), 0);
    one.seek(SeekFrom::Start(0)).expect("lseek");
    let (mut a, mut b) = ([0; 64], [0; 64]);
    one.read_exact(&mut a).expect("read");
    other.read_exact(&mut b).expect("read");
    assert_eq!(a, b);
}

#[test]
fn readv_fills_one_buffer_after_the_other() {
    let file = own_file();
    let whole = fs::read(own_path()).expect("the program itself");
    let (mut first, mut second) = ([0_u8; 10], [0_u8; 100]);
    let vectors = [address(&raw mut first), 10, 0, 0, address(&raw mut second), 100];
    // SAFETY: the buffers are this test's own, one of them empty.
    let result = unsafe { call(number::readv, &[file.as_raw_fd() as u64, address(&vectors), 3]) };
    assert_eq!(result, Ok(110));
    assert_eq!((&first[..], &second[..]), (&whole[..10], &whole[10..110]));
}

#[test]
fn what_is_absent_is_enoent() {
    for path in ["/absent", "absent", "/absent/deeper", ""] {
        assert_eq!(open(path, libc::O_RDONLY), Err(Errno::ENOENT), "{path:?}");
    }
    assert_eq!(fs::metadata("/absent").expect_err("stat").kind(), ErrorKind::NotFound);
}

#[test]
fn a_file_is_not_a_folder() {
    assert_eq!(open(&format!("{}/x", own_path()), libc::O_RDONLY), Err(Errno::ENOTDIR));
    assert_eq!(open(&own_path(), libc::O_DIRECTORY), Err(Errno::ENOTDIR));
}

#[test]
fn the_root_is_a_folder() {
    assert!(fs::metadata("/").expect("stat of /").is_dir());
    let root = open("/", libc::O_RDONLY).expect("a folder may be opened");
    let mut byte = 0_u8;
    // SAFETY: the byte is this test's own.
    let result = unsafe { call(number::read, &[root, address(&raw mut byte), 1]) };
    assert_eq!(result, Err(Errno::EISDIR));
    // SAFETY: the descriptor is this test's own.
    unsafe { call(number::close, &[root]) }.expect("close");
}

#[test]
fn too_long_a_path_is_refused() {
    assert_eq!(open(&"x".repeat(300), libc::O_RDONLY), Err(Errno::ENAMETOOLONG));
    assert_eq!(open(&"/x".repeat(3000), libc::O_RDONLY), Err(Errno::ENAMETOOLONG));
}

#[test]
fn bad_descriptors_are_ebadf() {
    let mut buffer = [0_u8; 256];
    let place = address(&raw mut buffer);
    for fd in [999_u64, u64::MAX, i32::MAX as u64] {
        for (number, arguments) in [
            (number::read, vec![fd, place, 1]),
            (number::write, vec![fd, place, 1]),
            (number::close, vec![fd]),
            (number::fstat, vec![fd, place]),
            (number::lseek, vec![fd, 0, 0]),
            (number::fcntl, vec![fd, libc::F_GETFD as u64, 0]),
            (number::ioctl, vec![fd, libc::TIOCGWINSZ as u64, place]),
        ] {
            // SAFETY: no such descriptor.
            let result = unsafe { call(number, &arguments) };
            assert_eq!(result, Err(Errno::EBADF), "call {number} of descriptor {fd:#x}");
        }
    }
}

#[test]
fn a_descriptor_is_closed_once() {
    let fd = open(&own_path(), libc::O_RDONLY).expect("open");
    // SAFETY: copies and closes this test's own descriptors; the copy's number is so high that no other test's
    // descriptor gets it in between.
    unsafe {
        let high = call(number::fcntl, &[fd, libc::F_DUPFD as u64, 60]).expect("fcntl");
        call(number::close, &[fd]).expect("close");
        call(number::close, &[high]).expect("close");
        assert_eq!(call(number::close, &[high]), Err(Errno::EBADF));
    }
}

#[test]
fn a_file_that_was_opened_for_reading_is_not_written_to() {
    let file = own_file();
    // SAFETY: refused.
    let result = unsafe { call(number::write, &[file.as_raw_fd() as u64, address("x"), 1]) };
    assert_eq!(result, Err(Errno::EBADF));
}

#[test]
fn poll_waits_as_long_as_it_is_told() {
    let start = Instant::now();
    // SAFETY: no entries.
    assert_eq!(unsafe { call(number::poll, &[0, 0, 30]) }, Ok(0));
    assert!(start.elapsed() >= Duration::from_millis(30));

    let file = own_file();
    let mut entries = [
        libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 },
        libc::pollfd { fd: -1, events: libc::POLLIN, revents: 99 },
        libc::pollfd { fd: 999, events: libc::POLLIN, revents: 0 },
    ];
    // SAFETY: the entries are this test's own.
    let ready = unsafe { call(number::poll, &[address(&raw mut entries), 3, u64::MAX]) };
    assert_eq!(ready, Ok(2), "a file is ready");
    assert_eq!(entries.map(|entry| entry.revents), [libc::POLLIN, 0, libc::POLLNVAL]);
}

#[test]
fn random_bytes_are_random() {
    let fetch = |flags: u32| {
        let mut bytes = [0_u8; 4096];
        // SAFETY: the buffer is this function's own.
        let result = unsafe { call(number::getrandom, &[address(&raw mut bytes), 4096, u64::from(flags)]) };
        assert_eq!(result, Ok(4096));
        bytes
    };
    let (one, other) = (fetch(0), fetch(libc::GRND_NONBLOCK));
    assert_ne!(one[..16], other[..16]);
    let ones: u32 = one.iter().map(|byte| byte.count_ones()).sum();
    guest::assert_within("bits that are one, of 32 768", ones, 15_800..=16_970);
    // SAFETY: refused.
    assert_eq!(unsafe { call(number::getrandom, &[0, 0, 0xff00]) }, Err(Errno::EINVAL), "no such flags");
}

#[test]
fn the_system_has_a_name() {
    // SAFETY: all zeros is a value of this plain structure.
    let mut name: libc::utsname = unsafe { zeroed() };
    // SAFETY: the structure is this test's own.
    unsafe { call(number::uname, &[address(&raw mut name)]) }.expect("uname");
    let text = |field: &[c_char]| -> String {
        field.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8 as char).collect()
    };
    assert_eq!(text(&name.machine), "x86_64");
    for field in [&name.sysname, &name.nodename, &name.release, &name.version] {
        assert!(!text(field).is_empty());
    }
    // Programs and libraries read the release as a number.
    assert!(text(&name.release).starts_with(|first: char| first.is_ascii_digit()), "{}", text(&name.release));
}

#[test]
fn the_working_folder_fits_or_is_refused() {
    let mut buffer = [0xff_u8; 4096];
    let place = address(&raw mut buffer);
    // SAFETY: the buffer is this test's own.
    let length = unsafe { call(number::getcwd, &[place, 4096]) }.expect("getcwd") as usize;
    assert_eq!((buffer[0], buffer[length - 1], buffer[length]), (b'/', 0, 0xff));
    // SAFETY: refused.
    assert_eq!(unsafe { call(number::getcwd, &[place, 1]) }, Err(Errno::ERANGE));
}

#[test]
fn memory_and_limits_are_plausible() {
    // SAFETY: all zeros is a value of this plain structure.
    let mut info: libc::sysinfo = unsafe { zeroed() };
    // SAFETY: the structure is this test's own.
    unsafe { call(number::sysinfo, &[address(&raw mut info)]) }.expect("sysinfo");
    let (total, free) = (info.totalram * u64::from(info.mem_unit), info.freeram * u64::from(info.mem_unit));
    assert!(free > 0 && free < total, "{free} of {total} bytes");
    assert!(info.procs >= 1);

    let mut limit = [0_u64; 2];
    let arguments = [0, libc::RLIMIT_STACK as u64, 0, address(&raw mut limit)];
    // SAFETY: the structure is this test's own.
    unsafe { call(number::prlimit64, &arguments) }.expect("prlimit64");
    assert!(limit[0] >= 64 * 1024 && limit[0] <= limit[1], "{limit:?}");
}

#[test]
fn ids_are_those_of_the_process() {
    use userlib::raw;
    assert_eq!(raw::getpid(), u64::from(std::process::id()));
    assert_eq!(raw::thread_self(), raw::gettid());
    let other = std::thread::spawn(|| (raw::getpid(), raw::gettid())).join().expect("the thread ends well");
    assert_eq!(other.0, raw::getpid());
    assert_ne!(other.1, raw::gettid());
    assert_eq!((raw::getuid(), raw::geteuid(), raw::getgid(), raw::getegid()), (0, 0, 0, 0));
}
