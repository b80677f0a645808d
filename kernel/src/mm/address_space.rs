//! The address space of a process: its regions, and the page tables that show as much of them as was touched.
//!
//! **Invariants**, under one lock: a page is mapped only if it is in a region, with no more permissions than the
//! region gives; a page that another address space can see too is writable only if its region is shared. So a fault is
//! decided by the region alone, and afterwards the entry is what the region wants.
//!
//! **Shared regions** get all their frames when they are made: fork hands on the same frames, and no fault can give two
//! processes different pages. Private regions get a frame when a page is first touched.
//!
//! **Order of a change**: first what can fail, then the list of regions, then the tables, then other CPUs' translations,
//! and the frames last.
//!
//! **Long changes let interrupts in**, under the lock: no interrupt handler takes it, and who waits for it serves other
//! CPUs' requests. So how long interrupts stay off does not depend on how much memory a program has, but for those of its
//! other LWPs that want the lock meanwhile.

use core::ops::Range;

use crate::cpu;
use crate::sema::Memberships;
use crate::sync::SpinMutex as Mutex;
use kcore::region::{Access, Kind, Movable, PAGE_SIZE, Place, Protection, Region, Regions};
use syscalls::Errno;

use super::fault::finished;
use super::frames::{self, Budget, Frame};
use super::layout::{USER_CEILING, USER_END, USER_STACK, USER_START};
use super::table::{Entry, Mapping};
use super::tlb;
use super::user_tables::{NO_ROOM, UserTables};

/// The address space of one process. Dropping it gives back every frame; no CPU may have it active then.
pub(crate) struct AddressSpace {
    /// The physical address of the top table: what [`AddressSpace::activate`] needs, without the lock.
    pub(super) root: u64,
    /// The arenas whose memory it has.
    pub(crate) arenas: Memberships,
    pub(super) inner: Mutex<Inner>,
}

/// What the lock guards.
pub(super) struct Inner {
    pub(super) regions: Regions,
    pub(super) tables: UserTables,
}

impl AddressSpace {
    /// An address space without regions.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn new() -> Result<AddressSpace, Errno> {
        let regions = Regions::new(USER_START..USER_END, USER_CEILING);
        Ok(Inner { regions, tables: UserTables::new()? }.into())
    }

    /// Makes this CPU use this address space, which is not dropped before another is activated.
    pub(crate) fn activate(&self) {
        if tlb::current_root() != self.root {
            // SAFETY: the tables map the kernel's half, and stay until another is loaded.
            unsafe { tlb::load_root(self.root) };
        }
    }

    /// Maps `length` bytes, rounded up to pages, and returns the address.
    ///
    /// # Errors
    /// As [`Regions::map`], and nothing changed; ENOMEM also where more memory to write is asked for than the machine has.
    /// For a shared region also ENOMEM where there are not enough frames; with [`Place::Fixed`], what was there is gone
    /// then.
    pub(crate) fn map(
        &self,
        place: Place,
        length: u64,
        protection: Protection,
        kind: Kind,
    ) -> Result<u64, Errno> {
        if protection.permits(Access::Write) {
            refuse_hopeless(length)?;
        }
        let mut inner = self.inner.lock();
        let range = inner.regions.map(place, length, protection, kind)?;
        if matches!(place, Place::Fixed(_)) {
            inner.tables.clear(range.clone(), NO_ROOM);
        }
        if matches!(kind, Kind::Shared) {
            inner.populate(&range).inspect_err(|_| inner.undo_map(&range))?;
        }
        Ok(range.start)
    }

    /// Maps the stack of a new program, of full size but without frames.
    ///
    /// # Errors
    /// ENOMEM; EEXIST: something is in its place.
    pub(crate) fn map_stack(&self) -> Result<(), Errno> {
        let length = USER_STACK.end - USER_STACK.start;
        let protection = Protection::READ | Protection::WRITE;
        self.map(Place::FixedIfFree(USER_STACK.start), length, protection, Kind::Anonymous)?;
        Ok(())
    }

    /// Unmaps everything, leaves all arenas, and gives back every frame but the top table's. Debug builds check the books first.
    pub(crate) fn clear(&self) {
        if cfg!(debug_assertions) {
            self.check();
        }
        self.inner.lock().clear();
        self.arenas.leave_all();
    }

    /// Unmaps all pages of `range`.
    ///
    /// # Errors
    /// As [`Regions::unmap`].
    pub(crate) fn unmap(&self, range: Range<u64>) -> Result<(), Errno> {
        let mut inner = self.inner.lock();
        inner.regions.unmap(range.clone())?;
        inner.clear_gap(range);
        Ok(())
    }

    /// Gives all pages of `range` another protection.
    ///
    /// # Errors
    /// As [`Regions::protect`].
    pub(crate) fn protect(&self, range: Range<u64>, protection: Protection) -> Result<(), Errno> {
        let Inner { regions, tables } = &mut *self.inner.lock();
        regions.protect(range.clone(), protection)?;
        for region in regions.overlapping(&range) {
            tables.for_each(region.part_in(&range), |_, entry| {
                set_flags(region, entry);
                Ok(())
            })?;
        }
        tlb::shoot_down(self.root, range);
        Ok(())
    }

    /// Resizes or moves the mapping at `old`, with its pages, and returns its address. Pages that a shared region gains
    /// are shared with nobody.
    ///
    /// # Errors
    /// As [`Regions::plan_remap`]; ENOMEM also where tables for the new place are missing, or the mapping grows by more
    /// than the machine's memory. Nothing changed then, but with [`Movable::To`] what was in the new place is gone.
    pub(crate) fn remap(&self, old: Range<u64>, length: u64, movable: Movable) -> Result<u64, Errno> {
        refuse_hopeless(length.saturating_sub(old.end - old.start))?;
        let mut inner = self.inner.lock();
        let new = inner.regions.plan_remap(old.clone(), length, movable)?;
        if matches!(movable, Movable::To(_)) {
            inner.regions.unmap(new.clone())?;
            inner.clear_gap(new.clone());
        }
        if new.start != old.start {
            inner.make_tables(&old, &new).inspect_err(|_| inner.clear_gap(new.clone()))?;
        }
        inner.regions.remap(old.clone(), length, movable)?;
        if new.start != old.start {
            inner.move_pages(&old, &new)?;
        } else if new.end < old.end {
            inner.clear_gap(new.end..old.end);
        }
        Ok(new.start)
    }

    /// Drops what was written to the private pages of `range`: their contents are as at first.
    ///
    /// # Errors
    /// ENOMEM: some page is in no region; nothing changed.
    pub(crate) fn discard(&self, range: Range<u64>) -> Result<(), Errno> {
        let Inner { regions, tables } = &mut *self.inner.lock();
        if !regions.is_covered(&range) {
            return Err(Errno::ENOMEM);
        }
        for region in regions.overlapping(&range).filter(|region| !matches!(region.kind, Kind::Shared)) {
            tables.clear(region.part_in(&range), NO_ROOM);
        }
        Ok(())
    }

    /// Places the heap at `start`, empty. Done once, by the loader.
    pub(crate) fn place_heap(&self, start: u64) {
        self.inner.lock().regions.place_heap(start);
    }

    /// Moves the break to `end`, if that can be, and returns where it is now.
    pub(crate) fn set_break(&self, end: u64) -> u64 {
        let mut inner = self.inner.lock();
        let growth = end.saturating_sub(inner.regions.heap_end());
        let gone = refuse_hopeless(growth).and_then(|()| inner.regions.move_heap_end(end));
        if let Ok(gone) = gone
            && !gone.is_empty()
        {
            inner.clear_gap(gone);
        }
        inner.regions.heap_end()
    }

    /// How many pages are mapped now.
    #[expect(dead_code, reason = "getrusage does not tell it yet")]
    pub(crate) fn resident_pages(&self) -> u64 {
        self.inner.lock().tables.pages()
    }
}

