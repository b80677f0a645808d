//! Processor sets: CPUs for the LWPs that are bound to them and for no others, and how loaded each set is.
//!
//! A call that fails has changed nothing. Errors are named in the order in which they are looked for.
//!
//! ```no_run
//! use userlib::cpu::CpuId;
//! use userlib::pset::{self, Who};
//!
//! let set = pset::create()?;
//! pset::assign(set, CpuId::from_raw(1))?;
//! pset::bind(set, Who::Caller)?; // CPU 1 is this LWP's, and that of those it makes from now on
//! let [minute, ..] = pset::load_averages(set)?;
//! # pset::destroy(set)?;
//! # Ok::<(), userlib::Errno>(())
//! ```

use core::fmt;

use syscalls::Errno;
use syscalls::linux::SysInfo;

use crate::cpu::CpuId;
use crate::lwp::LwpId;
use crate::{fetch, raw};

/// The id of a processor set. What C calls `psetid_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)] // an array of these is C's array of psetid_t
pub struct PsetId(i32);

impl PsetId {
    /// The default set, of all CPUs and LWPs that are in no other (`PS_NONE`). An LWP that is bound to it is unbound.
    pub const DEFAULT: PsetId = PsetId(-1);
    /// The caller's (`PS_MYID`): the default one where it is unbound.
    pub const MINE: PsetId = PsetId(-3);
    /// In place of a set: change nothing.
    const QUERY: PsetId = PsetId(-2);

    /// The set with this number. Whether there is one is found out by asking about it.
    #[must_use]
    pub const fn from_raw(id: i32) -> Self {
        PsetId(id)
    }

    /// The number.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0
    }
}

