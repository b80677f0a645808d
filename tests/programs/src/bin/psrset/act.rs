//! What the commands do, and what they say.

use crate::bind::{bind, execute, query, query_all};
use crate::command::Command;
use crate::reason;
use programs::model::{all_cpus, all_sets, cpus_of, words};
use std::fmt::Display;
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::pset::{self, PsetId};

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
        Command::Execute(set) => execute(set),
        Command::Info(sets) if sets.is_empty() => all(all_sets(), info),
        Command::Info(sets) => all(sets, info),
    }
}

/// Does each, and tells whether all went well.
pub(crate) fn all<T>(operands: Vec<T>, each: impl FnMut(T) -> bool) -> bool {
    operands.into_iter().map(each).filter(|is_done| !is_done).count() == 0
}

/// Says what failed, where it did: the error, and the reason if `why` knows it.
pub(crate) fn told<T>(
    what: impl Display,
    result: Result<T, Errno>,
    why: impl FnOnce(Errno) -> Option<String>,
) -> Option<T> {
    let tell = |errno| match why(errno) {
        Some(reason) => eprintln!("psrset: {what}: {} ({reason})", words(errno)),
        None => eprintln!("psrset: {what}: {}", words(errno)),
    };
    result.map_err(tell).ok()
}

fn create(cpus: &[CpuId]) -> bool {
    let Some(set) = told("cannot create processor set", pset::create(), reason::of_create) else {
        return false;
    };
    println!("created processor set {set}");
    all(cpus.to_vec(), |cpu| assign(set, cpu))
}

fn destroy(set: PsetId) -> bool {
    let what = format_args!("cannot remove processor set {set}");
    let done = told(what, pset::destroy(set), |_| reason::of_set(set));
    if done.is_some() {
        println!("removed processor set {set}");
    }
    done.is_some()
}

fn assign(set: PsetId, cpu: CpuId) -> bool {
    let what = format_args!("cannot assign processor {cpu}");
    let old = told(what, pset::assign(set, cpu), |errno| reason::of_assign(set, cpu, errno));
    if let Some(old) = old {
        println!("processor {cpu}: was {}, now {}", name(old, "not assigned"), name(set, "not assigned"));
    }
    old.is_some()
}

fn show_cpu(cpu: CpuId, is_named: bool) -> bool {
    let set = told(format_args!("cannot query processor {cpu}"), pset::of_cpu(cpu), |_| reason::of_cpu(cpu));
    if let Some(set) = set.filter(|&set| is_named || set != PsetId::DEFAULT) {
        println!("processor {cpu}: {}", name(set, "not assigned"));
    }
    set.is_some()
}

fn info(set: PsetId) -> bool {
    let what = format_args!("cannot get info for processor set {set}");
    let cpus = told(what, cpus_of(set), |_| reason::of_set(set));
    let list = |cpus: &[CpuId]| cpus.iter().map(CpuId::to_string).collect::<Vec<_>>().join(" ");
    match cpus.as_deref() {
        None => return false,
        Some([]) => println!("user processor set {set}: empty"),
        Some([cpu]) => println!("user processor set {set}: processor {cpu}"),
        Some(cpus) => println!("user processor set {set}: processors {}", list(cpus)),
    }
    true
}

/// A set in words.
pub(crate) fn name(set: PsetId, of_the_default: &str) -> String {
    if set == PsetId::DEFAULT { of_the_default.into() } else { set.to_string() }
}
