//! The session's side of Valgrind's client requests: the log, and names for addresses.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::emu::memory::space::AddressSpace;
use crate::guest::{GuestCpu, GuestMemory};
use crate::hooks::plan::{MappingId, NO_MAPPING};
use crate::kernel::Kernel;
use crate::profile::UNKNOWN;
use crate::requests::{Client, CodePlace, Host, Voice};
use crate::session::control::Control;
use crate::session::modules::Modules;
use crate::symbols::debugger::cfi::Cfi;
use crate::symbols::debugger::unwind;

/// The running task, as a maker of requests.
pub(super) fn client(kernel: &Kernel) -> Client {
    let process = kernel.process();
    let at = process.tasks.iter().position(|task| *task == kernel.current());
    Client { pid: process.pid, tid: kernel.task().tid, thread: at.map_or(1, |at| at as u64 + 1) }
}

/// The parts of a run with which requests are served.
pub(super) struct RequestHost<'a> {
    pub(super) cpu: &'a mut dyn GuestCpu,
    pub(super) mem: &'a mut AddressSpace,
    pub(super) kernel: &'a mut Kernel,
    pub(super) modules: &'a mut Modules,
    pub(super) control: &'a Control,
    /// The log is to hear nothing of the running process.
    pub(super) silent: bool,
}

impl RequestHost<'_> {
    fn mapping(&mut self, pc: u64) -> MappingId {
        self.modules.number(self.mem.file_at(pc))
    }
}

impl Host for RequestHost<'_> {
    fn cpu(&mut self) -> &mut dyn GuestCpu {
        self.cpu
    }

    fn mem(&mut self) -> &mut dyn GuestMemory {
        self.mem
    }

    fn locate(&mut self, pc: u64) -> CodePlace {
        let mapping = self.mapping(pc);
        self.modules.read_debug_info([(mapping, pc)]);
        let at = self.modules.locate(mapping, pc);
        let known = at.as_ref().filter(|at| &*at.function != UNKNOWN);
        let line = at.as_ref().filter(|at| at.line > 0).map(|at| {
            let name = at.file.rsplit('/').next().unwrap_or_default();
            (name.to_owned(), at.line)
        });
        CodePlace {
            pc,
            function: known.map(|at| at.function.to_string()),
            line,
            object: self.modules.path(mapping).map(str::to_owned),
        }
    }

    fn calls(&mut self, limit: usize) -> Vec<u64> {
        let registers = unwind::registers(self.cpu);
        let mut known: FxHashMap<MappingId, Option<CallFrames>> = FxHashMap::default();
        let RequestHost { mem, modules, .. } = self;
        let mem = &**mem;
        let mut find = |pc: u64| {
            let mapping = modules.number(mem.file_at(pc));
            if mapping == NO_MAPPING {
                return None;
            }
            let (cfi, bias) =
                known.entry(mapping).or_insert_with(|| call_frames(modules, mapping, pc)).clone()?;
            Some(unwind::Module { cfi, bias, function: None })
        };
        let mut memory = |addr: u64| {
            let mut bytes = [0; 8];
            mem.peek(addr, &mut bytes).ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let stack = unwind::unwind(&registers, limit, &mut find, &mut memory);
        stack.frames.iter().map(unwind::Frame::pc).collect()
    }

    fn say(&mut self, voice: Voice, text: &[u8]) -> bool {
        let RequestHost { kernel, control, silent, .. } = self;
        if *silent {
            return true;
        }
        kernel.streams.outside(|| {
            if let Some(terminal) = &control.terminal {
                terminal.writing(2, text);
            }
            if let Some(log) = &control.log {
                log.say(voice, text);
            }
        })
    }

    fn notice(&mut self, line: String) {
        self.kernel.notices.once(line);
    }
}

/// Call frame information of a file, if it has any, and what is added to its link-time addresses.
type CallFrames = (Option<Arc<Cfi>>, u64);

/// The frames of the file that has code at `pc`.
fn call_frames(modules: &mut Modules, mapping: MappingId, pc: u64) -> Option<CallFrames> {
    let bias = pc.wrapping_sub(modules.vaddr(mapping, pc)?);
    Some((modules.object(mapping)?.cfi(), bias))
}
