//! Path resolution, path_resolution(7): name by name through the overlay and the host.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::fdtable::FileNo;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::host;
use crate::kernel::vfs::mount::{At, MountId};
use crate::kernel::vfs::node::{Body, DirKind, Ino};
use crate::kernel::vfs::proc_file::Magic;
use crate::kernel::vfs::tree::FileSystem;

/// Result of a path resolution: the directory, the last name in it, and the inode there.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The mount of the directory.
    pub(crate) mount: MountId,
    pub(crate) dir: Ino,
    pub(crate) name: Vec<u8>,
    pub(crate) ino: Option<Ino>,
    /// The mount of the inode: another one, if that is mounted there.
    pub(crate) mount_there: MountId,
    /// The path ended in a slash: it may only name a directory.
    pub(crate) slash: bool,
    /// The path of what a link of `/proc` has led to, if that is a file.
    pub(crate) path: Option<Arc<[u8]>>,
}

impl Found {
    /// The inode there; ENOENT.
    pub(crate) fn exists(&self) -> Result<Ino, Errno> {
        self.ino.ok_or(Errno::ENOENT)
    }

    /// The inode there with its mount; ENOENT.
    pub(crate) fn there(&self) -> Result<At, Errno> {
        Ok(At { mount: self.mount_there, ino: self.exists()? })
    }

    /// Tells if the last name is one that no call may make, remove or rename.
    pub(crate) fn is_dots(&self) -> bool {
        matches!(&self.name[..], b"." | b".." | b"/")
    }
}

/// Treatment of a symbolic link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// It is followed.
    Follow,
    /// It is not, unless a slash comes after it.
    NoFollow,
    /// It is followed to make a file there (O_CREAT), which a name with a slash behind it cannot
    /// be: EISDIR.
    Create,
    /// Only the directory counts, as for calls that make, remove or rename: a link there is not
    /// followed, slash or no slash.
    Parent,
}

impl From<bool> for Last {
    fn from(follow: bool) -> Last {
        if follow { Last::Follow } else { Last::NoFollow }
    }
}

/// Suffix that proc(5) gives the path of a file without a name.
pub(super) const DELETED: &[u8] = b" (deleted)";

/// Target of a magic link.
enum Jump {
    /// The place that it stands for; of a file the path that it was found by, too.
    To(At, Option<Arc<[u8]>>),
    Path(Vec<u8>),
}

