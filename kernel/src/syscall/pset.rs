//! Processor sets, as illumos has them: decoding names, LWPs and pointers. The order of the checks is the contract's
//! (docs/psets.md).

use super::pointer::optional;
use super::{Address, Int, Result};
use crate::acct;
use crate::cpu::{self, Here};
use crate::mm::user::{copy_in, copy_out, probe_write, write_bytes};
use crate::proc::current;
use crate::pset::{self, Bound, Named};
use crate::time;
use kcore::pset::{PLACES, PsetId};
use syscalls::{CpuInfo, Errno, LoadAverages};

const PS_NONE: Int = -1;
const PS_QUERY: Int = -2;
const PS_MYID: Int = -3;
const PS_PRIVATE: Int = 2;
const PBIND_NONE: Int = -1;
const PBIND_QUERY: Int = -2;
const WORD: u64 = size_of::<Int>() as u64;

pub(super) fn pset_create(new: Address) -> Result {
    only_user_0()?;
    probe_write(new, WORD)?;
    let id = pset::create()?;
    copy_out(new, &id.number())?;
    Ok(0)
}

pub(super) fn pset_destroy(pset: Int) -> Result {
    only_user_0()?;
    pset::destroy(named(pset))?;
    Ok(0)
}

pub(super) fn pset_assign(pset: Int, cpu: Int, old: Address) -> Result {
    let pointer = optional(old, |old| probe_write(old, WORD));
    let before = if pset == PS_QUERY {
        let before = pset::set_of(cpu)?;
        pointer?;
        before
    } else {
        only_user_0()?;
        pset::assign(named(pset), cpu, pointer)?
    };
    optional(old, |old| copy_out(old, &told(before)))?;
    Ok(0)
}

pub(super) fn pset_info(pset: Int, kind: Address, count: Address, cpus: Address) -> Result {
    let set = pset::describe(named(pset))?;
    let room = if count == 0 { 0 } else { copy_in::<u32>(count)? };
    let mut list = [0; cpu::MAX_CPUS * WORD as usize];
    let listed = set.cpus.len().min(room) as usize * WORD as usize;
    let list = &mut list[..if cpus == 0 { 0 } else { listed }];
    for (place, cpu) in list.chunks_exact_mut(WORD as usize).zip(set.cpus.iter()) {
        place.copy_from_slice(&cpu.to_le_bytes());
    }
    optional(kind, |kind| probe_write(kind, WORD))?;
    optional(count, |count| probe_write(count, WORD))?;
    write_bytes(cpus, list)?;
    optional(kind, |kind| copy_out(kind, &set.id.map_or(PS_NONE, |_| PS_PRIVATE)))?;
    optional(count, |count| copy_out(count, &set.cpus.len()))?;
    Ok(0)
}

pub(super) fn pset_list(list: Address, count: Address) -> Result {
    if count == 0 {
        return Ok(0); // not even the count is wanted
    }
    let room: u32 = copy_in(count)?;
    let mut bytes = [0; PLACES * WORD as usize];
    let mut places = bytes.chunks_exact_mut(WORD as usize);
    let there_are = pset::for_each(|id| {
        if let Some(place) = places.next() {
            place.copy_from_slice(&id.number().to_le_bytes());
        }
    });
    let listed = if list == 0 { 0 } else { there_are.min(room as usize) };
    probe_write(count, WORD)?;
    write_bytes(list, &bytes[..listed * WORD as usize])?;
    copy_out(count, &(there_are as u32))?;
    Ok(0)
}

pub(super) fn pset_bind(pset: Int, kind: Int, id: Int, old: Address) -> Result {
    let pointer = optional(old, |old| probe_write(old, WORD));
    let before = if pset == PS_QUERY {
        let before = pset::set_of_lwps(one_or_process(kind, id)?)?;
        pointer?;
        before
    } else {
        pset::check(named(pset))?;
        let meant = if pset == PS_NONE { any(kind, id)? } else { one_or_process(kind, id)? };
        pset::bind_to_set(named(pset), meant, pointer)?
    };
    optional(old, |old| copy_out(old, &told(before)))?;
    Ok(0)
}

