//! The address space: the page table that the engine asks, over areas, objects and frames.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::abi::mm::MMAP_MIN_ADDR;
use crate::emu::memory::areas::Areas;
use crate::emu::memory::arena::{Frame, PAGE};
use crate::emu::memory::frames::{Frames, Invalidation, OutOfFrames};
use crate::emu::memory::objects::Objects;
use crate::emu::memory::page_table::{PageEntry, PageTable};
use crate::guest::layout::Layout;
use crate::guest::{
    Backing, FileId, MemError, ObjectId, PAGE_SIZE, PageSource, Prot, SpaceId, USER_END, UserfaultId,
    page_down,
};

/// Kind of an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Reason to refuse an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// Nothing is mapped there (SEGV_MAPERR).
    Unmapped,
    /// The permissions forbid it (SEGV_ACCERR).
    Protected,
    /// The page lies past the end of the file or object (BUS_ADRERR).
    PastEnd,
    /// The memory limit is reached.
    OutOfMemory,
}

impl From<OutOfFrames> for Denied {
    fn from(_: OutOfFrames) -> Denied {
        Denied::OutOfMemory
    }
}

/// A page that the engine may enter into its TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The frame behind the page.
    pub(crate) frame: Frame,
    /// Accesses that need no further question.
    pub(crate) prot: Prot,
}

/// The heap of brk(2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Break {
    /// First address of the heap.
    pub(super) start: u64,
    /// The program break.
    pub(super) end: u64,
    /// End of the range kept free for the heap, which the break stays below; `start` if none is
    /// kept.
    pub(super) reserved: u64,
}

/// The file that a page of code comes from.
pub(crate) struct FileArea<'a> {
    /// Address of the file's first byte, were all of it mapped like this page.
    pub(crate) origin: u64,
    /// The file's bytes.
    pub(crate) source: &'a Arc<dyn PageSource>,
    /// Its name and numbers.
    pub(crate) id: &'a FileId,
}

/// An address space that is not loaded.
#[derive(Clone, Default)]
pub(super) struct Space {
    pub(super) areas: Areas,
    pub(super) table: PageTable,
    pub(super) brk: Break,
}

/// The memory of the guest, seen from the address space that is loaded.
pub(crate) struct AddressSpace {
    pub(super) frames: Frames,
    pub(super) objects: Objects,
    pub(super) areas: Areas,
    pub(super) table: PageTable,
    pub(super) brk: Break,
    /// The address space that is loaded; `areas`, `table` and `brk` are its own.
    pub(super) loaded: SpaceId,
    /// The others.
    pub(super) others: BTreeMap<SpaceId, Space>,
    /// Bytes that the tables of those take.
    pub(super) unloaded: u64,
    /// Pages of files are shared by all address spaces.
    page_cache: bool,
    pub(super) layout: Layout,
    /// Bytes that the kernel holds for the guest.
    pub(super) kernel: u64,
    /// The memory limit has stopped an access; see [`AddressSpace::take_out_of_memory`].
    pub(super) out_of_memory: bool,
    /// Number of mappings of files that were made to be executed.
    pub(super) code_mappings: u64,
    /// The userfaultfd of the missing page that was accessed last.
    pub(super) missed: Option<UserfaultId>,
}

/// Reads a page of a file into a new frame; an error becomes a bus error, as on Linux.
fn read_page(source: &dyn PageSource, at: u64, frames: &mut Frames) -> Result<Frame, Denied> {
    if at >= source.len() {
        return Err(Denied::PastEnd);
    }
    let mut bytes = [0; PAGE];
    let done = source.read_to_end(at, &mut bytes).map_err(|_| Denied::PastEnd)?;
    let frame = frames.allocate()?;
    frames.arena_mut().write(frame, 0, &bytes[..done]);
    Ok(frame)
}

/// Adds what x86-64 page tables cannot deny: a page that may be written or executed may be read.
pub(super) fn effective(prot: Prot) -> Prot {
    if prot == Prot::NONE { prot } else { prot.with(Prot::READ) }
}

impl AddressSpace {
    /// Makes a memory with one empty address space, in which `layout` decides where mappings go
    /// that name no address. With `page_cache` all address spaces share the pages of files.
    pub(crate) fn new(frames: Frames, layout: Layout, page_cache: bool) -> AddressSpace {
        AddressSpace {
            frames,
            objects: Objects::default(),
            areas: Areas::default(),
            table: PageTable::default(),
            brk: Break::default(),
            loaded: SpaceId::default(),
            others: BTreeMap::new(),
            unloaded: 0,
            page_cache,
            layout,
            kernel: 0,
            out_of_memory: false,
            code_mappings: 0,
            missed: None,
        }
    }

