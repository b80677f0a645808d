//! Bringing up the other CPUs, one after the other, and checking that their clocks agree.

use super::{COUNT, CPUS, Cpu, Here};
use crate::arch::{self, Machine, clock_fenced};
use crate::mm::heap::try_box;
use crate::mm::kernel_space;
use crate::mm::stacks::KernelStack;
use crate::{pset, sched, time};
use alloc::boxed::Box;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use syscalls::Errno;

/// How often two CPUs compare their clocks.
const COMPARISONS: u64 = 8;

/// The conversation of the boot CPU with one that comes up: a round's number, and the other's answer and clock in it.
pub(super) struct Greeting {
    round: AtomicU64,
    answered: AtomicU64,
    clock: AtomicU64,
}

impl Greeting {
    pub(super) const fn new() -> Self {
        Greeting { round: AtomicU64::new(0), answered: AtomicU64::new(0), clock: AtomicU64::new(0) }
    }
}

/// The round that lets the CPU go.
const LET_GO: u64 = u64::MAX;
/// How long an answer may take before it is given up: the host may be busy with other things.
const PATIENCE_NS: u64 = 5_000_000_000;

/// Starts every CPU of `machine` but this one, in `page`. One that does not answer, or whose clock disagrees, is left out
/// with a line in the log.
pub(crate) fn start_others(machine: &Machine, page: u64) {
    let own = arch::own_apic_id();
    let others = || machine.cpus[..machine.cpu_count].iter().copied().filter(move |&id| id != own);
    if others().next().is_none() {
        return;
    }
    // SAFETY: the page was kept for this.
    unsafe { arch::prepare_start_page(page) };
    others().for_each(arch::reset);
    pause(10_000_000);
    for apic_id in others() {
        match start_one(apic_id, page) {
            Ok(number) => log::info!("CPU {number} is up (APIC id {apic_id})"),
            Err(why) => log::error!("the CPU with APIC id {apic_id} stays out: {why}"),
        }
    }
}

fn start_one(apic_id: u8, page: u64) -> Result<u32, &'static str> {
    let number = super::count();
    let cpu = make(number, apic_id).map_err(Errno::text)?;
    let stack_top = KernelStack::new().map_err(Errno::text)?.keep();
    CPUS[number as usize].store(core::ptr::from_ref(cpu).cast_mut(), SeqCst);
    for wait_ns in [200_000, PATIENCE_NS] {
        arch::wake(apic_id, page, kernel_space::root_address(), stack_top, &cpu.area);
        if wait_until(wait_ns, || cpu.is_online()) {
            break;
        }
    }
    let checked = if cpu.is_online() { compare_clocks(&cpu.greeting) } else { Err("it does not answer") };
    match checked {
        Ok(()) => {
            COUNT.store(number + 1, SeqCst);
            pset::add_cpu(number);
        }
        Err(_) => CPUS[number as usize].store(core::ptr::null_mut(), SeqCst),
    }
    // A CPU whose clock disagrees is never let go, and waits for ever.
    checked.map(|()| {
        cpu.greeting.round.store(LET_GO, SeqCst);
        number
    })
}

fn make(number: u32, apic_id: u8) -> Result<&'static Cpu, Errno> {
    let cpu: &'static Cpu = Box::leak(try_box(Cpu::new())?);
    cpu.area.set_this();
    cpu.area.set_exception_stacks(super::new_exception_stacks()?);
    cpu.id.store(number, SeqCst);
    cpu.apic_id.store(u32::from(apic_id), SeqCst);
    sched::reserve_alarms_on(cpu)?;
    Ok(cpu)
}

/// Waits, asleep in between, until something holds; false where it does not in time.
fn wait_until(nanoseconds: u64, holds: impl Fn() -> bool) -> bool {
    let deadline = arch::clock() + time::ticks_at(nanoseconds);
    while arch::clock() < deadline {
        if holds() {
            return true;
        }
        pause(50_000);
    }
    false
}

/// In every round the other CPU reads its clock between two readings of this one's. Where it reads an earlier or later
/// time than that, figures read on one CPU could fall behind those read on another.
fn compare_clocks(greeting: &Greeting) -> Result<(), &'static str> {
    for round in 1..=COMPARISONS {
        let before = clock_fenced();
        greeting.round.store(round, SeqCst);
        while greeting.answered.load(SeqCst) != round {
            if arch::clock() > before + time::ticks_at(PATIENCE_NS) {
                return Err("it stopped answering");
            }
            core::hint::spin_loop();
        }
        let after = clock_fenced();
        if !(before..=after).contains(&greeting.clock.load(SeqCst)) {
            return Err("its time-stamp counter is not in step with the boot CPU's");
        }
    }
    Ok(())
}

/// Sleeps for a while, before there are LWPs.
fn pause(nanoseconds: u64) {
    let deadline = arch::clock() + time::ticks_at(nanoseconds);
    while arch::clock() < deadline {
        arch::set_timer(deadline.saturating_sub(arch::clock()));
        arch::wait_for_interrupt();
    }
}

/// Where another CPU arrives, on its own stack.
#[unsafe(no_mangle)]
extern "sysv64" fn ap_rust(area: &'static arch::CpuArea) -> ! {
    arch::start_other_cpu(area);
    let here = Here::get();
    here.ledger.start(arch::clock);
    here.online.store(true, SeqCst);
    let mut seen = 0;
    while seen != LET_GO {
        let round = here.greeting.round.load(SeqCst);
        if round != seen && round != LET_GO {
            here.greeting.clock.store(clock_fenced(), SeqCst);
            here.greeting.answered.store(round, SeqCst);
        }
        seen = round;
        core::hint::spin_loop();
    }
    sched::idle_for_ever()
}
