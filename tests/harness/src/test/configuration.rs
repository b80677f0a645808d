//! The machines that every guest test is run on.

use crate::machine::Machine;

/// A machine with a name.
pub(crate) struct Configuration {
    /// What is printed, and what `--configuration` looks in.
    pub(crate) name: &'static str,
    /// The machine.
    pub(crate) machine: Machine,
    /// Which programs run on it.
    pub(crate) programs: Programs,
    /// How often each, in a long run, each time with another seed.
    pub(crate) long_repetitions: usize,
}

/// Which programs of tests a machine is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Programs {
    /// All.
    All,
    /// Storms, which tell by their names: they ask for nothing that disturbed scheduling does not give.
    Storms,
}

impl Programs {
    /// Whether the program of this name is meant.
    pub(crate) fn has(self, name: &str) -> bool {
        self == Programs::All || name.contains("storm")
    }
}

impl Configuration {
    fn new(name: &'static str, machine: Machine) -> Self {
        Configuration { name, machine, programs: Programs::All, long_repetitions: 10 }
    }

    fn perturbed(name: &'static str, cpus: u32) -> Self {
        let machine = Machine { cpus, debug_kernel: true, perturbed: true, ..Machine::default() };
        Configuration { name, machine, programs: Programs::Storms, long_repetitions: 50 }
    }

    fn full_length(name: &'static str, machine: Machine) -> Self {
        let machine = Machine { long: true, ..machine };
        Configuration { name, machine, programs: Programs::Storms, long_repetitions: 1 }
    }
}

/// Has the kernel see to it that no test needs more than three quarters of a kernel stack.
const CHECK_STACKS: &str = "check-stacks";

/// Deterministic time for exact figures, and two CPUs in parallel for real races, the latter with the release and
/// the checked kernel; each on a CPU that has every feature (`max`) and one that lacks most (`qemu64`). Storms also where
/// scheduling is disturbed.
pub(crate) fn usual() -> Vec<Configuration> {
    let exact = Machine::deterministic();
    let parallel = Machine { append: CHECK_STACKS.to_owned(), ..Machine::default() };
    let checked = Machine { debug_kernel: true, ..parallel.clone() };
    vec![
        Configuration::new("icount-max", exact.clone()),
        Configuration::new("icount-qemu64", Machine { model: "qemu64", ..exact }),
        Configuration::new("parallel-max", parallel.clone()),
        Configuration::new("parallel-qemu64", Machine { model: "qemu64", ..parallel }),
        Configuration::new("checked-max", checked.clone()),
        Configuration::new("checked-qemu64", Machine { model: "qemu64", ..checked }),
        Configuration::perturbed("perturbed", 2),
    ]
}

/// More CPUs than the host has, little memory, and much; storms disturbed, and at their full length.
pub(crate) fn further() -> Vec<Configuration> {
    let checked = Machine { debug_kernel: true, append: CHECK_STACKS.to_owned(), ..Machine::default() };
    vec![
        Configuration::new("checked-4-cpus", Machine { cpus: 4, ..checked.clone() }),
        Configuration::new("checked-64M", Machine { memory: "64M", ..checked.clone() }),
        Configuration::new("checked-16G", Machine { memory: "16G", ..checked }),
        Configuration::perturbed("perturbed-4-cpus", 4),
        Configuration::perturbed("perturbed-8-cpus", 8),
        Configuration::full_length("full-4-cpus", Machine { cpus: 4, ..Machine::default() }),
        Configuration::full_length(
            "full-checked-4-cpus",
            Machine { cpus: 4, debug_kernel: true, ..Machine::default() },
        ),
    ]
}
