//! A pipe against a queue of bytes.

use super::*;
use core::cell::Cell;
use proptest::prelude::*;
use std::collections::VecDeque;
use syscalls::Errno;

proptest! {
    /// Against a queue of bytes: what comes out is what went in, in order, and no more than the capacity is inside.
    #[test]
    fn bytes_come_out_as_they_went_in(
        steps in prop::collection::vec((any::<bool>(), 1..20_000u64, any::<bool>()), 0..if cfg!(miri) { 4 } else { 100 })
    ) {
        let (mut flow, mut store) = (Flow::new(), vec![0u8; CAPACITY as usize]);
        let (mut model, mut next) = (VecDeque::new(), 0u8);
        for (writes, length, whole) in steps {
            if writes {
                let free = CAPACITY - model.len() as u64;
                let expected = if whole && free < length { 0 } else { free.min(length) };
                let positions = match flow.room_for(length, whole) {
                    Write::Room(positions) => positions,
                    other => {
                        prop_assert_eq!((other, expected), (Write::Wait, 0));
                        continue;
                    }
                };
                prop_assert_eq!(positions.end - positions.start, expected);
                for position in positions.clone() {
                    store[(position % CAPACITY) as usize] = next;
                    model.push_back(next);
                    next = next.wrapping_add(1);
                }
                flow.commit(positions);
            } else {
                match flow.read(length) {
                    Read::Bytes(positions) => {
                        prop_assert_eq!(positions.end - positions.start, length.min(model.len() as u64));
                        for position in positions {
                            prop_assert_eq!(model.pop_front(), Some(store[(position % CAPACITY) as usize]));
                        }
                    }
                    other => prop_assert_eq!((other, model.len()), (Read::Wait, 0)),
                }
            }
            prop_assert_eq!(flow.length(), model.len() as u64);
            prop_assert_eq!(flow.has_bytes(), !model.is_empty());
            prop_assert_eq!(flow.has_room(), CAPACITY - model.len() as u64 >= ATOMIC);
        }
    }
}

/// A page on the heap; there is only so much.
struct HeapPage(Box<[u8; PAGE_SIZE]>);

thread_local! {
    /// How many pages can still be made.
    static PAGES_LEFT: Cell<usize> = const { Cell::new(0) };
}

impl Buffer for HeapPage {
    fn new() -> Result<HeapPage, Errno> {
        PAGES_LEFT.set(PAGES_LEFT.get().checked_sub(1).ok_or(Errno::ENOMEM)?);
        Ok(HeapPage(Box::new([0xee; PAGE_SIZE])))
    }

    fn bytes(&self) -> &[u8; PAGE_SIZE] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8; PAGE_SIZE] {
        &mut self.0
    }
}

/// In pages, as the kernel keeps them.
#[derive(Default)]
struct Paged {
    flow: Flow,
    ring: Ring<HeapPage>,
}

impl Paged {
    /// How many bytes went in; as the kernel's `Inner::put`.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let Write::Room(positions) = self.flow.room_for(bytes.len() as u64, false) else { return Ok(0) };
        let count = (positions.end - positions.start) as usize;
        self.ring.put(positions.start, &bytes[..count])?;
        self.flow.commit(positions);
        Ok(count)
    }

    /// What came out; as the kernel's `Inner::take`.
    fn read(&mut self, length: usize) -> Vec<u8> {
        let mut own = HeapPage(Box::new([0; PAGE_SIZE]));
        let Read::Bytes(positions) = self.flow.read(length as u64) else { return Vec::new() };
        let count = (positions.end - positions.start) as usize;
        self.ring.take(positions, &mut own);
        own.bytes()[..count].to_vec()
    }
}

proptest! {
    /// The ring gives back each byte, has no more pages than its bytes lie in (one more where a page of theirs is read
    /// in part), and where there is no memory nothing is lost. `start`: positions need not begin at a page.
    #[test]
    fn the_ring_keeps_bytes_in_few_pages(
        start in 1..2 * PAGE_SIZE,
        // More is written than read, so that the pipe becomes full.
        steps in prop::collection::vec((prop::bool::weighted(0.7), 1..=PAGE_SIZE, 0..40usize), 0..if cfg!(miri) { 4 } else { 100 }),
    ) {
        let (mut pipe, mut model, mut next) = (Paged::default(), VecDeque::new(), 0u8);
        PAGES_LEFT.set(2);
        for length in [start.min(PAGE_SIZE), start.saturating_sub(PAGE_SIZE)] {
            pipe.write(&vec![0; length]).unwrap_or(0);
            pipe.read(length);
        }
        for (writes, length, left) in steps {
            if writes {
                let bytes: Vec<u8> = (0..length).map(|index| next.wrapping_add(index as u8)).collect();
                PAGES_LEFT.set(left);
                let written = pipe.write(&bytes);
                let free = CAPACITY as usize - model.len();
                prop_assert!(written == Ok(free.min(length)) || written == Err(Errno::ENOMEM) && left < 2);
                model.extend(&bytes[..written.unwrap_or(0)]);
                next = next.wrapping_add(written.unwrap_or(0) as u8);
            } else {
                let expected: Vec<u8> = model.drain(..length.min(model.len())).collect();
                prop_assert_eq!(pipe.read(length), expected);
            }
            // A failed write may leave a page ahead for the next one.
            prop_assert!(pipe.ring.pages() <= model.len().div_ceil(PAGE_SIZE) + 2, "pages that hold nothing");
        }
        while !model.is_empty() {
            let expected: Vec<u8> = model.drain(..PAGE_SIZE.min(model.len())).collect();
            prop_assert_eq!(pipe.read(PAGE_SIZE), expected);
        }
    }
}

#[test]
fn what_was_written_is_read_before_the_end() {
    let mut flow = Flow::new();
    flow.commit(0..3);
    flow.close_writer();
    assert_eq!(flow.read(2), Read::Bytes(0..2));
    assert_eq!(flow.read(2), Read::Bytes(2..3));
    assert_eq!(flow.read(2), Read::End);
}

#[test]
fn without_a_reader_nothing_is_written() {
    let mut flow = Flow::new();
    flow.close_reader();
    assert_eq!(flow.room_for(1, true), Write::Broken);
    let mut full = Flow::new();
    full.commit(0..CAPACITY);
    assert_eq!(full.room_for(1, false), Write::Wait);
    full.close_reader();
    assert_eq!(full.room_for(1, false), Write::Broken, "a full pipe too");
}
