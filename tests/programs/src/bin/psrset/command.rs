//! What the command line asks for.

use crate::operand::{Target, cpus, set, target};
use programs::usage;
use userlib::cpu::CpuId;
use userlib::pset::PsetId;

pub(crate) enum Command {
    Create(Vec<CpuId>),
    Destroy(Vec<PsetId>),
    Assign(PsetId, Vec<CpuId>),
    Remove(Vec<CpuId>),
    /// Of which sets they are; none named: all that are in one.
    Processors(Vec<CpuId>),
    Bind(PsetId, Vec<Target>),
    Unbind(Vec<Target>),
    /// To which sets they are bound; none named: all processes that are.
    Query(Vec<Target>),
    /// What stands behind the set, on the command line.
    Execute(PsetId),
    /// None named: all.
    Info(Vec<PsetId>),
}

/// The command, or what is wrong with it.
pub(crate) fn parse(arguments: &[String]) -> Result<Command, String> {
    let (option, operands) = match arguments.split_first() {
        Some((option, operands)) if option.starts_with('-') => (option.as_str(), operands),
        _ => ("-i", arguments),
    };
    match option {
        "-c" => Ok(Command::Create(cpus(operands)?)),
        "-d" => Ok(Command::Destroy(some(sets(operands)?)?)),
        "-a" => with_set(operands, |set, rest| Ok(Command::Assign(set, some(cpus(rest)?)?))),
        "-r" => Ok(Command::Remove(some(cpus(operands)?)?)),
        "-p" => Ok(Command::Processors(cpus(operands)?)),
        "-b" => with_set(operands, |set, rest| Ok(Command::Bind(set, some(targets(rest)?)?))),
        "-u" => Ok(Command::Unbind(some(targets(operands)?)?)),
        "-q" => Ok(Command::Query(targets(operands)?)),
        "-e" => with_set(operands, |set, rest| some(rest.to_vec()).map(|_| Command::Execute(set))),
        "-i" => Ok(Command::Info(sets(operands)?)),
        other => Err(usage::illegal_option(other)),
    }
}

fn sets(operands: &[String]) -> Result<Vec<PsetId>, String> {
    operands.iter().map(|operand| set(operand)).collect()
}

fn targets(operands: &[String]) -> Result<Vec<Target>, String> {
    operands.iter().map(|operand| target(operand)).collect()
}

fn with_set(
    operands: &[String],
    then: impl FnOnce(PsetId, &[String]) -> Result<Command, String>,
) -> Result<Command, String> {
    let (first, rest) = operands.split_first().ok_or("must specify a processor set ID")?;
    then(set(first)?, rest)
}

fn some<T>(list: Vec<T>) -> Result<Vec<T>, String> {
    if list.is_empty() { Err("must specify an operand".into()) } else { Ok(list) }
}