    /// The fixed addresses of the run.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of mappings of files that were made to be executed, in all address spaces. It says
    /// that there are new ones, and is no part of a snapshot.
    pub(crate) fn code_mappings(&self) -> u64 {
        self.code_mappings
    }

    /// Removes every mapping, as execve(2) does.
    pub(crate) fn clear(&mut self) {
        self.remove_range(0, USER_END);
        self.brk = Break::default();
        self.reset_peaks();
    }

    /// Begins to watch anew how much is used at most.
    pub(super) fn reset_peaks(&mut self) {
        self.areas.set_mapped_peak(0);
        self.table.reset_peak();
    }

    /// The frames of the machine.
    pub(crate) fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Returns memory that was freed to the host, a part of it if it is much.
    pub(crate) fn give_back(&mut self) {
        self.frames.give_back();
    }

    /// Takes what the engine has to forget.
    pub(crate) fn take_invalidations(&mut self) -> Vec<Invalidation> {
        self.frames.take_invalidations()
    }

    /// Tests whether the memory limit has stopped an access since the last call.
    pub(crate) fn take_out_of_memory(&mut self) -> bool {
        std::mem::take(&mut self.out_of_memory)
    }

    /// Charges what the guest has beside its frames: the kernel's objects, its page table and its
    /// mappings.
    pub(super) fn account(&mut self) {
        let loaded = self.table.bytes() + self.areas.bytes();
        let bytes = self.kernel + loaded + self.unloaded + self.objects.bytes();
        self.frames.set_other(bytes);
    }

    /// Charges what the kernel holds for the guest, in bytes.
    ///
    /// # Errors
    /// `NoMemory` when all that the guest uses exceeds its limit, or that has stopped an access.
    pub(super) fn charge_kernel(&mut self, bytes: u64) -> Result<(), MemError> {
        self.kernel = bytes;
        self.account();
        if self.take_out_of_memory() || self.frames.exceeded() { Err(MemError::NoMemory) } else { Ok(()) }
    }

    /// Makes the page at `addr` present for an access and says what the engine may do with it.
    ///
    /// # Errors
    /// Why the access faults.
    pub(crate) fn access(&mut self, addr: u64, access: Access) -> Result<Grant, Denied> {
        let page = page_down(addr);
        let need = match access {
            Access::Read => Prot::READ,
            Access::Write => Prot::WRITE,
            Access::Execute => Prot::EXEC,
        };
        let entry = match self.table.get(page) {
            Some(entry) => entry,
            None => self.make_present(page, need).inspect_err(|denied| {
                self.out_of_memory |= *denied == Denied::OutOfMemory;
            })?,
        };
        if !entry.prot.allows(need) {
            return Err(Denied::Protected);
        }
        let mut entry = entry;
        let mut prot = entry.prot;
        if !entry.shared && self.frames.is_shared(entry.frame) {
            if access == Access::Write {
                entry = self.copy_on_write(page, entry)?;
            } else {
                prot = Prot(prot.0 & !Prot::WRITE.0);
            }
        }
        if entry.fresh && access == Access::Write {
            entry.fresh = false;
            self.table.set(page, entry);
        } else if entry.fresh {
            // The first store has to be noticed.
            prot = Prot(prot.0 & !Prot::WRITE.0);
        }
        if prot.allows(Prot::EXEC) {
            self.frames.executing(page, entry.frame);
        } else if prot.allows(Prot::WRITE) {
            if access == Access::Write || !self.frames.has_code(entry.frame) {
                self.frames.storing(entry.frame);
            } else {
                prot = Prot(prot.0 & !Prot::WRITE.0);
            }
        }
        Ok(Grant { frame: entry.frame, prot })
    }

    /// The frame of the page at `addr`, if it has one.
    pub(crate) fn frame_at(&self, addr: u64) -> Option<Frame> {
        Some(self.table.get(page_down(addr))?.frame)
    }

    /// Makes the engine translate the code at `addr` again, in every address space.
    pub(crate) fn retranslate(&mut self, addr: u64) {
        self.frames.retranslate(page_down(addr));
    }

    /// The place in the engine's memory of the code at an address, if it is mapped.
    pub(crate) fn code_at(&self, addr: u64) -> Option<u64> {
        let frame = self.table.get(page_down(addr))?.frame;
        Some(frame.index() as u64 * PAGE_SIZE + addr % PAGE_SIZE)
    }

    /// Tests whether a page of the range has a frame that the guest may store to.
    pub(crate) fn is_writable(&self, addr: u64, len: u64) -> bool {
        let last = addr.saturating_add(len.saturating_sub(1));
        (page_down(addr)..=last)
            .step_by(PAGE)
            .any(|page| self.table.get(page).is_some_and(|entry| entry.prot.allows(Prot::WRITE)))
    }

