//! Requests about mappings: mmap(2), munmap(2), mprotect(2), mremap(2) and madvise(2).

use crate::emu::memory::areas::Area;
use crate::emu::memory::frames::Invalidation;
use crate::emu::memory::page_table::PageEntry;
use crate::emu::memory::placement::checked_range;
use crate::emu::memory::space::{AddressSpace, effective};
use crate::guest::{Backing, MapRequest, Mapping, MemError, ObjectId, PAGE_SIZE, Prot, USER_END, page_up};

impl AddressSpace {
    /// Maps as mmap(2) does, replacing what is there.
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
            && !self.areas.is_object_mapped(object)
        {
            self.objects.retain(object);
        }
        self.remove_range(start, start + len);
        let MapRequest { prot, may_write, backing, file, label, .. } = request;
        self.areas.insert(start, Area { end: start + len, prot, may_write, backing, file, label, moved: 0 });
        Ok(start)
    }

    /// Unmaps a range, munmap(2).
    pub(super) fn unmap_range(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len).map_err(|_| MemError::Invalid)?;
        if start == end {
            return Err(MemError::Invalid);
        }
        self.remove_range(start, end);
        Ok(())
    }

    /// Changes the permissions of a range, mprotect(2).
    pub(super) fn protect_range(&mut self, addr: u64, len: u64, prot: Prot) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len)?;
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
                self.table.set(page, PageEntry { prot, ..entry });
                self.frames.invalidate(Invalidation::Page(page));
            }
        }
        Ok(())
    }

    /// Resizes or moves a mapping, mremap(2).
    pub(super) fn remap_range(
        &mut self,
        addr: u64,
        old_len: u64,
        new_len: u64,
        may_move: bool,
        fixed: Option<u64>,
    ) -> Result<u64, MemError> {
        let (start, old_end) = checked_range(addr, old_len)?;
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
                let (target, target_end) = checked_range(target, new_len)?;
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
                self.frames.invalidate(Invalidation::Page(page));
            }
        }
        self.remove_range(start, old_end);
        Ok(target)
    }

    /// Drops the contents of a range, MADV_DONTNEED of madvise(2).
    pub(super) fn discard_range(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len)?;
        self.drop_pages(start, end);
        if self.areas.covers(start, end) { Ok(()) } else { Err(MemError::NoMemory) }
    }

    /// Lists the mappings, as /proc/self/maps does.
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

    /// Drops the mapped pages of an object in a range of whole pages, so that they are asked for
    /// again once it is shorter or has a hole there. A hole leaves private copies alone.
    pub(super) fn forget_object_pages(&mut self, wanted: ObjectId, from: u64, to: u64, copies: bool) {
        let mut pages = Vec::new();
        for (start, area) in self.areas.iter() {
            let Some((_, offset)) = area.backing.object().filter(|(object, _)| *object == wanted) else {
                continue;
            };
            let first = start.saturating_add(from.saturating_sub(offset));
            let end = start.saturating_add(to.saturating_sub(offset)).min(area.end);
            let is_copy = |page: &u64| {
                let number = (offset + (page - start)) / PAGE_SIZE;
                self.table.get(*page).map(|entry| entry.frame) != self.objects.touched(wanted, number)
            };
            pages.extend(self.table.pages(first, end).into_iter().filter(|page| copies || !is_copy(page)));
        }
        for page in pages {
            self.drop_pages(page, page + PAGE_SIZE);
        }
    }
}
