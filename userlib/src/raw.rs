//! Every call of the table as a function: registers in, `rax` out, nothing checked, nothing made an error.
//!
//! Names, numbers and arguments come from [`syscalls::for_each_syscall!`]; the result is what
//! [`Errno::from_return`](syscalls::Errno::from_return) reads. A call without arguments is a safe function. Every
//! other one is unsafe: it may be told to write to memory, to close a descriptor or to end a thread that safe code
//! relies on.

/// The types of the table's argument kinds.
mod kind {
    pub(super) type Address = u64;
    pub(super) type Int = i32;
    pub(super) type Unsigned = u32;
    pub(super) type Size = u64;
    pub(super) type Long = i64;
}

/// `SYSCALL` with exactly the registers that the call takes; the kernel keeps all but `rax`, `rcx` and `r11`.
macro_rules! enter {
    ($n:expr) => { enter!(@ $n;) };
    ($n:expr, $a:expr) => { enter!(@ $n; "rdi" $a) };
    ($n:expr, $a:expr, $b:expr) => { enter!(@ $n; "rdi" $a, "rsi" $b) };
    ($n:expr, $a:expr, $b:expr, $c:expr) => { enter!(@ $n; "rdi" $a, "rsi" $b, "rdx" $c) };
    ($n:expr, $a:expr, $b:expr, $c:expr, $d:expr) => { enter!(@ $n; "rdi" $a, "rsi" $b, "rdx" $c, "r10" $d) };
    ($n:expr, $a:expr, $b:expr, $c:expr, $d:expr, $e:expr) => {
        enter!(@ $n; "rdi" $a, "rsi" $b, "rdx" $c, "r10" $d, "r8" $e)
    };
    ($n:expr, $a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr) => {
        enter!(@ $n; "rdi" $a, "rsi" $b, "rdx" $c, "r10" $d, "r8" $e, "r9" $f)
    };
    (@ $n:expr; $($register:tt $value:expr),*) => {{
        let result: u64;
        core::arch::asm!(
            "syscall",
            inlateout("rax") $n as u64 => result,
            $(in($register) $value as u64,)*
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
        result
    }};
}

macro_rules! stubs {
    ($($(#[doc = $doc:literal])* $number:literal $name:ident($($arg:ident: $kind:ident),*);)*) => {
        $(stub!($(#[doc = $doc])* $number $name($($arg: $kind),*));)*
    };
}

macro_rules! stub {
    ($(#[doc = $doc:literal])* $number:literal $name:ident()) => {
        $(#[doc = $doc])*
        #[inline]
        pub fn $name() -> u64 {
            // SAFETY: a call without arguments touches none of the caller's memory.
            unsafe { enter!($number) }
        }
    };
    ($(#[doc = $doc:literal])* $number:literal $name:ident($($arg:ident: $kind:ident),+)) => {
        $(#[doc = $doc])*
        ///
        /// # Safety
        /// The memory and the descriptors that the arguments name must be the caller's to use in this way.
        #[inline]
        pub unsafe fn $name($($arg: kind::$kind),+) -> u64 {
            // SAFETY: the caller answers for what the arguments name.
            unsafe { enter!($number, $($arg),+) }
        }
    };
}

syscalls::for_each_syscall!(stubs);
