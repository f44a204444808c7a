//! What ties an object to its separate debug files: build-id, `.gnu_debuglink`, `.gnu_debugaltlink`.

use goblin::elf::section_header::SHT_SYMTAB;

use crate::loader::FileBytes;
use crate::symbols::elf::{Elf, string};
use crate::symbols::error::DebugError;

/// Largest build-id taken, in bytes; linkers make 8 to 32.
const MAX_BUILD_ID: usize = 64;
/// `NT_GNU_BUILD_ID`.
const BUILD_ID_NOTE: u32 = 3;

/// What an ELF file says about itself and about the files that complete it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The build-id of `.note.gnu.build-id`.
    pub build_id: Option<Vec<u8>>,
    /// File name and CRC-32 of `.gnu_debuglink` (GDB manual, "Separate Debug Files").
    pub debuglink: Option<(String, u32)>,
    /// File name and build-id of `.gnu_debugaltlink`, or file name and checksum of `.debug_sup` (DWARF 5, 7.3.6): what dwz(1)
    /// moves elsewhere.
    pub debugaltlink: Option<(String, Vec<u8>)>,
    /// The checksum by which `.debug_sup` says that this is such a file.
    pub supplement: Option<Vec<u8>>,
    /// Whether the file has a `.symtab`.
    pub has_symtab: bool,
    /// Whether the file has `.debug_info`.
    pub has_dwarf: bool,
}

impl Links {
    /// Reads them from an object or debug file.
    ///
    /// # Errors
    /// If `file` is not a little-endian 64-bit ELF file.
    pub fn parse<F: FileBytes + ?Sized>(file: &F) -> Result<Self, DebugError> {
        let elf = Elf::parse(file)?;
        let contents = |name| elf.section(name).and_then(|section| elf.contents(section));
        let sup = contents(".debug_sup").and_then(|section| debug_sup(&section));
        let (user, supplement) = match sup {
            Some((name, id, false)) => (Some((name, id)), None),
            Some((_, id, true)) => (None, Some(id)),
            None => (None, None),
        };
        Ok(Self {
            build_id: contents(".note.gnu.build-id").and_then(|notes| build_id(&notes)),
            debuglink: contents(".gnu_debuglink").and_then(|link| debuglink(&link)),
            debugaltlink: contents(".gnu_debugaltlink").and_then(|link| debugaltlink(&link)).or(user),
            supplement,
            has_symtab: elf.section_of_type(SHT_SYMTAB).is_some(),
            has_dwarf: elf.has_dwarf(),
        })
    }

    /// Whether a separate debug file would add anything.
    pub fn needs_debug_file(&self) -> bool {
        !self.has_symtab || !self.has_dwarf
    }

    /// Whether `candidate` is the debug file of this object: the one with its build-id if it has one, else the one
    /// whose CRC-32 is that of the debuglink.
    pub fn is_debug_file<F: FileBytes + ?Sized>(&self, candidate: &F) -> bool {
        match (&self.build_id, &self.debuglink) {
            (Some(id), _) => Self::parse(candidate).is_ok_and(|links| links.build_id.as_ref() == Some(id)),
            (None, Some((_, crc))) => crc32_of_file(candidate) == *crc,
            (None, None) => false,
        }
    }

