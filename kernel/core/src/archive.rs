//! The root archive: files in a cpio archive of the "newc" format, read in place.
//!
//! A member is a header of 110 characters, its fields eight hexadecimal digits each, then the name with its final zero,
//! then the data, each filled up to a multiple of four. The member `TRAILER!!!` ends the archive. What is malformed ends
//! it too: nothing that the archive says leads outside of it.

const MAGIC: &[u8] = b"070701";
const HEADER: usize = 110;
const TRAILER: &[u8] = b"TRAILER!!!";

/// One member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member<'a> {
    /// Its name, without the final zero.
    pub name: &'a [u8],
    /// Type and permissions, as in C's `st_mode`.
    pub mode: u32,
    /// What it holds.
    pub data: &'a [u8],
}

/// The members of `archive`, in order.
pub fn members(archive: &[u8]) -> impl Iterator<Item = Member<'_>> {
    let mut rest = archive;
    core::iter::from_fn(move || {
        let (member, length) = first(rest)?;
        rest = rest.get(length..).unwrap_or(&[]);
        Some(member)
    })
}

/// The first member, and how many bytes it takes; `None` at the end and for what is no member.
fn first(archive: &[u8]) -> Option<(Member<'_>, usize)> {
    let header = archive.get(..HEADER).filter(|header| header.starts_with(MAGIC))?;
    let name_length = number(header, 11)? as usize;
    let name_end = HEADER.checked_add(name_length)?;
    let name = archive.get(HEADER..name_end)?.strip_suffix(&[0])?;
    let data_start = name_end.next_multiple_of(4);
    let data_end = data_start.checked_add(number(header, 6)? as usize)?;
    let data = archive.get(data_start..data_end)?;
    let member = Member { name, mode: number(header, 1)?, data };
    (name != TRAILER).then_some((member, data_end.next_multiple_of(4)))
}

/// Field `index` of a header.
fn number(header: &[u8], index: usize) -> Option<u32> {
    let start = MAGIC.len() + 8 * index;
    let digits = header.get(start..start + 8)?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::vec::Vec;

    fn push(archive: &mut Vec<u8>, name: &str, data: &[u8]) {
        let fields = [1, 0o100_755, 0, 0, 1, 0, data.len(), 0, 0, 0, 0, name.len() + 1, 0];
        archive.extend(MAGIC);
        fields.iter().for_each(|field| archive.extend(format!("{field:08X}").bytes()));
        archive.extend(name.bytes().chain([0]));
        archive.resize(archive.len().next_multiple_of(4), 0);
        archive.extend(data);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = Vec::new();
        files.iter().for_each(|(name, data)| push(&mut archive, name, data));
        push(&mut archive, "TRAILER!!!", &[]);
        archive.extend([0; 512]);
        archive
    }

    #[test]
    fn members_come_in_order_with_all_their_bytes() {
        let files: [(&str, &[u8]); 4] = [("a", b""), ("bc", b"1"), ("def", b"1234"), (".argv", b"/a\0")];
        let archive = archive(&files);
        let found: Vec<_> = members(&archive).collect();
        assert_eq!(found.len(), files.len());
        for (member, (name, data)) in found.iter().zip(files) {
            assert_eq!((member.name, member.data, member.mode), (name.as_bytes(), data, 0o100_755));
        }
    }

    proptest! {
        #[test]
        fn whatever_it_says_nothing_leads_outside(mut bytes: Vec<u8>, at: usize, with: u8) {
            members(&bytes).count();
            let mut good = archive(&[("name", b"some data"), ("other", b"more")]);
            let at = at % good.len();
            good[at] = with;
            members(&good).count();
            good.truncate(at);
            members(&good).count();
            bytes.splice(0..0, MAGIC.iter().copied());
            members(&bytes).count();
        }
    }
}
