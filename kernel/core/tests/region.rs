//! `Regions` against a model that knows each page by itself.

use std::ops::Range;

use kcore::region::{Kind, Movable, PAGE_SIZE, Place, Protection, Region, Regions};
use proptest::prelude::*;
use syscalls::Errno;

/// The pages that the tests use: the limits of the address space.
const FIRST: u64 = 16;
const PAGES: u64 = 48;
const CEILING: u64 = FIRST + 40;
const HEAP: u64 = FIRST + 4;

static FILE: [u8; 20 * PAGE_SIZE as usize + 100] = [7; 20 * PAGE_SIZE as usize + 100];

/// What the model knows of a page: its protection, and its kind with the file offset where it has one.
type Page = Option<(Protection, PageKind)>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum PageKind {
    Anonymous,
    Shared,
    File(u64),
    PastEnd,
}

#[derive(Debug, Clone)]
struct Model {
    pages: [Page; PAGES as usize],
    heap_end: u64,
}

fn bytes(pages: Range<u64>) -> Range<u64> {
    pages.start * PAGE_SIZE..pages.end * PAGE_SIZE
}

impl Model {
    fn slots(&mut self, range: Range<u64>) -> &mut [Page] {
        &mut self.pages[(range.start / PAGE_SIZE - FIRST) as usize..(range.end / PAGE_SIZE - FIRST) as usize]
    }

    fn is_free(&mut self, range: Range<u64>) -> bool {
        self.slots(range).iter().all(Option::is_none)
    }

    fn map(&mut self, range: Range<u64>, protection: Protection, kind: Kind) {
        for (index, slot) in self.slots(range).iter_mut().enumerate() {
            *slot = Some((protection, page_kind(kind, index as u64 * PAGE_SIZE)));
        }
    }

    /// The highest gap of `length` pages below the ceiling, by trying all.
    fn gap(&mut self, length: u64) -> Option<Range<u64>> {
        let starts = (FIRST..=CEILING.saturating_sub(length)).rev();
        starts.map(|start| bytes(start..start + length)).find(|range| self.is_free(range.clone()))
    }
}

fn page_kind(kind: Kind, offset: u64) -> PageKind {
    match kind {
        Kind::Anonymous => PageKind::Anonymous,
        Kind::Shared => PageKind::Shared,
        Kind::File(rest) if offset >= rest.len() as u64 => PageKind::PastEnd,
        Kind::File(rest) => PageKind::File((rest.as_ptr() as u64 - FILE.as_ptr() as u64) + offset),
    }
}

fn inside(range: &Range<u64>) -> bool {
    range.start >= FIRST * PAGE_SIZE && range.end <= (FIRST + PAGES) * PAGE_SIZE && !range.is_empty()
}

/// The regions, page by page; checks on the way that they are in order and joined as far as they can be.
fn pages_of(regions: &Regions) -> [Page; PAGES as usize] {
    let mut model = Model { pages: [None; PAGES as usize], heap_end: 0 };
    let mut last: Option<Region> = None;
    for region in regions.iter() {
        assert!(inside(&region.range()), "{region:?}");
        if let Some(last) = last {
            assert!(last.end <= region.start, "{last:?} overlaps {region:?}");
            let (before, after) = (last.end - PAGE_SIZE - last.start, region.start);
            let alike = last.end == after
                && last.protection == region.protection
                && match (page_kind(last.kind, before), page_kind(region.kind, 0)) {
                    (PageKind::File(a), PageKind::File(b)) => a + PAGE_SIZE == b,
                    (PageKind::File(a), PageKind::PastEnd) => a + PAGE_SIZE >= FILE.len() as u64,
                    (a, b) => a == b,
                };
            assert!(!alike, "{last:?} and {region:?} should be one");
        }
        model.map(region.range(), region.protection, region.kind);
        last = Some(*region);
    }
    model.pages
}

#[derive(Debug, Clone)]
enum Step {
    Map(Place, u64, Protection, Kind),
    Unmap(Range<u64>),
    Protect(Range<u64>, Protection),
    Remap(Range<u64>, u64, Movable),
    Break(u64),
    Clone,
}

/// Page numbers in and a little around the limits.
fn page() -> impl Strategy<Value = u64> {
    FIRST - 1..FIRST + PAGES + 1
}

fn range() -> impl Strategy<Value = Range<u64>> {
    (page(), 1..12u64).prop_map(|(start, length)| bytes(start..start + length))
}

fn protection() -> impl Strategy<Value = Protection> {
    (0..4u64).prop_map(|bits| Protection::from_bits(bits).unwrap())
}

fn kind() -> impl Strategy<Value = Kind> {
    let file = (0..22usize).prop_map(|page| Kind::File(FILE.get(page * 4096..).unwrap_or(&[])));
    prop_oneof![Just(Kind::Anonymous), Just(Kind::Shared), file]
}

fn place() -> impl Strategy<Value = Place> {
    let address = page().prop_map(|page| page * PAGE_SIZE);
    (0..5, address).prop_map(|(choice, address)| match choice {
        0 => Place::Near(0),
        1 => Place::Near(address),
        2 => Place::FixedIfFree(address),
        _ => Place::Fixed(address),
    })
}

