//! Whole stacks of calls. For code without call frame information, a caller is guessed, and checked
//! for being one.

use std::sync::Arc;

use crate::guest::{Gpr, GuestCpu};
use crate::symbols::debugger::cfi::{Caller, Cfi, Memory, RBP, REGISTERS, RIP, RSP, Registers, Stopped};
use crate::symbols::debugger::prologue_scan::{self, MAX_CODE, StackDepth};

/// General registers by DWARF's numbers (x86-64 psABI, figure 3.36).
pub const GPRS: [Gpr; 16] = [
    Gpr::Rax,
    Gpr::Rdx,
    Gpr::Rcx,
    Gpr::Rbx,
    Gpr::Rsi,
    Gpr::Rdi,
    Gpr::Rbp,
    Gpr::Rsp,
    Gpr::R8,
    Gpr::R9,
    Gpr::R10,
    Gpr::R11,
    Gpr::R12,
    Gpr::R13,
    Gpr::R14,
    Gpr::R15,
];

/// The registers of the running code, the innermost frame.
pub fn registers(cpu: &dyn GuestCpu) -> Registers {
    let mut registers = [None; REGISTERS];
    for (register, gpr) in registers.iter_mut().zip(GPRS) {
        *register = Some(cpu.gpr(gpr));
    }
    registers[RIP] = Some(cpu.rip());
    registers
}

/// The object that holds an address.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its call frame information, if it has any.
    pub cfi: Option<Arc<Cfi>>,
    /// The difference of its addresses in the program and its link-time addresses.
    pub bias: u64,
    /// The beginning in the program of the function that holds the address, if it is known: it
    /// helps with code that has no call frame information.
    pub function: Option<u64>,
}

/// Finds the object whose code is at an address of the program; `None` where there is no code.
pub type FindModule<'f> = dyn FnMut(u64) -> Option<Module> + 'f;

/// The way a frame was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is the one that runs.
    Innermost,
    /// By call frame information.
    Cfi,
    /// By the usual use of RBP and the stack; frames may be missing between this and the one
    /// before.
    Guess,
}

/// A frame of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its registers, as far as they are known. RIP always is.
    pub registers: Registers,
    /// True if RIP is the instruction that runs next, as in the innermost frame and in one that a
    /// signal interrupted; else it is a return address, and the call is before it.
    pub exact: bool,
    /// True for the trampoline that calls a signal handler and returns from it.
    pub signal: bool,
    /// The way it was found.
    pub found: Found,
}

impl Frame {
    /// RIP.
    pub fn pc(&self) -> u64 {
        self.registers.get(RIP).copied().flatten().unwrap_or(0)
    }

    /// An address in the instruction that the frame is in, for finding its function and line: if
    /// RIP is a return address, an address in the call.
    pub fn code(&self) -> u64 {
        if self.exact { self.pc() } else { self.pc().wrapping_sub(1) }
    }
}

/// The end of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum End {
    /// All frames are there.
    #[error("all frames are shown")]
    Complete,
    /// As many frames as were asked for are there.
    #[error("more frames follow")]
    Limit,
    /// The next frame would not be further out than the last, so the stack is damaged.
    #[error("the frames do not lead outward; the stack may be damaged")]
    NoProgress,
    /// The next frame cannot be found.
    #[error("{0}")]
    Stopped(Stopped),
}

/// The frames from the innermost outward.
#[derive(Clone, Debug)]
pub struct Stack {
    /// At least one, unless none were asked for.
    pub frames: Vec<Frame>,
    /// The reason for there being no more.
    pub end: End,
}

/// Walks the stack of a task with these `registers`, up to `limit` frames.
pub fn unwind(
    registers: &Registers,
    limit: usize,
    find: &mut FindModule<'_>,
    memory: &mut Memory<'_>,
) -> Stack {
    let mut frames: Vec<Frame> = Vec::new();
    let mut frame = Frame { registers: *registers, exact: true, signal: false, found: Found::Innermost };
    // The end of the last frame, if the next one must be above it.
    let mut floor: Option<u64> = None;
    loop {
        if frames.len() >= limit {
            return Stack { frames, end: End::Limit };
        }
        let (caller, found) = match caller(&frame, find, memory) {
            Ok(caller) => (Ok(caller), Found::Cfi),
            Err(Stopped::NoRules) => (guess(&frame, find, memory), Found::Guess),
            Err(stopped) => (Err(stopped), Found::Cfi),
        };
        frame.signal = caller.is_ok_and(|caller| caller.signal);
        frames.push(frame);
        let end = match caller {
            Err(Stopped::Outermost) => End::Complete,
            Err(stopped) => End::Stopped(stopped),
            Ok(caller) if matches!(caller.registers.get(RIP), Some(Some(0) | None)) => End::Complete,
            // A handler may have run on an alternate stack, above or below.
            Ok(caller) if !caller.signal && floor.is_some_and(|floor| caller.cfa <= floor) => End::NoProgress,
            Ok(caller) => {
                floor = (!caller.signal).then_some(caller.cfa);
                frame = Frame { registers: caller.registers, exact: caller.signal, signal: false, found };
                continue;
            }
        };
        return Stack { frames, end };
    }
}

