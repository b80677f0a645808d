//! Processor sets that tests make, and LWPs that spin in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread::JoinHandle;

use crate::{address, call};
use syscalls::number;
use userlib::cpu::{self, CpuId};
use userlib::lwp::{self, LwpId};
use userlib::pset::{self, PsetId, Who};

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

/// A thread that spins until it is dropped, counts its rounds and shows where it is.
#[derive(Debug)]
pub struct Spinner {
    /// Its LWP.
    pub lwp: LwpId,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    rounds: AtomicU64,
    cpu: AtomicI32,
}

impl Spinner {
    /// Starts one, in the caller's set.
    ///
    /// # Panics
    /// Where there can be no more threads.
    #[must_use]
    pub fn start() -> Spinner {
        let shared = Arc::new(Shared::default());
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn({
            let shared = shared.clone();
            move || {
                tell.send(lwp::current()).expect("somebody listens");
                while !shared.stop.load(Ordering::Relaxed) {
                    shared.cpu.store(here().raw(), Ordering::Release);
                    shared.rounds.fetch_add(1, Ordering::Release);
                }
            }
        });
        Spinner { lwp: told.recv().expect("its id"), shared, thread: Some(thread) }
    }

    /// Starts one in a set.
    ///
    /// # Panics
    /// Where the set has no CPU.
    #[must_use]
    pub fn start_in(set: PsetId) -> Spinner {
        let spinner = Spinner::start();
        pset::bind(set, Who::Lwp(spinner.lwp)).expect("pset_bind");
        spinner
    }

    /// Where it is found to run from now on: waits until it has looked twice.
    #[must_use]
    pub fn place(&self) -> i32 {
        let begin = self.shared.rounds.load(Ordering::Acquire);
        while self.shared.rounds.load(Ordering::Acquire) < begin + 2 {
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        self.shared.cpu.load(Ordering::Acquire)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}
