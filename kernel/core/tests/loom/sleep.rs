//! Block and wake: no wake-up is lost, none counts twice, and no killed LWP sleeps.

use super::machine::{FIRST, LWP, SECOND};
use super::{Machine, explore};
use kcore::sched::place::{Block, Place};
use loom::sync::Mutex;

/// What an LWP waits for, and whether it waits: a pipe's bytes, a child's end.
#[derive(Default)]
struct Event {
    has_come: bool,
    is_waited_for: bool,
}

/// How far an LWP has come with its waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Asleep,
    Done,
    Interrupted,
}

/// Preemptions in one run of a scene.
const PREEMPTIONS: usize = 3;

struct Scene {
    machine: Machine,
    events: [Mutex<Event>; 2],
}

impl Scene {
    fn new() -> Scene {
        Scene { machine: Machine::new(), events: Default::default() }
    }

    /// Be known, look, block, and look again; at the event first, so that whoever was woken for it says so though it
    /// was killed, as futexes do.
    fn wait(&self, event: usize) -> Progress {
        while !self.has_come(event) {
            if self.machine.block(FIRST, LWP) == Block::Sleep {
                return Progress::Asleep;
            }
            if !self.has_come(event) && self.machine.is_killed(LWP) {
                return Progress::Interrupted;
            }
        }
        Progress::Done
    }

    /// If not, the LWP is known as one who waits for it.
    fn has_come(&self, event: usize) -> bool {
        let mut event = self.events[event].lock().unwrap();
        event.is_waited_for = !event.has_come;
        event.has_come
    }

    fn announce(&self, event: usize) {
        let is_waited_for = {
            let mut event = self.events[event].lock().unwrap();
            event.has_come = true;
            core::mem::take(&mut event.is_waited_for)
        };
        if is_waited_for {
            self.machine.wake(LWP, FIRST);
        }
    }

    /// Nobody sleeps who has something to do.
    fn assert_awake(&self) {
        self.machine.assert_queues();
        assert_ne!(self.machine.place(LWP).0, Place::Blocked, "a wake-up was lost");
    }
}

/// Red without `wake_kept: true` in `Standing::wake`.
#[test]
fn loom_a_wake_up_is_not_lost() {
    let waiter = |scene: &Scene| {
        scene.wait(0);
    };
    explore(PREEMPTIONS, Scene::new, [waiter, |scene| scene.announce(0)], |scene| {
        scene.assert_awake();
        if scene.machine.take_own(FIRST).is_some() {
            assert_eq!(scene.wait(0), Progress::Done);
        }
    });
}

/// The event comes as the time-out goes off. Red where `Standing::wake` leaves a blocked LWP blocked.
#[test]
fn loom_two_wake_ups_queue_once() {
    let waiter = |scene: &Scene| {
        scene.wait(0);
    };
    explore(
        PREEMPTIONS,
        Scene::new,
        [waiter, |scene| scene.announce(0), |scene| scene.machine.wake(LWP, SECOND)],
        Scene::assert_awake,
    );
}

/// The kill comes as the first of two waits ends, whose block may take the wake-up that was kept. Red where `Standing::block`
/// does not look at the fate, and where `kill` wakes before it seals it.
#[test]
fn loom_a_killed_lwp_does_not_sleep() {
    let waiter = |scene: &Scene| {
        if scene.wait(0) == Progress::Done {
            scene.wait(1);
        }
    };
    explore(
        PREEMPTIONS,
        Scene::new,
        [waiter, |scene| scene.announce(0), |scene| scene.machine.kill(LWP)],
        Scene::assert_awake,
    );
}
