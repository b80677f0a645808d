//! Which lines of an arena are whose: the allocator behind `usmalloc`, and behind the places of semaphores.
//!
//! **Problem.** Processes that share an arena may be killed in the middle of anything, and may write anywhere in it; the
//! others must be able to go on. So what is allocated is known here, outside the arena's memory. In constant time all
//! the same: a block is found again by a hint in its first line, which is believed only where the block it names really
//! begins there.
//!
//! **Blocks** are runs of 64-byte lines, linked to their neighbours; free ones never touch, and are listed by size, four
//! lists to a power of two. A request first searches the list of its own size, then takes the first block of the next
//! list that has one, which is surely large enough.

use super::slab::{Blank, Slab};
use alloc::vec::Vec;
use syscalls::Errno;

/// Bytes in a line.
pub const LINE: u64 = 64;

const NONE: u32 = u32::MAX;

/// Four lists for each power of two that 32 bits hold.
const BINS: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Taken,
    /// Taken, and never given back.
    Kept,
    /// The block is part of another now; its number is free.
    Gone,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    start: u32,
    lines: u32,
    state: State,
    /// The blocks before and behind it in the arena.
    before: u32,
    behind: u32,
    /// Its neighbours in a list of free blocks, or of free numbers.
    previous: u32,
    next: u32,
}

impl Block {
    /// No lines; the number is in no list.
    const GONE: Block = Block {
        start: NONE,
        lines: 0,
        state: State::Gone,
        before: NONE,
        behind: NONE,
        previous: NONE,
        next: NONE,
    };
}

impl Blank for Block {
    const BLANK: Block = Block::GONE;
}

/// The lines of an arena.
#[derive(Debug)]
pub(super) struct Heap {
    blocks: Slab<Block>,
    /// The first block of each list. Not in the structure: that is moved, on stacks that are small.
    bins: Vec<u32>,
    /// Which lists are not empty.
    filled: u128,
    /// The first free number.
    gone: u32,
    /// Lines in blocks that are taken.
    taken: u32,
}

/// A block that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    /// By which it is found.
    pub(super) number: u32,
    /// Its first line.
    pub(super) start: u32,
}

fn bin_of(lines: u32) -> usize {
    let log = lines.ilog2();
    let quarter = ((u64::from(lines) << 2) >> log) as usize & 3;
    log as usize * 4 + quarter
}

impl Heap {
    /// One free block of `lines`, more than none. ENOMEM.
    pub(super) fn new(lines: u32) -> Result<Heap, Errno> {
        let mut bins = Vec::new();
        bins.try_reserve_exact(BINS).map_err(|_| Errno::ENOMEM)?;
        bins.resize(BINS, NONE);
        let mut heap = Heap { blocks: Slab::new(), bins, filled: 0, gone: NONE, taken: 0 };
        let first = Block { start: 0, lines, state: State::Free, ..Block::GONE };
        let number = heap.blocks.push(first)?;
        heap.list(number);
        Ok(heap)
    }

    /// Lines in blocks that are taken.
    pub(super) fn taken(&self) -> u32 {
        self.taken
    }

    /// Takes a block of `lines`, more than none. ENOMEM, and nothing has changed.
    pub(super) fn take(&mut self, lines: u32) -> Result<Taken, Errno> {
        let number = self.find(lines).ok_or(Errno::ENOMEM)?;
        let rest = self.block(number).lines - lines;
        let spare = if rest > 0 { Some(self.new_number()?) } else { None };
        self.unlist(number);
        if let Some(spare) = spare {
            self.split(number, lines, spare);
        }
        self.block_mut(number).state = State::Taken;
        self.taken += lines;
        Ok(Taken { number, start: self.block(number).start })
    }

    /// Takes one line for good. ENOMEM, and nothing has changed.
    pub(super) fn keep(&mut self) -> Result<u32, Errno> {
        let taken = self.take(1)?;
        self.block_mut(taken.number).state = State::Kept;
        Ok(taken.start)
    }

    /// Gives back the block of this number if it is taken and starts at line `start`. EINVAL: it is not so.
    pub(super) fn give_back(&mut self, number: u32, start: u32) -> Result<(), Errno> {
        let block = *self.blocks.get(number).ok_or(Errno::EINVAL)?;
        if block.state != State::Taken || block.start != start {
            return Err(Errno::EINVAL);
        }
        self.taken -= block.lines;
        self.block_mut(number).state = State::Free;
        self.join_next(number);
        let before = block.before;
        if before != NONE && self.block(before).state == State::Free {
            self.unlist(before);
            self.swallow(before, number);
            self.list(before);
        } else {
            self.list(number);
        }
        Ok(())
    }

    /// Joins an unlisted free block with the one behind it, if that is free.
    fn join_next(&mut self, number: u32) {
        let behind = self.block(number).behind;
        if behind != NONE && self.block(behind).state == State::Free {
            self.unlist(behind);
            self.swallow(number, behind);
        }
    }