fn caller(frame: &Frame, find: &mut FindModule<'_>, memory: &mut Memory<'_>) -> Result<Caller, Stopped> {
    // Nobody calls a trampoline: its first instruction is where the handler returns to.
    let trampoline = |module: &Module| {
        let vaddr = frame.pc().wrapping_sub(module.bias);
        module.cfi.as_ref().is_some_and(|cfi| cfi.is_trampoline(vaddr))
    };
    let here = find(frame.pc()).filter(|module| frame.exact || trampoline(module));
    let (address, module) = match here {
        Some(module) => (frame.pc(), Some(module)),
        None => (frame.code(), find(frame.code())),
    };
    let module = module.ok_or(Stopped::NoRules)?;
    let cfi = module.cfi.ok_or(Stopped::NoRules)?;
    cfi.caller(address.wrapping_sub(module.bias), &frame.registers, module.bias, memory)
}

/// The caller by the function's effect on the stack, else by the chain of frame pointers.
fn guess(frame: &Frame, find: &mut FindModule<'_>, memory: &mut Memory<'_>) -> Result<Caller, Stopped> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const PUSH_RBP: u8 = 0x55;
    const MOV_RBP_RSP: [[u8; 3]; 2] = [[0x48, 0x89, 0xe5], [0x48, 0x8b, 0xec]];
    let register = |number: usize| frame.registers.get(number).copied().flatten();
    let (pc, rsp, rbp) = (frame.pc(), register(RSP), register(RBP));
    // Places of the return address, and RBP of the caller.
    let mut candidates: Vec<(u64, Option<u64>)> = Vec::new();
    if let Some(depth) = find(frame.code()).and_then(|module| depth_at(pc, module.function?, memory)) {
        let slot = match depth.frame {
            Some(bytes) => rbp.and_then(|rbp| rbp.checked_add(bytes)),
            None => rsp.and_then(|rsp| rsp.checked_add(depth.bytes)),
        };
        let mut saved = |slot: u64| match depth.saved {
            Some(bytes) => memory(slot.wrapping_sub(bytes)),
            None => rbp,
        };
        candidates.extend(slot.map(|slot| (slot, saved(slot))));
    }
    if let (true, Some(rsp)) = (frame.exact, rsp) {
        let code = memory(pc).map(u64::to_le_bytes);
        let before = memory(pc.wrapping_sub(8)).map(|word| word.to_le_bytes()[7]);
        match code {
            // A jump to nowhere was a call.
            None => candidates.push((rsp, rbp)),
            Some(code) => {
                let returns = matches!(code, [0xc3 | 0xc2, ..] | [0xf3, 0xc3, ..]);
                if code.starts_with(&ENDBR64) || code.first() == Some(&PUSH_RBP) || returns {
                    candidates.push((rsp, rbp));
                }
                if before == Some(PUSH_RBP) && MOV_RBP_RSP.iter().any(|bytes| code.starts_with(bytes)) {
                    candidates.push((rsp.wrapping_add(8), memory(rsp)));
                }
            }
        }
    }
    if let Some(rbp) = rbp.filter(|rbp| rbp % 8 == 0 && rsp.is_none_or(|rsp| rsp <= *rbp)) {
        candidates.push((rbp.wrapping_add(8), memory(rbp)));
    }
    for (slot, rbp) in candidates {
        let Some(address) = memory(slot) else { continue };
        if address != 0 && !(find(address.wrapping_sub(1)).is_some() && follows_call(address, memory)) {
            continue;
        }
        let cfa = slot.wrapping_add(8);
        let mut registers: Registers = [None; REGISTERS];
        for (number, value) in [(RBP, rbp), (RSP, Some(cfa)), (RIP, Some(address))] {
            if let Some(register) = registers.get_mut(number) {
                *register = value;
            }
        }
        return Ok(Caller { registers, cfa, signal: false });
    }
    // Start-up code ends the chain with 0 (x86-64 psABI, 3.4.1).
    let outermost = rbp == Some(0) && find(frame.code()).is_some();
    Err(if outermost { Stopped::Outermost } else { Stopped::NoRules })
}

/// The depth of the stack at `pc` in the function that begins at `start`.
fn depth_at(pc: u64, start: u64, memory: &mut Memory<'_>) -> Option<StackDepth> {
    let length = pc.checked_sub(start).filter(|length| *length <= MAX_CODE)?;
    let mut code = Vec::new();
    while (code.len() as u64) < length {
        code.extend_from_slice(&memory(start.wrapping_add(code.len() as u64))?.to_le_bytes());
    }
    code.truncate(usize::try_from(length).ok()?);
    prologue_scan::behind(&code)
}

/// True if the instruction before `address` can be a call (Intel SDM vol. 2, CALL: E8, and FF /2 of
/// two to seven bytes).
fn follows_call(address: u64, memory: &mut Memory<'_>) -> bool {
    let Some(bytes) = memory(address.wrapping_sub(8)).map(u64::to_le_bytes) else { return false };
    let indirect = |length: usize| {
        let at = bytes.len().saturating_sub(length);
        bytes.get(at) == Some(&0xff)
            && bytes.get(at.saturating_add(1)).is_some_and(|modrm| modrm >> 3 & 7 == 2)
    };
    bytes.get(3) == Some(&0xe8) || (2..=7).any(indirect)
}

#[cfg(test)]
mod tests;
