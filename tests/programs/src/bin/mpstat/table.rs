//! The table.

use crate::rates::Rates;

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

    pub(crate) fn show(self, cpus: &[Rates]) {
        let mut rows = cpus.to_vec();
        if self.adds_up || self.shows_sets {
            rows.sort_by_key(|row| (row.set, row.number));
        }
        if self.adds_up {
            rows = by_set(rows);
        }
        let (first, last) = match (self.adds_up, self.shows_sets) {
            (true, _) => ("SET", " sze"),
            (false, true) => ("CPU", " set"),
            (false, false) => ("CPU", ""),
        };
        println!("{first} {COLUMNS}{last}");
        rows.iter().for_each(|row| println!("{}{}", line(row), self.last(row)));
    }

    fn last(self, row: &Rates) -> String {
        match (self.adds_up, self.shows_sets) {
            (true, _) => format!("{:4}", row.cpus),
            (false, true) => format!("{:4}", row.set.raw()),
            (false, false) => String::new(),
        }
    }
}

fn by_set(rows: Vec<Rates>) -> Vec<Rates> {
    let mut sets: Vec<Rates> = Vec::new();
    for row in rows {
        match sets.last_mut() {
            Some(set) if set.set == row.set => *set += &row,
            _ => sets.push(Rates { number: row.set.raw(), ..row }),
        }
    }
    sets
}

fn line(row: &Rates) -> String {
    let [faults, cross, interrupts, switches, involuntary, migrations, spins, calls] = row.counts;
    let [user, system, idle] = row.shares.map(|share| share / f64::from(row.cpus));
    format!(
        "{:3} {faults:4.0} {:3} {cross:4.0} {interrupts:5.0} {:4} {switches:4.0} {involuntary:4.0} {migrations:4.0} \
         {spins:4.0} {:4} {calls:5.0}  {user:3.0} {system:3.0} {:3} {idle:3.0}",
        row.number, 0, 0, 0, 0
    )
}
