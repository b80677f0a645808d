//! The headers of an ELF64 file, as far as loading needs them.

/// Bytes in a program header (AT_PHENT).
pub const HEADER_SIZE: u64 = 56;

/// The most program headers a file may have.
const MAX_HEADERS: u16 = 64;

const FILE_HEADER_SIZE: usize = 64;
/// Magic, 64-bit, little-endian, version 1.
const IDENTITY: [u8; 7] = [0x7f, b'E', b'L', b'F', 2, 1, 1];
const ABI_SYSTEM_V: u8 = 0;
const ABI_LINUX: u8 = 3;
const MACHINE_X86_64: u16 = 62;
const TYPE_FIXED: u16 = 2;
const TYPE_POSITION_INDEPENDENT: u16 = 3;

/// What the file's own header says, checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileHeader {
    pub(super) position_independent: bool,
    pub(super) entry: u64,
    pub(super) headers_offset: u64,
    pub(super) header_count: u16,
}

/// A program header, as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramHeader {
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) file_size: u64,
    pub(super) memory_size: u64,
    pub(super) alignment: u64,
}

impl FileHeader {
    /// `None` where `file` is not one that could be loaded.
    pub(super) fn parse(file: &[u8]) -> Option<FileHeader> {
        let header = Fields(file.get(..FILE_HEADER_SIZE)?);
        let identity = header.0.starts_with(&IDENTITY) && matches!(header.0[7], ABI_SYSTEM_V | ABI_LINUX);
        let kind = header.half(16)?;
        let found = FileHeader {
            position_independent: kind == TYPE_POSITION_INDEPENDENT,
            entry: header.long(24)?,
            headers_offset: header.long(32)?,
            header_count: header.half(56)?,
        };
        let good = identity
            && matches!(kind, TYPE_FIXED | TYPE_POSITION_INDEPENDENT)
            && header.half(18)? == MACHINE_X86_64
            && header.word(20)? == 1
            && u64::from(header.half(54)?) == HEADER_SIZE
            && found.header_count <= MAX_HEADERS;
        good.then_some(found)
    }

    /// Bytes in the table of program headers.
    pub(super) fn headers_size(&self) -> u64 {
        u64::from(self.header_count) * HEADER_SIZE
    }

    /// The program headers; `None` where they are not all in the file.
    pub(super) fn program_headers<'a>(
        &self,
        file: &'a [u8],
    ) -> Option<impl Iterator<Item = ProgramHeader> + Clone + use<'a>> {
        let start = usize::try_from(self.headers_offset).ok()?;
        let end = start.checked_add(self.headers_size() as usize)?;
        let table = file.get(start..end)?;
        Some(table.chunks_exact(HEADER_SIZE as usize).filter_map(ProgramHeader::parse))
    }
}

impl ProgramHeader {
    fn parse(bytes: &[u8]) -> Option<ProgramHeader> {
        let header = Fields(bytes);
        Some(ProgramHeader {
            kind: header.word(0)?,
            flags: header.word(4)?,
            offset: header.long(8)?,
            address: header.long(16)?,
            file_size: header.long(32)?,
            memory_size: header.long(40)?,
            alignment: header.long(48)?,
        })
    }
}

/// Little-endian numbers in bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.0.get(offset..)?.first_chunk().copied()
    }

    fn half(&self, offset: usize) -> Option<u16> {
        self.bytes(offset).map(u16::from_le_bytes)
    }

    fn word(&self, offset: usize) -> Option<u32> {
        self.bytes(offset).map(u32::from_le_bytes)
    }

    fn long(&self, offset: usize) -> Option<u64> {
        self.bytes(offset).map(u64::from_le_bytes)
    }
}
