//! What a system call leaves alone: every register but `rax`, `rcx` and `r11`, and all flags (K36, K37).

use guest::{Pages, Registers, address, call, invoke};
use syscalls::number;

const DIRECTION: u64 = 1 << 10;
const ALIGNMENT: u64 = 1 << 18;
const NESTED_TASK: u64 = 1 << 14;
const IDENTIFICATION: u64 = 1 << 21;
/// Carry, parity, adjust, zero, sign, overflow.
const STATUS: u64 = 0x8d5;

/// Calls of every way through the kernel, that succeed: short ones, ones that copy in and out, ones that switch.
fn calls(room: &Pages) -> Vec<(usize, Vec<u64>)> {
    let place = room.page(1);
    let path = room.page(0);
    b"/absent\0".iter().enumerate().for_each(|(index, &byte)| room.write(index as u64, byte));
    // Half a millisecond, to be slept.
    let request = path + 64;
    [0_u64, 500_000].into_iter().flat_map(u64::to_le_bytes).enumerate().for_each(|(index, byte)| {
        room.write(64 + index as u64, byte);
    });
    vec![
        (number::getppid, vec![]),
        (number::getpid, vec![]),
        (0x7fff, vec![]),
        (number::lwp_info, vec![place]),
        (number::lwp_info32, vec![place]),
        (number::thread_self, vec![]),
        (number::thread_cputime, vec![u64::MAX, place]),
        (number::lwp_microstates, vec![u64::MAX, place]),
        (number::cpu_times, vec![0, place]),
        (number::clock_gettime, vec![1, place]),
        (number::getrusage, vec![0, place]),
        (number::times, vec![place]),
        (number::uname, vec![place]),
        (number::sysinfo, vec![place]),
        (number::getcwd, vec![place, 64]),
        (number::getrandom, vec![place, 300, 0]),
        (number::open, vec![path, 0, 0]),
        (number::stat, vec![path, place]),
        (number::write, vec![1, path, 0]),
        (number::writev, vec![1, place + 2048, 0]),
        (number::rt_sigprocmask, vec![0, 0, place, 8]),
        (number::prlimit64, vec![0, libc::RLIMIT_NOFILE as u64, 0, place]),
        (number::sched_getaffinity, vec![0, 8, place]),
        (number::sched_yield, vec![]),
        (number::nanosleep, vec![request, 0]),
        (number::lwp_info, vec![16]),
        (number::open, vec![16, 0, 0]),
    ]
}

fn registers_for(number: usize, arguments: &[u64]) -> Registers {
    let mut registers = Registers { rax: number as u64, ..Registers::default() };
    let targets = [&mut registers.rdi, &mut registers.rsi, &mut registers.rdx, &mut registers.r10];
    targets.into_iter().zip(arguments).for_each(|(register, &argument)| *register = argument);
    registers
}

/// Makes every call with these flags, often, and asserts that only the result has changed.
fn all_calls_keep_everything(flags: u64, repeats: usize) {
    let room = Pages::new(3);
    for (number, arguments) in calls(&room) {
        for _ in 0..repeats {
            let mut before = registers_for(number, &arguments);
            before.flags |= flags;
            let mut after = before;
            // SAFETY: the calls write to the room only; the flags are ones that the few instructions around the
            // call do not mind.
            unsafe { invoke(&mut after) };
            let expected = Registers { rax: after.rax, ..before };
            assert_eq!(after, expected, "call {number:#x} with flags {:#x}", before.flags);
        }
    }
}

#[test]
fn general_registers_survive_every_call() {
    all_calls_keep_everything(0, 16);
}

#[test]
fn status_flags_survive_every_call() {
    all_calls_keep_everything(STATUS, 4);
    all_calls_keep_everything(0x1, 4);
}

/// (QEMU's emulated CPU clears the flag at `syscall` whatever SFMASK says: that the kernel asks for it shows under KVM.)
#[test]
fn k36_calls_work_with_the_direction_flag_set() {
    all_calls_keep_everything(DIRECTION, 256);
}

/// (Red where the return leaves it out. That SFMASK clears it, so that the kernel stays kept from user memory, cannot be seen.)
#[test]
fn k37_calls_work_with_the_alignment_flag_set() {
    all_calls_keep_everything(ALIGNMENT, 64);
}

#[test]
fn k37_calls_work_with_the_nested_task_flag_set() {
    all_calls_keep_everything(NESTED_TASK, 64);
}

/// The caller blocks with the flag set and its CPU goes on with a process that was never run, whose way to user mode is
/// `iretq`: which the flag forbids. (Red on one CPU where SFMASK leaves the flag.)
#[test]
fn k37_others_start_while_one_waits_with_the_nested_task_flag_set() {
    for _ in 0..8 {
        // SAFETY: the child makes one call and is gone.
        let child = unsafe { call(number::fork, &[]) }.expect("fork");
        if child == 0 {
            // SAFETY: ends the child.
            let _ = unsafe { call(number::exit_group, &[0]) };
        }
        let mut registers = registers_for(number::wait4, &[child, 0, 0, 0]);
        registers.flags |= NESTED_TASK;
        // SAFETY: waits for the child, and no more.
        unsafe { invoke(&mut registers) };
        assert_eq!(registers.rax, child, "wait4");
        assert_ne!(registers.flags & NESTED_TASK, 0);
    }
}

