//! Inodes opened with O_PATH: they only stand for a place in the tree.

use crate::kernel::file::operations::FileOperations;
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
