//! Operations on the bytes of regular files: reading, writing, resizing, sharing.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::IN_MODIFY;
use crate::guest::{FileId, GuestMemory, Mapping, MemError, ObjectId, PageSource, page_down};
use crate::kernel::vfs::content::{Content, HostFile, MAX_LEN, Object, PAGE, Pages};
use crate::kernel::vfs::host;
use crate::kernel::vfs::host_handle::{HostHandle, HostSource};
use crate::kernel::vfs::node::{Body, Ino, MEMFD_DEV, Node};
use crate::kernel::vfs::time::Time;
use crate::kernel::vfs::tree::FileSystem;

impl FileSystem {
    /// Bytes that overlay files may still take.
    pub(super) fn room(&mut self, mem: &dyn GuestMemory) -> u64 {
        self.memory_limit.saturating_sub(self.charged()).saturating_sub(mem.resident())
    }

    /// Reads from a regular file; 0 at its end.
    pub(crate) fn read_file(
        &self,
        ino: Ino,
        offset: u64,
        buf: &mut [u8],
        mem: &mut dyn GuestMemory,
    ) -> Result<usize, Errno> {
        match &self.node(ino).body {
            Body::File(Content::Host(Some(held))) => host::read_at(&*held.file.file()?, offset, buf),
            Body::File(Content::Host(None)) => Err(Errno::EIO),
            Body::File(Content::Pages(pages)) => pages.read(offset, buf),
            Body::File(Content::Object(object)) => {
                let count = (buf.len() as u64).min(object.len.saturating_sub(offset)) as usize;
                Ok(mem.object_read(object.id, offset, &mut buf[..count])?)
            }
            Body::Dir(_) => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Opens the host's file behind an inode for reading or writing, if it holds the bytes.
    pub(crate) fn hold_content(&mut self, ino: Ino, read: bool, write: bool) -> Result<(), Errno> {
        let node = self.node(ino);
        let through = node.writes_through();
        let Body::File(Content::Host(held)) = &node.body else { return Ok(()) };
        let Some(path) = node.host_path() else { return Ok(()) };
        let write = write && through;
        if held.as_ref().is_some_and(|held| held.write || !write) {
            return Ok(());
        }
        // A file opened for writing is read too, by copies and mappings; but reading may be
        // forbidden.
        let file = self.handles.open(|| {
            host::open_file(&path, true, write).or_else(|errno| match errno {
                Errno::EACCES if write && !read => host::open_file(&path, false, true),
                errno => Err(errno),
            })
        })?;
        if let Some(fingerprint) = &self.fingerprint {
            fingerprint.note(&path, &file);
        }
        // The guest itself may take the name from a file that it may change.
        let file = if through { HostHandle::kept(file) } else { self.handles.add(&path, file)? };
        let held = HostFile { file, write };
        self.node_mut(ino).body = Body::File(Content::Host(Some(held)));
        Ok(())
    }

    /// Moves the bytes of a file to the overlay, if changes to it do not go to the host. Nothing is
    /// copied yet.
    fn copy_up(&mut self, ino: Ino) -> Result<(), Errno> {
        let node = self.node(ino);
        if !matches!(node.body, Body::File(Content::Host(_))) || node.writes_through() {
            return Ok(());
        }
        self.hold_content(ino, true, false)?;
        self.refresh(ino);
        let node = self.node_mut(ino);
        if let Body::File(Content::Host(Some(held))) = &node.body {
            node.body = Body::File(Content::Pages(Pages::over(held.file.clone(), node.size)));
        }
        Ok(())
    }

    /// Makes a file ready for a change of its bytes, which every mapping of it has to show: those
    /// made of its bytes as they were become mappings of its object. On a tmpfs with a bound the
    /// bytes are an object from the first change on, so that all pages are counted in one place.
    fn begin_change(&mut self, ino: Ino, mem: &mut dyn GuestMemory) -> Result<(), Errno> {
        let bounded = self.tmpfs.bounds(self.node(ino).dev);
        if !bounded && self.viewed_file(ino, mem).is_none() {
            return self.copy_up(ino);
        }
        let object = self.share(ino, mem)?;
        self.turn_views(ino, object, mem);
        Ok(())
    }

    /// Makes the mappings of a file's bytes as they were mappings of its object.
    pub(super) fn turn_views(&self, ino: Ino, object: ObjectId, mem: &mut dyn GuestMemory) {
        if let Some((device, inode)) = self.viewed_file(ino, mem) {
            mem.object_take_views(object, device, inode);
        }
    }

    /// Device and number of an inode that is mapped as it is on the host.
    fn viewed_file(&self, ino: Ino, mem: &dyn GuestMemory) -> Option<(u64, u64)> {
        let file = (self.node(ino).dev, self.number_if_shown(ino)?);
        mem.is_file_viewed(file.0, file.1).then_some(file)
    }

    /// Writes to a regular file; returns how many bytes fitted.
    pub(crate) fn write_file(
        &mut self,
        now: Time,
        ino: Ino,
        offset: u64,
        bytes: &[u8],
        mem: &mut dyn GuestMemory,
    ) -> Result<usize, Errno> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if offset >= MAX_LEN {
            return Err(Errno::EFBIG);
        }
        let bytes = &bytes[..(bytes.len() as u64).min(MAX_LEN - offset) as usize];
        let through = self.node(ino).writes_through();
        let (seals, size) = (self.node(ino).seals, self.node(ino).size());
        let hole = offset.saturating_sub(size);
        let bytes = if through { &bytes[..self.quota.output_room(hole, bytes.len())] } else { bytes };
        if bytes.is_empty() {
            return Ok(0);
        }
        if seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) != 0 {
            return Err(Errno::EPERM);
        }
        let mut bytes = bytes;
        if offset + bytes.len() as u64 > size && seals & F_SEAL_GROW != 0 {
            // Pages are written one by one, and the first that would make the file longer is not.
            let fits = page_down(size).checked_sub(offset).filter(|fits| *fits > 0).ok_or(Errno::EPERM)?;
            bytes = &bytes[..fits as usize];
        }
        let end = offset + bytes.len() as u64;
        self.begin_change(ino, mem)?;
        let room = self.room(mem);
        let node = self.node_mut(ino);
        let mut full = false;
        let done = match &mut node.body {
            Body::File(Content::Host(Some(held))) => {
                host::write_at(&*held.file.file()?, offset, bytes)?;
                node.size = node.size.max(end);
                Ok(bytes.len())
            }
            Body::File(Content::Pages(pages)) => {
                let done = pages.write(offset, bytes, room);
                full = done == Err(Errno::ENOSPC);
                done
            }
            Body::File(Content::Object(object)) => {
                if let Some(file) = object.behind() {
                    host::write_at(&*file.file()?, offset, bytes)?;
                }
                let done = mem.object_write(object.id, offset, bytes).map_err(|why| match why {
                    MemError::NoMemory => Errno::ENOSPC,
                    why => why.into(),
                })?;
                object.len = object.len.max(offset + done as u64);
                Ok(done)
            }
            _ => return Err(Errno::EINVAL),
        };
        if done.is_ok() {
            node.touch(now);
        }
        self.out_of_memory |= full;
        if let (true, Ok(count)) = (through, done) {
            self.quota.wrote(hole, count);
        }
        done
    }

