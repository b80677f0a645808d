//! Values on the kernel heap with counted references. As `Arc`, but running out of memory is an answer.

use alloc::boxed::Box;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering, fence};

use syscalls::Errno;

use super::heap::try_box;

/// One of several references to a value, which the last one drops.
pub(crate) struct Shared<T> {
    at: NonNull<Counted<T>>,
}

struct Counted<T> {
    references: AtomicUsize,
    value: T,
}

// SAFETY: a reference gives shared access to the value from any CPU, and the last one drops it wherever it is.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The first reference to `value`.
    ///
    /// # Errors
    /// ENOMEM; the value is dropped.
    pub(crate) fn new(value: T) -> Result<Self, Errno> {
        let counted = try_box(Counted { references: AtomicUsize::new(1), value })?;
        Ok(Shared { at: NonNull::from(Box::leak(counted)) })
    }

    /// Whether there is no other reference. Where others may be made or dropped meanwhile, it says only what was.
    pub(crate) fn is_unique(&self) -> bool {
        self.counted().references.load(Ordering::Acquire) == 1
    }

    fn counted(&self) -> &Counted<T> {
        // SAFETY: the value stays as long as there is a reference, such as this one.
        unsafe { self.at.as_ref() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // There are fewer references than bytes of memory, so the count does not wrap.
        self.counted().references.fetch_add(1, Ordering::Relaxed);
        Shared { at: self.at }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Drop for Shared<T> {
    /// What others did to the value happens before its end: each lets go with release, the last acquires.
    fn drop(&mut self) {
        if self.counted().references.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: this was the last reference, and the box is the one that `new` leaked.
            drop(unsafe { Box::from_raw(self.at.as_ptr()) });
        }
    }
}
