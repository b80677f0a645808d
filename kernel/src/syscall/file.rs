//! Files: the console and the read-only root.

use super::{Address, Int, Long, Result, Size, Unsigned};
use crate::fs::root::{self, RootFile};
use crate::fs::{Description, File, console};
use crate::mm::user::{copy_in, copy_out, probe_write, read_bytes, read_string, write_bytes};
use crate::proc::current;
use core::cmp::min;
use syscalls::Errno;
use syscalls::linux::{IoVector, Stat, Termios, WindowSize};

/// Bytes that go through the kernel's stack at once.
const PIECE: usize = 256;
/// The most bytes one call moves: Linux's bound.
const MOST: u64 = 0x7fff_f000;
const LONGEST_PATH: usize = 255;
const MOST_VECTORS: u64 = 1024;

pub(super) fn read(fd: Int, buffer: Address, length: Size) -> Result {
    let file = current().descriptors.lock().get(fd)?.file;
    let length = min(length, MOST);
    if length == 0 {
        return Ok(0);
    }
    match file {
        File::Console => read_console(buffer, length),
        File::Root { file, offset } => read_root(fd, file, offset, buffer, length),
        File::Folder => Err(Errno::EISDIR),
        File::Null => Ok(0),
    }
}

/// What is typed is taken only once it is sure to arrive.
fn read_console(buffer: Address, length: u64) -> Result {
    let mut bytes = [0; PIECE];
    let count = min(length, PIECE as u64);
    probe_write(buffer, count)?;
    let count = console::read(&mut bytes[..count as usize])?;
    write_bytes(buffer, &bytes[..count])?;
    Ok(count as u64)
}

fn read_root(fd: Int, file: RootFile, offset: u64, buffer: Address, length: u64) -> Result {
    let rest = file.data.get(offset as usize..).unwrap_or(&[]);
    let count = min(rest.len() as u64, length);
    write_bytes(buffer, &rest[..count as usize])?;
    set_offset(fd, offset + count)?;
    Ok(count)
}

fn set_offset(fd: Int, to: u64) -> Result<()> {
    if let File::Root { offset, .. } = &mut current().descriptors.lock().get_mut(fd)?.file {
        *offset = to;
    }
    Ok(())
}

