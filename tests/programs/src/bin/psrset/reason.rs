//! Why a call failed and what to do, where its error does not say. Looked up afterwards: None where it is otherwise by now.

use programs::model::{all_cpus, cpus_of};
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::pset::{self, PsetId};

/// A set could not be made.
pub(crate) fn of_create(errno: Errno) -> Option<String> {
    let full = "there are as many as there may be, twice the processors; psrset -d removes one";
    (errno == Errno::ENOMEM).then(|| full.into())
}

/// A call about a set failed.
pub(crate) fn of_set(set: PsetId) -> Option<String> {
    (!pset::exists(set)).then(|| format!("there is no processor set {set}; psrset lists those there are"))
}

/// A call about a CPU failed.
pub(crate) fn of_cpu(cpu: CpuId) -> Option<String> {
    let cpus = all_cpus();
    (!cpus.contains(&cpu)).then(|| format!("there is no processor {cpu}; the last one is {}", cpus.len() - 1))
}

/// A CPU could not be moved to a set.
pub(crate) fn of_assign(set: PsetId, cpu: CpuId, errno: Errno) -> Option<String> {
    if errno != Errno::EBUSY {
        return of_cpu(cpu).or_else(|| of_set(set));
    }
    let old = pset::of_cpu(cpu).ok()?;
    Some(match cpus_of(old).ok()?.len() {
        1 if old == PsetId::DEFAULT => {
            "it is the last one in no set, and one has to stay; psrset -r frees others".into()
        }
        1 => format!("it is the last one of set {old}, to which LWPs are bound; psrset -u unbinds them"),
        _ => "LWPs are bound to it by processor_bind".into(),
    })
}

/// LWPs could not be bound to a set.
pub(crate) fn of_bind(set: PsetId, errno: Errno) -> Option<String> {
    let is_empty = || cpus_of(set).is_ok_and(|cpus| cpus.is_empty());
    match errno {
        Errno::EBUSY => Some("LWPs of it are bound by processor_bind to a processor outside the set".into()),
        Errno::EINVAL => of_set(set).or_else(|| {
            is_empty().then(|| {
                format!("processor set {set} has no processors; psrset -a {set} processor_id adds one")
            })
        }),
        _ => None,
    }
}