    /// Cuts or extends a file, truncate(2). Permissions are the caller's matter.
    pub(crate) fn truncate(
        &mut self,
        now: Time,
        ino: Ino,
        len: u64,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        if len > MAX_LEN {
            return Err(Errno::EFBIG);
        }
        let node = self.node(ino);
        match node.body {
            Body::File(_) => {}
            Body::Dir(_) => return Err(Errno::EISDIR),
            _ => return Err(Errno::EINVAL),
        }
        let size = node.size();
        if (len < size && node.seals & F_SEAL_SHRINK != 0) || (len > size && node.seals & F_SEAL_GROW != 0) {
            return Err(Errno::EPERM);
        }
        let hole = len.saturating_sub(size);
        if hole > 0 && node.writes_through() {
            // Past the bound the run ends after this call.
            if self.quota.output_room(hole - 1, 1) == 0 {
                return Err(Errno::EFBIG);
            }
            self.quota.wrote(hole, 0);
        }
        let node = self.node(ino);
        // A file emptied before its first write needs nothing of the host's.
        let on_host = matches!(node.body, Body::File(Content::Host(_)));
        if len == 0 && on_host && !node.writes_through() && self.viewed_file(ino, mem).is_none() {
            self.node_mut(ino).body = Body::File(Content::Pages(Pages::default()));
        }
        self.begin_change(ino, mem)?;
        self.hold_content(ino, false, true)?;
        let node = self.node_mut(ino);
        match &mut node.body {
            Body::File(Content::Host(Some(held))) => {
                rustix::fs::ftruncate(&*held.file.file()?, len)?;
                node.size = len;
            }
            Body::File(Content::Pages(pages)) => {
                pages.resize(len);
            }
            Body::File(Content::Object(object)) => {
                if let Some(file) = object.behind() {
                    rustix::fs::ftruncate(&*file.file()?, len)?;
                } else if let Some((_, visible)) = &mut object.base {
                    *visible = (*visible).min(len);
                }
                mem.object_resize(object.id, len).map_err(|_| Errno::ENOSPC)?;
                object.len = len;
            }
            _ => return Err(Errno::EINVAL),
        }
        node.touch(now);
        self.notify(ino, IN_MODIFY);
        Ok(())
    }

