//! Where a task is in the tree.

use crate::kernel::vfs::mount::At;

/// Working directory, root and umask of a task (CLONE_FS), `struct fs_struct`.
#[derive(Clone, Debug)]
pub struct FsContext {
    /// Root directory.
    pub(crate) root: At,
    /// Working directory.
    pub(crate) cwd: At,
    /// Permission bits that new files do not get, umask(2).
    pub(crate) umask: u32,
}