impl FileSystem {
    /// Resolves a path from `base`. A missing last name is no error; anything else missing is.
    pub(crate) fn resolve(
        &mut self,
        caller: &Caller,
        base: At,
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
        let how = caller.how;
        let scoped = how & (RESOLVE_BENEATH | RESOLVE_IN_ROOT) != 0;
        let root = if scoped { base } else { caller.context.root };
        if path[0] == b'/' && how & RESOLVE_BENEATH != 0 {
            return Err(Errno::EXDEV);
        }
        let mut at = if path[0] == b'/' { root } else { base };
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
                let name = b"/".to_vec();
                let At { mount, ino } = at;
                let (dir, ino, mount_there) = (ino, Some(ino), mount);
                return Ok(Found { mount, dir, name, ino, mount_there, slash: true, path: None });
            }
            let dir = at.ino;
            if !self.node(dir).is_dir() {
                return Err(Errno::ENOTDIR);
            }
            caller.may(self.node(dir), X_OK)?;
            if name.len() > NAME_MAX {
                return Err(Errno::ENAMETOOLONG);
            }
            if last && slash && last_name == Last::Create {
                return Err(Errno::EISDIR);
            }
            let child = match &name[..] {
                b"." => Some(at),
                b".." if at == root && how & RESOLVE_BENEATH != 0 => return Err(Errno::EXDEV),
                b".." if at == root => Some(at),
                b".." if at == caller.context.root => Some(at),
                b".." => Some(self.above(at)),
                _ => {
                    let child = self.lookup(caller, dir, &name)?;
                    child.map(|ino| self.mounts.cross(At { mount: at.mount, ino }))
                }
            };
            let found = |name: Vec<u8>, there: Option<At>| Found {
                mount: at.mount,
                dir,
                name,
                ino: there.map(|there| there.ino),
                mount_there: there.map_or(at.mount, |there| there.mount),
                slash,
                path: None,
            };
            let Some(child) = child else {
                if !last || !matches!(last_name, Last::Create | Last::Parent) {
                    self.note_not_shown(dir, &name);
                }
                if last {
                    return Ok(found(name, None));
                }
                return Err(Errno::ENOENT);
            };
            if last && last_name == Last::Parent {
                return Ok(found(name, Some(child)));
            }
            if how & RESOLVE_NO_XDEV != 0 && child.mount != at.mount {
                return Err(Errno::EXDEV);
            }
            let follow_this = !last || slash || matches!(last_name, Last::Follow | Last::Create);
            let nosymfollow = || self.mounts.flags(child.mount) & MS_NOSYMFOLLOW != 0;
            let jump = match &self.node(child.ino).body {
                Body::Symlink(_) | Body::Magic(_) if follow_this && nosymfollow() => {
                    return Err(Errno::ELOOP);
                }
                Body::Symlink(_) | Body::Magic(_) if follow_this && how & RESOLVE_NO_SYMLINKS != 0 => {
                    return Err(Errno::ELOOP);
                }
                Body::Symlink(target) if follow_this => Some(Jump::Path(target.to_vec())),
                Body::Magic(magic) if follow_this => {
                    let goes = !matches!(magic, Magic::Pid | Magic::Thread);
                    // The look-up without locks, which is all that is wanted, stops here.
                    if goes && how & RESOLVE_CACHED != 0 {
                        return Err(Errno::EAGAIN);
                    }
                    if goes && how & RESOLVE_NO_MAGICLINKS != 0 {
                        return Err(Errno::ELOOP);
                    }
                    if goes && scoped {
                        return Err(Errno::EXDEV);
                    }
                    let jump = self.jump(caller, child.ino, *magic).map_err(|error| match error {
                        // What has no name is no directory.
                        Errno::ENXIO if !last || slash => Errno::ENOTDIR,
                        error => error,
                    })?;
                    if let (Jump::To(to, _), true) = (&jump, how & RESOLVE_NO_XDEV != 0)
                        && to.mount != at.mount
                    {
                        return Err(Errno::EXDEV);
                    }
                    Some(jump)
                }
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
                        // Linux knows the root's file system only if the path began there.
                        let leaves = path[0] != b'/' || at.mount != root.mount;
                        if how & RESOLVE_BENEATH != 0 || how & RESOLVE_NO_XDEV != 0 && leaves {
                            return Err(Errno::EXDEV);
                        }
                        at = root;
                    }
                    target.extend_from_slice(&tail);
                    rest = target;
                }
                Some(Jump::To(to, path)) if last => {
                    if slash && !self.node(to.ino).is_dir() {
                        return Err(Errno::ENOTDIR);
                    }
                    return Ok(Found { path, ..found(name, Some(to)) });
                }
                Some(Jump::To(to, _)) => {
                    links += 1;
                    at = to;
                    rest = tail;
                }
                None if last => {
                    if slash && !self.node(child.ino).is_dir() {
                        return Err(Errno::ENOTDIR);
                    }
                    if !self.notify.is_idle() {
                        self.note_place(child.ino, dir, &name);
                    }
                    return Ok(found(name, Some(child)));
                }
                None => {
                    at = child;
                    rest = tail;
                }
            }
        }
    }

    /// Resolves a path that must lead to something.
    pub(crate) fn find(
        &mut self,
        caller: &Caller,
        base: At,
        path: &[u8],
        follow: bool,
    ) -> Result<Ino, Errno> {
        self.resolve(caller, base, path, follow)?.exists()
    }

    /// Target of a magic link: EACCES where the caller may not look into the process, ENOENT where
    /// it has ended.
    fn jump(&self, caller: &Caller, ino: Ino, magic: Magic) -> Result<Jump, Errno> {
        let tasks = caller.tasks()?;
        let pid_ns = self.node(ino).pid_ns;
        if let Magic::Pid | Magic::Thread = magic {
            let (pid, tid) = tasks.own(pid_ns).ok_or(Errno::ENOENT)?;
            let whole = magic == Magic::Pid;
            let text = if whole { pid.to_string() } else { format!("{pid}/task/{tid}") };
            return Ok(Jump::Path(text.into_bytes()));
        }
        let subject = self.node(ino).subject.ok_or(Errno::ENOENT)?;
        tasks.number(pid_ns, subject).ok_or(Errno::ENOENT)?;
        tasks.may_look_into(subject)?;
        Ok(match magic {
            Magic::Exe => {
                let (path, at) = tasks.exe(subject).ok_or(Errno::ENOENT)?;
                match at {
                    Some(at) => Jump::To(at, Some(path.into())),
                    None => Jump::Path(path.to_vec()),
                }
            }
            Magic::Cwd => Jump::To(tasks.places(subject).ok_or(Errno::ENOENT)?.cwd, None),
            Magic::Root => Jump::To(tasks.places(subject).ok_or(Errno::ENOENT)?.root, None),
            Magic::Fd(fd) => {
                let link = caller.files.link(caller.file_of(Some(subject), fd)?);
                // Without a target no name leads there; callers that need none go on with the
                // descriptor.
                let at = At { mount: link.mount, ino: link.target.ok_or(Errno::ENXIO)? };
                Jump::To(at, Some(link.path))
            }
            Magic::Namespace(link) => {
                let id = tasks.namespace(subject, link).ok_or(Errno::ENOENT)?;
                let ino = self.namespace_node(id).ok_or(Errno::ENOENT)?;
                Jump::To(At { mount: MountId::NONE, ino }, None)
            }
            Magic::Pid | Magic::Thread => return Err(Errno::EACCES),
        })
    }

    /// The target of a symbolic link, readlink(2); EINVAL for other files.
    pub(crate) fn readlink(&self, caller: &Caller, ino: Ino) -> Result<Vec<u8>, Errno> {
        match &self.node(ino).body {
            Body::Symlink(target) => Ok(target.to_vec()),
            Body::Magic(magic) => self.magic_text(caller, ino, *magic),
            _ => Err(Errno::EINVAL),
        }
    }

    /// The text of a magic link.
    fn magic_text(&self, caller: &Caller, ino: Ino, magic: Magic) -> Result<Vec<u8>, Errno> {
        let (mut text, gone) = match magic {
            Magic::Namespace(link) => {
                let subject = self.node(ino).subject.ok_or(Errno::ENOENT)?;
                caller.tasks()?.may_look_into(subject)?;
                let id = caller.tasks()?.namespace(subject, link).ok_or(Errno::ENOENT)?;
                (format!("{}:[{}]", link.kind().name(), id.0).into_bytes(), false)
            }
            Magic::Fd(fd) => {
                let subject = self.node(ino).subject;
                caller.tasks()?.may_look_into(subject.ok_or(Errno::ENOENT)?)?;
                let link = caller.files.link(caller.file_of(subject, fd)?);
                (link.path.to_vec(), link.inode.is_some_and(|ino| self.node(ino).unlinked()))
            }
            _ => match self.jump(caller, ino, magic)? {
                Jump::Path(path) => (path, false),
                Jump::To(to, path) => {
                    let path = path.map(|path| path.to_vec());
                    let path = path.unwrap_or_else(|| self.path_of(caller.context.root, to));
                    (path, self.node(to.ino).unlinked())
                }
            },
        };
        if gone && text.first() == Some(&b'/') && !text.ends_with(DELETED) {
            text.extend_from_slice(DELETED);
        }
        Ok(text)
    }

    /// The directory above; the root is its own.
    pub(crate) fn parent(&self, dir: Ino) -> Ino {
        self.node(dir).dir().map_or(self.root, |dir| dir.parent)
    }

    /// The directory above a place, whatever is mounted there: `follow_dotdot`.
    fn above(&self, mut at: At) -> At {
        while let Some(below) = self.mounts.below(at) {
            match below {
                Some(below) => at = below,
                None => return at,
            }
        }
        self.mounts.cross(At { ino: self.parent_in(at), ..at })
    }

    /// The directory above one that is not the top of its mount. What all of `/proc` have in common
    /// is beneath each of them.
    fn parent_in(&self, at: At) -> Ino {
        let parent = self.parent(at.ino);
        let top = self.mounts.get(at.mount).map(|mount| mount.root);
        let shows = |top: &Ino| self.node(*top).dir().is_some_and(|dir| dir.kind == DirKind::Proc);
        if parent == self.proc { top.filter(shows).unwrap_or(parent) } else { parent }
    }

    /// The path of a directory from a root, from the directories above it. One that is not beneath
    /// the root has its path from the root of all.
    pub(crate) fn path_of(&self, root: At, dir: At) -> Vec<u8> {
        self.path_from(root, dir).0
    }

    /// The path of a directory from a root, and whether it is beneath that.
    pub(crate) fn path_from(&self, root: At, dir: At) -> (Vec<u8>, bool) {
        let mut names: Vec<Arc<[u8]>> = Vec::new();
        let mut at = dir;
        while at != root {
            match self.mounts.below(at) {
                Some(Some(below)) => match self.mounts.get(at.mount).and_then(|mount| mount.name.clone()) {
                    Some((ino, name)) => {
                        names.push(name);
                        at = At { ino, ..below };
                    }
                    None => at = below,
                },
                Some(None) => break,
                None => {
                    let Some(node) = self.node(at.ino).dir().filter(|_| at.ino != self.root) else { break };
                    names.push(node.name.clone());
                    at.ino = self.parent_in(at);
                }
            }
        }
        let beneath = at == root;
        let mut path = Vec::new();
        for name in names.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        (if path.is_empty() { b"/".to_vec() } else { path }, beneath)
    }

    /// The description that a path names if it ends at a link of `/proc/PID/fd`.
    pub(crate) fn magic_file(&mut self, caller: &Caller, base: At, path: &[u8]) -> Option<FileNo> {
        let mut path = path.to_vec();
        for _ in 0..SYMLINK_MAX {
            let found = self.resolve(caller, base, &path, false).ok()?;
            let node = self.node(found.ino?);
            match &node.body {
                Body::Magic(Magic::Fd(fd)) => return caller.file_of(node.subject, *fd).ok(),
                Body::Symlink(target) => {
                    let dir = self.path_of(caller.context.root, At { mount: found.mount, ino: found.dir });
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

    /// The description behind a path that leads to something without a name, for which `locate`
    /// fails with ENXIO.
    pub(crate) fn nameless(&mut self, caller: &Caller, dirfd: i32, path: &[u8]) -> Result<FileNo, Errno> {
        let base = self.base(caller, dirfd, path)?;
        self.magic_file(caller, base, path).ok_or(Errno::ENXIO)
    }

    /// The directory that a path starts from: an absolute one does not look at the descriptor,
    /// which may be AT_FDCWD. ENOENT for an empty path, EBADF, ENOTDIR.
    pub(crate) fn base(&self, caller: &Caller, dirfd: i32, path: &[u8]) -> Result<At, Errno> {
        match path.first() {
            // An empty path is refused before the descriptor is looked at.
            None => Err(Errno::ENOENT),
            Some(b'/') if caller.how & RESOLVE_IN_ROOT == 0 => Ok(caller.context.root),
            Some(_) => self.directory(caller, dirfd),
        }
    }

    /// The directory of a descriptor, which may be AT_FDCWD; EBADF, ENOTDIR.
    pub(crate) fn directory(&self, caller: &Caller, dirfd: i32) -> Result<At, Errno> {
        if dirfd == AT_FDCWD {
            return Ok(caller.context.cwd);
        }
        let link = caller.fd_link(dirfd)?;
        let ino = link.inode.filter(|ino| self.node(*ino).is_dir()).ok_or(Errno::ENOTDIR)?;
        Ok(At { mount: link.mount, ino })
    }

    /// Resolves a path from a directory descriptor.
    pub(crate) fn locate(
        &mut self,
        caller: &Caller,
        dirfd: i32,
        path: &[u8],
        last: impl Into<Last>,
    ) -> Result<Found, Errno> {
        let base = self.base(caller, dirfd, path)?;
        self.resolve(caller, base, path, last)
    }

    /// The path of a name in a directory, from a root.
    pub(crate) fn path_in(&self, root: At, found: &Found) -> Arc<[u8]> {
        let there = found.ino.map(|ino| At { mount: found.mount_there, ino });
        match (&found.name[..], there) {
            (b"." | b".." | b"/", Some(there)) => self.path_of(root, there).into(),
            (_, Some(there)) if self.node(there.ino).is_dir() => self.path_of(root, there).into(),
            _ if let Some(path) = &found.path => path.clone(),
            _ => host::join(&self.path_of(root, At { mount: found.mount, ino: found.dir }), &found.name),
        }
    }

    /// Looks a name up in a directory: the overlay first, then the host.
    pub(crate) fn lookup(&mut self, caller: &Caller, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        match self.lookup_proc(caller, dir, name) {
            Some(found) => Ok(found),
            None => self.lookup_plain(dir, name),
        }
    }

    /// `lookup` without the entries of `/proc` that depend on the process.
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
        match self.look_at_host(&path)? {
            Some(stat) => Ok(Some(self.intern(path, &stat, dir, name)?)),
            None => Ok(None),
        }
    }

    /// The directory at a path of the host, before anything was changed.
    pub(crate) fn walk_host(&mut self, path: &[u8]) -> Option<Ino> {
        let mut at = self.root;
        let path = self.policy.in_guest(path).to_vec();
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            at = self.lookup_plain(at, name).ok()??;
        }
        self.node(at).is_dir().then_some(at)
    }
}
