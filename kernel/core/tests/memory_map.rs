//! `free_pieces` against a model that knows each byte by itself.

use std::ops::Range;

use kcore::memory_map::{PAGE_SIZE, free_pieces};
use proptest::prelude::*;

const PAGES: u64 = 40;

/// Ranges with ends on, just before and just behind page borders.
fn range() -> impl Strategy<Value = Range<u64>> {
    let border = || (1..PAGES, 0..3u64).prop_map(|(page, shift)| page * PAGE_SIZE + shift - 1);
    (border(), border()).prop_map(|(a, b)| a.min(b)..a.max(b))
}

/// Disjoint usable ranges, in any order.
fn usable() -> impl Strategy<Value = Vec<Range<u64>>> {
    let disjoint = |ranges: Vec<Range<u64>>| {
        let mut kept: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            if kept.iter().all(|other| other.end <= range.start || range.end <= other.start) {
                kept.push(range);
            }
        }
        kept
    };
    prop::collection::vec(range(), 0..6).prop_map(disjoint)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 2000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_page_is_free_if_it_is_all_usable_and_nothing_of_it_is_taken(
        usable in usable(),
        taken in prop::collection::vec(range(), 0..6),
    ) {
        let mut times_given = [0; PAGES as usize + 1];
        for piece in free_pieces(usable.iter().cloned(), &taken) {
            prop_assert!(!piece.is_empty());
            prop_assert!((piece.start | piece.end).is_multiple_of(PAGE_SIZE));
            (piece.start / PAGE_SIZE..piece.end / PAGE_SIZE).for_each(|page| times_given[page as usize] += 1);
        }
        for page in 0..=PAGES {
            let (start, end) = (page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
            let is_usable = usable.iter().any(|range| range.start <= start && end <= range.end);
            let is_taken = taken.iter().any(|range| range.start < end && start < range.end && !range.is_empty());
            prop_assert_eq!(times_given[page as usize], u32::from(is_usable && !is_taken), "page {}", page);
        }
    }
}

#[test]
fn the_last_page_of_all_addresses_is_no_trouble() {
    let everything = 0..u64::MAX;
    let taken = [0..1, u64::MAX - 1..u64::MAX];
    let mut pieces = free_pieces(std::iter::once(everything), &taken);
    assert_eq!(pieces.next(), Some(PAGE_SIZE..u64::MAX - 4095));
    assert_eq!(pieces.next(), None);
}
