//! What the commands do, and what they say.

use crate::command::Command;
use crate::operand::{Lwps, Target, lwps_of};
use crate::reason;
use programs::model::{all_cpus, all_sets, cpus_of, words, words_of};
use programs::usage::shown;
use std::fmt::Display;
use std::os::unix::process::CommandExt;
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::lwp::LwpId;
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
        Command::Execute(set) => execute(set),
        Command::Info(sets) if sets.is_empty() => all(all_sets(), info),
        Command::Info(sets) => all(sets, info),
    }
}

fn all<T>(operands: Vec<T>, each: impl FnMut(T) -> bool) -> bool {
    operands.into_iter().map(each).filter(|is_done| !is_done).count() == 0
}

/// Says what failed, where it did: the error, and the reason if `why` knows it.
fn told<T>(
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

fn bind(set: PsetId, target: &Target) -> bool {
    let verb = if set == PsetId::DEFAULT { "unbind" } else { "bind" };
    each_of(
        target,
        verb,
        |errno| reason::of_bind(set, errno),
        |who, who_it_is| {
            let old = pset::bind(set, who)?;
            println!("{who_it_is}: was {}, now {}", name(old, "not bound"), name(set, "not bound"));
            Ok(())
        },
    )
}

fn query(target: &Target) -> bool {
    each_of(
        target,
        "query",
        |_| None,
        |who, who_it_is| {
            let set = pset::binding(who)?;
            println!("{who_it_is}: {}", name(set, "not bound"));
            Ok(())
        },
    )
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
fn each_of(
    target: &Target,
    verb: &str,
    why: impl Fn(Errno) -> Option<String>,
    mut act: impl FnMut(Who, &str) -> Result<(), Errno>,
) -> bool {
    let pid = target.pid;
    let whole = format!("cannot {verb} pid {pid}");
    let Some(named) = &target.lwps else {
        return told(whole, act(Who::Process(pid), &format!("process id {pid}")), why).is_some();
    };
    let Some(lwps) = told(whole, lwps_of(pid).ok_or(Errno::ESRCH), |_| None) else { return false };
    let is_there = |part: &Lwps| lwps.iter().any(|&lwp| part.contains(lwp));
    let absent: Vec<&Lwps> = named.iter().filter(|part| !is_there(part)).collect();
    for part in &absent {
        eprintln!("psrset: cannot {verb} lwpid {pid}/{}: process {pid} has no such LWP", part.text);
    }
    let present: Vec<LwpId> =
        lwps.iter().copied().filter(|&lwp| named.iter().any(|part| part.contains(lwp))).collect();
    let all_done = all(present, |lwp| {
        let done = act(Who::Lwp(lwp), &format!("lwp id {pid}/{lwp}"));
        told(format_args!("cannot {verb} lwpid {pid}/{lwp}"), done, &why).is_some()
    });
    all_done && absent.is_empty()
}

/// The command stands behind `-e` and the set, as it was given: it need not be text.
fn execute(set: PsetId) -> bool {
    let pid = std::process::id();
    let bound = pset::bind(set, Who::OwnProcess);
    if told(format_args!("cannot bind pid {pid}"), bound, |errno| reason::of_bind(set, errno)).is_none() {
        return false;
    }
    let mut words = std::env::args_os().skip(3);
    let command = words.next().unwrap_or_default();
    let error = std::process::Command::new(&command).args(words).exec();
    eprintln!("psrset: cannot exec {}: {}", shown(&command.to_string_lossy()), words_of(&error));
    false
}

fn name(set: PsetId, of_the_default: &str) -> String {
    if set == PsetId::DEFAULT { of_the_default.into() } else { set.to_string() }
}
