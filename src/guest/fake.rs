//! A CPU and a memory for unit tests: registers in an array, pages in a map, and the rules of
//! `guest` in their simplest form.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::guest::cpu::{Gpr, GuestCpu};
use crate::guest::memory::{
    Backing, FileId, GuestMemory, MapRequest, MappedBytes, Mapping, MemError, MemoryUsage, ObjectId,
    PageSource, Place, PoolId, Prot, Remap, SpaceId, UserfaultId, VmFlags,
};
use crate::guest::page::{PAGE_SIZE, USER_END};

/// Registers.
pub(crate) struct FakeCpu {
    pub gprs: [u64; 16],
    pub rip: u64,
    pub rflags: u64,
    pub fs_base: u64,
    pub gs_base: u64,
    pub fpu: [u8; 512],
    pub instructions: u64,
}

impl FakeCpu {
    pub(crate) fn new() -> FakeCpu {
        FakeCpu {
            gprs: [0; 16],
            rip: 0x40_1000,
            rflags: 0x202,
            fs_base: 0,
            gs_base: 0,
            fpu: [0; 512],
            instructions: 0,
        }
    }
}

impl GuestCpu for FakeCpu {
    fn gpr(&self, reg: Gpr) -> u64 {
        self.gprs[reg as usize]
    }
    fn set_gpr(&mut self, reg: Gpr, value: u64) {
        self.gprs[reg as usize] = value;
    }
    fn rip(&self) -> u64 {
        self.rip
    }
    fn set_rip(&mut self, value: u64) {
        self.rip = value;
    }
    fn rflags(&self) -> u64 {
        self.rflags
    }
    fn set_rflags(&mut self, value: u64) {
        self.rflags = value;
    }
    fn fs_base(&self) -> u64 {
        self.fs_base
    }
    fn set_fs_base(&mut self, value: u64) {
        self.fs_base = value;
    }
    fn gs_base(&self) -> u64 {
        self.gs_base
    }
    fn set_gs_base(&mut self, value: u64) {
        self.gs_base = value;
    }
    fn fpu(&self) -> Box<[u8; 512]> {
        Box::new(self.fpu)
    }
    fn set_fpu(&mut self, image: &[u8; 512]) {
        self.fpu = *image;
    }
    fn instructions(&mut self) -> u64 {
        self.instructions
    }
    fn set_counting(&mut self, _counting: bool) -> bool {
        false
    }
}

#[derive(Clone)]
enum Store {
    Private(Vec<u8>),
    Shared(ObjectId, u64),
}

#[derive(Clone)]
struct Page {
    prot: Prot,
    store: Store,
    file: Option<(FileId, u64)>,
    label: Option<&'static str>,
    flags: VmFlags,
}

/// An address space.
#[derive(Clone, Default)]
struct Space {
    pages: BTreeMap<u64, Page>,
    brk_start: u64,
    brk: u64,
}

/// Pages by address. Private file pages are copied when mapped.
#[derive(Clone, Default)]
pub(crate) struct FakeMemory {
    space: Space,
    objects: Vec<Option<(Vec<u8>, u32)>>,
    /// Pages that are used, and the most that may be.
    pools: BTreeMap<PoolId, (u64, u64)>,
    /// The spaces that are not in use.
    others: BTreeMap<SpaceId, Space>,
}

/// End of mappings without an address, which go downwards.
const TOP: u64 = 0x7000_0000_0000;

/// The longest mapping it makes.
const MEMORY_MAX: u64 = 64 << 20;

impl FakeMemory {
    pub(crate) fn new() -> FakeMemory {
        let space = Space { brk_start: 0x60_0000, brk: 0x60_0000, ..Space::default() };
        FakeMemory { space, ..FakeMemory::default() }
    }

    /// Maps zeroed, readable and writable pages at an address.
    pub(crate) fn anonymous(&mut self, addr: u64, len: u64) {
        let _ = self.map(MapRequest {
            addr,
            len,
            prot: Prot::RW,
            may_write: true,
            place: Place::Fixed,
            backing: Backing::Anonymous,
            file: None,
            label: None,
            flags: VmFlags::NONE,
        });
    }

