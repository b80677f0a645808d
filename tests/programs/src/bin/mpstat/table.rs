//! The table.

use crate::rates::Rates;
use std::collections::BTreeMap;
use userlib::pset::PsetId;

/// How it is asked for.
#[derive(Default, Clone, Copy)]
pub(crate) struct Form {
    /// `-p`: by set, with a column for it.
    shows_sets: bool,
    /// `-a`: one line for each set.
    adds_up: bool,
}

const COLUMNS: &str = "minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl";

impl Form {
    /// Takes an option; false: there is no such option.
    pub(crate) fn set(&mut self, option: &str) -> bool {
        match option {
            "-p" => self.shows_sets = true,
            "-a" => self.adds_up = true,
            "-ap" | "-pa" => (self.shows_sets, self.adds_up) = (true, true),
            _ => return false,
        }
        true
    }

    /// With `-a` each of `sets` and the default one has a line, also without a CPU.
    pub(crate) fn show(self, cpus: &[Rates], sets: &[PsetId]) {
        let mut rows = cpus.to_vec();
        if self.adds_up {
            rows = by_set(cpus, sets);
        } else if self.shows_sets {
            rows.sort_by_key(|row| (row.set, row.number));
        }
        let header = match (self.adds_up, self.shows_sets) {
            (true, _) => format!("SET {COLUMNS} sze"),
            (false, true) => format!("CPU {COLUMNS} set"),
            (false, false) => format!("CPU {COLUMNS}"),
        };
        println!("{header}");
        rows.iter().for_each(|row| println!("{}", line(&header, &self.cells(row))));
    }

    fn cells(self, row: &Rates) -> Vec<String> {
        let [faults, cross, interrupts, switches, involuntary, migrations, spins, calls] = row.counts;
        let [user, system, idle] = row.shares.map(|share| share / f64::from(row.cpus.max(1)));
        let figures = [
            faults,
            0.0,
            cross,
            interrupts,
            0.0,
            switches,
            involuntary,
            migrations,
            spins,
            0.0,
            calls,
            user,
            system,
            0.0,
            idle,
        ];
        let last = match (self.adds_up, self.shows_sets) {
            (true, _) => Some(row.cpus.to_string()),
            (false, true) => Some(row.set.to_string()),
            (false, false) => None,
        };
        let figures = figures.iter().map(|figure| format!("{figure:.0}"));
        std::iter::once(row.number.to_string()).chain(figures).chain(last).collect()
    }
}

fn by_set(cpus: &[Rates], sets: &[PsetId]) -> Vec<Rates> {
    let mut rows: BTreeMap<PsetId, Rates> = BTreeMap::new();
    let empty = sets.iter().map(|&set| Rates::of_empty(set));
    for row in empty.chain(cpus.iter().cloned()) {
        *rows.entry(row.set).or_insert_with(|| Rates::of_empty(row.set)) += &row;
    }
    rows.into_values().collect()
}

/// The cells, each ending below its column's name. One that is too wide pushes the next ones as far as it must.
fn line(header: &str, cells: &[String]) -> String {
    let ends = header.match_indices(|c: char| c != ' ').map(|(at, _)| at + 1);
    let ends = ends.filter(|&end| header[end..].chars().next().is_none_or(|next| next == ' '));
    cells.iter().zip(ends).fold(String::new(), |line, (cell, end)| {
        let space = if line.is_empty() { "" } else { " " };
        let width = end.saturating_sub(line.len() + space.len());
        format!("{line}{space}{cell:>width$}")
    })
}
