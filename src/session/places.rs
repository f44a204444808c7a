//! Places in the program, for people: where it was when something went wrong, and who called.

use crate::hooks::plan::MappingId;
use crate::profile::UNKNOWN;
use crate::session::modules::Modules;

/// Instructions of a task in a call, each with the file that it came from: the `syscall`
/// instruction, then the calls that led there.
pub(super) type Calls = Vec<(MappingId, u64)>;

/// The place of an instruction: `0x401000 (main, prog.c:12)`.
pub(super) fn place(modules: &mut Modules, mapping: MappingId, pc: u64) -> String {
    let object = modules.path(mapping).map(str::to_owned);
    modules.read_debug_info([(mapping, pc)]);
    match modules.locate(mapping, pc) {
        Some(at) if at.line > 0 => format!("{pc:#x} ({}, {}:{})", at.function, at.file, at.line),
        Some(at) if &*at.function != UNKNOWN => {
            format!("{pc:#x} ({}, {})", at.function, object.unwrap_or_default())
        }
        _ => match object {
            Some(object) => format!("{pc:#x} ({object})"),
            None => format!("{pc:#x}"),
        },
    }
}

/// The place of a system call, and of the nearest caller whose source is known: the call itself is
/// mostly in the C library.
pub(super) fn place_of_call(modules: &mut Modules, calls: &Calls) -> Option<String> {
    let (mapping, pc) = *calls.first()?;
    let at = place(modules, mapping, pc);
    modules.read_debug_info(calls.iter().copied());
    let has_line = |&&(mapping, pc): &&(MappingId, u64)| {
        modules.locate(mapping, pc).is_some_and(|location| location.line > 0)
    };
    match calls.iter().find(has_line).copied() {
        Some((mapping, caller)) if caller != pc => {
            Some(format!("{at}, called from {}", place(modules, mapping, caller)))
        }
        _ => Some(at),
    }
}

/// The report of a deadlock: a line for each task, and one for each of its calls.
pub(super) fn deadlock(modules: &mut Modules, why: String, tasks: &[(String, Calls)]) -> String {
    if let [(_, calls)] = tasks {
        let at = place_of_call(modules, calls).map_or_else(String::new, |at| format!("; at {at}"));
        return format!("{why}{at}");
    }
    let mut text = why;
    for (task, calls) in tasks {
        text.push_str(&format!("\n{task}"));
        modules.read_debug_info(calls.iter().copied());
        for (at, (mapping, pc)) in calls.iter().enumerate() {
            let sign = if at == 0 { "at" } else { "by" };
            text.push_str(&format!("\n   {sign} {}", place(modules, *mapping, *pc)));
        }
    }
    text
}
