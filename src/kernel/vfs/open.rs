//! open(2): from a path and flags to an open file description.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::GuestMemory;
use crate::kernel::vfs::change::Make;
use crate::kernel::vfs::content::{Content, HostFile};
use crate::kernel::vfs::file::{Description, FileKind, FileNo};
use crate::kernel::vfs::node::{Body, Device, Ino};
use crate::kernel::vfs::procfs::{Magic, Synth};
use crate::kernel::vfs::{FileSystem, Found, Last, Who, host};

/// Flags that stay with a description and that F_GETFL shows; the rest only matter while it is opened.
const KEPT: u32 = O_ACCMODE
    | O_APPEND
    | O_NONBLOCK
    | O_SYNC
    | O_ASYNC
    | O_DIRECT
    | O_DIRECTORY
    | O_NOFOLLOW
    | O_NOATIME
    | O_LARGEFILE;

/// What open(2) came to.
pub(crate) enum Opened {
    /// A description.
    File(FileNo),
    /// A file of `/proc` whose text must be made first; `finish` takes it.
    Synth(Ino, Synth, Description),
    /// A pipe with a name whose other end nobody holds: the call would wait for ever.
    Blocks,
}

impl FileSystem {
    /// Opens `path` from `base` as open(2) and openat(2) do.
    pub(crate) fn open(
        &mut self,
        who: &Who,
        base: Ino,
        path: &[u8],
        flags: u32,
        mode: u32,
        mem: &mut dyn GuestMemory,
    ) -> Result<Opened, Errno> {
        let flags = if flags & O_PATH != 0 { flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW) } else { flags };
        // Every file that a 64-bit process opens is a large one.
        let flags = if flags & O_PATH != 0 { flags } else { flags | O_LARGEFILE };
        let create = flags & O_CREAT != 0;
        let exclusive = create && flags & O_EXCL != 0;
        let writes = flags & O_ACCMODE != 0;
        if flags & O_TMPFILE == O_TMPFILE {
            if !writes {
                return Err(Errno::EINVAL);
            }
            return self.open_nameless(who, base, path, flags, mode);
        }
        if create && flags & O_DIRECTORY != 0 {
            return Err(Errno::EINVAL);
        }
        let follow = flags & O_NOFOLLOW == 0 && !exclusive;
        if create && path.ends_with(b"/") {
            // No file can be made under such a name, whatever is there; but the way to it must exist.
            self.resolve(who, base, path, Last::Parent)?;
            return Err(Errno::EISDIR);
        }
        let last = if create && follow { Last::Create } else { Last::from(follow) };
        let found = match self.resolve(who, base, path, last) {
            Err(Errno::ENXIO) => return self.open_again(who, base, path, flags),
            found => found?,
        };
        let (ino, made) = match found.ino {
            Some(_) if exclusive => return Err(Errno::EEXIST),
            Some(ino) => (ino, false),
            None if !create => return Err(Errno::ENOENT),
            None if found.slash => return Err(Errno::EISDIR),
            None => (self.make(who, &found, &Make::File, mode)?, true),
        };
        let path = self.path_in(&Found { ino: Some(ino), ..found.clone() });
        self.open_inode(who, ino, path, flags, made, mem)
    }

    /// Opens an inode that is there.
    pub(crate) fn open_inode(
        &mut self,
        who: &Who,
        ino: Ino,
        path: Arc<[u8]>,
        flags: u32,
        made: bool,
        mem: &mut dyn GuestMemory,
    ) -> Result<Opened, Errno> {
        let node = self.node(ino);
        if flags & O_DIRECTORY != 0 && !node.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        if flags & O_PATH != 0 {
            return Ok(self.opened(ino, flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW), &path));
        }
        let access = flags & O_ACCMODE;
        let (read, write) = (access != O_WRONLY, access != 0);
        match &node.body {
            Body::Symlink(_) | Body::Magic(_) => return Err(Errno::ELOOP),
            Body::Dir(_) if write || flags & (O_CREAT | O_TRUNC) != 0 => return Err(Errno::EISDIR),
            Body::Opaque if node.kind() == S_IFSOCK => return Err(Errno::ENXIO),
            Body::Opaque => return Err(Errno::EACCES),
            _ => {}
        }
        if !made {
            let truncate = if flags & O_TRUNC != 0 { W_OK } else { 0 };
            self.may(ino, if read { R_OK } else { 0 } | if write { W_OK } else { 0 } | truncate)?;
        }
        let node = self.node(ino);
        let kept = flags & KEPT;
        match node.body.clone() {
            Body::File(_) => {
                self.hold_content(ino, read, write || flags & O_TRUNC != 0)?;
                if flags & O_TRUNC != 0 && !made {
                    self.truncate(who, ino, 0, mem)?;
                }
                Ok(self.opened(ino, kept, &path))
            }
            Body::Synth(_) if write => Err(Errno::EACCES),
            Body::Synth(synth) => {
                Ok(Opened::Synth(ino, synth, Description::new(FileKind::Inode(ino), kept, &path)))
            }
            Body::Fifo(pipe) => {
                let number = self.node(ino).number;
                let pipe = pipe.unwrap_or_else(|| self.pipes.add(number));
                let ends = self.pipes.get(pipe).map_or((0, 0), |pipe| (pipe.readers, pipe.writers));
                let waits = match access {
                    O_WRONLY => ends.0 == 0,
                    O_RDWR => false,
                    _ => ends.1 == 0,
                };
                if waits && (write || flags & O_NONBLOCK == 0) {
                    self.pipes.close(pipe, false, false);
                    return if flags & O_NONBLOCK != 0 { Err(Errno::ENXIO) } else { Ok(Opened::Blocks) };
                }
                self.pipes.open(pipe, read, write);
                self.node_mut(ino).body = Body::Fifo(Some(pipe));
                self.node_mut(ino).opens += 1;
                let kind = FileKind::Pipe(pipe, Some(ino));
                Ok(Opened::File(self.files.add(Description::new(kind, kept, &path))))
            }
            Body::Device(Device::Tty) => match self.terminal() {
                Some(stream) => {
                    let open = Description::new(FileKind::Host(stream), kept, &path);
                    Ok(Opened::File(self.files.add(open)))
                }
                None => Err(Errno::ENXIO),
            },
            _ => Ok(self.opened(ino, kept, &path)),
        }
    }

    /// Takes in the text of a file of `/proc`.
    pub(crate) fn finish(&mut self, ino: Ino, mut open: Description, text: Vec<u8>) -> FileNo {
        open.kind = FileKind::Text(ino, text.into());
        self.node_mut(ino).opens += 1;
        self.files.add(open)
    }

    fn opened(&mut self, ino: Ino, flags: u32, path: &[u8]) -> Opened {
        self.node_mut(ino).opens += 1;
        Opened::File(self.files.add(Description::new(FileKind::Inode(ino), flags, path)))
    }

    fn open_nameless(
        &mut self,
        who: &Who,
        base: Ino,
        path: &[u8],
        flags: u32,
        mode: u32,
    ) -> Result<Opened, Errno> {
        let dir = self.find(who, base, path, true)?;
        if !self.node(dir).is_dir() {
            return Err(Errno::ENOTDIR);
        }
        let ino = self.make_nameless(who, dir, mode)?;
        if flags & O_EXCL != 0 {
            let node = self.node_mut(ino);
            (node.links, node.link_delta) = (1, -1); // can never be given a name
        }
        let name = format!("#{} (deleted)", self.node(ino).number);
        let path = host::join(&self.path_of(dir), name.as_bytes());
        Ok(self.opened(ino, flags & KEPT, &path))
    }

    /// Opening `/proc/self/fd/N` opens what the descriptor refers to once more, even if no name leads there.
    fn open_again(&mut self, who: &Who, base: Ino, path: &[u8], flags: u32) -> Result<Opened, Errno> {
        let fd = self.magic_fd(who, base, path).ok_or(Errno::ENXIO)?;
        let open = self.files.get(who.fds.get(fd).map_err(|_| Errno::ENOENT)?).clone();
        if flags & O_DIRECTORY != 0 && !matches!(open.kind, FileKind::Inode(_)) {
            return Err(Errno::ENOTDIR);
        }
        let mut again = open.clone();
        again.refs = 1;
        again.offset = 0;
        again.flags = flags & KEPT;
        match open.kind {
            FileKind::Host(_) => {}
            FileKind::Text(ino, _) => self.node_mut(ino).opens += 1,
            FileKind::Pipe(pipe, ino) => {
                self.pipes.open(pipe, again.readable(), again.writable());
                if let Some(ino) = ino {
                    self.node_mut(ino).opens += 1;
                }
            }
            _ => return Err(Errno::ENXIO),
        }
        Ok(Opened::File(self.files.add(again)))
    }

    /// The descriptor a path names if it ends at a link of `/proc/self/fd`.
    pub(crate) fn magic_fd(&mut self, who: &Who, base: Ino, path: &[u8]) -> Option<i32> {
        let mut path = path.to_vec();
        for _ in 0..SYMLINK_MAX {
            let found = self.resolve(who, base, &path, false).ok()?;
            match &self.node(found.ino?).body {
                Body::Magic(Magic::Fd(fd)) => return Some(*fd),
                Body::Symlink(target) => {
                    let dir = self.path_of(found.dir);
                    path = if target.starts_with(b"/") {
                        target.to_vec()
                    } else {
                        host::join(&dir, target).to_vec()
                    };
                }
                _ => return None,
            }
        }
        None
    }

    /// The standard stream that is a terminal, if one is.
    fn terminal(&self) -> Option<u8> {
        (0..3).find(|&stream| self.streams.is_terminal(stream))
    }

    /// Opens the host's file behind an inode for what is asked, if its bytes are there.
    pub(crate) fn hold_content(&mut self, ino: Ino, read: bool, write: bool) -> Result<(), Errno> {
        let node = self.node(ino);
        let through = node.writes_through();
        let Body::File(Content::Host(held)) = &node.body else { return Ok(()) };
        let Some(path) = node.host_path() else { return Ok(()) };
        let write = write && through;
        if held.as_ref().is_some_and(|held| held.write || !write) {
            return Ok(());
        }
        // What is opened for writing is read too, by copies and mappings; but reading may be forbidden.
        let file = host::open_file(&path, true, write).or_else(|errno| match errno {
            Errno::EACCES if write && !read => host::open_file(&path, false, true),
            errno => Err(errno),
        })?;
        if let Some(witness) = &self.witness {
            witness.note(&path, &file);
        }
        let held = HostFile { file: Arc::new(file), write };
        self.node_mut(ino).body = Body::File(Content::Host(Some(held)));
        Ok(())
    }
}