impl Inner {
    /// Takes everything apart, from the lowest region up: what lies below the next is free room.
    fn clear(&mut self) {
        let next_starts = self.regions.iter().skip(1).map(|next| next.start).chain([u64::MAX]);
        for (region, next_start) in self.regions.iter().zip(next_starts) {
            self.tables.clear(region.range(), 0..next_start);
            cpu::window();
        }
        self.regions.clear();
    }

    /// Unmaps the pages of `range`, which is in no region, and frees the tables that served it alone.
    fn clear_gap(&mut self, range: Range<u64>) {
        let room = self.regions.gap_around(range.clone());
        self.tables.clear(range, room);
    }

    /// Gives every page of `range`, new and in one region, a frame of its own.
    fn populate(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        const PAGES_AT_ONCE: usize = 32;
        let Inner { regions, tables } = self;
        let region = regions.lookup(range.start).ok_or(Errno::EFAULT)?;
        for (number, page) in range.clone().step_by(PAGE_SIZE as usize).enumerate() {
            tables.fill(page, || zeroed_page(region))?;
            if number % PAGES_AT_ONCE == PAGES_AT_ONCE - 1 {
                cpu::window();
            }
        }
        Ok(())
    }

    /// Takes back what `map` did to `range`. The list has room: it had it before.
    pub(super) fn undo_map(&mut self, range: &Range<u64>) {
        if self.regions.unmap(range.clone()).is_ok() {
            self.clear_gap(range.clone());
        }
    }

    /// Makes the tables that the pages of `old` need in their new place.
    fn make_tables(&self, old: &Range<u64>, new: &Range<u64>) -> Result<(), Errno> {
        let tables = &self.tables;
        tables.for_each(old.clone(), |page, _| tables.entry(page - old.start + new.start).map(|_| ()))
    }

    /// Moves every page of `old` to its new place, where the tables are.
    fn move_pages(&mut self, old: &Range<u64>, new: &Range<u64>) -> Result<(), Errno> {
        let tables = &self.tables;
        tables.for_each(old.clone(), |page, entry| {
            tables.entry(page - old.start + new.start)?.set(entry.take());
            Ok(())
        })?;
        tlb::shoot_down(tables.root_address(), old.clone());
        self.clear_gap(old.clone());
        Ok(())
    }
}

impl From<Inner> for AddressSpace {
    fn from(inner: Inner) -> Self {
        AddressSpace {
            root: inner.tables.root_address(),
            arenas: Memberships::new(),
            inner: Mutex::new(inner),
        }
    }
}

/// ENOMEM where more memory is asked for at once than the machine has. Less is granted without a look at what is free,
/// since most programs never touch all that they ask for; a fault that finds no frame ends its process.
fn refuse_hopeless(bytes: u64) -> Result<(), Errno> {
    match bytes / PAGE_SIZE <= frames::usage().total {
        true => Ok(()),
        false => Err(Errno::ENOMEM),
    }
}

/// A frame of zeroes for a page of `region`.
fn zeroed_page(region: &Region) -> Result<Mapping, Errno> {
    Ok(finished(region, Mapping::of_frame(Frame::allocate_zeroed(Budget::User)?)))
}

/// Makes an entry's flags what its region wants.
fn set_flags(region: &Region, entry: &Entry) {
    entry.set(finished(region, entry.get()));
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.clear();
    }
}
