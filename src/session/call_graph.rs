//! From the costs of contexts and calls to a call graph by object, file, function and line.

use rustc_hash::FxHashMap;

use crate::hooks::callgraph::costs::{CallCosts, CostedContext, CostedJump, Disorder};
use crate::hooks::callgraph::dumps::{Dump, Trigger};
use crate::hooks::callgraph::facts::Section;
use crate::hooks::callgraph::walker::MOST_FRAMES;
use crate::hooks::plan::MappingId;
use crate::profile::{CallGraph, Calls, CodePosition, Costs, EventSet, FunctionId, Jumps, NameId, UNKNOWN};
use crate::requests::Reasons;
use crate::session::config::Positions;
use crate::session::costs::costs;
use crate::session::modules::Modules;

/// The addresses that are to be located.
pub(super) fn addresses(calls: &CallCosts) -> impl Iterator<Item = (MappingId, u64)> {
    let lines = calls.lines.iter().map(|(_, insn)| insn.at);
    let ends = calls.calls.iter().flat_map(|call| [call.site, call.target]);
    let contexts = calls.contexts.iter();
    let jumps = calls.jumps.iter().flat_map(|jump| [jump.site, jump.target]);
    lines.chain(ends).chain(jumps).chain(contexts.flat_map(|of| of.callers.iter().chain([&of.code]).copied()))
}

/// Folds the costs of a process, whose addresses [`Modules::read_debug_info`] was told of.
pub(super) fn fold(
    calls: &CallCosts,
    modules: &mut Modules,
    positions: Positions,
    (cmd, desc, events): (&[u8], &[String], EventSet),
) -> CallGraph {
    let mut graph = CallGraph::new(cmd, desc, events);
    let mut folder = Folder { graph: &mut graph, modules, positions, recent: vec![None; RECENT] };
    let functions: Vec<FunctionId> = calls.contexts.iter().map(|of| folder.function(of)).collect();
    let function = |context: u32| functions.get(context as usize).copied();
    for (context, insn) in calls.lines.iter() {
        let costs = costs(&insn.counts);
        if let Some(function) = function(context).filter(|_| costs != Costs::ZERO) {
            let place = folder.place(function, insn.at);
            folder.graph.spend(function, place, &costs);
        }
    }
    for call in calls.calls.iter() {
        let (Some(caller), Some(callee)) = (function(call.caller), function(call.callee)) else { continue };
        let costs = costs(&call.cost);
        // As Callgrind, which lists a call with its cost.
        if costs.is_zero() {
            continue;
        }
        let place = folder.place(caller, call.site);
        let target = (callee, folder.place(callee, call.target));
        folder.graph.call((caller, place), target, &Calls { count: call.calls, costs });
    }
    let conditional = calls.jumps.iter().filter(|jump| jump.conditional);
    let mut executed: FxHashMap<(u32, (MappingId, u64)), u64> =
        conditional.map(|jump| ((jump.from, jump.site), 0)).collect();
    for (context, insn) in calls.lines.iter() {
        if let Some(executed) = executed.get_mut(&(context, insn.at)) {
            *executed += insn.counts.ir;
        }
    }
    for jump in &calls.jumps {
        folder.jump(jump, [function(jump.from), function(jump.to)], &mut executed);
    }
    graph
}

/// The addresses of a dump that are to be located.
pub(super) fn addresses_of_dump(dump: &Dump) -> impl Iterator<Item = (MappingId, u64)> {
    let function = match dump.trigger {
        Trigger::Before(code) | Trigger::After(code) => Some(code),
        Trigger::Instructions(_) | Trigger::Request(_) | Trigger::Ordered => None,
    };
    addresses(&dump.costs).chain(function)
}

/// The reason for the end of a part, in the words of Callgrind.
pub(super) fn trigger(trigger: Trigger, modules: &mut Modules, reasons: &Reasons) -> String {
    let (option, (mapping, pc)) = match trigger {
        Trigger::Before(code) => ("--dump-before", code),
        Trigger::After(code) => ("--dump-after", code),
        Trigger::Instructions(count) => return format!("--dump-every={count}"),
        Trigger::Ordered => return "cgemu control --dump".to_owned(),
        Trigger::Request(reason) => return reasons.get(reason),
    };
    let function = modules.locate(mapping, pc).map(|at| at.function);
    format!("{option}={}", function.as_deref().unwrap_or(UNKNOWN))
}

