//! Decompression of debug sections. The size that a stream claims is not believed: no more is
//! written than that, and no more than a multiple of the stream's own size.
//!
//! There is one crate for each format: zlib-rs for zlib, ruzstd for zstd, xz4rust for xz.

use std::io::Read as _;

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::compression_header::{CompressionHeader, ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD};
use ruzstd::decoding::StreamingDecoder;
use xz4rust::{XzDecoder, XzNextBlockResult};
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::symbols::give_up::GiveUp;

/// Deflate cannot expand a byte to more than this, so a larger claimed size is a lie. The other
/// formats can, but no honest debug information does.
const MAX_EXPANSION: u64 = 1032;
/// Bytes that are decompressed at once.
const AT_ONCE: usize = 1 << 20;
/// Base-two logarithm of deflate's largest window.
const WINDOW_BITS: u8 = 15;
/// Largest dictionary of an xz stream, in bytes: that of `xz -9`.
const MAX_DICTIONARY: usize = 1 << 26;

/// Decompresses the contents of a section that is `SHF_COMPRESSED`. Valgrind 3.19 does not know
/// zstd, and then reads nothing of the object.
pub(crate) fn section(data: &[u8], give_up: &GiveUp) -> Option<Vec<u8>> {
    let ctx = Ctx::new(Container::Big, Endian::Little);
    let header = CompressionHeader::parse(data, 0, ctx).ok()?;
    let stream = data.get(CompressionHeader::size(ctx)..)?;
    match header.ch_type {
        ELFCOMPRESS_ZLIB => inflate(stream, header.ch_size, give_up),
        ELFCOMPRESS_ZSTD => unzstd(stream, header.ch_size, give_up),
        _ => None,
    }
}

/// Decompresses a `.zdebug` section, the layout before `SHF_COMPRESSED`: `ZLIB`, the size as a
/// big-endian number, the stream.
pub(crate) fn zdebug(data: &[u8], give_up: &GiveUp) -> Option<Vec<u8>> {
    let size = u64::from_be_bytes(data.strip_prefix(b"ZLIB")?.get(..8)?.try_into().ok()?);
    inflate(data.get(12..)?, size, give_up)
}

fn limit(stream: &[u8]) -> u64 {
    (stream.len() as u64).saturating_mul(MAX_EXPANSION)
}

/// Decompresses a zlib stream (RFC 1950) of `size` bytes; a damaged one yields what precedes the
/// damage. `None` if it cannot have that size.
fn inflate(stream: &[u8], size: u64, give_up: &GiveUp) -> Option<Vec<u8>> {
    if size > limit(stream) {
        return None;
    }
    let mut output = vec![0; usize::try_from(size).ok()?];
    let mut state = Inflate::new(true, WINDOW_BITS);
    let done = |count: u64| usize::try_from(count).unwrap_or(0);
    for part in give_up.over_parts(output.chunks_mut(AT_ONCE)) {
        let rest = stream.get(done(state.total_in())..).unwrap_or_default();
        let before = state.total_out();
        // What an error leaves is what was written before it.
        let result = state.decompress(rest, part, InflateFlush::NoFlush);
        if !matches!(result, Ok(Status::Ok)) || done(state.total_out() - before) < part.len() {
            break;
        }
    }
    output.truncate(done(state.total_out()));
    Some(output)
}

/// Decompresses a zstd frame (RFC 8878) in the same way.
fn unzstd(stream: &[u8], size: u64, give_up: &GiveUp) -> Option<Vec<u8>> {
    if size > limit(stream) {
        return None;
    }
    let mut output = Vec::new();
    let mut decoder = StreamingDecoder::new(stream).ok()?.take(size);
    // As above.
    while !give_up.asked()
        && let Ok(1..) = (&mut decoder).take(AT_ONCE as u64).read_to_end(&mut output)
    {}
    Some(output)
}

