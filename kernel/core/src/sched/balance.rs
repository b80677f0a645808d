//! On which CPU an LWP waits: decided when it wakes, when its slice ends, and when a CPU has nothing to do.
//!
//! **Problem.** Each CPU has a run queue of its own, and yet no CPU is to idle while an LWP waits elsewhere, and n equal
//! LWPs on m CPUs are each to get m/n of one, also where m does not divide n. **Answer.** A woken LWP goes to an idle
//! CPU, or to one that runs an LWP of lower priority; a CPU that becomes idle takes from the longest queue; and an LWP whose slice ends goes to the back of the
//! shortest queue, *another* CPU's where that is no longer than its own. The last rule makes the odd LWP wander: three on
//! two CPUs wait in turn, whichever CPU is full, instead of two sharing one for good. **Tried and refused:** one queue
//! for all, which is fair by itself, but has every CPU wait for one lock.

use super::Priority;
use crate::bits::ones;

/// CPUs, as a set of numbers below 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuSet(pub u64);

impl CpuSet {
    /// The CPUs below `count`, which is at most 64.
    #[must_use]
    pub const fn first(count: u32) -> CpuSet {
        CpuSet(if count >= 64 { u64::MAX } else { (1 << count) - 1 })
    }

    /// Whether it has `cpu`.
    #[inline]
    #[must_use]
    pub const fn has(self, cpu: u32) -> bool {
        cpu < 64 && self.0 >> cpu & 1 != 0
    }

    /// What both have.
    #[inline]
    #[must_use]
    pub const fn and(self, other: CpuSet) -> CpuSet {
        CpuSet(self.0 & other.0)
    }

    /// The same with `cpu`, which is below 64.
    #[must_use]
    pub const fn with(self, cpu: u32) -> CpuSet {
        CpuSet(self.0 | 1 << cpu)
    }

    /// The same without `cpu`.
    #[must_use]
    pub const fn without(self, cpu: u32) -> CpuSet {
        CpuSet(self.0 & !(1 << cpu))
    }

    /// The lowest CPU.
    #[inline]
    #[must_use]
    pub const fn lowest(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros()) }
    }

    /// Whether it has none.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many it has.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Its CPUs, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = u32> + Clone {
        ones(self.0)
    }

    /// Its CPUs, beginning after `cpu` and coming around to it last.
    pub fn after(self, cpu: u32) -> impl Iterator<Item = u32> {
        let above = self.0 & (u64::MAX << (cpu % 64) << 1);
        ones(above).chain(ones(self.0 & !above))
    }
}

/// Where an LWP of priority `own` that becomes runnable waits: where it was if that CPU is idle, on any idle CPU, on the one
/// that runs the lowest priority below its own, or where it was. `running` tells at which priority a CPU runs; `allowed` is
/// not empty.
#[inline(always)]
#[must_use]
pub fn place_woken(
    last: u32,
    allowed: CpuSet,
    idle: CpuSet,
    own: Priority,
    running: impl Fn(u32) -> Priority,
) -> u32 {
    let only_last = allowed == CpuSet(0).with(last);
    let free = allowed.and(idle);
    if only_last || free.has(last) {
        return last;
    }
    if let Some(cpu) = free.lowest() {
        return cpu;
    }
    let may_stay = allowed.has(last);
    if may_stay && running(last) < own {
        return last;
    }
    let weakest = allowed.after(last).min_by_key(|&cpu| running(cpu));
    let elsewhere = if may_stay { last } else { allowed.lowest().unwrap_or(last) };
    weakest.filter(|&cpu| running(cpu) < own).unwrap_or(elsewhere)
}

/// Where an LWP waits whose slice has ended on `own`: the least loaded of the allowed CPUs, another one where that is
/// no worse. `load` counts who runs and waits on a CPU, without this LWP.
#[must_use]
pub fn place_after_slice(own: u32, allowed: CpuSet, load: impl Fn(u32) -> u32) -> u32 {
    allowed.after(own).min_by_key(|&cpu| load(cpu)).unwrap_or(own)
}

