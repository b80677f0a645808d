//! Starts a new guest test from a template that passes.

use crate::project;
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// What `harness new-test` is told.
#[derive(clap::Args)]
pub struct Options {
    /// The language of the test.
    #[arg(long, value_enum, default_value = "rust")]
    language: Language,
    /// The package of the guest tests.
    #[arg(long, value_name = "FOLDER", default_value = "tests/guest")]
    guest: PathBuf,
    /// The test's name: lower-case letters, digits and underscores.
    name: String,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Language {
    Rust,
    C,
}

/// Writes the file, which must not be there yet.
pub fn run(options: &Options) -> Result<u8> {
    let name = &options.name;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let good = name.bytes().all(is_word) && name.starts_with(|first: char| first.is_ascii_lowercase());
    ensure!(good, "NAME={name:?}: a name is lower-case letters, digits and underscores");
    let (path, template) = match options.language {
        Language::Rust => (format!("tests/{name}.rs"), include_str!("../templates/test.rs")),
        Language::C => (format!("c/{name}.c"), include_str!("../templates/test.c")),
    };
    let path = options.guest.join(path);
    let file = project::root().join(&path);
    std::fs::create_dir_all(file.parent().context("the top folder")?)?;
    let written = File::create_new(&file).and_then(|mut file| file.write_all(template.as_bytes()));
    written.with_context(|| path.display().to_string())?;
    println!("{}: make test TEST='--only guest --filter {name}' runs it", path.display());
    Ok(0)
}
