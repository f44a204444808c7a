//! Areas: the mappings of an address space. Like Linux's `vm_area_struct`, they are cut by a
//! request about a part of one, and joined where they continue each other.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::abi::mm::MAX_MAP_COUNT;
use crate::emu::memory::gaps::Gaps;
use crate::guest::{Backing, FileId, MappedBytes, Mapping, ObjectId, PAGE_SIZE, Prot, UserfaultId, VmFlags};

/// One mapping.
#[derive(Clone)]
pub(super) struct Area {
    /// First address after it.
    pub(super) end: u64,
    /// Permissions as asked for.
    pub(super) prot: Prot,
    /// It may be made writable.
    pub(super) may_write: bool,
    /// Source of its contents; offsets are those of its first page.
    pub(super) backing: Backing,
    /// The file of a file mapping.
    pub(super) file: Option<FileId>,
    /// Name in /proc/self/maps of what is no file: `[heap]`, `[stack]`.
    pub(super) label: Option<&'static str>,
    /// Name that the program gave it, prctl(2) PR_SET_VMA.
    pub(super) name: Option<Arc<str>>,
    /// Distance, wrapping, by which mremap(2) has moved anonymous memory that was in use. Linux
    /// joins it only with memory moved as far (`vm_pgoff`).
    pub(super) moved: u64,
    /// Other properties.
    pub(super) flags: VmFlags,
    /// The userfaultfd that is told of its missing pages.
    pub(super) userfault: Option<UserfaultId>,
}

/// Bytes that stay free below what grows down, `stack_guard_gap`.
pub(super) const GUARD_GAP: u64 = 256 * PAGE_SIZE;

/// Limits on what an access may make a stack grow to.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrowthLimits {
    /// RLIMIT_STACK, in bytes.
    pub(super) stack: u64,
    /// RLIMIT_AS, in bytes.
    pub(super) total: u64,
}

impl Default for GrowthLimits {
    fn default() -> GrowthLimits {
        GrowthLimits { stack: u64::MAX, total: u64::MAX }
    }
}

/// Something that several areas may be views of, by which they are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Behind {
    Object(ObjectId),
    /// A file that was mapped as it is on the host: its device and inode number.
    File(u64, u64),
}

impl Area {
    /// The thing behind it that several areas may show.
    fn behind(&self) -> Option<Behind> {
        match (&self.backing, &self.file) {
            (Backing::File { .. }, Some(file)) => Some(Behind::File(file.device, file.inode)),
            (backing, _) => backing.object().map(|(object, _)| Behind::Object(object)),
        }
    }

    /// Tests whether other mappings of the same object see its stores (MAP_SHARED).
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.backing, Backing::Shared { .. } | Backing::File { shared: true, .. })
    }

    /// Offset of its first page in the file or object.
    pub(super) fn offset(&self) -> u64 {
        match self.backing {
            Backing::Anonymous => 0,
            Backing::File { offset, .. }
            | Backing::Shared { offset, .. }
            | Backing::Private { offset, .. } => offset,
        }
    }

    /// The area as /proc/self/maps shows it.
    pub(super) fn mapping(&self, start: u64) -> Mapping {
        Mapping {
            start,
            end: self.end,
            prot: self.prot,
            shared: self.is_shared(),
            may_write: self.may_write,
            flags: self.flags,
            object: self.backing.object().map(|(object, _)| object),
            offset: self.offset(),
            file: self.file.clone(),
            label: self.label,
            name: self.name.clone(),
            userfault: self.userfault,
        }
    }

    /// The area as it is when it begins `bytes` later.
    pub(super) fn advanced(&self, bytes: u64) -> Area {
        let mut area = self.clone();
        match &mut area.backing {
            Backing::Anonymous => {}
            Backing::File { offset, .. }
            | Backing::Shared { offset, .. }
            | Backing::Private { offset, .. } => *offset += bytes,
        }
        area
    }

    /// Device and inode number of the file that nobody can execute because of it.
    fn written(&self) -> Option<(u64, u64)> {
        let file = self.file.as_ref().filter(|_| self.flags.has(VmFlags::OF_WRITER))?;
        Some((file.device, file.inode))
    }

    /// Bytes that it takes, with its place in the tables and the name of its file.
    fn charge(&self) -> u64 {
        let names = self.file.as_ref().map_or(0, |file| file.path.len())
            + self.name.as_ref().map_or(0, |name| name.len());
        (size_of::<Area>() + 128 + names) as u64
    }

    /// Adds or takes away so many bytes of it where they count.
    fn count(&self, len: u64, by: impl Fn(&mut u64, u64), sums: &mut MappedBytes) {
        by(&mut sums.all, len);
        let grows = self.flags.has(VmFlags::GROWSDOWN);
        if self.prot.allows(Prot::WRITE) && !self.is_shared() && !grows {
            by(&mut sums.data, len);
        }
        if self.flags.has(VmFlags::LOCKED) {
            by(&mut sums.locked, len);
        }
    }

    /// Tests whether `next`, which begins `len` bytes after this one, continues it.
    fn continues(&self, next: &Area, len: u64) -> bool {
        let backing = match (&self.backing, &next.backing) {
            (Backing::Anonymous, Backing::Anonymous) => true,
            (
                Backing::File { source: a, offset: from, shared: one },
                Backing::File { source: b, offset: to, shared: other },
            ) => Arc::ptr_eq(a, b) && from + len == *to && one == other,
            (Backing::Shared { object: a, offset: from }, Backing::Shared { object: b, offset: to })
            | (Backing::Private { object: a, offset: from }, Backing::Private { object: b, offset: to }) => {
                a == b && from + len == *to
            }
            _ => false,
        };
        backing
            && self.prot == next.prot
            && self.may_write == next.may_write
            && self.label == next.label
            && self.name == next.name
            && self.moved == next.moved
            && self.flags == next.flags
            && self.userfault == next.userfault
            && self.file == next.file
    }
}

