//! A growing array in pieces: growing moves no element, and running out of memory is an answer.

use alloc::boxed::Box;
use alloc::vec::Vec;
use syscalls::Errno;

/// Elements in a piece.
const PIECE: usize = 64;

/// What lies where nothing was added yet, so that pieces are whole and a look-up has one bound to check.
pub(super) trait Blank {
    /// It is never found to be what somebody looks for.
    const BLANK: Self;
}

/// Elements by number, from 0 on.
#[derive(Debug)]
pub(super) struct Slab<T> {
    pieces: Vec<Box<[T; PIECE]>>,
    length: u32,
}

impl<T: Blank> Slab<T> {
    pub(super) const fn new() -> Slab<T> {
        Slab { pieces: Vec::new(), length: 0 }
    }

    /// Adds an element and returns its number. ENOMEM; it is dropped then.
    pub(super) fn push(&mut self, element: T) -> Result<u32, Errno> {
        if self.length as usize == self.pieces.len() * PIECE {
            self.pieces.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            self.pieces.push(blank_piece()?);
        }
        let number = self.length;
        *self.get_mut(number).ok_or(Errno::ENOMEM)? = element;
        self.length += 1;
        Ok(number)
    }

    /// Takes out the element that was added last.
    pub(super) fn pop(&mut self) {
        let Some(last) = self.length.checked_sub(1) else { return };
        if let Some(element) = self.get_mut(last) {
            *element = T::BLANK;
        }
        self.length = last;
        if (last as usize).is_multiple_of(PIECE) {
            self.pieces.pop();
        }
    }

    /// The element with a number; some numbers from [`Slab::length`] on have blank ones.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        Some(&self.pieces.get(number as usize / PIECE)?[number as usize % PIECE])
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        Some(&mut self.pieces.get_mut(number as usize / PIECE)?[number as usize % PIECE])
    }

    /// How many there are.
    pub(super) fn length(&self) -> u32 {
        self.length
    }
}

/// Made where it stays: it would be large for a kernel's stack. ENOMEM.
fn blank_piece<T: Blank>() -> Result<Box<[T; PIECE]>, Errno> {
    let mut piece = Vec::new();
    piece.try_reserve_exact(PIECE).map_err(|_| Errno::ENOMEM)?;
    piece.resize_with(PIECE, || T::BLANK);
    piece.into_boxed_slice().try_into().map_err(|_| Errno::ENOMEM)
}
