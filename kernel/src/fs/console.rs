//! The console: the program's output and input, over the serial port.
//!
//! **Input** arrives by interrupt, goes through the line discipline (kcore) and waits in a buffer for readers. From a
//! terminal, lines are edited and echoed here, `^D` ends the input and `^C` ends the program. From a pipe every byte is
//! the program's; the runner escapes the end of the input (see `kcore::console`). **Readers** put themselves on the
//! list, look again, and only then block: what arrives in between wakes them.
//!
//! **Nothing is lost:** while the buffer is full the port is not read, and its own flow control holds the sender up.

use super::pipe::Mode;
use super::watchers::Watchers;
use crate::arch;
use crate::cpu::Here;
use crate::proc::{self, Lwp};
use crate::sched;
use crate::sync::{Lock, Rank};
use arrayvec::ArrayString;
use core::fmt::{self, Write};
use kcore::console::{Effect, Input, Read};
use syscalls::Errno;

struct Console {
    input: Input,
    readers: Watchers,
}

static CONSOLE: Lock<Console> =
    Lock::new(Rank::Console, Console { input: Input::new(), readers: Watchers::new() });

/// Says whether input comes from a person at a terminal, and tells the runner that it may send.
pub(crate) fn start(is_terminal: bool) {
    CONSOLE.lock().input.set_terminal(is_terminal);
    log::info!("console: ready");
}

/// Whether input comes from a terminal.
pub(crate) fn is_terminal() -> bool {
    CONSOLE.lock().input.is_terminal()
}

/// Sends a program's output as it is.
pub(crate) fn write(bytes: &[u8]) {
    arch::send(bytes);
}

/// The longest message of the kernel; what is beyond is cut off.
const LONGEST_MESSAGE: usize = 320;

/// Prints a message of the kernel to the user, in one piece, whatever other CPUs print.
pub(crate) fn print(message: fmt::Arguments) {
    let mut text = ArrayString::<LONGEST_MESSAGE>::new();
    let _ = text.write_fmt(message); // fails where it is cut off
    write(text.as_bytes());
    arch::log_bytes(text.as_bytes());
}

/// Reads what has arrived, waiting for something; 0: the end of the input. EINTR where the LWP must end, EAGAIN where it
/// may not wait, ENOMEM.
pub(crate) fn read(buffer: &mut [u8], mode: Mode) -> Result<usize, Errno> {
    loop {
        fill(); // what the port held back while the buffer was full
        match CONSOLE.lock().input.read(buffer) {
            Read::Bytes(count) => return Ok(count),
            Read::End => return Ok(0),
            Read::Nothing if mode == Mode::NonBlocking => return Err(Errno::EAGAIN),
            Read::Nothing => {}
        }
        wait_for_input()?;
    }
}

/// Waits until a read would return at once, or for no cause.
fn wait_for_input() -> Result<(), Errno> {
    let lwp = Here::get().lwp();
    let mut console = CONSOLE.lock();
    if !console.input.is_ready() {
        console.readers.add(lwp)?;
        drop(console);
        sched::block();
        unwatch(lwp);
    }
    if lwp.is_killed() { Err(Errno::EINTR) } else { Ok(()) }
}

/// Has an LWP woken when input arrives. ENOMEM.
pub(crate) fn watch(lwp: &'static Lwp) -> Result<(), Errno> {
    CONSOLE.lock().readers.add(lwp)
}

/// Takes that back.
pub(crate) fn unwatch(lwp: &'static Lwp) {
    CONSOLE.lock().readers.remove(lwp);
}

/// Whether a read would return at once.
pub(crate) fn has_input() -> bool {
    fill(); // what the port held back while the buffer was full
    CONSOLE.lock().input.is_ready()
}

/// The serial port has something.
pub(crate) fn interrupt() {
    fill();
}

/// Moves what has arrived into the buffer, as far as there is room, and acts on what it means.
fn fill() {
    let mut bytes = [0; 16];
    loop {
        let mut console = CONSOLE.lock();
        let room = console.input.room().min(bytes.len());
        let count = arch::receive(&mut bytes[..room]);
        if count == 0 {
            return;
        }
        let effect = console.input.accept(&bytes[..count], arch::send);
        console.readers.wake_all();
        drop(console);
        if effect == Effect::Interrupt {
            proc::interrupt_first();
        }
    }
}
