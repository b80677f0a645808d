//! The compiler has compiled all of it. rustc 1.95 forgets comparisons: where a function returns `x == 1`, uses that as a
//! number first, and is inlined where the result is branched on, the pass *SimplifyComparisonIntegral* branches on `x` and
//! takes the comparison out, though the number still wants it. What is added then is whatever the register holds. The fault
//! shows in what the compiler makes of a function (its MIR): a number that is read and that nothing has written.

use harness::project;
use std::path::Path;

/// Types of numbers. Others may have no content, and then nothing writes them.
const NUMBERS: [&str; 13] =
    ["bool", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

/// The numbers of a function's MIR that are read, and named in no other way but where they are declared.
fn read_and_never_written(function: &str) -> Vec<&str> {
    let declared = function.lines().filter_map(|line| {
        let (name, kind) = line.trim().strip_prefix("let ")?.trim_end_matches(';').split_once(": ")?;
        NUMBERS.contains(&kind).then_some(name.trim_start_matches("mut "))
    });
    declared.filter(|name| is_only_read(function, name)).collect()
}

fn is_only_read(function: &str, name: &str) -> bool {
    let mut reads = 0;
    for line in function.lines().map(str::trim) {
        if ["let ", "debug ", "StorageLive(", "StorageDead("].iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(name) {
            let is_whole = !after.starts_with(|next: char| next.is_ascii_digit());
            match before.ends_with("copy ") || before.ends_with("move ") {
                _ if !is_whole => {}
                true => reads += 1,
                false => return false,
            }
            rest = after;
        }
    }
    reads > 0
}

/// The functions of a crate's MIR.
fn functions(mir: &str) -> impl Iterator<Item = &str> {
    mir.split("\n}\n").filter_map(|part| part.find("fn ").map(|start| &part[start..]))
}

/// What cargo makes of a package, as MIR; every crate of it. In a folder of its own, which begins empty.
fn mir_of(package: &str, target: &str, folder: &Path) -> Vec<String> {
    let flags = format!("target.{target}.rustflags=[\"--emit=mir\"]");
    let arguments = ["build", "--quiet", "--release", "-p", package, "--target", target, "--config", &flags];
    let status = project::cargo(&arguments).env("CARGO_TARGET_DIR", folder).status().expect("cargo");
    assert!(status.success(), "cargo {}", arguments.join(" "));
    let crates = std::fs::read_dir(folder.join(target).join("release/deps")).expect("what cargo made");
    let files = crates.map(|entry| entry.expect("a file").path());
    let mir = files.filter(|path| path.extension().is_some_and(|extension| extension == "mir"));
    mir.map(|path| std::fs::read_to_string(path).expect("the compiler writes text")).collect()
}

#[test]
fn nothing_is_read_that_nothing_has_written() {
    for (package, target) in [("kernel", project::KERNEL_TARGET), ("userlib", project::USER_TARGET)] {
        let folder = project::target_folder().join("mir").join(package);
        _ = std::fs::remove_dir_all(&folder);
        let crates = mir_of(package, target, &folder);
        assert!(crates.len() > 1, "{package} and the crates that it uses: {}", crates.len());
        for function in crates.iter().flat_map(|mir| functions(mir)) {
            let wrong = read_and_never_written(function);
            let name = function.lines().next().unwrap_or_default();
            assert!(wrong.is_empty(), "the compiler has lost {wrong:?} of {name}\nWrite it in two steps.");
        }
    }
}

/// What rustc 1.95 made of `length -= u32::from(list.remove().is_some())`, inlined where the result is branched on.
#[test]
fn the_fault_is_seen_where_it_is() {
    let good = "fn f(_1: u32) -> u32 {
    debug x => _1;
    let mut _0: u32;
    let mut _5: bool;
    let mut _55: bool;
    let _6: u64;

    bb0: {
        StorageLive(_5);
        _5 = Eq(copy _1, const 1_isize);
        _55 = copy _5;
        _0 = copy _5 as u32 (IntToInt);
        asm!(\"rdtsc\", out(\"ax\") _6);
        _0 = copy _6 as u32 (IntToInt);
        return;
    }";
    assert_eq!(read_and_never_written(good), [""; 0]);
    let bad = good.replace("_5 = Eq(copy _1, const 1_isize);\n", "\n");
    assert_eq!(read_and_never_written(&bad), ["_5"]);
}
