//! How fast the clock and the timer run: measured once, against a timer whose rate is known, and never corrected.
//!
//! The CPU sleeps through the measurement: the local timer, whose rate is not known yet, ends the sleep, and the
//! clock, the local timer and the reference are read before and after it. Waiting costs no instructions, which an
//! emulator that counts them would otherwise have to execute. The two readings of a pair lie a few instructions
//! apart, and the reference is read as its count changes: over 10 ms that is an error of less than one part in a million,
//! and what is below 1 kHz is noise, which rounding drops.

use super::acpi::Machine;
use super::hpet::Hpet;
use super::{apic, clock};
use x86_64::instructions::port::Port;

/// The rate of the ACPI PM timer, and the width that every one has.
const PM_TIMER_HZ: u64 = 3_579_545;
const PM_TIMER_MASK: u32 = 0x00ff_ffff;
/// Sleep at least so long.
const WINDOW_NS: u64 = 10_000_000;
/// The first sleep: 10 ms of a timer that counts at 1 GHz; it is repeated where the timer is faster.
const SLEEP_COUNTS: u32 = 10_000_000;

enum Reference {
    Hpet(Hpet),
    PmTimer(Port<u32>),
}

impl Reference {
    fn find(machine: &Machine) -> Option<Self> {
        let hpet = machine.hpet.and_then(Hpet::start).map(Reference::Hpet);
        hpet.or(machine.pm_timer.map(|port| Reference::PmTimer(Port::new(port))))
    }

    fn counts(&mut self) -> u32 {
        match self {
            Reference::Hpet(hpet) => hpet.counts(),
            // SAFETY: reading the PM timer changes nothing.
            Reference::PmTimer(port) => unsafe { port.read() },
        }
    }

    /// The count and the clock at a moment when the count changes.
    fn edge(&mut self) -> (u32, u64) {
        let first = self.counts();
        loop {
            let (counts, now) = (self.counts(), clock());
            if counts != first {
                return (counts, now);
            }
        }
    }

    /// Nanoseconds from one reading to a later one, less than one wrap apart.
    fn nanoseconds_between(&self, before: u32, after: u32) -> u64 {
        match self {
            Reference::Hpet(hpet) => hpet.nanoseconds(after.wrapping_sub(before)),
            Reference::PmTimer(_) => {
                u64::from(after.wrapping_sub(before) & PM_TIMER_MASK) * 1_000_000_000 / PM_TIMER_HZ
            }
        }
    }
}

/// Measures the clock and the local timer. Returns the clock's rate in Hz, or what the machine lacks. Interrupt
/// controllers are up, and the timer's interrupt is ours.
pub(crate) fn calibrate(machine: &Machine) -> Result<u64, &'static str> {
    let mut reference =
        Reference::find(machine).ok_or("neither an HPET nor an ACPI PM timer to calibrate with")?;
    let mut sleep = SLEEP_COUNTS;
    loop {
        let (reference_before, clock_before) = reference.edge();
        apic::start_raw(sleep);
        while apic::raw_counts_left() != 0 {
            super::wait_for_interrupt();
        }
        let (reference_after, clock_after) = reference.edge();
        let nanoseconds = reference.nanoseconds_between(reference_before, reference_after);
        let ticks = clock_after - clock_before;
        if nanoseconds >= WINDOW_NS / 2 || (sleep > u32::MAX / 4 && nanoseconds > 0) {
            apic::set_rate(u64::from(sleep), ticks);
            let kilohertz =
                (u128::from(ticks) * 1_000_000 + u128::from(nanoseconds / 2)) / u128::from(nanoseconds);
            return Ok(kilohertz as u64 * 1000);
        }
        sleep = sleep.saturating_mul(4);
    }
}
