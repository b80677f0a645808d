//! The watch over QEMU. Threads do the copying and the waiting and report to one place, which alone decides on the
//! end.

use super::{Options, boot_log, console};
use anyhow::{Context, Result};
use shared_child::SharedChild;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
use std::io::{stdin, stdout};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Why a run is over.
pub(crate) enum End {
    /// QEMU ended by itself.
    Itself(ExitStatus),
    /// It was ended after this time.
    TimedOut(Duration),
    /// This process got a signal, or its output was closed (SIGPIPE), or the user asked for the end (SIGTERM).
    Told(i32),
}

/// What the threads report.
enum Event {
    Ended(std::io::Result<ExitStatus>),
    OutputDone(std::io::Result<()>),
    Signal(i32),
}

/// Runs QEMU in `folder` until there is a reason for its end; afterwards it has ended.
pub(crate) fn run(options: &Options, folder: &Path) -> Result<End> {
    let (sender, events) = channel();
    watch_signals(sender.clone())?;
    let _raw = options.terminal.then(console::RawInput::new).transpose().context("the terminal")?;
    let child = Arc::new(start(options, folder).context("qemu-system-x86_64")?);
    copy_console(&child, options, folder, &sender)?;
    let waiting = child.clone();
    thread::spawn(move || sender.send(Event::Ended(waiting.wait())));

    let end = wait(&events, options.timeout.filter(|timeout| !timeout.is_zero()));
    child.kill().context("ending QEMU")?;
    child.wait().context("ending QEMU")?;
    if matches!(end, Ok(End::TimedOut(_))) {
        drain(&events);
    }
    end
}

/// Lets out what the guest printed last, but does not wait for somebody who does not read.
fn drain(events: &Receiver<Event>) {
    const PATIENCE: Duration = Duration::from_secs(1);
    while let Ok(event) = events.recv_timeout(PATIENCE) {
        if matches!(event, Event::OutputDone(_)) {
            return;
        }
    }
}

/// Waits until QEMU has ended and its last output is out, or for a reason to end it.
fn wait(events: &Receiver<Event>, timeout: Option<Duration>) -> Result<End> {
    let started = Instant::now();
    let (mut status, mut output_done) = (None, false);
    loop {
        if let (Some(status), true) = (status, output_done) {
            return Ok(End::Itself(status));
        }
        // The time is QEMU's: a slow reader of the last output does not make a time-out.
        let left =
            timeout.filter(|_| status.is_none()).map(|timeout| timeout.saturating_sub(started.elapsed()));
        match events.recv_timeout(left.unwrap_or(Duration::MAX)) {
            Ok(Event::Ended(ended)) => status = Some(ended?),
            Ok(Event::OutputDone(Ok(()))) => output_done = true,
            Ok(Event::OutputDone(Err(error))) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                return Ok(End::Told(SIGPIPE));
            }
            Ok(Event::OutputDone(Err(error))) => return Err(error).context("standard output"),
            Ok(Event::Signal(signal)) => return Ok(End::Told(signal)),
            Err(RecvTimeoutError::Timeout) => return Ok(End::TimedOut(started.elapsed())),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the signal thread never ends"),
        }
    }
}

fn watch_signals(sender: Sender<Event>) -> Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            let _ = sender.send(Event::Signal(signal)); // nobody listens any more: the run is over
        }
    });
    Ok(())
}

fn start(options: &Options, folder: &Path) -> std::io::Result<SharedChild> {
    let errors = std::fs::File::create(folder.join("errors"))?;
    let mut command = Command::new("qemu-system-x86_64");
    command.args(&options.qemu).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
    die_with_parent(&mut command);
    SharedChild::spawn(&mut command)
}

/// QEMU must not outlive this process, not even where it is killed.
fn die_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        use std::os::unix::process::CommandExt;
        // SAFETY: the closure makes one system call and touches no memory of the forked parent's.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

fn copy_console(child: &SharedChild, options: &Options, folder: &Path, sender: &Sender<Event>) -> Result<()> {
    let (guest, output) = child.take_stdin().zip(child.take_stdout()).context("QEMU's console")?;
    let out = sender.clone();
    thread::spawn(move || out.send(Event::OutputDone(console::copy_out(output, stdout()))));
    let typed = options.terminal.then(|| read_terminal(sender.clone())).transpose()?;
    let log = folder.join("log");
    thread::spawn(move || {
        wait_for_first_program(&log);
        boot_log::say_warnings(&log);
        // Input that cannot be read or delivered is no failure of the run: the guest simply gets no more.
        let _ = match typed {
            Some(typed) => console::copy_out(typed, &guest),
            None => console::stuff(stdin(), &guest),
        };
        // The pipe stays open: a serial line that is closed looks to QEMU like a carrier lost.
        std::mem::forget(guest);
    });
    Ok(())
}

/// Reads the terminal from the start, so that the user can end a machine that does not come up.
fn read_terminal(told: Sender<Event>) -> std::io::Result<impl std::io::Read + Send> {
    let (typed, keyboard) = std::io::pipe()?;
    thread::spawn(move || {
        if let Ok(true) = console::type_through(stdin(), keyboard) {
            let _ = told.send(Event::Signal(SIGTERM)); // nobody listens any more: the run is over
        }
    });
    Ok(typed)
}

/// Input that comes earlier would be lost: a UART drops what it has received when the kernel switches its buffer on.
fn wait_for_first_program(log: &Path) {
    while !boot_log::is_complete(log) {
        thread::sleep(Duration::from_millis(5));
    }
}
