//! The console between the host's standard input and the guest's serial port.
//!
//! A serial line has no end of file, so the two sides agree on one byte, [`ESCAPE`]: where the host's input is not a
//! terminal, an escape byte of the data is sent twice, and the end of the data is the escape followed by [`END`].
//! From a terminal every byte goes through as it was typed, and the guest's kernel does echo, line editing and ^C.

use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, Read, Write, stdin};

const ESCAPE: u8 = 0x10;
const END: u8 = 0x04;
/// Typed before `x` it ends the machine; typed twice it reaches the guest once.
const PREFIX: u8 = 0x01;

/// Copies `input` to `guest` with the escapes above, then the mark of the end.
pub(crate) fn stuff(mut input: impl Read, mut guest: impl Write) -> io::Result<()> {
    let mut buffer = [0; 4096];
    let mut stuffed = Vec::with_capacity(2 * buffer.len());
    loop {
        let count = read_some(&mut input, &mut buffer)?;
        if count == 0 {
            guest.write_all(&[ESCAPE, END])?;
            return guest.flush();
        }
        stuffed.clear();
        for &byte in &buffer[..count] {
            stuffed.extend_from_slice(if byte == ESCAPE {
                &[ESCAPE, ESCAPE]
            } else {
                std::slice::from_ref(&byte)
            });
        }
        guest.write_all(&stuffed)?;
        guest.flush()?;
    }
}

/// Copies what is typed to `guest` until the user ends the machine (`Ok(true)`) or the terminal goes away.
pub(crate) fn type_through(mut terminal: impl Read, mut guest: impl Write) -> io::Result<bool> {
    let mut buffer = [0; 256];
    let mut prefixed = false;
    loop {
        let count = read_some(&mut terminal, &mut buffer)?;
        if count == 0 {
            return Ok(false);
        }
        for &byte in &buffer[..count] {
            match (prefixed, byte) {
                (false, PREFIX) => prefixed = true,
                (true, b'x') => return Ok(true),
                _ => {
                    prefixed = false;
                    guest.write_all(&[byte])?;
                }
            }
        }
        guest.flush()?;
    }
}

/// Copies the guest's output to `output`, byte by byte as it comes.
pub(crate) fn copy_out(mut guest: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let count = read_some(&mut guest, &mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        output.write_all(&buffer[..count])?;
        output.flush()?;
    }
}

fn read_some(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// While it lives, the terminal on standard input hands over every byte at once and echoes none.
pub(crate) struct RawInput {
    before: Termios,
}

impl RawInput {
    /// Switches the terminal. Output processing stays on: the guest writes bare newlines.
    pub(crate) fn new() -> io::Result<RawInput> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.input_modes -= InputModes::ICRNL
            | InputModes::INLCR
            | InputModes::IGNCR
            | InputModes::IXON
            | InputModes::ISTRIP
            | InputModes::BRKINT;
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        Ok(RawInput { before })
    }
}

impl Drop for RawInput {
    fn drop(&mut self) {
        // Nothing can be done where the terminal is gone.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuffed(input: &[u8]) -> Vec<u8> {
        let mut guest = Vec::new();
        stuff(input, &mut guest).expect("writing to a vector");
        guest
    }

    #[test]
    fn only_the_escape_byte_is_doubled_and_the_end_is_marked() {
        assert_eq!(stuffed(b""), [ESCAPE, END]);
        assert_eq!(stuffed(&[0, ESCAPE, END, 255]), [0, ESCAPE, ESCAPE, END, 255, ESCAPE, END]);
        assert_eq!(stuffed(&[ESCAPE; 5000]).len(), 10_002);
    }

    #[test]
    fn the_prefix_and_x_end_the_machine_and_nothing_else_does() {
        let mut guest = Vec::new();
        assert!(type_through(&b"ax\x01\x01x\x01yz\x01xlost"[..], &mut guest).expect("writing to a vector"));
        assert_eq!(guest, b"ax\x01xyz");
        assert!(!type_through(&b"x"[..], &mut Vec::new()).expect("writing to a vector"));
    }
}
