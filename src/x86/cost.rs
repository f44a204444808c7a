//! Cost of an instruction: its data events, in Cachegrind's order, and the accesses of the CPU that
//! supply their addresses. The rules are those of VEX's amd64 front end; `docs/counting.md` states
//! them one by one.

use iced_x86::{
    Code, ConditionCode, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
};

use crate::x86::address::Address;
use crate::x86::far::FarReturn;

/// Counter of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EventKind {
    /// Dr: a load, or a load and a store of one instruction at one address (a "modify").
    Read,
    /// Dw: a store.
    Write,
    /// None: Valgrind's optimiser removes the event.
    Uncounted,
}

/// Data event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Event {
    /// Index of the slot with its address.
    pub(crate) slot: u8,
    /// Offset from that address.
    pub(crate) offset: u16,
    /// Bytes accessed.
    pub(crate) size: u16,
    /// Counter.
    pub(crate) kind: EventKind,
}

/// Access of the emulated CPU that fills a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Load, in one or more adjacent pieces.
    Load,
    /// Store, in one or more adjacent pieces.
    Store,
    /// Load and then store of the same bytes.
    Modify,
    /// No access; the address is computed.
    None,
}

/// Address in a record of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Access of the CPU.
    pub(crate) access: Access,
    /// Bytes of the whole access.
    pub(crate) size: u16,
    /// Rule for the address.
    pub(crate) address: Address,
}

/// Cost of an instruction besides its fetch and the branch at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Slots, in the order of the CPU's accesses.
    pub(crate) slots: Vec<Slot>,
    /// Data events in Cachegrind's order.
    pub(crate) events: Vec<Event>,
    /// The retry exit of a locked operation: a conditional branch after the data, never taken.
    pub(crate) retry_branch: bool,
}

impl Cost {
    fn slot(&mut self, access: Access, size: usize, address: Address) -> u8 {
        self.slots.push(Slot { access, size: size as u16, address });
        (self.slots.len() - 1) as u8
    }

    fn event(&mut self, slot: u8, offset: usize, size: usize, kind: EventKind) {
        self.events.push(Event { slot, offset: offset as u16, size: size as u16, kind });
    }

    fn load(&mut self, size: usize, address: Address) {
        let slot = self.slot(Access::Load, size, address);
        self.event(slot, 0, size, EventKind::Read);
    }

    /// Adds a write that the CPU does not make, at an address that is computed before the
    /// instruction.
    pub(crate) fn push_computed(&mut self, size: usize, address: Address) {
        let slot = self.slot(Access::None, size, address);
        self.event(slot, 0, size, EventKind::Write);
    }

    /// Adds a load or a store of the CPU, and its event. Returns the slot.
    pub(crate) fn push_access(&mut self, access: Access, size: u16, address: Address) -> u8 {
        let slot = self.slot(access, size.into(), address);
        let kind = if access == Access::Store { EventKind::Write } else { EventKind::Read };
        self.event(slot, 0, size.into(), kind);
        slot
    }

    fn store(&mut self, size: usize, address: Address) {
        let slot = self.slot(Access::Store, size, address);
        self.event(slot, 0, size, EventKind::Write);
    }
}

/// Index of the explicit memory operand, if there is one.
fn memory_operand(instruction: &Instruction) -> Option<u8> {
    (0..instruction.op_count()).find(|&i| instruction.op_kind(i) == OpKind::Memory).map(|i| i as u8)
}

/// Recognises atomic operations: by prefix, or XCHG, which is always locked.
pub(crate) fn is_locked(instruction: &Instruction) -> bool {
    instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg
}

/// Bytes by which a push, pop, call or return moves RSP.
fn stack_bytes(instruction: &Instruction) -> usize {
    instruction.stack_pointer_increment().unsigned_abs() as usize
}