    fn object(&mut self, object: ObjectId) -> &mut (Vec<u8>, u32) {
        self.objects[object.0 as usize].as_mut().expect("a live object")
    }

    /// Hands the bytes at an address to `each` in pieces of a page at most, with their place in the
    /// copy.
    fn copy(
        &mut self,
        addr: u64,
        need: Prot,
        len: usize,
        mut each: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), usize> {
        let mut done = 0;
        while done < len {
            let byte = addr.wrapping_add(done as u64);
            let within = (byte % PAGE_SIZE) as usize;
            let count = (PAGE_SIZE as usize - within).min(len - done);
            let page = self.space.pages.get_mut(&(byte - within as u64)).filter(|page| {
                let readable = if page.prot == Prot::NONE { Prot::NONE } else { Prot::READ };
                page.prot.with(readable).allows(need)
            });
            match page.map(|page| &mut page.store) {
                None => return Err(done),
                Some(Store::Private(bytes)) => each(done, &mut bytes[within..within + count]),
                Some(Store::Shared(object, offset)) => {
                    let (object, from) = (*object, *offset as usize + within);
                    let bytes = &mut self.object(object).0;
                    let there = bytes.len().saturating_sub(from).min(count);
                    if there > 0 {
                        each(done, &mut bytes[from..from + there]);
                    }
                    // The rest of the last page reads as zero; a page past it is not there.
                    if there < count && bytes.len().next_multiple_of(PAGE_SIZE as usize) < from + count {
                        return Err(done + there);
                    }
                    each(done + there, &mut vec![0; count - there]);
                }
            }
            done += count;
        }
        Ok(())
    }

    fn drop_page(&mut self, addr: u64) {
        if let Some(Page { store: Store::Shared(object, _), .. }) = self.space.pages.remove(&addr) {
            self.object_release(object);
        }
    }

    fn range(addr: u64, len: u64) -> impl Iterator<Item = u64> {
        (addr..addr + len.next_multiple_of(PAGE_SIZE)).step_by(PAGE_SIZE as usize)
    }

    fn find_gap(&self, len: u64) -> u64 {
        let mut end = TOP;
        for start in self.space.pages.keys().rev().filter(|start| **start < TOP) {
            if end - (start + PAGE_SIZE) >= len {
                break;
            }
            end = *start;
        }
        end - len
    }
}

impl FakeMemory {
    /// Loads another address space in the place of the one that is loaded.
    pub(crate) fn load(&mut self, from: SpaceId, to: SpaceId) {
        if from != to {
            let other = self.others.remove(&to).unwrap_or_default();
            let here = std::mem::replace(&mut self.space, other);
            self.others.insert(from, here);
        }
    }
}

impl GuestMemory for FakeMemory {
    fn read(&mut self, addr: u64, buf: &mut [u8]) -> Result<(), usize> {
        self.copy(addr, Prot::READ, buf.len(), |at, from| buf[at..at + from.len()].copy_from_slice(from))
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), usize> {
        self.copy(addr, Prot::WRITE, bytes.len(), |at, to| to.copy_from_slice(&bytes[at..at + to.len()]))
    }

    fn map(&mut self, request: MapRequest) -> Result<u64, MemError> {
        if request.len > MEMORY_MAX {
            return Err(MemError::NoMemory);
        }
        let len = request.len.next_multiple_of(PAGE_SIZE);
        let free = request.addr != 0
            && !Self::range(request.addr, len).any(|page| self.space.pages.contains_key(&page));
        let addr = match request.place {
            Place::Fixed => request.addr,
            Place::FixedNoReplace if free => request.addr,
            Place::FixedNoReplace => return Err(MemError::Exists),
            Place::Hint if free => request.addr,
            Place::Hint => self.find_gap(len),
        };
        if !addr.is_multiple_of(PAGE_SIZE) || len == 0 || addr > USER_END - len {
            return Err(MemError::Invalid);
        }
        for page in Self::range(addr, len) {
            self.drop_page(page);
            let within = page - addr;
            let (store, offset) = match &request.backing {
                Backing::Anonymous => (Store::Private(vec![0; PAGE_SIZE as usize]), 0),
                Backing::File { source, offset, .. } => {
                    let mut bytes = vec![0; PAGE_SIZE as usize];
                    let _ = source.read_at(offset + within, &mut bytes);
                    (Store::Private(bytes), offset + within)
                }
                Backing::Private { object, offset } => {
                    let mut bytes = vec![0; PAGE_SIZE as usize];
                    let _ = self.object_read(*object, offset + within, &mut bytes);
                    (Store::Private(bytes), offset + within)
                }
                Backing::Shared { object, offset } => {
                    self.object(*object).1 += 1;
                    (Store::Shared(*object, offset + within), offset + within)
                }
            };
            let file = request.file.clone().map(|file| (file, offset));
            let MapRequest { prot, label, flags, .. } = request;
            self.space.pages.insert(page, Page { prot, store, file, label, flags });
        }
        Ok(addr)
    }

