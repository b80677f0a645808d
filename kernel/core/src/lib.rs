//! The hardware-free half of tally: states, ledgers, queues and decisions, with time as an argument.
//!
//! This is the part that another kernel can take. Nothing here reads a clock, a register or a global, nothing is
//! unsafe, and next to nothing allocates: ids, events and `now` come in, decisions and figures go out. What a
//! structure needs in an LWP lies in the caller's memory and is reached through a small trait. All of it is tested
//! on the host, most of it against a plain model under random histories; what CPUs do to each other, under loom.
//!
//! | for | there is | of the caller it wants |
//! |---|---|---|
//! | CPU time that adds up | [`acct`], [`clock`], [`clock_id`] | a clock that is in step on all CPUs, interrupts off while writing |
//! | load averages | [`loadavg`] | the same clock, a lock for each CPU that its dispatcher holds anyway |
//! | dispatching | [`sched`] | a lock around each run queue, one place that switches |
//! | time-outs, futexes, ids | [`timers`], [`futex`], [`ids`] | a lock around each |
//! | processes, pipes | [`process`], [`pipe`] | a lock around each |
//! | semaphores that tell what they went through | [`sema`] | a lock around each arena, and the memory it shares with programs |
//! | programs | [`image`], [`stack`], [`range`] | pages, and the copying |
//! | memory | [`memory_map`], [`region`] | page tables |
//! | the rest | [`bits`], [`calendar`], [`console`], [`signal`] | |
//!
//! # The ledger in one page
//! A kernel owns one [`acct::CpuLedger`] for each CPU and one [`acct::LwpLedger`] for each LWP, and calls them where
//! states change, with its clock:
//!
//! ```
//! use kcore::acct::{CpuLedger, LwpLedger, OffCpu, Usage, laws, read_cpu, read_lwp, read_own, switch};
//! use std::cell::Cell;
//!
//! let ticks = Cell::new(1_000); // a kernel's is `lfence; rdtsc`
//! let clock = || ticks.get();
//! let pass = |time| ticks.set(ticks.get() + time);
//!
//! let (cpu, lwp) = (CpuLedger::new(), LwpLedger::new());
//! cpu.start(clock); //                                   the CPU comes up, idle
//! lwp.begin(1, OffCpu::Runnable, clock); //              LWP 1 is born and waits
//! pass(5);
//! switch(&cpu, 0, None, Some(&lwp), clock); //           CPU 0 dispatches it
//! pass(10);
//! cpu.enter_user(clock); //                              off to user mode
//! pass(700);
//! let interrupted = cpu.enter_irq(clock); //             an interrupt, which is not the LWP's time
//! pass(30);
//! cpu.leave_irq(interrupted, clock);
//! pass(100);
//! cpu.enter_system(clock); //                            a system call: how much have I used?
//! pass(2);
//! assert_eq!(read_own(&cpu, &lwp, clock), Usage { user: 800, system: 12 });
//! switch(&cpu, 0, Some((&lwp, OffCpu::Sleeping)), None, clock);
//! pass(1_000);
//!
//! // Any CPU may ask at any time; nobody is stopped for it.
//! let times = read_lwp(&lwp, 1, |_cpu_id| &cpu, clock).unwrap();
//! assert_eq!((times.user, times.system, times.sleeping), (800, 12, 1_000));
//! assert_eq!(times.runnable, 5 + 30, "it waited to be dispatched, and while the interrupt had its CPU");
//! laws::two(&times)?;
//! let ticks = read_cpu(&cpu, clock);
//! assert_eq!((ticks.irq, ticks.idle, ticks.up), (30, 1_005, 1_847));
//! laws::one(&ticks)?;
//! laws::three(times.usage(), [ticks])?;
//! # Ok::<(), laws::Broken>(())
//! ```
//!
//! Nanoseconds are made of ticks at the very end, once a sum is complete: [`clock::Rate`].
#![cfg_attr(not(any(test, feature = "loom")), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod acct;
pub mod archive;
pub mod bits;
pub mod calendar;
pub mod clock;
pub mod clock_id;
pub mod console;
pub mod futex;
pub mod ids;
pub mod image;
mod list;
pub mod loadavg;
pub mod memory_map;
pub mod pipe;
pub mod process;
pub mod pset;
pub mod range;
pub mod region;
pub mod sched;
pub mod sema;
pub mod signal;
pub mod stack;
mod sync;
pub mod timers;
