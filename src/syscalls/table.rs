//! The system calls the kernel knows, one row each. To add one: a row beside its handler in the family's
//! file, the handler, and a guest test; `CONTRIBUTING.md` walks through it.

use std::sync::OnceLock;

pub use crate::syscalls::row::{Row, Support};

/// The families, each a list of rows in the file that serves it.
const FAMILIES: &[&[Row]] = &[
    crate::syscalls::fs::ROWS,
    crate::syscalls::stat::ROWS,
    crate::syscalls::attr::ROWS,
    crate::syscalls::dir::ROWS,
    crate::syscalls::io::ROWS,
    crate::syscalls::copy::ROWS,
    crate::syscalls::ioctl::ROWS,
    crate::syscalls::fd::ROWS,
    crate::syscalls::pipe::ROWS,
    crate::syscalls::poll::ROWS,
    crate::syscalls::epoll::ROWS,
    crate::syscalls::mm::ROWS,
    crate::syscalls::mm::ADVICE_ROWS,
    crate::syscalls::mm::POLICY_ROWS,
    crate::syscalls::process::ROWS,
    crate::syscalls::process::IDS_ROWS,
    crate::syscalls::process::LIMITS_ROWS,
    crate::syscalls::process::PRCTL_ROWS,
    crate::syscalls::process::CAPS_ROWS,
    crate::syscalls::exec::ROWS,
    crate::syscalls::sched::ROWS,
    crate::syscalls::signal::ROWS,
    crate::syscalls::signal::KILL_ROWS,
    crate::syscalls::time::ROWS,
    crate::syscalls::time::TIMER_ROWS,
    crate::syscalls::system::ROWS,
    crate::syscalls::system::REFUSED_ROWS,
    crate::syscalls::futex::ROWS,
    crate::syscalls::net::ROWS,
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
