//! Debug sections, decompressed where they are compressed.

use goblin::elf::section_header::{SHF_COMPRESSED, SectionHeader};
use zlib_rs::{Inflate, InflateFlush};

use super::elf::Elf;

/// `ELFCOMPRESS_ZLIB`. Valgrind 3.19 knows no other kind.
const ZLIB: u32 = 1;
/// Size of `Elf64_Chdr`, in bytes.
const CHDR: usize = 24;
/// Deflate cannot expand a byte to more than this, so a larger claimed size is a lie.
const MAX_EXPANSION: u64 = 1032;
/// Base-two logarithm of deflate's largest window.
const WINDOW_BITS: u8 = 15;

/// The bytes of the debug section `name` (with its dot), decompressed if it is `SHF_COMPRESSED` or stored under the
/// old `.zdebug` name. Empty if the file has no such section or it cannot be decompressed.
pub(super) fn load(elf: &Elf<'_>, name: &str) -> Vec<u8> {
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
    if kind != ZLIB {
        return None;
    }
    inflate(data.get(CHDR..)?, size)
}

/// The layout before `SHF_COMPRESSED`: `ZLIB`, the size as a big-endian number, the stream.
fn zdebug(data: &[u8]) -> Option<Vec<u8>> {
    let size = u64::from_be_bytes(data.strip_prefix(b"ZLIB")?.get(..8)?.try_into().ok()?);
    inflate(data.get(12..)?, size)
}

/// Decompresses a zlib stream of `size` bytes; a damaged one yields what precedes the damage.
fn inflate(stream: &[u8], size: u64) -> Option<Vec<u8>> {
    if size > (stream.len() as u64).saturating_mul(MAX_EXPANSION) {
        return None;
    }
    let mut output = vec![0; usize::try_from(size).ok()?];
    let mut state = Inflate::new(true, WINDOW_BITS);
    // What an error leaves is what was written before it.
    let _ = state.decompress(stream, &mut output, InflateFlush::Finish);
    output.truncate(usize::try_from(state.total_out()).unwrap_or(0));
    Some(output)
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
    fn a_size_that_deflate_cannot_reach_is_refused() {
        assert_eq!(inflate(b"x\x9c\x03\0\0\0\0\x01", u64::MAX), None);
        assert_eq!(inflate(&[], 1), None);
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

    #[test]
    fn damage_keeps_what_precedes_it() {
        let text: Vec<u8> = (0..20_000u32).flat_map(|n| n.to_le_bytes()).collect();
        let stream = deflate(&text);
        let cut = inflate(&stream[..stream.len() / 2], text.len() as u64).unwrap_or_default();
        assert!(!cut.is_empty() && cut.len() < text.len());
        assert_eq!(cut, text[..cut.len()]);
    }
}
