//! The call graph of a run: costs by function and source line, and calls with what they cost.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::event::{Costs, EventSet};
use super::model::clean;
use super::names::{NameId, Names, UNKNOWN};

/// Number of a function in one [`CallGraph`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(usize);

/// A place in the code of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CodePosition {
    /// The source file.
    pub file: NameId,
    /// The link-time address of the instruction; 0 if positions have none.
    pub address: u64,
    /// The line; 0 if it is not known, or positions have none.
    pub line: u32,
}

/// Calls of one function from one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Calls {
    /// Their number.
    pub count: u64,
    /// Their costs, with all that they call.
    pub costs: Costs,
}

/// Jumps from one place to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jumps {
    /// Times that they were followed.
    pub followed: u64,
    /// Times that they were executed, if they are conditional.
    pub executed: Option<u64>,
}

/// The costs of a place, and its calls by the function and the place that they lead to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlaceCosts {
    /// Own costs.
    pub costs: Costs,
    /// Calls.
    pub calls: BTreeMap<(FunctionId, CodePosition), Calls>,
    /// Jumps that always and that sometimes lead to a function and a place.
    pub jumps: BTreeMap<(FunctionId, CodePosition, bool), Jumps>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct CalledFunction {
    /// Path of its object.
    pub object: NameId,
    /// File in which it begins.
    pub file: NameId,
    /// Name.
    pub name: NameId,
    /// Its costs.
    pub places: BTreeMap<CodePosition, PlaceCosts>,
}

/// The call graph of one process.
#[derive(Clone, Debug)]
pub struct CallGraph {
    /// The program and its arguments, joined by blanks.
    pub cmd: Vec<u8>,
    /// Description of the run, one line each.
    pub desc: Vec<String>,
    /// The events that are recorded.
    pub events: EventSet,
    /// Reason for the end of this part of a run; `None` for its end.
    pub trigger: Option<String>,
    names: Names,
    functions: Vec<CalledFunction>,
    known: FxHashMap<[NameId; 3], FunctionId>,
}

impl CallGraph {
    /// An empty graph of the command `cmd`.
    #[must_use]
    pub fn new(cmd: &[u8], desc: &[String], events: EventSet) -> CallGraph {
        CallGraph {
            cmd: clean(cmd).into_owned(),
            desc: desc.to_vec(),
            events,
            trigger: None,
            names: Names::default(),
            functions: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// Interns a name, which cannot break a line then.
    pub fn name(&mut self, name: &str) -> NameId {
        let name = if name.is_empty() { UNKNOWN } else { name };
        self.names.intern(&clean(name.as_bytes()))
    }

    /// The text of a name.
    #[must_use]
    pub fn text(&self, name: NameId) -> &[u8] {
        self.names.text(name)
    }

    /// The function of an object, a file and a name.
    pub fn function(&mut self, object: NameId, file: NameId, name: NameId) -> FunctionId {
        let functions = &mut self.functions;
        *self.known.entry([object, file, name]).or_insert_with(|| {
            functions.push(CalledFunction { object, file, name, places: BTreeMap::new() });
            FunctionId(functions.len() - 1)
        })
    }

    /// A function by its number.
    #[must_use]
    pub fn get(&self, function: FunctionId) -> Option<&CalledFunction> {
        self.functions.get(function.0)
    }

    /// Adds own costs of a place.
    pub fn spend(&mut self, function: FunctionId, place: CodePosition, costs: &Costs) {
        if let Some(function) = self.functions.get_mut(function.0) {
            function.places.entry(place).or_default().costs += costs;
        }
    }

    /// Adds calls from a place of `caller` to one of `callee`.
    pub fn call(
        &mut self,
        (caller, place): (FunctionId, CodePosition),
        callee: (FunctionId, CodePosition),
        calls: &Calls,
    ) {
        if let Some(caller) = self.functions.get_mut(caller.0) {
            let known = caller.places.entry(place).or_default().calls.entry(callee);
            let known = known.or_insert(Calls { count: 0, costs: Costs::ZERO });
            known.count = known.count.saturating_add(calls.count);
            known.costs += &calls.costs;
        }
    }

    /// Adds jumps from a place of `from` to one of `to`.
    pub fn jump(
        &mut self,
        (from, place): (FunctionId, CodePosition),
        (to, target): (FunctionId, CodePosition),
        jumps: &Jumps,
    ) {
        if let Some(from) = self.functions.get_mut(from.0) {
            let key = (to, target, jumps.executed.is_some());
            let known = from.places.entry(place).or_default().jumps.entry(key).or_default();
            known.followed = known.followed.saturating_add(jumps.followed);
            known.executed =
                jumps.executed.map(|executed| known.executed.unwrap_or(0).saturating_add(executed));
        }
    }

    /// The functions in the order of object, file and name.
    #[must_use]
    pub fn functions(&self) -> Vec<(FunctionId, &CalledFunction)> {
        let ranks = self.names.ranks();
        let mut all: Vec<_> = (0..).map(FunctionId).zip(&self.functions).collect();
        all.sort_by_key(|(_, f)| [f.object, f.file, f.name].map(|name| ranks.get(name)));
        all
    }

    /// The sum of all own costs.
    #[must_use]
    pub fn total(&self) -> Costs {
        let mut total = Costs::ZERO;
        let places = self.functions.iter().flat_map(|function| function.places.values());
        places.for_each(|place| total += &place.costs);
        total.only(self.events)
    }
}
