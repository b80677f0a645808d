//! The atomics under the ledgers: core's, or loom's where a model check explores every order they allow.

#[cfg(not(feature = "loom"))]
pub(crate) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(feature = "loom")]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, Ordering, fence},
};

/// Declares a `const fn`, which loom's atomics can only have as a plain `fn`.
macro_rules! const_fn {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$meta])* #[cfg(not(feature = "loom"))]
        $visibility const fn $name($($argument: $type),*) -> $result $body
        $(#[$meta])* #[cfg(feature = "loom")]
        $visibility fn $name($($argument: $type),*) -> $result $body
    };
}
pub(crate) use const_fn;
