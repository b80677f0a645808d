//! Single laws and errors by name.

use super::super::laws::{self, Broken};
use super::super::*;

fn usage(user: u64, system: u64) -> Usage {
    Usage { user, system }
}

#[test]
fn each_ledger_is_one_cache_line() {
    assert_eq!((size_of::<CpuLedger>(), align_of::<CpuLedger>()), (64, 64));
    assert_eq!((size_of::<LwpLedger>(), align_of::<LwpLedger>()), (64, 64));
}

#[test]
fn a_cpu_that_has_not_come_up_reads_zero() {
    assert_eq!(read_cpu(&CpuLedger::new(), || 1_000_000), CpuTicks::default());
}

/// Law 6.
#[test]
fn a_fresh_lwp_starts_at_zero_in_a_ledger_that_was_used() {
    let (cpu, lwp) = (CpuLedger::new(), LwpLedger::new());
    cpu.start(|| 0);
    lwp.begin(1, OffCpu::Runnable, || 5);
    switch(&cpu, 0, None, Some(&lwp), || 10);
    switch(&cpu, 0, Some((&lwp, OffCpu::Ended)), None, || 30);
    assert_eq!(read_lwp(&lwp, 1, |_| &cpu, || 40), None);
    assert_eq!(read_any(&lwp, 1, |_| &cpu, || 40).unwrap().1.usage(), usage(0, 20));
    assert_eq!(lwp.retire(), usage(0, 20));
    lwp.begin(2, OffCpu::Runnable, || 50);
    assert_eq!(read_lwp(&lwp, 1, |_| &cpu, || 50), None);
    assert_eq!(read_lwp(&lwp, 2, |_| &cpu, || 50), Some(Microstates::default()));
}

/// K09: elapsed time is not CPU time.
#[test]
fn k09_sleeping_costs_nothing() {
    let (cpu, lwp) = (CpuLedger::new(), LwpLedger::new());
    cpu.start(|| 0);
    lwp.begin(1, OffCpu::Runnable, || 0);
    switch(&cpu, 0, None, Some(&lwp), || 0);
    switch(&cpu, 0, Some((&lwp, OffCpu::Sleeping)), None, || 3);
    let asleep = read_lwp(&lwp, 1, |_| &cpu, || 1_000_000).unwrap();
    assert_eq!((asleep.usage(), asleep.sleeping), (usage(0, 3), 999_997));
    assert_eq!(read_cpu(&cpu, || 1_000_000).idle, 999_997);
}

/// K11: ten thousand interrupts, and the LWP's user time is what it ran between them.
#[test]
fn k11_interrupts_are_not_the_lwps_time() {
    let (cpu, lwp) = (CpuLedger::new(), LwpLedger::new());
    cpu.start(|| 0);
    lwp.begin(1, OffCpu::Runnable, || 0);
    switch(&cpu, 0, None, Some(&lwp), || 0);
    cpu.enter_user(|| 0);
    for turn in 0..10_000 {
        let interrupted = cpu.enter_irq(|| turn * 100 + 70);
        assert_eq!(interrupted, CpuState::User);
        cpu.leave_irq(interrupted, || turn * 100 + 100);
    }
    let times = read_lwp(&lwp, 1, |_| &cpu, || 1_000_000).unwrap();
    assert_eq!((times.user, times.system, times.runnable), (700_000, 0, 300_000));
    assert_eq!(read_cpu(&cpu, || 1_000_000).irq, 300_000);
}

/// K10: a child counts once, at the wait, with all that it had waited for.
#[test]
fn k10_children_count_when_waited_for_and_once() {
    let (mut parent, mut child, mut grandchild) =
        (ProcessLedger::new(), ProcessLedger::new(), ProcessLedger::new());
    grandchild.add_ended(usage(1, 2));
    child.add_ended(usage(10, 20));
    child.add_child(&grandchild);
    assert_eq!(parent.children(), usage(0, 0));
    parent.add_child(&child);
    assert_eq!(parent.children(), usage(11, 22));
    assert_eq!(parent.own([usage(5, 6)]), usage(5, 6));
    assert_eq!(child.own([]), usage(10, 20));
}

#[test]
fn totals_stand_still_rather_than_fall() {
    let mut machine = MachineLedger::new();
    machine.add_ended(usage(u64::MAX - 1, 0));
    machine.add_ended(usage(5, 7));
    assert_eq!(machine.lwps([usage(1, 1)]), usage(u64::MAX, 8));
    assert_eq!(usage(u64::MAX, 8).total(), u64::MAX);
}

#[test]
fn a_broken_law_is_named() {
    let cpu = CpuTicks { user: 1, system: 2, irq: 3, idle: 4, up: 10 };
    assert_eq!(laws::one(&cpu), Ok(()));
    let short = CpuTicks { idle: 3, ..cpu };
    assert_eq!(laws::one(&short), Err(Broken::One(short)));
    let wrapped = CpuTicks { user: u64::MAX, system: 2, irq: 3, idle: 4, up: 8 };
    assert_eq!(laws::one(&wrapped), Err(Broken::One(wrapped)));

    let lwp = Microstates { user: 1, system: 2, runnable: 3, sleeping: 4, stopped: 5, lifetime: 15 };
    assert_eq!(laws::two(&lwp), Ok(()));
    let long = Microstates { lifetime: 16, ..lwp };
    assert_eq!(laws::two(&long), Err(Broken::Two(long)));

    assert_eq!(laws::three(usage(2, 4), [cpu, cpu]), Ok(()));
    let (lwps, cpus) = (usage(2, 5), usage(2, 4));
    assert_eq!(laws::three(lwps, [cpu, cpu]), Err(Broken::Three { lwps, cpus }));

    assert_eq!(laws::four(3, 3), Ok(()));
    let fell = laws::four(3, 2).unwrap_err();
    assert_eq!(fell, Broken::Four { before: 3, after: 2 });
    assert!(fell.to_string().contains("law 4") && fell.to_string().contains("from 3 to 2"));
}
