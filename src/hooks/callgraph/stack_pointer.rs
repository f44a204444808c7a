//! The stack pointer after a block, from its instructions and the addresses in its record.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

use crate::x86::address::Address;
use crate::x86::cost::{Access, Cost, Slot};

/// The stack pointer after a block, by what is known before and in its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackPointer {
    /// So many bytes above the one before the block.
    Before(i64),
    /// So many bytes above the address in a slot.
    Slot(u16, i64),
}

impl Default for StackPointer {
    fn default() -> StackPointer {
        StackPointer::Before(0)
    }
}

impl StackPointer {
    /// The slot that shows it, if one does.
    pub(crate) fn slot(self) -> Option<u16> {
        match self {
            StackPointer::Before(_) => None,
            StackPointer::Slot(slot, _) => Some(slot),
        }
    }

    fn moved(self, bytes: i64) -> StackPointer {
        match self {
            StackPointer::Before(offset) => StackPointer::Before(offset.wrapping_add(bytes)),
            StackPointer::Slot(slot, offset) => StackPointer::Slot(slot, offset.wrapping_add(bytes)),
        }
    }
}

/// Follows the stack pointer through the instructions of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Follower {
    /// The value so far, or the last one that was known.
    value: StackPointer,
    /// Some instruction has set it to something that the record does not show.
    lost: bool,
}

impl Follower {
    /// Adds a slot with the stack pointer to the cost of the next instruction if nothing else will
    /// show it.
    pub(crate) fn ask(&self, instruction: &Instruction, cost: &mut Cost) {
        let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        if self.lost && !repeats && shown(instruction, cost).is_none() {
            cost.slots.push(Slot { access: Access::None, size: 0, address: Address::Rsp(0) });
        }
    }

    /// Tests whether the next instruction has to show the stack pointer in the record: it is not
    /// known, or this is a call or a return, by which calls are followed.
    pub(crate) fn needs(&self, instruction: &Instruction) -> bool {
        use Mnemonic::{Call, Leave, Ret, Retf};
        self.lost || matches!(instruction.mnemonic(), Call | Leave | Ret | Retf)
    }

    /// Passes an instruction, whose slots begin at `first_slot`.
    pub(crate) fn pass(
        &mut self,
        instruction: &Instruction,
        cost: &Cost,
        first_slot: u16,
        factory: &mut InstructionInfoFactory,
    ) {
        if self.needs(instruction)
            && let Some((slot, offset)) = shown(instruction, cost)
        {
            (self.value, self.lost) = (StackPointer::Slot(first_slot + slot, offset), false);
        }
        let immediate = || match instruction.op_kind(1) {
            OpKind::Immediate8to64 | OpKind::Immediate32to64 => Some(instruction.immediate(1) as i64),
            _ => None,
        };
        let on_rsp = instruction.op_count() > 0
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register() == Register::RSP;
        let moved = match instruction.mnemonic() {
            Mnemonic::Leave => {
                if let Some(slot) = cost.slots.iter().position(|slot| slot.address == Address::Rbp(0)) {
                    (self.value, self.lost) = (StackPointer::Slot(first_slot + slot as u16, 0), false);
                }
                Some(8)
            }
            Mnemonic::Pop if on_rsp => None,
            Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => None,
            Mnemonic::Add if on_rsp => immediate(),
            Mnemonic::Sub if on_rsp => immediate().map(|bytes| bytes.wrapping_neg()),
            Mnemonic::Lea if on_rsp && is_near_rsp(instruction) => {
                Some(instruction.memory_displacement64() as i64)
            }
            _ if instruction.is_stack_instruction() => Some(i64::from(instruction.stack_pointer_increment())),
            _ if writes_rsp(instruction, factory) => None,
            _ => Some(0),
        };
        match moved {
            Some(bytes) => self.value = self.value.moved(bytes),
            None => self.lost = true,
        }
    }

    /// The stack pointer after the instructions so far.
    pub(crate) fn value(&self) -> StackPointer {
        self.value
    }
}

