//! The initial root: a cpio archive in the newc format, handed to the kernel as the initrd.
//!
//! It holds files of the host under their base names, and two members of its own: `.argv` (the first program's
//! arguments) and `.environ`. Each file's bytes begin at a page border, so that the kernel could map them in place.

use anyhow::{Context, Result, bail, ensure};
use cpio::newc;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Alignment of the bytes of a file within the archive.
const PAGE: usize = 4096;
/// Fixed part of a newc header.
const HEADER: usize = 110;
/// Fills the space up to a page border; never looked up.
const FILLER: &str = ".filler";
/// The arguments of the first program.
const ARGV: &str = ".argv";
/// The environment of the first program.
const ENVIRON: &str = ".environ";

/// What the guest finds in its root folder, and how its first program is started.
pub(crate) struct Root<'a> {
    /// The first program.
    pub(crate) program: &'a Path,
    /// Its arguments after `argv[0]`, which is its path in the guest.
    pub(crate) arguments: &'a [OsString],
    /// `NAME=value` strings.
    pub(crate) environment: &'a [String],
    /// Further files.
    pub(crate) files: &'a [PathBuf],
}

impl Root<'_> {
    /// The archive's bytes. Fails where a file cannot be read, is no static program, or where two would share a name.
    pub(crate) fn archive(&self) -> Result<Vec<u8>> {
        let name = base_name(self.program)?;
        let program = read(self.program)?;
        check_program(&program).with_context(|| self.program.display().to_string())?;
        let argv0 = OsString::from(format!("/{name}"));
        let argv = strings(std::iter::once(&argv0).chain(self.arguments).map(|argument| argument.as_bytes()));
        let environ = strings(self.environment.iter().map(|variable| variable.as_bytes()));

        let mut archive = Archive::default();
        archive.member(ARGV, &argv)?;
        archive.member(ENVIRON, &environ)?;
        archive.file(self.program, &program)?;
        for file in self.files {
            archive.file(file, &read(file)?)?;
        }
        archive.finish()
    }
}

#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    names: BTreeSet<String>,
}

impl Archive {
    /// Adds a file whose data begins at a page border.
    fn file(&mut self, path: &Path, data: &[u8]) -> Result<()> {
        let name = base_name(path)?;
        ensure!(self.names.insert(name.to_owned()), "two files would be /{name} in the guest");
        let data_at = self.bytes.len() + header(name);
        if !data_at.is_multiple_of(PAGE) {
            let after_filler = data_at + header(FILLER);
            self.member(FILLER, &vec![0; after_filler.next_multiple_of(PAGE) - after_filler])?;
        }
        self.member(name, data)
    }

    fn member(&mut self, name: &str, data: &[u8]) -> Result<()> {
        const REGULAR: u32 = 0o100_000;
        let mode = REGULAR | if name.starts_with('.') { 0o444 } else { 0o555 };
        let length =
            u32::try_from(data.len()).context("a file of 4 GiB or more does not fit into the archive")?;
        let number = self.names.len() as u32;
        let mut writer =
            newc::Builder::new(name).ino(number).mode(mode).nlink(1).write(&mut self.bytes, length);
        writer.write_all(data)?;
        writer.finish()?;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        newc::trailer(&mut self.bytes)?;
        Ok(self.bytes)
    }
}

/// Bytes of a member before its data: header, name and its NUL, padded.
fn header(name: &str) -> usize {
    padded(HEADER + name.len() + 1)
}

/// newc pads names and data to four bytes.
fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn strings<'a>(items: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    items.flat_map(|item| item.iter().copied().chain([0])).collect()
}

fn base_name(path: &Path) -> Result<&str> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("{}: has no name that the guest could use", path.display()))?;
    ensure!(![ARGV, ENVIRON, FILLER].contains(&name), "{}: the name is taken", path.display());
    Ok(name)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}

/// Refuses what is no program at all, or one that needs a dynamic loader. All else is for the kernel to judge.
fn check_program(bytes: &[u8]) -> Result<()> {
    use object::{Endianness, elf, read::elf::ElfFile64, read::elf::ProgramHeader};
    ensure!(bytes.starts_with(&elf::ELFMAG), "not an ELF file");
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else { return Ok(()) };
    let is_interpreter = |header: &elf::ProgramHeader64<_>| header.p_type(file.endian()) == elf::PT_INTERP;
    if file.elf_program_headers().iter().any(is_interpreter) {
        bail!("dynamically linked; only static programs run here (userlib/cc builds them)");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a program, which is no more than an ELF header's magic, and a file.
    fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (program, file) = (folder.path().join("program"), folder.path().join("data file"));
        std::fs::write(&program, b"\x7fELF").expect("temporary folder");
        std::fs::write(&file, vec![7; 5000]).expect("temporary folder");
        (folder, program, file)
    }

    /// Name, place of the data, and data of every member.
    fn members(archive: &[u8]) -> Vec<(String, usize, Vec<u8>)> {
        let mut rest = archive;
        let mut members = Vec::new();
        loop {
            let mut reader = newc::Reader::new(rest).expect("a good archive");
            if reader.entry().is_trailer() {
                return members;
            }
            let name = reader.entry().name().to_owned();
            let mut data = Vec::new();
            std::io::Read::read_to_end(&mut reader, &mut data).expect("a good archive");
            let place = archive.len() - rest.len() + header(&name);
            members.push((name, place, data));
            rest = reader.finish().expect("a good archive");
        }
    }

    #[test]
    fn everything_is_in_the_archive_and_files_begin_at_a_page() {
        let (_folder, program, file) = folder();
        let arguments = ["".into(), "a b\n".into()];
        let environment = ["A=1".to_owned(), "B=".to_owned()];
        let root =
            Root { program: &program, arguments: &arguments, environment: &environment, files: &[file] };
        let members = members(&root.archive().expect("all is well"));
        let find = |name: &str| members.iter().find(|member| member.0 == name).expect("it is there");
        assert_eq!(find(".argv").2, b"/program\0\0a b\n\0");
        assert_eq!(find(".environ").2, b"A=1\0B=\0");
        for (name, data) in [("program", b"\x7fELF".to_vec()), ("data file", vec![7; 5000])] {
            let (_, place, found) = find(name);
            assert!(*found == data && place.is_multiple_of(PAGE), "{name} at {place}");
        }
    }

    #[test]
    fn names_that_would_hide_another_are_refused() {
        let (folder, program, _) = folder();
        let refused = |file: PathBuf| {
            let root = Root { program: &program, arguments: &[], environment: &[], files: &[file] };
            root.archive().expect_err("refused").to_string()
        };
        assert!(refused(program.clone()).contains("two files would be /program"));
        for name in [ARGV, ENVIRON, FILLER] {
            let file = folder.path().join(name);
            std::fs::write(&file, b"").expect("temporary folder");
            assert!(refused(file).contains("the name is taken"), "{name}");
        }
    }
}
