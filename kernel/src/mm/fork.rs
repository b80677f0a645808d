//! A copy of an address space that shares its pages until one side writes.

use kcore::region::Kind;
use syscalls::Errno;
use x86_64::structures::paging::PageTableFlags as Flags;

use super::address_space::{AddressSpace, Inner};
use super::table::{Entry, Mapping};
use super::tlb;
use super::user_tables::UserTables;

impl AddressSpace {
    /// The same regions and pages for a new process. Private pages are shared until either side writes them.
    ///
    /// # Errors
    /// ENOMEM. What happened to this address space then costs it some faults, and nothing else.
    pub(crate) fn fork(&self) -> Result<AddressSpace, Errno> {
        let parent = self.inner.lock();
        let mut child = Inner { regions: parent.regions.try_clone()?, tables: UserTables::new()? };
        let result = share_pages(&parent, &mut child);
        tlb::shoot_down(self.root, 0..u64::MAX);
        drop(parent);
        let child = result.map(|()| AddressSpace::from(child))?;
        self.arenas.inherit(&child.arenas);
        Ok(child)
    }
}

fn share_pages(parent: &Inner, child: &mut Inner) -> Result<(), Errno> {
    for region in parent.regions.iter() {
        let withdrawn = match region.kind {
            Kind::Shared => Flags::empty(),
            Kind::Anonymous | Kind::File(_) => Flags::WRITABLE | Flags::DIRTY,
        };
        let tables = &mut child.tables;
        parent
            .tables
            .for_each(region.range(), |page, entry| tables.fill(page, || shared(entry, withdrawn)))?;
    }
    Ok(())
}

/// Withdraws flags from an entry, and gives a second entry for the same page.
fn shared(entry: &Entry, withdrawn: Flags) -> Result<Mapping, Errno> {
    let mapping = entry.get().without(withdrawn);
    // SAFETY: the mapping is in an entry of the parent, whose lock is held.
    if let Some(frame) = unsafe { mapping.frame() } {
        // The child's entry takes the new reference.
        frame.share()?.into_address();
    }
    entry.set(mapping);
    Ok(mapping)
}
