//! Memory objects: sets of pages that mappings and files of the emulated machine share.

use std::collections::BTreeMap;

use crate::emu::memory::arena::{Frame, PAGE};
use crate::emu::memory::frames::{Frames, OutOfFrames};
use crate::guest::{ObjectId, PAGE_SIZE};

#[derive(Clone, Debug, Default)]
struct Object {
    len: u64,
    references: u32,
    pages: BTreeMap<u64, Frame>,
}

/// The objects of the machine, by their id.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    objects: Vec<Option<Object>>,
}

impl Objects {
    /// Makes an object of `len` bytes, with one reference.
    pub(super) fn create(&mut self, len: u64) -> ObjectId {
        let object = Some(Object { len, references: 1, pages: BTreeMap::new() });
        match self.objects.iter().position(Option::is_none) {
            Some(free) => {
                self.objects[free] = object;
                ObjectId(free as u32)
            }
            None => {
                self.objects.push(object);
                ObjectId((self.objects.len() - 1) as u32)
            }
        }
    }

    fn get(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id.0 as usize).and_then(Option::as_ref)
    }

    fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.objects.get_mut(id.0 as usize).and_then(Option::as_mut)
    }

    /// Adds a reference.
    pub(super) fn retain(&mut self, id: ObjectId) {
        if let Some(object) = self.get_mut(id) {
            object.references += 1;
        }
    }

    /// Drops a reference, and with the last one the pages.
    pub(super) fn release(&mut self, id: ObjectId, frames: &mut Frames) {
        let Some(object) = self.get_mut(id) else { return };
        object.references -= 1;
        if object.references > 0 {
            return;
        }
        for &frame in object.pages.values() {
            frames.release(frame);
        }
        self.objects[id.0 as usize] = None;
    }

    /// The frames of all objects.
    pub(super) fn frames(&self) -> impl Iterator<Item = Frame> {
        self.objects.iter().flatten().flat_map(|object| object.pages.values().copied())
    }

    /// The frames of all objects, mutably.
    pub(super) fn frames_mut(&mut self) -> impl Iterator<Item = &mut Frame> {
        self.objects.iter_mut().flatten().flat_map(|object| object.pages.values_mut())
    }

    /// Length in bytes; 0 for an object that is gone.
    pub(super) fn len(&self, id: ObjectId) -> u64 {
        self.get(id).map_or(0, |object| object.len)
    }

    /// Truncates or extends: frees the frames past the new end and zeroes the rest of the last
    /// page.
    pub(super) fn resize(&mut self, id: ObjectId, len: u64, frames: &mut Frames) {
        let Some(object) = self.get_mut(id) else { return };
        let shrinks = len < object.len;
        object.len = len;
        for (_, frame) in object.pages.split_off(&len.div_ceil(PAGE_SIZE)) {
            frames.release(frame);
        }
        let tail = (len % PAGE_SIZE) as usize;
        if shrinks
            && tail > 0
            && let Some(&frame) = object.pages.get(&(len / PAGE_SIZE))
        {
            frames.arena_mut().zero(frame, tail, PAGE - tail);
        }
    }

    /// The frame of page `page`, allocated on first use; `None` past the end.
    ///
    /// # Errors
    /// When the memory limit is reached.
    pub(super) fn page(
        &mut self,
        id: ObjectId,
        page: u64,
        frames: &mut Frames,
    ) -> Result<Option<Frame>, OutOfFrames> {
        let Some(object) = self.get_mut(id) else { return Ok(None) };
        if page >= object.len.div_ceil(PAGE_SIZE) {
            return Ok(None);
        }
        if let Some(&frame) = object.pages.get(&page) {
            return Ok(Some(frame));
        }
        let frame = frames.allocate()?;
        object.pages.insert(page, frame);
        Ok(Some(frame))
    }

    /// Reads at `offset` and returns the number of bytes before the end.
    pub(super) fn read(&self, id: ObjectId, offset: u64, buf: &mut [u8], frames: &Frames) -> usize {
        let Some(object) = self.get(id) else { return 0 };
        let len = object.len.saturating_sub(offset).min(buf.len() as u64) as usize;
        let mut done = 0;
        while done < len {
            let at = offset + done as u64;
            let start = (at % PAGE_SIZE) as usize;
            let part = (PAGE - start).min(len - done);
            let target = &mut buf[done..done + part];
            match object.pages.get(&(at / PAGE_SIZE)) {
                Some(&frame) => frames.arena().read(frame, start, target),
                None => target.fill(0),
            }
            done += part;
        }
        len
    }

    /// Writes at `offset`, up to the object's end.
    ///
    /// # Errors
    /// When the memory limit is reached; the bytes before it are written.
    pub(super) fn write(
        &mut self,
        id: ObjectId,
        offset: u64,
        bytes: &[u8],
        frames: &mut Frames,
    ) -> Result<(), OutOfFrames> {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let start = (at % PAGE_SIZE) as usize;
            let part = (PAGE - start).min(bytes.len() - done);
            let Some(frame) = self.page(id, at / PAGE_SIZE, frames)? else { break };
            frames.code_changed(frame);
            frames.arena_mut().write(frame, start, &bytes[done..done + part]);
            done += part;
        }
        Ok(())
    }
}