    fn unmap(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        let doomed: Vec<u64> = self.space.pages.range(addr..addr + len).map(|(page, _)| *page).collect();
        for page in doomed {
            self.drop_page(page);
        }
        Ok(())
    }

    fn protect(&mut self, addr: u64, len: u64, prot: Prot) -> Result<(), MemError> {
        for page in Self::range(addr, len) {
            self.space.pages.get_mut(&page).ok_or(MemError::NoMemory)?.prot = prot;
        }
        Ok(())
    }

    fn remap(&mut self, request: Remap) -> Result<u64, MemError> {
        let Remap { addr, old_len, new_len, may_move, fixed, .. } = request;
        if !self.is_mapped(addr, old_len.max(1)) {
            return Err(MemError::Fault);
        }
        if fixed.is_none() && new_len <= old_len {
            self.unmap(addr + new_len, old_len - new_len)?;
            return Ok(addr);
        }
        if !may_move || new_len > MEMORY_MAX {
            return Err(MemError::NoMemory);
        }
        let to = fixed.unwrap_or_else(|| self.find_gap(new_len));
        self.anonymous(to, new_len);
        for page in Self::range(0, old_len.min(new_len)) {
            let moved = self.space.pages.remove(&(addr + page)).ok_or(MemError::Fault)?;
            self.space.pages.insert(to + page, moved);
        }
        self.unmap(addr, old_len)?;
        Ok(to)
    }

    fn change_flags(&mut self, addr: u64, len: u64, set: VmFlags, clear: VmFlags) -> Result<(), MemError> {
        for page in Self::range(addr, len) {
            let flags = &mut self.space.pages.get_mut(&page).ok_or(MemError::NoMemory)?.flags;
            *flags = flags.without(clear).with(set);
        }
        Ok(())
    }

    fn set_name(&mut self, _addr: u64, _len: u64, _name: Option<Arc<str>>) -> Result<(), MemError> {
        Ok(())
    }

    fn limit_growth(&mut self, _stack: u64, _total: u64) {}

    fn usage(&self) -> MemoryUsage {
        let bytes = self.space.pages.len() as u64 * PAGE_SIZE;
        MemoryUsage {
            resident: bytes,
            resident_peak: bytes,
            mapped: bytes,
            mapped_peak: bytes,
            faults: bytes / PAGE_SIZE,
        }
    }

    fn populate(&mut self, addr: u64, len: u64, _write: bool) -> Result<(), MemError> {
        if self.is_mapped(addr, len) { Ok(()) } else { Err(MemError::NoMemory) }
    }

    fn is_resident(&self, addr: u64) -> bool {
        self.is_mapped(addr, 1)
    }

    fn guard(&mut self, _addr: u64, _len: u64, _install: bool) -> Result<(), MemError> {
        Ok(())
    }

    fn register(&mut self, _addr: u64, _len: u64, _id: Option<UserfaultId>) -> Result<(), MemError> {
        Ok(())
    }

    fn missing(&self, _addr: u64, _access: Prot) -> Option<UserfaultId> {
        None
    }

    fn take_missed(&mut self) -> Option<UserfaultId> {
        None
    }

    fn fill(&mut self, _addr: u64, _page: &[u8; PAGE_SIZE as usize]) -> Result<(), MemError> {
        Err(MemError::Exists)
    }

