//! Random bytes for programs: from the CPU's own source where it has one, else seeded by the clock. The option `seed=N`
//! makes them the same in every run.

use crate::arch;
use crate::sync::{Lock, Rank};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

static GENERATOR: Lock<Option<ChaCha12Rng>> = Lock::new(Rank::Table, None);

/// Seeds the generator; `fixed` makes it repeatable.
pub(crate) fn start(fixed: Option<u64>) {
    let generator = match fixed {
        Some(seed) => ChaCha12Rng::seed_from_u64(seed),
        None => ChaCha12Rng::from_seed(hardware_seed()),
    };
    *GENERATOR.lock() = Some(generator);
}

fn hardware_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    for word in seed.chunks_exact_mut(8) {
        word.copy_from_slice(&arch::hardware_random().unwrap_or_else(arch::clock).to_le_bytes());
    }
    seed
}

/// Fills `bytes`.
pub(crate) fn fill(bytes: &mut [u8]) {
    if let Some(generator) = GENERATOR.lock().as_mut() {
        generator.fill_bytes(bytes);
    }
}