/// From whom an idle CPU takes: the CPU where most wait, if any do.
#[must_use]
pub fn victim(own: u32, cpus: CpuSet, waiting: impl Fn(u32) -> u32) -> Option<u32> {
    let others = cpus.after(own).filter(|&cpu| cpu != own && waiting(cpu) > 0);
    others.max_by_key(|&cpu| waiting(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(cpus: CpuSet) -> Vec<u32> {
        (0..64).filter(|&cpu| cpus.0 >> cpu & 1 != 0).collect()
    }

    /// Sets of many sizes.
    fn any_cpus() -> impl Strategy<Value = CpuSet> {
        (any::<u64>(), any::<u64>(), 0..64u32).prop_map(|(a, b, shift)| CpuSet((a & b) >> shift))
    }

    proptest! {
        #[test]
        fn sets_are_sets(a in any_cpus(), b in any_cpus(), cpu in 0..64u32) {
            let (in_a, in_b) = (numbers(a), numbers(b));
            let both: Vec<u32> = in_a.iter().copied().filter(|cpu| in_b.contains(cpu)).collect();
            prop_assert_eq!(numbers(a.and(b)), both);
            prop_assert_eq!(a.has(cpu), in_a.contains(&cpu));
            prop_assert_eq!(a.lowest(), in_a.first().copied());
            prop_assert!(!a.without(cpu).has(cpu) && !a.has(64 + cpu));
            let (before, behind): (Vec<u32>, Vec<u32>) = in_a.iter().partition(|&&other| other <= cpu);
            prop_assert_eq!(a.after(cpu).collect::<Vec<_>>(), [behind, before].concat());
        }

        /// The woken wait where they may; where no CPU that they may use idles, they go where they run at once, and to the
        /// lowest; and they do not move without need.
        #[test]
        fn the_woken_go_to_idle_cpus_first(
            last in 0..64u32, allowed in any_cpus(), idle in any_cpus(), own in 0..4u8,
            priorities in prop::collection::vec(0..4u8, 64),
        ) {
            prop_assume!(allowed != CpuSet(0));
            let running = |cpu: u32| Priority::new(priorities[cpu as usize]);
            let own = Priority::new(own);
            let chosen = place_woken(last, allowed, idle, own, running);
            prop_assert!(allowed.has(chosen));
            let free = numbers(allowed.and(idle));
            let lower: Vec<u32> = numbers(allowed).into_iter().filter(|&cpu| running(cpu) < own).collect();
            let good = if free.is_empty() { &lower } else { &free };
            prop_assert!(good.is_empty() || good.contains(&chosen));
            let may_stay = if good.is_empty() { allowed.has(last) } else { good.contains(&last) };
            prop_assert!(!may_stay || chosen == last, "without need from {} to {}", last, chosen);
            let lowest = lower.iter().map(|&cpu| running(cpu)).min();
            prop_assert!(!free.is_empty() || may_stay || lowest.is_none_or(|lowest| running(chosen) == lowest));
        }

        /// Nobody is sent to a longer queue than there need be, nor back where another is as short.
        #[test]
        fn loads_are_compared(own in 0..64u32, allowed in any_cpus(), loads in prop::collection::vec(0..4u32, 64)) {
            let load = |cpu: u32| loads[cpu as usize];
            let least = numbers(allowed).into_iter().map(load).min();
            let chosen = place_after_slice(own, allowed, load);
            match least {
                None => prop_assert_eq!(chosen, own),
                Some(least) => {
                    prop_assert!(allowed.has(chosen) && load(chosen) == least);
                    let others = allowed.without(own);
                    let other_is_least = numbers(others).into_iter().any(|cpu| load(cpu) == least);
                    prop_assert!(chosen != own || !other_is_least);
                }
            }
            let most = numbers(allowed.without(own)).into_iter().map(load).max().filter(|&most| most > 0);
            let taken_from = victim(own, allowed, load);
            prop_assert_eq!(taken_from.map(load), most);
            prop_assert!(taken_from.is_none_or(|cpu| cpu != own && allowed.has(cpu)));
        }
    }

    #[test]
    fn the_woken_prefer_their_own_idle_cpu_then_any_idle_one() {
        let all = CpuSet::first(4);
        let place = |last, allowed, idle| {
            place_woken(last, allowed, CpuSet(idle), Priority::new(9), |_| Priority::new(9))
        };
        assert_eq!(place(2, all, 0b1100), 2);
        assert_eq!(place(2, all, 0b1010), 1);
        assert_eq!(place(2, all, 0), 2);
        assert_eq!(place(2, CpuSet(0b0010), 0b1101), 1, "never where it may not run");
    }

    #[test]
    fn the_woken_take_the_cpu_of_the_lowest_below_them() {
        let all = CpuSet::first(4);
        let running = |cpu: u32| Priority::new([5, 3, 9, 4][cpu as usize]);
        let place = |last, allowed, own| place_woken(last, allowed, CpuSet(0), Priority::new(own), running);
        assert_eq!(place(2, all, 9), 1);
        assert_eq!(place(2, CpuSet(0b1101), 9), 3);
        assert_eq!(place(0, all, 9), 0, "its own is good enough");
        assert_eq!(place(2, all, 3), 2, "nobody runs below it");
        assert_eq!(place(2, CpuSet(0b0011), 3), 0, "nobody runs below it where it may run");
    }

    #[test]
    fn all_come_in_turn_beginning_after_one() {
        let after = |set, cpu| CpuSet(set).after(cpu).collect::<Vec<u32>>();
        assert_eq!(after(0b1101, 2), [3, 0, 2]);
        assert_eq!(after(0b1101, 1), [2, 3, 0]);
        assert_eq!(after(1 << 63 | 1, 63), [0, 63]);
        assert_eq!(after(1 << 63 | 1, 0), [63, 0]);
        assert_eq!(after(0, 5), []);
        assert_eq!(CpuSet(1 << 63 | 0b101).iter().collect::<Vec<u32>>(), [0, 2, 63]);
        assert_eq!(CpuSet(0).iter().count(), 0);
    }

    #[test]
    fn a_slice_that_ends_moves_on_where_nobody_is_worse_off() {
        let all = CpuSet::first(2);
        assert_eq!(place_after_slice(0, all, |_| 1), 1);
        assert_eq!(place_after_slice(0, all, |cpu| [1, 2][cpu as usize]), 0);
        assert_eq!(place_after_slice(1, CpuSet(0b10), |_| 5), 1);
    }

    #[test]
    fn an_idle_cpu_takes_from_the_longest_queue() {
        let queues = [0, 3, 1, 0];
        let waiting = |cpu: u32| queues[cpu as usize];
        assert_eq!(victim(0, CpuSet::first(4), waiting), Some(1));
        assert_eq!(victim(1, CpuSet::first(4), waiting), Some(2), "not from itself");
        assert_eq!(victim(0, CpuSet(0b1001), waiting), None, "not from outside");
    }

    /// n spinners on m CPUs in steps of a slice: each gets m/n, within one slice in a hundred.
    #[test]
    #[cfg_attr(miri, ignore = "takes long")]
    fn spinners_share_all_cpus_evenly() {
        for (lwps, cpus) in [(3usize, 2usize), (4, 3), (5, 2), (5, 4), (7, 3), (8, 4), (9, 8)] {
            let mut queues: Vec<Vec<usize>> =
                (0..cpus).map(|cpu| (cpu..lwps).step_by(cpus).collect()).collect();
            let mut ran = vec![0u32; lwps];
            let steps = 1000 * lwps;
            for _ in 0..steps {
                for queue in &queues {
                    queue.first().into_iter().for_each(|&lwp| ran[lwp] += 1);
                }
                for cpu in 0..cpus {
                    if queues[cpu].len() > 1 {
                        let lwp = queues[cpu].remove(0);
                        let load = |cpu: u32| queues[cpu as usize].len() as u32;
                        let to = place_after_slice(cpu as u32, CpuSet::first(cpus as u32), load);
                        queues[to as usize].push(lwp);
                    }
                }
            }
            let fair = (steps * cpus / lwps) as f64;
            for share in ran {
                assert!((f64::from(share) / fair - 1.0).abs() < 0.01, "{lwps} on {cpus}: {share} of {fair}");
            }
        }
    }
}
