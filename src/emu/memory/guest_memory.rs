//! The kernel's view of an address space: copying in and out, and requests about mappings.

use std::ops::Range;
use std::sync::Arc;

use crate::emu::memory::areas::{Area, Areas, GrowthLimits};
use crate::emu::memory::arena::{Frame, PAGE};
use crate::emu::memory::space::{Access, AddressSpace, Break};
use crate::guest::{Backing, GuestMemory, MapRequest, MappedBytes, Mapping, MemError, MemoryUsage, ObjectId};
use crate::guest::{
    PAGE_SIZE, PageSource, PoolId, Prot, Remap, SpaceId, USER_END, UserfaultId, VmFlags, page_down, page_up,
};

impl AddressSpace {
    /// Splits a range at page borders and calls `each` with every piece: its frame, its offset
    /// there and its part of the range.
    fn pieces(
        &mut self,
        addr: u64,
        len: usize,
        access: Access,
        mut each: impl FnMut(&mut AddressSpace, Frame, usize, Range<usize>),
    ) -> Result<(), usize> {
        let mut done = 0;
        while done < len {
            let at = addr.checked_add(done as u64).filter(|&at| at < USER_END).ok_or(done)?;
            let grant = self.access(at, access).map_err(|_| done)?;
            let start = (at % PAGE_SIZE) as usize;
            let part = (PAGE - start).min(len - done);
            each(self, grant.frame, start, done..done + part);
            done += part;
        }
        Ok(())
    }

    /// Copies from the guest whatever the permissions, and changes nothing: pages that were never
    /// accessed read as they would at first access.
    ///
    /// # Errors
    /// The number of bytes before the first that cannot be read.
    pub(crate) fn peek(&self, addr: u64, buf: &mut [u8]) -> Result<(), usize> {
        let mut done = 0;
        while done < buf.len() {
            let at = addr.checked_add(done as u64).filter(|&at| at < USER_END).ok_or(done)?;
            let start = (at % PAGE_SIZE) as usize;
            let part = (PAGE - start).min(buf.len() - done);
            let piece = &mut buf[done..done + part];
            match self.table.get(at - start as u64) {
                Some(entry) => self.frames.arena().read(entry.frame, start, piece),
                None => self.peek_absent(at, piece).ok_or(done)?,
            }
            done += part;
        }
        Ok(())
    }

    /// Reads from a mapped page that has no frame yet.
    fn peek_absent(&self, at: u64, piece: &mut [u8]) -> Option<()> {
        let (start, area) = self.areas.find(at)?;
        piece.fill(0);
        match &area.backing {
            Backing::Anonymous => {}
            Backing::File { source, offset, .. } => {
                let from = offset + (at - start);
                if from >= page_up(source.len())? {
                    return None;
                }
                source.read_to_end(from, piece).ok()?;
            }
            Backing::Shared { object, offset } | Backing::Private { object, offset } => {
                let from = offset + (at - start);
                if from >= page_up(self.objects.len(*object))? {
                    return None;
                }
                self.objects.read(*object, from, piece, &self.frames).ok()?;
            }
        }
        Some(())
    }

    /// Reads the bytes of code at `addr`, as many as can be executed; never faults.
    pub(crate) fn fetch<'b>(&mut self, addr: u64, buf: &'b mut [u8]) -> &'b [u8] {
        let len = buf.len();
        let result = self.pieces(addr, len, Access::Execute, |space, frame, start, range| {
            space.frames.arena().read(frame, start, &mut buf[range]);
        });
        &buf[..result.err().unwrap_or(len)]
    }
}

impl GuestMemory for AddressSpace {
    fn fork(&mut self, child: SpaceId) -> Result<(), MemError> {
        self.fork_space(child)
    }

    fn drop_space(&mut self, space: SpaceId) {
        self.free_space(space);
    }

    fn in_space(&mut self, space: SpaceId, f: &mut dyn FnMut(&mut dyn GuestMemory)) {
        self.within(space, |mem| f(mem));
    }

