//! `#!` lines, execve(2) and `fs/binfmt_script.c`.

use crate::loader::error::LoadError;

/// BINPRM_BUF_SIZE: how much of the file the kernel looks at. Give [`parse`] the first 256 bytes,
/// or fewer if the file has fewer.
pub const HEAD_SIZE: usize = 256;

/// Number of scripts that may follow each other (a script whose interpreter is a script, and so on)
/// before execve(2) answers ELOOP: `exec_binprm` in `fs/exec.c` looks at six files at most.
pub const MAX_DEPTH: usize = 5;

/// Interpreter and argument of a `#!` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Path of the interpreter, as written.
    pub interpreter: Vec<u8>,
    /// Everything after it, as one argument, without the blanks before it. Empty if blanks follow
    /// the interpreter's name at the very end of the file.
    pub argument: Option<Vec<u8>>,
}

impl Script {
    /// The arguments the interpreter gets: its own path, the optional argument, the script's path
    /// as it was given to execve, and the script's arguments without its `argv[0]`.
    pub fn argv(&self, script_path: &[u8], argv: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut out = vec![self.interpreter.clone()];
        out.extend(self.argument.clone());
        out.push(script_path.to_vec());
        out.extend(argv.iter().skip(1).cloned());
        out
    }
}

/// End of the line of a script, which decides what blanks before it mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// At a newline, or cut off after 255 bytes: blanks before it are dropped.
    Line,
    /// At a NUL, or at the end of a file of one line, after which the kernel's buffer holds NULs:
    /// blanks before it are part of the argument, and may be followed by an empty one.
    Nul,
}

/// Reads the `#!` line at the beginning of a file, which must be there.
///
/// The line ends at a newline or, in a short file, at the end of the file. A longer line is cut off
/// after 255 bytes if the cut falls into the argument, and refused if it falls into the
/// interpreter's name. Errors that the kernel answers with ENOEXEC have that kind; an empty name
/// (`#!` and nothing else in the file) has EACCES, which is what opening it gives.
pub fn parse(head: &[u8]) -> Result<Script, LoadError> {
    let head = head.get(..HEAD_SIZE).unwrap_or(head);
    let Some(text) = head.strip_prefix(b"#!") else {
        return Err(LoadError::ScriptNoInterpreter);
    };
    let stop = text.iter().position(|&b| b == b'\n' || b == 0);
    let (line, end) = match stop {
        Some(at) => {
            let (line, rest) = text.split_at(at);
            (line, if rest.starts_with(b"\n") { End::Line } else { End::Nul })
        }
        None if head.len() < HEAD_SIZE => (text, End::Nul),
        None => (cut_line(text)?, End::Line),
    };
    let line = trim_start(if end == End::Line { trim_end(line) } else { line });
    if line.is_empty() {
        return Err(match end {
            End::Line => LoadError::ScriptNoInterpreter,
            End::Nul => LoadError::EmptyInterpreterName,
        });
    }
    let name_len = line.iter().position(|&b| is_blank(b)).unwrap_or(line.len());
    let (interpreter, rest) = line.split_at(name_len);
    let argument = (!rest.is_empty()).then(|| trim_start(rest).to_vec());
    Ok(Script { interpreter: interpreter.to_vec(), argument })
}

