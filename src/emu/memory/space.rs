//! One address space: areas, page table and break, over the frames and objects of the machine.

use crate::emu::memory::Invalidation;
use crate::emu::memory::area::{Area, Areas};
use crate::emu::memory::arena::PAGE;
use crate::emu::memory::frames::{Frame, Frames, OutOfFrames};
use crate::emu::memory::object::Objects;
use crate::emu::memory::table::{Entry, PageTable};
use crate::guest::layout::Layout;
use crate::guest::{Backing, MapRequest, Mapping, MemError, PAGE_SIZE, Prot, USER_END, page_down, page_up};

/// How a page is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Why a page cannot be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Nothing is mapped there (SEGV_MAPERR).
    Unmapped,
    /// The permissions forbid it (SEGV_ACCERR).
    Protected,
    /// Past the end of what is mapped (BUS_ADRERR).
    PastEnd,
    /// The memory limit is reached.
    OutOfMemory,
}

impl From<OutOfFrames> for Denied {
    fn from(_: OutOfFrames) -> Denied {
        Denied::OutOfMemory
    }
}

/// A page the engine may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The frame it shows.
    pub frame: Frame,
    /// What may be done without asking again.
    pub prot: Prot,
}

/// The memory of a guest process.
pub struct AddressSpace {
    pub(super) frames: Frames,
    pub(super) objects: Objects,
    pub(super) areas: Areas,
    pub(super) table: PageTable,
    pub(super) brk_start: u64,
    pub(super) brk: u64,
    /// First address that is not kept free for the heap; the break stays below it. `brk_start` where nothing is.
    pub(super) brk_reserved: u64,
    pub(super) layout: Layout,
    out_of_memory: bool,
}

/// On x86-64 a page that may be written or executed may be read.
fn effective(prot: Prot) -> Prot {
    if prot == Prot::NONE { prot } else { prot.with(Prot::READ) }
}

impl AddressSpace {
    /// An empty address space; `layout` says where mappings without an address of their own are placed.
    pub fn new(frames: Frames, layout: Layout) -> AddressSpace {
        AddressSpace {
            frames,
            objects: Objects::default(),
            areas: Areas::default(),
            table: PageTable::default(),
            brk_start: 0,
            brk: 0,
            brk_reserved: 0,
            layout,
            out_of_memory: false,
        }
    }

    /// The fixed addresses of the run.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Removes every mapping, as execve(2) does.
    pub fn clear(&mut self) {
        self.remove_range(0, USER_END);
        (self.brk_start, self.brk, self.brk_reserved) = (0, 0, 0);
    }

    /// The frames, to learn what the engine has to forget.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Takes what the engine has to forget.
    pub fn take_invalidations(&mut self) -> Vec<Invalidation> {
        std::mem::take(&mut self.frames.invalidations)
    }

    /// Whether the memory limit stopped an access since the last call.
    pub fn take_out_of_memory(&mut self) -> bool {
        std::mem::take(&mut self.out_of_memory)
    }

    /// Makes the page at `addr` present for an access and says what the engine may do with it.
    ///
    /// # Errors
    /// Why the access faults.
    pub fn touch(&mut self, addr: u64, touch: Touch) -> Result<Grant, Denied> {
        let page = page_down(addr);
        let need = match touch {
            Touch::Read => Prot::READ,
            Touch::Write => Prot::WRITE,
            Touch::Execute => Prot::EXEC,
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
            if touch == Touch::Write {
                entry = self.copy_on_write(page, entry)?;
            } else {
                prot = Prot(prot.0 & !Prot::WRITE.0);
            }
        }
        if prot.allows(Prot::EXEC) {
            self.frames.executing(entry.frame);
        } else if prot.allows(Prot::WRITE) {
            if touch == Touch::Write || !self.frames.has_code(entry.frame) {
                self.frames.storing(entry.frame);
            } else {
                prot = Prot(prot.0 & !Prot::WRITE.0);
            }
        }
        Ok(Grant { frame: entry.frame, prot })
    }

    /// Code translated from `addr` is to be made again.
    pub fn code_at_changed(&mut self, addr: u64) {
        if let Some(entry) = self.table.get(page_down(addr)) {
            self.frames.code_changed(entry.frame);
        }
    }

    /// Whether a page of the range has a frame that the guest may store to.
    pub fn is_writable(&self, addr: u64, len: u64) -> bool {
        let last = addr.saturating_add(len.saturating_sub(1));
        (page_down(addr)..=last)
            .step_by(PAGE)
            .any(|page| self.table.get(page).is_some_and(|entry| entry.prot.allows(Prot::WRITE)))
    }

    fn copy_on_write(&mut self, page: u64, entry: Entry) -> Result<Entry, Denied> {
        let frame = self.frames.duplicate(entry.frame).inspect_err(|_| self.out_of_memory = true)?;
        self.frames.code_changed(entry.frame);
        self.frames.release(entry.frame);
        let entry = Entry { frame, ..entry };
        self.table.set(page, entry);
        self.frames.invalidations.push(Invalidation::Page(page));
        Ok(entry)
    }

