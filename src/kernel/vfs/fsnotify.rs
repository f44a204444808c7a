//! What happens in the tree, told to those who watch it: one place for inotify(7) and F_NOTIFY.
//! Costs nothing while nobody watches.

use std::sync::Arc;

use crate::abi::inotify::*;
use crate::kernel::vfs::node::{Ino, Place};
use crate::kernel::vfs::notify::{Happening, RENAMED};
use crate::kernel::vfs::resolve::Found;
use crate::kernel::vfs::tree::FileSystem;

impl FileSystem {
    /// Takes note of the name by which an inode was reached, for events at its directory.
    /// Directories know theirs.
    pub(crate) fn note_place(&mut self, ino: Ino, dir: Ino, name: &[u8]) {
        let node = self.node(ino);
        let known = node.place.as_ref().is_some_and(|place| place.dir == dir && *place.name == *name);
        let named = !matches!(name, b"." | b".." | b"/");
        if !known && named && !node.is_dir() && !node.unlinked() && self.node(dir).is_dir() {
            self.node_mut(ino).place = Some(Place { dir, name: name.into(), held: false });
        }
    }

    /// Takes note that a name is no longer there. A file that stays open is still told of at its
    /// directory, which stays for it.
    pub(super) fn lose_place(&mut self, ino: Ino, dir: Ino, name: &[u8]) {
        let node = self.node_mut(ino);
        let stays = node.unlinked() && node.opens > 0;
        let Some(place) = node.place.take_if(|place| place.dir == dir && *place.name == *name) else {
            return;
        };
        if stays {
            node.place = Some(Place { held: true, ..place });
            self.hold(dir);
        }
    }

    /// The directory of an inode, and its name there.
    fn place(&self, ino: Ino) -> Option<(Ino, Arc<[u8]>)> {
        let node = self.node(ino);
        match node.dir() {
            Some(_) if ino == self.root => None,
            Some(dir) => Some((dir.parent, dir.name.clone())),
            None => node.place.as_ref().map(|place| (place.dir, place.name.clone())),
        }
    }

    fn is_dir_bit(&self, ino: Ino) -> u32 {
        if self.node(ino).is_dir() { IN_ISDIR } else { 0 }
    }

    /// Tells of an access or a change of an inode: at its directory, and at the inode itself.
    pub(crate) fn notify(&mut self, ino: Ino, mask: u32) {
        if self.notify.is_idle() {
            return;
        }
        let (mask, unlinked) = (mask | self.is_dir_bit(ino), self.node(ino).unlinked());
        if let Some((dir, name)) = self.place(ino) {
            let what = Happening { mask, name: Some(&name), cookie: 0, unlinked };
            self.notify.post(dir, what, &mut self.queues);
        }
        self.notify.post(ino, Happening { mask, name: None, cookie: 0, unlinked }, &mut self.queues);
    }

    /// Tells of a change of an inode that its directory does not show.
    pub(super) fn notify_self(&mut self, ino: Ino, mask: u32) {
        if !self.notify.is_idle() {
            let mask = mask | self.is_dir_bit(ino);
            let what = Happening { mask, name: None, cookie: 0, unlinked: false };
            self.notify.post(ino, what, &mut self.queues);
        }
    }

    /// Tells of a name that came or went.
    pub(super) fn notify_name(&mut self, dir: Ino, name: &[u8], ino: Ino, mask: u32, cookie: u32) {
        if !self.notify.is_idle() {
            let mask = mask | self.is_dir_bit(ino);
            let what = Happening { mask, name: Some(&name.into()), cookie, unlinked: false };
            self.notify.post(dir, what, &mut self.queues);
        }
    }

    /// Tells of a rename: of `ino`, and of what it replaced.
    pub(super) fn notify_move(&mut self, from: &Found, to: &Found, ino: Ino, replaced: Option<Ino>) {
        if self.notify.is_idle() {
            return;
        }
        let cookie = self.notify.cookie();
        self.notify_name(from.dir, &from.name, ino, RENAMED, 0);
        self.notify_name(from.dir, &from.name, ino, IN_MOVED_FROM, cookie);
        self.notify_name(to.dir, &to.name, ino, IN_MOVED_TO, cookie);
        if let Some(replaced) = replaced {
            self.notify_self(replaced, IN_ATTRIB);
        }
        self.notify_self(ino, IN_MOVE_SELF);
    }
}
