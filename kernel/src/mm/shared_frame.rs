//! Which frame processes have in common behind an address.

use kcore::region::Kind;
use syscalls::Errno;

use super::address_space::AddressSpace;
use super::frames::Frame;
use super::layout::PAGE_SIZE;

impl AddressSpace {
    /// One more reference to the frame behind `address`, if that is in a shared region: there, every process that has
    /// the region sees this very frame.
    ///
    /// # Errors
    /// ENOMEM: the frame has as many references as can be counted.
    pub(crate) fn shared_frame(&self, address: u64) -> Result<Option<Frame>, Errno> {
        let inner = self.inner.lock();
        let is_shared = |region: &kcore::region::Region| matches!(region.kind, Kind::Shared);
        if !inner.regions.lookup(address).is_some_and(is_shared) {
            return Ok(None);
        }
        let mapping = inner.tables.entry(address / PAGE_SIZE * PAGE_SIZE)?.get();
        // SAFETY: the mapping is in an entry, under the lock.
        unsafe { mapping.frame() }.map(|frame| frame.share()).transpose()
    }
}
