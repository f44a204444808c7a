//! Memory objects: sets of pages that mappings and files of the emulated machine share.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::emu::memory::arena::{Frame, PAGE};
use crate::emu::memory::frames::Frames;
use crate::emu::memory::pools::Pools;
use crate::emu::memory::ranges::Ranges;
use crate::guest::{MemError, ObjectId, PAGE_SIZE, PageSource, PoolId};

/// The file that an object's pages are read from when they are first touched.
#[derive(Clone)]
struct Base {
    source: Arc<dyn PageSource>,
    /// Bytes of it that show; what lies behind was cut off once.
    visible: u64,
}

#[derive(Clone, Default)]
struct Object {
    len: u64,
    references: u32,
    /// The pages that were touched.
    pages: BTreeMap<u64, Frame>,
    /// Pages that are reserved and that nobody has touched yet; they may lie past the end.
    reserved: Ranges,
    /// The pool that both are counted in.
    pool: Option<PoolId>,
    base: Option<Base>,
}

impl Object {
    /// Reads from the base where no page was touched; zeros where it has nothing.
    fn read_base(&self, offset: u64, buf: &mut [u8]) -> Result<(), MemError> {
        buf.fill(0);
        let Some(base) = &self.base else { return Ok(()) };
        let count = base.visible.saturating_sub(offset).min(buf.len() as u64) as usize;
        if count > 0 {
            base.source.read_to_end(offset, &mut buf[..count]).map_err(|_| MemError::Io)?;
        }
        Ok(())
    }

    /// Tests whether the file below is changed as the object is.
    fn is_through(&self) -> bool {
        self.base.as_ref().is_some_and(|base| base.visible == u64::MAX)
    }

    /// Takes the pages of a range out, reserved ones too: the frames, and how many pages it were.
    fn take_out(&mut self, start: u64, end: u64) -> (BTreeMap<u64, Frame>, u64) {
        let mut frames = self.pages.split_off(&start);
        self.pages.append(&mut frames.split_off(&end));
        let reserved: u64 = self.reserved.remove(start, end).iter().map(|(from, to)| to - from).sum();
        let count = frames.len() as u64 + reserved;
        (frames, count)
    }

    /// Tests whether the base shows bytes at `offset` or behind it.
    fn is_over_base(&self, offset: u64) -> bool {
        self.base.as_ref().is_some_and(|base| offset < base.visible.min(base.source.len()))
    }
}

/// The objects of the machine, by their id.
#[derive(Clone, Default)]
pub(super) struct Objects {
    objects: Vec<Option<Object>>,
    /// Places that are free in it.
    free: Vec<u32>,
    pub(super) pools: Pools,
}

