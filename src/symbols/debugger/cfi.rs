//! Call frame information: the way from the registers of a function to those of its caller (DWARF
//! 5, 6.4; `.eh_frame` as in the Linux Standard Base Core specification, 10.6; registers numbered
//! as in the x86-64 psABI, figure 3.36).
//!
//! `gimli` decodes the rules; they are applied here, because the crate that does so, `framehop`,
//! restores only RIP, RSP and RBP, and a debugger shows all registers of a frame.

use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, Encoding, Evaluation, EvaluationResult,
    Expression, LittleEndian, Location, RegisterRule, UnwindContext, UnwindSection, Value,
};
use rustc_hash::FxHashMap;

use crate::symbols::debug_files::{DebugFiles, Slice, slice};
use crate::symbols::give_up::GiveUp;

/// Number of registers that are followed: 16 general ones and the return address, which is RIP.
pub const REGISTERS: usize = 17;
/// RBP by its DWARF number.
pub const RBP: usize = 6;
/// RSP by its DWARF number.
pub const RSP: usize = 7;
/// RIP by its DWARF number, that of the return address.
pub const RIP: usize = 16;

/// Values of the registers by DWARF number: RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8 to R15, RIP.
/// `None` for a register that is not known.
pub type Registers = [Option<u64>; REGISTERS];

/// Reads the eight bytes at an address of the program; `None` where it has none.
pub type Memory<'m> = dyn FnMut(u64) -> Option<u64> + 'm;

/// Steps that an expression may take; honest ones take a dozen.
const MAX_STEPS: u32 = 1000;
/// Ranges before an address that are looked at; honest ones do not overlap.
const MAX_OVERLAP: usize = 8;
/// Registers that a function gives back as it got them (x86-64 psABI, 3.2.1): RBX, RBP, R12 to R15.
const PRESERVED: [usize; 6] = [3, 6, 12, 13, 14, 15];

/// The frame that a function was called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its registers at the return address; a register that the function was free to change is not
    /// known.
    pub registers: Registers,
    /// The canonical frame address of the callee, by which its frame is told from others.
    pub cfa: u64,
    /// True if the callee is a signal trampoline: then all registers are as they were when the
    /// signal came, and RIP is the instruction that was to be next and no return address.
    pub signal: bool,
}

/// The reason for there being no caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The information says that nobody called: the start of a thread.
    #[error("the outermost frame")]
    Outermost,
    /// Nothing is said of the address.
    #[error("no call frame information for this code")]
    NoRules,
    /// A register is needed whose value was lost.
    #[error("the frame depends on a register whose value is not known")]
    Register,
    /// The stack cannot be read.
    #[error("cannot read the stack at {0:#x}")]
    Memory(u64),
    /// The rules make no sense.
    #[error("damaged call frame information")]
    Damaged,
}

/// Code that one entry describes.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
    /// Offset of the entry in its section.
    entry: usize,
    /// True for `.eh_frame`, false for `.debug_frame`.
    eh: bool,
}

/// The call frame information of one object.
#[derive(Debug, Default)]
pub struct Cfi {
    eh: Arc<[u8]>,
    frame: Arc<[u8]>,
    bases: BaseAddresses,
    /// By start.
    ranges: Vec<Range>,
}

/// The rules at an address.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub cfa: CfaRule<usize>,
    pub registers: [Option<RegisterRule<usize>>; REGISTERS],
    signal: bool,
    eh: bool,
    encoding: Encoding,
}

impl Cfi {
    /// Reads `.eh_frame` and `.debug_frame` of the object, and of its debug file what the object
    /// lacks.
    pub fn read(files: &DebugFiles) -> Self {
        let main = files.main();
        let load = |name: &str| match main.debug_section(name) {
            bytes if bytes.is_empty() => {
                files.separate().map(|file| file.debug_section(name)).unwrap_or_default()
            }
            bytes => bytes,
        };
        let address = |name: &str| main.section(name).map_or(0, |section| section.sh_addr);
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut cfi = Self { eh: load(".eh_frame"), frame: load(".debug_frame"), bases, ranges: Vec::new() };
        let mut ranges = Vec::new();
        let give_up = files.give_up();
        index(&EhFrame::new(&cfi.eh, LittleEndian), &cfi.bases, true, (&mut ranges, give_up));
        index(&DebugFrame::new(&cfi.frame, LittleEndian), &cfi.bases, false, (&mut ranges, give_up));
        // Where both sections describe code, the one that programs use themselves goes first.
        let order = |range: &Range| (range.start, range.eh);
        give_up.sort_by(&mut ranges, |a, b| order(a).cmp(&order(b)));
        ranges.shrink_to_fit();
        cfi.ranges = ranges;
        cfi
    }

