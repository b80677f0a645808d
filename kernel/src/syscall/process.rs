//! Processes: other programs in them, and waiting for their ends.

use super::account::{clock_ticks, resource_usage};
use super::file::{LONGEST_PATH, find};
use super::pointer::optional;
use super::{Address, Int, Result};
use crate::cpu::Here;
use crate::debug::stretch;

use crate::fs::File;
use crate::fs::root::RootFile;
use crate::mm::user::{append_string, copy_in, copy_out, probe_write, read_string};
use crate::proc::family::{self, Afterwards, Event, News, Patience};
use crate::proc::signals::{SIGCHLD, SIGCONT};
use crate::proc::{Ending, MOST_ARGUMENT_BYTES, Program, current, run_program};
use crate::{arch, sched};
use alloc::vec::Vec;
use kcore::process::{Change, Interest, Which};
use syscalls::linux::SignalInfo;
use syscalls::{Errno, RUsage};

pub(super) fn execve(path: Address, arguments: Address, environment: Address) -> Result {
    let start = {
        let path = read_string(path, LONGEST_PATH)?;
        let file = find_program(&path)?;
        let mut strings = Strings::default();
        let count = strings.read_list(arguments)?;
        strings.read_list(environment)?;
        let slices = strings.slices()?;
        let (arguments, environment) = slices.split_at(count);
        run_program(&Program { file, path: &path, arguments, environment })?
    };
    let at = Here::get().lwp().entry_frame();
    // SAFETY: the caller's frame is of no use any more, and the new one is a program's first.
    unsafe { at.write(start.frame()) };
    if Here::get().wants_attention() {
        sched::attend(Here::get());
    }
    stretch::end();
    // SAFETY: the frame is at the top of the stack and user code's; everything that owes a destructor went with the
    // block above.
    unsafe { arch::return_to_frame(at) }
}

/// The program that a path names. EACCES: what it names is no file, or may not be executed; others as for opening.
fn find_program(path: &[u8]) -> Result<RootFile> {
    match find(path)?.ok_or(Errno::ENOENT)? {
        File::Root(file) if file.mode & 0o111 != 0 => Ok(file),
        _ => Err(Errno::EACCES),
    }
}

/// Strings one after the other.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    /// Reads the strings of a list of pointers that ends with a null; a null list has none. Returns how many there are.
    /// EFAULT, E2BIG, ENOMEM.
    fn read_list(&mut self, list: Address) -> Result<usize> {
        let before = self.ends.len();
        let mut next = list;
        loop {
            let string: u64 = if list == 0 { 0 } else { copy_in(next)? };
            if string == 0 {
                break;
            }
            self.read(string)?;
            next = next.wrapping_add(size_of::<u64>() as u64);
        }
        Ok(self.ends.len() - before)
    }

    fn read(&mut self, string: Address) -> Result<()> {
        let taken = self.bytes.len() + self.ends.len() * size_of::<u64>();
        let room = MOST_ARGUMENT_BYTES.checked_sub(taken).ok_or(Errno::E2BIG)?;
        append_string(&mut self.bytes, string, room).map_err(|errno| match errno {
            Errno::ENAMETOOLONG => Errno::E2BIG,
            other => other,
        })?;
        self.ends.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    fn slices(&self) -> Result<Vec<&[u8]>> {
        let mut slices = Vec::new();
        slices.try_reserve(self.ends.len()).map_err(|_| Errno::ENOMEM)?;
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        slices.extend(starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end]));
        Ok(slices)
    }
}

const NO_HANG: Int = 1;
const STOPPED: Int = 2;
const EXITED: Int = 4;
const CONTINUED: Int = 8;
const NO_WAIT: Int = 0x100_0000;
/// About kinds of children that there are not here: whatever they say, all children are meant.
const ANY_KIND: Int = 0x2000_0000 | 0x4000_0000 | i32::MIN;

