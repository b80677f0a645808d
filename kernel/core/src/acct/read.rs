//! Asking: about a CPU, about the LWP that asks, about any other.
//!
//! No reader writes anything or takes a lock. One that meets a writer tries again, with a `pause` between: a
//! writer's window is some twenty instructions long and its CPU takes no interrupt in it.

use super::cpu::{CpuLedger, CpuState, CpuTicks};
use super::lwp::{LwpLedger, LwpState, Microstates, OffCpu};
use super::sequence::Torn;
use super::totals::Usage;
use crate::sync::spin_loop;

/// The totals of a CPU, from any CPU. All zero for a CPU that has not come up.
pub fn read_cpu(cpu: &CpuLedger, clock: impl Fn() -> u64) -> CpuTicks {
    until_whole(|| {
        let window = cpu.sequence.look()?;
        let ticks = cpu.totals(clock());
        window.look_again()?;
        Ok(ticks)
    })
}

/// The calling LWP's own use, this call included up to the reading: for an LWP in the kernel, on its own CPU, with
/// interrupts off. Nobody else can be writing, so nothing is tried twice.
#[inline]
pub fn read_own(cpu: &CpuLedger, lwp: &LwpLedger, clock: impl FnOnce() -> u64) -> Usage {
    debug_assert_eq!(cpu.state(), CpuState::System, "an LWP that asks is in the kernel");
    debug_assert!(matches!(lwp.state(), LwpState::OnCpu(_)));
    let now = clock();
    let (user, system) = (cpu.account(CpuState::User).balance(), cpu.account(CpuState::System).balance());
    lwp.docked(user, system.wrapping_add(now))
}

/// The totals of LWP `tid`, whose ledger `lwp` was when the caller looked it up; from any CPU, up to this moment.
/// `None` where the ledger is another LWP's by now, or the LWP has ended.
pub fn read_lwp<'a>(
    lwp: &LwpLedger,
    tid: u32,
    cpu_ledger_of: impl Fn(u32) -> &'a CpuLedger,
    clock: impl Fn() -> u64,
) -> Option<Microstates> {
    let (state, totals) = read_any(lwp, tid, cpu_ledger_of, clock)?;
    (state != LwpState::Off(OffCpu::Ended)).then_some(totals)
}

/// The time that LWP `tid` used, as [`read_lwp`] tells it with all else: the part that is asked for most.
#[inline]
pub fn read_usage<'a>(
    lwp: &LwpLedger,
    tid: u32,
    cpu_ledger_of: impl Fn(u32) -> &'a CpuLedger,
    clock: impl Fn() -> u64,
) -> Option<Usage> {
    let Ok(window) = lwp.sequence.look() else {
        return read_lwp(lwp, tid, cpu_ledger_of, clock).map(|states| states.usage());
    };
    let (owner, state, used) = (lwp.tid(), lwp.state(), lwp.balances().usage());
    match (window.look_again(), state) {
        (Ok(()), LwpState::Off(state)) => (owner == tid && state != OffCpu::Ended).then_some(used),
        // On a CPU, or a writer was in the way: the long way.
        _ => read_lwp(lwp, tid, cpu_ledger_of, clock).map(|states| states.usage()),
    }
}

/// As [`read_lwp`], with the state, and for an LWP that has ended but whose ledger is not yet retired too: the sum
/// over a process needs it.
pub fn read_any<'a>(
    lwp: &LwpLedger,
    tid: u32,
    cpu_ledger_of: impl Fn(u32) -> &'a CpuLedger,
    clock: impl Fn() -> u64,
) -> Option<(LwpState, Microstates)> {
    until_whole(|| {
        let window = lwp.sequence.look()?;
        if lwp.tid() != tid {
            window.look_again()?;
            return Ok(None);
        }
        let state = lwp.state();
        let balances = lwp.balances();
        let totals = match state {
            LwpState::OnCpu(cpu) => with_slice(balances, cpu_ledger_of(cpu), &clock)?,
            LwpState::Off(state) => with_wait(balances, state, clock()),
        };
        window.look_again()?;
        Ok(Some((state, totals)))
    })
}

/// Tries again until no writer was in the way.
#[inline]
fn until_whole<T>(attempt: impl Fn() -> Result<T, Torn>) -> T {
    loop {
        match attempt() {
            Ok(whole) => return whole,
            Err(Torn) => spin_loop(),
        }
    }
}

/// The totals of an LWP that is docked at `cpu`, from its balances.
#[inline]
fn with_slice(balances: Microstates, cpu: &CpuLedger, clock: &impl Fn() -> u64) -> Result<Microstates, Torn> {
    let window = cpu.sequence.look()?;
    let now = clock();
    let totals = Microstates {
        user: balances.user.wrapping_add(cpu.total(CpuState::User, now)),
        system: balances.system.wrapping_add(cpu.total(CpuState::System, now)),
        runnable: balances.runnable.wrapping_add(cpu.total(CpuState::Irq, now)),
        lifetime: balances.lifetime.wrapping_add(now),
        ..balances
    };
    window.look_again()?;
    Ok(totals)
}

/// The totals at `now` of an LWP that is on no CPU, from its balances.
#[inline]
fn with_wait(mut balances: Microstates, state: OffCpu, now: u64) -> Microstates {
    let open = match state {
        OffCpu::Runnable => &mut balances.runnable,
        OffCpu::Sleeping => &mut balances.sleeping,
        OffCpu::Stopped => &mut balances.stopped,
        OffCpu::Ended => return balances,
    };
    *open = open.wrapping_add(now);
    balances.lifetime = balances.lifetime.wrapping_add(now);
    balances
}
