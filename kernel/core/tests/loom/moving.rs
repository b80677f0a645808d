//! LWPs that change their CPU: the lock that guards them changes, and nobody is misled or runs on a stack in use.

use super::machine::{FIRST, LWP, SECOND};
use super::{Machine, explore};
use kcore::sched::place::{Block, Place};

/// Preemptions in one run of a scene.
const PREEMPTIONS: usize = 3;

/// The waker chooses its own CPU for an LWP that has hardly gone to sleep, and runs it. Red where `Machine::block`
/// releases the lock before the stack is left: that is what handing the lock over is for.
#[test]
fn loom_a_woken_lwp_runs_elsewhere_on_a_free_stack() {
    explore(
        PREEMPTIONS,
        Machine::new,
        [
            |machine| {
                let _ = machine.block(FIRST, LWP);
            },
            |machine| {
                machine.wake(LWP, SECOND);
                machine.take_own(SECOND);
            },
        ],
        |machine| {
            machine.assert_queues();
            assert_eq!(machine.place(LWP).0, Place::Running);
        },
    );
}

/// A running LWP moves, as somebody wakes it and the new CPU runs it. Red where the second look in
/// `place::lock_of` is left out or relaxed, where `move_to` changes the CPU after it has released the lock, and where the
/// stack is left after that.
#[test]
fn loom_a_wake_up_finds_an_lwp_that_moves() {
    explore(
        PREEMPTIONS,
        Machine::new,
        [
            |machine| machine.move_to(FIRST, LWP, SECOND),
            |machine| machine.wake(LWP, FIRST),
            |machine| {
                machine.take_own(SECOND);
            },
        ],
        |machine| {
            machine.assert_queues();
            machine.take_own(SECOND);
            assert_eq!(machine.place(LWP), (Place::Running, SECOND));
            assert_eq!(machine.block(SECOND, LWP), Block::Return, "the wake-up was kept");
        },
    );
}

/// An idle CPU takes a queued LWP as it is woken once more and sent to where it came from. Red where `take_from` changes
/// the CPU after it has released the lock, and without the second look in `place::lock_of`.
#[test]
fn loom_a_taken_lwp_is_moved_and_woken() {
    let queued = || {
        let machine = Machine::new();
        let _ = machine.block(FIRST, LWP);
        machine.wake(LWP, FIRST);
        machine
    };
    explore(
        PREEMPTIONS,
        queued,
        [
            |machine| {
                machine.take_from(SECOND, FIRST);
            },
            |machine| machine.wake(LWP, FIRST),
            |machine| {
                machine.move_queued(LWP, SECOND);
            },
        ],
        |machine| {
            machine.assert_queues();
            machine.take_own(SECOND);
            assert_eq!(machine.place(LWP), (Place::Running, SECOND));
            assert_eq!(machine.block(SECOND, LWP), Block::Return, "the wake-up was kept");
        },
    );
}

/// A running LWP moves, is woken, and meanwhile may not be where it goes any more: it is sent on. Red where `lock_allowed`
/// changes the CPU after it has released the lock of the one that is not allowed.
#[test]
fn loom_an_lwp_that_moves_is_sent_on() {
    explore(
        PREEMPTIONS,
        Machine::new,
        [
            |machine| machine.move_to(FIRST, LWP, SECOND),
            |machine| machine.wake(LWP, FIRST),
            |machine| machine.allow_only(LWP, FIRST),
        ],
        |machine| {
            machine.assert_queues();
            let (place, cpu) = machine.place(LWP);
            assert_eq!(place, Place::Queued);
            machine.take_own(cpu);
            assert_eq!(machine.block(cpu, LWP), Block::Return, "the wake-up was kept");
        },
    );
}
