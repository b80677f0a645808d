//! Rust's `std` finds what it needs.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn collections_grow_and_shrink() {
    let mut numbers: Vec<u64> = (0..1_000_000).collect();
    numbers.reverse();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..1_000_000));
    numbers.truncate(10);
    numbers.shrink_to_fit();
    assert_eq!(numbers.iter().sum::<u64>(), 45);

    let squares: HashMap<u32, u64> = (0..10_000).map(|n| (n, u64::from(n) * u64::from(n))).collect();
    assert!((0..10_000).all(|n| squares[&n] == u64::from(n).pow(2)));
    let tree: BTreeMap<String, usize> = (0..1000).map(|n| (format!("{n:05}"), n)).collect();
    assert!(tree.values().copied().eq(0..1000));
}

#[test]
fn strings_and_floats_are_formatted() {
    assert_eq!(
        format!("{:>8.3}|{:<5}|{:#x}|{:e}", 2.71456_f64, "ab", 255, 1234.5),
        "   2.715|ab   |0xff|1.2345e3"
    );
    assert_eq!("2.5e10".parse::<f64>(), Ok(2.5e10));
    assert_eq!(2.0_f64.powf(0.5).to_bits(), 2.0_f64.sqrt().to_bits());
    assert!((1.0_f64.sin() - 0.841_470_984_807_896_5).abs() < 1e-15);
}

#[test]
fn blocks_of_every_size_are_aligned_and_apart() {
    let mut blocks: Vec<Vec<u8>> = (0..400).map(|n| vec![n as u8; 1 << (n % 18)]).collect();
    blocks.iter().enumerate().for_each(|(n, block)| assert!(block.iter().all(|&byte| byte == n as u8)));
    blocks.iter_mut().step_by(2).for_each(|block| *block = Vec::new());
    blocks.iter().enumerate().filter(|(n, _)| n % 2 == 1).for_each(|(n, block)| {
        assert!(block.iter().all(|&byte| byte == n as u8));
    });
    let aligned = std::alloc::Layout::from_size_align(100, 4096).expect("a layout");
    // SAFETY: the layout has a size; the block is freed with the same layout.
    unsafe {
        let block = std::alloc::alloc(aligned);
        assert_eq!(block.addr() % 4096, 0);
        std::alloc::dealloc(block, aligned);
    }
}

#[test]
fn time_passes_while_asleep() {
    let start = Instant::now();
    thread::sleep(Duration::from_millis(20));
    let slept = start.elapsed();
    assert!(slept >= Duration::from_millis(20), "{slept:?}");
    assert!(slept < Duration::from_secs(5), "{slept:?}");
}

#[test]
fn threads_start_run_and_join() {
    let total = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..64)
        .map(|n| {
            let total = total.clone();
            thread::Builder::new().name(format!("worker {n}")).spawn(move || {
                total.fetch_add(n, Ordering::Relaxed);
                n * n
            })
        })
        .collect();
    let squares: u64 = threads.into_iter().map(|thread| thread.expect("spawn").join().expect("joins")).sum();
    assert_eq!(total.load(Ordering::Relaxed), 2016);
    assert_eq!(squares, (0..64).map(|n| n * n).sum());
}

#[test]
fn a_mutex_excludes() {
    let count = Mutex::new(0_u64);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..5_000).for_each(|_| *count.lock().expect("nobody panicked") += 1));
        }
    });
    assert_eq!(count.into_inner().expect("nobody panicked"), 40_000);
}

#[test]
fn a_mutex_holder_that_sleeps_is_waited_for() {
    let (lock, order) = (Mutex::new(()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        let held = lock.lock().expect("nobody panicked");
        scope.spawn(|| {
            let _held = lock.lock().expect("nobody panicked");
            order.lock().expect("nobody panicked").push("second");
        });
        thread::sleep(Duration::from_millis(10));
        order.lock().expect("nobody panicked").push("first");
        drop(held);
    });
    assert_eq!(order.into_inner().expect("nobody panicked"), ["first", "second"]);
}