fn step() -> impl Strategy<Value = Step> {
    let movable = prop_oneof![
        Just(Movable::Yes),
        Just(Movable::No),
        (0..80u64).prop_map(|page| Movable::To(page * PAGE_SIZE))
    ];
    prop_oneof![
        4 => (place(), 1..10 * PAGE_SIZE, protection(), kind()).prop_map(|(a, b, c, d)| Step::Map(a, b, c, d)),
        2 => range().prop_map(Step::Unmap),
        3 => (range(), protection()).prop_map(|(range, protection)| Step::Protect(range, protection)),
        2 => (range(), 1..12 * PAGE_SIZE, movable).prop_map(|(a, b, c)| Step::Remap(a, b, c)),
        1 => ((HEAP - 1) * PAGE_SIZE..(HEAP + 14) * PAGE_SIZE).prop_map(Step::Break),
        1 => Just(Step::Clone),
    ]
}

fn check_map(regions: &mut Regions, model: &mut Model, place: Place, length: u64, new: (Protection, Kind)) {
    let pages = length.div_ceil(PAGE_SIZE);
    let (Place::Near(start) | Place::Fixed(start) | Place::FixedIfFree(start)) = place;
    let wanted = start..start + pages * PAGE_SIZE;
    let free = inside(&wanted) && model.is_free(wanted.clone());
    let expected = match place {
        Place::Near(_) if free => Ok(wanted),
        Place::Near(_) => model.gap(pages).ok_or(Errno::ENOMEM),
        _ if !inside(&wanted) => Err(Errno::ENOMEM),
        Place::FixedIfFree(_) if !free => Err(Errno::EEXIST),
        _ => Ok(wanted),
    };
    assert_eq!(regions.map(place, length, new.0, new.1), expected);
    if let Ok(range) = expected {
        model.map(range, new.0, new.1);
    }
}

fn check_protect(regions: &mut Regions, model: &mut Model, range: Range<u64>, protection: Protection) {
    let expected = match () {
        _ if !inside(&range) => Err(Errno::ENOMEM),
        _ if model.slots(range.clone()).iter().any(Option::is_none) => Err(Errno::ENOMEM),
        _ => Ok(()),
    };
    assert_eq!(regions.protect(range.clone(), protection), expected);
    if expected.is_ok() {
        model.slots(range).iter_mut().flatten().for_each(|page| page.0 = protection);
    }
}

fn check_remap(regions: &mut Regions, model: &mut Model, old: Range<u64>, length: u64, movable: Movable) {
    let pages = length.div_ceil(PAGE_SIZE);
    let region = regions.lookup(old.start).copied().filter(|region| old.end <= region.end);
    let result = regions.remap(old.clone(), length, movable);
    if !inside(&old) {
        assert_eq!(result, Err(Errno::EINVAL));
        return;
    }
    let Some(region) = region else {
        assert_eq!(result, Err(Errno::EFAULT));
        return;
    };
    let new = old.start..old.start + pages * PAGE_SIZE;
    let crosses_ceiling = old.end <= CEILING * PAGE_SIZE && new.end > CEILING * PAGE_SIZE;
    let fits = new.end <= old.end || inside(&new) && model.is_free(old.end..new.end) && !crosses_ceiling;
    let expected = match movable {
        Movable::To(start) => {
            let chosen = start..start + pages * PAGE_SIZE;
            let overlaps = chosen.start < old.end && old.start < chosen.end;
            if !inside(&chosen) || overlaps { Err(Errno::EINVAL) } else { Ok(chosen) }
        }
        _ if fits => Ok(new),
        Movable::No => Err(Errno::ENOMEM),
        Movable::Yes => model.gap(pages).ok_or(Errno::ENOMEM),
    };
    assert_eq!(result, expected);
    if let Ok(new) = expected {
        let offset = old.start - region.start;
        let kind = match region.kind {
            Kind::File(rest) => Kind::File(rest.get(offset as usize..).unwrap_or(&[])),
            other => other,
        };
        model.slots(old).fill(None);
        model.map(new, region.protection, kind);
    }
}

fn check_break(regions: &mut Regions, model: &mut Model, end: u64) {
    let (old, new) = (model.heap_end.next_multiple_of(PAGE_SIZE), end.next_multiple_of(PAGE_SIZE));
    let expected = match () {
        _ if end < HEAP * PAGE_SIZE => Err(Errno::EINVAL),
        _ if new > old && !model.is_free(old..new) => Err(Errno::ENOMEM),
        _ => Ok(new..old.max(new)),
    };
    assert_eq!(regions.move_heap_end(end), expected);
    if expected.is_ok() {
        model.heap_end = end;
        match new > old {
            true => model.map(old..new, Protection::READ | Protection::WRITE, Kind::Anonymous),
            false => model.slots(new..old).fill(None),
        }
    }
    assert_eq!(regions.heap_end(), model.heap_end);
}

