//! What the commands do, and what they say.

use crate::command::Command;
use crate::operand::Target;
use programs::model::{all_cpus, all_sets, cpus_of, words};
use std::fmt::Display;
use std::os::unix::process::CommandExt;
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::process;
use userlib::pset::{self, PsetId, Who};

/// Whether all went well. Where one operand fails the others are done all the same.
pub(crate) fn run(command: Command) -> bool {
    match command {
        Command::Create(cpus) => create(&cpus),
        Command::Destroy(sets) => all(sets, destroy),
        Command::Assign(set, cpus) => all(cpus, |cpu| assign(set, cpu)),
        Command::Remove(cpus) => all(cpus, |cpu| assign(PsetId::DEFAULT, cpu)),
        Command::Processors(cpus) if cpus.is_empty() => all(all_cpus(), |cpu| show_cpu(cpu, false)),
        Command::Processors(cpus) => all(cpus, |cpu| show_cpu(cpu, true)),
        Command::Bind(set, targets) => all(targets, |target| bind(set, &target)),
        Command::Unbind(targets) => all(targets, |target| bind(PsetId::DEFAULT, &target)),
        Command::Query(targets) if targets.is_empty() => query_all(),
        Command::Query(targets) => all(targets, |target| query(&target)),
        Command::Execute(set, command) => execute(set, &command),
        Command::Info(sets) if sets.is_empty() => all(all_sets(), info),
        Command::Info(sets) => all(sets, info),
    }
}

fn all<T>(operands: Vec<T>, each: impl FnMut(T) -> bool) -> bool {
    operands.into_iter().map(each).filter(|is_done| !is_done).count() == 0
}

/// Says why it failed, where it did.
fn told<T>(what: impl Display, result: Result<T, Errno>) -> Option<T> {
    result.map_err(|errno| eprintln!("psrset: {what}: {}", words(errno))).ok()
}

fn create(cpus: &[CpuId]) -> bool {
    let Some(set) = told("cannot create processor set", pset::create()) else { return false };
    println!("created processor set {set}");
    all(cpus.to_vec(), |cpu| assign(set, cpu))
}

fn destroy(set: PsetId) -> bool {
    let done = told(format_args!("cannot remove processor set {set}"), pset::destroy(set)).is_some();
    if done {
        println!("removed processor set {set}");
    }
    done
}

fn assign(set: PsetId, cpu: CpuId) -> bool {
    let old = told(format_args!("cannot assign processor {cpu}"), pset::assign(set, cpu));
    if let Some(old) = old {
        println!("processor {cpu}: was {}, now {}", name(old, "not assigned"), name(set, "not assigned"));
    }
    old.is_some()
}

fn show_cpu(cpu: CpuId, is_named: bool) -> bool {
    let set = told(format_args!("cannot query processor {cpu}"), pset::of_cpu(cpu));
    if let Some(set) = set.filter(|&set| is_named || set != PsetId::DEFAULT) {
        println!("processor {cpu}: {}", name(set, "not assigned"));
    }
    set.is_some()
}

fn info(set: PsetId) -> bool {
    let cpus = told(format_args!("cannot get info for processor set {set}"), cpus_of(set));
    let list = |cpus: &[CpuId]| cpus.iter().map(CpuId::to_string).collect::<Vec<_>>().join(" ");
    match cpus.as_deref() {
        None => return false,
        Some([]) => println!("user processor set {set}: empty"),
        Some([cpu]) => println!("user processor set {set}: processor {cpu}"),
        Some(cpus) => println!("user processor set {set}: processors {}", list(cpus)),
    }
    true
}

fn bind(set: PsetId, target: &Target) -> bool {
    let verb = if set == PsetId::DEFAULT { "unbind" } else { "bind" };
    each_of(target, verb, |who, who_it_is| {
        let old = pset::bind(set, who)?;
        println!("{who_it_is}: was {}, now {}", name(old, "not bound"), name(set, "not bound"));
        Ok(())
    })
}

fn query(target: &Target) -> bool {
    each_of(target, "query", |who, who_it_is| {
        let set = pset::binding(who)?;
        println!("{who_it_is}: {}", name(set, "not bound"));
        Ok(())
    })
}

fn query_all() -> bool {
    for info in process::all() {
        // One that has ended meanwhile, or waits to be waited for, is bound to nothing.
        let set = pset::binding(Who::Process(info.pid)).unwrap_or(PsetId::DEFAULT);
        if set != PsetId::DEFAULT {
            println!("process id {}: {set}", info.pid);
        }
    }
    true
}

/// Calls `act` for the process, or for each of its LWPs that are named.
fn each_of(target: &Target, verb: &str, mut act: impl FnMut(Who, &str) -> Result<(), Errno>) -> bool {
    let pid = target.pid;
    let Some(lwps) = target.lwps() else {
        let done = act(Who::Process(pid), &format!("process id {pid}"));
        return told(format_args!("cannot {verb} pid {pid}"), done).is_some();
    };
    if lwps.is_empty() {
        eprintln!("psrset: cannot {verb} pid {pid}: no such LWPs");
    }
    !lwps.is_empty()
        && all(lwps, |lwp| {
            let done = act(Who::Lwp(lwp), &format!("lwp id {pid}/{lwp}"));
            told(format_args!("cannot {verb} lwpid {pid}/{lwp}"), done).is_some()
        })
}

fn execute(set: PsetId, command: &[String]) -> bool {
    let pid = std::process::id();
    if told(format_args!("cannot bind pid {pid}"), pset::bind(set, Who::OwnProcess)).is_none() {
        return false;
    }
    let error = std::process::Command::new(&command[0]).args(&command[1..]).exec();
    eprintln!("psrset: cannot exec {}: {error}", command[0]);
    false
}

fn name(set: PsetId, of_the_default: &str) -> String {
    if set == PsetId::DEFAULT { of_the_default.into() } else { set.to_string() }
}