/// A line without an end in the buffer: all but the last byte, which the kernel overwrites with a
/// NUL, provided that the interpreter's name ends before.
fn cut_line(text: &[u8]) -> Result<&[u8], LoadError> {
    let Some(name) = text.iter().position(|&b| !is_blank(b)) else {
        return Err(LoadError::ScriptNoInterpreter);
    };
    if !text.iter().skip(name).any(|&b| is_blank(b)) {
        return Err(LoadError::ScriptTooLong);
    }
    Ok(text.split_last().map_or(text, |(_, line)| line))
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    bytes.iter().position(|&b| !is_blank(b)).and_then(|start| bytes.get(start..)).unwrap_or(&[])
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| !is_blank(b)).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::error::LoadErrorKind;

    fn script(head: &[u8]) -> (String, Option<String>) {
        let script = parse(head).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(script.interpreter), script.argument.map(text))
    }

    /// The line `#!` + `text` filled up with `fill` to `len` bytes, without a newline.
    fn filled(text: &str, fill: u8, len: usize) -> Vec<u8> {
        let mut head = text.as_bytes().to_vec();
        head.resize(len, fill);
        head
    }

    // Each of these was tried on Linux 6.18 too, with a program that prints its arguments as the
    // interpreter.
    #[test]
    fn lines() {
        let arg = |name: &str, arg: &str| (name.to_string(), Some(arg.to_string()));
        let bare = |name: &str| (name.to_string(), None);
        assert_eq!(script(b"#!/bin/sh\necho"), bare("/bin/sh"));
        assert_eq!(script(b"#! \t/bin/sh \t \n"), bare("/bin/sh"));
        assert_eq!(script(b"#!/bin/sh"), bare("/bin/sh"));
        assert_eq!(script(b"#!/usr/bin/env  python3 -u \t\n"), arg("/usr/bin/env", "python3 -u"));
        assert_eq!(script(b"#!/bin/awk\t-f\n"), arg("/bin/awk", "-f"));
        assert_eq!(script(b"#!/bin/sh\r\n"), bare("/bin/sh\r"));
        assert_eq!(script(b"#!/bin/sh -x"), arg("/bin/sh", "-x"));
        assert_eq!(script(b"#!/bin/sh a\0b\n"), arg("/bin/sh", "a"));
        assert_eq!(script(b"#!/bin/sh\0 b\n"), bare("/bin/sh"));
        assert_eq!(script(b"#!/bin/sh \0 b\n"), arg("/bin/sh", ""));
        assert_eq!(script(b"#!/bin/sh "), arg("/bin/sh", ""));
        assert_eq!(script(b"#!/bin/sh  a "), arg("/bin/sh", "a "));
        assert_eq!(script(b"#!sh\n"), bare("sh"));
    }

    #[test]
    fn long_lines() {
        // An argument is cut at 255 bytes of the file.
        let (name, arg) = script(&filled("#!/bin/sh ", b'x', 400));
        assert_eq!((name.as_str(), arg.map(|a| a.len())), ("/bin/sh", Some(255 - 10)));
        // A name that might go on is refused; one that ends with the last byte is not.
        assert_eq!(parse(&filled("#!/bin/", b'x', 400)), Err(LoadError::ScriptTooLong));
        assert_eq!(parse(&filled("#!/bin/", b'x', 256)), Err(LoadError::ScriptTooLong));
        let mut head = filled("#!/bin/", b'x', 255);
        assert_eq!(script(&head).0.len(), 253);
        head.push(b' ');
        assert_eq!(script(&head).0.len(), 253);
        head[255] = b'\n';
        assert_eq!(script(&head).0.len(), 253);
    }

    #[test]
    fn lines_without_an_interpreter() {
        for head in [&b"#!\n"[..], b"#! \t \n/bin/sh", &filled("#!", b' ', 300), b"", b"#", b"/bin/sh\n"] {
            let error = parse(head).unwrap_err();
            assert_eq!(error, LoadError::ScriptNoInterpreter);
            assert_eq!(error.kind(), LoadErrorKind::NoExec);
        }
        for head in [&b"#!"[..], b"#!\0", b"#!  ", b"#! \0\n"] {
            assert_eq!(parse(head).unwrap_err().kind(), LoadErrorKind::Access, "{head:?}");
        }
    }

    #[test]
    fn arguments_of_the_interpreter() {
        let argv: Vec<Vec<u8>> = vec![b"name".to_vec(), b"a".to_vec(), b"".to_vec()];
        let with = parse(b"#!/usr/bin/env python3 -u\n").unwrap().argv(b"./x", &argv);
        let expected: Vec<&[u8]> = vec![b"/usr/bin/env", b"python3 -u", b"./x", b"a", b""];
        assert_eq!(with, expected);
        let without = parse(b"#!/bin/sh\n").unwrap().argv(b"./x", &[]);
        assert_eq!(without, [&b"/bin/sh"[..], b"./x"]);
    }

    #[test]
    fn every_head_of_three_kinds_of_bytes_is_answered() {
        for pattern in 0..3usize.pow(7) {
            let mut rest = pattern;
            let mut head = b"#!".to_vec();
            for _ in 0..7 {
                head.push([b' ', b'/', b'\n'][rest % 3]);
                rest /= 3;
            }
            if let Ok(script) = parse(&head) {
                assert!(script.interpreter.starts_with(b"/"));
                assert!(!script.interpreter.contains(&b' '));
                let argument = script.argument.unwrap_or(b"/".to_vec());
                assert!(argument.is_empty() || argument.starts_with(b"/"));
                assert!(argument.ends_with(b"/") || !head.contains(&b'\n'), "{head:?}");
            }
        }
    }
}
