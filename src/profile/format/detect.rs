//! Detection of a file's format by its content. The first lines of most files of Callgrind name it;
//! those of other tools may show it only by lines that Cachegrind's format lacks.

use std::io::{BufRead, Chain, Cursor, Read as _};

use super::compression::split;

/// The number of bytes that are searched.
const SEARCHED: u64 = 64 << 10;

/// A file whose beginning has been searched, to be read from the beginning.
pub(crate) type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// Tells Callgrind's format (true) from Cachegrind's, and returns the whole input. Cachegrind's is
/// a subset; a file that fits both is Cachegrind's.
///
/// # Errors
/// If the file cannot be read.
pub fn is_callgrind<R: BufRead>(mut input: R) -> std::io::Result<(bool, Whole<R>)> {
    let mut start = Vec::new();
    input.by_ref().take(SEARCHED).read_to_end(&mut start)?;
    let callgrind = start.split(|c| *c == b'\n').any(is_callgrind_line);
    Ok((callgrind, Cursor::new(start).chain(input)))
}

/// Returns the message for a file that has this line instead of Cachegrind's head: `other`, unless
/// the line is Callgrind's, which Valgrind's programs for Cachegrind files do not read.
pub(crate) fn instead_of_head(line: &[u8], other: &'static str) -> &'static str {
    if is_callgrind_line(line) {
        "this is Callgrind's format; `cgemu annotate` without --classic reads it, adds up several files, and with --diff takes \
         one from another"
    } else {
        other
    }
}

/// Tells lines that only the Callgrind format has.
fn is_callgrind_line(line: &[u8]) -> bool {
    const ONLY: [&[u8]; 14] = [
        b"# callgrind format",
        b"version:",
        b"creator:",
        b"positions:",
        b"part:",
        b"pid:",
        b"thread:",
        b"event:",
        b"ob=",
        b"cob=",
        b"cfi=",
        b"cfl=",
        b"cfn=",
        b"calls=",
    ];
    const NAMES: [&[u8]; 4] = [b"fl=", b"fi=", b"fe=", b"fn="];
    ONLY.iter().any(|key| line.starts_with(key))
        || NAMES.iter().any(|key| line.strip_prefix(*key).is_some_and(|name| split(name).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        for (text, callgrind) in [
            ("", false),
            ("desc: I1\ncmd: ./a\nevents: Ir\nfl=a.c\nfn=(below main)\n1 2\nsummary: 2\n", false),
            ("desc: version: 1\ncmd: part: 2\nevents: Ir\nfn=calls=\n", false),
            ("# callgrind format\nevents: Ir\n", true),
            ("version: 1\ncmd: a\n", true),
            ("cmd: a\nevents: Ir\nfl=(1) a.c\n", true),
            ("events: Ir\nfn=f\ncfn=g\ncalls=1 2\n3 4\n", true),
            ("events: Ir\nevent: Ir : Instructions\n", true),
        ] {
            let (found, mut whole) = is_callgrind(text.as_bytes()).expect("memory");
            let mut read = String::new();
            whole.read_to_string(&mut read).expect("memory");
            assert_eq!((found, read.as_str()), (callgrind, text));
        }
    }
}
