//! A growing array in pieces: growing moves no element, and running out of memory is an answer.

use alloc::vec::Vec;
use syscalls::Errno;

/// Elements in a piece.
const PIECE: usize = 64;

/// Elements by number, from 0 on.
#[derive(Debug)]
pub(super) struct Slab<T> {
    pieces: Vec<Vec<T>>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Slab<T> {
        Slab { pieces: Vec::new() }
    }

    /// Adds an element and returns its number. ENOMEM; it is dropped then.
    pub(super) fn push(&mut self, element: T) -> Result<u32, Errno> {
        let full = self.pieces.last().is_none_or(|piece| piece.len() == PIECE);
        if full {
            let mut piece = Vec::new();
            piece.try_reserve_exact(PIECE).map_err(|_| Errno::ENOMEM)?;
            self.pieces.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            self.pieces.push(piece);
        }
        let number = (self.pieces.len() - 1) * PIECE;
        let piece = self.pieces.last_mut().ok_or(Errno::ENOMEM)?;
        piece.push(element);
        Ok((number + piece.len() - 1) as u32)
    }

    /// Takes out the element that was added last.
    pub(super) fn pop(&mut self) {
        if let Some(last) = self.pieces.last_mut() {
            last.pop();
            if last.is_empty() {
                self.pieces.pop();
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.pieces.get(number as usize / PIECE)?.get(number as usize % PIECE)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.pieces.get_mut(number as usize / PIECE)?.get_mut(number as usize % PIECE)
    }

    /// How many there are.
    pub(super) fn length(&self) -> u32 {
        self.pieces.last().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len()) as u32
    }
}
