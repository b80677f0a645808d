//! The last changes of a part, for a reader that they have overtaken.

/// How many are kept: more than a CPU makes while a reader visits 64 of them. A power of two.
pub(super) const KEPT: usize = 32;

/// The stamps of the last changes, negative where an LWP left. Stamps are below 2^63, and rise.
#[derive(Debug)]
pub(super) struct Log {
    /// How many there ever were; the next one's place, modulo [`KEPT`].
    count: u32,
    stamps: [i64; KEPT],
}

impl Log {
    pub(super) const fn new() -> Log {
        Log { count: 0, stamps: [0; KEPT] }
    }

    /// How many changes there ever were; comes round after 2^32 of them, which is longer than a period.
    #[inline]
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Notes a change at `now`: plus or minus the stamp.
    #[inline]
    pub(super) fn note(&mut self, signed: i64) {
        self.stamps[self.count as usize % KEPT] = signed;
        self.count = self.count.wrapping_add(1);
    }

    /// The changes after `now`, the last first, as stamp and sign. `None`: there were more than are kept.
    pub(super) fn after(&self, now: u64) -> Option<impl Iterator<Item = (u64, i64)>> {
        let oldest = self.stamps[self.count as usize % KEPT];
        let last_first =
            (1..=KEPT as u32).map(|back| self.stamps[self.count.wrapping_sub(back) as usize % KEPT]);
        let changes = last_first.map(|signed| (signed.unsigned_abs(), signed.signum()));
        (oldest.unsigned_abs() <= now).then(|| changes.take_while(move |&(stamp, _)| stamp > now))
    }
}
