//! The first serial port: the console's wires.

use crate::sync::SpinMutex as Mutex;
use uart_16550::backend::PioBackend;
use uart_16550::spec::registers::IER;
use uart_16550::{Config, Uart16550};
use x86_64::instructions::port::Port;

const BASE: u16 = 0x3f8;

/// Taken with interrupts off, for some instructions a byte.
static PORT: Mutex<Option<Uart16550<PioBackend>>> = Mutex::new(None);

/// Sets the port up, with an interrupt for every arrival. What arrived before is dropped.
pub(crate) fn start_console() -> Result<(), &'static str> {
    // SAFETY: the first serial port lies at this base or nothing does, which `init` finds out.
    let mut uart = unsafe { Uart16550::new_port(BASE) }.map_err(|_| "no serial port address")?;
    let config = Config { interrupts: IER::DATA_READY, check_cts_before_sending: false, ..Config::DEFAULT };
    uart.init(config).map_err(|_| "no serial port at 0x3f8")?;
    *PORT.lock() = Some(uart);
    Ok(())
}

/// Sends bytes, waiting for the wire.
pub(crate) fn send(bytes: &[u8]) {
    if let Some(port) = PORT.lock().as_mut() {
        for &byte in bytes {
            while port.try_send_byte(byte).is_err() {
                // The other side may take its time; other CPUs need not.
                crate::cpu::serve();
                core::hint::spin_loop();
            }
        }
    }
}

/// Takes what has arrived into `buffer`; returns how much.
pub(crate) fn receive(buffer: &mut [u8]) -> usize {
    PORT.lock().as_mut().map_or(0, |port| port.receive_bytes(buffer))
}

/// Sends bytes past the lock: for the log, which may have to speak while something is broken.
pub(crate) fn send_at_once(bytes: &[u8]) {
    let mut port = Port::<u8>::new(BASE);
    for &byte in bytes {
        // SAFETY: the data register takes a byte; one that comes too fast is lost, nothing more.
        unsafe { port.write(byte) };
    }
}
