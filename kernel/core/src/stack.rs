//! The initial stack of a program, as Linux lays it out and C libraries read it.
//!
//! From the stack pointer upwards: the number of arguments; pointers to them, and a null; pointers to the
//! environment's strings, and a null; pairs of the auxiliary vector, ended by AT_NULL; then what is pointed to: 16
//! random bytes, the strings, and eight zero bytes at the top.

use syscalls::Errno;

/// Keys of the auxiliary vector, under the names of `<elf.h>`.
pub mod key {
    /// End of the vector.
    pub const AT_NULL: u64 = 0;
    /// Address of the program headers.
    pub const AT_PHDR: u64 = 3;
    /// Bytes in one of them.
    pub const AT_PHENT: u64 = 4;
    /// How many there are.
    pub const AT_PHNUM: u64 = 5;
    /// Bytes in a page.
    pub const AT_PAGESZ: u64 = 6;
    /// Where an interpreter was loaded; 0: there is none.
    pub const AT_BASE: u64 = 7;
    /// Flags; none exist.
    pub const AT_FLAGS: u64 = 8;
    /// The program's entry.
    pub const AT_ENTRY: u64 = 9;
    /// User id.
    pub const AT_UID: u64 = 11;
    /// Effective user id.
    pub const AT_EUID: u64 = 12;
    /// Group id.
    pub const AT_GID: u64 = 13;
    /// Effective group id.
    pub const AT_EGID: u64 = 14;
    /// The CPU's features: EDX of CPUID leaf 1.
    pub const AT_HWCAP: u64 = 16;
    /// Ticks a second of `times`.
    pub const AT_CLKTCK: u64 = 17;
    /// Whether the program runs with another's rights.
    pub const AT_SECURE: u64 = 23;
    /// Address of 16 random bytes.
    pub const AT_RANDOM: u64 = 25;
    /// More of the CPU's features.
    pub const AT_HWCAP2: u64 = 26;
    /// Address of the program's path.
    pub const AT_EXECFN: u64 = 31;
    /// Address of the pages of code and clock data that a kernel lends to programs.
    pub const AT_SYSINFO_EHDR: u64 = 33;
    /// Least size of a signal stack.
    pub const AT_MINSIGSTKSZ: u64 = 51;
}

/// What a program is to find on its stack. Strings are without their final NUL.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// The program's path (AT_EXECFN).
    pub path: &'a [u8],
    /// `argv`.
    pub arguments: &'a [&'a [u8]],
    /// `environ`.
    pub environment: &'a [&'a [u8]],
    /// The auxiliary vector, but for AT_RANDOM, AT_EXECFN and AT_NULL, which are added.
    pub auxiliary: &'a [(u64, u64)],
    /// The bytes at AT_RANDOM.
    pub random: [u8; 16],
}

/// What was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitialStack {
    /// The stack pointer at the program's entry, a multiple of 16.
    pub stack_pointer: u64,
    /// How many bytes at the end of the buffer were filled; they belong at `stack_pointer`, and end at the top.
    pub bytes_used: usize,
}

/// Zeroes between the last string and the top.
const TOP_ZEROES: u64 = 8;
const RANDOM: u64 = 16;

