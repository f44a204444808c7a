//! Renaming, and the places of directories that it changes.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::GuestMemory;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::change::{WHITEOUT_DEV, special};
use crate::kernel::vfs::host::{self, HostPath};
use crate::kernel::vfs::node::{Ino, Node, PROC_DEV};
use crate::kernel::vfs::resolve::Found;
use crate::kernel::vfs::tree::FileSystem;

impl FileSystem {
    /// renameat2(2).
    pub(crate) fn rename(
        &mut self,
        caller: &Caller,
        from: &Found,
        to: &Found,
        flags: u32,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let dirs = (self.write_dir(from.dir), self.write_dir(to.dir));
        let same_device = self.node(from.dir).dev == self.node(to.dir).dev;
        self.writable(from.mount)?;
        if !same_device || from.mount != to.mount {
            return Err(Errno::EXDEV);
        }
        if from.is_dots() {
            return Err(Errno::EBUSY);
        }
        if to.is_dots() {
            return Err(if flags & RENAME_NOREPLACE != 0 { Errno::EEXIST } else { Errno::EBUSY });
        }
        if dirs.0.is_some() != dirs.1.is_some() {
            return Err(Errno::EXDEV);
        }
        let whiteout = flags & RENAME_WHITEOUT != 0;
        if whiteout && dirs.0.is_some() {
            return Err(Errno::EINVAL); // no device leaves the emulated machine
        }
        let ino = from.exists()?;
        if to.ino.is_some() && flags & RENAME_NOREPLACE != 0 {
            return Err(Errno::EEXIST);
        }
        if to.ino.is_none() && flags & RENAME_EXCHANGE != 0 {
            return Err(Errno::ENOENT);
        }
        if to.ino.is_none() && self.node(to.dir).dev == PROC_DEV {
            return Err(Errno::ENOENT);
        }
        let is_dir = self.node(ino).is_dir();
        let exchange = flags & RENAME_EXCHANGE != 0;
        let to_is_dir = to.ino.is_some_and(|old| self.node(old).is_dir());
        if exchange && to.slash && !to_is_dir {
            return Err(Errno::ENOTDIR);
        }
        if !is_dir && (from.slash || (to.slash && !exchange)) {
            return Err(Errno::ENOTDIR);
        }
        if is_dir && self.is_beneath(to.dir, ino) {
            return Err(Errno::EINVAL);
        }
        if let Some(old) = to.ino
            && self.node(old).is_dir()
            && self.is_beneath(from.dir, old)
        {
            return Err(if exchange { Errno::EINVAL } else { Errno::ENOTEMPTY });
        }
        if to.ino == Some(ino) {
            return Ok(()); // two names of one inode: nothing happens
        }
        self.may_remove(caller, from.dir, ino, is_dir)?;
        match to.ino {
            Some(old) => self.may_remove(caller, to.dir, old, if exchange { to_is_dir } else { is_dir })?,
            None => self.may_change(caller, to.dir)?,
        }
        self.is_no_point(from)?;
        self.is_no_point(to)?;
        if let Some(old) = to.ino.filter(|_| to_is_dir && !exchange) {
            self.must_be_empty(caller, old)?;
        }
        let on_host = dirs.0.is_some();
        if let (Some(old_dir), Some(new_dir)) = dirs {
            self.may_name(&new_dir, &to.name)?;
            host::rename((&old_dir, &from.name), (&new_dir, &to.name), flags)?;
            let (old, new) = (host::join(&old_dir, &from.name), host::join(&new_dir, &to.name));
            let renamed: Vec<Ino> = to.ino.filter(|_| exchange).into_iter().chain([ino]).collect();
            self.move_host_paths(&renamed, &old, &new, exchange);
        } else {
            let mut mark = None;
            if whiteout {
                let ino = self.add_new(caller, from.dir, special(S_IFCHR, WHITEOUT_DEV), S_IFCHR)?;
                self.node_mut(ino).rdev = WHITEOUT_DEV;
                mark = Some(ino);
            }
            self.put(from.dir, &from.name, to.ino.filter(|_| exchange).or(mark));
            self.put(to.dir, &to.name, Some(ino));
            let change = i64::from(is_dir) - i64::from(to_is_dir);
            self.node_mut(to.dir).link_delta += change;
            self.node_mut(from.dir).link_delta -= if exchange { change } else { i64::from(is_dir) };
        }
        self.set_place(ino, to.dir, &to.name);
        if let Some(old) = to.ino.filter(|_| exchange) {
            self.set_place(old, from.dir, &from.name);
            self.node_mut(old).times.change = caller.now;
        }
        let node = self.node_mut(ino);
        node.times.change = caller.now;
        node.own_times = true;
        self.touch_dir(from.dir, caller);
        self.touch_dir(to.dir, caller);
        self.notify_move(from, to, ino, to.ino.filter(|_| !exchange));
        match to.ino {
            Some(old) if exchange => self.notify_move(to, from, old, None),
            Some(old) => self.drop_name(caller, old, to, on_host, mem),
            None => {}
        }
        Ok(())
    }

