//! Mapping frames that somebody else holds too.

use kcore::region::{Kind, PAGE_SIZE, Place, Protection};
use syscalls::Errno;

use super::address_space::{AddressSpace, Inner};
use super::fault::finished;
use super::frames::Frame;
use super::table::Mapping;

impl AddressSpace {
    /// Maps `frames`, one after the other from `start` on, as memory that processes share.
    ///
    /// # Errors
    /// EEXIST: something is there; ENOMEM. Nothing changed.
    pub(crate) fn map_frames(&self, start: u64, frames: &[Frame]) -> Result<(), Errno> {
        let mut inner = self.inner.lock();
        let protection = Protection::READ | Protection::WRITE;
        let length = frames.len() as u64 * PAGE_SIZE;
        let range = inner.regions.map(Place::FixedIfFree(start), length, protection, Kind::Shared)?;
        inner.fill_with(start, frames).inspect_err(|_| inner.undo_map(&range))
    }
}

impl Inner {
    fn fill_with(&mut self, start: u64, frames: &[Frame]) -> Result<(), Errno> {
        let Inner { regions, tables } = self;
        let region = regions.lookup(start).ok_or(Errno::EFAULT)?;
        (start..).step_by(PAGE_SIZE as usize).zip(frames).try_for_each(|(page, frame)| {
            tables.fill(page, || Ok(finished(region, Mapping::of_frame(frame.share()?))))
        })
    }
}
