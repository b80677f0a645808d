//! One slot and two lives: who asks by tid, from another CPU, never gets another LWP's figures.
//!
//! The steps are those of `new_lwp` and `reclaim` in `kernel/src/proc/mod.rs`. The first LWP only runs, the second only
//! sleeps, so that each figure tells whose it is.

use super::explore;
use kcore::acct::{CpuLedger, LwpLedger, Microstates, OffCpu, Usage, laws, read_any, read_usage, switch};
use kcore::ids::{IdAllocator, Ids, Leaf, Leaves};
use kcore::sched::Slot;
use loom::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Relaxed},
};
use syscalls::Errno;

/// A table of few ids.
struct OneLeaf(Leaf);

impl Leaves for OneLeaf {
    fn leaf(&self, index: usize) -> Option<&Leaf> {
        (index == 0).then_some(&self.0)
    }

    fn add(&self, _: usize) -> Result<&Leaf, Errno> {
        Err(Errno::ENOMEM)
    }
}

const SLOT: Slot = Slot::new(0);
const RUNNER: u32 = 1;
const SLEEPER: u32 = 2;

/// Preemptions in one run of a scene. Each of the words that are read may be old as well, which makes many runs.
const PREEMPTIONS: usize = 1;

struct Scene {
    ticks: AtomicU64,
    cpu: CpuLedger,
    /// The slot's.
    ledger: LwpLedger,
    ids: Ids<OneLeaf>,
    /// What else lies in the slot: by whom it was written, which stands for the LWP's process.
    rest: AtomicU32,
}

impl Scene {
    /// The runner has run, and waits for its CPU. The sleeper has its tid.
    fn new() -> Scene {
        let scene = Scene {
            ticks: AtomicU64::new(1),
            cpu: CpuLedger::new(),
            ledger: LwpLedger::new(),
            ids: Ids::new(OneLeaf(Leaf::new())),
            rest: AtomicU32::new(0),
        };
        let mut allocator = IdAllocator::new();
        assert_eq!([RUNNER, SLEEPER].map(Ok), [(); 2].map(|()| allocator.allocate(&scene.ids)));
        scene.cpu.start(|| scene.now());
        scene.begin(RUNNER, OffCpu::Runnable);
        switch(&scene.cpu, 0, None, Some(&scene.ledger), || scene.now());
        switch(&scene.cpu, 0, Some((&scene.ledger, OffCpu::Runnable)), None, || scene.now());
        scene
    }

    fn now(&self) -> u64 {
        self.ticks.fetch_add(1, AcqRel)
    }

    fn begin(&self, tid: u32, state: OffCpu) {
        self.rest.store(tid, Relaxed);
        self.ledger.begin(tid, state, || self.now());
        self.ids.set(tid, SLOT);
    }

    /// The runner has ended, too.
    fn with_ended_runner() -> Scene {
        let scene = Scene::new();
        scene.ledger.change(OffCpu::Ended, || scene.now());
        scene
    }

    /// The runner, which has ended, is reclaimed, and the slot is the sleeper's.
    fn succeed(&self) {
        let _ = self.ledger.retire();
        self.begin(SLEEPER, OffCpu::Sleeping);
    }

    fn read(&self, tid: u32) -> Option<Microstates> {
        let (_, states) = read_any(&self.ledger, tid, |_| &self.cpu, || self.now())?;
        laws::two(&states).unwrap();
        Some(states)
    }

    fn usage(&self, tid: u32) -> Option<Usage> {
        read_usage(&self.ledger, tid, |_| &self.cpu, || self.now())
    }
}

/// Red where `read_any` does not compare the tid or does not look at the window again, and where `retire` opens none.
#[test]
fn loom_who_asks_for_the_last_lwp_gets_its_figures_or_none() {
    let reader = |scene: &Scene| {
        if let Some(states) = scene.read(RUNNER) {
            assert!(states.sleeping == 0 && states.system > 0, "figures of the next LWP");
        }
    };
    explore(PREEMPTIONS, Scene::with_ended_runner, [Scene::succeed, reader], |scene| {
        assert_eq!(scene.read(RUNNER), None)
    });
}

/// Red where `begin` of a ledger opens no window.
#[test]
fn loom_who_begins_is_read_whole() {
    let reader = |scene: &Scene| {
        scene.read(SLEEPER); // which checks law 2
    };
    explore(PREEMPTIONS, Scene::with_ended_runner, [Scene::succeed, reader], |scene| {
        assert!(scene.read(SLEEPER).is_some());
    });
}

/// Red where `Ids::lookup` loads without `Acquire`, and where `begin` here names the slot before its ledger is ready.
#[test]
fn loom_who_is_found_is_ready_to_be_asked() {
    let reader = |scene: &Scene| {
        if scene.ids.lookup(SLEEPER).is_some() {
            assert_eq!(scene.rest.load(Relaxed), SLEEPER, "the last LWP's process");
            let states = scene.read(SLEEPER).expect("who is named is there");
            assert_eq!(states.sleeping, states.lifetime, "figures of the last LWP");
        }
    };
    explore(PREEMPTIONS, Scene::with_ended_runner, [Scene::succeed, reader], |scene| {
        assert_eq!(scene.ids.lookup(SLEEPER), Some(SLOT))
    });
}

/// The quick way to the use alone. Red where `read_usage` does not look at the window again.
#[test]
fn loom_use_is_of_the_lwp_that_was_asked_for() {
    let reader = |scene: &Scene| {
        if let Some(used) = scene.usage(SLEEPER) {
            assert_eq!(used, Usage::default(), "figures of the last LWP");
        }
    };
    explore(PREEMPTIONS, Scene::with_ended_runner, [Scene::succeed, reader], |scene| {
        assert!(scene.usage(SLEEPER).is_some());
    });
}

/// The same for one who looked the tid up too early. Red where `read_usage` does not compare the owner.
#[test]
fn loom_who_has_ended_has_no_use() {
    let reader = |scene: &Scene| assert_eq!(scene.usage(RUNNER), None);
    explore(PREEMPTIONS, Scene::with_ended_runner, [Scene::succeed, reader], |scene| {
        assert_eq!(scene.usage(RUNNER), None)
    });
}
