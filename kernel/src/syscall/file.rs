//! Files: the console and the read-only root.

use super::{Address, Int, Long, Result, Size, Unsigned};
use crate::fs::root::{self, RootFile};
use crate::fs::{Descriptor, File, MOST_DESCRIPTORS, Mode, OpenFile, console};
use crate::mm::Shared;
use crate::mm::user::{copy_in, copy_out, probe_write, read_bytes, read_string, write_bytes};
use crate::proc::current;
use crate::sched;
use core::cmp::min;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use syscalls::Errno;
use syscalls::linux::{IoVector, Stat, Termios, WindowSize};

/// Bytes that go through the kernel's stack at once.
const PIECE: usize = 256;
/// The most bytes one call moves: Linux's bound.
const MOST: u64 = 0x7fff_f000;
pub(super) const LONGEST_PATH: usize = 255;
const MOST_VECTORS: u64 = 1024;

pub(super) fn read(fd: Int, buffer: Address, length: Size) -> Result {
    let open = open_file(fd)?;
    let length = min(length, MOST);
    if length == 0 {
        return Ok(0);
    }
    match &open.file {
        File::Console => read_console(buffer, length, open.mode()),
        File::Root(file) => read_root(file, &open.offset, buffer, length),
        File::Folder => Err(Errno::EISDIR),
        File::Null => Ok(0),
        File::Reader(reader) => reader.read(buffer, length, open.mode()),
        File::Writer(_) => Err(Errno::EBADF),
    }
}

/// The open file behind a descriptor of the caller. EBADF.
fn open_file(fd: Int) -> Result<Shared<OpenFile>> {
    current().descriptors.lock().open_file(fd)
}

/// What is typed is taken only once it is sure to arrive.
fn read_console(buffer: Address, length: u64, mode: Mode) -> Result {
    let mut bytes = [0; PIECE];
    let count = min(length, PIECE as u64);
    probe_write(buffer, count)?;
    let count = console::read(&mut bytes[..count as usize], mode)?;
    write_bytes(buffer, &bytes[..count])?;
    Ok(count as u64)
}

/// The bytes are taken from the common offset only once they are sure to arrive, and by one reader only.
fn read_root(file: &RootFile, offset: &AtomicU64, buffer: Address, length: u64) -> Result {
    let size = file.data.len() as u64;
    let count_at = |offset: u64| min(size.saturating_sub(offset), length);
    probe_write(buffer, count_at(offset.load(Relaxed)))?;
    let from = offset.update(Relaxed, Relaxed, |offset| offset + count_at(offset));
    let count = count_at(from);
    write_bytes(buffer, file.data.get(from as usize..).map_or(&[], |rest| &rest[..count as usize]))?;
    Ok(count)
}

pub(super) fn write(fd: Int, buffer: Address, length: Size) -> Result {
    let length = min(length, MOST);
    let open = open_file(fd)?;
    match &open.file {
        File::Console => write_console(buffer, length),
        File::Null => Ok(length),
        File::Writer(writer) => writer.write(buffer, length, open.mode()),
        File::Root(_) | File::Folder | File::Reader(_) => Err(Errno::EBADF),
    }
}

/// A bad address after some pieces are out ends the call with what was written, as everywhere.
fn write_console(buffer: Address, length: u64) -> Result {
    let mut bytes = [0; PIECE];
    let mut done = 0;
    while done < length {
        let piece = &mut bytes[..min(length - done, PIECE as u64) as usize];
        match read_bytes(buffer.wrapping_add(done), piece) {
            Ok(()) => console::write(piece),
            Err(errno) if done == 0 => return Err(errno),
            Err(_) => break,
        }
        done += piece.len() as u64;
        sched::pause_long_call();
    }
    Ok(done)
}

pub(super) fn readv(fd: Int, vectors: Address, count: Size) -> Result {
    for_each_vector(vectors, count, |address, length| read(fd, address, length))
}

pub(super) fn writev(fd: Int, vectors: Address, count: Size) -> Result {
    for_each_vector(vectors, count, |address, length| write(fd, address, length))
}

/// Moves buffer after buffer until one is not moved whole.
fn for_each_vector(vectors: Address, count: Size, mut step: impl FnMut(Address, Size) -> Result) -> Result {
    if count > MOST_VECTORS {
        return Err(Errno::EINVAL);
    }
    let mut total = 0;
    for index in 0..count {
        let vector: IoVector = match copy_in(vectors.wrapping_add(index * size_of::<IoVector>() as u64)) {
            Err(errno) if total == 0 => return Err(errno),
            Err(_) => break,
            Ok(vector) => vector,
        };
        match step(vector.address, vector.length) {
            Err(errno) if total == 0 => return Err(errno),
            Err(_) => break,
            Ok(moved) => {
                total += moved;
                if moved < vector.length {
                    break;
                }
            }
        }
    }
    Ok(total)
}

