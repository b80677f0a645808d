//! Real threads: one plays a CPU that switches and crosses as fast as it can, the others read.
//!
//! Miri lets a thread see old values however late it is by the host's clock, which orders no loads there as `lfence; rdtsc`
//! does on the machine: under it the clock is a counter whose readings are ordered, as under loom.

use super::super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// K06: read from another CPU, figures never fall, close exactly, and never exceed the clock.
#[test]
fn k06_readings_from_other_threads_are_whole_and_never_fall() {
    let origin = Instant::now();
    let ticks = AtomicU64::new(1);
    let clock = || match cfg!(miri) {
        true => ticks.fetch_add(1, Ordering::AcqRel),
        false => origin.elapsed().as_nanos() as u64,
    };
    let (cpu, lwps) = (CpuLedger::new(), [LwpLedger::new(), LwpLedger::new()]);
    cpu.start(clock);
    lwps[0].begin(1, OffCpu::Runnable, clock);
    lwps[1].begin(2, OffCpu::Runnable, clock);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| run(&cpu, &lwps, clock, &stop));
        let readers = [0, 1].map(|index: usize| {
            let (lwp, cpu) = (&lwps[index], &cpu);
            scope.spawn(move || read(lwp, index as u32 + 1, cpu, clock))
        });
        let readings = readers.map(|reader| reader.join());
        stop.store(true, Ordering::Relaxed);
        for outcome in readings {
            outcome.unwrap();
        }
    });
    assert_eq!(
        lwps.each_ref().map(|lwp| lwp.state()).map(|state| matches!(state, LwpState::OnCpu(_))),
        [false; 2]
    );
    let used =
        lwps.iter().zip(1..).map(|(lwp, tid)| read_lwp(lwp, tid, |_| &cpu, clock).unwrap().usage()).sum();
    laws::three(used, [read_cpu(&cpu, clock)]).unwrap();
}

fn run(cpu: &CpuLedger, lwps: &[LwpLedger; 2], clock: impl Fn() -> u64 + Copy, stop: &AtomicBool) {
    let [one, other] = lwps;
    while !stop.load(Ordering::Relaxed) {
        switch(cpu, 0, None, Some(one), clock);
        cpu.enter_user(clock);
        let interrupted = cpu.enter_irq(clock);
        cpu.leave_irq(interrupted, clock);
        cpu.enter_system(clock);
        switch(cpu, 0, Some((one, OffCpu::Sleeping)), Some(other), clock);
        cpu.enter_user(clock);
        assert_eq!(cpu.enter_irq(clock), CpuState::User);
        cpu.irq_to_system(clock);
        switch(cpu, 0, Some((other, OffCpu::Runnable)), None, clock);
        one.wake(clock);
    }
}

/// Reads for a while and often enough, however busy the host is, comparing each reading with the one before.
fn read(lwp: &LwpLedger, tid: u32, cpu: &CpuLedger, clock: impl Fn() -> u64 + Copy) {
    let (mut last, mut last_cpu) = (Microstates::default(), CpuTicks::default());
    let begin = Instant::now();
    let mut readings = 0;
    let (least, while_for) = if cfg!(miri) { (100, 0) } else { (1000, 300) };
    while readings < least || begin.elapsed() < Duration::from_millis(while_for) {
        assert!(begin.elapsed() < Duration::from_secs(60), "{readings} readings in a minute");
        let times = read_lwp(lwp, tid, |_| cpu, clock).unwrap();
        laws::two(&times).unwrap();
        for (before, after) in figures(&last).into_iter().zip(figures(&times)) {
            laws::four(before, after).unwrap();
        }
        let ticks = read_cpu(cpu, clock);
        laws::one(&ticks).unwrap();
        let pairs = [(last_cpu.user, ticks.user), (last_cpu.system, ticks.system), (last_cpu.irq, ticks.irq)];
        for (before, after) in pairs.into_iter().chain([(last_cpu.idle, ticks.idle)]) {
            laws::four(before, after).unwrap();
        }
        assert!(ticks.up <= clock());
        (last, last_cpu) = (times, ticks);
        readings += 1;
    }
}

fn figures(times: &Microstates) -> [u64; 6] {
    [times.user, times.system, times.runnable, times.sleeping, times.stopped, times.lifetime]
}
