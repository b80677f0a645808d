//! Timer interrupts in a busy user loop. The kernel takes none that it does not need, so it must be told to
//! (`--append tick=HZ`).

use std::arch::asm;

use crate::measure::{BATCH, BATCHES, Figure, Outcome, ticks};

/// Rounds of the loop between two looks at the counter: short beside the time between two interrupts.
const ROUNDS: u64 = 200;

/// Looks at the counter after which the row gives up: some hundred million instructions.
const LOOKS: u64 = 1_000_000;

/// Every stretch of the loop takes the same number of instructions, but for those that an interrupt lengthens; each
/// such excess is one interrupt's cost.
pub(crate) fn interrupt() -> Outcome {
    let undisturbed = (0..100).map(|_| stretch()).min().expect("there are stretches");
    let costs: Vec<u64> = (0..LOOKS)
        .map(|_| stretch().saturating_sub(undisturbed))
        .filter(|&excess| excess > 0)
        .take(BATCHES * BATCH as usize)
        .collect();
    match costs.len() {
        few if few < BATCH as usize => {
            Err(format!("{few} timer interrupts came; start the kernel with `tick=HZ`"))
        }
        _ => Ok(Figure::of_operations(costs.into_iter())),
    }
}

/// Ticks that a stretch of the loop takes.
#[inline(never)]
fn stretch() -> u64 {
    let before = ticks();
    // SAFETY: counts a register down.
    unsafe { asm!("2:", "dec {left}", "jnz 2b", left = inout(reg) ROUNDS => _, options(nostack, nomem)) };
    ticks() - before
}
