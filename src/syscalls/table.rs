//! The system calls the kernel knows, one row each. To add one: a row beside its handler in the
//! family's file, the handler, and a guest test; `CONTRIBUTING.md` walks through it.

use std::sync::OnceLock;

pub(crate) use crate::syscalls::row::{Row, Support};
use crate::syscalls::{
    adjtime, aio, attr, copy, dir, epoll, event, exec, fd, fs, futex, handle, io, io_uring, ioctl, ipc, key,
    lock, mm, net, pipe, poll, process, sched, seccomp, signal, stat, system, time,
};

/// Families of calls, each with its rows in the file that serves it.
const FAMILIES: &[&[Row]] = &[
    adjtime::ROWS,
    aio::ROWS,
    attr::ROWS,
    copy::ROWS,
    dir::ROWS,
    epoll::ROWS,
    event::ROWS,
    exec::ROWS,
    fd::ROWS,
    fs::ROWS,
    futex::ROWS,
    handle::ROWS,
    io::ROWS,
    io_uring::enter::ROWS,
    io_uring::register::ROWS,
    io_uring::setup::ROWS,
    ioctl::ROWS,
    ipc::mqueue::ROWS,
    ipc::msg::ROWS,
    ipc::sem::ROWS,
    ipc::shm::ROWS,
    key::calls::ROWS,
    lock::ROWS,
    mm::advice::ROWS,
    mm::map::ROWS,
    mm::policy::ROWS,
    mm::remote::ROWS,
    mm::userfault::ROWS,
    net::message::ROWS,
    net::options::ROWS,
    net::setup::ROWS,
    pipe::ROWS,
    poll::ROWS,
    process::clone::ROWS,
    process::cred::ROWS,
    process::limits::ROWS,
    process::pidfd::ROWS,
    process::prctl::ROWS,
    process::ptrace::ROWS,
    process::task::ROWS,
    sched::ROWS,
    seccomp::ROWS,
    signal::ROWS,
    stat::ROWS,
    system::admin::ROWS,
    system::info::ROWS,
    system::mount::ROWS,
    system::refused::ROWS,
    time::ROWS,
];

/// Every row, by rising number.
pub(crate) fn rows() -> &'static [&'static Row] {
    static ROWS: OnceLock<Vec<&'static Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows: Vec<&Row> = FAMILIES.iter().copied().flatten().collect();
        rows.sort_by_key(|row| row.number);
        rows
    })
}

/// The row of a number.
pub(crate) fn find(number: u64) -> Option<&'static Row> {
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
