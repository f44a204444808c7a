//! The lines of I1 that generated code finds, by the numbers that it knows them by.

use rustc_hash::FxHashMap;

/// Lines of I1, and for each that the cache holds the place of its time.
#[derive(Debug)]
pub(crate) struct FetchTable {
    /// By the number of a block.
    numbers: FxHashMap<u64, u32>,
    /// Place of the time of the last access to each line, which a word may be stored to; with
    /// [`FetchTable::ABSENT`] where the cache does not hold it.
    times: Vec<*mut u32>,
    /// The place of a time with [`FetchTable::ABSENT`], in `unused`, which nobody reads.
    absent: *mut u32,
    _unused: Box<[u32; 2]>,
}

impl FetchTable {
    /// Number of the line that holds block 0, with which every way begins, so that it may be in
    /// several: it has no time.
    pub(crate) const LINE_ZERO: u32 = 0;

    /// Bit of the place of a time that tells that the cache does not hold the line.
    pub(crate) const ABSENT: u64 = 1;

    /// A table with line 0 alone.
    pub(super) fn new() -> FetchTable {
        let mut unused = Box::new([0; 2]);
        let absent = unused.as_mut_ptr().wrapping_byte_add(FetchTable::ABSENT as usize);
        let numbers = FxHashMap::from_iter([(0, FetchTable::LINE_ZERO)]);
        FetchTable { numbers, times: vec![absent], absent, _unused: unused }
    }

    /// Places of the times of all lines that have a number.
    pub(crate) fn times(&self) -> &[*mut u32] {
        &self.times
    }

    /// The number of a line, which it gets if it has none.
    pub(super) fn number(&mut self, block: u64) -> u32 {
        let next = self.times.len() as u32;
        *self.numbers.entry(block).or_insert_with(|| {
            self.times.push(self.absent);
            next
        })
    }

    /// Has generated code find a line, whose time is at a place.
    #[inline]
    pub(super) fn find_at(&mut self, number: u32, place: *mut u32) {
        if let Some(time) = self.times.get_mut(number as usize).filter(|_| number != FetchTable::LINE_ZERO) {
            *time = place;
        }
    }

    /// Has generated code not find a line.
    #[inline]
    pub(super) fn forget(&mut self, number: u32) {
        if let Some(time) = self.times.get_mut(number as usize) {
            *time = self.absent;
        }
    }
}
