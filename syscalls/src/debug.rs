//! What tests ask of kernels with debug assertions, by numbers beyond every table. It is no part of the contract: other
//! kernels say ENOSYS.

/// `fail_next(what, n)`: the `n`-th [`Failing`] of the calling LWP's calls fails from now on, none where `n` is 0.
/// Returns how many were left to come of what was asked for before: 0 once that failure came.
pub const FAIL_NEXT: u64 = 0x2000;

/// `heap_in_use()`: bytes of the kernel's heap.
pub const HEAP_IN_USE: u64 = 0x2001;

/// What can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Failing {
    /// A request for memory of the kernel's own or for a page of the program: ENOMEM.
    Allocation = 0,
    /// A look at the program's memory: EFAULT.
    Copy = 1,
}