    fn discard(&mut self, addr: u64, len: u64) -> Result<(), MemError> {
        for page in Self::range(addr, len) {
            if let Store::Private(bytes) =
                &mut self.space.pages.get_mut(&page).ok_or(MemError::NoMemory)?.store
            {
                bytes.fill(0);
            }
        }
        Ok(())
    }

    fn brk(&mut self, addr: u64) -> u64 {
        if (self.space.brk_start..self.space.brk_start + MEMORY_MAX).contains(&addr) {
            let (old, new) = (self.space.brk.next_multiple_of(PAGE_SIZE), addr.next_multiple_of(PAGE_SIZE));
            if new > old {
                self.anonymous(old, new - old);
            } else {
                let _ = self.unmap(new, old - new);
            }
            self.space.brk = addr;
        }
        self.space.brk
    }

    fn heap(&self) -> (u64, u64) {
        (self.space.brk_start, self.space.brk)
    }

    fn set_heap(&mut self, heap: (u64, u64)) {
        (self.space.brk_start, self.space.brk) = heap;
    }

    fn mappings(&self) -> Vec<Mapping> {
        let mut mappings: Vec<Mapping> = Vec::new();
        for (start, page) in &self.space.pages {
            let (object, within) = match page.store {
                Store::Shared(object, within) => (Some(object), within),
                Store::Private(_) => (None, 0),
            };
            let (file, offset) =
                page.file.clone().map_or((None, within), |(file, offset)| (Some(file), offset));
            let shared = object.is_some();
            match mappings.last_mut() {
                Some(last)
                    if last.end == *start
                        && (last.prot, last.shared, last.label, last.flags)
                            == (page.prot, shared, page.label, page.flags)
                        && (&last.file, last.object) == (&file, object)
                        && (file.is_none() || last.offset + (last.end - last.start) == offset) =>
                {
                    last.end += PAGE_SIZE;
                }
                _ => mappings.push(Mapping {
                    start: *start,
                    end: start + PAGE_SIZE,
                    prot: page.prot,
                    shared,
                    may_write: true,
                    flags: page.flags,
                    object,
                    offset,
                    file,
                    label: page.label,
                    name: None,
                    userfault: None,
                }),
            }
        }
        mappings
    }

    fn present_pages(&self, start: u64, end: u64) -> Vec<u64> {
        self.space.pages.range(start..end).map(|(page, _)| *page).collect()
    }

    fn next_mapping(&self, addr: u64) -> Option<Mapping> {
        self.mappings().into_iter().find(|mapping| mapping.end > addr)
    }

    fn mapped_bytes(&self) -> MappedBytes {
        let sum = |which: fn(&Mapping) -> bool| {
            self.mappings().iter().filter(|map| which(map)).map(|map| map.end - map.start).sum()
        };
        MappedBytes { all: sum(|_| true), data: sum(Mapping::is_data), locked: sum(Mapping::is_locked) }
    }

    fn backing(&self, addr: u64) -> Option<Backing> {
        self.is_mapped(addr, 1).then_some(Backing::Anonymous)
    }

    fn is_mapped(&self, addr: u64, len: u64) -> bool {
        let start = addr - addr % PAGE_SIZE;
        addr.checked_add(len)
            .is_some_and(|end| Self::range(start, end - start).all(|at| self.space.pages.contains_key(&at)))
    }

    fn resident(&self) -> u64 {
        self.space.pages.len() as u64 * PAGE_SIZE
    }

    fn charge(&mut self, _kernel: u64) -> Result<(), MemError> {
        Ok(())
    }

    fn object_create(&mut self, len: u64, base: Option<(Arc<dyn PageSource>, u64)>) -> ObjectId {
        let mut bytes = vec![0; len as usize];
        if let Some((source, visible)) = base {
            let visible = visible.min(len) as usize;
            let _ = source.read_to_end(0, &mut bytes[..visible]);
        }
        self.objects.push(Some((bytes, 1)));
        ObjectId(self.objects.len() as u32 - 1)
    }

    fn is_file_viewed(&self, _device: u64, _inode: u64) -> bool {
        false // it takes the bytes when it maps
    }

    fn has_writer(&self, _device: u64, _inode: u64) -> bool {
        false
    }

