//! Path resolution, path_resolution(7): name by name through the overlay and the host.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::vfs::file::FileKind;
use crate::kernel::vfs::node::{Body, DirKind, Ino, Node};
use crate::kernel::vfs::procfs::Magic;
use crate::kernel::vfs::{FileSystem, Who, host};

/// Where a path led: the directory, the last name in it, and what is there.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) dir: Ino,
    pub(crate) name: Vec<u8>,
    pub(crate) ino: Option<Ino>,
    /// The path ended in a slash: it may only name a directory.
    pub(crate) slash: bool,
}

impl Found {
    /// What is there; ENOENT.
    pub(crate) fn exists(&self) -> Result<Ino, Errno> {
        self.ino.ok_or(Errno::ENOENT)
    }

    /// Whether the last name is one that no call may make, remove or rename.
    pub(crate) fn is_dots(&self) -> bool {
        matches!(&self.name[..], b"." | b".." | b"/")
    }
}

/// What becomes of a symbolic link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// It is followed.
    Follow,
    /// It is not, unless a slash comes after it.
    NoFollow,
    /// It is followed to make a file there (O_CREAT), which a name with a slash behind it cannot be: EISDIR.
    Create,
    /// Only the directory counts, as for calls that make, remove or rename: what the last name stands for is
    /// not looked into, slash or no slash.
    Parent,
}

impl From<bool> for Last {
    fn from(follow: bool) -> Last {
        if follow { Last::Follow } else { Last::NoFollow }
    }
}

/// What proc(5) puts behind the name of a file that has none any more.
const DELETED: &[u8] = b" (deleted)";

/// Where a magic link leads.
enum Jump {
    To(Ino),
    Path(Vec<u8>),
}

impl FileSystem {
    /// Resolves a path from `base`. A missing last name is no error; anything else missing is.
    pub(crate) fn resolve(
        &mut self,
        who: &Who,
        base: Ino,
        path: &[u8],
        last_name: impl Into<Last>,
    ) -> Result<Found, Errno> {
        let last_name = last_name.into();
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        if path.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let mut at = if path[0] == b'/' { who.context.root } else { base };
        let mut rest = path.to_vec();
        let mut links = 0;
        loop {
            let start = rest.iter().position(|byte| *byte != b'/').unwrap_or(rest.len());
            let end =
                rest[start..].iter().position(|byte| *byte == b'/').map_or(rest.len(), |len| start + len);
            let name = rest[start..end].to_vec();
            let tail = rest[end..].to_vec();
            let slash = !tail.is_empty();
            let last = tail.iter().all(|byte| *byte == b'/');
            if name.is_empty() {
                return Ok(Found { dir: at, name: b"/".to_vec(), ino: Some(at), slash: true });
            }
            if !self.node(at).is_dir() {
                return Err(Errno::ENOTDIR);
            }
            self.may(at, X_OK)?;
            if name.len() > NAME_MAX {
                return Err(Errno::ENAMETOOLONG);
            }
            if last && slash && last_name == Last::Create {
                return Err(Errno::EISDIR);
            }
            let child = match &name[..] {
                b"." => Some(at),
                b".." => Some(self.parent(at)),
                _ => self.lookup(who, at, &name)?,
            };
            let Some(child) = child else {
                if last {
                    return Ok(Found { dir: at, name, ino: None, slash });
                }
                return Err(Errno::ENOENT);
            };
            if last && last_name == Last::Parent {
                return Ok(Found { dir: at, name, ino: Some(child), slash });
            }
            let follow_this = !last || slash || matches!(last_name, Last::Follow | Last::Create);
            let jump = match &self.node(child).body {
                Body::Symlink(target) if follow_this => Some(Jump::Path(target.to_vec())),
                Body::Magic(magic) if follow_this => Some(self.jump(who, *magic)?),
                _ => None,
            };
            match jump {
                Some(_) if links == SYMLINK_MAX => return Err(Errno::ELOOP),
                Some(Jump::Path(mut target)) => {
                    links += 1;
                    if target.is_empty() {
                        return Err(Errno::ENOENT);
                    }
                    if target[0] == b'/' {
                        at = who.context.root;
                    }
                    target.extend_from_slice(&tail);
                    rest = target;
                }
                Some(Jump::To(ino)) if last => {
                    if slash && !self.node(ino).is_dir() {
                        return Err(Errno::ENOTDIR);
                    }
                    return Ok(Found { dir: at, name, ino: Some(ino), slash });
                }
                Some(Jump::To(ino)) => {
                    links += 1;
                    at = ino;
                    rest = tail;
                }
                None if last => {
                    if slash && !self.node(child).is_dir() {
                        return Err(Errno::ENOTDIR);
                    }
                    return Ok(Found { dir: at, name, ino: Some(child), slash });
                }
                None => {
                    at = child;
                    rest = tail;
                }
            }
        }
    }

    /// Resolves a path that must lead to something.
    pub(crate) fn find(&mut self, who: &Who, base: Ino, path: &[u8], follow: bool) -> Result<Ino, Errno> {
        self.resolve(who, base, path, follow)?.exists()
    }