    /// Reserves a range that lies in a file or, without making it longer, behind it, fallocate(2).
    /// In memory it takes the room of its pages, on a tmpfs ENOSPC; the overlay reserves nothing.
    pub(crate) fn reserve(
        &mut self,
        now: Time,
        ino: Ino,
        offset: u64,
        len: u64,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        self.begin_change(ino, mem)?;
        self.hold_content(ino, false, true)?;
        if self.is_in_memory(ino) {
            let node = self.node(ino);
            if node.seals & F_SEAL_GROW != 0 && offset.saturating_add(len) > node.size() {
                return Err(Errno::EPERM);
            }
            let object = self.share(ino, mem)?;
            mem.object_reserve(object, offset, len)?;
        }
        let node = self.node_mut(ino);
        let file = match &node.body {
            Body::File(Content::Host(Some(held))) => Some(&held.file),
            Body::File(Content::Object(object)) => object.behind(),
            _ => None,
        };
        if let Some(file) = file {
            rustix::fs::fallocate(&*file.file()?, rustix::fs::FallocateFlags::KEEP_SIZE, offset, len)?;
        }
        node.touch(now);
        self.notify(ino, IN_MODIFY);
        Ok(())
    }

    /// Makes a range read as zero, as FALLOC_FL_PUNCH_HOLE does.
    pub(crate) fn punch(
        &mut self,
        now: Time,
        ino: Ino,
        offset: u64,
        len: u64,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        if self.node(ino).seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) != 0 {
            return Err(Errno::EPERM);
        }
        self.begin_change(ino, mem)?;
        let room = self.room(mem);
        let node = self.node_mut(ino);
        let mut full = false;
        let result = match &mut node.body {
            Body::File(Content::Host(Some(held))) => host::punch_hole(&*held.file.file()?, offset, len),
            Body::File(Content::Pages(pages)) => {
                let done = pages.punch(offset, len, room.saturating_add(pages.memory()));
                full = done == Err(Errno::ENOSPC);
                done
            }
            Body::File(Content::Object(object)) => {
                if let Some(file) = object.behind() {
                    host::punch_hole(&*file.file()?, offset, len)?;
                }
                mem.object_punch(object.id, offset, len).map_err(|_| Errno::ENOSPC)
            }
            _ => return Err(Errno::ENODEV),
        };
        if result.is_ok() {
            node.touch(now);
            self.notify(ino, IN_MODIFY);
        }
        self.out_of_memory |= full;
        result
    }

    /// Makes a range of the file behind an object read as zero, MADV_REMOVE of madvise(2). Shared
    /// memory without a file is the object alone.
    pub(crate) fn punch_object(
        &mut self,
        now: Time,
        object: ObjectId,
        offset: u64,
        len: u64,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let is_file = |node: &Node| matches!(&node.body, Body::File(Content::Object(of)) if of.id == object);
        let file = self.nodes().find(|(_, node)| is_file(node)).map(|(ino, _)| ino);
        match file {
            Some(ino) => self.punch(now, ino, offset, len, mem),
            None => mem.object_punch(object, offset, len).map_err(Errno::from),
        }
    }

    /// SEEK_DATA and SEEK_HOLE, lseek(2).
    pub(crate) fn seek_file(
        &self,
        ino: Ino,
        offset: u64,
        data: bool,
        mem: &dyn GuestMemory,
    ) -> Result<u64, Errno> {
        let node = self.node(ino);
        match &node.body {
            Body::File(Content::Host(Some(held))) => host::seek(&*held.file.file()?, offset, data),
            Body::File(Content::Pages(pages)) => pages.seek(offset, data),
            Body::File(Content::Object(object)) => object.seek(offset, data, mem),
            _ if offset >= node.size() => Err(Errno::ENXIO),
            _ => Ok(if data { offset } else { node.size() }),
        }
    }

    /// The seals of a memfd, fcntl(2) F_GET_SEALS; EINVAL for other files.
    pub(crate) fn seals(&self, ino: Ino) -> Result<u32, Errno> {
        let node = self.node(ino);
        match node.body {
            Body::File(_) if node.dev == MEMFD_DEV => Ok(node.seals),
            Body::File(_) if self.is_in_memory(ino) => Ok(F_SEAL_SEAL),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Adds seals to a memfd, fcntl(2) F_ADD_SEALS; EINVAL, EPERM, EBUSY. `writable` tells if the
    /// descriptor may be written.
    pub(crate) fn add_seals(
        &mut self,
        ino: Ino,
        seals: u32,
        writable: bool,
        mem: &dyn GuestMemory,
    ) -> Result<(), Errno> {
        const WRITES: u32 = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
        if !writable {
            return Err(Errno::EPERM);
        }
        if seals & !(F_SEAL_SEAL | F_SEAL_EXEC | WRITES) != 0 {
            return Err(Errno::EINVAL);
        }
        let held = self.seals(ino)?;
        if held & F_SEAL_SEAL != 0 {
            return Err(Errno::EPERM);
        }
        let node = self.node(ino);
        let stores = |map: &Mapping| {
            let same = |file: &FileId| (file.device, file.inode) == (node.dev, node.number);
            map.shared && map.may_write && map.file.as_ref().is_some_and(same)
        };
        if seals & !held & F_SEAL_WRITE != 0 && mem.mappings().iter().any(stores) {
            return Err(Errno::EBUSY);
        }
        // What stays a program must stay as it is.
        let runs = seals & F_SEAL_EXEC != 0 && node.mode & 0o111 != 0;
        self.node_mut(ino).seals |= seals | if runs { WRITES } else { 0 };
        Ok(())
    }

    /// The object that holds a file's bytes, so that mappings can share them. What was written is
    /// copied there; what lies on the host is read when it is touched. Changes that belong to the
    /// host's file are written back by `write_back`.
    pub(crate) fn share(&mut self, ino: Ino, mem: &mut dyn GuestMemory) -> Result<ObjectId, Errno> {
        self.copy_up(ino)?;
        if self.node(ino).writes_through() {
            self.hold_content(ino, true, true)?;
            self.refresh(ino);
        }
        let (pages, through) = match &self.node(ino).body {
            Body::File(Content::Object(object)) => return Ok(object.id),
            Body::File(Content::Pages(pages)) => (pages.clone(), false),
            Body::File(Content::Host(Some(held))) => {
                (Pages::over(held.file.clone(), self.node(ino).size()), true)
            }
            _ => return Err(Errno::ENODEV),
        };
        let base = pages.base().map(|(file, visible)| {
            let visible = if through { u64::MAX } else { *visible };
            (file.clone(), visible)
        });
        let below = base.clone().map(|(file, visible)| {
            let source: Arc<dyn PageSource> = Arc::new(HostSource::new(file, false));
            (source, visible)
        });
        let pool = self.tmpfs.pool(self.node(ino).dev, mem);
        let id = mem.object_create(pages.len(), below);
        pool.into_iter().for_each(|pool| mem.object_join(id, pool));
        for (at, bytes) in pages.written() {
            let count = (pages.len() - at).min(bytes.len() as u64) as usize;
            if let Err(why) = mem.object_write(id, at, &bytes[..count]) {
                mem.object_release(id);
                return Err(why.into());
            }
        }
        let object = Object { id, len: pages.len(), base, through };
        self.node_mut(ino).body = Body::File(Content::Object(object));
        self.turn_views(ino, id, mem);
        Ok(id)
    }

    /// Gives a file of the host that the guest has changed the time of its last change.
    pub(super) fn settle_time(&mut self, ino: Ino) {
        let clock = self.host_clock;
        let node = self.node_mut(ino);
        if !std::mem::take(&mut node.time_due) || !node.writes_through() {
            return;
        }
        let file = match &node.body {
            Body::File(Content::Host(Some(held))) => &held.file,
            Body::File(Content::Object(object)) if let Some(file) = object.behind() => file,
            _ => return,
        };
        let time = clock.to_host(node.times.modify);
        // A file of another user's keeps what the host gave it.
        let _ = file.file().and_then(|file| host::set_modified(&file, (time.sec, time.nsec)));
    }

    /// Writes stores through mappings back to the files of the host, and their times.
    pub fn write_back(&mut self, mem: &mut dyn GuestMemory) -> Result<(), Errno> {
        let mut result = Ok(());
        for (_, node) in self.nodes() {
            if let Body::File(Content::Object(object)) = &node.body
                && let Some(file) = object.behind()
            {
                result = result.and(write_back(file, object.id, mem));
            }
        }
        let due = |(ino, node): (Ino, &Node)| node.time_due.then_some(ino);
        let due: Vec<Ino> = self.nodes().filter_map(due).collect();
        due.into_iter().for_each(|ino| self.settle_time(ino));
        result
    }
}

/// Writes the pages of an object that differ from the file behind it.
fn write_back(file: &Arc<HostHandle>, id: ObjectId, mem: &mut dyn GuestMemory) -> Result<(), Errno> {
    let file = file.file()?;
    let (mut ours, mut theirs) = ([0; PAGE as usize], [0; PAGE as usize]);
    let mut from = 0;
    while let Some(at) = mem.object_next_page(id, from) {
        let count = mem.object_read(id, at, &mut ours)?;
        theirs.fill(0);
        let held = host::read_at(&file, at, &mut theirs[..count])?;
        if held < count || ours[..count] != theirs[..count] {
            host::write_at(&file, at, &ours[..count])?;
        }
        from = at + PAGE;
    }
    Ok(())
}
