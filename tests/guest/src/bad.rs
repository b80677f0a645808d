//! Pointers that no call may follow (known fault K30).

use crate::{PAGE, Pages};

/// A pointer that a call must refuse with EFAULT.
pub struct BadPointer {
    /// What is wrong with it.
    pub what: &'static str,
    /// The address.
    pub address: u64,
}

/// Every kind of pointer that must be refused for an object of `size` bytes; `written`: whether the call would write
/// to it, so that readable memory that is not writable is refused too. The pages behind the pointers live in `room`.
#[must_use]
pub fn bad_pointers(room: &Room, size: u64, written: bool) -> Vec<BadPointer> {
    let mut pointers = vec![
        BadPointer { what: "null", address: 0 },
        BadPointer { what: "low, unmapped", address: 16 },
        BadPointer { what: "unmapped", address: room.hole() },
        BadPointer { what: "no access", address: room.no_access() },
        BadPointer { what: "last byte in an unmapped page", address: room.hole() - size + 1 },
        BadPointer { what: "last byte in a page without access", address: room.no_access() - size + 1 },
        BadPointer { what: "last page of the lower half", address: 0x7fff_ffff_f000 },
        BadPointer { what: "straddles the end of the lower half", address: 0x8000_0000_0000 - size + 1 },
        BadPointer { what: "first non-canonical", address: 0x8000_0000_0000 },
        BadPointer { what: "non-canonical", address: 0xdead_beef_0000_0000 },
        BadPointer { what: "last non-canonical", address: 0xffff_7fff_ffff_fff0 },
        BadPointer { what: "direct map", address: 0xffff_8000_0010_0000 },
        BadPointer { what: "kernel text", address: 0xffff_ffff_8020_0000 },
        BadPointer { what: "kernel text, 64 KiB on", address: 0xffff_ffff_8021_0000 },
        BadPointer { what: "range wraps", address: u64::MAX - size / 2 },
        BadPointer { what: "last byte", address: u64::MAX },
    ];
    if written {
        let text: fn(&Room, u64, bool) -> Vec<BadPointer> = bad_pointers;
        pointers.push(BadPointer { what: "own text", address: text as usize as u64 });
        pointers.push(BadPointer { what: "own read-only data", address: crate::address(READ_ONLY) });
        pointers.push(BadPointer { what: "read-only page", address: room.read_only() });
        pointers
            .push(BadPointer { what: "last byte in a read-only page", address: room.read_only() - size + 1 });
    }
    pointers
}

static READ_ONLY: &str =
    "a string constant, which lies in a page that may only be read, longer than any object here";

/// Pages of each kind, with a writable page before each kind: `w hole w no-access w read-only w`.
pub struct Room(Pages);

impl Default for Room {
    fn default() -> Self {
        let pages = Pages::new(7);
        pages.fill(CANARY);
        pages.unmap(1, 1).expect("munmap");
        pages.protect(3, 1, libc::PROT_NONE).expect("mprotect");
        pages.protect(5, 1, libc::PROT_READ).expect("mprotect");
        Room(pages)
    }
}

/// What every writable byte of a [`Room`] holds.
const CANARY: u8 = 0xc5;

impl Room {
    fn hole(&self) -> u64 {
        self.0.page(1)
    }

    fn no_access(&self) -> u64 {
        self.0.page(3)
    }

    fn read_only(&self) -> u64 {
        self.0.page(5)
    }

    /// The address of the first byte that has changed, if any.
    #[must_use]
    pub fn changed(&self) -> Option<u64> {
        let readable = [0, 2, 4, 5, 6].into_iter().flat_map(|page| page * PAGE..(page + 1) * PAGE);
        readable
            .into_iter()
            .find(|&offset| self.0.read(offset) != CANARY)
            .map(|offset| self.0.page(0) + offset)
    }
}