    fn is_object_stored_to(&self, _object: ObjectId) -> bool {
        false
    }

    fn object_take_views(&mut self, _object: ObjectId, _device: u64, _inode: u64) {}

    fn object_release(&mut self, object: ObjectId) {
        let slot = self.object(object);
        slot.1 -= 1;
        if slot.1 == 0 {
            self.objects[object.0 as usize] = None;
        }
    }

    fn object_len(&self, object: ObjectId) -> u64 {
        self.objects[object.0 as usize].as_ref().map_or(0, |object| object.0.len() as u64)
    }

    fn object_resize(&mut self, object: ObjectId, len: u64) -> Result<(), MemError> {
        self.object(object).0.resize(len as usize, 0);
        Ok(())
    }

    fn object_read(&mut self, object: ObjectId, offset: u64, buf: &mut [u8]) -> Result<usize, MemError> {
        let bytes = &self.object(object).0;
        let bytes = bytes.get(offset as usize..).unwrap_or_default();
        let len = bytes.len().min(buf.len());
        buf[..len].copy_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn object_write(&mut self, object: ObjectId, offset: u64, bytes: &[u8]) -> Result<usize, MemError> {
        let (at, held) = (offset as usize, &mut self.object(object).0);
        held.resize(held.len().max(at + bytes.len()), 0);
        held[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }

    // Nothing is counted here but what `pool_take` takes.
    fn object_join(&mut self, _object: ObjectId, _pool: PoolId) {}

    fn object_pages(&self, object: ObjectId) -> u64 {
        self.object_len(object).div_ceil(PAGE_SIZE)
    }

    fn object_reserve(&mut self, _object: ObjectId, _offset: u64, _len: u64) -> Result<(), MemError> {
        Ok(())
    }

    fn pool_bound(&mut self, pool: PoolId, most: u64) {
        self.pools.entry(pool).or_default().1 = most;
    }

    fn pool_used(&self, pool: PoolId) -> u64 {
        self.pools.get(&pool).map_or(0, |(used, _)| *used)
    }

    fn pool_take(&mut self, pool: PoolId) -> Result<(), MemError> {
        let room = |(used, most): &&mut (u64, u64)| used < most;
        self.pools.get_mut(&pool).filter(room).map(|pool| pool.0 += 1).ok_or(MemError::Full)
    }

    fn pool_give(&mut self, pool: PoolId) {
        self.pools.entry(pool).or_default().0 -= 1;
    }

    fn object_punch(&mut self, object: ObjectId, offset: u64, len: u64) -> Result<(), MemError> {
        let bytes = &mut self.object(object).0;
        let end = offset.saturating_add(len).min(bytes.len() as u64);
        bytes.get_mut(offset as usize..end as usize).unwrap_or_default().fill(0);
        Ok(())
    }

    fn object_views(&self, object: ObjectId) -> usize {
        let shows = |page: &&Page| matches!(page.store, Store::Shared(other, _) if other == object);
        self.space.pages.values().filter(shows).count()
    }

    fn object_next_page(&self, object: ObjectId, offset: u64) -> Option<u64> {
        let len = self.object_len(object);
        (offset < len).then_some(offset - offset % PAGE_SIZE)
    }

    fn fork(&mut self, child: SpaceId) -> Result<(), MemError> {
        for page in self.space.pages.values() {
            if let Store::Shared(object, _) = page.store
                && let Some(object) = &mut self.objects[object.0 as usize]
            {
                object.1 += 1;
            }
        }
        self.others.insert(child, self.space.clone());
        Ok(())
    }

    fn drop_space(&mut self, space: SpaceId) {
        for page in self.others.remove(&space).unwrap_or_default().pages.into_values() {
            if let Store::Shared(object, _) = page.store {
                self.object_release(object);
            }
        }
    }

    fn in_space(&mut self, space: SpaceId, f: &mut dyn FnMut(&mut dyn GuestMemory)) {
        // The one that is in use has no name here.
        let Some(other) = self.others.remove(&space) else { return f(self) };
        let here = std::mem::replace(&mut self.space, other);
        f(self);
        let other = std::mem::replace(&mut self.space, here);
        self.others.insert(space, other);
    }
}
