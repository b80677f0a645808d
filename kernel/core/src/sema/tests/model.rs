//! Random histories of LWPs and semaphores, each step beside a model that has no words, no lists and no fast path.

use super::super::*;
use super::{Lines, Lwps, rate};
use crate::list::Slot;
use proptest::prelude::*;
use syscalls::Errno;
use syscalls::sema::operation as op;

const LWPS: u32 = 6;
const SEMAPHORES: usize = 2;

#[derive(Debug, Clone, Copy)]
enum Step {
    Acquire(u32, usize, Patience),
    Release(u32, usize),
    Run(u32),
    TimeOut(u32),
    Kill(u32),
    Meter(usize, Switch),
    Debug(usize, Switch),
    History(usize, bool),
    ArenaHistory(bool),
    Recursion(usize, bool),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Switch {
    On,
    Off,
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    let (lwp, which) = (0..LWPS, 0..SEMAPHORES);
    let switch = prop::sample::select(vec![Switch::On, Switch::Off, Switch::Reset]);
    let patience =
        prop::sample::select(vec![Patience::Wait, Patience::Wait, Patience::None, Patience::ZeroTime]);
    prop_oneof![
        20 => (lwp.clone(), which.clone(), patience).prop_map(|(lwp, which, how)| Step::Acquire(lwp, which, how)),
        20 => (lwp.clone(), which.clone()).prop_map(|(lwp, which)| Step::Release(lwp, which)),
        8 => lwp.clone().prop_map(Step::Run),
        2 => lwp.clone().prop_map(Step::TimeOut),
        2 => lwp.prop_map(Step::Kill),
        2 => (which.clone(), switch.clone()).prop_map(|(which, switch)| Step::Meter(which, switch)),
        2 => (which.clone(), switch).prop_map(|(which, switch)| Step::Debug(which, switch)),
        1 => (which.clone(), any::<bool>()).prop_map(|(which, is_on)| Step::History(which, is_on)),
        1 => any::<bool>().prop_map(Step::ArenaHistory),
        1 => (which, any::<bool>()).prop_map(|(which, is_on)| Step::Recursion(which, is_on)),
    ]
}

/// Counts of a meter: hits, acquires, free releases, releases, most waiting.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Counts {
    hits: u64,
    acquires: u64,
    free_releases: u64,
    releases: u64,
    most_waiting: u32,
}

#[derive(Debug, Default)]
struct Semaphore {
    initial: i64,
    count: i64,
    queue: Vec<(u32, u64)>,
    recursion: bool,
    holder: Option<(u32, u32)>,
    meter: Option<Counts>,
    debug: Option<Debug>,
    history: bool,
}

impl Semaphore {
    fn test(&self) -> i32 {
        if self.queue.is_empty() { self.count as i32 } else { -(self.queue.len() as i32) }
    }