/// Decompresses an xz stream in the same way. It does not say its size in front: empty if it has
/// more than any honest one.
pub(crate) fn unxz(stream: &[u8], give_up: &GiveUp) -> Vec<u8> {
    let limit = limit(stream);
    let mut decoder = XzDecoder::in_heap_with_alloc_dict_size(0, MAX_DICTIONARY);
    let (mut output, mut rest, mut part) = (Vec::new(), stream, vec![0; 1 << 16]);
    loop {
        let Ok(step) = decoder.decode(rest, &mut part) else { return output };
        output.extend_from_slice(part.get(..step.output_produced()).unwrap_or_default());
        if output.len() as u64 > limit {
            return Vec::new();
        }
        rest = rest.get(step.input_consumed()..).unwrap_or_default();
        if matches!(step, XzNextBlockResult::EndOfStream(..)) || !step.made_progress() || give_up.asked() {
            return output;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::testkit::Workshop;
    use zlib_rs::{DeflateConfig, compress_bound, compress_slice};

    fn inflate(stream: &[u8], size: u64) -> Option<Vec<u8>> {
        super::inflate(stream, size, &GiveUp::default())
    }

    fn unzstd(stream: &[u8], size: u64) -> Option<Vec<u8>> {
        super::unzstd(stream, size, &GiveUp::default())
    }

    fn unxz(stream: &[u8]) -> Vec<u8> {
        super::unxz(stream, &GiveUp::default())
    }

    fn zdebug(data: &[u8]) -> Option<Vec<u8>> {
        super::zdebug(data, &GiveUp::default())
    }

    /// 80,000 bytes that compress to less.
    fn text() -> Vec<u8> {
        (0..20_000u32).flat_map(|n| n.to_le_bytes()).collect()
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut output = vec![0; compress_bound(bytes.len())];
        compress_slice(&mut output, bytes, DeflateConfig::new(6)).0.to_vec()
    }

    /// The output of a tool of the host for a file.
    fn packed(tool: &str, options: &[&str], bytes: &[u8]) -> Vec<u8> {
        let workshop = Workshop::new();
        std::fs::write(workshop.path("text"), bytes).expect("a file");
        workshop.run(tool, &[&["-q"], options, &["text"]].concat());
        workshop.read(if tool == "xz" { "text.xz" } else { "text.zst" })
    }

    #[test]
    fn a_size_that_deflate_cannot_reach_is_refused() {
        assert_eq!(inflate(b"x\x9c\x03\0\0\0\0\x01", u64::MAX), None);
        assert_eq!(inflate(&[], 1), None);
        assert_eq!(unzstd(&[], 1), None);
    }

    #[test]
    fn every_kind() {
        let text = text();
        let size = text.len() as u64;
        assert_eq!(inflate(&deflate(&text), size).as_deref(), Some(&*text));
        for level in ["-1", "-19"] {
            assert_eq!(unzstd(&packed("zstd", &[level], &text), size).as_deref(), Some(&*text), "{level}");
        }
        for options in [&["-0"][..], &["-9e", "--check=crc32"], &["--check=none", "--block-size=9999"]] {
            assert!(unxz(&packed("xz", options, &text)) == text, "{options:?}");
        }
    }

    #[test]
    fn damage_keeps_what_precedes_it() {
        let text = text();
        let half = |stream: &[u8]| stream[..stream.len() / 2].to_vec();
        let size = text.len() as u64;
        let zstd = half(&packed("zstd", &["-1"], &text));
        for cut in [
            inflate(&half(&deflate(&text)), size).unwrap_or_default(),
            unxz(&half(&packed("xz", &["--block-size=9999"], &text))),
        ] {
            assert!(!cut.is_empty() && cut.len() < text.len());
            assert_eq!(cut, text[..cut.len()]);
        }
        assert!(text.starts_with(&unzstd(&zstd, size).unwrap_or_default()));
        assert!(unxz(b"no stream").is_empty());
        assert_eq!(unzstd(b"no stream", 9), None);
    }

    #[test]
    fn bombs_stay_small() {
        let zeros = vec![0; 1 << 26];
        let zstd = packed("zstd", &["-19"], &zeros);
        assert_eq!(unzstd(&zstd, 1 << 26), None, "{} bytes", zstd.len());
        assert_eq!(unzstd(&zstd, 1000), Some(vec![0; 1000]));
        assert!(unxz(&packed("xz", &["-9"], &zeros)).is_empty());
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