#[test]
fn k37_calls_work_with_the_identification_flag_set() {
    all_calls_keep_everything(IDENTIFICATION, 64);
    all_calls_keep_everything(IDENTIFICATION | NESTED_TASK | ALIGNMENT | DIRECTION | STATUS, 16);
}

#[test]
fn k36_what_is_copied_with_the_direction_flag_set_is_right() {
    let room = Pages::new(3);
    for offset in [0, 1, 8, guest::PAGE - 24, guest::PAGE - 200] {
        for flags in [0, DIRECTION] {
            room.fill(0xc5);
            let mut registers = registers_for(number::uname, &[room.page(1) + offset - 200]);
            registers.flags |= flags;
            // SAFETY: the structure's 390 bytes lie in the room.
            unsafe { invoke(&mut registers) };
            assert_eq!(registers.rax, 0, "uname");
            let start = guest::PAGE + offset - 200;
            let changed: Vec<u64> = (0..3 * guest::PAGE).filter(|&at| room.read(at) != 0xc5).collect();
            assert_eq!(changed.first(), Some(&start), "flags {flags:#x}");
            assert_eq!(changed.last(), Some(&(start + 389)), "flags {flags:#x}");
        }
    }
}

/// (Red without the `cld` of the entry: pages are cleared backwards.)
#[test]
fn k36_page_faults_work_with_the_direction_flag_set() {
    let pages = Pages::new(256);
    for page in 0..256 {
        let flags: u64;
        // SAFETY: a write to this test's own page; the flag is cleared again.
        unsafe {
            std::arch::asm!(
                "std",
                "mov byte ptr [{place}], 1",
                "pushfq",
                "pop {flags}",
                "cld",
                place = in(reg) pages.page(page),
                flags = out(reg) flags,
            );
        }
        assert_ne!(flags & DIRECTION, 0, "the flag is still set behind the fault");
        assert_eq!(pages.read(page * guest::PAGE), 1);
        assert_eq!(pages.read(page * guest::PAGE + 4095), 0);
    }
}

#[test]
fn k36_the_direction_flag_survives_timer_interrupts() {
    let flags: u64;
    // SAFETY: counts a register down with the flag set, for several milliseconds.
    unsafe {
        std::arch::asm!("std", "2:", "dec {left}", "jnz 2b", "pushfq", "pop {flags}", "cld",
            left = inout(reg) 30_000_000_u64 => _, flags = out(reg) flags);
    }
    assert_ne!(flags & DIRECTION, 0);
}

#[test]
fn general_registers_survive_page_faults() {
    let pages = Pages::new(64);
    for page in 0..64 {
        let mut values = [0_u64; 8];
        // SAFETY: reads this test's own page, and writes the array.
        unsafe {
            std::arch::asm!(
                "mov rcx, 0x1111", "mov rdx, 0x2222", "mov rsi, 0x3333", "mov r8, 0x4444",
                "mov r9, 0x5555", "mov r10, 0x6666", "mov r11, 0x7777", "mov r12, 0x8888",
                "mov al, byte ptr [{place}]",
                "mov [{values}], rcx", "mov [{values} + 8], rdx", "mov [{values} + 16], rsi",
                "mov [{values} + 24], r8", "mov [{values} + 32], r9", "mov [{values} + 40], r10",
                "mov [{values} + 48], r11", "mov [{values} + 56], r12",
                place = in(reg) pages.page(page), values = in(reg) values.as_mut_ptr(),
                out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
            );
        }
        assert_eq!(values, [0x1111, 0x2222, 0x3333, 0x4444, 0x5555, 0x6666, 0x7777, 0x8888]);
    }
}

#[test]
fn the_stack_below_the_red_zone_is_not_needed() {
    // The kernel must not write to the user's stack: 128 bytes below the stack pointer belong to the function.
    let mut changed = 0_u64;
    let mut time = [0_u64; 6];
    for number in [number::getppid, number::sched_yield, number::lwp_microstates] {
        // SAFETY: writes to the red zone and below it, which nothing else uses meanwhile.
        unsafe {
            std::arch::asm!(
                "mov rcx, -64",
                "2:", "mov qword ptr [rsp + rcx * 8], 0x55", "inc rcx", "jnz 2b",
                "syscall",
                "mov rcx, -64",
                "3:", "cmp qword ptr [rsp + rcx * 8], 0x55", "je 4f", "inc {changed}", "4:", "inc rcx", "jnz 3b",
                changed = inout(reg) changed,
                inout("rax") number => _, in("rdi") -1_i64, in("rsi") address(&raw mut time),
                out("rcx") _, out("r11") _,
            );
        }
    }
    assert_eq!(changed, 0, "words below the stack pointer that the kernel wrote to");
}