    fn make_present(&mut self, page: u64, need: Prot) -> Result<Entry, Denied> {
        let (start, area) = self.areas.find(page).ok_or(Denied::Unmapped)?;
        let prot = effective(area.prot);
        if !prot.allows(need) {
            return Err(Denied::Protected);
        }
        let distance = page - start;
        let (frame, shared) = match &area.backing {
            Backing::Anonymous => (self.frames.allocate()?, false),
            Backing::File { source, offset } => {
                let at = offset + distance;
                if at >= source.len() {
                    return Err(Denied::PastEnd);
                }
                let mut bytes = [0; PAGE];
                let mut done = 0;
                // A short read before the end of the file is retried; an error shows as a bus error, as on Linux.
                while done < PAGE {
                    match source.read_at(at + done as u64, &mut bytes[done..]) {
                        Ok(0) => break,
                        Ok(count) => done += count,
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                        Err(_) => return Err(Denied::PastEnd),
                    }
                }
                let frame = self.frames.allocate()?;
                self.frames.arena_mut().write(frame, 0, &bytes[..done]);
                (frame, false)
            }
            Backing::Shared { object, offset } | Backing::Private { object, offset } => {
                let number = (offset + distance) / PAGE_SIZE;
                let frame = self.objects.page(*object, number, &mut self.frames)?.ok_or(Denied::PastEnd)?;
                self.frames.retain(frame);
                (frame, area.is_shared())
            }
        };
        let entry = Entry { frame, prot, shared };
        self.table.set(page, entry);
        Ok(entry)
    }

    /// Forgets the frames of a range; they read as when first mapped.
    fn drop_pages(&mut self, start: u64, end: u64) {
        for page in self.table.pages(start, end) {
            if let Some(entry) = self.table.take(page) {
                self.frames.code_changed(entry.frame);
                self.frames.release(entry.frame);
                self.frames.invalidations.push(Invalidation::Page(page));
            }
        }
    }

    pub(super) fn remove_range(&mut self, start: u64, end: u64) {
        self.drop_pages(start, end);
        let removed = self.areas.remove(start, end);
        for (_, area) in removed {
            if let Some((object, _)) = area.backing.object() {
                self.release_if_unmapped(object);
            }
        }
    }

    /// All mappings of an object together hold one reference to it.
    fn release_if_unmapped(&mut self, object: crate::guest::ObjectId) {
        if !self.is_object_mapped(object) {
            self.objects.release(object, &mut self.frames);
        }
    }

    fn is_object_mapped(&self, wanted: crate::guest::ObjectId) -> bool {
        self.areas.iter().any(|(_, area)| area.backing.object().is_some_and(|(object, _)| object == wanted))
    }

    pub(super) fn checked_range(addr: u64, len: u64) -> Result<(u64, u64), MemError> {
        if !addr.is_multiple_of(PAGE_SIZE) {
            return Err(MemError::Invalid);
        }
        let end = page_up(len).and_then(|len| addr.checked_add(len)).ok_or(MemError::Invalid)?;
        if end > USER_END {
            return Err(MemError::NoMemory);
        }
        Ok((addr, end))
    }

    pub(super) fn map_request(&mut self, request: MapRequest) -> Result<u64, MemError> {
        let len = page_up(request.len).ok_or(MemError::NoMemory)?;
        if len == 0 {
            return Err(MemError::Invalid);
        }
        if len > USER_END {
            return Err(MemError::NoMemory);
        }
        let start = self.place(&request, len)?;
        if let Some((object, _)) = request.backing.object()
            && !self.is_object_mapped(object)
        {
            self.objects.retain(object);
        }
        self.remove_range(start, start + len);
        let MapRequest { prot, may_write, backing, file, label, .. } = request;
        self.areas.insert(start, Area { end: start + len, prot, may_write, backing, file, label, moved: 0 });
        Ok(start)
    }

    pub(super) fn unmap_range(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        let (start, end) = Self::checked_range(addr, len).map_err(|_| MemError::Invalid)?;
        if start == end {
            return Err(MemError::Invalid);
        }
        self.remove_range(start, end);
        Ok(())
    }

    pub(super) fn protect_range(&mut self, addr: u64, len: u64, prot: Prot) -> Result<(), MemError> {
        let (start, end) = Self::checked_range(addr, len)?;
        if !self.areas.covers(start, end) {
            return Err(MemError::NoMemory);
        }
        let refuses = |area: &Area| prot.allows(Prot::WRITE) && !area.may_write;
        if self.areas.overlapping(start, end).any(|(_, area)| refuses(area)) {
            return Err(MemError::Access);
        }
        self.areas.protect(start, end, prot);
        let prot = effective(prot);
        for page in self.table.pages(start, end) {
            if let Some(entry) = self.table.get(page)
                && entry.prot != prot
            {
                if entry.prot.allows(Prot::EXEC) != prot.allows(Prot::EXEC) {
                    self.frames.code_changed(entry.frame);
                }
                self.table.set(page, Entry { prot, ..entry });
                self.frames.invalidations.push(Invalidation::Page(page));
            }
        }
        Ok(())
    }

