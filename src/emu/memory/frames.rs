//! Frames: which pages of the arena are in use, by how many, and which have held code.

use crate::emu::memory::Invalidation;
use crate::emu::memory::arena::Arena;

/// A page of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame(pub u32);

impl Frame {
    /// Its number in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// No frame is left under the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfFrames;

#[derive(Clone, Copy, Debug, Default)]
struct Meta {
    /// Page tables and objects that hold it.
    references: u32,
    /// Checkpoints that hold it.
    kept: u32,
    /// The engine may hold code translated from it.
    code: bool,
    /// A mapping that is writable and not executable may be in the engine's TLB although the frame has code.
    written: bool,
}

/// How many freed frames are kept before they are given back to the host.
const KEPT: usize = 4096;

/// The allocator of frames, with the arena they lie in.
#[derive(Debug)]
pub struct Frames {
    arena: Arena,
    meta: Vec<Meta>,
    /// Freed frames whose bytes are stale.
    stale: Vec<Frame>,
    /// Freed frames that read as zeros.
    clean: Vec<Frame>,
    /// Frames with references.
    in_use: usize,
    limit: usize,
    /// What the engine has to forget.
    pub invalidations: Vec<Invalidation>,
}

impl Frames {
    /// All frames free; at most `limit` may be in use at a time.
    pub fn new(arena: Arena, limit: usize) -> Frames {
        let limit = limit.min(arena.pages());
        Frames {
            arena,
            meta: Vec::new(),
            stale: Vec::new(),
            clean: Vec::new(),
            in_use: 0,
            limit,
            invalidations: Vec::new(),
        }
    }

    /// The arena.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The arena, to write to it.
    pub fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }

    /// Frames that the guest uses. What only checkpoints hold is not among them, nor under the limit, so that a run
    /// does not depend on them.
    pub fn in_use(&self) -> usize {
        self.in_use
    }

    /// A zeroed frame with one reference.
    ///
    /// # Errors
    /// When the limit is reached.
    pub fn allocate(&mut self) -> Result<Frame, OutOfFrames> {
        if self.in_use >= self.limit {
            return Err(OutOfFrames);
        }
        Ok(self.take())
    }

    fn take(&mut self) -> Frame {
        self.in_use += 1;
        let frame = if let Some(frame) = self.clean.pop() {
            frame
        } else if let Some(frame) = self.stale.pop() {
            self.arena.zero(frame, 0, super::arena::PAGE);
            frame
        } else {
            self.meta.push(Meta::default());
            Frame((self.meta.len() - 1) as u32)
        };
        self.meta[frame.index()] = Meta { references: 1, ..Meta::default() };
        frame
    }

    /// One more holder.
    pub fn retain(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        meta.references += 1;
        if meta.references == 1 {
            self.in_use += 1;
        }
    }

    /// Whether somebody holds the frame besides the one who asks.
    pub fn is_shared(&self, frame: Frame) -> bool {
        let meta = &self.meta[frame.index()];
        meta.references + meta.kept > 1
    }

    /// One holder less; the last one frees the frame.
    pub fn release(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        meta.references -= 1;
        if meta.references > 0 {
            return;
        }
        self.in_use -= 1;
        if meta.kept == 0 {
            self.free(frame);
        }
    }

    /// A checkpoint holds the frame, which has references.
    pub fn keep(&mut self, frame: Frame) {
        self.meta[frame.index()].kept += 1;
    }

    /// A checkpoint that held the frame is gone.
    pub fn forget(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        meta.kept -= 1;
        if meta.kept == 0 && meta.references == 0 {
            self.free(frame);
        }
    }

    fn free(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        if meta.code {
            self.invalidations.push(Invalidation::Code(frame));
        }
        *meta = Meta::default();
        self.stale.push(frame);
        if self.stale.len() > 2 * KEPT {
            self.give_back();
        }
    }

    /// Gives long runs of freed frames back to the host.
    fn give_back(&mut self) {
        let mut stale = std::mem::take(&mut self.stale);
        stale.sort_unstable();
        for run in stale.chunk_by(|a, b| a.0 + 1 == b.0) {
            if run.len() >= 16 && self.arena.release(run[0], run.len()).is_ok() {
                self.clean.extend(run.iter().rev());
            } else {
                self.stale.extend(run);
            }
        }
    }

    /// Copies a frame, for a holder who gives it up, into a new one.
    ///
    /// # Errors
    /// When the limit is reached.
    pub fn duplicate(&mut self, frame: Frame) -> Result<Frame, OutOfFrames> {
        // Where only checkpoints stay behind, the guest uses no more than before.
        let alone = self.meta[frame.index()].references == 1;
        let copy = if alone { self.take() } else { self.allocate()? };
        self.arena.duplicate(frame, copy);
        Ok(copy)
    }

    /// Whether a checkpoint holds it.
    pub fn is_kept(&self, frame: Frame) -> bool {
        self.meta[frame.index()].kept > 0
    }

    /// Copies a frame that the guest is about to give up to the checkpoints. Goes past the limit, if only until then.
    pub fn copy_apart(&mut self, frame: Frame) -> Frame {
        let copy = self.take();
        self.arena.duplicate(frame, copy);
        copy
    }

    /// Whether the engine may hold code from it.
    pub fn has_code(&self, frame: Frame) -> bool {
        self.meta[frame.index()].code
    }

    /// Code translated from the frame is no longer right: the frame changed, or a page that shows it moved or
    /// lost its permission to execute.
    pub fn code_changed(&mut self, frame: Frame) {
        if self.meta[frame.index()].code {
            self.invalidations.push(Invalidation::Code(frame));
        }
    }

    /// The engine is about to execute from the frame.
    pub fn executing(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        if meta.written {
            // Stores through the other mapping would not be noticed any more: send them through here again.
            meta.written = false;
            self.invalidations.push(Invalidation::AllPages);
        }
        meta.code = true;
    }

    /// The engine is about to store through a mapping that is not executable.
    pub fn storing(&mut self, frame: Frame) {
        let meta = &mut self.meta[frame.index()];
        if meta.code {
            // The engine sees stores to code only through executable mappings.
            meta.code = false;
            meta.written = true;
            self.invalidations.push(Invalidation::Code(frame));
            self.invalidations.push(Invalidation::AllPages);
        } else {
            meta.written = true;
        }
    }
}
