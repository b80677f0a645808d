//! What of the machine's memory map is free at boot: usable ranges minus what is taken, in whole pages.

use core::iter::from_fn;
use core::ops::Range;

/// Bytes in a page.
pub const PAGE_SIZE: u64 = 4096;

/// The free pieces of the `usable` ranges: page-aligned, non-empty, touching none of the `taken` ranges.
///
/// A page counts only if all of it is usable, and is lost if any byte of it is taken. Ranges may come in any order;
/// taken ones may overlap each other, usable ones may not. The pieces of one range come in ascending order.
pub fn free_pieces<'a>(
    usable: impl Iterator<Item = Range<u64>> + 'a,
    taken: &'a [Range<u64>],
) -> impl Iterator<Item = Range<u64>> + 'a {
    usable.flat_map(move |range| {
        let mut rest = whole_pages_within(range);
        from_fn(move || {
            while !rest.is_empty() {
                let piece = split_first(&mut rest, taken);
                if !piece.is_empty() {
                    return Some(piece);
                }
            }
            None
        })
    })
}

/// Cuts `rest` behind the first taken range in it, and returns what lies before that.
fn split_first(rest: &mut Range<u64>, taken: &[Range<u64>]) -> Range<u64> {
    let overlaps = |range: &Range<u64>| range.start < rest.end && range.end > rest.start;
    let taken = taken.iter().filter(|range| !range.is_empty());
    let first = taken.map(pages_around).filter(overlaps).min_by_key(|range| range.start);
    let Some(hole) = first else {
        return core::mem::replace(rest, rest.end..rest.end);
    };
    let piece = rest.start..hole.start;
    rest.start = hole.end.min(rest.end);
    piece
}

/// The pages that lie wholly inside `range`.
fn whole_pages_within(range: Range<u64>) -> Range<u64> {
    let start = range.start.checked_next_multiple_of(PAGE_SIZE).unwrap_or(range.end);
    start..range.end - range.end % PAGE_SIZE
}

/// The pages that `range` touches.
fn pages_around(range: &Range<u64>) -> Range<u64> {
    let end = range.end.checked_next_multiple_of(PAGE_SIZE).unwrap_or(u64::MAX);
    range.start - range.start % PAGE_SIZE..end
}
