//! What it costs to note that an LWP became runnable, or ceased to be: for `make bench`, which runs this in the kernel, where
//! the counter counts instructions. Prints a row as the program `bench` does.

use kcore::clock::Rate;
use kcore::loadavg::{Pace, Part};
use std::arch::x86_64::{_mm_lfence, _rdtsc};
use std::hint::black_box;

const BATCH: u64 = 100;
const BATCHES: usize = 40;

fn main() {
    let rate = Rate::new(1_000_000_000).expect("a rate that there is");
    let pace = Pace::new(rate, 1).expect("a scale that there is");
    let best = |operate: &dyn Fn(&mut Bench) -> u64| {
        let mut bench = Bench { part: Part::new(), begin: 1_000_000_000, pace };
        (0..BATCHES).map(|_| operate(&mut bench)).min().expect("there are batches")
    };
    let empty = best(&|bench| bench.batch(|_, _, _| {}));
    let noting = best(&|bench| bench.batch(|part, now, pace| part.more(now, pace)));
    println!("bench loadavg_update {} instructions", (noting - empty) as f64 / BATCH as f64);
}

struct Bench {
    part: Part,
    begin: u64,
    pace: Pace,
}

impl Bench {
    /// The ticks of a batch of operations, all in one period.
    #[inline(always)]
    fn batch(&mut self, operate: impl Fn(&mut Part, u64, &Pace)) -> u64 {
        self.begin += 1_000_000; // a new period
        let (begin, part, pace) = (self.begin, &mut self.part, &self.pace);
        part.more(begin, pace);
        let before = ticks();
        for change in 1..=BATCH {
            let now = begin + change;
            operate(part, now, pace);
            black_box((&mut *part, now)); // both are needed in any case
        }
        ticks() - before
    }
}

fn ticks() -> u64 {
    // SAFETY: every CPU of this architecture has both.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}