/// Cost of an instruction. The caller keeps `factory`, which is expensive to create.
pub(crate) fn cost(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Cost {
    use Mnemonic as M;
    let mut cost = Cost::default();
    let operand = memory_operand(instruction);
    let at = |i: u8| Address::Operand(i);
    let size = instruction.memory_size().size();
    match instruction.mnemonic() {
        M::Lea | M::Nop | M::Endbr64 | M::Endbr32 | M::Clflush | M::Reservednop => {}
        M::Prefetch | M::Prefetchw | M::Prefetchnta | M::Prefetcht0 | M::Prefetcht1 | M::Prefetcht2 => {}
        M::Prefetchwt1 => {}
        M::Push => {
            let bytes = stack_bytes(instruction);
            if let Some(m) = operand {
                cost.load(bytes, at(m));
            }
            cost.store(bytes, Address::Rsp(-(bytes as i32)));
        }
        M::Pop => {
            let bytes = stack_bytes(instruction);
            cost.load(bytes, Address::Rsp(0));
            if let Some(m) = operand {
                cost.store(bytes, Address::OperandAfterPop { operand: m, bytes: bytes as u8 });
            }
        }
        M::Pushf | M::Pushfq => {
            let bytes = stack_bytes(instruction);
            cost.store(bytes, Address::Rsp(-(bytes as i32)));
        }
        M::Popf | M::Popfq => cost.load(stack_bytes(instruction), Address::Rsp(0)),
        M::Call => {
            if let Some(m) = operand {
                cost.load(8, at(m));
            }
            cost.store(8, Address::Rsp(-8));
        }
        M::Ret => cost.load(8, Address::Rsp(0)),
        M::Retf | M::Iret | M::Iretd | M::Iretq => far_return(instruction, &mut cost),
        M::Leave => cost.load(if instruction.code() == Code::Leavew { 2 } else { 8 }, Address::Rbp(0)),
        M::Enter => enter(instruction, &mut cost),
        M::Movsb | M::Movsw | M::Movsq if instruction.is_string_instruction() => string_move(&mut cost, size),
        M::Movsd if instruction.is_string_instruction() => string_move(&mut cost, size),
        M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq => cost.load(size, at(1)),
        M::Stosb | M::Stosw | M::Stosd | M::Stosq => cost.store(size, at(0)),
        M::Scasb | M::Scasw | M::Scasd | M::Scasq => cost.load(size, at(1)),
        M::Cmpsb | M::Cmpsw | M::Cmpsq => string_compare(&mut cost, size),
        M::Cmpsd if instruction.is_string_instruction() => string_compare(&mut cost, size),
        M::Bt | M::Bts | M::Btr | M::Btc => bit_test(instruction, operand, &mut cost),
        M::Xlatb => cost.load(1, at(0)),
        M::Maskmovq | M::Maskmovdqu => {
            // Counted as one modify of the whole operand, whatever the mask says.
            let slot = cost.slot(Access::Store, size, at(0));
            cost.event(slot, 0, size, EventKind::Read);
        }
        M::Fxsave | M::Fxsave64 => fx_state(&mut cost, operand, EventKind::Write),
        M::Fxrstor | M::Fxrstor64 => fx_state(&mut cost, operand, EventKind::Read),
        M::Sgdt | M::Sidt => {
            if let Some(m) = operand {
                let slot = cost.slot(Access::Store, 10, at(m));
                cost.event(slot, 0, 6, EventKind::Write);
            }
        }
        // Sixteen bits in memory, whatever the operand size.
        M::Sldt | M::Str | M::Smsw => {
            if let Some(m) = operand {
                cost.store(2, at(m));
            }
        }
        _ if jumps_to_next(instruction) => {
            cost.slot(Access::None, 0, Address::Outcome);
        }
        _ => {
            if let Some(m) = operand {
                general(instruction, factory, m, size, &mut cost);
            }
        }
    }
    cost
}

/// IRET and far RET load each value that they pop, as in VEX's front end for 32-bit code; that for
/// 64-bit code does not know them.
fn far_return(instruction: &Instruction, cost: &mut Cost) {
    let Some(far) = FarReturn::of(instruction) else { return };
    let slot = cost.slot(Access::Load, far.bytes(), Address::Rsp(0));
    for i in 0..far.values {
        cost.event(slot, i * far.size, far.size, EventKind::Read);
    }
}

fn string_move(cost: &mut Cost, size: usize) {
    cost.load(size, Address::Operand(1));
    cost.store(size, Address::Operand(0));
}

/// The destination (RDI) is read before the source, in VEX and in the engine alike.
fn string_compare(cost: &mut Cost, size: usize) {
    cost.load(size, Address::Operand(1));
    cost.load(size, Address::Operand(0));
}

/// ENTER: pushes RBP; above level 0 it copies level - 1 frame pointers and pushes the new one
/// (Intel SDM vol. 2).
fn enter(instruction: &Instruction, cost: &mut Cost) {
    let level = i32::from(instruction.immediate8_2nd() & 31);
    let bytes = if instruction.code() == Code::Enterw_imm16_imm8 { 2 } else { 8 };
    let size = bytes as usize;
    cost.store(size, Address::Rsp(-bytes));
    for i in 1..level {
        cost.load(size, Address::Rbp(-bytes * i));
        cost.store(size, Address::Rsp(-bytes - bytes * i));
    }
    if level > 0 {
        cost.store(size, Address::Rsp(-bytes - bytes * level));
    }
}

/// BT, BTS, BTR and BTC. With the bit number in a register, VEX accesses one byte. With two
/// registers it spills the operand to a scratch slot below the red zone, accesses the byte there,
/// and reads the operand back.
fn bit_test(instruction: &Instruction, operand: Option<u8>, cost: &mut Cost) {
    let only_test = instruction.mnemonic() == Mnemonic::Bt;
    let by_register = instruction.op1_kind() == OpKind::Register;
    let bit = instruction.op1_register();
    match operand {
        Some(m) => {
            let size = instruction.memory_size().size();
            let access = if only_test { Access::Load } else { Access::Modify };
            let address = if by_register {
                Address::OperandBit { operand: m, bit, size: size as u8 }
            } else {
                Address::Operand(m)
            };
            let slot = cost.slot(access, size, address);
            let bytes = if by_register { 1 } else { size };
            if is_locked(instruction) {
                cost.event(slot, 0, bytes, EventKind::Read);
                cost.retry_branch = true;
            }
            cost.event(slot, 0, bytes, EventKind::Read);
        }
        None if by_register => {
            let size = instruction.op0_register().size();
            let scratch = cost.slot(Access::None, size, Address::Scratch);
            let byte = cost.slot(Access::None, 1, Address::ScratchBit { bit, size: size as u8 });
            cost.event(scratch, 0, size, EventKind::Write);
            cost.event(byte, 0, 1, EventKind::Read);
            if !only_test {
                cost.event(scratch, 0, size, EventKind::Read);
            }
        }
        None => {}
    }
}

/// FXSAVE and FXRSTOR: the x87 part, the MXCSR words and sixteen XMM registers.
fn fx_state(cost: &mut Cost, operand: Option<u8>, kind: EventKind) {
    let Some(m) = operand else { return };
    let access = if kind == EventKind::Write { Access::Store } else { Access::Load };
    let slot = cost.slot(access, 512, Address::Operand(m));
    cost.event(slot, 0, 160, kind);
    cost.event(slot, 24, 8, kind);
    for i in 0..16 {
        cost.event(slot, 160 + 16 * i, 16, kind);
    }
}

/// Explicit memory operand of an ordinary instruction.
fn general(
    instruction: &Instruction,
    factory: &mut InstructionInfoFactory,
    operand: u8,
    size: usize,
    cost: &mut Cost,
) {
    let address = Address::Operand(operand);
    let access = factory.info(instruction).op_access(u32::from(operand));
    match access {
        OpAccess::Write | OpAccess::CondWrite => cost.store(size, address),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => {
            let slot = cost.slot(Access::Modify, size, address);
            if is_locked(instruction) && !is_compare_exchange(instruction.mnemonic()) {
                cost.event(slot, 0, size, EventKind::Read);
                cost.retry_branch = true;
            }
            cost.event(slot, 0, size, EventKind::Read);
        }
        OpAccess::Read | OpAccess::CondRead => {
            let slot = cost.slot(Access::Load, engine_size(instruction, size), address);
            let (count, bytes) = pieces(instruction).unwrap_or((1, size));
            for i in 0..count {
                cost.event(slot, i * bytes, bytes, EventKind::Read);
            }
        }
        OpAccess::None | OpAccess::NoMemAccess => {}
    }
}

/// Tests whether an instruction loads and stores its operand in memory.
pub(crate) fn modifies_memory(instruction: &Instruction) -> bool {
    let Some(operand) = memory_operand(instruction) else { return false };
    let access = InstructionInfoFactory::new().info(instruction).op_access(operand.into());
    matches!(access, OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn is_compare_exchange(mnemonic: Mnemonic) -> bool {
    matches!(mnemonic, Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b)
}

/// Bytes that the engine loads. For some operands it loads sixteen and uses a part.
fn engine_size(instruction: &Instruction, size: usize) -> usize {
    use Mnemonic as M;
    match instruction.mnemonic() {
        M::Cvtps2pd | M::Cvtdq2pd | M::Cvtps2pi | M::Cvttps2pi | M::Roundss | M::Roundsd => 16,
        _ => size,
    }
}

/// Number and size of the events, for loads that VEX splits or of which it reads a part.
fn pieces(instruction: &Instruction) -> Option<(usize, usize)> {
    use Mnemonic as M;
    Some(match instruction.mnemonic() {
        M::Cvtps2pd | M::Cvttps2pi | M::Cvtps2pi => (2, 4),
        M::Cvtpd2pi | M::Cvttpd2pi | M::Roundpd => (2, 8),
        M::Roundps => (4, 4),
        // MMX uses the low half. VEX loads all of it; the engine does not.
        M::Punpcklbw | M::Punpcklwd | M::Punpckldq if instruction.op0_register().is_mm() => (1, 8),
        // The shift count is the low half of the operand.
        M::Psllw | M::Pslld | M::Psllq | M::Psrlw | M::Psrld | M::Psrlq | M::Psraw | M::Psrad => (1, 8),
        _ => return None,
    })
}

/// Termination of a repeated string instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// MOVS, STOS and LODS: when RCX is zero.
    Count,
    /// SCAS and CMPS: when RCX is zero or the comparison decides.
    Compare,
}

/// Termination of the instruction, if it is repeated. VEX executes `rep lods` once; on hardware and
/// here it repeats, and it is counted like `rep movs`.
pub(crate) fn repeat(instruction: &Instruction) -> Option<Repeat> {
    use Mnemonic as M;
    if !instruction.is_string_instruction()
        || !(instruction.has_rep_prefix() || instruction.has_repne_prefix())
    {
        return None;
    }
    Some(match instruction.mnemonic() {
        M::Scasb | M::Scasw | M::Scasd | M::Scasq | M::Cmpsb | M::Cmpsw | M::Cmpsd | M::Cmpsq => {
            Repeat::Compare
        }
        _ => Repeat::Count,
    })
}

/// Recognises conditional jumps to the next instruction, of which the next address does not tell
/// the outcome.
pub(crate) fn jumps_to_next(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::ConditionalBranch
        && instruction.near_branch64() == instruction.next_ip()
}

/// Recognises such jumps that count as taken when they do not jump. VEX exits where an even
/// condition code holds, and for an odd one where the even one below it holds. Either exit leads to
/// the next instruction, which Cachegrind takes for an inverted jump.
pub(crate) fn is_inverted(instruction: &Instruction) -> bool {
    use ConditionCode as C;
    let odd =
        matches!(instruction.condition_code(), C::no | C::ae | C::ne | C::a | C::ns | C::np | C::ge | C::g);
    !(odd && instruction.is_jcc_short_or_near())
}
