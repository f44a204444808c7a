//! Costs by instruction: the side file of a profile. `docs/instr-format.md` describes the file.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The costs of one instruction, and the source line to which Cachegrind attributes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsnCosts {
    /// The source file.
    pub file: Arc<[u8]>,
    /// The function.
    pub function: Arc<[u8]>,
    /// The line in `file`; 0 if it is not known.
    pub line: u64,
    /// One count for each event of the profile.
    pub costs: Vec<i64>,
}

/// Code of one object: a program, a library, or what is in no file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeObject {
    /// Absolute path; `???` for code that is in no file.
    pub path: Vec<u8>,
    /// Identity of the file when it ran: `build-id:` or `crc32:` and hexadecimal digits. Empty for
    /// code in no file.
    pub identity: String,
    /// Load biases: run-time address less link-time address, for each mapping.
    pub biases: Vec<u64>,
    /// By link-time address (by run-time address for code in no file).
    pub instructions: BTreeMap<u64, InsnCosts>,
    /// Bytes of instructions that are in no file, by address.
    pub code: BTreeMap<u64, Vec<u8>>,
}

/// The costs of a run, by instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The command: the program and its arguments.
    pub cmd: Vec<u8>,
    /// Names of the events, in the order of the counts.
    pub events: Vec<Vec<u8>>,
    /// The objects, by path.
    pub objects: Vec<CodeObject>,
}

impl Instructions {
    /// The sum of all counts, one for each event.
    #[must_use]
    pub fn total(&self) -> Vec<i64> {
        let mut total = vec![0; self.events.len()];
        for costs in self.objects.iter().flat_map(|object| object.instructions.values()) {
            add_costs(&mut total, &costs.costs);
        }
        total
    }
}

/// Adds `costs` to `sum`, event by event; a sum that does not fit stays at the largest number.
pub fn add_costs(sum: &mut [i64], costs: &[i64]) {
    for (sum, cost) in sum.iter_mut().zip(costs) {
        *sum = sum.saturating_add(*cost);
    }
}
