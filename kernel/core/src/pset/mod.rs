//! Processor sets: which there are, and which CPUs belong to which.
//!
//! **Problem.** Users know sets by ids, make and destroy them, and move CPUs between them; the dispatcher knows partitions,
//! which are always there. **Answer.** A set lies in a *place*, whose number is that of its partition; place 0 is the default
//! set's. Ids are handed out here and nowhere else, and [`Sets::find`] is the one function that maps them.
//!
//! **Invariants.** Every CPU belongs to exactly one set. The default set is always there and never without a CPU. No id is
//! handed out again before all others were. Whatever is refused has changed nothing.
//!
//! What is not known here, how many LWPs are bound to a set or a CPU, is an argument ([`Bindings`]).
//!
//! Contract: the illumos pages `pset_create(2)`, `pset_bind(2)`, `pset_info(2)`, and the table in docs/psets.md.

#[cfg(test)]
mod tests;

use crate::sched::balance::CpuSet;
use syscalls::Errno;

/// The most CPUs.
pub const MAX_CPUS: usize = 64;
/// The most places: twice as many sets as CPUs, and the default set.
pub const PLACES: usize = 2 * MAX_CPUS + 1;
/// The place of the default set.
pub const DEFAULT: usize = 0;

/// The id of a set that was made by `pset_create`: positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PsetId(u32);

impl PsetId {
    /// The number that users know.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0 as i32
    }
}

#[derive(Debug, Clone, Copy)]
struct Set {
    /// None: there is no set in this place. The default set has none, and is there.
    id: Option<PsetId>,
    cpus: CpuSet,
}

/// How many LWPs are bound where, as far as it matters for moving a CPU.
#[derive(Debug, Clone, Copy)]
pub struct Bindings {
    /// LWPs in the set that the CPU is in.
    pub in_set: u32,
    /// LWPs that are bound to the CPU.
    pub to_cpu: u32,
}

/// What moving a CPU comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the dispatcher is to move the CPU"]
pub enum Assigned {
    /// It is there already.
    Stays,
    /// It was taken from this place to that.
    Moved {
        /// The place it was in.
        from: usize,
        /// The place it is in now.
        to: usize,
    },
}

/// All processor sets.
#[derive(Debug)]
pub struct Sets {
    places: [Set; PLACES],
    /// How many sets there may be besides the default one.
    most: usize,
    next_id: u32,
}

impl Sets {
    /// No set but the default one, and no CPU yet.
    #[must_use]
    pub const fn new() -> Sets {
        let none = Set { id: None, cpus: CpuSet(0) };
        Sets { places: [none; PLACES], most: 0, next_id: 1 }
    }

    /// A CPU comes up, in the default set.
    pub const fn add_cpu(&mut self, cpu: u32) {
        self.places[DEFAULT].cpus = self.places[DEFAULT].cpus.with(cpu);
        self.most += 2;
    }

    /// Where the set with the id that a user gave is. EINVAL: there is none.
    pub fn find(&self, id: i32) -> Result<usize, Errno> {
        let is_it = |set: &Set| set.id.is_some_and(|own| own.number() == id);
        self.places.iter().position(is_it).ok_or(Errno::EINVAL)
    }

    /// The id of the set in a place; None is the default set's.
    #[must_use]
    pub const fn id(&self, place: usize) -> Option<PsetId> {
        self.places[place].id
    }

    /// The CPUs of the set in a place.
    #[must_use]
    pub const fn cpus(&self, place: usize) -> CpuSet {
        self.places[place].cpus
    }

    /// The place of the set that a CPU is in. EINVAL: there is no such CPU.
    pub fn place_of(&self, cpu: i32) -> Result<usize, Errno> {
        let cpu = u32::try_from(cpu).map_err(|_| Errno::EINVAL)?;
        self.places.iter().position(|set| set.cpus.has(cpu)).ok_or(Errno::EINVAL)
    }

    /// The places of all sets, the default one first.
    pub fn in_use(&self) -> impl Iterator<Item = usize> + Clone {
        let is_made = |place: &usize| self.places[*place].id.is_some();
        core::iter::once(DEFAULT).chain((1..PLACES).filter(is_made))
    }

    /// The ids of all sets but the default one, the oldest first.
    pub fn ids(&self) -> impl Iterator<Item = PsetId> {
        let mut last = PsetId(0);
        core::iter::from_fn(move || {
            last = self.places.iter().filter_map(|set| set.id).filter(|&id| id > last).min()?;
            Some(last)
        })
    }

    /// Makes a set without CPUs; returns its id and place. ENOMEM: there are twice as many as CPUs already.
    pub fn create(&mut self) -> Result<(PsetId, usize), Errno> {
        let is_free = |place: &usize| self.places[*place].id.is_none();
        let place = (1..PLACES).filter(|_| self.in_use().count() <= self.most).find(is_free);
        let place = place.ok_or(Errno::ENOMEM)?;
        let id = self.new_id();
        self.places[place].id = Some(id);
        Ok((id, place))
    }

    /// All ids in turn, but for those that are in use.
    fn new_id(&mut self) -> PsetId {
        loop {
            let id = PsetId(self.next_id);
            self.next_id = self.next_id % (i32::MAX as u32) + 1;
            if self.find(id.number()).is_err() {
                return id;
            }
        }
    }

    /// Destroys the set in a place, which is not the default one; its CPUs, which are returned, are the default set's.
    pub fn destroy(&mut self, place: usize) -> CpuSet {
        debug_assert!(place != DEFAULT && self.places[place].id.is_some());
        let cpus = core::mem::replace(&mut self.places[place], Set { id: None, cpus: CpuSet(0) }).cpus;
        self.places[DEFAULT].cpus = CpuSet(self.places[DEFAULT].cpus.0 | cpus.0);
        cpus
    }

    /// Moves a CPU, which there is, to the set in a place. EBUSY: it is the last one of the default set or of a set with
    /// LWPs, or LWPs are bound to it.
    pub fn assign(&mut self, cpu: u32, to: usize, bindings: Bindings) -> Result<Assigned, Errno> {
        let from = self.place_of(cpu as i32).expect("the caller knows the CPU");
        if from == to {
            return Ok(Assigned::Stays);
        }
        let left = self.places[from].cpus.without(cpu);
        if bindings.to_cpu > 0 || (left.is_empty() && (from == DEFAULT || bindings.in_set > 0)) {
            return Err(Errno::EBUSY);
        }
        self.places[from].cpus = left;
        self.places[to].cpus = self.places[to].cpus.with(cpu);
        Ok(Assigned::Moved { from, to })
    }
}

impl Default for Sets {
    fn default() -> Sets {
        Sets::new()
    }
}
