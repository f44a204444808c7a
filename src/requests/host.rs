//! The outside as requests see it, and their answers.

use crate::guest::{GuestCpu, GuestMemory};

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This goes to RDX.
    Value(u64),
    /// RDX stays as it is, as for an unknown request.
    Untouched,
    /// The registers are set already.
    Resume,
    /// Not yet: the run has to pause before something reaches the outside.
    Later,
}

/// Speakers of the log: the sign around the process's number at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// `**`: text of the program's.
    Client,
    /// `==`: to the user.
    User,
    /// `--`: about the tool itself.
    Debug,
}

/// The place of an instruction in the program, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodePlace {
    /// Its address.
    pub pc: u64,
    /// The function's name, if it is known.
    pub function: Option<String>,
    /// Source file, without its directory, and line, if they are known.
    pub line: Option<(String, u32)>,
    /// The file that the code comes from, if any.
    pub object: Option<String>,
}

/// The machine, the log and the symbols with which requests are served.
pub(crate) trait Host {
    /// The registers.
    fn cpu(&mut self) -> &mut dyn GuestCpu;
    /// The memory.
    fn mem(&mut self) -> &mut dyn GuestMemory;
    /// The place of the instruction at `pc`, as far as it is known.
    fn locate(&mut self, pc: u64) -> CodePlace;
    /// The return addresses of the call stack, the innermost first, at most `limit`.
    fn calls(&mut self, limit: usize) -> Vec<u64>;
    /// Adds text to the log now, with the prefix at the beginning of each line. False if that has
    /// to wait.
    fn say(&mut self, voice: Voice, text: &[u8]) -> bool;
    /// Adds a line to the log at the end, once.
    fn notice(&mut self, line: String);
}
