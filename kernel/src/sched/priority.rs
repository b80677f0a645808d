//! Changing who goes first.

use super::ready::{enqueue, lock_of};
use crate::proc::Lwp;
use core::sync::atomic::Ordering::SeqCst;
use kcore::sched::Nice;
use kcore::sched::place::Place;

/// Gives the LWP that has this tid another nice value, which counts from now on: it goes before those who wait below it,
/// and gives way to those who wait above. Nothing happens where it has ended.
pub(crate) fn set_nice(lwp: &'static Lwp, tid: u32, nice: Nice) {
    let (cpu, mut dispatcher) = lock_of(lwp);
    if lwp.tid() != tid {
        return;
    }
    lwp.set_nice(nice);
    match lwp.place() {
        Place::Queued if dispatcher.remove(cpu, lwp) => enqueue(cpu, dispatcher, lwp),
        Place::Running => {
            cpu.priority.store(lwp.priority().number(), SeqCst);
            let gives_way = dispatcher.queue.first().is_some_and(|(_, best)| best > lwp.priority());
            drop(dispatcher);
            if gives_way {
                cpu.slice_over.store(true, SeqCst);
                cpu.ask_for_attention();
            }
        }
        // On its way to another CPU's queue, where it is put by its new priority, or not waiting at all.
        Place::Queued | Place::Blocked | Place::Nowhere => {}
    }
}
