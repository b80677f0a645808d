//! Where things are, and how they are built.

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Message, MetadataCommand};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The target of user programs.
pub const USER_TARGET: &str = "x86_64-unknown-linux-musl";
/// The target of the kernel.
pub const KERNEL_TARGET: &str = "x86_64-unknown-none";

/// The project's top folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the harness lies two folders below the top")
}

/// Where cargo puts what it builds.
pub fn target_folder() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()))
}

/// A Rust program of tests/programs, as `make build` builds it.
pub fn program(name: &str) -> PathBuf {
    target_folder().join(USER_TARGET).join("release").join(name)
}

/// `cargo ARGUMENTS…` in the project's top folder.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root());
    command
}

/// Tells `qemu-run.sh`, and a harness within the harness, that everything is built. See [`build`].
pub const PREBUILT: (&str, &str) = ("TALLY_PREBUILT", "1");

/// Builds both kernels and all Rust programs, so that runs need to build nothing.
pub fn build() -> Result<()> {
    if std::env::var(PREBUILT.0).is_ok_and(|value| value == PREBUILT.1) {
        return Ok(());
    }
    for arguments in [
        ["--release", "-p", "kernel", "--target", KERNEL_TARGET].as_slice(),
        &["-p", "kernel", "--target", KERNEL_TARGET],
        &["--release", "-p", "programs", "--target", USER_TARGET],
    ] {
        let output = cargo(&["build", "--quiet"]).args(arguments).output().context("cargo")?;
        let words = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo build {}:\n{words}", arguments.join(" "));
    }
    Ok(())
}

/// A package that a bare `cargo test` tests.
pub struct HostPackage {
    /// Its name.
    pub name: String,
    /// Has it concurrent code under loom? Then it has a feature of that name, and tests with it in theirs.
    pub has_models: bool,
}

/// The packages that a bare `cargo test` tests.
pub fn default_packages() -> Result<Vec<HostPackage>> {
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec()?;
    let packages = metadata.workspace_default_packages().into_iter().map(|package| HostPackage {
        name: package.name.to_string(),
        has_models: package.features.contains_key("loom"),
    });
    Ok(packages.collect())
}

/// A test binary that cargo has built.
pub struct TestBinary {
    /// The name of its source: that of a file in `tests/`, or of the crate.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// Builds the test binaries of the package in `folder` for the user target. Fails, with the compiler's words, where
/// they do not build.
pub fn guest_test_binaries(folder: &Path) -> Result<Vec<TestBinary>> {
    let manifest = folder.join("Cargo.toml");
    let output = cargo(&["test", "--quiet", "--no-run", "--message-format=json-render-diagnostics"])
        .args(["--target", USER_TARGET, "--manifest-path"])
        .arg(&manifest)
        .env("CARGO_TARGET_DIR", target_folder())
        .stderr(Stdio::inherit())
        .output()
        .context("cargo")?;
    ensure!(output.status.success(), "the tests of {} do not build", folder.display());
    let mut binaries = Vec::new();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        let Message::CompilerArtifact(artifact) = message? else { continue };
        if let (true, Some(path)) = (artifact.profile.test, artifact.executable) {
            binaries.push(TestBinary { name: artifact.target.name, path: path.into() });
        }
    }
    Ok(binaries)
}

/// Builds an example of a package for the user target as the kernel is built, which has no vector registers to put numbers
/// into.
pub fn example_without_vectors(package: &str, name: &str) -> Result<PathBuf> {
    let folder = target_folder().join("without-vectors");
    let mut cargo = cargo(&["build", "--quiet", "--release", "--target", USER_TARGET]);
    let status = cargo
        .args(["-p", package, "--example", name])
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", "-Cno-vectorize-slp")
        .status()
        .context("cargo")?;
    ensure!(status.success(), "the example {name} of {package} does not build");
    Ok(folder.join(USER_TARGET).join("release/examples").join(name))
}

/// Builds a C program with the project's compiler. Fails with the compiler's words.
pub fn compile_c(source: &Path, program: &Path) -> Result<()> {
    std::fs::create_dir_all(program.parent().context("a program lies in a folder")?)?;
    let mut compiler = Command::new(root().join("userlib/cc"));
    let output =
        compiler.args(["-O2", "-Wall"]).arg(source).arg("-o").arg(program).output().context("userlib/cc")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
