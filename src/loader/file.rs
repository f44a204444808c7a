//! Files as the loader reads them, and what kind of program they hold.

use crate::guest::PageSource;

/// A file's bytes, read where they are needed: a loader looks at a few hundred bytes of a file of
/// any size.
pub trait FileBytes {
    /// Length of the file in bytes.
    fn len(&self) -> u64;
    /// Reads up to `buf.len()` bytes at `offset` and returns how many there were; fewer mean the
    /// end of the file, or a host error, which the loader reports as a truncated file.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> usize;
    /// Returns whether the file has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl FileBytes for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> usize {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..)).unwrap_or(&[]);
        let count = rest.len().min(buf.len());
        for (to, from) in buf.iter_mut().zip(rest) {
            *to = *from;
        }
        count
    }
}

impl FileBytes for Vec<u8> {
    fn len(&self) -> u64 {
        FileBytes::len(self.as_slice())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> usize {
        self.as_slice().read_at(offset, buf)
    }
}

impl FileBytes for dyn PageSource + '_ {
    fn len(&self) -> u64 {
        PageSource::len(self)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> usize {
        PageSource::read_at(self, offset, buf).unwrap_or(0)
    }
}

/// Kind of program by the first bytes of its file, as the kernel's handlers ask in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Begins with the ELF magic number; for [`parse`](crate::loader::parse).
    Elf,
    /// Begins with `#!`; for [`script::parse`](crate::loader::script::parse).
    Script,
    /// Neither; execve(2) answers ENOEXEC.
    Unknown,
}

/// Tells the kinds apart by a file's first bytes; four are enough.
pub fn file_kind(head: &[u8]) -> FileKind {
    if head.starts_with(b"\x7fELF") {
        FileKind::Elf
    } else if head.starts_with(b"#!") {
        FileKind::Script
    } else {
        FileKind::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_end_where_the_file_ends() {
        let file: &[u8] = b"abcdef";
        let mut buf = [b'.'; 4];
        assert_eq!(file.read_at(4, &mut buf), 2);
        assert_eq!(&buf, b"ef..");
        assert_eq!(file.read_at(6, &mut buf), 0);
        assert_eq!(file.read_at(u64::MAX, &mut buf), 0);
        assert_eq!(FileBytes::len(file), 6);
    }

    #[test]
    fn kinds() {
        assert_eq!(file_kind(b"\x7fELF\x02"), FileKind::Elf);
        assert_eq!(file_kind(b"#!/bin/sh\n"), FileKind::Script);
        assert_eq!(file_kind(b"\x7fEL"), FileKind::Unknown);
        assert_eq!(file_kind(b"# !/bin/sh"), FileKind::Unknown);
        assert_eq!(file_kind(b""), FileKind::Unknown);
    }
}