    fn jump(&self, who: &Who, magic: Magic) -> Result<Jump, Errno> {
        Ok(match magic {
            Magic::Pid => Jump::Path(who.pid.to_string().into_bytes()),
            Magic::Thread => Jump::Path(format!("{0}/task/{0}", who.pid).into_bytes()),
            Magic::Exe => Jump::Path(who.exe.to_vec()),
            Magic::Cwd => Jump::To(who.context.cwd),
            Magic::Root => Jump::To(who.context.root),
            Magic::Fd(fd) => {
                let file = who.fds.get(fd).map_err(|_| Errno::ENOENT)?;
                match self.files.get(file).kind {
                    FileKind::Inode(ino) => Jump::To(ino),
                    // No name leads there; callers that can do without one go on with the descriptor.
                    _ => return Err(Errno::ENXIO),
                }
            }
        })
    }

    /// What a magic link shows to readlink(2).
    pub(crate) fn magic_text(&self, who: &Who, magic: Magic) -> Result<Vec<u8>, Errno> {
        Ok(match magic {
            Magic::Cwd => self.path_of(who.context.cwd),
            Magic::Root => b"/".to_vec(),
            Magic::Fd(fd) => {
                let open = self.files.get(who.fds.get(fd).map_err(|_| Errno::ENOENT)?);
                let mut path = open.path.to_vec();
                let gone = open.ino().is_some_and(|ino| self.node(ino).unlinked());
                if gone && path.first() == Some(&b'/') && !path.ends_with(DELETED) {
                    path.extend_from_slice(DELETED);
                }
                path
            }
            _ => match self.jump(who, magic)? {
                Jump::Path(path) => path,
                Jump::To(ino) => self.path_of(ino),
            },
        })
    }

    /// The directory above; the root is its own.
    pub(crate) fn parent(&self, dir: Ino) -> Ino {
        self.node(dir).dir().map_or(self.root, |dir| dir.parent)
    }

    /// The path of a directory, from the directories above it.
    pub(crate) fn path_of(&self, dir: Ino) -> Vec<u8> {
        let mut names: Vec<Arc<[u8]>> = Vec::new();
        let mut at = dir;
        while at != self.root {
            let Some(node) = self.node(at).dir() else { break };
            names.push(node.name.clone());
            at = node.parent;
        }
        let mut path = Vec::new();
        for name in names.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        if path.is_empty() { b"/".to_vec() } else { path }
    }

    /// The path of a name in a directory.
    pub(crate) fn path_in(&self, found: &Found) -> Arc<[u8]> {
        match (&found.name[..], found.ino) {
            (b"." | b".." | b"/", Some(ino)) => self.path_of(ino).into(),
            (_, Some(ino)) if self.node(ino).is_dir() => self.path_of(ino).into(),
            _ => host::join(&self.path_of(found.dir), &found.name),
        }
    }

    /// Looks a name up in a directory: the overlay first, then the host.
    pub(crate) fn lookup(&mut self, who: &Who, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        let kind = self.node(dir).dir().map(|dir| dir.kind);
        let number = std::str::from_utf8(name).ok().and_then(|text| text.parse::<i32>().ok());
        match (kind, number) {
            (Some(DirKind::Proc), Some(pid)) if pid == who.pid => return Ok(Some(self.name_pid(name))),
            (Some(DirKind::Task), Some(pid)) if pid == who.pid => return Ok(Some(self.proc_task)),
            (Some(DirKind::Fd), Some(fd)) => {
                return Ok(who.fds.get(fd).is_ok().then(|| self.fd_link(dir, fd, who)));
            }
            _ => {}
        }
        self.lookup_plain(dir, name)
    }

    /// `lookup` without the parts of `/proc` that depend on the process.
    pub(crate) fn lookup_plain(&mut self, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        let node = self.node(dir);
        let Some(held) = node.dir() else { return Err(Errno::ENOTDIR) };
        if let Some(entry) = held.entries.get(name).copied() {
            if let Some(ino) = entry {
                self.refresh(ino);
            }
            return Ok(entry);
        }
        let Some(below) = node.host_path() else { return Ok(None) };
        let path = host::join(&below, name);
        match host::lstat(&path) {
            Ok(stat) => Ok(Some(self.intern(path, &stat, dir, name)?)),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// `/proc/PID`, which has the name of the process that asks.
    fn name_pid(&mut self, name: &[u8]) -> Ino {
        let ino = self.proc_self;
        if let Some(dir) = self.node_mut(ino).dir_mut()
            && *dir.name != *name
        {
            dir.name = name.into();
        }
        ino
    }

    /// `/proc/PID/fd/N`, made at first sight.
    fn fd_link(&mut self, dir: Ino, fd: i32, who: &Who) -> Ino {
        let name: Arc<[u8]> = fd.to_string().into_bytes().into();
        if let Some(Some(ino)) = self.node(dir).dir().and_then(|dir| dir.entries.get(&name)) {
            return *ino;
        }
        let (uid, gid) = (self.who.uid, self.who.gid);
        let mut node = Node::new(Body::Magic(Magic::Fd(fd)), S_IFLNK | 0o700, uid, gid, who.now);
        node.synthetic = true;
        node.dev = self.node(dir).dev;
        let ino = self.add(node);
        if let Some(dir) = self.node_mut(dir).dir_mut() {
            dir.entries.insert(name, Some(ino));
        }
        ino
    }

    /// The directory at a path of the host, before anything was changed.
    pub(crate) fn walk_host(&mut self, path: &[u8]) -> Option<Ino> {
        let mut at = self.root;
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            at = self.lookup_plain(at, name).ok()??;
        }
        self.node(at).is_dir().then_some(at)
    }
}
