//! The system calls the kernel knows, one row each. To add one: a row beside its handler in the family's
//! file, the handler, and a guest test; `CONTRIBUTING.md` walks through it.

use std::sync::OnceLock;

use crate::syscalls::context::{Ctx, SysResult};

/// A handler: the six argument registers in, the value for RAX out.
pub type Handler = fn(&mut Ctx, [u64; 6]) -> SysResult;

/// How much of a call is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Everything a program can tell.
    Full,
    /// Some flags or commands are refused by name; the note says which.
    Partial,
    /// Known, and always answered with the error the note names.
    Refused,
}

/// One system call.
pub struct Row {
    /// Number in the x86-64 table.
    pub number: u16,
    /// Name in section 2 of the manual.
    pub name: &'static str,
    /// Who serves it.
    pub handler: Handler,
    /// How much of it is there.
    pub support: Support,
    /// What is missing or special, for the user; may be empty.
    pub note: &'static str,
}

/// The families, each a list of rows in the file that serves it.
const FAMILIES: &[&[Row]] = &[
    super::fs::ROWS,
    super::stat::ROWS,
    super::attr::ROWS,
    super::dir::ROWS,
    super::io::ROWS,
    super::copy::ROWS,
    super::ioctl::ROWS,
    super::fd::ROWS,
    super::pipe::ROWS,
    super::poll::ROWS,
    super::epoll::ROWS,
    super::mm::ROWS,
    super::mm::ADVICE_ROWS,
    super::mm::POLICY_ROWS,
    super::process::ROWS,
    super::process::IDS_ROWS,
    super::process::LIMITS_ROWS,
    super::process::PRCTL_ROWS,
    super::process::CAPS_ROWS,
    super::exec::ROWS,
    super::sched::ROWS,
    super::signal::ROWS,
    super::signal::KILL_ROWS,
    super::time::ROWS,
    super::time::TIMER_ROWS,
    super::system::ROWS,
    super::system::REFUSED_ROWS,
    super::futex::ROWS,
    super::net::ROWS,
];

/// Every row, by rising number.
pub fn rows() -> &'static [&'static Row] {
    static ROWS: OnceLock<Vec<&'static Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows: Vec<&Row> = FAMILIES.iter().copied().flatten().collect();
        rows.sort_by_key(|row| row.number);
        rows
    })
}

/// The row of a number.
pub fn find(number: u64) -> Option<&'static Row> {
    let rows = rows();
    let at = rows.binary_search_by_key(&number, |row| u64::from(row.number)).ok()?;
    Some(rows[at])
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn numbers_and_names_are_unique() {
        for pair in rows().windows(2) {
            assert_ne!(pair[0].number, pair[1].number, "{} and {}", pair[0].name, pair[1].name);
            assert_ne!(pair[0].name, pair[1].name);
        }
    }
}
