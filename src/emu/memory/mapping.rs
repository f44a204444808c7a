//! Requests about mappings: mmap(2), munmap(2), mprotect(2), mremap(2) and madvise(2).

use std::sync::Arc;

use crate::abi::mm::MAX_MAP_COUNT;
use crate::emu::memory::areas::Area;
use crate::emu::memory::placement::checked_range;
use crate::emu::memory::space::{Access, AddressSpace, Denied, effective};
use crate::guest::{
    Backing, MapRequest, Mapping, MemError, ObjectId, PAGE_SIZE, Prot, Remap, USER_END, VmFlags, page_down,
    page_up,
};

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
        if self.areas.len() > MAX_MAP_COUNT {
            return Err(MemError::NoMemory);
        }
        let start = self.place(&request, len)?;
        self.may_cut(start, start + len)?;
        // What is replaced may be the last mapping of the same object.
        let object = request.backing.object().map(|(object, _)| object);
        object.inspect(|object| self.objects.retain(*object));
        self.remove_range(start, start + len);
        let counted = object.filter(|object| self.areas.is_object_mapped(*object));
        let MapRequest { prot, may_write, backing, file, label, flags, .. } = request;
        if prot.allows(Prot::EXEC) && file.is_some() {
            self.code_mappings += 1;
        }
        let (end, name, moved) = (start + len, None, 0);
        let userfault = None;
        let area = Area { end, prot, may_write, backing, file, label, name, moved, flags, userfault };
        self.areas.insert(start, area);
        if let Some(object) = counted {
            self.objects.release(object, &mut self.frames);
        }
        Ok(start)
    }

    /// Unmaps a range, munmap(2).
    pub(super) fn unmap_range(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len).map_err(|_| MemError::Invalid)?;
        if start == end {
            return Err(MemError::Invalid);
        }
        self.may_cut(start, end)?;
        self.remove_range(start, end);
        Ok(())
    }

    /// Checks that a range may be cut out of what is mapped: once there are as many mappings as
    /// there may be, none may become two.
    fn may_cut(&self, start: u64, end: u64) -> Result<(), MemError> {
        let in_the_middle = |(from, area): (u64, &Area)| from < start && end < area.end;
        if self.areas.len() >= MAX_MAP_COUNT && self.areas.find(start).is_some_and(in_the_middle) {
            return Err(MemError::NoMemory);
        }
        Ok(())
    }

    /// Changes the permissions of a range up to what does not allow it, mprotect(2).
    pub(super) fn protect_range(&mut self, addr: u64, len: u64, prot: Prot) -> Result<(), MemError> {
        let (start, wanted) = checked_range(addr, len)?;
        let allows = |area: &Area| {
            (area.may_write || !prot.allows(Prot::WRITE))
                && !(area.flags.has(VmFlags::NEVER_EXEC) && prot.allows(Prot::EXEC))
        };
        let end = self.areas.reach(start, wanted, allows);
        if !self.areas.update(start, end, |area| area.prot = prot) {
            return Err(MemError::NoMemory);
        }
        let effective = effective(prot);
        let AddressSpace { table, frames, loaded, .. } = self;
        table.change_range(start, end, |page, entry| {
            if entry.prot != effective {
                if entry.prot.allows(Prot::EXEC) != effective.allows(Prot::EXEC) {
                    frames.code_unmapped(*loaded, entry.frame);
                }
                entry.prot = effective;
                frames.invalidate_page(*loaded, page);
            }
        });
        match self.areas.find(end) {
            _ if end == wanted => Ok(()),
            Some(_) => Err(MemError::Access),
            None => Err(MemError::NoMemory),
        }
    }

    /// Resizes or moves a mapping, mremap(2).
    pub(super) fn remap_range(&mut self, request: Remap) -> Result<u64, MemError> {
        let Remap { addr: start, may_move, fixed, keep, .. } = request;
        let new_len =
            page_up(request.new_len).filter(|&len| len > 0 && len < USER_END).ok_or(MemError::Invalid)?;
        let old_len = page_up(request.old_len).ok_or(MemError::Invalid)?;
        if !start.is_multiple_of(PAGE_SIZE) {
            return Err(MemError::Invalid);
        }
        let (area_start, area) = self.areas.find(start).ok_or(MemError::Fault)?;
        if old_len == 0 && !area.is_shared() {
            return Err(MemError::Invalid);
        }
        let old_end = start.checked_add(old_len).ok_or(MemError::Invalid)?;
        if fixed.is_none() && !keep && old_len >= new_len {
            // What is cut off need not be there.
            self.remove_range(start + new_len, old_end);
            return Ok(start);
        }
        if old_end > area.end {
            return Err(MemError::Fault);
        }
        let mut moved = area.advanced(start - area_start);
        let area_end = area.end;
        let anonymous = matches!(area.backing, Backing::Anonymous);
        let touched = anonymous && !self.table.pages(area_start, area_end).is_empty();
        let duplicates = old_len == 0;
        if fixed.is_none() && !duplicates && !keep {
            let new_end = start + new_len;
            let grows = area_end == old_end && new_end <= USER_END && self.is_open(old_end, new_end);
            if grows && !self.is_joined_before(area_start) {
                self.areas.remove(start, old_end);
                self.areas.insert(start, Area { end: new_end, ..moved });
                return Ok(start);
            }
        }
        if fixed.is_none() && !may_move {
            return Err(MemError::NoMemory);
        }
        if self.areas.len() + 3 >= MAX_MAP_COUNT {
            return Err(MemError::NoMemory);
        }
        let target = match fixed {
            Some(target) => {
                let (target, target_end) = checked_range(target, new_len).map_err(|_| MemError::Invalid)?;
                if target < old_end && start < target_end {
                    return Err(MemError::Invalid);
                }
                self.remove_range(target, target_end);
                target
            }
            None => self.find_gap(new_len)?,
        };
        if anonymous {
            moved.moved = if touched { moved.moved.wrapping_add(target.wrapping_sub(start)) } else { 0 };
        }
        // Linux does not count both.
        let (_, peak) = self.areas.mapped();
        // The new area keeps a shared object alive when the old one goes.
        self.areas.insert(target, Area { end: target + new_len, userfault: None, ..moved });
        let AddressSpace { table, frames, loaded, .. } = self;
        let mut entries = Vec::new();
        table.take_range(start, start + old_len.min(new_len), |page, entry| {
            frames.code_unmapped(*loaded, entry.frame);
            frames.invalidate_page(*loaded, page);
            entries.push((target + (page - start), entry));
        });
        entries.into_iter().for_each(|(page, entry)| table.set(page, entry));
        for (from, to) in table.guards.remove(start, start + old_len.min(new_len)) {
            table.guards.add(target + (from - start), target + (to - start));
        }
        if keep {
            self.areas.update(start, old_end, |area| area.flags = area.flags.without(VmFlags::LOCKS));
        } else if !duplicates {
            self.remove_range(start, old_end);
            self.areas.set_mapped_peak(peak);
        }
        Ok(target)
    }

    /// Sets and clears properties of what is mapped in a range, up to the first hole.
    pub(super) fn change_range(
        &mut self,
        addr: u64,
        len: u64,
        set: VmFlags,
        clear: VmFlags,
    ) -> Result<(), MemError> {
        let (start, wanted) = checked_range(addr, len)?;
        let end = self.areas.reach(start, wanted, |_| true);
        let cut = self.areas.update(start, end, |area| area.flags = area.flags.without(clear).with(set));
        if cut && end == wanted { Ok(()) } else { Err(MemError::NoMemory) }
    }

    /// Names the areas of a range.
    pub(super) fn name_range(&mut self, addr: u64, len: u64, name: Option<Arc<str>>) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len)?;
        let cut = self.areas.update(start, end, |area| area.name = name.clone());
        if cut { Ok(()) } else { Err(MemError::NoMemory) }
    }

    /// Gives the pages of a range their frames.
    pub(super) fn populate_range(&mut self, addr: u64, len: u64, write: bool) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len)?;
        let need = if write { Access::Write } else { Access::Read };
        for page in (start..end).step_by(PAGE_SIZE as usize) {
            if self.areas.find(page).is_none() {
                return Err(MemError::NoMemory); // nothing grows down for this
            }
            let before = self.out_of_memory;
            let result = self.access(page, need);
            self.out_of_memory = before;
            result.map_err(|denied| match denied {
                Denied::Unmapped | Denied::OutOfMemory => MemError::NoMemory,
                Denied::Protected => MemError::Access,
                Denied::PastEnd => MemError::Fault,
            })?;
        }
        Ok(())
    }

    /// Tests whether a page is in memory: touched, or in the page cache.
    pub(super) fn is_page_resident(&self, addr: u64) -> bool {
        let Some((start, area)) = self.areas.find(addr) else { return false };
        let page = page_down(addr);
        self.table.get(page).is_some()
            || match &area.backing {
                Backing::Anonymous => false,
                Backing::File { .. } => true,
                Backing::Shared { object, offset } | Backing::Private { object, offset } => {
                    self.objects.is_cached(*object, offset + (page - start))
                }
            }
    }

    /// Drops the contents of a range, MADV_DONTNEED of madvise(2).
    pub(super) fn discard_range(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len)?;
        self.drop_pages(start, end);
        if self.areas.covers(start, end) { Ok(()) } else { Err(MemError::NoMemory) }
    }

    /// Makes every access to a range fault, MADV_GUARD_INSTALL of madvise(2), or no more.
    pub(super) fn guard_range(&mut self, addr: u64, len: u64, install: bool) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len)?;
        if install {
            self.drop_pages(start, end);
            self.table.guards.add(start, end);
        } else {
            self.table.guards.remove(start, end);
        }
        Ok(())
    }

    /// Lists the mappings, as /proc/self/maps does.
    pub(super) fn mapping_list(&self) -> Vec<Mapping> {
        self.areas.iter().map(|(start, area)| area.mapping(start)).collect()
    }

    /// The first mapping that ends behind an address.
    pub(super) fn mapping_from(&self, addr: u64) -> Option<Mapping> {
        let (start, area) = self.areas.overlapping(addr, u64::MAX).next()?;
        Some(area.mapping(start))
    }

    /// Makes the views of a file mappings of an object, which their pages then come from. Pages of
    /// private ones that were stored to stay.
    pub(super) fn turn_views(&mut self, device: u64, inode: u64, object: ObjectId) {
        let of_file = self.areas.of_file(device, inode);
        let views: Vec<(u64, u64, bool)> =
            of_file.map(|(start, area)| (start, area.end, area.is_shared())).collect();
        if !views.is_empty() && !self.areas.is_object_mapped(object) {
            self.objects.retain(object);
        }
        for (start, end, shared) in views {
            for page in self.table.pages(start, end) {
                if shared || self.table.get(page).is_some_and(|entry| entry.fresh) {
                    self.drop_pages(page, page + PAGE_SIZE);
                }
            }
            // Nothing is cut, so there are not more areas than before.
            self.areas.update(start, end, |area| {
                let offset = area.offset();
                area.backing = match shared {
                    true => Backing::Shared { object, offset },
                    false => Backing::Private { object, offset },
                };
            });
        }
    }

    /// Drops the mapped pages of an object in a range of whole pages, so that they are asked for
    /// again once it is shorter or has a hole there. A hole leaves private copies alone.
    pub(super) fn forget_object_pages(&mut self, wanted: ObjectId, from: u64, to: u64, copies: bool) {
        let mut pages = Vec::new();
        for (start, area) in self.areas.of_object(wanted) {
            let Some((_, offset)) = area.backing.object() else { continue };
            let first = start.saturating_add(from.saturating_sub(offset));
            let end = start.saturating_add(to.saturating_sub(offset)).min(area.end);
            let is_copy = |page: &u64| {
                let number = (offset + (page - start)) / PAGE_SIZE;
                self.table.get(*page).map(|entry| entry.frame) != self.objects.touched(wanted, number)
            };
            pages.extend(self.table.pages(first, end).into_iter().filter(|page| copies || !is_copy(page)));
        }
        for run in pages.chunk_by(|a, b| a + PAGE_SIZE == *b) {
            self.drop_pages(run[0], run[0] + run.len() as u64 * PAGE_SIZE);
        }
    }
}