pub(super) fn open(path: Address, flags: Int, mode: Unsigned) -> Result {
    openat(AT_FDCWD, path, flags, mode)
}

const AT_FDCWD: Int = -100;

pub(super) fn openat(_folder: Int, path: Address, flags: Int, _mode: Unsigned) -> Result {
    const ACCESS: Int = 3;
    const CREATE: Int = 0o100;
    const EXCLUSIVE: Int = 0o200;
    const DIRECTORY: Int = 0o200_000;
    const CLOSE_ON_EXEC: Int = 0o2_000_000;
    let file = find_at(path)?;
    let for_writing = flags & ACCESS != 0;
    match file {
        None if flags & CREATE != 0 => return Err(Errno::EROFS),
        None => return Err(Errno::ENOENT),
        Some(_) if flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE => return Err(Errno::EEXIST),
        Some(File::Folder) if for_writing => return Err(Errno::EISDIR),
        Some(File::Root(_)) if for_writing => return Err(Errno::EROFS),
        Some(File::Root(_) | File::Console | File::Null | File::Reader(_) | File::Writer(_))
            if flags & DIRECTORY != 0 =>
        {
            return Err(Errno::ENOTDIR);
        }
        Some(_) => {}
    }
    let open = OpenFile::new(file.ok_or(Errno::ENOENT)?)?;
    let descriptor = Descriptor { open, close_on_exec: flags & CLOSE_ON_EXEC != 0 };
    current().descriptors.lock().add(descriptor, 0).map(|fd| fd as u64)
}

/// What the path at an address names. EFAULT, ENAMETOOLONG; others as [`find`].
fn find_at(path: Address) -> Result<Option<File>> {
    find(&read_string(path, LONGEST_PATH)?)
}

/// What a path names. ENOTDIR; ENOENT for one that is not text.
pub(super) fn find(path: &[u8]) -> Result<Option<File>> {
    let path = core::str::from_utf8(path).map_err(|_| Errno::ENOENT)?;
    Ok(match path {
        "" => None,
        "/dev/tty" | "/dev/console" => Some(File::Console),
        "/dev/null" => Some(File::Null),
        "/proc/self/exe" => Some(File::Root(current().program())),
        _ if root::is_root(path) => Some(File::Folder),
        _ if root::leads_through_a_file(path) => return Err(Errno::ENOTDIR),
        _ => root::find(path).map(File::Root),
    })
}

pub(super) fn close(fd: Int) -> Result {
    let closed = current().descriptors.lock().take(fd)?;
    drop(closed); // after the lock: the end of an open file may wake others
    Ok(0)
}

pub(super) fn stat(path: Address, status: Address) -> Result {
    let file = find_at(path)?.ok_or(Errno::ENOENT)?;
    copy_out(status, &describe(&file))?;
    Ok(0)
}

pub(super) fn lstat(path: Address, status: Address) -> Result {
    stat(path, status)
}

pub(super) fn fstat(fd: Int, status: Address) -> Result {
    copy_out(status, &describe(&open_file(fd)?.file))?;
    Ok(0)
}

pub(super) fn newfstatat(folder: Int, path: Address, status: Address, flags: Int) -> Result {
    const EMPTY_PATH: Int = 0x1000;
    if flags & EMPTY_PATH != 0 && read_string(path, LONGEST_PATH)?.is_empty() {
        return fstat(folder, status);
    }
    stat(path, status)
}

fn describe(file: &File) -> Stat {
    const FOLDER: u32 = 0o040_555;
    const CHARACTER: u32 = 0o020_666;
    const REGULAR: u32 = 0o100_000;
    const PIPE: u32 = 0o010_600;
    let (inode, mode, size) = match file {
        File::Root(file) => (file.number + 3, REGULAR | file.mode, file.data.len() as i64),
        File::Console => (1, CHARACTER, 0),
        File::Null => (2, CHARACTER, 0),
        File::Folder => (3, FOLDER, 0),
        File::Reader(_) | File::Writer(_) => (0, PIPE, 0),
    };
    let blocks = (size + 511) / 512;
    Stat { device: 1, inode, links: 1, mode, size, block_size: 4096, blocks, ..Stat::default() }
}

