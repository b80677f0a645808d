//! Single laws.

use super::super::*;
use super::{Lines, Lwps, rate};
use crate::list::Slot;
use syscalls::Errno;
use syscalls::sema::MOST_TOKENS;

const ME: Caller = Caller { slot: Slot::new(0), pid: 1, tid: 1, pc: 0x40_0000 };
const OTHER: Caller = Caller { slot: Slot::new(1), pid: 2, tid: 2, pc: 0x50_0000 };

fn new_arena(size: u64) -> (Arena, Lines, Lwps) {
    (Arena::new(size, rate()).unwrap(), Lines::new((size / LINE) as u32), Lwps::new(4))
}

fn offset(line: u32) -> u64 {
    u64::from(line) * LINE
}

#[test]
fn a_full_arena_refuses_each_kind_of_memory_and_changes_nothing() {
    let (mut arena, lines, _) = new_arena(4096);
    let semaphore = arena.new_semaphore(&lines, 1, 1).unwrap();
    let ticket = arena.find(&lines, offset(semaphore)).unwrap();
    arena.allocate(&lines, 4096 - 64 - 16 - 64).unwrap();
    let place = arena.new_semaphore(&lines, 1, 2).unwrap();
    assert_eq!(arena.used(), arena.size());
    assert_eq!(arena.allocate(&lines, 0), Err(Errno::ENOMEM));
    assert_eq!(arena.new_semaphore(&lines, 1, 3), Err(Errno::ENOMEM));
    assert_eq!(arena.meter_on(&lines, ticket, Box::new(Meter::new(0, 0))), Err(Errno::ENOMEM));
    assert_eq!(arena.debug_on(&lines, ticket), Err(Errno::ENOMEM));
    assert_eq!(
        (arena.reading(&lines, ticket), arena.debug(ticket)),
        (Err(Errno::EINVAL), Err(Errno::EINVAL))
    );
    assert_eq!((arena.used(), arena.semaphores()), (arena.size(), 2));
    assert_ne!(place, semaphore);
}

#[test]
fn a_freed_place_is_used_last_and_by_a_semaphore_only() {
    let (mut arena, lines, _) = new_arena(4096);
    let first = arena.new_semaphore(&lines, 1, 1).unwrap();
    let ticket = arena.find(&lines, offset(first)).unwrap();
    arena.end(&lines, ticket);
    arena.bury(ticket);
    assert_eq!(arena.find(&lines, offset(first)), Err(Errno::EINVAL));
    assert_eq!(arena.give_back(&lines, offset(first) + 16), Err(Errno::EINVAL));
    for born in 2..65 {
        assert_ne!(arena.new_semaphore(&lines, 0, born).unwrap(), first);
    }
    assert_eq!(arena.new_semaphore(&lines, 7, 65), Ok(first));
    assert_eq!(arena.new_semaphore(&lines, 7, 66), Err(Errno::ENOMEM));
    let lwps = Lwps::new(1);
    let late = arena.release(&lines, &lwps, ticket, || ME, || 0);
    assert_eq!(late, Err(Errno::EINVAL), "an old ticket is not the new semaphore's");
}

#[test]
fn waiters_of_an_ended_semaphore_are_expelled_in_order() {
    let (mut arena, lines, lwps) = new_arena(4096);
    let line = arena.new_semaphore(&lines, 0, 1).unwrap();
    let ticket = arena.find(&lines, offset(line)).unwrap();
    for caller in [&ME, &OTHER] {
        assert_eq!(
            arena.acquire(&lines, &lwps, ticket, || *caller, Patience::Wait, || 0),
            Ok(Acquire::Queued)
        );
    }
    arena.end(&lines, ticket);
    assert_eq!(arena.expel(&lwps, ticket), Some(ME.slot));
    assert_eq!(lwps.waiter(ME.slot).fate(), Fate::Expelled);
    assert_eq!(arena.expel(&lwps, ticket), Some(OTHER.slot));
    assert_eq!(arena.expel(&lwps, ticket), None);
    arena.begin_again(&lines, ticket, 3, 2);
    let again = arena.find(&lines, offset(line)).unwrap();
    assert_eq!(arena.test(&lines, again), 3);
}

