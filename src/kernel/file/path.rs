//! What is opened with O_PATH: it only stands for a place.

use crate::abi::errno::Errno;
use crate::kernel::file::operations::{FileContext, FileOperations};
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::node::Ino;

/// An inode of any type that is open with O_PATH. Calls that are more than a look answer EBADF
/// before they reach its operations.
#[derive(Clone, Debug)]
pub(crate) struct PathOnly(pub(crate) Ino);

impl FileOperations for PathOnly {
    fn kind(&self) -> &'static str {
        "file"
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.0)
    }

    fn link_target(&self) -> Option<Ino> {
        Some(self.0)
    }

    fn has_offset(&self) -> bool {
        true
    }
}

/// A pipe, a socket or another thing without a name that is open with O_PATH: what it was then.
#[derive(Clone, Debug)]
pub(crate) struct PathOfNameless(pub(crate) Meta);

impl FileOperations for PathOfNameless {
    fn kind(&self) -> &'static str {
        "file"
    }

    fn attributes(&self, _cx: &mut FileContext) -> Result<Meta, Errno> {
        Ok(self.0)
    }

    fn has_offset(&self) -> bool {
        true
    }
}
