//! From counts per instruction to a profile by file, function and line, and from an address to
//! words.

use iced_x86::{Formatter, GasFormatter, Instruction, Mnemonic};

use crate::guest::Fault;
use crate::hooks::callgraph::costs::CallCosts;
use crate::hooks::callgraph::dumps::Dumps;
use crate::hooks::tally::Tally;
use crate::profile::{CallGraph, Profile, cache_desc};
use crate::requests::Reasons;
use crate::session::call_graph;
use crate::session::config::{CountConfig, Positions};
use crate::session::costs::costs;
use crate::session::instructions::{ByInstruction, Code};
use crate::session::line_index::{LineCosts, LineIndex};
use crate::session::modules::Modules;
use crate::session::outcome::{Ending, Folded, Stop};
use crate::session::places::{deadlock, place, place_of_call};
use crate::x86::decode::{self, Refusal};

/// The run that a profile is of.
pub(super) struct Subject<'a> {
    /// The command line.
    pub command: &'a [u8],
    /// The events that were counted.
    pub counting: &'a CountConfig,
    /// Bytes of instructions that are in no file; `None` if instructions are not asked for.
    pub code: Option<Code<'a>>,
    /// Costs of contexts and calls, if calls are followed.
    pub calls: Option<&'a CallCosts>,
    /// The parts of them that were dumped before.
    pub dumps: &'a Dumps,
    /// The reasons that the program gave for them.
    pub reasons: &'a Reasons,
    /// Names of what it reached out for on the host's network.
    pub outside: &'a [String],
    /// Positions of the call graph.
    pub positions: Positions,
}

/// Folds the accounts of a run; `None` if nobody wants them any more.
pub(super) fn fold_run(
    tally: &Tally,
    modules: &mut Modules,
    index: &mut LineIndex,
    subject: Subject<'_>,
) -> Option<Folded> {
    let give_up = modules.symboliser().give_up().clone();
    let events = subject.counting.events();
    let mut profile = Profile::new(subject.command, events);
    // Readers want the caches described even where none was simulated, as Valgrind 3.19 does it.
    let described = subject.counting.caches.unwrap_or_default();
    for (name, geometry) in [("I1", described.i1), ("D1", described.d1), ("LL", described.ll)] {
        profile.push_desc(cache_desc(name, geometry.size(), geometry.assoc(), geometry.line()));
    }
    subject.outside.iter().for_each(|name| profile.push_desc(format!("Outside: {name} (--allow-net)")));
    let mut insns = subject.code.map(|code| (ByInstruction::new(events), code));
    let mut by_line = LineCosts::default();
    for insn in give_up.over(tally.iter()) {
        let ((mapping, pc), costs) = (insn.at, costs(&insn.counts));
        let line = index.number(modules, mapping, pc);
        by_line.add(line, &costs);
        if let Some((insns, _)) = &mut insns {
            insns.add(modules, mapping, pc, index.line(line), &costs);
        }
    }
    by_line.put(index, &mut profile);
    if give_up.asked() {
        return None;
    }
    let instructions = insns.map(|(insns, code)| insns.finish(profile.cmd(), &code));
    let mut fold = |calls: &CallCosts| {
        call_graph::fold(calls, modules, subject.positions, (subject.command, profile.desc(), events))
    };
    let calls = subject.calls.map(&mut fold);
    let mut dumps: Vec<CallGraph> = subject.dumps.made.iter().map(|dump| fold(&dump.costs)).collect();
    for (graph, dump) in dumps.iter_mut().zip(&subject.dumps.made) {
        graph.trigger = Some(call_graph::trigger(dump.trigger, modules, subject.reasons));
    }
    Some(Folded { calls, dumps, instructions, profile })
}

/// The instruction in the syntax of the other views.
fn in_words(instruction: &Instruction) -> String {
    let mut text = String::new();
    GasFormatter::new().format(instruction, &mut text);
    text
}

/// Puts the end of a run into words: how it is reported, and a line for the log if there is
/// something to explain.
pub(super) fn explain(ending: Ending, modules: &mut Modules) -> (Stop, Option<String>) {
    let (signal, fault, pc, refused, mapping) = match ending {
        Ending::Stop(stop) => return (stop, None),
        Ending::Refused { why, calls } => {
            let at = place_of_call(modules, &calls).map_or_else(String::new, |at| format!("; at {at}"));
            return (Stop::Refused(format!("{why}{at}")), None);
        }
        Ending::Deadlock { why, tasks } => return (Stop::Refused(deadlock(modules, why, &tasks)), None),
        Ending::Fault { signal, fault, pc, refused, mapping } => (signal, fault, pc, refused, mapping),
    };
    let at = place(modules, mapping, pc);
    let what = match refused {
        Some((bytes, Refusal::Unsupported)) => {
            let instruction = decode::decode(&bytes, pc);
            let why = format!(
                "cannot emulate `{}` ({}) at {at}: the emulated CPU is x86-64-v2; build the program with \
                 -march=x86-64-v2 or keep it from choosing newer instructions",
                in_words(&instruction),
                decode::feature_names(&instruction),
            );
            return (Stop::Refused(why), None);
        }
        Some((bytes, Refusal::Transfer)) => {
            let instruction = decode::decode(&bytes, pc);
            let instead = if instruction.mnemonic() == Mnemonic::Int {
                "system calls of 32-bit programs are not there; make them with `syscall`"
            } else {
                "transfers to other segments are not there; use a near jump, call or return"
            };
            return (
                Stop::Refused(format!("cannot emulate `{}` at {at}: {instead}", in_words(&instruction))),
                None,
            );
        }
        Some((bytes, Refusal::Privileged)) => {
            format!("the privileged instruction `{}`", in_words(&decode::decode(&bytes, pc)))
        }
        Some((_, Refusal::Undefined)) => "an undefined instruction".into(),
        None => match fault {
            Fault::Page { addr, fetch: true, .. } => format!("a jump to {addr:#x}, where there is no code"),
            Fault::Page { addr, write, mapped, .. } => {
                let way = if write { "write to" } else { "read of" };
                let why = if mapped { "which does not allow it" } else { "which is not mapped" };
                format!("a {way} {addr:#x}, {why}")
            }
            Fault::Bus { addr } => format!("an access to {addr:#x}, past the end of the mapped file"),
            Fault::Protection { .. } | Fault::Overflow => {
                "an address or instruction that user programs may not use".into()
            }
            Fault::Stack => "an access to the stack at an address that is not canonical".into(),
            Fault::KernelStore { addr } => format!("a write to {addr:#x}, which is not possible"),
            Fault::Divide => "a division by zero or with too large a result".into(),
            Fault::InvalidOpcode => "an undefined instruction".into(),
            Fault::Breakpoint => "a breakpoint instruction".into(),
            Fault::Debug | Fault::Icebp => "a debug trap".into(),
            Fault::FloatingPoint => "a floating-point exception".into(),
            Fault::Alignment => "a misaligned access".into(),
        },
    };
    (Stop::Killed(signal), Some(format!("the program was ended by signal {signal}: {what}, at {at}")))
}