impl fmt::Display for PsetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whose binding is meant: the selectors of `pset_bind(2)` and `processor_bind(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The calling LWP.
    Caller,
    /// One LWP.
    Lwp(LwpId),
    /// All LWPs of the calling process.
    OwnProcess,
    /// All LWPs of the process with this pid.
    Process(i32),
    /// All LWPs that are bound to a set. Only to be unbound.
    Set(PsetId),
    /// All LWPs. Only to be unbound.
    All,
}

impl Who {
    /// C's kind and id.
    #[must_use]
    pub const fn raw(self) -> (i32, i32) {
        const MINE: i32 = -1;
        match self {
            Who::All => (0, MINE),
            Who::OwnProcess => (1, MINE),
            Who::Process(pid) => (1, pid),
            Who::Caller => (8, MINE),
            Who::Lwp(lwp) => (8, lwp.raw()),
            Who::Set(set) => (15, set.raw()),
        }
    }
}

/// Makes a set without CPUs.
///
/// # Errors
/// EPERM: not user 0. ENOMEM: there are as many as there may be.
pub fn create() -> Result<PsetId, Errno> {
    // SAFETY: `fetch` hands out a place of its own, of the right size.
    fetch::<u32>(|at| unsafe { raw::pset_create(at) }).map(id)
}

/// Ends a set: its LWPs become unbound, its CPUs go to the default set.
///
/// # Errors
/// EPERM: not user 0. EINVAL: no such set, or the default one.
pub fn destroy(set: PsetId) -> Result<(), Errno> {
    // SAFETY: touches none of the caller's memory.
    Errno::from_return(unsafe { raw::pset_destroy(set.0) }).map(drop)
}

/// Moves a CPU to a set, and returns the one it was in.
///
/// # Errors
/// EPERM: not user 0. EINVAL: no such CPU or set. EBUSY: the last CPU of the default set, or of a set with LWPs; or LWPs
/// are bound to the CPU.
pub fn assign(set: PsetId, cpu: CpuId) -> Result<PsetId, Errno> {
    // SAFETY: as above.
    fetch::<u32>(|at| unsafe { raw::pset_assign(set.0, cpu.raw(), at) }).map(id)
}

/// The set that a CPU is in.
///
/// # Errors
/// EINVAL: no such CPU.
pub fn of_cpu(cpu: CpuId) -> Result<PsetId, Errno> {
    assign(PsetId::QUERY, cpu)
}

/// Stores the CPUs of a set, as far as they have room, and returns how many there are.
///
/// # Errors
/// EINVAL: no such set.
pub fn cpus(set: PsetId, room: &mut [CpuId]) -> Result<usize, Errno> {
    let place = room.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: the kernel stores no more ids than it is told there is room for.
    counted(room.len(), |count| unsafe { raw::pset_info(set.0, 0, count, place) })
}

/// Whether there is such a set.
#[must_use]
pub fn exists(set: PsetId) -> bool {
    // SAFETY: no place is given to write to.
    Errno::from_return(unsafe { raw::pset_info(set.0, 0, 0, 0) }).is_ok()
}

/// Stores the ids of all sets but the default one, as far as they have room, and returns how many there are.
///
/// # Errors
/// None.
pub fn list(room: &mut [PsetId]) -> Result<usize, Errno> {
    let place = room.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: the kernel stores no more ids than it is told there is room for.
    counted(room.len(), |count| unsafe { raw::pset_list(place, count) })
}

/// Binds all LWPs that are meant to a set, or none of them, and returns what the one with the lowest id was bound to. To
/// [`PsetId::DEFAULT`]: unbinds them.
///
/// # Errors
/// EINVAL: no such set. EPERM: another user's process, and not user 0. ESRCH: nobody is meant. EINVAL: selectors that are for
/// unbinding; the set has no CPU. EBUSY: an LWP is bound to a CPU outside the set.
pub fn bind(set: PsetId, who: Who) -> Result<PsetId, Errno> {
    let (kind, number) = who.raw();
    // SAFETY: as above.
    fetch::<u32>(|at| unsafe { raw::pset_bind(set.0, kind, number, at) }).map(id)
}

/// What an LWP is bound to: of several the one with the lowest id. [`PsetId::DEFAULT`]: unbound.
///
/// # Errors
/// ESRCH: nobody is meant. EINVAL: selectors that are for unbinding.
pub fn binding(who: Who) -> Result<PsetId, Errno> {
    bind(PsetId::QUERY, who)
}

/// Binds all LWPs that are meant to a CPU of their set (`processor_bind(2)`), None: frees them; and returns what the one
/// with the lowest id was bound to.
///
/// # Errors
/// EINVAL: no such CPU, or outside the set. ESRCH: nobody is meant. EPERM: another user's process, and not user 0.
pub fn bind_to_cpu(cpu: Option<CpuId>, who: Who) -> Result<Option<CpuId>, Errno> {
    const NONE: i32 = -1;
    processor_bind(cpu.map_or(NONE, CpuId::raw), who)
}

/// The CPU that an LWP is bound to: of several the one with the lowest id.
///
/// # Errors
/// ESRCH: nobody is meant.
pub fn cpu_binding(who: Who) -> Result<Option<CpuId>, Errno> {
    const QUERY: i32 = -2;
    processor_bind(QUERY, who)
}

fn processor_bind(cpu: i32, who: Who) -> Result<Option<CpuId>, Errno> {
    let (kind, number) = who.raw();
    // SAFETY: as above.
    let old = fetch::<u32>(|at| unsafe { raw::processor_bind(kind, number, cpu, at) })? as i32;
    Ok((old >= 0).then(|| CpuId::from_raw(old)))
}

/// The load averages of a set over 1, 5 and 15 minutes (`pset_getloadavg(3C)`).
///
/// # Errors
/// EINVAL: no such set.
pub fn load_averages(set: PsetId) -> Result<[f64; 3], Errno> {
    let mut averages = [0.0; 3];
    let place = averages.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: there is room for three doubles.
    Errno::from_return(unsafe { raw::pset_getloadavg(set.0, place, 3) })?;
    Ok(averages)
}

/// The load averages of the whole machine (`getloadavg(3C)`), to 1/65536.
///
/// # Errors
/// None.
pub fn machine_load_averages() -> Result<[f64; 3], Errno> {
    // SAFETY: as above.
    let info: SysInfo = fetch(|at| unsafe { raw::sysinfo(at) })?;
    Ok(info.loads.map(|load| load as f64 / 65_536.0))
}

/// Hands `call` the address of a count, and returns what it is then.
fn counted(room: usize, call: impl FnOnce(u64) -> u64) -> Result<usize, Errno> {
    let mut count = room as u32;
    Errno::from_return(call((&raw mut count).expose_provenance() as u64))?;
    Ok(count as usize)
}

fn id(raw: u32) -> PsetId {
    PsetId(raw as i32)
}