    /// True if an entry for a signal trampoline begins at link-time address `vaddr`.
    pub(crate) fn is_trampoline(&self, vaddr: u64) -> bool {
        self.range(vaddr).is_some_and(|range| range.start == vaddr)
            && self.rules(vaddr).is_ok_and(|rules| rules.signal)
    }

    fn range(&self, vaddr: u64) -> Option<&Range> {
        let before = self.ranges.get(..self.ranges.partition_point(|range| range.start <= vaddr))?;
        before.iter().rev().take(MAX_OVERLAP).find(|range| vaddr < range.end)
    }

    /// The rules at `vaddr`.
    pub(crate) fn rules(&self, vaddr: u64) -> Result<Rules, Stopped> {
        let range = self.range(vaddr).ok_or(Stopped::NoRules)?;
        let found = if range.eh {
            rules_in(&EhFrame::new(&self.eh, LittleEndian), &self.bases, range, vaddr)
        } else {
            rules_in(&DebugFrame::new(&self.frame, LittleEndian), &self.bases, range, vaddr)
        };
        found.map_err(|_| Stopped::Damaged)
    }

    /// The frame that the function at `vaddr` was called from. `vaddr` is a link-time address: of
    /// the next instruction in an innermost or interrupted frame, of the byte before the return
    /// address in others. The object is loaded at `bias`; `registers` are the frame's.
    ///
    /// # Errors
    /// If it is not known, the reason.
    pub(crate) fn caller(
        &self,
        vaddr: u64,
        registers: &Registers,
        bias: u64,
        memory: &mut Memory<'_>,
    ) -> Result<Caller, Stopped> {
        let rules = self.rules(vaddr)?;
        let mut machine = Machine { registers, bias, memory, encoding: rules.encoding };
        let bytes = if rules.eh { &self.eh } else { &self.frame };
        let expression = |expression: &gimli::UnwindExpression<usize>| {
            let end = expression.offset.checked_add(expression.length);
            end.and_then(|end| bytes.get(expression.offset..end)).map(|bytes| Expression(slice(bytes)))
        };
        let cfa = match &rules.cfa {
            CfaRule::RegisterAndOffset { register, offset } => {
                machine.register(register.0)?.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(rule) => machine.evaluate(expression(rule).ok_or(Stopped::Damaged)?, None)?,
        };
        let mut restored: Registers = [None; REGISTERS];
        for (number, (rule, value)) in rules.registers.iter().zip(&mut restored).enumerate() {
            let result = match rule {
                None if PRESERVED.contains(&number) => {
                    registers.get(number).copied().flatten().ok_or(Stopped::Register)
                }
                None if number == RSP => Ok(cfa),
                None if number == RIP => Err(Stopped::Damaged),
                None => Err(Stopped::Register),
                Some(RegisterRule::Undefined) if number == RIP => return Err(Stopped::Outermost),
                Some(RegisterRule::Undefined) => Err(Stopped::Register),
                Some(RegisterRule::SameValue) => {
                    registers.get(number).copied().flatten().ok_or(Stopped::Register)
                }
                Some(RegisterRule::Offset(offset)) => machine.read(cfa.wrapping_add_signed(*offset)),
                Some(RegisterRule::ValOffset(offset)) => Ok(cfa.wrapping_add_signed(*offset)),
                Some(RegisterRule::Register(other)) => machine.register(other.0),
                Some(RegisterRule::Constant(value)) => Ok(*value),
                Some(RegisterRule::Expression(rule)) => {
                    let address =
                        expression(rule).ok_or(Stopped::Damaged).and_then(|e| machine.evaluate(e, Some(cfa)));
                    address.and_then(|address| machine.read(address))
                }
                Some(RegisterRule::ValExpression(rule)) => {
                    expression(rule).ok_or(Stopped::Damaged).and_then(|e| machine.evaluate(e, Some(cfa)))
                }
                Some(_) => Err(Stopped::Damaged),
            };
            // A frame can do without other registers, but not without knowing where it is.
            *value = if number == RIP { Some(result?) } else { result.ok() };
        }
        Ok(Caller { registers: restored, cfa, signal: rules.signal })
    }
}

/// Adds the ranges of the entries in `section`; what follows damage is lost.
fn index<'s, S: UnwindSection<Slice<'s>>>(
    section: &S,
    bases: &BaseAddresses,
    eh: bool,
    (ranges, give_up): (&mut Vec<Range>, &GiveUp),
) where
    S::Offset: std::hash::Hash + Eq,
{
    let mut headers = FxHashMap::default();
    let mut entries = section.entries(bases);
    for entry in give_up.over(std::iter::from_fn(|| entries.next().ok().flatten())) {
        let CieOrFde::Fde(partial) = entry else { continue };
        let entry = partial.parse(|section, bases, offset| {
            if let Some(header) = headers.get(&offset) {
                return Ok(Clone::clone(header));
            }
            let header = section.cie_from_offset(bases, offset)?;
            headers.insert(offset, header.clone());
            Ok(header)
        });
        let Ok(entry) = entry else { continue };
        let start = entry.initial_address();
        let end = start.saturating_add(entry.len());
        // What the linker left out begins at 0.
        if start != 0 && start < end {
            ranges.push(Range { start, end, entry: entry.offset(), eh });
        }
    }
}

/// The rules that the entry of `range` has for `vaddr`.
fn rules_in<'s, S: UnwindSection<Slice<'s>>>(
    section: &S,
    bases: &BaseAddresses,
    range: &Range,
    vaddr: u64,
) -> Result<Rules, gimli::Error> {
    let entry = section.fde_from_offset(bases, range.entry.into(), S::cie_from_offset)?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(section, bases, &mut context, vaddr)?;
    let mut registers = [const { None }; REGISTERS];
    for (number, rule) in (0u16..).zip(&mut registers) {
        let register = if usize::from(number) == RIP {
            entry.cie().return_address_register()
        } else {
            gimli::Register(number)
        };
        *rule = row.register(register);
    }
    let signal = entry.is_signal_trampoline();
    Ok(Rules { cfa: row.cfa().clone(), registers, signal, eh: range.eh, encoding: entry.cie().encoding() })
}

/// The state that expressions are computed over.
struct Machine<'a, 'm> {
    registers: &'a Registers,
    bias: u64,
    memory: &'a mut Memory<'m>,
    encoding: Encoding,
}

impl Machine<'_, '_> {
    fn register(&self, number: u16) -> Result<u64, Stopped> {
        self.registers.get(usize::from(number)).copied().flatten().ok_or(Stopped::Register)
    }

