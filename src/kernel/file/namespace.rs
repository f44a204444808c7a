//! Namespaces as descriptions, opened by their links in `/proc/PID/ns`, namespaces(7).

use crate::abi::errno::Errno;
use crate::abi::process::{NS_GET_NSTYPE, NS_GET_OWNER_UID, NS_GET_PARENT, NS_GET_USERNS};
use crate::kernel::file::operations::{FileContext, FileOperations};
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::streams::Streams;
use crate::kernel::vfs::node::Ino;

/// A namespace.
#[derive(Clone, Debug)]
pub(crate) struct NamespaceFile {
    pub(crate) ino: Ino,
    pub(crate) kind: Kind,
    pub(crate) id: NsId,
}

impl FileOperations for NamespaceFile {
    fn kind(&self) -> &'static str {
        "namespace"
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn link_target(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn looks_regular(&self) -> bool {
        true
    }

    fn namespace(&self) -> Option<(Kind, NsId)> {
        Some((self.kind, self.id))
    }

    fn read_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn is_seekable(&self, _streams: &Streams) -> bool {
        true
    }

    fn write_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn can_be_watched(&self, _streams: &Streams) -> bool {
        false
    }

    fn readable_bytes(&self, _cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Ok(0)
    }

    fn ioctl(&mut self, _cx: &mut FileContext, command: u64, _arg: u64) -> Result<u64, Errno> {
        match command {
            NS_GET_NSTYPE => Ok(self.kind.flag()),
            // Those above are not shown, as to a task that is in none of them.
            NS_GET_USERNS | NS_GET_PARENT => Err(Errno::EPERM),
            NS_GET_OWNER_UID if self.kind != Kind::User => Err(Errno::EINVAL),
            _ => Err(Errno::ENOTTY),
        }
    }
}
