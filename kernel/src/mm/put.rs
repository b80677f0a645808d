//! Writing to a program's memory from outside, where no CPU need translate by it.

use kcore::region::Access;
use syscalls::Errno;

use super::address_space::{AddressSpace, Inner};
use super::fault::FaultError;
use super::layout::{PAGE_SIZE, direct};

impl AddressSpace {
    /// Writes `bytes` at `address`, as the program itself would.
    ///
    /// # Errors
    /// EFAULT: the program could not write there; ENOMEM. Some bytes may have been written then.
    pub(crate) fn put(&self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        let inner = &mut *self.inner.lock();
        let (mut address, mut rest) = (address, bytes);
        while !rest.is_empty() {
            let to_page_end = (PAGE_SIZE - address % PAGE_SIZE) as usize;
            let (piece, behind) = rest.split_at(to_page_end.min(rest.len()));
            let to = inner.writable(address)?;
            // SAFETY: the piece lies in one page, whose frame stays with the entry while the lock is held; the program
            // may write it meanwhile, as if another of its LWPs had written these bytes.
            unsafe { to.copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
            address = address.wrapping_add(piece.len() as u64);
            rest = behind;
        }
        Ok(())
    }
}

impl Inner {
    /// Where the direct map shows `address`, once it may be written.
    fn writable(&mut self, address: u64) -> Result<*mut u8, Errno> {
        self.fault(address, Access::Write).map_err(|error| match error {
            FaultError::OutOfMemory => Errno::ENOMEM,
            FaultError::NotMapped | FaultError::NotPermitted | FaultError::PastEnd => Errno::EFAULT,
        })?;
        let mapping = self.tables.entry(address / PAGE_SIZE * PAGE_SIZE)?.get();
        Ok(direct(mapping.address() + address % PAGE_SIZE))
    }
}