    /// The file mapped at `addr`, if its bytes are known to stay.
    pub(crate) fn file_at(&self, addr: u64) -> Option<FileArea<'_>> {
        let (start, area) = self.areas.find(addr)?;
        let Backing::File { source, offset, .. } = &area.backing else { return None };
        Some(FileArea { origin: start.wrapping_sub(*offset), source, id: area.file.as_ref()? })
    }

    /// The mappings of files that may be executed, by rising address.
    pub(crate) fn executable_files(&self) -> impl Iterator<Item = (Range<u64>, FileArea<'_>)> {
        let executable = self.areas.iter().filter(|(_, area)| area.prot.allows(Prot::EXEC));
        executable.filter_map(|(start, area)| Some((start..area.end, self.file_at(start)?)))
    }

    /// Gives a page whose frame others hold too a copy of its own.
    fn copy_on_write(&mut self, page: u64, entry: PageEntry) -> Result<PageEntry, Denied> {
        let frame = self.frames.duplicate(entry.frame).inspect_err(|_| self.out_of_memory = true)?;
        // The block that stores may lie in this very page, and go on in it.
        self.frames.code_changed(entry.frame);
        self.frames.release(entry.frame);
        let entry = PageEntry { frame, fresh: false, ..entry };
        self.table.set(page, entry);
        self.frames.invalidate_page(self.loaded, page);
        Ok(entry)
    }

    /// Gives a page that was never accessed its frame.
    fn make_present(&mut self, page: u64, need: Prot) -> Result<PageEntry, Denied> {
        self.account();
        if self.areas.find(page).is_none() {
            self.grow_down(page)?;
        }
        let (start, area) = self.areas.find(page).ok_or(Denied::Unmapped)?;
        if self.table.guards.has(page) {
            return Err(Denied::Unmapped);
        }
        let prot = effective(area.prot);
        if !prot.allows(need) {
            return Err(Denied::Protected);
        }
        let distance = page - start;
        if area.userfault.is_some() && self.lacks(area, distance) {
            self.missed = area.userfault;
            return Err(Denied::Unmapped);
        }
        let (frame, shared) = match &area.backing {
            Backing::Anonymous => (self.frames.allocate()?, false),
            Backing::File { source, offset, .. } => {
                let at = offset + distance;
                let version = source.version().filter(|_| self.page_cache);
                let cached = version.and_then(|version| self.frames.cached(version, at / PAGE_SIZE));
                let frame = match cached {
                    Some(frame) => {
                        self.frames.retain(frame);
                        frame
                    }
                    None => {
                        let frame = read_page(source.as_ref(), at, &mut self.frames)?;
                        if let Some(version) = version {
                            self.frames.cache(version, at / PAGE_SIZE, frame);
                        }
                        frame
                    }
                };
                (frame, false)
            }
            Backing::Shared { object, offset } | Backing::Private { object, offset } => {
                let number = (offset + distance) / PAGE_SIZE;
                let frame =
                    self.objects.page(*object, number, &mut self.frames).map_err(|why| match why {
                        MemError::NoMemory => Denied::OutOfMemory,
                        _ => Denied::PastEnd,
                    })?;
                let frame = frame.ok_or(Denied::PastEnd)?;
                self.frames.retain(frame);
                (frame, area.is_shared())
            }
        };
        let fresh = matches!(area.backing, Backing::File { shared: false, .. });
        let entry = PageEntry { frame, prot, shared, fresh };
        self.table.set(page, entry);
        self.table.faults += 1;
        Ok(entry)
    }

    /// Extends what grows down to a page below it.
    fn grow_down(&mut self, page: u64) -> Result<(), Denied> {
        let room = self.areas.grows_to(page).filter(|_| page >= MMAP_MIN_ADDR);
        let (start, end) = room.ok_or(Denied::Unmapped)?;
        for (at, area) in self.areas.remove(start, end) {
            self.areas.insert(if at == start { page } else { at }, area);
        }
        Ok(())
    }

    /// Gives up the frames of a range, which then reads as when it was first mapped.
    pub(super) fn drop_pages(&mut self, start: u64, end: u64) {
        let AddressSpace { table, frames, loaded, .. } = self;
        table.take_range(start, end, |page, entry| {
            frames.code_unmapped(*loaded, entry.frame);
            frames.release(entry.frame);
            frames.invalidate_page(*loaded, page);
        });
    }

    /// Removes what is mapped in a range.
    pub(super) fn remove_range(&mut self, start: u64, end: u64) {
        self.drop_pages(start, end);
        self.table.guards.remove(start, end);
        let removed = self.areas.remove(start, end);
        // All mappings of an object hold one reference together; it goes with the last of them.
        let objects: BTreeSet<ObjectId> =
            removed.iter().filter_map(|(_, area)| Some(area.backing.object()?.0)).collect();
        for object in objects {
            if !self.areas.is_object_mapped(object) {
                self.objects.release(object, &mut self.frames);
            }
        }
    }
}
