//! K02: a process with one busy LWP has that LWP's time once, not twice. Alone in its file, so that no other test's
//! threads use time of the process.

use std::time::Duration;

use guest::{assert_within, call_loop, user_loop};
use userlib::clock::{self, Clock};
use userlib::lwp;

#[test]
fn the_process_grows_by_what_its_lwp_uses() {
    let lwp = || lwp::info().expect("_lwp_info").total();
    let process = || clock::now(Clock::PROCESS_CPU).expect("clock_gettime");
    // The threads of the test library may still be busy for a moment.
    std::thread::sleep(Duration::from_millis(50));

    let outer = process();
    let first = lwp();
    user_loop(20_000_000);
    call_loop(20_000);
    let last = lwp();
    let grown = process() - outer;

    let used = last - first;
    assert!(used >= Duration::from_millis(1), "used {used:?}");
    assert_within("growth of the process", grown, used..=used + used / 100 + Duration::from_millis(1));
}
