//! The machines that every guest test is run on.

use crate::machine::Machine;

/// A machine with a name.
pub(crate) struct Configuration {
    /// What is printed, and what `--configuration` looks in.
    pub(crate) name: &'static str,
    /// The machine.
    pub(crate) machine: Machine,
}

/// Has the kernel see to it that no test needs more than three quarters of a kernel stack.
const CHECK_STACKS: &str = "check-stacks";

/// Deterministic time for exact figures, and two CPUs in parallel for real races, the latter with the release and
/// the checked kernel; each on a CPU that has every feature (`max`) and one that lacks most (`qemu64`).
pub(crate) fn usual() -> Vec<Configuration> {
    let exact = Machine::deterministic();
    let parallel = Machine { append: CHECK_STACKS.to_owned(), ..Machine::default() };
    let checked = Machine { debug_kernel: true, ..parallel.clone() };
    vec![
        Configuration { name: "icount-max", machine: exact.clone() },
        Configuration { name: "icount-qemu64", machine: Machine { model: "qemu64", ..exact } },
        Configuration { name: "parallel-max", machine: parallel.clone() },
        Configuration { name: "parallel-qemu64", machine: Machine { model: "qemu64", ..parallel } },
        Configuration { name: "checked-max", machine: checked.clone() },
        Configuration { name: "checked-qemu64", machine: Machine { model: "qemu64", ..checked } },
    ]
}

/// More CPUs than the host has, little memory, and much.
pub(crate) fn further() -> Vec<Configuration> {
    let checked = Machine { debug_kernel: true, append: CHECK_STACKS.to_owned(), ..Machine::default() };
    vec![
        Configuration { name: "checked-4-cpus", machine: Machine { cpus: 4, ..checked.clone() } },
        Configuration { name: "checked-64M", machine: Machine { memory: "64M", ..checked.clone() } },
        Configuration { name: "checked-16G", machine: Machine { memory: "16G", ..checked } },
    ]
}