    /// Makes `second`, which follows `first`, part of it; both unlisted.
    fn swallow(&mut self, first: u32, second: u32) {
        let Block { lines, behind, .. } = *self.block(second);
        let gone = self.gone;
        *self.block_mut(second) = Block { next: gone, ..Block::GONE };
        self.gone = second;
        let block = self.block_mut(first);
        block.lines += lines;
        block.behind = behind;
        if behind != NONE {
            self.block_mut(behind).before = first;
        }
    }

    /// Cuts an unlisted block after `lines`; the rest gets number `spare` and is listed.
    fn split(&mut self, number: u32, lines: u32, spare: u32) {
        let block = *self.block(number);
        *self.block_mut(spare) = Block {
            start: block.start + lines,
            lines: block.lines - lines,
            state: State::Free,
            before: number,
            behind: block.behind,
            previous: NONE,
            next: NONE,
        };
        if block.behind != NONE {
            self.block_mut(block.behind).before = spare;
        }
        let block = self.block_mut(number);
        block.lines = lines;
        block.behind = spare;
        self.list(spare);
    }

    /// A free block of at least `lines`.
    fn find(&self, lines: u32) -> Option<u32> {
        let own = bin_of(lines);
        let mut number = self.bins[own];
        while number != NONE {
            let block = self.block(number);
            if block.lines >= lines {
                return Some(number);
            }
            number = block.next;
        }
        let larger = self.filled & (u128::MAX << own << 1);
        (larger != 0).then(|| self.bins[larger.trailing_zeros() as usize])
    }

    /// A number for one more block. ENOMEM.
    fn new_number(&mut self) -> Result<u32, Errno> {
        if self.gone == NONE {
            return self.blocks.push(Block::GONE);
        }
        let number = self.gone;
        self.gone = self.block(number).next;
        Ok(number)
    }

    fn list(&mut self, number: u32) {
        let bin = bin_of(self.block(number).lines);
        let head = core::mem::replace(&mut self.bins[bin], number);
        self.filled |= 1 << bin;
        let block = self.block_mut(number);
        (block.previous, block.next) = (NONE, head);
        if head != NONE {
            self.block_mut(head).previous = number;
        }
    }

    fn unlist(&mut self, number: u32) {
        let Block { lines, previous, next, .. } = *self.block(number);
        if next != NONE {
            self.block_mut(next).previous = previous;
        }
        if previous != NONE {
            self.block_mut(previous).next = next;
            return;
        }
        let bin = bin_of(lines);
        self.bins[bin] = next;
        if next == NONE {
            self.filled &= !(1 << bin);
        }
    }

    fn block(&self, number: u32) -> &Block {
        self.blocks.get(number).expect("blocks link to blocks")
    }

    fn block_mut(&mut self, number: u32) -> &mut Block {
        self.blocks.get_mut(number).expect("blocks link to blocks")
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All blocks, by a walk from the first line on.
    fn walk(heap: &Heap) -> Vec<Block> {
        let mut number = 0;
        let mut blocks = Vec::new();
        while number != NONE {
            let block = *heap.block(number);
            assert_eq!(block.start, blocks.last().map_or(0, |last: &Block| last.start + last.lines));
            blocks.push(block);
            number = block.behind;
        }
        blocks
    }

    proptest! {
        /// Taken blocks never overlap, free ones never touch, no line is lost, and a request fails only where no free
        /// block is large enough.
        #[test]
        fn lines_are_taken_and_given_back(steps in prop::collection::vec((any::<bool>(), 1..40u32, any::<prop::sample::Index>()), 0..300)) {
            const LINES: u32 = 256;
            let mut heap = Heap::new(LINES).unwrap();
            let mut held: Vec<(Taken, u32)> = Vec::new();
            for (takes, lines, which) in steps {
                let largest = walk(&heap).iter().filter(|block| block.state == State::Free).map(|block| block.lines).max();
                if takes || held.is_empty() {
                    match heap.take(lines) {
                        Ok(taken) => held.push((taken, lines)),
                        Err(_) => prop_assert!(largest.is_none_or(|largest| largest < lines)),
                    }
                } else {
                    let (taken, _) = held.swap_remove(which.index(held.len()));
                    prop_assert_eq!(heap.give_back(taken.number, taken.start + 1), Err(Errno::EINVAL));
                    prop_assert_eq!(heap.give_back(taken.number, taken.start), Ok(()));
                    prop_assert_eq!(heap.give_back(taken.number, taken.start), Err(Errno::EINVAL));
                }
                let blocks = walk(&heap);
                prop_assert_eq!(blocks.iter().map(|block| block.lines).sum::<u32>(), LINES);
                prop_assert!(blocks.windows(2).all(|pair| pair[0].state == State::Taken || pair[1].state == State::Taken));
                let taken: u32 = held.iter().map(|&(_, lines)| lines).sum();
                prop_assert_eq!(heap.taken(), taken);
                for (block, lines) in &held {
                    let place = blocks.iter().find(|other| other.start == block.start).unwrap();
                    prop_assert!(place.state == State::Taken && place.lines == *lines);
                }
            }
        }
    }
}
