//! The line discipline: from bytes that arrive to what a program reads.
//!
//! From a **pipe** the bytes are the program's. The sender escapes two things with [`ESCAPE`]: the escape byte itself,
//! and the end of the input. From a **terminal** a line is the program's once it is complete; until then it can be
//! edited, and everything typed is echoed.

use core::cmp::min;

/// In a pipe's stream: the byte after this one is special.
pub const ESCAPE: u8 = 0x10;
/// After [`ESCAPE`], and typed at a terminal: the input ends.
pub const END_OF_INPUT: u8 = 0x04;

const INTERRUPT: u8 = 0x03;
const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;
const ERASE_LINE: u8 = 0x15;
const CAPACITY: usize = 4096;

/// What a read finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes were stored.
    Bytes(usize),
    /// The input has ended.
    End,
    /// Nothing yet.
    Nothing,
}

/// What arriving bytes ask for besides being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Effect {
    /// Nothing more.
    None,
    /// The person at the terminal wants the program to end.
    Interrupt,
}

/// What has arrived and not been read. Its lock is the caller's.
#[derive(Debug)]
pub struct Input {
    bytes: [u8; CAPACITY],
    /// `bytes[..complete]` can be read; `bytes[complete..used]` is the line being typed.
    complete: usize,
    used: usize,
    is_terminal: bool,
    /// The last byte of a pipe was [`ESCAPE`].
    escaped: bool,
    ended: bool,
}

impl Default for Input {
    fn default() -> Self {
        Self::new()
    }
}

impl Input {
    /// Nothing has arrived, from a pipe.
    #[must_use]
    pub const fn new() -> Self {
        Input { bytes: [0; CAPACITY], complete: 0, used: 0, is_terminal: false, escaped: false, ended: false }
    }

    /// Says where input comes from.
    pub fn set_terminal(&mut self, is_terminal: bool) {
        self.is_terminal = is_terminal;
    }

    /// Whether input comes from a terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// How many bytes can be accepted now. A terminal's always can: what a full line has no room for is dropped, so
    /// that the line can still be ended or erased.
    #[must_use]
    pub fn room(&self) -> usize {
        if self.is_terminal { CAPACITY } else { CAPACITY - self.used }
    }

    /// Whether [`Input::read`] would find something.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.complete > 0 || self.ended
    }

    /// Takes bytes that arrived, at most [`Input::room`] of them; `echo` gets what the terminal shows for them.
    pub fn accept(&mut self, arrived: &[u8], mut echo: impl FnMut(&[u8])) -> Effect {
        let mut effect = Effect::None;
        for &byte in arrived {
            if !self.is_terminal {
                self.accept_from_pipe(byte);
            } else if byte == INTERRUPT {
                echo(b"^C\n");
                self.used = self.complete;
                effect = Effect::Interrupt;
            } else {
                self.accept_typed(byte, &mut echo);
            }
        }
        effect
    }

    fn accept_from_pipe(&mut self, byte: u8) {
        match (core::mem::take(&mut self.escaped), byte) {
            (false, ESCAPE) => self.escaped = true,
            (true, END_OF_INPUT) => self.ended = true,
            _ => self.push(byte),
        }
        self.complete = self.used;
    }

    fn accept_typed(&mut self, byte: u8, echo: &mut impl FnMut(&[u8])) {
        match byte {
            BACKSPACE | DELETE if self.used > self.complete => {
                self.used -= 1;
                echo(b"\x08 \x08");
            }
            BACKSPACE | DELETE => {}
            ERASE_LINE => {
                (self.complete..self.used).for_each(|_| echo(b"\x08 \x08"));
                self.used = self.complete;
            }
            END_OF_INPUT if self.used == self.complete => self.ended = true,
            END_OF_INPUT => self.complete = self.used,
            b'\r' | b'\n' => {
                self.push(b'\n');
                self.complete = self.used;
                echo(b"\n");
            }
            _ if self.used + 1 < CAPACITY => {
                self.push(byte);
                echo(&[byte]);
            }
            _ => {} // the last place is for the end of the line
        }
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.used) {
            *place = byte;
            self.used += 1;
        }
    }

    /// Moves what can be read into `buffer`: from a terminal one line at most. A terminal's end of input counts once,
    /// a pipe's for good.
    pub fn read(&mut self, buffer: &mut [u8]) -> Read {
        if self.complete == 0 {
            return match (self.ended, self.is_terminal) {
                (false, _) => Read::Nothing,
                (true, false) => Read::End,
                (true, true) => {
                    self.ended = false;
                    Read::End
                }
            };
        }
        let ready = &self.bytes[..self.complete];
        let line = ready.iter().position(|&byte| byte == b'\n').filter(|_| self.is_terminal);
        let count = min(line.map_or(self.complete, |end| end + 1), buffer.len());
        buffer[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes.copy_within(count..self.used, 0);
        self.complete -= count;
        self.used -= count;
        Read::Bytes(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(input: &mut Input) -> (Vec<u8>, Read) {
        let (mut all, mut buffer) = (Vec::new(), [0; 7]);
        loop {
            match input.read(&mut buffer) {
                Read::Bytes(count) => all.extend(&buffer[..count]),
                other => return (all, other),
            }
        }
    }

    #[test]
    fn a_pipe_gives_every_byte_and_its_end() {
        let all: Vec<u8> = (0..=255).collect();
        let stuffed = all.iter().flat_map(|&b| if b == ESCAPE { vec![ESCAPE, b] } else { vec![b] });
        let mut input = Input::new();
        for byte in stuffed.chain([ESCAPE, END_OF_INPUT]) {
            assert_eq!(input.accept(&[byte], |_| panic!("a pipe has no echo")), Effect::None);
        }
        assert_eq!(read_all(&mut input), (all, Read::End));
        assert_eq!(input.read(&mut [0; 4]), Read::End, "the end stays");
    }

    #[test]
    fn a_terminal_gives_edited_lines() {
        let mut input = Input::new();
        input.set_terminal(true);
        let mut shown = Vec::new();
        let _ = input.accept(b"junk\x15hellp\x7fo", |echo| shown.extend(echo));
        assert_eq!(input.read(&mut [0; 9]), Read::Nothing, "the line is not complete");
        let _ = input.accept(b"\rmore\n\x04", |echo| shown.extend(echo));
        let mut line = [0; 99];
        assert_eq!(input.read(&mut line), Read::Bytes(6));
        assert_eq!(&line[..6], b"hello\n");
        assert_eq!(read_all(&mut input), (b"more\n".to_vec(), Read::End));
        assert_eq!(input.read(&mut line), Read::Nothing, "a typed end counts once");
        assert!(shown.starts_with(b"junk\x08 \x08"));
    }

    #[test]
    fn interrupt_drops_the_line_and_is_told() {
        let mut input = Input::new();
        input.set_terminal(true);
        assert_eq!(input.accept(b"abc\x03", |_| ()), Effect::Interrupt);
        assert!(!input.is_ready() && input.room() == CAPACITY);
    }
}