    pub(super) fn remap_range(
        &mut self,
        addr: u64,
        old_len: u64,
        new_len: u64,
        may_move: bool,
        fixed: Option<u64>,
    ) -> Result<u64, MemError> {
        let (start, old_end) = Self::checked_range(addr, old_len)?;
        let new_len = page_up(new_len).filter(|&len| len > 0 && len < USER_END).ok_or(MemError::Invalid)?;
        let old_len = old_end - start;
        let (area_start, area) = self.areas.find(start).ok_or(MemError::Fault)?;
        if old_end > area.end || old_len == 0 {
            return Err(MemError::Fault);
        }
        let mut moved = area.advanced(start - area_start);
        let area_end = area.end;
        let anonymous = matches!(area.backing, Backing::Anonymous);
        let touched = anonymous && !self.table.pages(area_start, area_end).is_empty();
        if fixed.is_none() {
            if new_len <= old_len {
                self.remove_range(start + new_len, old_end);
                return Ok(start);
            }
            let new_end = start + new_len;
            let grows = area_end == old_end && new_end <= USER_END && self.is_open(old_end, new_end);
            if grows && !self.is_joined_before(area_start) {
                self.areas.remove(start, old_end);
                self.areas.insert(start, Area { end: new_end, ..moved });
                return Ok(start);
            }
            if !may_move {
                return Err(MemError::NoMemory);
            }
        }
        let target = match fixed {
            Some(target) => {
                let (target, target_end) = Self::checked_range(target, new_len)?;
                if target < old_end && start < target_end {
                    return Err(MemError::Invalid);
                }
                // Keep a shared object alive while its only mapping is on the move.
                self.remove_range(target, target_end);
                target
            }
            None => self.find_gap(new_len)?,
        };
        if anonymous {
            moved.moved = if touched { moved.moved.wrapping_add(target.wrapping_sub(start)) } else { 0 };
        }
        self.areas.insert(target, Area { end: target + new_len, ..moved });
        for page in self.table.pages(start, start + old_len.min(new_len)) {
            if let Some(entry) = self.table.take(page) {
                self.frames.code_changed(entry.frame);
                self.table.set(target + (page - start), entry);
                self.frames.invalidations.push(Invalidation::Page(page));
            }
        }
        self.remove_range(start, old_end);
        Ok(target)
    }

    pub(super) fn discard_range(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        let (start, end) = Self::checked_range(addr, len)?;
        self.drop_pages(start, end);
        if self.areas.covers(start, end) { Ok(()) } else { Err(MemError::NoMemory) }
    }

    pub(super) fn mapping_list(&self) -> Vec<Mapping> {
        let entry = |(start, area): (u64, &Area)| Mapping {
            start,
            end: area.end,
            prot: area.prot,
            shared: area.is_shared(),
            offset: area.offset(),
            file: area.file.clone(),
            label: area.label,
        };
        self.areas.iter().map(entry).collect()
    }

    /// Pages of an object past its new end fault from now on.
    pub(super) fn forget_object_pages(&mut self, wanted: crate::guest::ObjectId, from: u64) {
        let ranges: Vec<(u64, u64)> = self
            .areas
            .iter()
            .filter_map(|(start, area)| match area.backing.object() {
                Some((object, offset)) if object == wanted => {
                    let cut = start.saturating_add(from.saturating_sub(offset));
                    (cut < area.end).then_some((cut.max(start), area.end))
                }
                _ => None,
            })
            .collect();
        for (start, end) in ranges {
            self.drop_pages(start, end);
        }
    }
}

/// The file that a page of code comes from.
pub struct FileArea<'a> {
    /// Address at which the file's first byte would be, were all of it mapped like this page.
    pub origin: u64,
    /// The file's bytes.
    pub source: &'a std::sync::Arc<dyn crate::guest::PageSource>,
    /// Its name and numbers.
    pub id: &'a crate::guest::FileId,
}

impl AddressSpace {
    /// The file mapped privately at `addr`, if any.
    pub fn file_at(&self, addr: u64) -> Option<FileArea<'_>> {
        let (start, area) = self.areas.find(addr)?;
        let Backing::File { source, offset } = &area.backing else { return None };
        Some(FileArea { origin: start.wrapping_sub(*offset), source, id: area.file.as_ref()? })
    }

    /// The mappings of files that may be executed, by rising address.
    pub fn executable_files(&self) -> impl Iterator<Item = (std::ops::Range<u64>, FileArea<'_>)> {
        let executable = self.areas.iter().filter(|(_, area)| area.prot.allows(Prot::EXEC));
        executable.filter_map(|(start, area)| Some((start..area.end, self.file_at(start)?)))
    }
}
