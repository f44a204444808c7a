//! The lines of D1 that generated code finds, and where they are in the host.

/// Lines that it finds.
pub(crate) const DATA_LINES: usize = 2048;

/// A line of D1 as generated code finds it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataLine {
    /// Its address if it may be loaded from, or else [`DataLine::NOWHERE`].
    pub(crate) read: u64,
    /// The same for stores.
    pub(crate) write: u64,
    /// Difference between its address and that in the host.
    pub(crate) addend: u64,
    /// Place of the time of its last access, in the way that holds it, or held the line that was
    /// last found here; null if there was none.
    pub(crate) time: *mut u32,
}

/// The entry of a line of D1, which begins at an address.
#[derive(Debug)]
pub(crate) struct LineEntry<'a> {
    pub(crate) first: u64,
    pub(crate) line: &'a mut DataLine,
}

impl DataLine {
    /// Address that no access has.
    pub(crate) const NOWHERE: u64 = u64::MAX;
    pub(super) const NONE: DataLine =
        DataLine { read: DataLine::NOWHERE, write: DataLine::NOWHERE, addend: 0, time: std::ptr::null_mut() };

    /// Has generated code ask for the line again if its time is at a place, without a branch, which
    /// the host's CPU would often predict wrongly.
    #[inline]
    pub(super) fn forget_at(&mut self, time: *mut u32) {
        const { assert!(DataLine::NOWHERE == u64::MAX) };
        let all = u64::from(self.time == time).wrapping_neg();
        (self.read, self.write) = (self.read | all, self.write | all);
    }

    /// Has generated code ask for the line again.
    pub(crate) fn forget_translation(&mut self) {
        (self.read, self.write) = (DataLine::NOWHERE, DataLine::NOWHERE);
    }
}

/// The lines of D1 that generated code finds, by the low bits of their numbers.
#[repr(C, align(4096))]
#[derive(Debug)]
pub(crate) struct DataTable([DataLine; DATA_LINES]);

impl DataTable {
    /// A table without lines.
    pub(super) fn new() -> Box<DataTable> {
        Box::new(DataTable([DataLine::NONE; DATA_LINES]))
    }

    /// The line with the number `block`, or another with the same low bits.
    #[inline]
    pub(super) fn line(&mut self, block: u64) -> &mut DataLine {
        &mut self.0[block as usize % DATA_LINES]
    }

    /// Has generated code ask for all lines again.
    pub(crate) fn forget_translations(&mut self) {
        self.0.iter_mut().for_each(DataLine::forget_translation);
    }

    /// Has no lines any more.
    pub(super) fn clear(&mut self) {
        self.0.fill(DataLine::NONE);
    }
}
