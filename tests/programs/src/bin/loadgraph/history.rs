//! What the averages of each set were.

use programs::model::{all_sets, cpus_of};
use userlib::pset::{self, PsetId};

/// The last values of one set, the newest last.
pub(crate) struct History {
    pub(crate) set: PsetId,
    /// How many CPUs it has.
    pub(crate) cpus: usize,
    pub(crate) averages: Vec<[f64; 3]>,
}

impl History {
    /// Adds what the averages are now, and keeps as many as wanted. Sets that are gone are forgotten.
    pub(crate) fn extend(histories: &mut Vec<History>, wanted: usize) {
        let sets: Vec<PsetId> = std::iter::once(PsetId::DEFAULT).chain(all_sets()).collect();
        histories.retain(|history| sets.contains(&history.set));
        for set in sets {
            if !histories.iter().any(|history| history.set == set) {
                histories.push(History { set, cpus: 0, averages: Vec::new() });
            }
        }
        histories.iter_mut().for_each(|history| history.add(wanted));
    }

    fn add(&mut self, wanted: usize) {
        // A set that ended between the two calls has no load.
        self.averages.push(pset::load_averages(self.set).unwrap_or_default());
        self.cpus = cpus_of(self.set).map_or(0, |cpus| cpus.len());
        let too_many = self.averages.len().saturating_sub(wanted);
        self.averages.drain(..too_many);
    }
}
