//! The files that are written from the table: the C header with the numbers, and the table of the reference page.
//!
//! Each test renders one and fails where the file differs; with `TALLY_UPDATE=1` in the environment it writes the
//! file instead.

use std::fmt::Write;
use std::path::PathBuf;

use syscalls::{OWN_CALLS, ROWS, Row};

const BEGIN: &str = "<!-- calls: begin (written by syscalls/tests/generated.rs) -->\n";
const END: &str = "<!-- calls: end -->\n";

#[test]
fn the_c_header_is_the_table() {
    let path = in_the_tree("userlib/include/tally/syscall.h");
    compare_or_write(path, &header());
}

#[test]
fn the_reference_page_holds_the_table() {
    let path = in_the_tree("docs/abi.md");
    let page = std::fs::read_to_string(&path).expect("docs/abi.md");
    let (before, rest) = page.split_once(BEGIN).expect("the page has the begin marker");
    let (_, after) = rest.split_once(END).expect("the page has the end marker");
    compare_or_write(path, &format!("{before}{BEGIN}\n{}\n{END}{after}", reference()));
}

fn in_the_tree(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

fn compare_or_write(path: PathBuf, wanted: &str) {
    if std::env::var_os("TALLY_UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("the file can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(wanted.lines()).position(|(found, wanted)| found != wanted);
    let line = differs.unwrap_or(found.lines().count().min(wanted.lines().count())) + 1;
    assert!(
        found == wanted,
        "{}:{line} differs from the table: run `TALLY_UPDATE=1 cargo test -p syscalls`",
        path.display()
    );
}

fn header() -> String {
    let mut text = String::from(
        "/*\n * The numbers of the system calls, made from the table in syscalls/src/table.rs: do not edit.\n \
         * Below 0x1000 they are Linux's, from there on this project's own.\n */\n\
         #ifndef TALLY_SYSCALL_H\n#define TALLY_SYSCALL_H\n\n",
    );
    for row in ROWS {
        writeln!(text, "/* {} */", row.summary).unwrap();
        writeln!(text, "#define TALLY_SYS_{} {}", row.name, number(row)).unwrap();
    }
    text + "\n#endif\n"
}

fn reference() -> String {
    let mut text = String::from("| number | call | what it does |\n|---:|---|---|\n");
    for row in ROWS {
        let arguments: Vec<_> = row.arguments.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
        writeln!(text, "| {} | `{}({})` | {} |", number(row), row.name, arguments.join(", "), row.summary)
            .unwrap();
    }
    text
}

fn number(row: &Row) -> String {
    match row.number < OWN_CALLS {
        true => row.number.to_string(),
        false => format!("{:#x}", row.number),
    }
}