    fn read(&mut self, addr: u64, buf: &mut [u8]) -> Result<(), usize> {
        self.pieces(addr, buf.len(), Access::Read, |space, frame, start, range| {
            space.frames.arena().read(frame, start, &mut buf[range]);
        })
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), usize> {
        self.pieces(addr, bytes.len(), Access::Write, |space, frame, start, range| {
            // The engine does not see this store, not even in an executable page.
            space.frames.code_changed(frame);
            space.frames.arena_mut().write(frame, start, &bytes[range]);
        })
    }

    fn map(&mut self, request: MapRequest) -> Result<u64, MemError> {
        self.map_request(request)
    }

    fn unmap(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        self.unmap_range(addr, len)
    }

    fn protect(&mut self, addr: u64, len: u64, prot: Prot) -> Result<(), MemError> {
        self.protect_range(addr, len, prot)
    }

    fn remap(&mut self, request: Remap) -> Result<u64, MemError> {
        self.remap_range(request)
    }

    fn change_flags(&mut self, addr: u64, len: u64, set: VmFlags, clear: VmFlags) -> Result<(), MemError> {
        self.change_range(addr, len, set, clear)
    }

    fn set_name(&mut self, addr: u64, len: u64, name: Option<Arc<str>>) -> Result<(), MemError> {
        self.name_range(addr, len, name)
    }

    fn limit_growth(&mut self, stack: u64, total: u64) {
        self.areas.limits = GrowthLimits { stack, total };
    }

    fn usage(&self) -> MemoryUsage {
        let (mapped, mapped_peak) = self.areas.mapped();
        let (present, peak) = self.table.present();
        let (resident, resident_peak) = (present * PAGE_SIZE, peak * PAGE_SIZE);
        MemoryUsage { resident, resident_peak, mapped, mapped_peak, faults: self.table.faults }
    }

    fn populate(&mut self, addr: u64, len: u64, write: bool) -> Result<(), MemError> {
        self.populate_range(addr, len, write)
    }

    fn is_resident(&self, addr: u64) -> bool {
        self.is_page_resident(addr)
    }

    fn discard(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        self.discard_range(addr, len)
    }

    fn guard(&mut self, addr: u64, len: u64, install: bool) -> Result<(), MemError> {
        self.guard_range(addr, len, install)
    }

    fn register(&mut self, addr: u64, len: u64, userfault: Option<UserfaultId>) -> Result<(), MemError> {
        self.register_range(addr, len, userfault)
    }

    fn missing(&self, addr: u64, access: Prot) -> Option<UserfaultId> {
        self.missing_at(addr, access)
    }

    fn take_missed(&mut self) -> Option<UserfaultId> {
        self.missed.take()
    }

    fn fill(&mut self, addr: u64, page: &[u8; PAGE]) -> Result<(), MemError> {
        self.fill_page(addr, page)
    }

    fn brk(&mut self, addr: u64) -> u64 {
        self.move_brk(addr)
    }

    fn heap(&self) -> (u64, u64) {
        (self.brk.start, self.brk.end)
    }

    fn set_heap(&mut self, (start, end): (u64, u64)) {
        // What is kept free for a heap is of use to one within it alone.
        let Break { start: first, reserved, .. } = self.brk;
        let within = first <= start && end <= reserved;
        self.brk = Break { start, end, reserved: if within { reserved } else { start } };
    }

    fn mappings(&self) -> Vec<Mapping> {
        self.mapping_list()
    }

    fn present_pages(&self, start: u64, end: u64) -> Vec<u64> {
        self.table.pages(start, end)
    }

    fn next_mapping(&self, addr: u64) -> Option<Mapping> {
        self.mapping_from(addr)
    }

    fn mapped_bytes(&self) -> MappedBytes {
        self.areas.mapped_bytes()
    }

    fn backing(&self, addr: u64) -> Option<Backing> {
        self.areas.find(addr).map(|(start, area)| area.advanced(addr - start).backing)
    }

    fn is_mapped(&self, addr: u64, len: u64) -> bool {
        page_up(len).and_then(|len| addr.checked_add(len)).is_some_and(|end| self.areas.covers(addr, end))
    }

    fn resident(&self) -> u64 {
        self.frames.in_use() as u64 * PAGE_SIZE
    }

