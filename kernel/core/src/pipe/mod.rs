//! Pipes: how much of what is asked for can be done now.
//!
//! A pipe is a range of positions in an endless stream: what lies from `start` to `end` was written and not yet read.
//! Its owner keeps the bytes, each at its position modulo some size; a [`Ring`] does that in pages. Each side is open or
//! closed for good.
//!
//! Writes of at most [`ATOMIC`] bytes are never split, as POSIX demands; longer ones take what room there is.

mod ring;
#[cfg(test)]
mod tests;

pub use ring::{Buffer, PAGE_SIZE, Ring};

use core::ops::Range;

/// How many bytes a pipe holds, as on Linux.
pub const CAPACITY: u64 = 64 * 1024;

/// Writes up to this length are never split (C: `PIPE_BUF`).
pub const ATOMIC: u64 = 4096;

/// What a reader gets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Read {
    /// The bytes at these positions; they are read with this.
    Bytes(Range<u64>),
    /// There will never be more.
    End,
    /// Something may come.
    Wait,
}

/// What a writer may do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Write {
    /// Its first bytes go to these positions, and are to be [committed](Flow::commit).
    Room(Range<u64>),
    /// Nobody will ever read.
    Broken,
    /// There may be room later.
    Wait,
}

/// The state of a pipe.
#[derive(Debug)]
pub struct Flow {
    start: u64,
    end: u64,
    has_reader: bool,
    has_writer: bool,
}

impl Flow {
    /// An empty pipe with both sides open.
    #[must_use]
    pub const fn new() -> Flow {
        Flow { start: 0, end: 0, has_reader: true, has_writer: true }
    }

    /// Reads at most `length` bytes, more than none.
    pub fn read(&mut self, length: u64) -> Read {
        let count = length.min(self.end - self.start);
        match count {
            0 if self.has_writer => Read::Wait,
            0 => Read::End,
            _ => {
                self.start += count;
                Read::Bytes(self.start - count..self.start)
            }
        }
    }

    /// Where the first of `length` bytes, more than none, can go. `whole`: all or none.
    pub fn room_for(&self, length: u64, whole: bool) -> Write {
        let room = CAPACITY - (self.end - self.start);
        match room {
            _ if !self.has_reader => Write::Broken,
            0 => Write::Wait,
            _ if room < length && whole => Write::Wait,
            _ => Write::Room(self.end..self.end + room.min(length)),
        }
    }

    /// The bytes at the positions that [`Flow::room_for`] gave are there now.
    pub fn commit(&mut self, written: Range<u64>) {
        debug_assert_eq!(self.end, written.start);
        self.end = written.end;
    }

    /// The reading side is closed.
    pub fn close_reader(&mut self) {
        self.has_reader = false;
    }

    /// The writing side is closed.
    pub fn close_writer(&mut self) {
        self.has_writer = false;
    }

    /// Whether there are bytes to be read.
    #[must_use]
    pub const fn has_bytes(&self) -> bool {
        self.start < self.end
    }

    /// Whether a write of [`ATOMIC`] bytes would find room.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        CAPACITY - (self.end - self.start) >= ATOMIC
    }

    /// Whether the reading side is open.
    #[must_use]
    pub const fn has_reader(&self) -> bool {
        self.has_reader
    }

    /// Whether the writing side is open.
    #[must_use]
    pub const fn has_writer(&self) -> bool {
        self.has_writer
    }

    /// How many bytes wait to be read.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.end - self.start
    }
}

impl Default for Flow {
    fn default() -> Flow {
        Flow::new()
    }
}