pub(super) fn processor_bind(kind: Int, id: Int, cpu: Int, old: Address) -> Result {
    let pointer = optional(old, |old| probe_write(old, WORD));
    let before = match cpu {
        PBIND_QUERY => {
            let before = pset::cpu_of_lwps(one_or_process(kind, id)?)?;
            pointer?;
            before
        }
        _ => {
            let wanted = if cpu == PBIND_NONE { None } else { Some(cpu as u32) }; // no CPU has a negative number
            pset::check_cpu(wanted)?;
            pset::bind_to_cpu(wanted, one_or_process(kind, id)?, pointer)?
        }
    };
    optional(old, |old| copy_out(old, &before.map_or(PBIND_NONE, |cpu| cpu as Int)))?;
    Ok(0)
}

#[inline(always)]
pub(super) fn pset_getloadavg(pset: Int, averages: Address, count: Int) -> Result {
    if pset != PS_NONE || count < 3 {
        let count = u64::try_from(count).map_err(|_| Errno::EINVAL)?;
        store_load_averages(named(pset), averages, count)?;
        return Ok(count.min(3));
    }
    // What is asked for most often, and costs least.
    match pset::quiet_averages() {
        None => store_load_averages(Named::Default, averages, 3)?,
        Some(found) => {
            let [one, five, fifteen] = found.to_f64_bits();
            copy_out(averages, &LoadAverages { one, five, fifteen })?;
        }
    }
    Ok(3)
}

#[inline(never)]
fn store_load_averages(set: Named, averages: Address, count: u64) -> Result<()> {
    let doubles = pset::averages(set)?.to_f64_bits().map(u64::to_le_bytes);
    write_bytes(averages, &doubles.as_flattened()[..count.min(3) as usize * size_of::<u64>()])
}

pub(super) fn cpu_info(cpu: Int, info: Address) -> Result {
    const ON_LINE: i32 = 1;
    let pset = told(pset::set_of(cpu)?);
    let number = cpu as u32;
    let counters = &cpu::get(number).ok_or(Errno::EINVAL)?.counters;
    let ticks = acct::cpu_ticks(number).ok_or(Errno::EINVAL)?;
    let nanoseconds = |ticks| time::rate().nanoseconds(ticks);
    let answer = CpuInfo {
        since: time::wall_ns() - nanoseconds(ticks.up),
        pset,
        state: ON_LINE,
        minor_faults: counters.faults.get(),
        cross_calls: counters.cross_calls.get(),
        interrupts: counters.interrupts.get(),
        switches: counters.switches.get(),
        involuntary_switches: counters.involuntary.get(),
        migrations: counters.migrations.get(),
        spins: counters.spins.get(),
        system_calls: counters.system_calls.get(),
        user: nanoseconds(ticks.user),
        system: nanoseconds(ticks.system),
        irq: nanoseconds(ticks.irq),
        idle: nanoseconds(ticks.idle),
    };
    copy_out(info, &answer)?;
    Ok(0)
}

/// EPERM.
fn only_user_0() -> Result<()> {
    if current().uid() == 0 { Ok(()) } else { Err(Errno::EPERM) }
}

/// The set that a number names.
fn named(pset: Int) -> Named {
    match pset {
        PS_NONE => Named::Default,
        PS_MYID => Named::Own,
        id => Named::Id(id),
    }
}

/// The number of a set.
fn told(set: Option<PsetId>) -> Int {
    set.map_or(PS_NONE, PsetId::number)
}

/// The LWPs that can be bound to something. EINVAL: of no such kind; ESRCH.
fn one_or_process(kind: Int, id: Int) -> Result<Bound> {
    const P_PID: Int = 1;
    const P_LWPID: Int = 8;
    const P_MYID: Int = -1;
    let lwp = Here::get().lwp();
    match (kind, id) {
        (P_PID, P_MYID) => Ok(Bound::Process(lwp.process().pid())),
        (P_LWPID, P_MYID) => Ok(Bound::Lwp(lwp.tid())),
        (P_PID, 1..) => Ok(Bound::Process(id as u32)),
        (P_LWPID, 1..) => Ok(Bound::Lwp(id as u32)),
        (P_PID | P_LWPID, _) => Err(Errno::ESRCH),
        _ => Err(Errno::EINVAL),
    }
}

/// The LWPs that can be unbound: also all, and all of a set. EINVAL, ESRCH.
fn any(kind: Int, id: Int) -> Result<Bound> {
    const P_ALL: Int = 0;
    const P_PSETID: Int = 15;
    match (kind, id) {
        (P_ALL, _) => Ok(Bound::All),
        (P_PSETID, PS_MYID) => Ok(Bound::Set(None)),
        (P_PSETID, _) => Ok(Bound::Set(Some(id))),
        _ => one_or_process(kind, id),
    }
}