pub(super) fn wait4(pid: Int, status: Address, options: Int, usage: Address) -> Result {
    if options & !(NO_HANG | STOPPED | CONTINUED | ANY_KIND) != 0 {
        return Err(Errno::EINVAL);
    }
    optional(status, |at| probe_write(at, size_of::<u32>() as u64))?;
    optional(usage, |at| probe_write(at, size_of::<RUsage>() as u64))?;
    let which = match pid {
        -1 => Which::Any,
        0 => Which::Group(own_group()),
        i32::MIN => return Err(Errno::ESRCH),
        -0x7fff_ffff..-1 => Which::Group(pid.unsigned_abs()),
        1.. => Which::Pid(pid as u32),
    };
    let interest = Interest { ended: true, ..interest(options) };
    let Some(news) = family::wait(which, interest, patience(options), Afterwards::Tell)? else {
        return Ok(0);
    };
    optional(status, |at| copy_out(at, &status_word(news.event)))?;
    optional(usage, |at| copy_out(at, &usage_of(&news)))?;
    Ok(u64::from(news.pid))
}

pub(super) fn waitid(kind: Int, id: Int, info: Address, options: Int, usage: Address) -> Result {
    const P_ALL: Int = 0;
    const P_PID: Int = 1;
    const P_PGID: Int = 2;
    let known = NO_HANG | STOPPED | EXITED | CONTINUED | NO_WAIT | ANY_KIND;
    if options & !known != 0 || options & (EXITED | STOPPED | CONTINUED) == 0 {
        return Err(Errno::EINVAL);
    }
    let which = match (kind, id) {
        (P_ALL, _) => Which::Any,
        (P_PID, 1..) => Which::Pid(id as u32),
        (P_PGID, 0) => Which::Group(own_group()),
        (P_PGID, 1..) => Which::Group(id as u32),
        _ => return Err(Errno::EINVAL),
    };
    optional(info, |at| probe_write(at, size_of::<SignalInfo>() as u64))?;
    optional(usage, |at| probe_write(at, size_of::<RUsage>() as u64))?;
    let afterwards = if options & NO_WAIT != 0 { Afterwards::Keep } else { Afterwards::Tell };
    let news = family::wait(which, interest(options), patience(options), afterwards)?;
    optional(info, |at| copy_out(at, &news.as_ref().map_or(SignalInfo::default(), signal_info)))?;
    if let Some(news) = news {
        optional(usage, |at| copy_out(at, &usage_of(&news)))?;
    }
    Ok(0)
}

fn patience(options: Int) -> Patience {
    if options & NO_HANG != 0 { Patience::LookOnly } else { Patience::Block }
}

fn interest(options: Int) -> Interest {
    let wants = |kind| options & kind != 0;
    Interest { ended: wants(EXITED), stopped: wants(STOPPED), continued: wants(CONTINUED) }
}

/// The word that C's `WIFEXITED` and its kin take apart.
fn status_word(event: Event) -> u32 {
    const HAS_STOPPED: u32 = 0x7f;
    const GOES_ON: u32 = 0xffff;
    match event {
        Event::Ended(Ending::Exit(status)) => u32::from(status) << 8,
        Event::Ended(Ending::Signal(signal)) => u32::from(signal),
        Event::Changed(Change::Stopped(signal)) => u32::from(signal) << 8 | HAS_STOPPED,
        Event::Changed(Change::Continued) => GOES_ON,
    }
}

fn signal_info(news: &News) -> SignalInfo {
    const EXITED: i32 = 1;
    const KILLED: i32 = 2;
    const STOPPED: i32 = 5;
    const CONTINUED: i32 = 6;
    let (code, status) = match news.event {
        Event::Ended(Ending::Exit(status)) => (EXITED, status),
        Event::Ended(Ending::Signal(signal)) => (KILLED, signal),
        Event::Changed(Change::Stopped(signal)) => (STOPPED, signal),
        Event::Changed(Change::Continued) => (CONTINUED, SIGCONT),
    };
    SignalInfo {
        signal: i32::from(SIGCHLD),
        code,
        pid: news.pid as i32,
        uid: news.uid,
        status: i32::from(status),
        user: clock_ticks(news.remains.used().user),
        system: clock_ticks(news.remains.used().system),
        ..SignalInfo::default()
    }
}

fn usage_of(news: &News) -> RUsage {
    resource_usage(news.remains.used(), news.remains.counts())
}

fn own_group() -> u32 {
    family::group_of(current())
}
