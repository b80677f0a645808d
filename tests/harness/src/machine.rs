//! Runs of the kernel, as a user starts them: through `qemu-run.sh`.

use crate::project;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What tells guest tests where to begin.
const SEED: &str = "TALLY_SEED";
/// What tells storms to take their full length.
const LONG: &str = "TALLY_LONG";

/// A machine to run a program on, and the kernel it runs.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Number of CPUs.
    pub cpus: u32,
    /// CPU model, as QEMU names it.
    pub model: &'static str,
    /// Memory, as QEMU writes sizes.
    pub memory: &'static str,
    /// Deterministic virtual time.
    pub icount: bool,
    /// The kernel with every check on.
    pub debug_kernel: bool,
    /// What storms begin with: the same seed, the same storm.
    pub seed: Option<u64>,
    /// The checked kernel disturbs scheduling, by the same seed.
    pub perturbed: bool,
    /// Storms take their full length, which is for hours, not minutes.
    pub long: bool,
    /// Kernel options.
    pub append: String,
    /// How long a run may take.
    pub timeout: Duration,
}

impl Default for Machine {
    /// What `qemu-run.sh` does without options, bounded, and never with KVM: results do not depend on the host.
    fn default() -> Machine {
        Machine {
            cpus: 2,
            model: "max",
            memory: "1G",
            icount: false,
            debug_kernel: false,
            seed: None,
            perturbed: false,
            long: false,
            append: String::new(),
            timeout: Duration::from_secs(60),
        }
    }
}

impl Machine {
    /// A machine on which every run is the same: one CPU, virtual time.
    pub fn deterministic() -> Machine {
        Machine { cpus: 1, icount: true, ..Machine::default() }
    }

    /// The command that runs `program` on it. Standard input is empty unless the caller gives one.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_with(&[], program)
    }

    /// The same with further options of `qemu-run.sh`.
    pub fn command_with(&self, options: &[&OsStr], program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(project::root().join("qemu-run.sh"));
        command.args(self.options()).args(options).arg("--").arg(program);
        command.env("TALLY_PROFILE", self.profile()).stdin(Stdio::null());
        command.envs(self.variables());
        command
    }

    /// The same as a line for a shell, to repeat a run.
    pub fn shell_line(&self, program: &Path) -> String {
        let options = self.options().join("' '");
        let variables = self.variables().map(|(name, value)| format!("{name}={value} ")).collect::<String>();
        let (profile, program) = (self.profile(), program.display());
        format!("{variables}TALLY_PROFILE={profile} ./qemu-run.sh '{options}' -- '{program}'")
    }

    /// What guest tests are told by their environment.
    fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let seed = self.seed.map(|seed| (SEED, seed.to_string()));
        seed.into_iter().chain(self.long.then(|| (LONG, "1".to_owned())))
    }

    fn profile(&self) -> &'static str {
        if self.debug_kernel { "debug" } else { "release" }
    }

    fn options(&self) -> Vec<String> {
        let mut options = vec!["--accel=tcg".to_owned()];
        options.push(format!("--cpus={}", self.cpus));
        options.push(format!("--cpu={}", self.model));
        options.push(format!("--mem={}", self.memory));
        options.push(format!("--timeout={}", self.timeout.as_secs_f64()));
        if let (true, Some(seed)) = (self.perturbed, self.seed) {
            options.push(format!("--append=perturb={seed}"));
        }
        if !self.append.is_empty() {
            options.push(format!("--append={}", self.append));
        }
        if self.icount {
            options.push("--icount".to_owned());
        }
        options
    }
}
