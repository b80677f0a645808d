//! What is bound to which set.

use crate::act::{all, name, told};
use crate::operand::{Lwps, Target, lwps_of};
use crate::reason;
use programs::model::words_of;
use programs::usage::shown;
use std::os::unix::process::CommandExt;
use userlib::Errno;
use userlib::process;
use userlib::pset::{self, PsetId, Who};

pub(crate) fn bind(set: PsetId, target: &Target) -> bool {
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

pub(crate) fn query(target: &Target) -> bool {
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

pub(crate) fn query_all() -> bool {
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
    let all_there = all(named.iter().collect(), |part: &Lwps| {
        let is_there = lwps.iter().any(|&lwp| part.contains(lwp));
        if !is_there {
            eprintln!("psrset: cannot {verb} lwpid {pid}/{}: process {pid} has no such LWP", part.text);
        }
        is_there
    });
    let present = lwps.into_iter().filter(|&lwp| named.iter().any(|part| part.contains(lwp)));
    let all_done = all(present.collect(), |lwp| {
        let done = act(Who::Lwp(lwp), &format!("lwp id {pid}/{lwp}"));
        told(format_args!("cannot {verb} lwpid {pid}/{lwp}"), done, &why).is_some()
    });
    all_there && all_done
}

/// The command stands behind `-e` and the set, as it was given: it need not be text.
pub(crate) fn execute(set: PsetId) -> bool {
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