/// The slot of an instruction that shows the stack pointer before it, and the offset from there.
fn shown(instruction: &Instruction, cost: &Cost) -> Option<(u16, i64)> {
    cost.slots.iter().zip(0..).find_map(|(slot, number)| match slot.address {
        Address::Rsp(offset) => Some((number, -i64::from(offset))),
        Address::Operand(operand)
            if instruction.op_count() > u32::from(operand)
                && instruction.op_kind(operand.into()) == OpKind::Memory
                && is_near_rsp(instruction) =>
        {
            Some((number, (instruction.memory_displacement64() as i64).wrapping_neg()))
        }
        _ => None,
    })
}

/// Tests whether the memory operand is at RSP and a displacement, and nothing else.
fn is_near_rsp(instruction: &Instruction) -> bool {
    instruction.memory_base() == Register::RSP
        && instruction.memory_index() == Register::None
        && !matches!(instruction.segment_prefix(), Register::FS | Register::GS)
        // POP computes the address after it has moved the stack pointer.
        && instruction.mnemonic() != Mnemonic::Pop
}

fn writes_rsp(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> bool {
    let writes = |access| {
        matches!(
            access,
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        )
    };
    let info = factory.info(instruction);
    info.used_registers()
        .iter()
        .any(|used| used.register().full_register() == Register::RSP && writes(used.access()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::cost::cost;
    use crate::x86::decode::decode;

    /// The stack pointer after these instructions, with the slots that the first leave behind.
    fn after(code: &[&[u8]]) -> (StackPointer, bool, usize) {
        let mut factory = InstructionInfoFactory::new();
        let (mut follower, mut slots, mut pc) = (Follower::default(), 0, 0x1000);
        for bytes in code {
            let instruction = decode(bytes, pc);
            pc += bytes.len() as u64;
            let mut cost = cost(&instruction, &mut factory);
            follower.ask(&instruction, &mut cost);
            follower.pass(&instruction, &cost, slots, &mut factory);
            slots += cost.slots.len() as u16;
        }
        (follower.value(), follower.lost, slots.into())
    }

    #[test]
    fn what_moves_it_by_a_constant_needs_no_slot() {
        // sub rsp,0x28; lea rsp,[rsp+8]; add rsp,0x10
        let code: [&[u8]; 3] =
            [&[0x48, 0x83, 0xec, 0x28], &[0x48, 0x8d, 0x64, 0x24, 8], &[0x48, 0x83, 0xc4, 0x10]];
        assert_eq!(after(&code), (StackPointer::Before(-0x10), false, 0));
    }

    #[test]
    fn a_call_and_a_return_show_it() {
        assert_eq!(after(&[&[0xe8, 0, 0, 0, 0]]), (StackPointer::Slot(0, 0), false, 1));
        assert_eq!(after(&[&[0xc3]]), (StackPointer::Slot(0, 8), false, 1));
        assert_eq!(after(&[&[0xc2, 0x10, 0]]), (StackPointer::Slot(0, 0x18), false, 1));
        // pop rbp; ret
        assert_eq!(after(&[&[0x5d], &[0xc3]]), (StackPointer::Slot(1, 8), false, 2));
        // leave
        assert_eq!(after(&[&[0xc9]]), (StackPointer::Slot(0, 8), false, 1));
        // mov rax,[rsp+0x18]; push rax
        assert_eq!(after(&[&[0x48, 0x8b, 0x44, 0x24, 0x18], &[0x50]]), (StackPointer::Before(-8), false, 2));
        // mov rsp,rbp; mov rax,[rsp+0x18]; push rax
        let set: [&[u8]; 3] = [&[0x48, 0x89, 0xec], &[0x48, 0x8b, 0x44, 0x24, 0x18], &[0x50]];
        assert_eq!(after(&set), (StackPointer::Slot(0, -0x20), false, 2));
    }

    #[test]
    fn what_sets_it_is_asked_for() {
        // mov rsp,r8; jmp rdx, as longjmp(3) does it
        assert_eq!(after(&[&[0x4c, 0x89, 0xc4], &[0xff, 0xe2]]), (StackPointer::Slot(0, 0), false, 1));
        // mov rsp,rbp; pop rbp
        assert_eq!(after(&[&[0x48, 0x89, 0xec], &[0x5d]]), (StackPointer::Slot(0, 8), false, 1));
        // mov rsp,r8
        assert_eq!(after(&[&[0x4c, 0x89, 0xc4]]), (StackPointer::Before(0), true, 0));
    }
}