#[test]
fn channels_deliver_everything_in_order() {
    let (send, receive) = mpsc::sync_channel(8);
    let sender = thread::spawn(move || (0..5_000).for_each(|n| send.send(n).expect("the receiver lives")));
    assert!(receive.iter().eq(0..5_000));
    sender.join().expect("the thread ends well");
    let (_send, receive) = mpsc::channel::<()>();
    assert_eq!(receive.recv_timeout(Duration::from_millis(5)), Err(mpsc::RecvTimeoutError::Timeout));
}

#[test]
fn condition_variables_wake_one_and_all() {
    let (state, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let state = state.lock().expect("nobody panicked");
                let mut state = changed.wait_while(state, |state| *state == 0).expect("nobody panicked");
                *state += 1;
                changed.notify_all();
            });
        }
        thread::sleep(Duration::from_millis(2));
        *state.lock().expect("nobody panicked") = 1;
        changed.notify_one();
        let state = state.lock().expect("nobody panicked");
        drop(changed.wait_while(state, |state| *state < 9).expect("nobody panicked"));
    });
    let state = state.lock().expect("nobody panicked");
    let (_state, timeout) = changed.wait_timeout(state, Duration::from_millis(3)).expect("nobody panicked");
    assert!(timeout.timed_out());
}

#[test]
fn barriers_locks_and_once_work() {
    let (barrier, lock, once) = (Barrier::new(4), RwLock::new(0), Once::new());
    let leaders = AtomicU64::new(0);
    thread::scope(|scope| {
        for n in 0..4 {
            let (barrier, lock, once, leaders) = (&barrier, &lock, &once, &leaders);
            scope.spawn(move || {
                once.call_once(|| *lock.write().expect("nobody panicked") += 100);
                *lock.write().expect("nobody panicked") += n;
                leaders.fetch_add(u64::from(barrier.wait().is_leader()), Ordering::Relaxed);
                assert_eq!(*lock.read().expect("nobody panicked"), 106);
            });
        }
    });
    assert_eq!(leaders.into_inner(), 1);
}

thread_local! {
    static OWN: Cell<u64> = const { Cell::new(5) };
}

#[test]
fn each_thread_has_its_own_variables() {
    OWN.set(6);
    let others: Vec<u64> = (0..8)
        .map(|n| thread::spawn(move || OWN.replace(n)))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|thread| thread.join().expect("the thread ends well"))
        .collect();
    assert_eq!(others, [5; 8]);
    assert_eq!(OWN.get(), 6);
}

#[test]
fn a_panic_unwinds_and_is_caught() {
    let result = thread::spawn(|| {
        let _guard = Box::new(1);
        if OWN.get() == 5 {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    })
    .join();
    assert_eq!(result.expect_err("it panicked").downcast_ref(), Some(&"on purpose"));
}

#[test]
fn a_deep_stack_is_there() {
    fn depth(left: u32) -> u32 {
        let frame = std::hint::black_box([0_u8; 512]);
        if left == 0 { 0 } else { 1 + depth(left - 1) + u32::from(frame[511]) }
    }
    let deep = thread::Builder::new().stack_size(4 << 20).spawn(|| depth(5_000)).expect("spawn");
    assert_eq!(deep.join().expect("the thread ends well"), 5_000);
}

#[test]
fn arguments_and_environment_are_there() {
    assert!(std::env::args().next().is_some_and(|name| name.starts_with('/')));
    assert!(std::env::vars().count() > 0);
    assert!(thread::available_parallelism().expect("sched_getaffinity").get() <= 64);
}

#[test]
fn input_and_output_are_told_apart_from_terminals() {
    use std::io::{IsTerminal, Write};
    // Whether or not it is one: the question is answered.
    let _: bool = std::io::stdout().is_terminal();
    assert_eq!(std::io::stdout().write(b"").expect("write of nothing"), 0);
    std::io::stderr().flush().expect("flush");
}
