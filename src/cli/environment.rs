//! The environment of the guest: small and the same for every user, so that it changes no count. A
//! longer environment moves the stack, and with it every data address.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Directories of commands that a guest finds, and in which its own name is looked for.
pub(super) const GUEST_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The variables that every guest finds. `TZ` is a rule and not a zone's name, so that no file of
/// the host decides it.
const FIXED: &[(&str, &str)] = &[
    ("PATH", GUEST_PATH),
    ("HOME", "/"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("TZ", "UTC0"),
];

/// One `--env`: a name with a value, or a name whose value the host gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Addition {
    name: OsString,
    value: Option<OsString>,
}

/// Reads `NAME` or `NAME=VALUE`.
///
/// # Errors
/// An empty name, which no program could ask for.
pub(super) fn parse(text: &OsStr) -> Result<Addition, String> {
    let bytes = text.as_bytes();
    let (name, value) = match bytes.iter().position(|&b| b == b'=') {
        Some(at) => (&bytes[..at], Some(OsString::from_vec(bytes[at + 1..].to_vec()))),
        None => (bytes, None),
    };
    if name.is_empty() {
        return Err("the variable has no name; write NAME or NAME=VALUE".to_owned());
    }
    Ok(Addition { name: OsStr::from_bytes(name).to_owned(), value })
}

/// The fixed variables if they are wanted, then the additions in their order; a name that is there
/// already keeps its place and takes the new value. A bare name that the host does not set changes
/// nothing.
pub(super) fn build(
    fixed: bool,
    additions: &[Addition],
    host: impl Fn(&OsStr) -> Option<OsString>,
) -> Vec<(OsString, OsString)> {
    let fixed = FIXED.iter().filter(|_| fixed);
    let mut env: Vec<(OsString, OsString)> =
        fixed.map(|&(name, value)| (name.into(), value.into())).collect();
    for addition in additions {
        let Some(value) = addition.value.clone().or_else(|| host(&addition.name)) else { continue };
        match env.iter_mut().find(|(name, _)| *name == addition.name) {
            Some(slot) => slot.1 = value,
            None => env.push((addition.name.clone(), value)),
        }
    }
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(texts: &[&str]) -> Vec<(String, String)> {
        let additions: Vec<_> = texts.iter().map(|t| parse(OsStr::new(t)).expect("valid")).collect();
        let host = |name: &OsStr| (name == "SET").then(|| OsString::from("from host"));
        build(true, &additions, host)
            .into_iter()
            .skip(FIXED.len())
            .map(|(n, v)| (n.into_string().expect("text"), v.into_string().expect("text")))
            .collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn nothing_of_the_host_gets_in_unasked() {
        let all = build(true, &[], |_| Some("leak".into()));
        assert_eq!(all.len(), FIXED.len());
        assert!(all.iter().all(|(_, value)| value != "leak"));
    }

    #[test]
    fn additions_keep_their_order() {
        assert_eq!(added(&["B=2", "A=1=x", "C="]), [pair("B", "2"), pair("A", "1=x"), pair("C", "")]);
    }

    #[test]
    fn bare_names_ask_the_host() {
        assert_eq!(added(&["SET", "UNSET"]), [pair("SET", "from host")]);
    }

    #[test]
    fn the_last_one_wins_in_the_first_place() {
        assert_eq!(added(&["A=1", "B=2", "A=3"]), [pair("A", "3"), pair("B", "2")]);
        let zone = parse(OsStr::new("TZ=CET-1")).expect("valid");
        let env = build(true, &[zone], |_| None);
        assert_eq!(env.len(), FIXED.len());
        assert_eq!(
            env.iter().find(|(n, _)| n == "TZ").map(|(_, v)| v.as_os_str()),
            Some(OsStr::new("CET-1"))
        );
    }

    #[test]
    fn nameless_variables_are_refused() {
        assert!(parse(OsStr::new("")).is_err());
        assert!(parse(OsStr::new("=1")).is_err());
    }
}
