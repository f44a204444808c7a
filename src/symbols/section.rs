//! Debug sections, decompressed where they are compressed.

use goblin::elf::section_header::{SHF_COMPRESSED, SectionHeader};

use crate::symbols::decompress::{inflate, unxz, unzstd};
use crate::symbols::elf::Elf;

/// `ELFCOMPRESS_ZLIB`.
const ZLIB: u32 = 1;
/// `ELFCOMPRESS_ZSTD`. Valgrind 3.19 does not know it, and then reads nothing of the object.
const ZSTD: u32 = 2;
/// Size of `Elf64_Chdr`, in bytes.
const CHDR: usize = 24;

/// The bytes of the debug section `name` (with its dot), decompressed if it is `SHF_COMPRESSED` or stored under the
/// old `.zdebug` name. Empty if the file has no such section or it cannot be decompressed.
pub(crate) fn load(elf: &Elf<'_>, name: &str) -> Vec<u8> {
    if let Some(section) = elf.section(name) {
        return plain(elf, section).unwrap_or_default();
    }
    let old = name.replacen(".debug", ".zdebug", 1);
    let data = elf.section(&old).and_then(|section| elf.contents(section));
    data.and_then(|data| zdebug(&data)).unwrap_or_default()
}

fn plain(elf: &Elf<'_>, section: &SectionHeader) -> Option<Vec<u8>> {
    let data = elf.contents(section)?;
    if section.sh_flags & u64::from(SHF_COMPRESSED) == 0 {
        return Some(data);
    }
    let kind = u32::from_le_bytes(data.get(..4)?.try_into().ok()?);
    let size = u64::from_le_bytes(data.get(8..16)?.try_into().ok()?);
    let stream = data.get(CHDR..)?;
    match kind {
        ZLIB => inflate(stream, size),
        ZSTD => unzstd(stream, size),
        _ => None,
    }
}

/// The symbols that a stripped object carries in `.gnu_debugdata`: an ELF file in an xz stream (GDB manual, "MiniDebugInfo").
/// Valgrind does not look there.
pub(crate) fn mini(elf: &Elf<'_>) -> Option<Elf<'static>> {
    let data = elf.section(".gnu_debugdata").and_then(|section| elf.contents(section))?;
    Elf::owned(unxz(&data)).ok()
}

/// The layout before `SHF_COMPRESSED`: `ZLIB`, the size as a big-endian number, the stream.
fn zdebug(data: &[u8]) -> Option<Vec<u8>> {
    let size = u64::from_be_bytes(data.strip_prefix(b"ZLIB")?.get(..8)?.try_into().ok()?);
    inflate(data.get(12..)?, size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zlib_rs::{DeflateConfig, compress_bound, compress_slice};

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut output = vec![0; compress_bound(bytes.len())];
        compress_slice(&mut output, bytes, DeflateConfig::new(6)).0.to_vec()
    }

    #[test]
    fn old_sections_carry_their_size_in_front() {
        let stream = deflate(b"abcabcabcabc");
        let mut data = b"ZLIB\0\0\0\0\0\0\0\x0c".to_vec();
        data.extend_from_slice(&stream);
        assert_eq!(zdebug(&data).as_deref(), Some(&b"abcabcabcabc"[..]));
        assert_eq!(zdebug(b"ZLIX\0\0\0\0\0\0\0\x0c"), None);
        assert_eq!(zdebug(b"ZLIB\0"), None);
    }
}