    fn read(&mut self, address: u64) -> Result<u64, Stopped> {
        (self.memory)(address).ok_or(Stopped::Memory(address))
    }

    /// Reads up to eight bytes.
    fn read_part(&mut self, address: u64, size: u8) -> Result<u64, Stopped> {
        let bits = u32::from(size.clamp(1, 8)) * 8;
        let mask = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        // Behind it the memory may end, in front of it too, but not both.
        if let Some(word) = (self.memory)(address) {
            return Ok(word & mask);
        }
        let before = address.wrapping_sub(8 - u64::from(bits / 8));
        self.read(before).map(|word| word.checked_shr(64 - bits).unwrap_or(0))
    }

    /// The value, or the address, that an expression comes to (DWARF 5, 2.5). `first` is on its
    /// stack.
    fn evaluate(&mut self, expression: Expression<Slice<'_>>, first: Option<u64>) -> Result<u64, Stopped> {
        let mut evaluation: Evaluation<Slice<'_>> = expression.evaluation(self.encoding);
        evaluation.set_max_iterations(MAX_STEPS);
        if let Some(first) = first {
            evaluation.set_initial_value(first);
        }
        let mut state = evaluation.evaluate();
        for _ in 0..MAX_STEPS {
            state = match state.map_err(|_| Stopped::Damaged)? {
                EvaluationResult::Complete => {
                    return match evaluation.as_result() {
                        [piece] => match &piece.location {
                            Location::Address { address } => Ok(*address),
                            Location::Value { value } => value.to_u64(u64::MAX).map_err(|_| Stopped::Damaged),
                            Location::Register { register } => self.register(register.0),
                            _ => Err(Stopped::Damaged),
                        },
                        _ => Err(Stopped::Damaged),
                    };
                }
                EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                    let value = self.read_part(address, size)?;
                    evaluation.resume_with_memory(Value::Generic(value))
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = self.register(register.0)?;
                    evaluation.resume_with_register(Value::Generic(value))
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(self.bias))
                }
                _ => return Err(Stopped::Damaged),
            };
        }
        Err(Stopped::Damaged)
    }
}

#[cfg(test)]
mod tests;
