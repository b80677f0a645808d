//! Values for arguments, by the kind and the name that the table gives them.

use crate::ground::{Ground, PAGE, time};

/// A generator that the seed determines (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Paths that name nothing that could be run.
const PATHS: [&[u8]; 8] =
    [b"/\0", b"\0", b".\0", b"/.argv\0", b"/.argv/x\0", b"/dev/null\0", b"no/such\xff\0", &[b'x'; 5000]];

/// The pools.
pub(crate) struct Values<'a> {
    pub(crate) random: Random,
    ground: &'a Ground,
}

impl<'a> Values<'a> {
    pub(crate) fn new(random: Random, ground: &'a Ground) -> Self {
        Values { random, ground }
    }

    /// A value for the argument `name` of `call`.
    pub(crate) fn argument(&mut self, call: &str, name: &str, kind: &str) -> u64 {
        match (kind, name) {
            ("Address", "request" | "timeout") => self.time(),
            ("Address", "path") if self.random.below(2) == 0 => {
                self.random.pick(&PATHS).as_ptr().expose_provenance() as u64
            }
            ("Address", _) => self.address(),
            (_, "fd" | "folder" | "from" | "to") => self.descriptor(call),
            (_, "timeout_ms") => self.random.below(2),
            (_, "flags" | "protection" | "operation" | "how" | "command" | "advice" | "code" | "who") => {
                self.bits()
            }
            _ => self.size(),
        }
    }

    fn time(&mut self) -> u64 {
        match self.random.below(8) {
            0 => 0,
            1 => self.bad_address(),
            pick => time(pick ^ self.random.below(8)),
        }
    }

    fn address(&mut self) -> u64 {
        match self.random.below(8) {
            0 => 0,
            1 | 2 => self.bad_address(),
            3 => time(self.random.next()),
            // The last bytes of a page, and any byte of one.
            4 => self.ground.page(self.random.next()) + PAGE - self.random.below(64),
            5 => self.ground.page(self.random.next()) + self.random.below(PAGE),
            _ => self.ground.page(self.random.next()),
        }
    }

    fn bad_address(&mut self) -> u64 {
        const BAD: [u64; 14] = [
            1,
            0xfff8,
            0x7fff_ffff_effc,
            0x7fff_ffff_f000,
            0x7fff_ffff_fff8,
            0x8000_0000_0000,
            0xffff_7fff_ffff_fff8,
            0xffff_8000_0000_0000,
            0xffff_8000_0010_0000,
            0xffff_ff00_0000_0000,
            0xffff_ffff_8020_0000,
            0xffff_ffff_ffff_f000,
            u64::MAX - 7,
            u64::MAX,
        ];
        self.random.pick(&BAD)
    }

    /// The standard ones are left to calls that cannot change them.
    fn descriptor(&mut self, call: &str) -> u64 {
        const ODD: [u64; 7] =
            [u64::MAX, i32::MIN as u64, i32::MAX as u64, 255, 256, 1 << 32 | 3, -100_i64 as u64];
        let harmless = matches!(call, "fstat" | "ioctl" | "lseek" | "read");
        match self.random.below(4) {
            0 => self.random.pick(&ODD),
            1 if harmless => self.random.below(3),
            _ => 3 + self.random.below(8),
        }
    }

    fn bits(&mut self) -> u64 {
        match self.random.below(4) {
            0 => self.size(),
            1 => self.random.next() & self.random.next() & 0x1f_ffff,
            2 => 0x32 | self.random.below(2) << 20,
            _ => self.random.below(16),
        }
    }

    /// An integer of any size, the odd ones often.
    pub(crate) fn size(&mut self) -> u64 {
        const ODD: [u64; 12] = [
            0,
            1,
            u64::MAX,
            i64::MAX as u64,
            i64::MIN as u64,
            i32::MAX as u64,
            i32::MIN as u64,
            u32::MAX as u64,
            0x1000_0000_0000,
            0x7fff_ffff_f000,
            PAGE - 1,
            PAGE + 1,
        ];
        match self.random.below(4) {
            0 => self.random.pick(&ODD),
            1 => self.random.below(600),
            2 => self.random.below(20) * PAGE,
            _ => self.random.next() >> self.random.below(64),
        }
    }
}
