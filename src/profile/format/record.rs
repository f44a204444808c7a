//! The head of a profile and the records after it, as readers yield them.

use super::events::Definition;

/// The lines before the costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The `desc:` lines, without the key and the blanks after it; of a Callgrind file without
    /// those that only repeat options.
    pub desc: Vec<Vec<u8>>,
    /// The command line that was profiled; empty if it is not given.
    pub cmd: Vec<u8>,
    /// The names of the events: recorded ones in the order of the columns, then derived ones.
    pub events: Vec<Vec<u8>>,
    /// Long names and formulas of events, in the order of their lines; Callgrind only.
    pub definitions: Vec<Definition>,
}

/// One step through the body of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The source file of the counts that follow.
    File(&'a [u8]),
    /// The function of the counts that follow.
    Function(&'a [u8]),
    /// The counts of a line itself.
    Counts {
        /// The source line; 0 if it is not known.
        line: u64,
        /// One count for each event of the head.
        counts: &'a [i64],
    },
    /// Calls from a line of the current function, with the counts of all that was executed in them;
    /// Callgrind only.
    Call {
        /// The called function's source file.
        file: &'a [u8],
        /// The called function.
        function: &'a [u8],
        /// The number of these calls; of a difference, how many more.
        calls: i64,
        /// The line of the call; 0 if it is not known.
        line: u64,
        /// One count for each event of the head.
        counts: &'a [i64],
    },
}