    /// Whether `candidate` is the alternate file that this file names, by build-id or checksum.
    pub fn is_alternate_file<F: FileBytes + ?Sized>(&self, candidate: &F) -> bool {
        let Some((_, id)) = &self.debugaltlink else { return false };
        Self::parse(candidate)
            .is_ok_and(|links| links.build_id.as_ref() == Some(id) || links.supplement.as_ref() == Some(id))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn aligned(size: usize) -> Option<usize> {
    Some(size.checked_add(3)? & !3)
}

fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    loop {
        let (name_size, size) = (number(notes, 0)? as usize, number(notes, 4)? as usize);
        let start = aligned(name_size)?.checked_add(12)?;
        let end = start.checked_add(size)?;
        let name = notes.get(12..name_size.checked_add(12)?)?;
        if number(notes, 8)? == BUILD_ID_NOTE && name == b"GNU\0" {
            return notes
                .get(start..end)
                .filter(|id| (1..=MAX_BUILD_ID).contains(&id.len()))
                .map(<[u8]>::to_vec);
        }
        notes = notes.get(start.checked_add(aligned(size)?)?..)?;
    }
}

fn debuglink(section: &[u8]) -> Option<(String, u32)> {
    let name = string(section, 0).filter(|name| !name.is_empty())?;
    let crc = number(section, aligned(name.len().checked_add(1)?)?)?;
    Some((String::from_utf8(name.to_vec()).ok()?, crc))
}

fn debugaltlink(section: &[u8]) -> Option<(String, Vec<u8>)> {
    let name = string(section, 0).filter(|name| !name.is_empty())?;
    let id = section.get(name.len().checked_add(1)?..)?;
    Some((String::from_utf8(name.to_vec()).ok()?, id.get(..MAX_BUILD_ID).unwrap_or(id).to_vec()))
}

/// File name, checksum, and whether this is the supplementary file itself.
fn debug_sup(section: &[u8]) -> Option<(String, Vec<u8>, bool)> {
    // The version is that of DWARF.
    let [5, 0, supplementary @ (0 | 1), rest @ ..] = section else { return None };
    let name = string(rest, 0)?;
    // The length is a LEB128 number, and one that is taken is of one byte.
    let (length, rest) = rest.get(name.len().checked_add(1)?..)?.split_first()?;
    let id = rest.get(..usize::from(*length)).filter(|id| (1..=MAX_BUILD_ID).contains(&id.len()))?;
    Some((String::from_utf8(name.to_vec()).ok()?, id.to_vec(), *supplementary == 1))
}

/// Sliced tables for the reflected polynomial 0xedb88320: `TABLES[k][b]` is the checksum of `b` and `k` zero bytes.
const TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 != 0 { (value >> 1) ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[zeros - 1][byte];
            tables[zeros][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
};

/// The CRC-32 of `.gnu_debuglink` (that of IEEE 802.3 and zlib).
pub fn crc32(bytes: &[u8]) -> u32 {
    !crc32_continued(!0, bytes)
}

/// The same of all bytes of a file.
pub fn crc32_of_file<F: FileBytes + ?Sized>(file: &F) -> u32 {
    let mut buffer = vec![0; 1 << 16];
    let (mut crc, mut offset) = (!0, 0u64);
    loop {
        let count = file.read_at(offset, &mut buffer);
        let Some(bytes @ [_, ..]) = buffer.get(..count) else { return !crc };
        crc = crc32_continued(crc, bytes);
        offset = offset.saturating_add(count as u64);
    }
}

/// The shift register, `crc` before and the result after `bytes`.
fn crc32_continued(mut crc: u32, bytes: &[u8]) -> u32 {
    let look = |zeros: usize, byte: u32| TABLES[zeros][(byte & 0xff) as usize];
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let low = number(chunk, 0).unwrap_or(0) ^ crc;
        let high = number(chunk, 4).unwrap_or(0);
        crc = look(7, low)
            ^ look(6, low >> 8)
            ^ look(5, low >> 16)
            ^ look(4, low >> 24)
            ^ look(3, high)
            ^ look(2, high >> 8)
            ^ look(1, high >> 16)
            ^ look(0, high >> 24);
    }
    for &byte in chunks.remainder() {
        crc = (crc >> 8) ^ look(0, crc ^ u32::from(byte));
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_check_values() {
        // The catalogue's check value for CRC-32/ISO-HDLC, and zlib's for two other texts.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"The quick brown fox jumps over the lazy dog"), 0x414f_a339);
    }

    #[test]
    fn notes() {
        let mut notes = Vec::new();
        for (kind, name, body) in [(1u32, &b"GNU\0"[..], &b"abcde"[..]), (3, b"GNU\0", b"\x01\x02\x03")] {
            notes.extend_from_slice(&(name.len() as u32).to_le_bytes());
            notes.extend_from_slice(&(body.len() as u32).to_le_bytes());
            notes.extend_from_slice(&kind.to_le_bytes());
            notes.extend_from_slice(name);
            notes.extend_from_slice(body);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(build_id(&notes), Some(vec![1, 2, 3]));
        for length in 0..notes.len() - 1 {
            assert_eq!(build_id(&notes[..length]), None, "{length}");
        }
        assert_eq!(build_id(&[0xff; 64]), None);
    }

    /// As dwz 0.15 writes them with `--dwarf-5`.
    #[test]
    fn supplementary_files() {
        let user = b"\x05\0\0sup.dwz\0\x03abc";
        assert_eq!(debug_sup(user), Some(("sup.dwz".into(), b"abc".to_vec(), false)));
        assert_eq!(debug_sup(b"\x05\0\x01\0\x03abc"), Some((String::new(), b"abc".to_vec(), true)));
        for length in 0..user.len() {
            assert_eq!(debug_sup(&user[..length]), None, "{length}");
        }
        for bad in
            [&b"\x04\0\0s\0\x03abc"[..], b"\x05\0\x02s\0\x03abc", b"\x05\0\0s\0\0", b"\x05\0\0s\0\x83\0abc"]
        {
            assert_eq!(debug_sup(bad), None, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn debuglinks() {
        assert_eq!(debuglink(b"a.debug\0\x01\x02\x03\x04"), Some(("a.debug".into(), 0x0403_0201)));
        assert_eq!(debuglink(b"ab.debug\0\0\0\0\x01\x02\x03\x04"), Some(("ab.debug".into(), 0x0403_0201)));
        assert_eq!(debuglink(b"ab.debug\0\0\0\0\x01\x02\x03"), None);
        assert_eq!(debuglink(b"\0\0\0\0\0\0\0\0"), None);
        assert_eq!(debuglink(b""), None);
    }
}
