//! Epoll instances, epoll(7). `Descriptions` polls what they watch.

use crate::abi::errno::Errno;
use crate::kernel::file::interest::InterestList;
use crate::kernel::file::operations::{FileContext, FileOperations};

/// An epoll instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epoll(InterestList);

impl FileOperations for Epoll {
    fn kind(&self) -> &'static str {
        "epoll"
    }

    fn interest_list(&mut self) -> Option<&mut InterestList> {
        Some(&mut self.0)
    }

    /// Linux accepts the call and moves nothing.
    fn seek(&self, _cx: &mut FileContext, _offset: &mut u64, _by: u64, _whence: u64) -> Result<u64, Errno> {
        Ok(0)
    }
}