pub(super) fn lseek(fd: Int, offset: Long, whence: Int) -> Result {
    const FROM_START: Int = 0;
    const FROM_HERE: Int = 1;
    const FROM_END: Int = 2;
    let open = open_file(fd)?;
    let File::Root(file) = &open.file else { return Err(Errno::ESPIPE) };
    let moved = |here: u64| {
        let base = match whence {
            FROM_START => 0,
            FROM_HERE => here as i64,
            FROM_END => file.data.len() as i64,
            _ => return None,
        };
        base.checked_add(offset).and_then(|to| u64::try_from(to).ok())
    };
    let before = open.offset.try_update(Relaxed, Relaxed, moved).map_err(|_| Errno::EINVAL)?;
    moved(before).ok_or(Errno::EINVAL)
}

pub(super) fn ioctl(fd: Int, request: Unsigned, argument: Address) -> Result {
    const UNREAD: Unsigned = 0x541b;
    const SET_NON_BLOCKING: Unsigned = 0x5421;
    let open = open_file(fd)?;
    match (&open.file, request) {
        (_, SET_NON_BLOCKING) => open.set_mode(Mode::non_blocking(copy_in::<u32>(argument)? != 0)),
        (File::Reader(reader), UNREAD) => copy_out(argument, &(reader.length() as u32))?,
        (File::Console, request) if console::is_terminal() => control_terminal(request, argument)?,
        _ => return Err(Errno::ENOTTY),
    }
    Ok(0)
}

fn control_terminal(request: Unsigned, argument: Address) -> Result<()> {
    const GET_ATTRIBUTES: Unsigned = 0x5401;
    const SET_ATTRIBUTES: core::ops::RangeInclusive<Unsigned> = 0x5402..=0x5404;
    const GET_WINDOW: Unsigned = 0x5413;
    match request {
        GET_ATTRIBUTES => copy_out(argument, &ATTRIBUTES),
        request if SET_ATTRIBUTES.contains(&request) => copy_in::<Termios>(argument).map(|_| ()), // always these
        GET_WINDOW => copy_out(argument, &WindowSize { rows: 24, columns: 80, width: 0, height: 0 }),
        _ => Err(Errno::ENOTTY),
    }
}

/// What the console's line discipline does: lines, echo, `^C`, `^D`, `^U`, and no translation of output.
const ATTRIBUTES: Termios = Termios {
    input: 0o400, // ICRNL
    output: 0,
    control: 0o277,                        // CS8, CREAD, 38400
    local: 0o1 | 0o2 | 0o10 | 0o20 | 0o40, // ISIG, ICANON, ECHO, ECHOE, ECHOK
    discipline: 0,
    characters: [3, 28, 0x7f, 0x15, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
};

pub(super) fn fcntl(fd: Int, command: Int, argument: Size) -> Result {
    const DUPLICATE: Int = 0;
    const GET_FLAGS: Int = 1;
    const SET_FLAGS: Int = 2;
    const GET_STATUS: Int = 3;
    const SET_STATUS: Int = 4;
    const DUPLICATE_CLOEXEC: Int = 1030;
    const NON_BLOCKING: u64 = 0o4000;
    let mut descriptors = current().descriptors.lock();
    let descriptor = descriptors.get_mut(fd)?;
    match command {
        DUPLICATE | DUPLICATE_CLOEXEC => {
            let lowest = usize::try_from(argument).ok().filter(|&lowest| lowest < MOST_DESCRIPTORS);
            let open = descriptor.open.clone();
            let copy = Descriptor { open, close_on_exec: command == DUPLICATE_CLOEXEC };
            descriptors.add(copy, lowest.ok_or(Errno::EINVAL)?).map(|fd| fd as u64)
        }
        GET_FLAGS => Ok(u64::from(descriptor.close_on_exec)),
        SET_FLAGS => {
            descriptor.close_on_exec = argument & 1 != 0;
            Ok(0)
        }
        GET_STATUS => Ok(match descriptor.open.mode() {
            Mode::Blocking => access(&descriptor.open.file),
            Mode::NonBlocking => access(&descriptor.open.file) | NON_BLOCKING,
        }),
        SET_STATUS => {
            descriptor.open.set_mode(Mode::non_blocking(argument & NON_BLOCKING != 0));
            Ok(0)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// What a file is open for, in C's O_ flags.
fn access(file: &File) -> u64 {
    const READ_ONLY: u64 = 0;
    const WRITE_ONLY: u64 = 1;
    const READ_WRITE: u64 = 2;
    match file {
        File::Console | File::Null => READ_WRITE,
        File::Root(_) | File::Folder | File::Reader(_) => READ_ONLY,
        File::Writer(_) => WRITE_ONLY,
    }
}

pub(super) fn getcwd(buffer: Address, length: Size) -> Result {
    if length < 2 {
        return Err(Errno::ERANGE);
    }
    write_bytes(buffer, b"/\0")?;
    Ok(2)
}
