//! From a file of the root to memory that holds the program, and to the first process.

use super::process::Beginning;
use super::signals::SignalActions;
use super::{Program, family, new_lwp, table};
use crate::arch::Frame;
use crate::fs::Descriptors;
use crate::fs::root::{self, RootFile};
use crate::mm::layout::{PAGE_SIZE, USER_CEILING, USER_STACK, USER_START};
use crate::mm::{AddressSpace, Kind, Place, Protection, Shared};
use crate::random;
use alloc::vec::Vec;
use kcore::image::{self, HEADER_SIZE, Image, Segment};
use kcore::stack::{Contents, key};
use syscalls::Errno;

/// Where position-independent programs lie: in the same quarter of the tables as their stack, far below it.
const PROGRAM_BASE: u64 = 0x7f80_0000_0000;
/// The most that arguments, environment and auxiliary vector may take.
pub(crate) const MOST_ARGUMENT_BYTES: usize = 128 * 1024;

/// A program that is laid out in memory.
pub(super) struct Loaded {
    pub(super) space: Shared<AddressSpace>,
    pub(super) start: Start,
}

/// Where a program begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    entry: u64,
    stack_pointer: u64,
}

impl Start {
    /// The registers with which it begins.
    pub(crate) fn frame(self) -> Frame {
        Frame::start(self.entry, self.stack_pointer)
    }
}

/// Starts the first program, pid 1, as the root archive asks for: its arguments are the strings of `/.argv`, its
/// environment those of `/.environ`. `ready` is called when it is about to begin. The error says what is wrong, in words.
pub(crate) fn start_first(ready: impl FnOnce()) -> Result<(), &'static str> {
    let list = root::find(".argv").ok_or("the root archive names no program (/.argv)")?;
    let (arguments, environment) =
        (strings(list.data), root::find(".environ").map_or(Vec::new(), |f| strings(f.data)));
    let path = *arguments.first().ok_or("/.argv is empty")?;
    let text = core::str::from_utf8(path).map_err(|_| "the path is not text")?;
    let file = root::find(text).ok_or("the first program is not in the root archive")?;
    let program = Program { file, path, arguments: &arguments, environment: &environment };
    start(&program, ready).map_err(|errno| match errno {
        Errno::ENOEXEC => "the first program is not a static x86-64 ELF file",
        other => other.text(),
    })
}

fn start(program: &Program, ready: impl FnOnce()) -> Result<(), Errno> {
    let loaded = load(program, 0)?;
    let process = family::take_slot()?;
    let pid = table::new_id()?;
    let beginning = Beginning {
        pid,
        parent: 0,
        uid: 0,
        program: program.file,
        space: loaded.space,
        descriptors: Descriptors::console()?,
        signal_actions: SignalActions::new(),
    };
    // SAFETY: the slot was free and is ours.
    unsafe { process.begin(beginning) };
    family::lock().add(process.slot, pid, None);
    new_lwp(process, Some(pid), &loaded.start.frame(), |_| {}, |_| ready())?;
    Ok(())
}

/// The strings of a list in which each ends with a zero byte.
fn strings(list: &'static [u8]) -> Vec<&'static [u8]> {
    list.strip_suffix(&[0]).map_or(Vec::new(), |list| list.split(|&byte| byte == 0).collect())
}

/// Lays a program out in a new address space, for a process of user `uid`. ENOEXEC, E2BIG, ENOMEM.
pub(super) fn load(program: &Program, uid: u32) -> Result<Loaded, Errno> {
    let file = program.file;
    let image = image::plan(file.data, USER_START..USER_CEILING, PROGRAM_BASE)?;
    let space = Shared::new(AddressSpace::new()?)?;
    for segment in image.segments.iter() {
        map_segment(&space, file, segment)?;
    }
    space.place_heap(image.initial_break);
    space.map_stack()?;
    let stack_pointer = fill_stack(&space, program, &image, uid)?;
    Ok(Loaded { space, start: Start { entry: image.entry, stack_pointer } })
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
fn fill_stack(space: &AddressSpace, program: &Program, image: &Image, uid: u32) -> Result<u64, Errno> {
    let mut random = [0; 16];
    random::fill(&mut random);
    let contents = Contents {
        path: program.path,
        arguments: program.arguments,
        environment: program.environment,
        auxiliary: &[
            (key::AT_PHDR, image.headers),
            (key::AT_PHENT, HEADER_SIZE),
            (key::AT_PHNUM, image.header_count),
            (key::AT_PAGESZ, PAGE_SIZE),
            (key::AT_ENTRY, image.entry),
            (key::AT_UID, u64::from(uid)),
            (key::AT_EUID, u64::from(uid)),
            (key::AT_GID, 0),
            (key::AT_EGID, 0),
            (key::AT_SECURE, 0),
            (key::AT_CLKTCK, 100),
        ],
        random,
    };
    let most = contents.most_bytes();
    if most > MOST_ARGUMENT_BYTES {
        return Err(Errno::E2BIG);
    }
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(most).map_err(|_| Errno::ENOMEM)?;
    buffer.resize(most, 0);
    let stack = contents.build(USER_STACK.end, &mut buffer)?;
    space.put(stack.stack_pointer, &buffer[most - stack.bytes_used..])?;
    Ok(stack.stack_pointer)
}
