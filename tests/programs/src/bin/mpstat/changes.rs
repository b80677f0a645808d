//! What became of the sets between two looks, as messages.

use crate::rates::Sample;
use userlib::pset::PsetId;

/// Sets that came and went, CPUs that moved.
pub(crate) fn changes(
    sets_before: &[PsetId],
    sets_after: &[PsetId],
    before: &[Sample],
    after: &[Sample],
) -> Vec<String> {
    let created = missing(sets_after, sets_before).map(|set| format!("<<pset created: {set}>>"));
    let destroyed = missing(sets_before, sets_after).map(|set| format!("<<pset destroyed: {set}>>"));
    let moved = before.iter().zip(after).filter(|(old, new)| old.set != new.set);
    let moved = moved
        .map(|(old, new)| format!("<<processor {} moved from pset: {} to: {}>>", new.cpu, old.set, new.set));
    created.chain(destroyed).chain(moved).collect()
}

fn missing<'a>(of: &'a [PsetId], from: &'a [PsetId]) -> impl Iterator<Item = &'a PsetId> {
    of.iter().filter(|set| !from.contains(set))
}