    /// Updates the directory that an inode is in, and its name there.
    fn set_place(&mut self, ino: Ino, dir: Ino, name: &[u8]) {
        if let Some(held) = self.node_mut(ino).dir_mut() {
            held.parent = dir;
            held.name = name.into();
        }
        self.note_place(ino, dir, name);
    }

    /// The same within a file system, whose top may be another one than the machine's root.
    pub(crate) fn is_beneath_in(&self, ino: Ino, above: Ino) -> bool {
        let dir = match &self.node(ino).place {
            Some(place) if !self.node(ino).is_dir() => place.dir,
            _ => ino,
        };
        let mut at = dir;
        while at != above {
            let parent = self.parent(at);
            if parent == at || at == self.root {
                return false;
            }
            at = parent;
        }
        true
    }

    /// Tells if `dir` is `above` or lies somewhere beneath it.
    pub(crate) fn is_beneath(&self, dir: Ino, above: Ino) -> bool {
        let mut at = dir;
        loop {
            if at == above {
                return true;
            }
            let parent = self.parent(at);
            if at == self.root || parent == at {
                return false;
            }
            at = parent;
        }
    }

    /// Updates the host paths of `renamed`, and if there is a directory among them those of all
    /// inodes beneath, after the host renamed `old` to `new`.
    fn move_host_paths(&mut self, renamed: &[Ino], old: &[u8], new: &[u8], exchange: bool) {
        let moved = |path: &[u8], old: &[u8], new: &[u8]| -> Option<HostPath> {
            let rest = path.strip_prefix(old)?;
            (rest.is_empty() || rest[0] == b'/').then(|| Arc::from([new, rest].concat()))
        };
        let path_of = |node: &Node| {
            let path = &node.host.as_ref().filter(|_| !node.unlinked())?.path;
            moved(path, old, new).or_else(|| if exchange { moved(path, new, old) } else { None })
        };
        let changed: Vec<(Ino, HostPath)> = if renamed.iter().any(|ino| self.node(*ino).is_dir()) {
            self.nodes().filter_map(|(ino, node)| Some((ino, path_of(node)?))).collect()
        } else {
            renamed.iter().filter_map(|ino| Some((*ino, path_of(self.node(*ino))?))).collect()
        };
        let of_dir = |(ino, _): &&(Ino, HostPath)| self.node(*ino).is_dir();
        let dirs: Vec<(Ino, HostPath)> = changed.iter().filter(of_dir).cloned().collect();
        for (ino, path) in changed {
            let Some(host) = &mut self.node_mut(ino).host else { continue };
            let before = std::mem::replace(&mut host.path, path);
            if self.dirs.get(&before) == Some(&ino) {
                self.dirs.remove(&before);
            }
        }
        self.dirs.extend(dirs.into_iter().map(|(ino, path)| (path, ino)));
    }
}