impl Objects {
    /// Makes an object of `len` bytes, with one reference. Its pages are those of `base` until they
    /// are changed: as many bytes of the file as the number says.
    pub(super) fn create(&mut self, len: u64, base: Option<(Arc<dyn PageSource>, u64)>) -> ObjectId {
        let base = base.map(|(source, visible)| Base { source, visible });
        let object = Some(Object { len, references: 1, base, ..Object::default() });
        match self.free.pop() {
            Some(free) => {
                self.objects[free as usize] = object;
                ObjectId(free)
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
        let Some(object) = self.objects.get_mut(id.0 as usize).and_then(Option::as_mut) else { return };
        object.references -= 1;
        if object.references > 0 {
            return;
        }
        let (pages, count) = object.take_out(0, u64::MAX);
        pages.into_values().for_each(|frame| frames.release(frame));
        self.pools.give(object.pool, count);
        self.objects[id.0 as usize] = None;
        self.free.push(id.0);
    }

    /// Bytes that the objects take beside their frames.
    pub(super) fn bytes(&self) -> u64 {
        ((self.objects.len() - self.free.len()) * size_of::<Option<Object>>()) as u64
    }

    /// Counts the pages of an object that has none yet in a pool.
    pub(super) fn join(&mut self, id: ObjectId, pool: PoolId) {
        if let Some(object) = self.get_mut(id) {
            object.pool = Some(pool);
        }
    }

    /// Pages that were touched or are reserved.
    pub(super) fn count(&self, id: ObjectId) -> u64 {
        self.get(id).map_or(0, |object| object.pages.len() as u64 + object.reserved.count())
    }

    /// Reserves pages, past the end too: they count, but they take no frame until they are touched.
    ///
    /// # Errors
    /// `Full` when the pool has not so many; then none is reserved.
    pub(super) fn reserve(&mut self, id: ObjectId, start: u64, end: u64) -> Result<(), MemError> {
        let Objects { objects, pools, .. } = self;
        let Some(object) = objects.get_mut(id.0 as usize).and_then(Option::as_mut) else { return Ok(()) };
        let touched = object.pages.range(start..end.max(start)).map(|(page, _)| (*page, page + 1));
        let mut there: Vec<(u64, u64)> = touched.chain(object.reserved.within(start, end)).collect();
        there.sort_unstable();
        // The gaps between the pages that are there.
        let ends = there.iter().map(|(from, _)| *from).chain([end]);
        let starts = [start].into_iter().chain(there.iter().map(|(_, to)| *to));
        let gaps: Vec<(u64, u64)> = starts.zip(ends).filter(|(from, to)| from < to).collect();
        pools.take(object.pool, gaps.iter().map(|(from, to)| to - from).sum())?;
        gaps.into_iter().for_each(|(from, to)| object.reserved.add(from, to));
        Ok(())
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

    /// Truncates or extends: frees the frames past the new end, and zeroes the rest of the last
    /// page, which mappings may have stored to, before it can show. Pages that are reserved past
    /// the end stay where the object grows.
    pub(super) fn resize(&mut self, id: ObjectId, len: u64, frames: &mut Frames) {
        let Objects { objects, pools, .. } = self;
        let Some(object) = objects.get_mut(id.0 as usize).and_then(Option::as_mut) else { return };
        let end = len.min(object.len);
        let grows = len > object.len;
        object.len = len;
        if !object.is_through()
            && let Some(base) = &mut object.base
        {
            base.visible = base.visible.min(len);
        }
        if !grows {
            let (pages, count) = object.take_out(len.div_ceil(PAGE_SIZE), u64::MAX);
            pages.into_values().for_each(|frame| frames.release(frame));
            pools.give(object.pool, count);
        }
        let tail = (end % PAGE_SIZE) as usize;
        if tail > 0
            && let Some(&frame) = object.pages.get(&(end / PAGE_SIZE))
        {
            frames.code_changed(frame);
            frames.arena_mut().zero(frame, tail, PAGE - tail);
        }
    }

    /// The frame of page `page`, allocated and read on first use; `None` past the end.
    ///
    /// # Errors
    /// When the memory limit is reached, or the file below cannot be read; `Full` when the pool is.
    pub(super) fn page(
        &mut self,
        id: ObjectId,
        page: u64,
        frames: &mut Frames,
    ) -> Result<Option<Frame>, MemError> {
        let Objects { objects, pools, .. } = self;
        let Some(object) = objects.get_mut(id.0 as usize).and_then(Option::as_mut) else { return Ok(None) };
        if page >= object.len.div_ceil(PAGE_SIZE) {
            return Ok(None);
        }
        if let Some(&frame) = object.pages.get(&page) {
            return Ok(Some(frame));
        }
        let mut bytes = [0; PAGE];
        let filled = object.is_over_base(page * PAGE_SIZE);
        if filled {
            object.read_base(page * PAGE_SIZE, &mut bytes)?;
        }
        let reserved = object.reserved.has(page);
        if !reserved {
            pools.take(object.pool, 1)?;
        }
        let frame = frames.allocate().map_err(|_| {
            pools.give(object.pool, u64::from(!reserved));
            MemError::NoMemory
        })?;
        object.reserved.remove(page, page + 1);
        if filled {
            frames.arena_mut().write(frame, 0, &bytes);
        }
        object.pages.insert(page, frame);
        Ok(Some(frame))
    }

    /// Tests whether a page was touched or lies above a file, whose pages count as read already.
    pub(super) fn is_cached(&self, id: ObjectId, offset: u64) -> bool {
        self.touched(id, offset / PAGE_SIZE).is_some()
            || self.get(id).is_some_and(|object| object.is_over_base(offset))
    }

    /// The frame of page `page`, if it was touched.
    pub(super) fn touched(&self, id: ObjectId, page: u64) -> Option<Frame> {
        self.get(id)?.pages.get(&page).copied()
    }

    /// Reads at `offset` and returns the number of bytes before the end.
    ///
    /// # Errors
    /// `Io` when the file below cannot be read.
    pub(super) fn read(
        &self,
        id: ObjectId,
        offset: u64,
        buf: &mut [u8],
        frames: &Frames,
    ) -> Result<usize, MemError> {
        let Some(object) = self.get(id) else { return Ok(0) };
        let len = object.len.saturating_sub(offset).min(buf.len() as u64) as usize;
        let mut done = 0;
        while done < len {
            let at = offset + done as u64;
            let start = (at % PAGE_SIZE) as usize;
            let part = (PAGE - start).min(len - done);
            let target = &mut buf[done..done + part];
            match object.pages.get(&(at / PAGE_SIZE)) {
                Some(&frame) => frames.arena().read(frame, start, target),
                None => object.read_base(at, target)?,
            }
            done += part;
        }
        Ok(len)
    }

    /// Writes at `offset`, and makes the object longer if it ends before that; the number of bytes
    /// that its pool had room for.
    ///
    /// # Errors
    /// When the memory limit is reached, or the file below cannot be read; the bytes before it are
    /// written. `Full` when no byte had room.
    pub(super) fn write(
        &mut self,
        id: ObjectId,
        offset: u64,
        bytes: &[u8],
        frames: &mut Frames,
    ) -> Result<usize, MemError> {
        let before = self.len(id);
        let end = offset.saturating_add(bytes.len() as u64);
        if end > before {
            self.resize(id, end, frames);
        }
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let start = (at % PAGE_SIZE) as usize;
            let part = (PAGE - start).min(bytes.len() - done);
            let frame = match self.page(id, at / PAGE_SIZE, frames) {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(why) => {
                    let written = if done > 0 { offset + done as u64 } else { 0 };
                    if let Some(object) = self.get_mut(id) {
                        object.len = before.max(written); // no page is behind it but reserved ones
                    }
                    if why == MemError::Full && done > 0 {
                        break;
                    }
                    return Err(why);
                }
            };
            frames.code_changed(frame);
            frames.arena_mut().write(frame, start, &bytes[done..done + part]);
            done += part;
        }
        Ok(done)
    }

    /// Makes a range of an object read as zero. Pages that lie wholly in it and above nothing are
    /// freed.
    ///
    /// # Errors
    /// As for `write`.
    pub(super) fn punch(
        &mut self,
        id: ObjectId,
        offset: u64,
        len: u64,
        frames: &mut Frames,
    ) -> Result<(), MemError> {
        let Some(object) = self.get_mut(id) else { return Ok(()) };
        let to = offset.saturating_add(len);
        let reserved = object.reserved.remove(offset.div_ceil(PAGE_SIZE), to / PAGE_SIZE);
        let (pool, end) = (object.pool, to.min(object.len.next_multiple_of(PAGE_SIZE)));
        self.pools.give(pool, reserved.iter().map(|(from, to)| to - from).sum());
        let mut at = offset;
        while at < end {
            let Objects { objects, pools, .. } = self;
            let Some(object) = objects.get_mut(id.0 as usize).and_then(Option::as_mut) else { break };
            let (page, start) = (at / PAGE_SIZE, at % PAGE_SIZE);
            let part = (PAGE_SIZE - start).min(end - at);
            if !object.is_through() && object.is_over_base(page * PAGE_SIZE) {
                let shown = part.min(object.len.saturating_sub(at));
                self.write(id, at, &[0; PAGE][..shown as usize], frames)?;
            } else if part == PAGE_SIZE && object.pages.range(end / PAGE_SIZE..).next().is_none() {
                // No page lies behind the hole.
                let rest = object.pages.split_off(&page);
                pools.give(pool, rest.len() as u64);
                rest.into_values().for_each(|frame| frames.release(frame));
                break;
            } else if part == PAGE_SIZE {
                if let Some(frame) = object.pages.remove(&page) {
                    pools.give(pool, 1);
                    frames.release(frame);
                }
                let next = object.pages.range(page..).next().map_or(end, |(next, _)| next * PAGE_SIZE);
                at = next.max(at + part);
                continue;
            } else if let Some(&frame) = object.pages.get(&page) {
                frames.code_changed(frame);
                frames.arena_mut().zero(frame, start as usize, part as usize);
            }
            at += part;
        }
        Ok(())
    }

    /// Start of the first touched page that ends behind `offset`.
    pub(super) fn next_page(&self, id: ObjectId, offset: u64) -> Option<u64> {
        let pages = &self.get(id)?.pages;
        pages.range(offset / PAGE_SIZE..).next().map(|(page, _)| page * PAGE_SIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emu::memory::arena::Arena;

    fn frames(limit: usize) -> Frames {
        Frames::new(Arena::reserve(0).expect("an arena"), limit)
    }

    fn object(base: &[u8], len: u64) -> (Objects, ObjectId) {
        let mut objects = Objects::default();
        let base: Arc<dyn PageSource> = Arc::new(base.to_vec());
        let visible = base.len();
        let id = objects.create(len, Some((base, visible)));
        (objects, id)
    }

    fn byte(objects: &Objects, id: ObjectId, at: u64, frames: &Frames) -> u8 {
        let mut byte = [0];
        assert_eq!(objects.read(id, at, &mut byte, frames), Ok(1));
        byte[0]
    }

    #[test]
    fn only_touched_pages_take_frames() {
        let mut frames = frames(2);
        let (mut objects, id) = object(&[7; 20_000], 1 << 40);
        assert_eq!(byte(&objects, id, 19_999, &frames), 7);
        assert_eq!(byte(&objects, id, 20_000, &frames), 0);
        assert_eq!(frames.in_use(), 0);
        assert_eq!(objects.write(id, 5000, b"x", &mut frames), Ok(1));
        assert_eq!(objects.write(id, (1 << 40) - 1, b"y", &mut frames), Ok(1));
        assert_eq!((byte(&objects, id, 4999, &frames), byte(&objects, id, 5000, &frames)), (7, b'x'));
        assert_eq!(objects.write(id, 0, b"z", &mut frames), Err(MemError::NoMemory));
        assert_eq!(
            (objects.next_page(id, 0), objects.next_page(id, 8192)),
            (Some(4096), Some((1 << 40) - 4096))
        );
    }

    #[test]
    fn what_was_cut_off_does_not_come_back() {
        let mut frames = frames(10);
        let (mut objects, id) = object(&[7; 8192], 8192);
        objects.resize(id, 5000, &mut frames);
        objects.resize(id, 8192, &mut frames);
        assert_eq!((byte(&objects, id, 4999, &frames), byte(&objects, id, 5000, &frames)), (7, 0));
    }

    /// POSIX of ftruncate(2): what is added reads as zero, though a mapping has stored there.
    #[test]
    fn stores_past_the_end_do_not_show_when_the_file_grows() {
        let mut frames = frames(10);
        let (mut objects, id) = object(&[], 100);
        let frame = objects.page(id, 0, &mut frames).expect("room").expect("in the object");
        frames.arena_mut().write(frame, 200, b"stored");
        objects.resize(id, 300, &mut frames);
        assert_eq!(byte(&objects, id, 200, &frames), 0);
    }

    #[test]
    fn a_hole_frees_its_pages_unless_a_file_is_below() {
        let mut frames = frames(10);
        let (mut objects, id) = object(&[7; 4096], 5 * PAGE_SIZE);
        for page in 0..5 {
            assert_eq!(objects.write(id, page * PAGE_SIZE, &[9; PAGE], &mut frames), Ok(PAGE));
        }
        assert_eq!(objects.punch(id, 10, 3 * PAGE_SIZE, &mut frames), Ok(()));
        assert_eq!(frames.in_use(), 3);
        let bytes = [9, 10, 3 * PAGE_SIZE + 9, 3 * PAGE_SIZE + 10].map(|at| byte(&objects, id, at, &frames));
        assert_eq!(bytes, [9, 0, 0, 9]);
        assert_eq!(objects.punch(id, 0, u64::MAX, &mut frames), Ok(()));
        assert_eq!((frames.in_use(), byte(&objects, id, 0, &frames)), (1, 0));
    }

    #[test]
    fn pages_are_counted_in_the_pool() {
        let (mut frames, pool) = (frames(20), PoolId(7));
        let (mut objects, other) = object(&[], 0);
        let id = objects.create(0, None);
        objects.pools.bound(pool, 4);
        [id, other].into_iter().for_each(|id| objects.join(id, pool));
        assert_eq!(objects.write(id, 100, &[1; 6 * PAGE], &mut frames), Ok(4 * PAGE - 100));
        assert_eq!((objects.len(id), objects.count(id), objects.pools.used(pool)), (4 * PAGE_SIZE, 4, 4));
        assert_eq!(objects.write(other, 0, b"x", &mut frames), Err(MemError::Full));
        assert_eq!((objects.len(other), objects.page(id, 0, &mut frames).is_ok()), (0, true));
        assert_eq!(objects.punch(id, PAGE_SIZE, PAGE_SIZE, &mut frames), Ok(()));
        objects.resize(id, 3 * PAGE_SIZE, &mut frames);
        assert_eq!((objects.count(id), objects.pools.used(pool)), (2, 2));
        assert_eq!(objects.write(other, 0, b"x", &mut frames), Ok(1));
        objects.release(id, &mut frames);
        assert_eq!((objects.pools.used(pool), frames.in_use()), (1, 1));
        objects.release(other, &mut frames);
        assert_eq!((objects.pools.used(pool), frames.in_use()), (0, 0));
    }

    #[test]
    fn reserved_pages_count_and_take_no_frame() {
        let (mut frames, pool) = (frames(20), PoolId(7));
        let (mut objects, id) = object(&[], 0);
        objects.pools.bound(pool, 6);
        objects.join(id, pool);
        assert_eq!(objects.write(id, PAGE_SIZE, &[1; PAGE], &mut frames), Ok(PAGE));
        assert_eq!(objects.reserve(id, 0, 4), Ok(()));
        assert_eq!((objects.count(id), objects.pools.used(pool), frames.in_use()), (4, 4, 1));
        assert_eq!(objects.reserve(id, 2, 9), Err(MemError::Full));
        assert_eq!((objects.count(id), objects.pools.used(pool)), (4, 4), "as before");
        assert_eq!(objects.write(id, 0, b"x", &mut frames), Ok(1));
        assert_eq!((objects.count(id), objects.pools.used(pool), frames.in_use()), (4, 4, 2));
        assert_eq!(objects.reserve(id, 0, 6), Ok(()));
        assert_eq!(objects.punch(id, 0, 3 * PAGE_SIZE, &mut frames), Ok(()));
        assert_eq!((objects.count(id), objects.next_page(id, 0)), (3, None));
        objects.resize(id, 4 * PAGE_SIZE, &mut frames);
        assert_eq!(objects.count(id), 3, "growing keeps what is past the end");
        objects.resize(id, 4 * PAGE_SIZE, &mut frames);
        assert_eq!((objects.count(id), objects.pools.used(pool)), (1, 1));
    }
}
