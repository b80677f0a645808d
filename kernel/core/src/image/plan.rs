//! From headers to a plan.

use super::header::{FileHeader, ProgramHeader};
use super::{Image, MAX_SEGMENTS, PAGE, Protection, Segment};
use alloc::vec::Vec;
use core::ops::Range;
use syscalls::Errno;

const LOAD: u32 = 1;
const INTERPRETER: u32 = 3;

const EXECUTE: u32 = 1;
const WRITE: u32 = 2;
const READ: u32 = 4;

/// Plans the program in `file`. Segments lie in `user`; a position-independent program gets `bias` added to its
/// addresses, rounded up to the alignment it asks for. ENOEXEC where the file is not a program that can be run; ENOMEM.
pub fn plan(file: &[u8], user: Range<u64>, bias: u64) -> Result<Image, Errno> {
    let mut list = Vec::new();
    list.try_reserve_exact(MAX_SEGMENTS).map_err(|_| Errno::ENOMEM)?;
    try_plan(file, user, bias, list).ok_or(Errno::ENOEXEC)
}

/// `list` is empty, and has room.
fn try_plan(file: &[u8], user: Range<u64>, bias: u64, mut list: Vec<Segment>) -> Option<Image> {
    let header = FileHeader::parse(file)?;
    let mut program_headers = header.program_headers(file)?;
    if program_headers.any(|entry| entry.kind == INTERPRETER) {
        return None;
    }
    // An entry without bytes is no segment, wherever it says it is.
    let is_load = |entry: &ProgramHeader| entry.kind == LOAD && entry.memory_size > 0;
    let loads = header.program_headers(file)?.filter(is_load);
    let bias = if header.position_independent { aligned_bias(loads.clone(), bias)? } else { 0 };
    add_segments(&mut list, loads.clone(), file.len() as u64, &user, bias)?;
    if !is_executable(loads.clone(), header.entry) {
        return None;
    }
    Some(Image {
        initial_break: list.last()?.end,
        segments: list,
        entry: header.entry.checked_add(bias)?,
        headers: headers_address(loads, &header).map_or(0, |address| address + bias),
        header_count: header.header_count.into(),
        bias,
    })
}

/// `bias`, rounded up to the greatest alignment of all segments and at least a page.
fn aligned_bias(mut loads: impl Iterator<Item = ProgramHeader>, bias: u64) -> Option<u64> {
    let alignment = loads.try_fold(PAGE, |most, load| Some(most.max(alignment(&load)?)))?;
    bias.checked_next_multiple_of(alignment)
}

/// The alignment that a segment asks for: a power of two; 0 and 1 ask for none.
fn alignment(load: &ProgramHeader) -> Option<u64> {
    let alignment = load.alignment.max(1);
    alignment.is_power_of_two().then_some(alignment)
}

fn add_segments(
    list: &mut Vec<Segment>,
    loads: impl Iterator<Item = ProgramHeader>,
    file_size: u64,
    user: &Range<u64>,
    bias: u64,
) -> Option<()> {
    let mut lowest = user.start;
    for load in loads {
        let segment = segment(&load, file_size, bias)?;
        let fits = segment.start >= lowest && segment.end <= user.end && list.len() < MAX_SEGMENTS;
        if !fits {
            return None;
        }
        lowest = segment.end;
        list.push(segment);
    }
    Some(())
}

/// The pages of one segment: as the file's pages lie, so that both have the same offset in a page.
fn segment(load: &ProgramHeader, file_size: u64, bias: u64) -> Option<Segment> {
    let address = load.address.checked_add(bias)?;
    let lead = address % PAGE;
    let end = address.checked_add(load.memory_size)?.checked_next_multiple_of(PAGE)?;
    let in_file = load.offset.checked_add(load.file_size)? <= file_size;
    let good = in_file
        && load.file_size <= load.memory_size
        && load.offset % PAGE == lead
        && alignment(load).is_some();
    if !good {
        return None;
    }
    Some(Segment {
        start: address - lead,
        end,
        file_offset: load.offset - lead,
        file_bytes: if load.file_size == 0 { 0 } else { load.file_size + lead },
        protection: protection(load.flags)?,
    })
}

/// `None` for what is to be both writable and executable. x86-64 cannot withhold reading from either.
fn protection(flags: u32) -> Option<Protection> {
    match flags & (READ | WRITE | EXECUTE) {
        0 => Some(Protection::None),
        READ => Some(Protection::Read),
        flags if flags & EXECUTE == 0 => Some(Protection::ReadWrite),
        flags if flags & WRITE == 0 => Some(Protection::ReadExecute),
        _ => None,
    }
}

/// Whether the file's `address` is in an executable segment, not only in its last page.
fn is_executable(mut loads: impl Iterator<Item = ProgramHeader>, address: u64) -> bool {
    loads.any(|load| {
        let offset = address.checked_sub(load.address);
        load.flags & EXECUTE != 0 && offset.is_some_and(|offset| offset < load.memory_size)
    })
}

/// Where a segment brings the program headers into memory, before bias.
fn headers_address(mut loads: impl Iterator<Item = ProgramHeader>, header: &FileHeader) -> Option<u64> {
    loads.find_map(|load| {
        let offset = header.headers_offset.checked_sub(load.offset)?;
        let inside = offset.checked_add(header.headers_size())? <= load.file_size;
        inside.then_some(load.address + offset)
    })
}