/// Lines about what the costs of calls suffer from.
pub(super) fn notices(disorder: Disorder) -> impl Iterator<Item = String> {
    let Disorder { cut, stray, folded } = disorder;
    let cut = match cut {
        0 => None,
        1 => Some("1 call deeper than".to_owned()),
        more => Some(format!("{more} calls deeper than")),
    };
    let stray = match stray {
        0 => None,
        1 => Some("1 return leads to".to_owned()),
        more => Some(format!("{more} returns lead to")),
    };
    let cut = cut.map(|calls| {
        format!(
            "call graph: {calls} {MOST_FRAMES} others are taken for jumps, so inclusive costs are less than those of all calls"
        )
    });
    let stray = stray.map(|returns| {
        format!(
            "call graph: {returns} another stack, which the program took by itself; inclusive costs there are those of jumps"
        )
    });
    let folded = (folded > 0).then(|| {
        "call graph: there were too many contexts, and in further ones functions are not told apart by callers and levels \
         of recursion; ask for fewer with --separate-callers and --separate-recs"
            .to_owned()
    });
    cut.into_iter().chain(stray).chain(folded)
}

/// Number of addresses whose places are remembered, a power of two: blocks that overlap and calls
/// from one instruction come close to each other.
const RECENT: usize = 1 << 12;

/// File (`None` if it is not known), address and line.
type Located = (Option<NameId>, u64, u32);

struct Folder<'a> {
    graph: &'a mut CallGraph,
    modules: &'a mut Modules,
    positions: Positions,
    /// Places that were looked up, by the last bits of their addresses.
    recent: Vec<Option<((MappingId, u64), Located)>>,
}

impl Folder<'_> {
    /// The function of a context. Callers that are told apart are in its name, as in Callgrind.
    fn function(&mut self, context: &CostedContext) -> FunctionId {
        let [object, file, mut name] = self.names(context.code);
        if context.recursion > 0 {
            name += &format!("'{}", context.recursion + 1);
        }
        for caller in &context.callers {
            let [_, _, caller] = self.names(*caller);
            name = name + "'" + &caller;
        }
        let [object, file, name] = [object, file, name].map(|name| self.graph.name(&name));
        self.graph.function(object, file, name)
    }

    /// Object, file and name of the function that is entered at an address.
    fn names(&mut self, (mapping, pc): (MappingId, u64)) -> [String; 3] {
        let section = self.modules.code_place(mapping, pc).section;
        // As Callgrind, which knows of the code of an object what is in its `.text`.
        let is_known = section == Section::Text;
        let at = self.modules.locate(mapping, pc).filter(|_| is_known);
        let (file, name) = at.as_ref().map_or((UNKNOWN, UNKNOWN), |at| (&*at.file, &*at.function));
        let object = self.modules.path(mapping).filter(|_| is_known).unwrap_or(UNKNOWN);
        let [object, file] = [object, file].map(str::to_owned);
        let mut name = name.to_owned();
        if name == UNKNOWN {
            let address = self.modules.vaddr(mapping, pc).filter(|_| is_known).unwrap_or(pc);
            let plt = if section == Section::Plt { " [PLT]" } else { "" };
            name = format!("{address:#018x}{plt}");
        }
        [object, file, name]
    }

    /// Adds jumps. How often their instruction was executed counts with the first of them.
    fn jump(
        &mut self,
        jump: &CostedJump,
        [from, to]: [Option<FunctionId>; 2],
        executed: &mut FxHashMap<(u32, (MappingId, u64)), u64>,
    ) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let executed = || executed.get_mut(&(jump.from, jump.site)).map_or(0, std::mem::take);
        let jumps = Jumps { followed: jump.count, executed: jump.conditional.then(executed) };
        let (place, target) = (self.place(from, jump.site), self.place(to, jump.target));
        self.graph.jump((from, place), (to, target), &jumps);
    }

    /// The place of an instruction. Without debug information it is in the file of its function.
    fn place(&mut self, function: FunctionId, at: (MappingId, u64)) -> CodePosition {
        let bits = at.1 as usize % RECENT;
        let (file, address, line) = match self.recent[bits] {
            Some((recent, located)) if recent == at => located,
            _ => {
                let located = self.locate(at);
                self.recent[bits] = Some((at, located));
                located
            }
        };
        let own = self.graph.get(function).map(|function| function.file);
        let file = file.or(own).unwrap_or_else(|| self.graph.name(UNKNOWN));
        CodePosition {
            file,
            address: if self.positions.instructions { address } else { 0 },
            line: if self.positions.lines { line } else { 0 },
        }
    }

    fn locate(&mut self, (mapping, pc): (MappingId, u64)) -> Located {
        // As for functions, only what is in `.text` is in a file.
        let is_known = self.modules.is_in_text(mapping, pc);
        let found = self.modules.locate(mapping, pc).filter(|at| is_known && &*at.file != UNKNOWN);
        let address = self.modules.vaddr(mapping, pc).filter(|_| is_known).unwrap_or(pc);
        let file = found.as_ref().map(|at| self.graph.name(&at.file));
        (file, address, found.map_or(0, |at| at.line))
    }
}
