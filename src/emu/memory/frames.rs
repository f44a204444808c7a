//! The frame allocator: references to the pages of the arena, and which of them hold code.

use rustc_hash::FxHashMap;

use crate::emu::memory::arena::{Arena, Frame, PAGE};
use crate::guest::{FileVersion, SpaceId};

/// Something that the engine's caches must forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invalidation {
    /// The entry of a page in the TLB of an address space, by its guest address.
    Page(SpaceId, u64),
    /// All entries of the TLB of an address space, of which many pages are gone.
    Pages(SpaceId),
    /// The permissions to store in the TLB of an address space.
    Stores(SpaceId),
    /// Ways from block to block within an address space: an executable page of it has changed or is
    /// gone, though the code of its frame is good elsewhere.
    Ways(SpaceId),
    /// All TLBs.
    AllPages,
    /// All that is known of this address space, which is no more.
    Space(SpaceId),
    /// All that is known of every address space.
    AllSpaces,
    /// Code translated from this frame.
    Code(Frame),
}

/// The memory limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfFrames;

#[derive(Clone, Copy, Debug, Default)]
struct Meta {
    /// References of page tables and objects.
    references: u32,
    /// References of snapshots.
    kept: u32,
    /// The page cache has it.
    cached: bool,
    /// The engine may hold code translated from it.
    code: bool,
    /// The engine's TLB may allow stores to it through a mapping that is not executable.
    written: bool,
}

/// Pages from which on it is cheaper to forget a whole TLB than each of them.
const MANY: usize = 64;

/// Freed frames that are kept for reuse; beyond twice as many they go back to the host.
const KEPT: usize = 4096;

/// Frames that go back to the host at a time. It takes the host 80 ms for a gigabyte.
const RETURNED: usize = 8192;

/// Freed frames among which runs of neighbours are looked for at a time.
const SORTED: usize = 8 * RETURNED;

/// Allocator of the frames of one arena.
#[derive(Debug)]
pub(crate) struct Frames {
    arena: Arena,
    meta: Vec<Meta>,
    /// Freed frames that hold old bytes.
    stale: Vec<Frame>,
    /// Those of them that had too few neighbours when runs were looked for.
    single: Vec<Frame>,
    /// So many freed frames are to be there before runs are looked for again.
    many: usize,
    /// Runs of freed frames that go back to the host, by their first frame and their length.
    leaving: Vec<(Frame, usize)>,
    /// Freed frames that read as zeros.
    clean: Vec<Frame>,
    /// Pages of files, each by the file and its number there. They are never stored to. A page
    /// stays when nobody maps it any more, and with it what the engine has translated from it: so
    /// a program is translated once, however many processes run it.
    cache: FxHashMap<(FileVersion, u64), Frame>,
    /// Frames that were executed from, by the page of the address: of what the page cache and
    /// snapshots have, no page table may tell.
    executed_at: FxHashMap<u64, Vec<Frame>>,
    /// Frames that only the page cache has.
    idle: usize,
    /// Frames with references.
    in_use: usize,
    /// Pages' worth of what the guest uses beside its frames.
    other: usize,
    limit: usize,
    /// Changes that the engine's caches have to follow before the guest runs again.
    invalidations: Vec<Invalidation>,
    /// Pages that were recorded among them.
    pages: usize,
}

impl Frames {
    /// Makes an allocator of which the guest may use `limit` frames at a time, and as much less as
    /// it uses beside them.
    pub(crate) fn new(arena: Arena, limit: usize) -> Frames {
        let limit = limit.min(arena.pages());
        Frames {
            arena,
            meta: Vec::new(),
            stale: Vec::new(),
            single: Vec::new(),
            many: 2 * KEPT,
            leaving: Vec::new(),
            clean: Vec::new(),
            cache: FxHashMap::default(),
            executed_at: FxHashMap::default(),
            idle: 0,
            in_use: 0,
            other: 0,
            limit,
            invalidations: Vec::new(),
            pages: 0,
        }
    }

