//! From a file of the root to an LWP that runs it.

use super::{Process, new_lwp, table};
use crate::arch::Frame;
use crate::fs::root::{self, RootFile};
use crate::mm::heap::try_box;
use crate::mm::layout::{PAGE_SIZE, USER_CEILING, USER_STACK, USER_START};
use crate::mm::user::write_bytes;
use crate::mm::{Access, AddressSpace, Kind, Place, Protection};
use crate::random;
use alloc::boxed::Box;
use alloc::vec::Vec;
use kcore::image::{self, HEADER_SIZE, Image, Segment};
use kcore::stack::{Contents, key};
use syscalls::Errno;

/// Where position-independent programs lie: in the same quarter of the tables as their stack, far below it.
const PROGRAM_BASE: u64 = 0x7f80_0000_0000;
/// The most that arguments, environment and auxiliary vector may take.
const MOST_ARGUMENT_BYTES: usize = 128 * 1024;

/// A program that is laid out in memory.
struct Loaded {
    space: AddressSpace,
    frame: Frame,
}

/// Starts the first program, pid 1, as the root archive asks for: its arguments are the strings of `/.argv`, its
/// environment those of `/.environ`. The error says what is wrong, in words.
pub(crate) fn start_first() -> Result<(), &'static str> {
    let list = root::find(".argv").ok_or("the root archive names no program (/.argv)")?;
    let (arguments, environment) =
        (strings(list.data), root::find(".environ").map_or(Vec::new(), |f| strings(f.data)));
    let path = core::str::from_utf8(arguments.first().ok_or("/.argv is empty")?)
        .map_err(|_| "the path is not text")?;
    let file = root::find(path).ok_or("the first program is not in the root archive")?;
    let loaded = load(file, &arguments, &environment).map_err(|errno| match errno {
        Errno::ENOEXEC => "the first program is not a static x86-64 ELF file",
        other => other.text(),
    })?;
    let pid = table::new_id().map_err(Errno::text)?;
    let process =
        Process::new(pid, 0, Box::from(file.name), loaded.space).and_then(try_box).map_err(Errno::text)?;
    let process: &'static Process = Box::leak(process);
    super::count_process();
    new_lwp(process, Some(pid), &loaded.frame, |_| ()).map_err(Errno::text)?;
    Ok(())
}

/// The strings of a list in which each ends with a zero byte.
fn strings(list: &'static [u8]) -> Vec<&'static [u8]> {
    list.strip_suffix(&[0]).map_or(Vec::new(), |list| list.split(|&byte| byte == 0).collect())
}

/// Lays a program out in a new address space, which this CPU then uses. ENOEXEC, E2BIG, ENOMEM.
fn load(file: RootFile, arguments: &[&[u8]], environment: &[&[u8]]) -> Result<Loaded, Errno> {
    let image = image::plan(file.data, USER_START..USER_CEILING, PROGRAM_BASE)?;
    let space = AddressSpace::new()?;
    for segment in image.segments.iter() {
        map_segment(&space, file, segment)?;
    }
    space.place_heap(image.initial_break);
    space.map_stack()?;
    let stack_pointer = fill_stack(&space, file, &image, arguments, environment)?;
    Ok(Loaded { space, frame: Frame::start(image.entry, stack_pointer) })
}

fn map_segment(space: &AddressSpace, file: RootFile, segment: &Segment) -> Result<(), Errno> {
    let protection = match segment.protection {
        image::Protection::None => Protection::NONE,
        image::Protection::Read => Protection::READ,
        image::Protection::ReadWrite => Protection::READ | Protection::WRITE,
        image::Protection::ReadExecute => Protection::READ | Protection::EXECUTE,
    };
    let file_end = segment.file_end().min(segment.end);
    if segment.start < file_end {
        let bytes = &file.data[segment.file_range()];
        space.map(
            Place::FixedIfFree(segment.start),
            file_end - segment.start,
            protection,
            Kind::File(bytes),
        )?;
    }
    if file_end < segment.end {
        space.map(Place::FixedIfFree(file_end), segment.end - file_end, protection, Kind::Anonymous)?;
    }
    Ok(())
}

/// Writes the initial stack, and returns the stack pointer.
fn fill_stack(
    space: &AddressSpace,
    file: RootFile,
    image: &Image,
    arguments: &[&[u8]],
    environment: &[&[u8]],
) -> Result<u64, Errno> {
    let mut random = [0; 16];
    random::fill(&mut random);
    let contents = Contents {
        path: arguments.first().copied().unwrap_or(file.name.as_bytes()),
        arguments,
        environment,
        auxiliary: &[
            (key::AT_PHDR, image.headers),
            (key::AT_PHENT, HEADER_SIZE),
            (key::AT_PHNUM, image.header_count),
            (key::AT_PAGESZ, PAGE_SIZE),
            (key::AT_ENTRY, image.entry),
            (key::AT_UID, 0),
            (key::AT_EUID, 0),
            (key::AT_GID, 0),
            (key::AT_EGID, 0),
            (key::AT_SECURE, 0),
            (key::AT_CLKTCK, 100),
        ],
        random,
    };
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(MOST_ARGUMENT_BYTES).map_err(|_| Errno::ENOMEM)?;
    buffer.resize(MOST_ARGUMENT_BYTES, 0);
    let stack = contents.build(USER_STACK.end, &mut buffer)?;
    // With its pages there, the copy does not fault, and does not need the address space to be that of an LWP.
    for page in (stack.stack_pointer & !(PAGE_SIZE - 1)..USER_STACK.end).step_by(PAGE_SIZE as usize) {
        space.fault(page, Access::Write).map_err(|_| Errno::ENOMEM)?;
    }
    space.activate();
    write_bytes(stack.stack_pointer, &buffer[MOST_ARGUMENT_BYTES - stack.bytes_used..])?;
    Ok(stack.stack_pointer)
}