#[test]
fn a_count_that_is_full_refuses_a_release_and_changes_nothing() {
    let (mut arena, lines, lwps) = new_arena(4096);
    let line = arena.new_semaphore(&lines, MOST_TOKENS, 1).unwrap();
    let ticket = arena.find(&lines, offset(line)).unwrap();
    arena.meter_on(&lines, ticket, Box::new(Meter::new(0, 0))).unwrap();
    assert!(!lines.head(line).word().try_release());
    assert_eq!(arena.release(&lines, &lwps, ticket, || ME, || 0), Err(Errno::EOVERFLOW));
    assert_eq!(arena.test(&lines, ticket), i32::MAX);
    assert_eq!(arena.reading(&lines, ticket).unwrap().releases, 0);
}

#[test]
fn waits_are_summed_and_sorted_by_length() {
    let (mut arena, lines, lwps) = new_arena(4096);
    let line = arena.new_semaphore(&lines, 0, 1).unwrap();
    let ticket = arena.find(&lines, offset(line)).unwrap();
    arena.meter_on(&lines, ticket, Box::new(Meter::new(0, 0))).unwrap();
    for (from, to) in [(10, 10), (20, 21), (30, 33), (100, 164), (1, u64::MAX)] {
        let queued = arena.acquire(&lines, &lwps, ticket, || ME, Patience::Wait, || from);
        assert_eq!(queued, Ok(Acquire::Queued));
        assert_eq!(arena.release(&lines, &lwps, ticket, || OTHER, || to), Ok(Some(ME.slot)));
    }
    let (_, waits) = arena.waits(&lines, ticket).unwrap();
    assert_eq!((waits.longest, waits.count), (u64::MAX - 1, 5));
    assert_eq!((waits.buckets[0], waits.buckets[1], waits.buckets[6], waits.buckets[31]), (2, 1, 1, 1));
    assert_eq!(waits.total, u64::MAX, "sums stop at the top");
}

/// Whatever a program writes into the shared words, the kernel's own state stays sound.
#[test]
fn hostile_words_change_counts_and_nothing_else() {
    let (mut arena, lines, lwps) = new_arena(4096);
    let line = arena.new_semaphore(&lines, 1, 1).unwrap();
    let ticket = arena.find(&lines, offset(line)).unwrap();
    arena.meter_on(&lines, ticket, Box::new(Meter::new(0, 0))).unwrap();
    for bits in [0, u64::MAX, 1 << 63, 0x7fff_ffff_ffff_ffff, 0xc000_0000_0000_0000, 0x8000_0000] {
        lines.head(line).word().scribble(bits);
        let _ = arena.reading(&lines, ticket).unwrap();
        let _ = arena.acquire(&lines, &lwps, ticket, || ME, Patience::None, || 0).unwrap();
        assert!(arena.test(&lines, ticket) >= 0);
    }
}

#[test]
fn hostile_hints_lead_nowhere() {
    let (mut arena, lines, _) = new_arena(4096);
    let line = arena.new_semaphore(&lines, 1, 1).unwrap();
    let block = arena.allocate(&lines, 100).unwrap();
    let free = 40;
    for hint in [0, 1, 2, 3, u32::MAX, 1 << 31, (1 << 31) + 1] {
        lines.head(free).set_hint(hint);
        assert_eq!(arena.find(&lines, offset(free)), Err(Errno::EINVAL));
        assert_eq!(arena.give_back(&lines, offset(free) + 16), Err(Errno::EINVAL));
        lines.head(line).set_hint(hint);
        assert_eq!(arena.give_back(&lines, offset(line) + 16), Err(Errno::EINVAL));
    }
    assert_eq!(arena.give_back(&lines, block), Ok(()));
}
