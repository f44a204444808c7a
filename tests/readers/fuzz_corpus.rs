//! Every kept input of the fuzzers, and variations of it, through the readers. The variations are
//! the same in every run. `fuzz/README.md` says how to look for more.

#[path = "../../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// How many variations of each input are tried.
const VARIATIONS: u64 = 200;

fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("a corpus").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{target}: {} inputs", files.len());
    files
}

/// A sequence of numbers (xorshift64*, Vigna 2016).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        usize::try_from(number).expect("32 bits") % below.max(1)
    }
}

/// Changes a few places: bytes, numbers in decimal, pieces left out or repeated, the end cut off.
fn vary(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const WORDS: [&[u8]; 8] = [
        b"18446744073709551615",
        b"-9223372036854775808",
        b"9223372036854775807",
        b"(1)",
        b"=",
        b"\n",
        b"+1",
        b"*",
    ];
    let mut out = bytes.to_vec();
    for _ in 0..=numbers.next(4) {
        let at = numbers.next(out.len());
        let end = (at + numbers.next(16)).min(out.len());
        match numbers.next(6) {
            0 => out.iter_mut().skip(at).take(1).for_each(|byte| *byte = numbers.next(256) as u8),
            1 => out.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << numbers.next(8)),
            2 => drop(out.splice(at..end, WORDS[numbers.next(WORDS.len())].iter().copied())),
            3 => drop(out.drain(at..end)),
            4 => {
                let piece = out[at..end].to_vec();
                drop(out.splice(at..at, piece));
            }
            _ => out.truncate(at),
        }
    }
    out
}

#[test]
fn kept_inputs_and_their_variations() {
    for (target, run) in targets::TARGETS {
        for file in corpus(target) {
            let bytes = fs::read(&file).expect("an input");
            run(&bytes);
            let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ bytes.len() as u64);
            for round in 0..VARIATIONS {
                let varied = vary(&bytes, &mut numbers);
                let failed = catch_unwind(|| run(&varied)).is_err();
                assert!(
                    !failed,
                    "{target}: variation {round} of {}: {}",
                    file.display(),
                    varied.escape_ascii()
                );
            }
        }
    }
}

/// The corpus must reach what it is for: inputs that are read to their ends, and inputs that are
/// refused.
#[test]
fn the_corpus_has_good_and_bad_inputs() {
    use cgemu::classic::merge::StrictProfile;
    use cgemu::profile::{CallgrindReader, CgReader};
    let cachegrind = |bytes: &[u8]| {
        let mut reader = CgReader::new(bytes, "input").ok()?;
        while reader.next_record().ok()?.is_some() {}
        Some(())
    };
    let callgrind = |bytes: &[u8]| {
        let mut reader = CallgrindReader::new(bytes, "input").ok()?;
        while reader.next_record().ok()?.is_some() {}
        Some(())
    };
    let both = |target: &str, good: &dyn Fn(&[u8]) -> bool| {
        let files = corpus(target).iter().map(|file| fs::read(file).expect("an input")).collect::<Vec<_>>();
        let read = files.iter().filter(|bytes| good(bytes)).count();
        assert!(read > 0 && read < files.len(), "{target}: {read} of {} are read", files.len());
    };
    both("cachegrind", &|bytes| cachegrind(bytes).is_some());
    both("strict", &|bytes| StrictProfile::read(bytes, "input").is_ok());
    both("callgrind", &|bytes| callgrind(bytes).is_some());
    both("elf", &|bytes| cgemu::loader::parse(bytes).is_ok());
}
