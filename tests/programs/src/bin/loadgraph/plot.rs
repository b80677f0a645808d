//! The picture.

use crate::history::History;
use syscalls::linux::WindowSize;
use userlib::pset::PsetId;
use userlib::{Errno, raw};

/// What the averages are drawn as, in the order in which one hides the next.
const MARKS: [char; 3] = ['1', '5', 'f'];

/// Columns for the scale.
const MARGIN: usize = 7;

/// Rows and columns of the terminal; of a usual one where there is none.
pub(crate) fn terminal_size() -> (usize, usize) {
    const TIOCGWINSZ: u32 = 0x5413;
    let mut size = WindowSize::default();
    // SAFETY: the kernel writes one such structure.
    let result = unsafe { raw::ioctl(1, TIOCGWINSZ, (&raw mut size).expose_provenance() as u64) };
    match Errno::from_return(result) {
        Ok(_) if size.rows > 0 && size.columns > 0 => (size.rows.into(), size.columns.into()),
        _ => (24, 80),
    }
}

/// How many values have room side by side.
pub(crate) fn width(columns: usize) -> usize {
    columns.saturating_sub(MARGIN + 1).max(1)
}

/// All sets, one below the other.
pub(crate) fn picture(histories: &[History], rows: usize, columns: usize) -> String {
    let height = (rows.saturating_sub(1) / histories.len().max(1)).saturating_sub(2).clamp(2, 12);
    let values = histories.iter().flat_map(|history| &history.averages).flatten();
    let scale = values.fold(1.0f64, |most, &value| most.max(value)).ceil();
    histories.iter().map(|history| title(history) + &plot(history, scale, height, width(columns))).collect()
}

fn title(history: &History) -> String {
    let name = match history.set {
        PsetId::DEFAULT => "default set".into(),
        set => format!("set {set}"),
    };
    let [one, five, fifteen] = history.averages.last().copied().unwrap_or_default();
    let cpus = if history.cpus == 1 { "CPU" } else { "CPUs" };
    format!("{name}, {} {cpus}: 1 min {one:.2}  5 min {five:.2}  f(15) min {fifteen:.2}\n", history.cpus)
}

fn plot(history: &History, scale: f64, height: usize, width: usize) -> String {
    let mut cells = vec![vec![' '; width]; height];
    let first = width - history.averages.len().min(width);
    for (column, averages) in history.averages.iter().enumerate() {
        for (average, mark) in averages.iter().zip(MARKS).rev() {
            let level = (average / scale * (height - 1) as f64).round() as usize;
            cells[height - 1 - level.min(height - 1)][first + column] = mark;
        }
    }
    let label = |row: usize| scale * (height - 1 - row) as f64 / (height - 1) as f64;
    let line = |(row, cells): (usize, &Vec<char>)| {
        format!("{:5.1} |{}\n", label(row), cells.iter().collect::<String>().trim_end())
    };
    cells.iter().enumerate().map(line).collect()
}
