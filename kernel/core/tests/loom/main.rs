//! Every order that the memory model allows, for short scenes of the protocols between CPUs.
//!
//! **Problem.** What the dispatcher, the futex queues and the tables of LWPs promise across CPUs depends on the order
//! of single loads and stores; no test that merely runs meets the bad orders. **Answer.** Short scenes under loom, which
//! runs each with every order that the memory model allows, up to a few preemptions. The decisions are kcore's own
//! code; [`machine`] stands for what the kernel does around them (`kernel/src/sched/dispatch.rs`), with the same names
//! in the same order, so that a change there is made here too.
//!
//! **What is checked by itself:** loom reports two CPUs that use one cell, or one stack, without an order between them.
//! What must hold when all is quiet each scene says at its end. Each scene names a line that, broken, turns it red.
//!
//! Run them with `cargo test -p kcore --features loom --tests loom`.
#![cfg(feature = "loom")]

mod futex;
mod life;
mod machine;
mod moving;
mod sleep;

use loom::thread;
use machine::Machine;
use std::sync::Arc;

/// Runs `actors`, each on a thread of its own, from a new scene, in all orders with so many preemptions; `at_rest` looks
/// at the scene after all have finished.
fn explore<S, const N: usize>(preemptions: usize, scene: fn() -> S, actors: [fn(&S); N], at_rest: fn(&S))
where
    S: Send + Sync + 'static,
{
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let scene = Arc::new(scene());
        let threads = actors.map(|actor| {
            let scene = scene.clone();
            thread::spawn(move || actor(&scene))
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        at_rest(&scene);
    });
}
