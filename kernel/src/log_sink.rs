//! Where log lines go: always to the runner's log port, and to the console where the option `verbose` asks for it.

use crate::arch;
use crate::sync::SpinMutex;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, Ordering};
use log::{Level, LevelFilter, Log, Metadata, Record};

struct Sink;

static SINK: Sink = Sink;
/// Held while a line is written, so that those of several CPUs do not mix.
static LINE: SpinMutex<()> = SpinMutex::new(());
/// What a line begins with that says that something is not as it was asked for. The runner looks for it.
const WARNING: &str = "warning: ";
static ON_CONSOLE: AtomicBool = AtomicBool::new(false);

/// Starts logging.
pub(crate) fn start(on_console: bool) {
    ON_CONSOLE.store(on_console, Ordering::Relaxed);
    let _ = log::set_logger(&SINK); // fails only where it is set already
    log::set_max_level(if on_console { LevelFilter::Debug } else { LevelFilter::Info });
}

/// Says something now, whatever the state of the log: for the end of the machine.
pub(crate) fn say_at_once(what: fmt::Arguments) {
    let _ = Ports.write_fmt(what); // the ports take every byte
}

impl Log for Sink {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record) {
        if self.enabled(record.metadata()) {
            let _one_line_at_a_time = LINE.lock();
            let kind = if record.level() <= Level::Warn { WARNING } else { "" };
            say_at_once(format_args!("{kind}{}\n", record.args()));
        }
    }

    fn flush(&self) {}
}

struct Ports;

impl Write for Ports {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        arch::log_bytes(text.as_bytes());
        if ON_CONSOLE.load(Ordering::Relaxed) {
            arch::send_at_once(text.as_bytes());
        }
        Ok(())
    }
}
