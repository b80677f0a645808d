//! K33: odd integers in any argument of any call give a documented error or are harmless; the kernel lives.
//! (Red on the checked kernel with one plain addition of an address and a length.)

use std::collections::BTreeSet;

use guest::{Registers, call, invoke};
use syscalls::{ROWS, Row, number};
use userlib::Errno;
use userlib::clock::{self, Clock};
use userlib::cpu::{self, CpuId};
use userlib::lwp::{self, LwpId};

/// What goes into every argument in turn. None is an address that anything is mapped at.
const ODD: [u64; 9] = [
    0,
    1,
    u64::MAX,
    i64::MAX as u64,
    i64::MIN as u64,
    i32::MAX as u64,
    i32::MIN as i64 as u64,
    u32::MAX as u64,
    0x7fff_ffff_f000,
];

/// Whether a call with these arguments would end, block or harm the test itself.
fn would_harm(row: &Row, arguments: &[u64]) -> bool {
    let int = |index: usize| arguments[index] as i32;
    match row.number {
        // They end the caller, or make one that has no stack.
        number::exit | number::exit_group | number::clone => true,
        // The C library needs the word it has set.
        number::set_tid_address => true,
        // Input that nobody types, and the descriptors that the results go through.
        number::read | number::readv | number::close | number::fcntl => (0..=2).contains(&int(0)),
        number::dup2 | number::dup3 => (0..=2).contains(&int(1)),
        // Hang up the process that has such an id, or all.
        number::kill | number::tkill => (1..=64).contains(&int(1)),
        number::tgkill => (1..=64).contains(&int(2)),
        // Other tests need the rights of user 0.
        number::setuid => true,
        // For ever, or for a long time.
        number::poll => int(2) != 0,
        // The program itself may lie there.
        number::munmap => arguments[0] < 4096 && (4096..1 << 48).contains(&arguments[1]),
        _ => false,
    }
}

/// Two arguments odd, the others all 0 or all −1.
fn odd_arguments(count: usize) -> BTreeSet<Vec<u64>> {
    let mut all = BTreeSet::new();
    for rest in [0, u64::MAX] {
        for (first, second) in (0..count).flat_map(|first| (first..count).map(move |second| (first, second)))
        {
            for (one, other) in ODD.iter().flat_map(|one| ODD.iter().map(move |other| (one, other))) {
                let mut arguments = vec![rest; count];
                arguments[first] = *one;
                arguments[second] = *other;
                all.insert(arguments);
            }
        }
    }
    all
}

#[test]
fn no_call_minds_odd_integers() {
    let mut tried = 0;
    for row in ROWS {
        for arguments in
            odd_arguments(row.arguments.len()).iter().filter(|arguments| !would_harm(row, arguments))
        {
            let mut registers = Registers { rax: row.number as u64, ..Registers::default() };
            let targets = [
                &mut registers.rdi,
                &mut registers.rsi,
                &mut registers.rdx,
                &mut registers.r10,
                &mut registers.r8,
                &mut registers.r9,
            ];
            targets.into_iter().zip(arguments).for_each(|(register, &argument)| *register = argument);
            // SAFETY: no argument is an address of anything, and harmful ones are left out.
            unsafe { invoke(&mut registers) };
            let code = registers.rax.wrapping_neg();
            let known = code > 4095 || code == 0 || Errno::from_code(code as u16).is_some();
            assert!(known, "{}({arguments:x?}) gave −{code}", row.name);
            tried += 1;
        }
    }
    assert!(tried > 10_000, "{tried} combinations");
    assert_eq!(userlib::raw::getpid(), std::process::id() as u64, "the kernel still answers");
}

#[test]
fn unknown_numbers_give_enosys() {
    let known: BTreeSet<u64> = ROWS.iter().map(|row| row.number as u64).collect();
    let near =
        (0x1000..0x1200).chain(0x400..0x500).chain(ROWS.iter().map(|row| row.number as u64 + 0x10_0000));
    let far = [u64::MAX, i64::MAX as u64, u32::MAX as u64, i32::MAX as u64, 0x4000_0027];
    for number in near.chain(far).filter(|number| !known.contains(number)) {
        let mut registers = Registers { rax: number, ..Registers::default() };
        // SAFETY: no such call.
        unsafe { invoke(&mut registers) };
        assert_eq!(Errno::from_return(registers.rax), Err(Errno::ENOSYS), "number {number:#x}");
    }
}

#[test]
fn ints_are_read_from_the_low_half() {
    let garbage = 0xdead_beef_0000_0000;
    let mut time = [0_u64; 2];
    // SAFETY: the structure is this test's own.
    let result = unsafe { call(number::clock_gettime, &[garbage | 1, guest::address(&raw mut time)]) };
    assert_eq!(result, Ok(0), "clock 1 with garbage above it");
    // SAFETY: as above.
    let result =
        unsafe { call(number::thread_cputime, &[0x1234_5678_ffff_ffff, guest::address(&raw mut time)]) };
    assert_eq!(result, Ok(0), "tid −1 with garbage above it");
}

#[test]
fn odd_lwp_ids_are_refused() {
    for tid in [0, -2, -3, i32::MIN, i32::MIN + 1] {
        assert_eq!(lwp::cputime(LwpId::from_raw(tid)), Err(Errno::EINVAL), "thread_cputime({tid})");
        assert_eq!(lwp::microstates(LwpId::from_raw(tid)), Err(Errno::EINVAL), "lwp_microstates({tid})");
    }
    for tid in [i32::MAX, i32::MAX - 1, 1 << 17, (1 << 22) + 1, 99_999] {
        assert_eq!(lwp::cputime(LwpId::from_raw(tid)), Err(Errno::ESRCH), "thread_cputime({tid})");
        assert_eq!(lwp::microstates(LwpId::from_raw(tid)), Err(Errno::ESRCH), "lwp_microstates({tid})");
    }
}

#[test]
fn the_id_is_checked_before_the_pointer() {
    for (tid, errno) in [(0, Errno::EINVAL), (-2, Errno::EINVAL), (i32::MAX, Errno::ESRCH)] {
        for number in [number::thread_cputime, number::lwp_microstates] {
            // SAFETY: a bad id: nothing is written.
            assert_eq!(unsafe { call(number, &[tid as u64, 16]) }, Err(errno), "tid {tid}");
        }
    }
    // SAFETY: a bad CPU: nothing is written.
    assert_eq!(unsafe { call(number::cpu_times, &[u64::MAX, 16]) }, Err(Errno::EINVAL));
}

#[test]
fn an_ended_lwp_is_no_more() {
    let tid = std::thread::spawn(lwp::current).join().expect("the thread ends well");
    // The C library wakes the joiner a little before the LWP is gone.
    let gone = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        lwp::cputime(tid) == Err(Errno::ESRCH)
    });
    assert!(gone, "thread_cputime({tid}): {:?}", lwp::cputime(tid));
    assert_eq!(lwp::microstates(tid), Err(Errno::ESRCH));
}

#[test]
fn odd_cpus_and_clocks_are_refused() {
    for cpu in [-1, -2, i32::MIN, i32::MAX, 64, 4096, 1 << 20] {
        assert_eq!(cpu::times(CpuId::from_raw(cpu)), Err(Errno::EINVAL), "CPU {cpu}");
    }
    for clock in [99, 1 << 20, i32::MAX, i32::MIN, -1] {
        assert_eq!(clock::now(Clock::from_raw(clock)), Err(Errno::EINVAL), "clock {clock}");
        assert_eq!(clock::resolution(Clock::from_raw(clock)), Err(Errno::EINVAL), "clock {clock}");
    }
}