pub(super) fn write(fd: Int, buffer: Address, length: Size) -> Result {
    let file = current().descriptors.lock().get(fd)?.file;
    let length = min(length, MOST);
    match file {
        File::Console => write_console(buffer, length),
        File::Null => Ok(length),
        File::Root { .. } | File::Folder => Err(Errno::EBADF),
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
    let file = find(path)?;
    let for_writing = flags & ACCESS != 0;
    match file {
        None if flags & CREATE != 0 => return Err(Errno::EROFS),
        None => return Err(Errno::ENOENT),
        Some(_) if flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE => return Err(Errno::EEXIST),
        Some(File::Folder) if for_writing => return Err(Errno::EISDIR),
        Some(File::Root { .. }) if for_writing => return Err(Errno::EROFS),
        Some(File::Root { .. } | File::Console | File::Null) if flags & DIRECTORY != 0 => {
            return Err(Errno::ENOTDIR);
        }
        Some(_) => {}
    }
    let file = file.ok_or(Errno::ENOENT)?;
    let description = Description { file, close_on_exec: flags & CLOSE_ON_EXEC != 0 };
    current().descriptors.lock().add(description, 0).map(|fd| fd as u64)
}

/// What a path names. EFAULT, ENAMETOOLONG, ENOTDIR, ENOENT for the empty path and one that is not text.
fn find(path: Address) -> Result<Option<File>> {
    let bytes = read_string(path, LONGEST_PATH)?;
    let path = core::str::from_utf8(&bytes).map_err(|_| Errno::ENOENT)?;
    Ok(match path {
        "" => None,
        "/dev/tty" | "/dev/console" => Some(File::Console),
        "/dev/null" => Some(File::Null),
        _ if root::is_root(path) => Some(File::Folder),
        _ if root::leads_through_a_file(path) => return Err(Errno::ENOTDIR),
        _ => root::find(path).map(|file| File::Root { file, offset: 0 }),
    })
}

pub(super) fn close(fd: Int) -> Result {
    current().descriptors.lock().close(fd)?;
    Ok(0)
}

pub(super) fn stat(path: Address, status: Address) -> Result {
    let file = find(path)?.ok_or(Errno::ENOENT)?;
    copy_out(status, &describe(&file))?;
    Ok(0)
}

pub(super) fn lstat(path: Address, status: Address) -> Result {
    stat(path, status)
}

pub(super) fn fstat(fd: Int, status: Address) -> Result {
    let file = current().descriptors.lock().get(fd)?.file;
    copy_out(status, &describe(&file))?;
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
    let (inode, mode, size) = match file {
        File::Root { file, .. } => (file.number + 3, REGULAR | file.mode, file.data.len() as i64),
        File::Console => (1, CHARACTER, 0),
        File::Null => (2, CHARACTER, 0),
        File::Folder => (3, FOLDER, 0),
    };
    let blocks = (size + 511) / 512;
    Stat { device: 1, inode, links: 1, mode, size, block_size: 4096, blocks, ..Stat::default() }
}

pub(super) fn lseek(fd: Int, offset: Long, whence: Int) -> Result {
    const FROM_START: Int = 0;
    const FROM_HERE: Int = 1;
    const FROM_END: Int = 2;
    let File::Root { file, offset: here } = current().descriptors.lock().get(fd)?.file else {
        return Err(Errno::ESPIPE);
    };
    let base = match whence {
        FROM_START => 0,
        FROM_HERE => here as i64,
        FROM_END => file.data.len() as i64,
        _ => return Err(Errno::EINVAL),
    };
    let to = base.checked_add(offset).filter(|to| *to >= 0).ok_or(Errno::EINVAL)? as u64;
    set_offset(fd, to)?;
    Ok(to)
}

pub(super) fn ioctl(fd: Int, request: Unsigned, argument: Address) -> Result {
    const GET_ATTRIBUTES: Unsigned = 0x5401;
    const SET_ATTRIBUTES: core::ops::RangeInclusive<Unsigned> = 0x5402..=0x5404;
    const GET_WINDOW: Unsigned = 0x5413;
    match current().descriptors.lock().get(fd)?.file {
        File::Console if console::is_terminal() => {}
        _ => return Err(Errno::ENOTTY),
    }
    match request {
        GET_ATTRIBUTES => copy_out(argument, &ATTRIBUTES)?,
        request if SET_ATTRIBUTES.contains(&request) => _ = copy_in::<Termios>(argument)?, // always these
        GET_WINDOW => copy_out(argument, &WindowSize { rows: 24, columns: 80, width: 0, height: 0 })?,
        _ => return Err(Errno::ENOTTY),
    }
    Ok(0)
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
    const DUPLICATE_CLOEXEC: Int = 1030;
    const READ_WRITE: u64 = 2;
    let mut descriptors = current().descriptors.lock();
    let description = descriptors.get(fd)?;
    match command {
        DUPLICATE | DUPLICATE_CLOEXEC => {
            let lowest = usize::try_from(argument).unwrap_or(usize::MAX);
            let close_on_exec = command == DUPLICATE_CLOEXEC;
            descriptors.add(Description { close_on_exec, ..description }, lowest).map(|fd| fd as u64)
        }
        GET_FLAGS => Ok(u64::from(description.close_on_exec)),
        SET_FLAGS => {
            descriptors.get_mut(fd)?.close_on_exec = argument & 1 != 0;
            Ok(0)
        }
        GET_STATUS => Ok(if matches!(description.file, File::Console | File::Null) { READ_WRITE } else { 0 }),
        _ => Err(Errno::EINVAL),
    }
}

pub(super) fn getcwd(buffer: Address, length: Size) -> Result {
    if length < 2 {
        return Err(Errno::ERANGE);
    }
    write_bytes(buffer, b"/\0")?;
    Ok(2)
}