    fn charge(&mut self, kernel: u64) -> Result<(), MemError> {
        self.charge_kernel(kernel)
    }

    fn object_create(&mut self, len: u64, base: Option<(Arc<dyn PageSource>, u64)>) -> ObjectId {
        self.objects.create(len, base)
    }

    fn is_file_viewed(&self, device: u64, inode: u64) -> bool {
        self.all_areas().any(|areas| areas.of_file(device, inode).next().is_some())
    }

    fn has_writer(&self, device: u64, inode: u64) -> bool {
        self.all_areas().any(|areas| areas.has_writer(device, inode))
    }

    fn is_object_stored_to(&self, object: ObjectId) -> bool {
        let stored_to = |(_, area): (u64, &Area)| area.is_shared() && area.may_write;
        self.all_areas().any(|areas| areas.of_object(object).any(stored_to))
    }

    fn object_take_views(&mut self, object: ObjectId, device: u64, inode: u64) {
        let shows = |areas: &Areas| areas.of_file(device, inode).next().is_some();
        self.for_each_space(shows, |memory| memory.turn_views(device, inode, object));
    }

    fn object_release(&mut self, object: ObjectId) {
        self.objects.release(object, &mut self.frames);
    }

    fn object_views(&self, object: ObjectId) -> usize {
        self.all_areas().map(|areas| areas.of_object(object).count()).sum()
    }

    fn object_len(&self, object: ObjectId) -> u64 {
        self.objects.len(object)
    }

    fn object_resize(&mut self, object: ObjectId, len: u64) -> Result<(), MemError> {
        let keep = page_up(len).ok_or(MemError::Invalid)?;
        let maps = |areas: &Areas| areas.is_object_mapped(object);
        self.for_each_space(maps, |memory| memory.forget_object_pages(object, keep, u64::MAX, true));
        self.objects.resize(object, len, &mut self.frames);
        Ok(())
    }

    fn object_read(&mut self, object: ObjectId, offset: u64, buf: &mut [u8]) -> Result<usize, MemError> {
        self.objects.read(object, offset, buf, &self.frames)
    }

    fn object_write(&mut self, object: ObjectId, offset: u64, bytes: &[u8]) -> Result<usize, MemError> {
        self.account();
        let result = self.objects.write(object, offset, bytes, &mut self.frames);
        self.out_of_memory |= result == Err(MemError::NoMemory);
        result
    }

    fn object_punch(&mut self, object: ObjectId, offset: u64, len: u64) -> Result<(), MemError> {
        let end = page_down(offset.saturating_add(len));
        if let Some(start) = page_up(offset).filter(|start| *start < end) {
            let maps = |areas: &Areas| areas.is_object_mapped(object);
            self.for_each_space(maps, |memory| memory.forget_object_pages(object, start, end, false));
        }
        let result = self.objects.punch(object, offset, len, &mut self.frames);
        self.out_of_memory |= result == Err(MemError::NoMemory);
        result
    }

    fn object_join(&mut self, object: ObjectId, pool: PoolId) {
        self.objects.join(object, pool);
    }

    fn object_pages(&self, object: ObjectId) -> u64 {
        self.objects.count(object)
    }

    fn object_reserve(&mut self, object: ObjectId, offset: u64, len: u64) -> Result<(), MemError> {
        let end = offset.saturating_add(len).div_ceil(PAGE_SIZE);
        self.objects.reserve(object, offset / PAGE_SIZE, end)
    }

    fn pool_bound(&mut self, pool: PoolId, most: u64) {
        self.objects.pools.bound(pool, most);
    }

    fn pool_used(&self, pool: PoolId) -> u64 {
        self.objects.pools.used(pool)
    }

    fn pool_take(&mut self, pool: PoolId) -> Result<(), MemError> {
        self.objects.pools.take(Some(pool), 1)
    }

    fn pool_give(&mut self, pool: PoolId) {
        self.objects.pools.give(Some(pool), 1);
    }

    fn object_next_page(&self, object: ObjectId, offset: u64) -> Option<u64> {
        self.objects.next_page(object, offset)
    }
}
