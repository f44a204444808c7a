//! Valgrind's client requests: what a program that was compiled with `valgrind.h`, `cachegrind.h` or `callgrind.h` asks
//! the tool it runs under. `table` has a row per request; codes and answers are those of Valgrind, and
//! `docs/counting.md` lists them.

mod call;
mod control;
mod core;
mod format;
mod print;
mod table;

use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory};

pub use call::RETURN;
pub use table::{ROWS, Row, find};

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This goes to RDX.
    Value(u64),
    /// RDX stays as it is, as for a request that nobody knows.
    Untouched,
    /// The registers are set already.
    Resume,
    /// Not yet: the run has to pause before something reaches the outside.
    Later,
}

/// What a line of the log begins with, around the process's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// `**`: text of the program's.
    Client,
    /// `==`: to the user.
    User,
    /// `--`: about the tool itself.
    Debug,
}

/// Where an instruction is, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its address.
    pub pc: u64,
    /// The function's name, if it is known.
    pub function: Option<String>,
    /// Source file, without its directory, and line, if they are known.
    pub line: Option<(String, u32)>,
    /// The file that the code comes from, if any.
    pub object: Option<String>,
}

/// What requests are served with.
pub trait Host {
    /// The registers.
    fn cpu(&mut self) -> &mut dyn GuestCpu;
    /// The memory.
    fn mem(&mut self) -> &mut dyn GuestMemory;
    /// What is known of the instruction at `pc`.
    fn locate(&mut self, pc: u64) -> Place;
    /// Where the calls that are under way go on, the innermost first, at most so many.
    fn calls(&mut self, limit: usize) -> Vec<u64>;
    /// Adds text to the log now, with the prefix at the beginning of each line. False if that has to wait.
    fn say(&mut self, voice: Voice, text: &[u8]) -> bool;
    /// Adds a line to the log at the end, once.
    fn notice(&mut self, line: String);
}

/// What requests leave behind: a part of a checkpoint.
#[derive(Clone, Debug)]
pub struct Requests {
    /// Whether the run began without counting, and waits to be told where to.
    waits: bool,
    /// Stacks that were registered.
    stacks: u64,
    /// Functions that run for a request.
    calls: Vec<call::Caller>,
}

/// Words of a request: its code and five arguments.
const WORDS: usize = 6;

impl Requests {
    /// Nothing is left behind; `waits` says whether the run begins without counting.
    pub fn new(waits: bool) -> Requests {
        Requests { waits, stacks: 0, calls: Vec::new() }
    }

    /// Serves the request whose words RAX points to.
    ///
    /// # Errors
    /// The address of a word that cannot be read. Valgrind itself ends there.
    pub fn serve(&mut self, host: &mut dyn Host) -> Result<Answer, u64> {
        self.settle(host.cpu());
        let at = host.cpu().gpr(Gpr::Rax);
        let mut bytes = [0; WORDS * 8];
        host.mem().read(at, &mut bytes).map_err(|read| at.wrapping_add(read as u64))?;
        let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let code = words.next().unwrap_or_default();
        let args = std::array::from_fn(|_| words.next().unwrap_or_default());
        let Some(row) = find(code) else { return Ok(Answer::Untouched) };
        let answer = (row.handler)(self, host, args);
        if let Answer::Value(value) = answer {
            host.cpu().set_gpr(Gpr::Rdx, value);
        }
        Ok(answer)
    }

    /// To be called now and then: functions that were called for a request may have been left.
    pub fn settle(&mut self, cpu: &mut dyn GuestCpu) {
        if !self.calls.is_empty() {
            call::settle(self, cpu);
        }
    }

    /// The program is replaced by another one.
    pub fn forget(&mut self, cpu: &mut dyn GuestCpu) {
        if self.calls.drain(..).any(|caller| caller.counts()) {
            cpu.set_counting(true);
        }
        *self = Requests::new(self.waits);
    }

    /// A fault may be the return of a function that was called for a request: then it is dealt with.
    pub fn returned(&mut self, host: &mut dyn Host, fault: Fault) -> bool {
        call::returned(self, host, fault)
    }
}
