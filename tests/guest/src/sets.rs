//! Processor sets that tests make, and the CPUs in them.

use std::time::Duration;

use crate::{address, call};
use syscalls::number;
use userlib::cpu::{self, CpuId};
use userlib::pset::{self, PsetId};

/// How many CPUs there are, in whichever set.
#[must_use]
pub fn cpus() -> usize {
    cpu::all().count()
}

/// The CPU that the caller runs on.
#[must_use]
pub fn here() -> CpuId {
    // SAFETY: no arguments.
    CpuId::from_raw(unsafe { libc::sched_getcpu() })
}

/// Says which CPUs an LWP may use; 0: the caller. Whether that was done.
pub fn allow(tid: i32, mask: u64) -> bool {
    // SAFETY: the mask is a word that outlives the call.
    unsafe { call(number::sched_setaffinity, &[tid as u64, 8, address(&raw const mask)]) }.is_ok()
}

/// A set, destroyed when dropped.
#[derive(Debug)]
pub struct Set(pub PsetId);

impl Set {
    /// One with these CPUs.
    ///
    /// # Panics
    /// Where they cannot be had.
    #[must_use]
    pub fn of(cpus: &[i32]) -> Set {
        let set = Set(pset::create().expect("pset_create"));
        for &cpu in cpus {
            pset::assign(set.0, CpuId::from_raw(cpu)).expect("pset_assign");
        }
        set
    }

    /// Its CPUs.
    ///
    /// # Panics
    /// Where it is gone.
    #[must_use]
    pub fn cpus(&self) -> Vec<i32> {
        cpus_of(self.0)
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        // A test may have done it already.
        _ = pset::destroy(self.0);
    }
}

/// The CPUs of a set.
///
/// # Panics
/// Where there is no such set.
#[must_use]
pub fn cpus_of(set: PsetId) -> Vec<i32> {
    let mut room = [CpuId::from_raw(0); 64];
    let count = pset::cpus(set, &mut room).expect("pset_info");
    room[..count].iter().map(|cpu| cpu.raw()).collect()
}

/// What a CPU spends in user mode while the caller sleeps for a moment. Where nobody may run that is nothing, to the
/// nanosecond.
///
/// # Panics
/// Where there is no such CPU.
#[must_use]
pub fn user_time_on(cpu: i32) -> Duration {
    let user = || cpu::times(CpuId::from_raw(cpu)).expect("a CPU that is there").user;
    let before = user();
    std::thread::sleep(Duration::from_millis(2));
    user() - before
}
