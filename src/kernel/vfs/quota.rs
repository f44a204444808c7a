//! Bounds on what the program makes: files that it has, and bytes that reach the host. They are
//! counted where they are made; what is past a bound ends the run after the call.

/// The counts, and the bounds that there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quota {
    /// Most files and open files at a time.
    most_files: Option<u64>,
    /// Files that the program made and that are there: in memory, or under `--allow-write`.
    files: u64,
    /// Most bytes to the host's streams and files together.
    most_output: Option<u64>,
    output: u64,
    /// Output was kept back.
    cut: bool,
}

impl Quota {
    /// Nothing made yet.
    pub(super) fn new(most_files: Option<u64>, most_output: Option<u64>) -> Quota {
        Quota { most_files, most_output, ..Quota::default() }
    }

    /// Counts a file.
    pub(super) fn made(&mut self) {
        self.files += 1;
    }

    /// Takes a file back.
    pub(super) fn gone(&mut self) {
        self.files = self.files.saturating_sub(1);
    }

    /// Tests for a bound on bytes to the host.
    pub(crate) fn bounds_output(&self) -> bool {
        self.most_output.is_some()
    }

    /// The number of `len` bytes that may still reach the host, behind a hole that makes a file
    /// longer by so many.
    pub(crate) fn output_room(&mut self, hole: u64, len: usize) -> usize {
        let Some(most) = self.most_output else { return len };
        let left = most.saturating_sub(self.output).saturating_sub(hole);
        let room = usize::try_from(left).unwrap_or(usize::MAX);
        self.cut |= room < len;
        len.min(room)
    }

    /// Counts bytes that reached the host, and the hole before them.
    pub(crate) fn wrote(&mut self, hole: u64, count: usize) {
        self.output = self.output.saturating_add(hole).saturating_add(count as u64);
    }

    /// The bound that the program has passed, if there is one, with this many open files.
    pub(in crate::kernel) fn exceeded(&self, open: u64) -> Option<String> {
        if let Some(most) = self.most_files.filter(|most| self.files + open > *most) {
            return Some(format!("the program has {most} files and open files and wants more (--max-files)"));
        }
        let most = self.most_output.filter(|most| self.cut || self.output > *most)?;
        Some(format!("the program has written {most} bytes and writes more (--max-output)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_ends_at_its_bound() {
        let mut quota = Quota { most_output: Some(10), ..Quota::default() };
        assert_eq!(quota.output_room(0, 8), 8);
        quota.wrote(3, 5);
        assert_eq!(quota.output_room(0, 2), 2);
        quota.wrote(0, 2);
        assert_eq!(quota.exceeded(0), None);
        assert_eq!(quota.output_room(0, 1), 0);
        assert!(quota.exceeded(0).is_some_and(|what| what.contains("10 bytes")));
        assert_eq!(Quota::default().output_room(u64::MAX, usize::MAX), usize::MAX);
        let mut quota = Quota { most_output: Some(10), ..Quota::default() };
        assert_eq!(quota.output_room(1 << 38, 1), 0);
        assert!(quota.exceeded(0).is_some());
    }

    #[test]
    fn files_and_open_files_are_counted_together() {
        let mut quota = Quota { most_files: Some(4), ..Quota::default() };
        quota.made();
        assert_eq!(quota.exceeded(3), None);
        assert!(quota.exceeded(4).is_some());
        quota.gone();
        assert_eq!(quota.exceeded(4), None);
    }
}
