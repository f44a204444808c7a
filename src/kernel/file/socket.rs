//! Sockets, which are never connected: there is no network.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, WRITABLE, anonymous};
use crate::kernel::vfs::attr::Meta;

/// A socket that will never be connected.
#[derive(Clone, Debug)]
pub(crate) struct Socket;

impl FileOperations for Socket {
    fn kind(&self) -> &'static str {
        "socket"
    }

    fn is_socket(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        _buf: &mut [u8],
    ) -> Result<usize, FileError> {
        Err(Errno::ENOTCONN.into())
    }

    fn write(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        _bytes: &[u8],
    ) -> Result<usize, FileError> {
        Err(Errno::ENOTCONN.into())
    }

    fn poll(&self, _cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(WRITABLE | POLLHUP)
    }

    fn attributes(&self, cx: &mut FileContext) -> Result<Meta, Errno> {
        Ok(Meta { mode: S_IFSOCK | 0o777, ..anonymous(cx) })
    }
}
