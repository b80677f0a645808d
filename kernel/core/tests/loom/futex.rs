//! The futex queues against waits, wakes, moves and kills: what `kernel/src/proc/futex.rs` does, with the same names.

use super::machine::{FIRST, LWP, OTHER, SECOND};
use super::{Machine, explore};
use kcore::futex::{ANY, Key, Waiter, Waiters, Waiting};
use kcore::sched::Slot;
use kcore::sched::place::{Block, Place};
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::sync::{Mutex, MutexGuard};

const WORD: Key = Key { space: 1, address: 0x1000 };
const SECOND_WORD: Key = Key { space: 1, address: 0x2000 };

/// How a wait ended, or that it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Asleep,
    Woken,
    OtherValue,
    Interrupted,
}

#[derive(Default)]
struct LwpWaiters([Waiter; 2]);

impl Waiters for LwpWaiters {
    fn waiter(&self, slot: Slot) -> &Waiter {
        &self.0[slot.index()]
    }
}

/// Preemptions in one run of a scene.
const PREEMPTIONS: usize = 3;

struct Scene {
    machine: Machine,
    waiting: Mutex<Waiting>,
    waiters: LwpWaiters,
    /// The word at `WORD`, in user memory.
    word: AtomicU32,
    /// Whether the waker has begun.
    done_before: AtomicU32,
    /// How the wait of `LWP` went on.
    outcome: Mutex<Outcome>,
}

impl Scene {
    fn new() -> Scene {
        Scene {
            machine: Machine::new(),
            waiting: Mutex::new(Waiting::new()),
            waiters: LwpWaiters::default(),
            word: AtomicU32::new(0),
            done_before: AtomicU32::new(0),
            outcome: Mutex::new(Outcome::Asleep),
        }
    }

    /// Both LWPs sleep at the word.
    fn with_sleepers() -> Scene {
        let scene = Scene::new();
        for slot in [LWP, OTHER] {
            assert_eq!(scene.wait(slot), Outcome::Asleep);
        }
        scene
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap()
    }

    fn leave(&self, slot: Slot) -> bool {
        self.waiting().leave(&self.waiters, slot)
    }

    fn wait(&self, slot: Slot) -> Outcome {
        self.waiting().join(&self.waiters, slot, WORD, ANY);
        if self.word.load(Relaxed) != 0 {
            return if self.leave(slot) { Outcome::OtherValue } else { Outcome::Woken };
        }
        self.sleep(slot)
    }

    fn sleep(&self, slot: Slot) -> Outcome {
        while self.machine.block(FIRST, slot) == Block::Return {
            if let Some(outcome) = self.look_again(slot) {
                return outcome;
            }
        }
        Outcome::Asleep
    }

    fn look_again(&self, slot: Slot) -> Option<Outcome> {
        if self.waiters.waiter(slot).is_woken() {
            assert_eq!(self.done_before.load(Relaxed), 1, "a woken LWP sees what its waker did before");
            return Some(Outcome::Woken);
        }
        (self.machine.is_killed(slot) && self.leave(slot)).then_some(Outcome::Interrupted)
    }

    /// Goes on with who was woken on the first CPU, if it is `LWP`.
    fn run_woken(&self) {
        let Some(slot) = self.machine.take_own(FIRST) else { return };
        assert_eq!(slot, LWP);
        let outcome = self.look_again(slot).unwrap_or_else(|| self.sleep(slot));
        *self.outcome.lock().unwrap() = outcome;
    }

    /// Wakes one; who it is waits for the second CPU if it is `OTHER`.
    fn wake_one(&self) {
        self.done_before.store(1, Relaxed);
        let first = self.waiting().take_first(&self.waiters, WORD, ANY);
        if let Some(slot) = first {
            self.machine.wake(slot, if slot == LWP { FIRST } else { SECOND });
        }
    }
}

/// Red where `wait` looks at the word before it joins.
#[test]
fn loom_a_wait_sees_the_new_word_or_is_woken() {
    explore(
        PREEMPTIONS,
        Scene::new,
        [
            |scene| {
                scene.wait(LWP);
            },
            |scene| {
                scene.word.store(1, Relaxed);
                scene.wake_one();
            },
        ],
        |scene| {
            scene.machine.assert_queues();
            assert!(!scene.leave(LWP), "in a list though it does not wait");
            assert_ne!(scene.machine.place(LWP).0, Place::Blocked, "a wake-up was lost");
        },
    );
}

/// One of two sleepers is killed as one wake comes: either it left the queue first, and the wake goes to the other, or it
/// was woken, and says so. Red where `look_again` does not ask `leave` who was first, and where `Waiting::take_first`
/// clears the bits, or `Waiter::is_woken` loads them, relaxed.
#[test]
fn loom_a_wake_is_spent_once_though_a_waiter_is_killed() {
    explore(
        PREEMPTIONS,
        Scene::with_sleepers,
        [
            |scene| {
                scene.machine.kill(LWP);
                scene.run_woken();
            },
            Scene::wake_one,
        ],
        |scene| {
            scene.run_woken();
            scene.machine.assert_queues();
            assert!(!scene.leave(LWP), "in a list though it was killed");
            let other_was_woken = scene.machine.place(OTHER) == (Place::Queued, SECOND);
            let expected = if other_was_woken { Outcome::Interrupted } else { Outcome::Woken };
            assert_eq!(*scene.outcome.lock().unwrap(), expected);
        },
    );
}

/// A sleeper is killed as it is moved to another word. Red where the move takes it out under the lock and puts it in under
/// the lock once more: in between it is in neither list, and finds nothing to leave.
#[test]
fn loom_a_moved_waiter_is_in_one_list_always() {
    explore(
        PREEMPTIONS,
        Scene::with_sleepers,
        [
            |scene| {
                scene.machine.kill(LWP);
                scene.run_woken();
            },
            |scene| {
                scene.waiting().requeue(&scene.waiters, WORD, SECOND_WORD, usize::MAX);
            },
        ],
        |scene| {
            assert_eq!(*scene.outcome.lock().unwrap(), Outcome::Interrupted);
            assert!(!scene.leave(LWP), "in a list though it was killed");
            let mut waiting = scene.waiting();
            assert_eq!(waiting.take_first(&scene.waiters, SECOND_WORD, ANY), Some(OTHER));
            assert_eq!(waiting.take_first(&scene.waiters, WORD, ANY), None);
        },
    );
}