    fn take(&mut self, lwp: u32) -> bool {
        match &mut self.holder {
            Some((holder, depth)) if *holder == lwp => *depth += 1,
            _ if self.count == 0 => return false,
            _ => {
                self.count -= 1;
                self.holder = self.recursion.then_some((lwp, 1));
            }
        }
        true
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Life {
    Runs,
    Waits(usize, u64),
    Granted(usize, u64),
}

type Event = (usize, u32, i32, u32, Option<u32>);

struct World {
    arena: Arena,
    lines: Lines,
    lwps: Lwps,
    tickets: Vec<Ticket>,
    places: Vec<u32>,
    semaphores: Vec<Semaphore>,
    lives: Vec<Life>,
    history_is_on: bool,
    events: Vec<Event>,
    time: u64,
}

fn pid(lwp: u32) -> u32 {
    lwp / 2 + 1
}

fn tid(lwp: u32) -> u32 {
    lwp + 10
}

fn caller(lwp: u32, pc: u64) -> Caller {
    Caller { slot: Slot::new(lwp), pid: pid(lwp), tid: tid(lwp), pc }
}

fn user(lwp: u32, pc: u64) -> Option<User> {
    Some(User { pid: pid(lwp), pc })
}

impl World {
    fn new(initial: [u32; SEMAPHORES]) -> World {
        let (mut arena, lines) = (Arena::new(1 << 16, rate()).unwrap(), Lines::new(1 << 10));
        let places: Vec<u32> = (1..)
            .zip(initial)
            .map(|(born, tokens)| arena.new_semaphore(&lines, tokens, born).unwrap())
            .collect();
        let tickets =
            places.iter().map(|&line| arena.find(&lines, u64::from(line) * LINE).unwrap()).collect();
        let semaphores = initial.map(|tokens| Semaphore {
            initial: i64::from(tokens),
            count: i64::from(tokens),
            ..Semaphore::default()
        });
        World {
            arena,
            lines,
            lwps: Lwps::new(LWPS),
            tickets,
            places,
            semaphores: semaphores.into(),
            lives: vec![Life::Runs; LWPS as usize],
            history_is_on: false,
            events: Vec::new(),
            time: 0,
        }
    }

    fn word(&self, which: usize) -> &Word {
        self.lines.0[self.places[which] as usize].word()
    }

    fn event(&mut self, which: usize, operation: u32, lwp: u32, woken: Option<u32>) {
        if self.semaphores[which].history && self.history_is_on {
            let count = self.semaphores[which].test();
            self.events.push((which, operation, count, lwp, woken));
        }
    }

    /// As the library: in user mode if it can be, else in the kernel.
    fn acquire(&mut self, lwp: u32, which: usize, patience: Patience) {
        let pc = self.time;
        let semaphore = &mut self.semaphores[which];
        let hits = semaphore.take(lwp);
        if let Some(meter) = &mut semaphore.meter {
            meter.acquires += 1;
            meter.hits += u64::from(hits);
        }
        let operation = match (hits, patience) {
            (true, _) => op::P_HIT,
            (false, Patience::Wait) => op::P_SLEEP,
            (false, Patience::None) => op::P_MISS,
            (false, Patience::ZeroTime) => op::P_TIMEOUT,
        };
        if operation == op::P_SLEEP {
            semaphore.queue.push((lwp, pc));
            if let Some(meter) = &mut semaphore.meter {
                meter.most_waiting = meter.most_waiting.max(semaphore.queue.len() as u32);
            }
            self.lives[lwp as usize] = Life::Waits(which, pc);
        }
        if let (Some(debug), true) = (&mut self.semaphores[which].debug, hits) {
            *debug = Debug { owner: user(lwp, pc), last: user(lwp, pc) };
        }
        self.event(which, operation, lwp, None);
        if self.word(which).try_acquire() {
            assert!(hits);
            return;
        }
        let World { arena, lines, lwps, .. } = self;
        let time = self.time;
        let result = arena.acquire(lines, lwps, self.tickets[which], || caller(lwp, pc), patience, || time);
        let expected = match operation {
            op::P_HIT => Acquire::Hit,
            op::P_SLEEP => Acquire::Queued,
            _ => Acquire::Missed,
        };
        assert_eq!(result, Ok(expected));
    }

    /// Takes the first waiter out of the model.
    fn hand_over(&mut self, which: usize) -> u32 {
        let (first, pc) = self.semaphores[which].queue.remove(0);
        let semaphore = &mut self.semaphores[which];
        semaphore.holder = semaphore.recursion.then_some((first, 1));
        if let Some(debug) = &mut semaphore.debug {
            debug.owner = user(first, pc);
        }
        self.lives[first as usize] = Life::Granted(which, pc);
        first
    }

    fn release(&mut self, lwp: u32, which: usize) {
        let pc = self.time;
        let expected = self.model_release(lwp, which, pc);
        if self.word(which).try_release() {
            assert_eq!(expected, Ok(None));
            return;
        }
        let World { arena, lines, lwps, .. } = self;
        let time = self.time;
        let result = arena.release(lines, lwps, self.tickets[which], || caller(lwp, pc), || time);
        assert_eq!(result, expected.map(|woken| woken.map(Slot::new)));
    }

    fn model_release(&mut self, lwp: u32, which: usize, pc: u64) -> Result<Option<u32>, Errno> {
        let semaphore = &mut self.semaphores[which];
        if semaphore.recursion && semaphore.holder.is_none_or(|(holder, _)| holder != lwp) {
            return Err(Errno::EPERM);
        }
        let waiting = semaphore.queue.len();
        if let Some(meter) = &mut semaphore.meter {
            meter.releases += 1;
            meter.free_releases += u64::from(waiting == 0);
        }
        let mut woken = None;
        match &mut semaphore.holder {
            Some((_, depth)) if *depth > 1 => {
                *depth -= 1;
                if let Some(debug) = &mut semaphore.debug {
                    debug.last = user(lwp, pc);
                }
            }
            _ if waiting > 0 => {
                woken = Some(self.hand_over(which));
                if let Some(debug) = &mut self.semaphores[which].debug {
                    debug.last = user(lwp, pc);
                }
            }
            _ => {
                semaphore.count += 1;
                semaphore.holder = None;
                let is_whole = semaphore.count >= semaphore.initial;
                if let Some(debug) = &mut semaphore.debug {
                    debug.last = user(lwp, pc);
                    if is_whole || debug.owner.is_some_and(|owner| owner.pid == pid(lwp)) {
                        debug.owner = None;
                    }
                }
            }
        }
        self.event(which, if woken.is_some() { op::V_WAKE } else { op::V_NO_WAIT }, lwp, woken);
        Ok(woken)
    }

    fn run(&mut self, lwp: u32) {
        let Life::Granted(which, pc) = self.lives[lwp as usize] else { return };
        assert_eq!(self.lwps.0[lwp as usize].fate(), Fate::Granted);
        self.lives[lwp as usize] = Life::Runs;
        if let Some(debug) = &mut self.semaphores[which].debug {
            debug.last = user(lwp, pc);
        }
        self.event(which, op::P_WOKE, lwp, None);
        let World { arena, lines, lwps, .. } = self;
        arena.woke(lines, lwps, self.tickets[which], &caller(lwp, pc), || 0);
    }

    fn give_up(&mut self, lwp: u32, why: Withdrawal) {
        match self.lives[lwp as usize] {
            Life::Runs => {}
            Life::Waits(which, pc) => {
                self.semaphores[which].queue.retain(|&(other, _)| other != lwp);
                self.lives[lwp as usize] = Life::Runs;
                if why == Withdrawal::TimedOut {
                    self.event(which, op::P_TIMEOUT, lwp, None);
                }
                let World { arena, lines, lwps, .. } = self;
                assert!(arena.withdraw(lines, lwps, self.tickets[which], &caller(lwp, pc), why, || 0));
            }
            Life::Granted(which, pc) => {
                let World { arena, lines, lwps, .. } = self;
                assert!(!arena.withdraw(lines, lwps, self.tickets[which], &caller(lwp, pc), why, || 0));
                match why {
                    Withdrawal::TimedOut => self.run(lwp),
                    Withdrawal::Killed => self.pass_on(lwp, which),
                }
            }
        }
    }

    /// The LWP ends with a token that has not arrived.
    fn pass_on(&mut self, lwp: u32, which: usize) {
        self.lives[lwp as usize] = Life::Runs;
        let semaphore = &self.semaphores[which];
        let is_stray = semaphore.recursion && semaphore.holder.is_none_or(|(holder, _)| holder != lwp);
        let woken = if is_stray {
            None // recursion began while a second token was out: there is one only from then on
        } else if semaphore.queue.is_empty() {
            let semaphore = &mut self.semaphores[which];
            semaphore.count += 1;
            semaphore.holder = None;
            if let Some(meter) = &mut semaphore.meter
                && meter.free_releases < meter.releases
            {
                meter.free_releases += 1;
            }
            if let Some(debug) = &mut semaphore.debug {
                debug.owner = None;
            }
            None
        } else {
            Some(self.hand_over(which))
        };
        let World { arena, lines, lwps, .. } = self;
        let result = arena.pass_on(lines, lwps, self.tickets[which], tid(lwp), Got::Later, || 0);
        assert_eq!(result, woken.map(Slot::new));
    }

    fn meter(&mut self, which: usize, switch: Switch) {
        let (ticket, semaphore) = (self.tickets[which], &mut self.semaphores[which]);
        let fresh = Counts { most_waiting: semaphore.queue.len() as u32, ..Counts::default() };
        match switch {
            Switch::On => {
                semaphore.meter.get_or_insert(fresh);
                self.arena.meter_on(&self.lines, ticket, Box::new(Meter::new(0, 0))).unwrap();
            }
            Switch::Off => {
                semaphore.meter = None;
                self.arena.meter_off(ticket);
            }
            Switch::Reset => {
                semaphore.meter = semaphore.meter.map(|_| fresh);
                self.arena.meter_reset(&self.lines, ticket);
            }
        }
    }

    fn debug(&mut self, which: usize, switch: Switch) {
        let (ticket, debug) = (self.tickets[which], &mut self.semaphores[which].debug);
        match switch {
            Switch::On => {
                debug.get_or_insert_default();
                self.arena.debug_on(&self.lines, ticket).unwrap();
            }
            Switch::Off => {
                *debug = None;
                self.arena.debug_off(&self.lines, ticket);
            }
            Switch::Reset => {
                *debug = debug.map(|_| Debug::default());
                self.arena.debug_reset(ticket);
            }
        }
    }

    fn recursion(&mut self, which: usize, is_on: bool) {
        let semaphore = &mut self.semaphores[which];
        let is_free = semaphore.initial == 1 && semaphore.count == 1;
        let expected = if semaphore.recursion == is_on || is_free { Ok(()) } else { Err(Errno::EINVAL) };
        if expected.is_ok() {
            semaphore.recursion = is_on;
        }
        assert_eq!(self.arena.set_recursion(&self.lines, self.tickets[which], is_on), expected);
    }

    fn step(&mut self, step: Step) {
        self.time += 1;
        let runs = |world: &World, lwp: u32| world.lives[lwp as usize] == Life::Runs;
        match step {
            Step::Acquire(lwp, which, patience) if runs(self, lwp) => self.acquire(lwp, which, patience),
            Step::Release(lwp, which) if runs(self, lwp) => self.release(lwp, which),
            Step::Acquire(..) | Step::Release(..) => {}
            Step::Run(lwp) => self.run(lwp),
            Step::TimeOut(lwp) => self.give_up(lwp, Withdrawal::TimedOut),
            Step::Kill(lwp) => self.give_up(lwp, Withdrawal::Killed),
            Step::Meter(which, switch) => self.meter(which, switch),
            Step::Debug(which, switch) => self.debug(which, switch),
            Step::History(which, is_on) => {
                self.semaphores[which].history = is_on;
                self.arena.keep_history(&self.lines, self.tickets[which], is_on);
            }
            Step::ArenaHistory(is_on) => {
                self.history_is_on = is_on;
                self.arena.switch_history(is_on);
                assert_eq!(self.arena.adapt(&self.lines, 0, 100), None);
            }
            Step::Recursion(which, is_on) => self.recursion(which, is_on),
        }
    }

    fn compare(&self) {
        for (which, semaphore) in self.semaphores.iter().enumerate() {
            let ticket = self.tickets[which];
            assert_eq!(self.arena.test(&self.lines, ticket), semaphore.test());
            assert_eq!(self.arena.debug(ticket).ok(), semaphore.debug);
            let reading = self.arena.reading(&self.lines, ticket).ok();
            let counts = reading.as_ref().map(|reading| Counts {
                hits: reading.hits,
                acquires: reading.acquires,
                free_releases: reading.free_releases,
                releases: reading.releases,
                most_waiting: reading.most_waiting,
            });
            assert_eq!(counts, semaphore.meter);
            if let Some(reading) = reading {
                assert_eq!(reading.waiting, semaphore.queue.len() as u32);
                assert_eq!(i64::from(reading.tokens), semaphore.count);
                assert!(reading.hits <= reading.acquires && reading.free_releases <= reading.releases);
                assert!(reading.waiting <= reading.most_waiting);
            }
        }
        let keeps_debug = self.semaphores.iter().any(|semaphore| semaphore.debug.is_some());
        assert_eq!(self.arena.keeps_wakes(), keeps_debug || self.history_is_on);
        let history = self.arena.history();
        let events: Vec<Event> =
            history.extent().positions.map(|at| self.told(history.record(at).unwrap())).collect();
        assert_eq!(events, self.events);
    }

    fn told(&self, record: &Record) -> Event {
        let which = self.places.iter().position(|&line| line == record.line).unwrap();
        let lwp = record.tid - 10;
        assert_eq!(record.pid, pid(lwp));
        let woken = (record.woken != (0, 0)).then(|| record.woken.1 - 10);
        assert_eq!(record.woken.0, woken.map_or(0, pid));
        (which, record.operation, record.count, lwp, woken)
    }
}

proptest! {
    #[test]
    fn semaphores_do_what_the_model_does(initial in [0..3u32, 1..2u32], steps in prop::collection::vec(step(), 0..300)) {
        let mut world = World::new(initial);
        for step in steps {
            world.step(step);
            world.compare();
        }
    }
}