fn perform(regions: &mut Regions, model: &mut Model, step: Step) {
    match step {
        Step::Map(place, length, protection, kind) => {
            check_map(regions, model, place, length, (protection, kind));
        }
        Step::Unmap(range) => {
            let first = range.start.max(FIRST * PAGE_SIZE);
            let valid = range.end <= (FIRST + PAGES) * PAGE_SIZE;
            assert_eq!(regions.unmap(range.clone()), if valid { Ok(()) } else { Err(Errno::EINVAL) });
            if valid && first < range.end {
                model.slots(first..range.end).fill(None);
            }
        }
        Step::Protect(range, protection) => check_protect(regions, model, range, protection),
        Step::Remap(old, length, movable) => check_remap(regions, model, old, length, movable),
        Step::Break(end) => check_break(regions, model, end),
        Step::Clone => *regions = regions.try_clone().unwrap(),
    }
}

/// Lookup and the gap around a free page, for every page; the regions of a few ranges.
fn check_queries(regions: &Regions, model: &mut Model) {
    for range in [bytes(FIRST..FIRST + 1), bytes(FIRST + 5..FIRST + 13), bytes(CEILING..FIRST + PAGES)] {
        let found: Vec<Region> = regions.overlapping(&range).copied().collect();
        let expected = regions.iter().filter(|region| !region.part_in(&range).is_empty());
        assert!(found.iter().eq(expected));
    }
    for page in FIRST..FIRST + PAGES {
        let address = page * PAGE_SIZE;
        let known = model.pages[(page - FIRST) as usize];
        let found = regions.lookup(address + 5);
        let shown = found.map(|region| (region.protection, page_kind(region.kind, address - region.start)));
        assert_eq!(shown, known, "page {page}");
        if known.is_none() {
            let gap = regions.gap_around(bytes(page..page + 1));
            assert!(gap.start == 0 || !model.is_free(gap.start - PAGE_SIZE..gap.start));
            assert!(gap.end == u64::MAX || !model.is_free(gap.end..gap.end + PAGE_SIZE));
            let limits = bytes(FIRST..FIRST + PAGES);
            assert!(model.is_free(gap.start.max(limits.start)..gap.end.min(limits.end)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 2000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_change_does_to_each_page_what_it_should(steps in prop::collection::vec(step(), 1..60)) {
        let mut regions = Regions::new(bytes(FIRST..FIRST + PAGES), CEILING * PAGE_SIZE);
        regions.place_heap(HEAP * PAGE_SIZE);
        let mut model = Model { pages: [None; PAGES as usize], heap_end: HEAP * PAGE_SIZE };
        for step in steps {
            perform(&mut regions, &mut model, step);
            prop_assert_eq!(pages_of(&regions), model.pages);
            check_queries(&regions, &mut model);
        }
    }
}

const READ: Protection = Protection::READ;
const WRITE: Protection = Protection::WRITE;

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn the_most_regions_is_a_limit_that_changes_nothing() {
    let mut regions = Regions::new(0..1 << 40, 1 << 40);
    let count = kcore::region::MAX_REGIONS as u64;
    for index in 0..count {
        regions.map(Place::Fixed(index * 2 * PAGE_SIZE), PAGE_SIZE, READ, Kind::Anonymous).unwrap();
    }
    let one_more = count * 2 * PAGE_SIZE;
    assert_eq!(regions.map(Place::Fixed(one_more), PAGE_SIZE, READ, Kind::Anonymous), Err(Errno::ENOMEM));
    assert_eq!(regions.iter().count() as u64, count);
    assert!(regions.lookup(one_more).is_none());
    regions.protect(0..PAGE_SIZE, WRITE).unwrap();
    regions.unmap(0..PAGE_SIZE).unwrap();
    regions.map(Place::Fixed(one_more), PAGE_SIZE, READ, Kind::Anonymous).unwrap();
}

#[test]
fn odd_arguments_are_refused() {
    let mut regions = Regions::new(PAGE_SIZE..1 << 40, 1 << 40);
    let mut map = |place, length| regions.map(place, length, READ, Kind::Anonymous);
    assert_eq!(map(Place::Near(0), 0), Err(Errno::EINVAL));
    assert_eq!(map(Place::Near(0), u64::MAX), Err(Errno::ENOMEM));
    assert_eq!(map(Place::Near(0), 1 << 40), Err(Errno::ENOMEM));
    assert_eq!(map(Place::Near(u64::MAX), PAGE_SIZE), Ok((1 << 40) - PAGE_SIZE..1 << 40));
    assert_eq!(map(Place::Fixed(1), PAGE_SIZE), Err(Errno::EINVAL));
    assert_eq!(map(Place::Fixed(0), PAGE_SIZE), Err(Errno::ENOMEM));
    assert_eq!(map(Place::Fixed(u64::MAX - 4095), PAGE_SIZE), Err(Errno::ENOMEM));
    assert_eq!(regions.unmap(Range { start: u64::MAX - 4095, end: 0 }), Err(Errno::EINVAL));
    assert_eq!(regions.protect(PAGE_SIZE..PAGE_SIZE, READ), Err(Errno::EINVAL));
    assert_eq!(regions.remap(PAGE_SIZE..2 * PAGE_SIZE, u64::MAX, Movable::Yes), Err(Errno::ENOMEM));
}
