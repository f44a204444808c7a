//! Names of signals, as strace(1) writes them.

/// Signals 1 to 31, without SIG.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// A signal's name without SIG.
pub(crate) fn short_name(signo: i32) -> std::borrow::Cow<'static, str> {
    let name = usize::try_from(signo - 1).ok().and_then(|at| SIGNALS.get(at));
    match name {
        Some(name) => (*name).into(),
        None if signo == 32 => "RTMIN".into(),
        None if (33..=64).contains(&signo) => format!("RT_{}", signo - 32).into(),
        None => signo.to_string().into(),
    }
}

/// A signal's name.
pub(crate) fn name(signo: i32) -> std::borrow::Cow<'static, str> {
    match signo {
        1..=64 => format!("SIG{}", short_name(signo)).into(),
        _ => signo.to_string().into(),
    }
}
