//! The `%` patterns of `--cachegrind-out-file` and `--log-file` (Valgrind manual, section 2.6.3,
//! `--log-file`).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Substitutes of the patterns.
pub(super) struct Substitutes<'a> {
    /// `%p`: the process ID of cgemu.
    pub pid: u32,
    /// `%n`: the number of this file among those that one process writes, from 1.
    pub sequence: u32,
    /// `%q{NAME}`: a variable of cgemu's own environment.
    pub variable: &'a dyn Fn(&OsStr) -> Option<OsString>,
}

/// Replaces `%p`, `%n`, `%q{NAME}` and `%%` in a file name.
///
/// # Errors
/// Valgrind's: an empty name, a leading `~` that the shell did not expand, an unknown or unfinished
/// pattern, a variable that is not set.
pub(super) fn expand(name: &OsStr, values: &Substitutes<'_>) -> Result<OsString, String> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Err("no file name given".to_owned());
    }
    if bytes.starts_with(b"~") {
        return Err("the file name begins with '~', which the shell did not expand; write it out".to_owned());
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&b| b == b'%') {
        let (before, pattern) = rest.split_at(at);
        out.extend_from_slice(before);
        rest = match pattern.get(1) {
            Some(b'%') => {
                out.push(b'%');
                &pattern[2..]
            }
            Some(b'p') => {
                out.extend_from_slice(values.pid.to_string().as_bytes());
                &pattern[2..]
            }
            Some(b'n') => {
                out.extend_from_slice(values.sequence.to_string().as_bytes());
                &pattern[2..]
            }
            Some(b'q') => {
                let (value, rest) = variable(&pattern[2..], values)?;
                out.extend_from_slice(value.as_bytes());
                rest
            }
            _ => return Err("expected 'p', 'q', 'n' or '%' after '%'".to_owned()),
        };
    }
    out.extend_from_slice(rest);
    Ok(OsString::from_vec(out))
}

/// True if the name differs by process: `%p` is in it.
pub(super) fn names_process(name: &OsStr) -> bool {
    let of = |pid| expand(name, &Substitutes { pid, sequence: 1, variable: &|_| Some(OsString::new()) });
    of(1) != of(2)
}

/// The value that `{NAME}` at the start of `text` stands for, and what follows it.
fn variable<'t>(text: &'t [u8], values: &Substitutes<'_>) -> Result<(OsString, &'t [u8]), String> {
    let Some(text) = text.strip_prefix(b"{") else {
        return Err("expected '{' after '%q'".to_owned());
    };
    let Some(end) = text.iter().position(|&b| b == b'}') else {
        return Err("missing '}' after '%q{'".to_owned());
    };
    let (name, rest) = text.split_at(end);
    let name = OsStr::from_bytes(name);
    match (values.variable)(name) {
        Some(value) => Ok((value, &rest[1..])),
        None => Err(format!("the environment variable '{}' is not set", name.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> Result<String, String> {
        let variable = |name: &OsStr| (name == "WHO").then(|| OsString::from("me%p"));
        let values = Substitutes { pid: 77, sequence: 1, variable: &variable };
        expand(OsStr::new(name), &values).map(|s| s.into_string().expect("text"))
    }

    #[test]
    fn patterns() {
        for (name, result) in [
            ("plain", "plain"),
            ("cachegrind.out.%p", "cachegrind.out.77"),
            ("%n", "1"),
            ("a%%b%%", "a%b%"),
            ("%p%p/%%p", "7777/%p"),
            // A value is not expanded again.
            ("x%q{WHO}y", "xme%py"),
            ("a~", "a~"),
        ] {
            assert_eq!(run(name).as_deref(), Ok(result), "{name}");
        }
    }

    #[test]
    fn names_of_processes() {
        for (name, expected) in
            [("a.%p", true), ("%p", true), ("a", false), ("a.%%p", false), ("%q{p}%n", false)]
        {
            assert_eq!(names_process(OsStr::new(name)), expected, "{name}");
        }
    }

    /// The names that Valgrind 3.19 refuses, with what it says.
    #[test]
    fn refused() {
        for (name, message) in [
            ("", "no file name given"),
            ("~x", "begins with '~'"),
            ("d.%z", "after '%'"),
            ("f.%", "after '%'"),
            ("g.%qWHO", "expected '{' after '%q'"),
            ("g.%q", "expected '{' after '%q'"),
            ("e.%q{WHO", "missing '}'"),
            ("c.%q{NOPE}", "'NOPE' is not set"),
            ("c.%q{}", "'' is not set"),
        ] {
            let error = run(name).expect_err(name);
            assert!(error.contains(message), "{name}: {error}");
        }
    }

    #[test]
    fn names_need_not_be_utf8() {
        let values = Substitutes { pid: 1, sequence: 1, variable: &|_| None };
        let name = OsStr::from_bytes(b"\xff%p");
        assert_eq!(expand(name, &values).expect("fine").as_bytes(), b"\xff1");
    }
}