    /// The arena.
    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The arena, mutably.
    pub(super) fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }

    /// Number of frames that the guest uses. Frames that only snapshots hold do not count, here or
    /// against the limit, so that a run does not depend on its snapshots.
    pub(crate) fn in_use(&self) -> usize {
        self.in_use
    }

    /// Sets the bytes that the guest uses beside its frames, and that the limit counts too.
    pub(super) fn set_other(&mut self, bytes: u64) {
        self.other = usize::try_from(bytes.div_ceil(PAGE as u64)).unwrap_or(usize::MAX);
    }

    /// Tests whether the guest uses more than its limit.
    pub(super) fn exceeded(&self) -> bool {
        self.in_use.saturating_add(self.other) > self.limit
    }

    /// Allocates a zeroed frame with one reference.
    ///
    /// # Errors
    /// When the limit is reached.
    pub(super) fn allocate(&mut self) -> Result<Frame, OutOfFrames> {
        let used = self.in_use.saturating_add(self.other);
        if used >= self.limit {
            return Err(OutOfFrames);
        }
        if used + self.idle >= self.limit {
            self.shrink_cache();
        }
        Ok(self.take())
    }

    /// The frame of a page of a file, if the page cache has it.
    pub(super) fn cached(&self, file: FileVersion, page: u64) -> Option<Frame> {
        self.cache.get(&(file, page)).copied()
    }

    /// Enters the frame of a page of a file into the page cache.
    pub(super) fn cache(&mut self, file: FileVersion, page: u64, frame: Frame) {
        if self.cache.insert((file, page), frame).is_none() {
            self.meta[frame.index()].cached = true;
        }
    }

    /// Frees what only the page cache has.
    fn shrink_cache(&mut self) {
        let mut cache = std::mem::take(&mut self.cache);
        cache.retain(|_, frame| {
            let meta = &mut self.meta[frame.index()];
            if meta.references > 0 {
                return true;
            }
            meta.cached = false;
            if meta.kept == 0 {
                self.free(*frame);
            }
            false
        });
        self.cache = cache;
        self.idle = 0;
    }

    /// Allocates without regard to the limit.
    fn take(&mut self) -> Frame {
        self.in_use += 1;
        let frame = if let Some(frame) = self.clean.pop() {
            frame
        } else if let Some(frame) = self.stale.pop().or_else(|| self.single.pop()).or_else(|| self.stay()) {
            self.arena.zero(frame, 0, PAGE);
            frame
        } else {
            self.meta.push(Meta::default());
            Frame::new(self.meta.len() - 1)
        };
        self.meta[frame.index()] = Meta { references: 1, ..Meta::default() };
        frame
    }

    /// Adds a reference.
    pub(super) fn retain(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        meta.references += 1;
        if meta.references == 1 {
            self.in_use += 1;
            self.idle -= usize::from(meta.cached);
        }
    }

    /// Tests whether the frame has more than one reference, those of snapshots and of the page
    /// cache included.
    pub(super) fn is_shared(&self, frame: Frame) -> bool {
        let meta = &self.meta[frame.index()];
        meta.references + meta.kept + u32::from(meta.cached) > 1
    }

    /// Drops a reference, and frees the frame with the last one.
    pub(super) fn release(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        meta.references -= 1;
        if meta.references > 0 {
            return;
        }
        self.in_use -= 1;
        if meta.cached {
            self.idle += 1;
        } else if meta.kept == 0 {
            self.free(frame);
        }
    }

    /// Adds the reference of a snapshot to a frame that is in use.
    pub(super) fn keep(&mut self, frame: Frame) {
        self.meta[frame.index()].kept += 1;
    }

    /// Drops the reference of a snapshot.
    pub(super) fn forget(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        meta.kept -= 1;
        if meta.kept == 0 && meta.references == 0 && !meta.cached {
            self.free(frame);
        }
    }

    /// Records something that the engine's caches have to forget.
    pub(super) fn invalidate(&mut self, what: Invalidation) {
        self.invalidations.push(what);
    }

    /// Records that the entry of a page is to be forgotten.
    pub(super) fn invalidate_page(&mut self, space: SpaceId, page: u64) {
        self.pages += 1;
        if self.pages <= MANY {
            self.invalidations.push(Invalidation::Page(space, page));
        } else if self.invalidations.last() != Some(&Invalidation::Pages(space)) {
            self.invalidations.push(Invalidation::Pages(space));
        }
    }

    /// Takes what the engine's caches have to forget.
    pub(super) fn take_invalidations(&mut self) -> Vec<Invalidation> {
        self.pages = 0;
        std::mem::take(&mut self.invalidations)
    }

    fn free(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        if meta.code {
            self.invalidations.push(Invalidation::Code(frame));
        }
        *meta = Meta::default();
        self.stale.push(frame);
    }

    /// Takes a frame from those that are to go back to the host.
    fn stay(&mut self) -> Option<Frame> {
        let (first, len) = self.leaving.pop()?;
        if len > 1 {
            self.leaving.push((first, len - 1));
        }
        Some(Frame::new(first.index() + len - 1))
    }

    /// Returns long runs of freed frames to the host, some of them at every call: a process that
    /// ends frees gigabytes at once.
    pub(super) fn give_back(&mut self) {
        if self.stale.len() + self.single.len() > self.many {
            let mut some = self.stale.split_off(self.stale.len().saturating_sub(SORTED));
            some.sort_unstable();
            for run in some.chunk_by(|a, b| a.index() + 1 == b.index()) {
                if run.len() >= 16 {
                    self.leaving.push((run[0], run.len()));
                } else {
                    self.single.extend(run);
                }
            }
            if self.stale.is_empty() {
                // All were looked at; neighbours of these are looked for when there are more.
                self.many = self.single.len() + 2 * KEPT;
                std::mem::swap(&mut self.stale, &mut self.single);
            }
        }
        self.many = self.many.min(self.stale.len() + self.single.len() + 2 * KEPT);
        let mut left = RETURNED;
        while left > 0
            && let Some((first, len)) = self.leaving.pop()
        {
            let count = len.min(left);
            let at = first.index() + len - count;
            left -= count;
            let run = (at..at + count).rev().map(Frame::new);
            if self.arena.release(Frame::new(at), count).is_ok() {
                self.clean.extend(run);
            } else {
                self.stale.extend(run);
            }
            if count < len {
                self.leaving.push((first, len - count));
            }
        }
    }

    /// Copies a frame into a new one, for a holder that then releases it.
    ///
    /// # Errors
    /// When the limit is reached.
    pub(super) fn duplicate(&mut self, frame: Frame) -> Result<Frame, OutOfFrames> {
        // If only snapshots keep the old one, the guest uses no more frames than before.
        let alone = self.meta[frame.index()].references == 1;
        let copy = if alone { self.take() } else { self.allocate()? };
        self.arena.duplicate(frame, copy);
        Ok(copy)
    }

    /// Tests whether a snapshot holds it.
    pub(super) fn is_kept(&self, frame: Frame) -> bool {
        self.meta[frame.index()].kept > 0
    }

    /// Copies a frame that the guest then leaves to the snapshots; exceeds the limit until it does.
    pub(super) fn copy_apart(&mut self, frame: Frame) -> Frame {
        let copy = self.take();
        self.arena.duplicate(frame, copy);
        copy
    }

    /// Tests whether the engine may hold code from it.
    pub(super) fn has_code(&self, frame: Frame) -> bool {
        self.meta[frame.index()].code
    }

    /// Makes the engine forget how code of the frame is reached in an address space, of which a
    /// page has moved, is gone or has lost its permission to execute. The code itself stays while
    /// others may use it: other mappings, or the next process that maps the file.
    pub(super) fn code_unmapped(&mut self, space: SpaceId, frame: Frame) {
        let Meta { cached, references, code, .. } = self.meta[frame.index()];
        if code && (cached || references > 1) {
            self.invalidations.push(Invalidation::Ways(space));
        } else {
            self.code_changed(frame);
        }
    }

    /// Drops code translated from the frame: its bytes have changed, or it is to be translated
    /// otherwise.
    pub(super) fn code_changed(&mut self, frame: Frame) {
        if self.meta[frame.index()].code {
            self.invalidations.push(Invalidation::Code(frame));
        }
    }

    /// Drops code translated at the page of this address, from whatever frame.
    pub(super) fn retranslate(&mut self, page: u64) {
        let Frames { executed_at, meta, invalidations, .. } = self;
        let here = executed_at.get(&page).into_iter().flatten();
        let code = here.filter(|frame| meta[frame.index()].code);
        invalidations.extend(code.map(|&frame| Invalidation::Code(frame)));
    }

    /// Prepares the frame for being executed from at the page of this address.
    pub(super) fn executing(&mut self, page: u64, frame: Frame) {
        let Frames { executed_at, meta, .. } = self;
        let here = executed_at.entry(page).or_default();
        if !here.contains(&frame) {
            here.retain(|frame| meta[frame.index()].code);
            here.push(frame);
        }
        let meta = &mut self.meta[frame.index()];
        if meta.written {
            // The engine would not notice stores through the other mapping: make it ask for them
            // again.
            meta.written = false;
            self.invalidations.push(Invalidation::AllPages);
        }
        meta.code = true;
    }

    /// Prepares the frame for stores through a mapping that is not executable.
    pub(super) fn storing(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        if meta.code {
            // The engine notices stores to code only through executable mappings.
            meta.code = false;
            meta.written = true;
            self.invalidations.push(Invalidation::Code(frame));
            self.invalidations.push(Invalidation::AllPages);
        } else {
            meta.written = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_freed_at_once_goes_back_to_the_host_in_parts() {
        const MANY: usize = 3 * RETURNED + 5000;
        let mut frames = Frames::new(Arena::reserve(0).expect("an arena"), MANY);
        let all: Vec<Frame> = (0..MANY).map(|_| frames.allocate().expect("room")).collect();
        for frame in &all {
            frames.arena_mut().write(*frame, 0, b"old");
        }
        // One in the middle stays, and every third of those at the end.
        let stays = |at: usize| at == MANY / 2 || at >= MANY - 3000 && (MANY - at).is_multiple_of(3);
        for (at, frame) in all.iter().enumerate().filter(|(at, _)| !stays(*at)) {
            assert_eq!(frame.index(), at);
            frames.release(*frame);
        }
        assert_eq!((frames.clean.len(), frames.stale.len()), (0, MANY - 1001));
        for round in 1..=3 {
            frames.give_back();
            assert_eq!(frames.clean.len(), round * RETURNED, "so many at a time");
        }
        frames.give_back();
        assert_eq!((frames.clean.len(), frames.stale.len()), (MANY - 3001, 2000), "and no single ones");
        frames.give_back();
        assert_eq!(frames.clean.len(), MANY - 3001);
        for _ in 0..MANY - 1001 {
            let frame = frames.allocate().expect("room");
            let mut bytes = [1; 3];
            frames.arena().read(frame, 0, &mut bytes);
            assert_eq!(bytes, [0; 3]);
        }
        assert_eq!((frames.in_use(), frames.meta.len()), (MANY, MANY), "no others were taken");
        assert_eq!(frames.allocate(), Err(OutOfFrames));
    }

    #[test]
    fn code_is_found_where_it_was_executed() {
        let mut frames = Frames::new(Arena::reserve(0).expect("an arena"), 10);
        let [first, second, other] = [(); 3].map(|()| frames.allocate().expect("room"));
        for (page, frame) in [(0x1000, first), (0x1000, second), (0x1000, first), (0x2000, other)] {
            frames.executing(page, frame);
        }
        frames.retranslate(0x1000);
        frames.retranslate(0x3000);
        assert_eq!(frames.take_invalidations(), [first, second].map(Invalidation::Code));
        frames.executing(0x2000, first);
        frames.release(other);
        assert_eq!(frames.take_invalidations(), [Invalidation::Code(other)]);
        frames.executing(0x2000, second);
        for _ in 0..2 {
            frames.retranslate(0x2000);
            assert_eq!(frames.take_invalidations(), [first, second].map(Invalidation::Code));
        }
    }

    #[test]
    fn frames_on_their_way_to_the_host_are_taken_again() {
        const MANY: usize = 3 * RETURNED;
        let mut frames = Frames::new(Arena::reserve(0).expect("an arena"), MANY);
        let all: Vec<Frame> = (0..MANY).map(|_| frames.allocate().expect("room")).collect();
        for frame in &all {
            frames.arena_mut().write(*frame, 0, b"old");
            frames.release(*frame);
        }
        frames.give_back();
        for _ in 0..MANY {
            let frame = frames.allocate().expect("room");
            let mut bytes = [1; 3];
            frames.arena().read(frame, 0, &mut bytes);
            assert_eq!(bytes, [0; 3]);
        }
        assert_eq!((frames.meta.len(), frames.leaving.len(), frames.clean.len()), (MANY, 0, 0));
    }
}
