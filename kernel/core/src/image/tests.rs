//! Good files, files that are bad in one way each, and files that chance made.

use super::*;
use crate::range::USER_END;
use proptest::prelude::*;
use syscalls::Errno;

const USER: Range<u64> = 0x1_0000..USER_END;
const BIAS: u64 = 0x5555_5555_4000;

const READ: u32 = 4;
const READ_WRITE: u32 = 6;
const READ_EXECUTE: u32 = 5;

/// A program header in the making.
#[derive(Debug, Clone, Copy)]
struct Load {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
    alignment: u64,
}

fn load(flags: u32, offset: u64, address: u64, file_size: u64, memory_size: u64) -> Load {
    Load { kind: 1, flags, offset, address, file_size, memory_size, alignment: 4096 }
}

/// What linkers make: headers and constants, text, data with bss.
fn usual_loads() -> Vec<Load> {
    vec![
        load(READ, 0, 0x40_0000, 0x500, 0x500),
        load(READ_EXECUTE, 0x1000, 0x40_1000, 0x1234, 0x1234),
        load(READ_WRITE, 0x2e00, 0x40_3e00, 0x300, 0x2400),
    ]
}

fn file(kind: u16, entry: u64, loads: &[Load]) -> Vec<u8> {
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(kind.to_le_bytes());
    bytes.extend(62u16.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    for long in [entry, 64, 0] {
        bytes.extend(long.to_le_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    for half in [64, 56, loads.len() as u16, 0, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
    for load in loads {
        bytes.extend([load.kind, load.flags].map(u32::to_le_bytes).as_flattened());
        let longs =
            [load.offset, load.address, load.address, load.file_size, load.memory_size, load.alignment];
        bytes.extend(longs.map(u64::to_le_bytes).as_flattened());
    }
    bytes.resize(bytes.len().max(0x3100), 0xcc);
    bytes
}

fn usual() -> Vec<u8> {
    file(2, 0x40_1010, &usual_loads())
}

fn try_loads(loads: &[Load]) -> Result<Image, Errno> {
    plan(&file(2, 0x40_1010, loads), USER, BIAS)
}

/// What the module promises of every plan.
fn check(image: &Image, file: &[u8], user: &Range<u64>) {
    let mut lowest = user.start;
    for segment in image.segments.iter() {
        assert!(segment.start >= lowest && segment.start < segment.end && segment.end <= user.end);
        assert!(segment.start.is_multiple_of(PAGE) && segment.end.is_multiple_of(PAGE));
        assert!(segment.file_bytes == 0 || file.get(segment.file_range()).is_some());
        assert!(segment.file_end() <= segment.end);
        lowest = segment.end;
    }
    let has_entry = |segment: &Segment| {
        segment.protection == Protection::ReadExecute && (segment.start..segment.end).contains(&image.entry)
    };
    assert!(image.segments.iter().any(has_entry));
    assert_eq!(image.initial_break, lowest);
}

#[test]
fn a_program_at_fixed_addresses() {
    let bytes = usual();
    let image = plan(&bytes, USER, BIAS).unwrap();
    check(&image, &bytes, &USER);
    let segment = |start, end, file_offset, file_bytes, protection| Segment {
        start,
        end,
        file_offset,
        file_bytes,
        protection,
    };
    let expected = [
        segment(0x40_0000, 0x40_1000, 0, 0x500, Protection::Read),
        segment(0x40_1000, 0x40_3000, 0x1000, 0x1234, Protection::ReadExecute),
        segment(0x40_3000, 0x40_7000, 0x2000, 0x1100, Protection::ReadWrite),
    ];
    assert_eq!(*image.segments, expected);
    assert_eq!(image.segments[2].file_end(), 0x40_5000);
    assert_eq!((image.entry, image.bias, image.initial_break), (0x40_1010, 0, 0x40_7000));
    assert_eq!((image.headers, image.header_count), (0x40_0040, 3));
}

#[test]
fn a_position_independent_program_is_moved_by_an_aligned_bias() {
    let mut loads = usual_loads();
    loads.iter_mut().for_each(|load| load.address -= 0x40_0000);
    let bytes = file(3, 0x1010, &loads);
    let image = plan(&bytes, USER, BIAS).unwrap();
    check(&image, &bytes, &USER);
    assert_eq!((image.bias, image.entry, image.headers), (BIAS, BIAS + 0x1010, BIAS + 0x40));
    assert_eq!(image.initial_break, BIAS + 0x7000);
    loads[1].alignment = 1 << 21;
    let image = plan(&file(3, 0x1010, &loads), USER, BIAS).unwrap();
    assert_eq!(image.bias, BIAS.next_multiple_of(1 << 21));
}

#[test]
fn other_headers_and_empty_segments_are_passed_over() {
    let mut loads = usual_loads();
    loads.insert(1, Load { kind: 0x6474_e551, flags: 7, ..load(0, u64::MAX, u64::MAX, 9, 9) });
    loads.push(load(7, 1, u64::MAX, 0, 0));
    let image = try_loads(&loads).unwrap();
    assert_eq!((*image.segments).len(), 3);
    assert_eq!(image.header_count, 5);
}

#[test]
fn headers_outside_all_segments_have_no_address() {
    let mut loads = usual_loads();
    assert_eq!(try_loads(&loads[1..]).unwrap().headers, 0);
    let end_of_headers = 64 + 3 * HEADER_SIZE;
    for (size, address) in [(end_of_headers, 0x40_0040), (end_of_headers - 1, 0)] {
        (loads[0].file_size, loads[0].memory_size) = (size, size);
        assert_eq!(try_loads(&loads).unwrap().headers, address, "{size} bytes");
    }
}

#[test]
fn a_segment_of_zeroes_only_takes_nothing_from_the_file() {
    let mut loads = usual_loads();
    loads.push(load(READ_WRITE, 0x123, 0x50_0123, 0, 0x2000));
    let image = try_loads(&loads).unwrap();
    let last = image.segments[3];
    assert_eq!((last.start, last.end, last.file_bytes), (0x50_0000, 0x50_3000, 0));
    assert_eq!(last.file_end(), last.start);
}

/// Each of these differs from a good file in one respect.
#[test]
fn a_fault_in_the_file_header_is_refused() {
    let faults: [(&str, usize, &[u8]); 14] = [
        ("magic", 0, &[0x7e]),
        ("32-bit", 4, &[1]),
        ("big-endian", 5, &[2]),
        ("identity version", 6, &[0]),
        ("another system's", 7, &[9]),
        ("relocatable", 16, &[1]),
        ("core dump", 16, &[4]),
        ("another machine's", 18, &[3]),
        ("version", 20, &[2]),
        ("headers beyond the end", 32, &u64::MAX.to_le_bytes()),
        ("headers across the end", 32, &0x3080u64.to_le_bytes()),
        ("size of a header", 54, &[57]),
        ("too many headers", 56, &[65]),
        ("no headers", 56, &[0]),
    ];
    for (fault, offset, bytes) in faults {
        let mut file = usual();
        file[offset..offset + bytes.len()].copy_from_slice(bytes);
        assert_eq!(plan(&file, USER, BIAS), Err(Errno::ENOEXEC), "{fault}");
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let bytes = usual();
    for length in 0..0x3100 {
        assert_eq!(plan(&bytes[..length], USER, BIAS), Err(Errno::ENOEXEC), "{length} bytes");
    }
}

#[test]
fn a_fault_in_a_segment_is_refused() {
    type Fault = (&'static str, usize, fn(&mut Load));
    let faults: [Fault; 17] = [
        ("interpreter", 0, |load| load.kind = 3),
        ("more in the file than in memory", 1, |load| load.file_size = load.memory_size + 1),
        ("file bytes beyond the end", 2, |load| load.offset = 0x4e00),
        ("file offset wraps", 2, |load| load.offset = u64::MAX - 0x1ff),
        ("file size wraps", 2, |load| (load.file_size, load.memory_size) = (u64::MAX, u64::MAX)),
        ("address wraps", 2, |load| load.address = u64::MAX - 0x1ff),
        ("memory size wraps", 2, |load| load.memory_size = u64::MAX - 0x1000),
        ("rounding up wraps", 2, |load| load.memory_size = u64::MAX - load.address),
        ("in the kernel", 2, |load| load.address = 0xffff_8000_0000_0e00),
        ("across the end of user space", 2, |load| load.address = USER_END - 0x200),
        ("below user space", 0, |load| load.address = 0xf000),
        ("null", 0, |load| load.address = 0),
        ("offset in the page", 2, |load| load.offset += 1),
        ("alignment", 1, |load| load.alignment = 3 << 12),
        ("writable and executable", 1, |load| load.flags = 7),
        ("shares a page", 1, |load| load.memory_size = 0x2001),
        ("descending", 2, |load| load.address = 0x20_0e00),
    ];
    for (fault, index, spoil) in faults {
        let mut loads = usual_loads();
        spoil(&mut loads[index]);
        assert_eq!(try_loads(&loads), Err(Errno::ENOEXEC), "{fault}");
    }
    let flags_without_reading = [(1, 0x1000, Protection::ReadExecute), (2, 0x1000, Protection::ReadWrite)];
    for (flags, offset, protection) in flags_without_reading {
        let mut loads = usual_loads();
        loads.push(load(flags, offset, 0x50_0000, 1, 1));
        assert_eq!(try_loads(&loads).unwrap().segments[3].protection, protection);
    }
}

#[test]
fn an_entry_outside_executable_segments_is_refused() {
    let loads = usual_loads();
    for entry in [0, 0x40_0010, 0x40_0fff, 0x40_2234, 0x40_3e00, 0x50_0000, 1 << 47, u64::MAX] {
        assert_eq!(plan(&file(2, entry, &loads), USER, BIAS), Err(Errno::ENOEXEC), "{entry:#x}");
    }
    for entry in [0x40_1000, 0x40_2233] {
        assert_eq!(plan(&file(2, entry, &loads), USER, BIAS).unwrap().entry, entry);
    }
}

#[test]
fn too_many_segments_and_none_are_refused() {
    let many = |count: u64| -> Vec<Load> {
        (0..count).map(|n| load(READ_EXECUTE, 0x1000, 0x40_1000 + n * 0x1000, 0x1000, 0x1000)).collect()
    };
    assert_eq!((*try_loads(&many(16)).unwrap().segments).len(), MAX_SEGMENTS);
    assert_eq!(try_loads(&many(17)), Err(Errno::ENOEXEC));
    assert_eq!(try_loads(&many(0)), Err(Errno::ENOEXEC));
    assert_eq!(try_loads(&[Load { memory_size: 0, file_size: 0, ..many(1)[0] }]), Err(Errno::ENOEXEC));
}

#[test]
fn a_bias_that_pushes_the_program_out_is_refused() {
    let mut loads = usual_loads();
    loads.iter_mut().for_each(|load| load.address -= 0x40_0000);
    for bias in [0, USER_END - 0x6000, USER_END, u64::MAX - 0x1fff, u64::MAX] {
        assert_eq!(plan(&file(3, 0x1010, &loads), USER, bias), Err(Errno::ENOEXEC), "{bias:#x}");
    }
    assert!(plan(&file(3, 0x1010, &loads), USER, USER_END - 0x7000).is_ok());
}

/// Numbers at which sums and comparisons go wrong.
fn odd_number() -> impl Strategy<Value = u64> {
    let edges =
        [0, 1, 0xfff, 0x1000, 0x40_1000, 0x40_3e00, USER_END, 1 << 47, 1 << 63, u64::MAX - 0xfff, u64::MAX];
    (prop::sample::select(edges.to_vec()), -2i64..=2).prop_map(|(edge, off)| edge.wrapping_add_signed(off))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 4000 }))]

    #[test]
    fn arbitrary_bytes_never_break_a_promise(bytes in prop::collection::vec(any::<u8>(), 0..300), bias: u64) {
        if let Ok(image) = plan(&bytes, USER, bias) {
            check(&image, &bytes, &USER);
        }
    }

    /// Odd numbers in the fields, of which some still make good files.
    #[test]
    fn odd_fields_never_break_a_promise(
        position_independent: bool,
        changes in prop::collection::vec((0usize..29, odd_number()), 1..4),
        bias in prop_oneof![Just(BIAS), odd_number()],
    ) {
        let kind = 2 + u16::from(position_independent);
        let mut bytes = file(kind, 0x40_1010, &usual_loads());
        for (field, value) in changes {
            bytes[field * 8..field * 8 + 8].copy_from_slice(&value.to_le_bytes());
        }
        if let Ok(image) = plan(&bytes, USER, bias) {
            check(&image, &bytes, &USER);
        }
    }

    #[test]
    fn flipped_bytes_never_break_a_promise(flips in prop::collection::vec((0usize..232, any::<u8>()), 1..6)) {
        let mut bytes = usual();
        for (place, value) in flips {
            bytes[place] = value;
        }
        if let Ok(image) = plan(&bytes, USER, BIAS) {
            check(&image, &bytes, &USER);
        }
    }
}