impl Contents<'_> {
    /// The most bytes that [`Contents::build`] fills.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        const ALIGNING: u64 = 15;
        let strings: usize = self.strings().map(|string| string.len() + 1).sum();
        strings + (TOP_ZEROES + RANDOM + ALIGNING + self.vector_size()) as usize
    }

    /// Builds the stack that ends at `top` in the end of `buffer`. E2BIG where it does not fit in there.
    pub fn build(&self, top: u64, buffer: &mut [u8]) -> Result<InitialStack, Errno> {
        let strings = self.strings_start(top).ok_or(Errno::E2BIG)?;
        let random = strings.checked_sub(RANDOM).ok_or(Errno::E2BIG)?;
        let stack_pointer = random.checked_sub(self.vector_size()).ok_or(Errno::E2BIG)? & !15;
        let bytes_used = (top - stack_pointer) as usize;
        let unused = buffer.len().checked_sub(bytes_used).ok_or(Errno::E2BIG)?;
        let stack = &mut buffer[unused..];
        stack.fill(0);
        self.put_vector(&mut stack[..(random - stack_pointer) as usize], random);
        self.put_bytes(&mut stack[(random - stack_pointer) as usize..]);
        Ok(InitialStack { stack_pointer, bytes_used })
    }

    /// All strings, in the order in which they lie in memory.
    fn strings(&self) -> impl Iterator<Item = &[u8]> {
        self.arguments.iter().chain(self.environment).copied().chain([self.path])
    }

    fn strings_start(&self, top: u64) -> Option<u64> {
        let sizes = self.strings().map(|string| string.len() as u64 + 1);
        top.checked_sub(sizes.sum())?.checked_sub(TOP_ZEROES)
    }

    /// Bytes from the number of arguments to AT_NULL's value.
    fn vector_size(&self) -> u64 {
        let pointers = self.arguments.len() + self.environment.len() + 2;
        let pairs = self.auxiliary.len() + 3;
        (1 + pointers + 2 * pairs) as u64 * 8
    }

    fn put_vector(&self, vector: &mut [u8], random: u64) {
        let mut next_string = random + RANDOM;
        let mut address_of = |string: &[u8]| {
            let address = next_string;
            next_string += string.len() as u64 + 1;
            address
        };
        let mut filled = 0;
        let mut put = |value: u64| {
            vector[filled..filled + 8].copy_from_slice(&value.to_le_bytes());
            filled += 8;
        };
        put(self.arguments.len() as u64);
        for list in [self.arguments, self.environment] {
            list.iter().for_each(|string| put(address_of(string)));
            put(0);
        }
        let own = [(key::AT_RANDOM, random), (key::AT_EXECFN, address_of(self.path)), (key::AT_NULL, 0)];
        for (key, value) in self.auxiliary.iter().copied().chain(own) {
            put(key);
            put(value);
        }
    }

    fn put_bytes(&self, bytes: &mut [u8]) {
        let (random, mut rest) = bytes.split_at_mut(RANDOM as usize);
        random.copy_from_slice(&self.random);
        for string in self.strings() {
            rest[..string.len()].copy_from_slice(string);
            rest = &mut rest[string.len() + 1..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const TOP: u64 = 0x7fff_ffff_f000;

    /// Reads a stack as a C library's start code does.
    struct Memory<'a> {
        start: u64,
        bytes: &'a [u8],
    }

    impl Memory<'_> {
        fn word(&self, address: u64) -> u64 {
            let offset = (address - self.start) as usize;
            u64::from_le_bytes(self.bytes[offset..offset + 8].try_into().unwrap())
        }

        fn string(&self, address: u64) -> Vec<u8> {
            let tail = &self.bytes[(address - self.start) as usize..];
            tail[..tail.iter().position(|&byte| byte == 0).unwrap()].to_vec()
        }

        /// The strings of a list of pointers, and the address behind its null.
        fn strings(&self, mut address: u64) -> (Vec<Vec<u8>>, u64) {
            let mut strings = Vec::new();
            while self.word(address) != 0 {
                strings.push(self.string(self.word(address)));
                address += 8;
            }
            (strings, address + 8)
        }
    }

    fn check(contents: &Contents<'_>, top: u64, room: usize) {
        let mut buffer = vec![0xaa; room];
        let built = contents.build(top, &mut buffer).unwrap();
        let stack_pointer = built.stack_pointer;
        assert_eq!(stack_pointer % 16, 0);
        assert_eq!(stack_pointer + built.bytes_used as u64, top);
        let (untouched, bytes) = buffer.split_at(room - built.bytes_used);
        assert!(untouched.iter().all(|&byte| byte == 0xaa), "bytes below the stack pointer were written");
        let memory = Memory { start: stack_pointer, bytes };

        assert_eq!(memory.word(stack_pointer), contents.arguments.len() as u64);
        let (arguments, environment) = memory.strings(stack_pointer + 8);
        assert_eq!(arguments, contents.arguments);
        let (environment, mut auxiliary) = memory.strings(environment);
        assert_eq!(environment, contents.environment);
        let mut pairs = BTreeMap::new();
        while memory.word(auxiliary) != key::AT_NULL {
            pairs.insert(memory.word(auxiliary), memory.word(auxiliary + 8));
            auxiliary += 16;
        }
        let random = (pairs.remove(&key::AT_RANDOM).unwrap() - stack_pointer) as usize;
        assert_eq!(bytes[random..random + 16], contents.random);
        assert_eq!(memory.string(pairs.remove(&key::AT_EXECFN).unwrap()), contents.path);
        assert_eq!(pairs, contents.auxiliary.iter().copied().collect());
        assert_eq!(bytes[bytes.len() - 8..], [0; 8]);
    }

    fn usual<'a>(arguments: &'a [&'a [u8]]) -> Contents<'a> {
        Contents {
            path: b"/hello",
            arguments,
            environment: &[b"PATH=/", b""],
            auxiliary: &[(key::AT_PAGESZ, 4096), (key::AT_ENTRY, 0x40_1000), (key::AT_UID, 0)],
            random: *b"0123456789abcdef",
        }
    }

    #[test]
    fn a_program_finds_what_it_was_given() {
        check(&usual(&[b"/hello", b"-n", b"", b"world"]), TOP, 4096);
        check(&usual(&[]), TOP, 4096);
        let nothing = Contents { path: b"", environment: &[], auxiliary: &[], ..usual(&[]) };
        check(&nothing, TOP, 4096);
    }

    #[test]
    fn what_fits_exactly_fits_and_one_byte_less_is_too_little() {
        let contents = usual(&[b"/hello", b"world"]);
        let needed = contents.build(TOP, &mut [0; 4096]).unwrap().bytes_used;
        check(&contents, TOP, needed);
        assert_eq!(contents.build(TOP, &mut vec![0; needed - 1]), Err(Errno::E2BIG));
        assert_eq!(contents.build(TOP, &mut []), Err(Errno::E2BIG));
    }

    #[test]
    fn a_stack_does_not_reach_below_address_zero() {
        assert_eq!(usual(&[b"/hello"]).build(64, &mut [0; 4096]), Err(Errno::E2BIG));
        assert_eq!(usual(&[b"/hello"]).build(0, &mut [0; 4096]), Err(Errno::E2BIG));
    }

    fn strings() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(1u8.., 0..40), 0..12)
    }

    proptest! {
        #[test]
        fn any_strings_arrive(arguments in strings(), environment in strings(), path in prop::collection::vec(1u8.., 0..20), random: [u8; 16]) {
            let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
            let environment: Vec<&[u8]> = environment.iter().map(Vec::as_slice).collect();
            let auxiliary = [(key::AT_PHDR, 0x40_0040), (key::AT_CLKTCK, 100)];
            let contents = Contents {
                path: &path,
                arguments: &arguments,
                environment: &environment,
                auxiliary: &auxiliary,
                random,
            };
            check(&contents, TOP, 4096);
        }
    }
}
