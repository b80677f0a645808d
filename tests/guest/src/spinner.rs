//! LWPs that never give way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::here;
use userlib::lwp::{self, LwpId};
use userlib::pset::{self, PsetId, Who};

/// A thread that spins until it is dropped, and counts its rounds.
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
    /// Starts one, in the caller's set, that shows where it is: it makes calls all the time.
    ///
    /// # Panics
    /// Where there can be no more threads.
    #[must_use]
    pub fn start() -> Spinner {
        Spinner::doing(|shared| shared.cpu.store(here().raw(), Ordering::Release))
    }

    /// Starts one that makes no call: only an interrupt takes it off its CPU.
    ///
    /// # Panics
    /// Where there can be no more threads.
    #[must_use]
    pub fn silent() -> Spinner {
        Spinner::doing(|_| ())
    }

    fn doing(round: fn(&Shared)) -> Spinner {
        let shared = Arc::new(Shared::default());
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn({
            let shared = shared.clone();
            move || {
                tell.send(lwp::current()).expect("somebody listens");
                while !shared.stop.load(Ordering::Relaxed) {
                    round(&shared);
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

    /// What it has used.
    ///
    /// # Panics
    /// Never: it lives.
    #[must_use]
    pub fn used(&self) -> Duration {
        lwp::cputime(self.lwp).expect("it lives").total()
    }

    /// Waits until it has begun and ended a round.
    pub fn await_round(&self) {
        let begin = self.shared.rounds.load(Ordering::Acquire);
        while self.shared.rounds.load(Ordering::Acquire) < begin + 2 {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Where it is found to run from now on: waits until it has looked twice.
    #[must_use]
    pub fn place(&self) -> i32 {
        self.await_round();
        self.shared.cpu.load(Ordering::Acquire)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}
