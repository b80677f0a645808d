//! What a CPU does when it has no LWP.

use super::dispatch::leave_idle;
use crate::arch;

/// Dispatches whatever becomes runnable, and sleeps in between without a tick. An interrupt that makes an LWP runnable
/// ends the sleep; none can come between the look and the sleep, since interrupts are off until it begins.
pub(crate) fn idle_for_ever() -> ! {
    loop {
        leave_idle();
        arch::wait_for_interrupt();
    }
}