/// The areas of one address space, by start address; they never overlap.
#[derive(Clone, Default)]
pub(super) struct Areas {
    map: BTreeMap<u64, Area>,
    /// Starts of the areas of each object and of each shared file that is mapped.
    views: FxHashMap<Behind, BTreeSet<u64>>,
    /// Numbers of areas that hold a file which was open for writing, by device and inode number.
    writers: FxHashMap<(u64, u64), usize>,
    gaps: Gaps,
    /// Bytes that they are charged.
    bytes: u64,
    /// Bytes that are mapped, and the most that were.
    mapped: MappedBytes,
    mapped_peak: u64,
    /// Limits of their growth.
    pub(super) limits: GrowthLimits,
}

impl Areas {
    /// The area that holds `addr`, with its start.
    pub(super) fn find(&self, addr: u64) -> Option<(u64, &Area)> {
        let (&start, area) = self.map.range(..=addr).next_back()?;
        (addr < area.end).then_some((start, area))
    }

    /// All areas, by rising address.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Area)> {
        self.map.iter().map(|(&start, area)| (start, area))
    }

    /// The areas that reach into a range.
    pub(super) fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Area)> {
        let first = self.find(start).map_or(start, |(first, _)| first);
        self.map.range(first..end).map(|(&start, area)| (start, area))
    }

    /// Tests whether nothing is mapped in a range.
    pub(super) fn is_free(&self, start: u64, end: u64) -> bool {
        self.map.range(..end).next_back().is_none_or(|(_, area)| area.end <= start)
    }

    /// End of the part of a range that is mapped without a hole and that `good` is true of.
    pub(super) fn reach(&self, start: u64, end: u64, good: impl Fn(&Area) -> bool) -> u64 {
        let mut at = start;
        while at < end
            && let Some((_, area)) = self.find(at)
            && good(area)
        {
            at = area.end;
        }
        at.min(end)
    }

    /// Tests whether everything is mapped in a range.
    pub(super) fn covers(&self, start: u64, end: u64) -> bool {
        self.reach(start, end, |_| true) == end
    }

    /// The areas that map the object.
    pub(super) fn of_object(&self, object: ObjectId) -> impl Iterator<Item = (u64, &Area)> {
        self.of(Behind::Object(object))
    }

    /// The areas that show a file of the host as it is.
    pub(super) fn of_file(&self, device: u64, inode: u64) -> impl Iterator<Item = (u64, &Area)> {
        self.of(Behind::File(device, inode))
    }

    fn of(&self, behind: Behind) -> impl Iterator<Item = (u64, &Area)> {
        let starts = self.views.get(&behind).into_iter().flatten();
        starts.filter_map(|start| Some((*start, self.map.get(start)?)))
    }

    /// Tests whether an area maps the object.
    pub(super) fn is_object_mapped(&self, object: ObjectId) -> bool {
        self.views.contains_key(&Behind::Object(object))
    }

    /// Tests whether an area holds a file that was open for writing.
    pub(super) fn has_writer(&self, device: u64, inode: u64) -> bool {
        self.writers.contains_key(&(device, inode))
    }

    fn put(&mut self, start: u64, area: Area) {
        self.bytes += area.charge();
        area.count(area.end - start, |sum, len| *sum += len, &mut self.mapped);
        self.mapped_peak = self.mapped_peak.max(self.mapped.all);
        if let Some(behind) = area.behind() {
            self.views.entry(behind).or_default().insert(start);
        }
        if let Some(file) = area.written() {
            *self.writers.entry(file).or_default() += 1;
        }
        self.map.insert(start, area);
    }

    fn take(&mut self, start: u64) -> Option<Area> {
        let area = self.map.remove(&start)?;
        self.bytes -= area.charge();
        area.count(area.end - start, |sum, len| *sum -= len, &mut self.mapped);
        if let Some(behind) = area.behind()
            && let Some(starts) = self.views.get_mut(&behind)
        {
            starts.remove(&start);
            if starts.is_empty() {
                self.views.remove(&behind);
            }
        }
        if let Some(file) = area.written()
            && let Entry::Occupied(mut count) = self.writers.entry(file)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        Some(area)
    }

    /// Splits the area around `at`, if there is one, so that a new one begins there.
    fn split(&mut self, at: u64) {
        if let Some((start, area)) = self.find(at)
            && start < at
        {
            let rest = area.advanced(at - start);
            if let Some(area) = self.map.get_mut(&start) {
                area.count(area.end - at, |sum, len| *sum -= len, &mut self.mapped);
                area.end = at;
            }
            self.put(at, rest);
        }
    }

    /// Removes and returns what lies in a range, splitting areas at its ends.
    pub(super) fn remove(&mut self, start: u64, end: u64) -> Vec<(u64, Area)> {
        self.split(start);
        self.split(end);
        let keys: Vec<u64> = self.map.range(start..end).map(|(&key, _)| key).collect();
        let removed: Vec<(u64, Area)> =
            keys.into_iter().filter_map(|key| self.take(key).map(|area| (key, area))).collect();
        for (start, area) in &removed {
            self.gaps.give(*start, area.end);
        }
        removed
    }

    /// Inserts an area into a free range and joins it with neighbours that it continues.
    pub(super) fn insert(&mut self, start: u64, area: Area) {
        self.gaps.take(start, area.end);
        let (mut start, mut area) = (start, area);
        if let Some((&before, previous)) = self.map.range(..start).next_back()
            && previous.end == start
            && previous.continues(&area, start - before)
        {
            let mut joined = previous.clone();
            joined.end = area.end;
            self.take(before);
            (start, area) = (before, joined);
        }
        if let Some(next) = self.map.get(&area.end)
            && area.continues(next, area.end - start)
        {
            let old_end = area.end;
            area.end = next.end;
            self.take(old_end);
        }
        self.put(start, area);
    }

    /// Changes what is mapped in a range. Where that would make more areas than there may be,
    /// returns false with nothing changed.
    pub(super) fn update(&mut self, start: u64, end: u64, change: impl Fn(&mut Area)) -> bool {
        let most = self.map.len().max(MAX_MAP_COUNT);
        let held = self.remove(start, end);
        for (at, area) in &held {
            let mut area = area.clone();
            change(&mut area);
            self.insert(*at, area);
        }
        if self.map.len() <= most {
            return true;
        }
        self.remove(start, end);
        for (at, area) in held {
            self.insert(at, area);
        }
        false
    }

    /// The ranges of those that `wanted` is true of.
    pub(super) fn ranges(&self, wanted: impl Fn(&Area) -> bool) -> Vec<(u64, u64)> {
        let found = self.iter().filter(|(_, area)| wanted(area));
        found.map(|(start, area)| (start, area.end)).collect()
    }

    /// Start and end of the area that an access to the page would make grow down to it
    /// (`expand_downwards`).
    pub(super) fn grows_to(&self, page: u64) -> Option<(u64, u64)> {
        let (&start, area) = self.map.range(page..).next()?;
        let crowded = self.map.range(..page).next_back().is_some_and(|(_, before)| {
            !before.flags.has(VmFlags::GROWSDOWN)
                && before.prot != Prot::NONE
                && page - before.end < GUARD_GAP
        });
        let fits = area.end - page <= self.limits.stack
            && self.mapped.all.saturating_add(start - page) <= self.limits.total;
        (area.flags.has(VmFlags::GROWSDOWN) && fits && !crowded).then_some((start, area.end))
    }

    /// Start of the guard gap that a range ending at `end` would reach into.
    pub(super) fn guard_below(&self, end: u64) -> Option<u64> {
        let (&start, area) = self.map.range(end..).next()?;
        let guard = start.saturating_sub(GUARD_GAP);
        (area.flags.has(VmFlags::GROWSDOWN) && guard < end).then_some(guard)
    }

    /// Bytes that are mapped, and the most that were.
    pub(super) fn mapped(&self) -> (u64, u64) {
        (self.mapped.all, self.mapped_peak)
    }

    /// Bytes that are mapped, by what limits are about.
    pub(super) fn mapped_bytes(&self) -> MappedBytes {
        self.mapped
    }

    /// Forgets what was mapped before; at least `peak` is remembered.
    pub(super) fn set_mapped_peak(&mut self, peak: u64) {
        self.mapped_peak = peak.max(self.mapped.all);
    }

    /// Number of areas.
    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    /// Bytes that the areas take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The unmapped ranges.
    pub(super) fn gaps(&self) -> &Gaps {
        &self.gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas(ranges: &[(u64, u64)]) -> Areas {
        let mut areas = Areas::default();
        for &(start, end) in ranges {
            let backing = Backing::Anonymous;
            areas.insert(
                start,
                Area {
                    end,
                    prot: Prot::RW,
                    may_write: true,
                    backing,
                    file: None,
                    label: None,
                    name: None,
                    moved: 0,
                    flags: VmFlags::NONE,
                    userfault: None,
                },
            );
        }
        areas
    }

    #[test]
    fn sums_follow_what_is_mapped() {
        let mut areas = areas(&[(0x1000, 0x5000), (0x8000, 0x9000)]);
        let sums = |areas: &Areas| {
            let MappedBytes { all, data, locked } = areas.mapped_bytes();
            (all, data, locked)
        };
        assert_eq!(sums(&areas), (0x5000, 0x5000, 0));
        assert!(areas.update(0x2000, 0x4000, |area| area.flags = VmFlags::LOCKED));
        assert!(areas.update(0x3000, 0x9000, |area| area.prot = Prot::READ));
        assert_eq!(sums(&areas), (0x5000, 0x2000, 0x2000));
        areas.remove(0x2000, 0x3800);
        assert_eq!(sums(&areas), (0x3800, 0x1000, 0x800));
        areas.remove(0, 0x10000);
        assert_eq!((sums(&areas), areas.mapped()), ((0, 0, 0), (0, 0x5000)));
    }

    #[test]
    fn lowest_gap_is_the_first_that_fits() {
        let areas = areas(&[(0x1000, 0x3000), (0x4000, 0x5000), (0x8000, 0x9000)]);
        for (len, bottom, taken, expected) in [
            (0x1000, 0x1000, (0, 0), Some(0x3000)),
            (0x1000, 0x3000, (0, 0), Some(0x3000)),
            (0x2000, 0x1000, (0, 0), Some(0x5000)),
            (0x4000, 0x1000, (0, 0), Some(0x9000)),
            (0x1000, 0x1000, (0x3000, 0x4000), Some(0x5000)),
            (0x1000, 0x1000, (0x2000, 0x6000), Some(0x6000)),
            (0x2000, 0x1000, (0x6000, 0x7000), Some(0x9000)),
            (0x2000, 0x1000, (0x9000, 0xc000), Some(0x5000)),
            (0x8000, 0x1000, (0, 0), None),
            (u64::MAX, 0x1000, (0, 0), None),
        ] {
            let found = areas.gaps().lowest(len, bottom, 0x1_0000, &[taken]);
            assert_eq!(found, expected, "{len:#x} from {bottom:#x}, without {taken:x?}");
        }
    }
}
