//! tally: a small SMP kernel that keeps exact accounts of CPU time.
//!
//! This is the machine-facing shell. The rules it acts by are in `kcore`; here is "lock, ask kcore, do what it said".
#![no_std]
#![no_main]

extern crate alloc;

mod acct;
mod arch;
mod cpu;
mod debug;
mod fs;
mod log_sink;
mod mm;
mod options;
mod panic;
mod proc;
mod pset;
mod random;
mod sched;
mod sema;
mod sync;
mod syscall;
mod time;

use arch::{BootInformation, Outcome};

/// The boot CPU's way from the entry code to the idle loop.
///
/// # Safety
/// Called once by the entry code, with the physical address of the loader's information, on the boot page table.
#[unsafe(no_mangle)]
unsafe extern "sysv64" fn boot_rust(information_address: u64) -> ! {
    // SAFETY: the address is what the loader passed.
    let information = unsafe { BootInformation::new(information_address) };
    require(arch::probe_features());
    cpu::start_boot_cpu();
    let line = information.command_line();
    log_sink::start(options::is_verbose(line));
    let options = options::read(line);
    if options.check_stacks {
        mm::stack_depth::start();
    }
    log::info!("tally {}, command line: {}", env!("CARGO_PKG_VERSION"), line.escape_ascii());
    log::debug!("CPU features: {:?}", arch::features());
    information.memory().for_each(|range| log::debug!("memory: {:#x} to {:#x}", range.start, range.end));
    let reserved = information.reserved();
    let start_page =
        require(arch::choose_start_page(information.memory(), &reserved).ok_or("no memory below 640 KiB"));
    let [a, b, c, d, e] = reserved;
    let taken = [a, b, c, d, e, start_page..start_page + mm::layout::PAGE_SIZE];
    // SAFETY: once, on the boot page table; the ranges are the loader's.
    require(unsafe { mm::init(information.memory(), &taken, information.tables()) });
    // SAFETY: the root pointer is the loader's, and the direct map shows the tables.
    let machine = require(unsafe { arch::read_tables(information.rsdp()) });
    log::debug!("machine: {machine:x?}");
    arch::start_interrupts(&machine);
    time::start(require(arch::calibrate(&machine)), arch::read_wall_clock());
    require(cpu::finish_boot_cpu());
    require(arch::start_console());
    random::start(options.seed);
    arch::trace_calls(options.strace);
    debug::perturb::start(options.perturb);
    fs::start(information.archive(), &options);
    if options.panic_test {
        panic!("asked for by the option panic-test");
    }
    if options.overflow_test {
        mm::stack_depth::overflow();
    }
    sched::set_tick(options.tick_hz);
    sched::set_pace(options.loadavg_scale);
    cpu::start_others(&machine, start_page);
    let ram: u64 = information.memory().map(|range| range.end - range.start).sum();
    // Before another CPU can take the program, and end with it before this is said.
    let tell = || {
        let used = ram / 1024 - mm::frames::usage().free * mm::layout::PAGE_SIZE / 1024;
        log::info!("boot: first user instruction at {} ticks, {used} KiB in use", arch::clock());
    };
    proc::start_first(tell).unwrap_or_else(|what| end_without_program(what));
    sched::idle_on_own_stack()
}

/// Goes on with what is there; where the machine lacks something, says what and ends.
fn require<T>(result: Result<T, &'static str>) -> T {
    result.unwrap_or_else(|what| {
        log_sink::say_at_once(format_args!("unsupported: {what}\n"));
        arch::end_at_once(Outcome::Unsupported)
    })
}

/// The machine is all right, but there is nothing that could run on it: the user is told, with a shell's status for that.
fn end_without_program(what: &str) -> ! {
    const NOT_RUNNABLE: u8 = 126;
    fs::console::print(format_args!("tally: {what}\n"));
    arch::tell_outcome(format_args!("exit {NOT_RUNNABLE}"));
    arch::power_off()
}
