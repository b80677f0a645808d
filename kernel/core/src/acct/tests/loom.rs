//! Every order that the memory model allows, for short scenes: a reading is whole and never falls.
//!
//! The clock is an atomic counter whose reads are ordered as the theory demands of `lfence; rdtsc`: a reading that
//! is finished before another begins is smaller.

use super::super::*;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

struct Scene {
    ticks: AtomicU64,
    cpu: CpuLedger,
    lwps: [LwpLedger; 2],
}

impl Scene {
    /// A CPU in the kernel with the first of two LWPs.
    fn new() -> Arc<Scene> {
        let scene = Scene {
            ticks: AtomicU64::new(1),
            cpu: CpuLedger::new(),
            lwps: [LwpLedger::new(), LwpLedger::new()],
        };
        scene.cpu.start(|| scene.now());
        scene.lwps[0].begin(1, OffCpu::Runnable, || scene.now());
        scene.lwps[1].begin(2, OffCpu::Runnable, || scene.now());
        switch(&scene.cpu, 0, None, Some(&scene.lwps[0]), || scene.now());
        Arc::new(scene)
    }

    fn now(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::AcqRel)
    }

    fn read(&self, index: usize) -> Microstates {
        let times = read_lwp(&self.lwps[index], index as u32 + 1, |_| &self.cpu, || self.now()).unwrap();
        laws::two(&times).unwrap();
        times
    }
}

/// Runs `writer` against a reader that looks twice at an LWP.
fn explore(index: usize, writer: fn(&Scene)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let scene = Scene::new();
        let writing = {
            let scene = scene.clone();
            thread::spawn(move || writer(&scene))
        };
        let (before, after) = (scene.read(index), scene.read(index));
        for (before, after) in [
            (before.user, after.user),
            (before.system, after.system),
            (before.runnable, after.runnable),
            (before.sleeping, after.sleeping),
            (before.lifetime, after.lifetime),
        ] {
            laws::four(before, after).unwrap();
        }
        writing.join().unwrap();
        scene.read(index);
    });
}

#[test]
fn loom_a_crossing() {
    explore(0, |scene| {
        scene.cpu.enter_user(|| scene.now());
    });
}

#[test]
fn loom_a_switch_away() {
    explore(0, |scene| {
        switch(&scene.cpu, 0, Some((&scene.lwps[0], OffCpu::Sleeping)), None, || scene.now());
    });
}

#[test]
fn loom_a_switch_to() {
    explore(1, |scene| {
        switch(&scene.cpu, 0, Some((&scene.lwps[0], OffCpu::Sleeping)), Some(&scene.lwps[1]), || scene.now());
    });
}

#[test]
fn loom_a_cpu_between_states() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let scene = Scene::new();
        let writing = {
            let scene = scene.clone();
            thread::spawn(move || {
                let interrupted = scene.cpu.enter_irq(|| scene.now());
                scene.cpu.leave_irq(interrupted, || scene.now());
            })
        };
        let (before, after) = (read_cpu(&scene.cpu, || scene.now()), read_cpu(&scene.cpu, || scene.now()));
        laws::one(&before).unwrap();
        laws::one(&after).unwrap();
        laws::four(before.system, after.system).unwrap();
        laws::four(before.irq, after.irq).unwrap();
        writing.join().unwrap();
    });
}
