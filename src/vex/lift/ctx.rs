//! State and building blocks of the lifter: temporaries, guest state, operands, addresses and
//! flags. The files beside this one lift one family of instructions each.

use iced_x86::{Instruction, OpKind, Register};

use crate::vex::guest_state as state;
use crate::vex::ir::{CcOp, Op, Slice, Statement, Temp, Type, UNNAMED, Value, ZERO, mask, operands};
use crate::vex::reg_values::RegValues;
use crate::x86::cost::is_locked;

/// Location of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Register(Register),
    Memory(Value),
    Immediate(u64),
}

/// Lifter of one superblock at a time. Like VEX after its first pass, it reads no slice whose value
/// is known.
#[derive(Debug, Default)]
pub(crate) struct LiftCtx {
    code: Vec<Statement>,
    temps: Temp,
    values: RegValues,
    /// Index of the current instruction in the superblock.
    insn: u16,
    /// Target of the superblock, if it is computed (`irsb->next`).
    next: Option<Value>,
}

impl LiftCtx {
    /// Begins a superblock.
    pub(in crate::vex) fn begin(&mut self) {
        self.code.clear();
        self.values.clear();
        (self.temps, self.insn, self.next) = (0, 0, None);
    }

    /// Statements lifted so far.
    pub(in crate::vex) fn code(&self) -> &[Statement] {
        &self.code
    }

    /// Statements and target, for the passes to rewrite.
    pub(in crate::vex) fn code_mut(&mut self) -> (&mut Vec<Statement>, &mut Option<Value>) {
        (&mut self.code, &mut self.next)
    }

    /// Target of the superblock, if it is computed.
    pub(in crate::vex) fn next(&self) -> Option<Value> {
        self.next
    }

    pub(super) fn set_next(&mut self, target: Value) {
        self.next = Some(target);
    }

    /// Sets the index of the instruction that is lifted next.
    pub(in crate::vex) fn set_insn(&mut self, insn: usize) {
        self.insn = insn as u16;
    }

    /// Forgets the values of the guest state.
    pub(in crate::vex) fn forget_registers(&mut self) {
        self.values.clear();
    }

    /// Number of temporaries.
    pub(in crate::vex) fn temps(&self) -> usize {
        self.temps as usize
    }

    fn temp(&mut self) -> Temp {
        self.temps += 1;
        self.temps - 1
    }

    pub(in crate::vex) fn op(&mut self, op: Op, values: &[Value]) -> Value {
        let to = self.temp();
        self.code.push(Statement::WrTmp(to, op, operands(values)));
        Value::Temp(to)
    }

    /// Opaque operation of up to four values; equal for equal mnemonics and operands.
    pub(super) fn opaque(&mut self, instruction: &Instruction, operands: &[Value]) -> Value {
        self.op(Op::Opaque(instruction.mnemonic() as u16, operands.len() as u8), operands)
    }

    /// Result of a clean helper.
    pub(super) fn ccall(&mut self, operands: &[Value]) -> Value {
        self.op(Op::CCall, operands)
    }

    /// Value that equals no other.
    pub(super) fn fresh(&mut self) -> Value {
        self.ccall(&[])
    }

    pub(in crate::vex) fn get(&mut self, slice: Slice) -> Value {
        if let Some(value) = self.values.value(slice) {
            return value;
        }
        let to = self.temp();
        self.add(Statement::Get(to, slice));
        Value::Temp(to)
    }

    pub(in crate::vex) fn put(&mut self, slice: Slice, value: Value) {
        self.add(Statement::Put(slice, value));
    }

    /// Writes an x87 register or its tag; see [`Statement::PutI`].
    pub(super) fn puti(&mut self, tag: bool, top: Value, bias: u8, value: Value) {
        self.add(Statement::PutI { tag, top, bias, value });
    }

    /// Reads an x87 register or its tag; see [`Statement::GetI`].
    pub(super) fn geti(&mut self, tag: bool, top: Value, bias: u8) -> Value {
        let to = self.temp();
        self.code.push(Statement::GetI { to, tag, top, bias });
        Value::Temp(to)
    }

    pub(super) fn load(&mut self, event: u8, address: Value) -> Value {
        let to = self.temp();
        self.code.push(Statement::Load { to, address, insn: self.insn, event });
        Value::Temp(to)
    }

    pub(super) fn store(&mut self, event: u8, address: Value, value: Value) {
        self.code.push(Statement::Store { address, value, insn: self.insn, event });
    }

    pub(super) fn exit(&mut self, branch: u8, guard: Value) {
        self.code.push(Statement::Exit { guard, insn: self.insn, branch });
    }

    /// Keeps a value alive.
    pub(super) fn keep(&mut self, value: Value) {
        self.code.push(Statement::Use(value));
    }

    /// Dirty helper or fence that needs the guest state, and with `writes` may change it.
    pub(super) fn barrier(&mut self, writes: bool) {
        self.add(Statement::Barrier { writes, state: true });
    }

    /// Dirty helper that is declared not to access the guest state.
    pub(super) fn dirty_helper(&mut self) {
        self.code.push(Statement::Barrier { writes: false, state: false });
    }

    /// Appends a statement.
    pub(in crate::vex) fn add(&mut self, statement: Statement) {
        self.values.apply(&statement);
        self.code.push(statement);
    }

    /// Takes back the statements from `start` on.
    pub(in crate::vex) fn split_off(&mut self, start: usize) -> Vec<Statement> {
        self.code.split_off(start)
    }

    /// Reads a general-purpose register or a part of it.
    pub(super) fn register(&mut self, register: Register) -> Value {
        if state::is_high_byte(register) {
            return self.get(state::written(register));
        }
        let value = self.get(state::general(register.full_register().number()));
        self.trunc(value, register.size())
    }

    /// Truncates eight bytes to this size.
    pub(super) fn trunc(&mut self, value: Value, bytes: usize) -> Value {
        if bytes < 8 { self.op(Op::Trunc(8 * bytes as u8), &[value]) } else { value }
    }

    /// Zero-extends a value of this size to eight bytes.
    pub(super) fn zext(&mut self, value: Value, bytes: usize) -> Value {
        if bytes < 8 { self.op(Op::Zext(8 * bytes as u8), &[value]) } else { value }
    }

    pub(super) fn set_register(&mut self, register: Register, value: Value) {
        let value = if register.size() == 4 { self.zext(value, 4) } else { value };
        self.put(state::written(register), value);
    }

    /// Address of the memory operand.
    pub(super) fn address(&mut self, instruction: &Instruction) -> Value {
        self.address_after(instruction, 0)
    }

    /// Address of the memory operand after RSP has been incremented by `popped`.
    pub(super) fn address_after(&mut self, instruction: &Instruction, popped: u64) -> Value {
        let displacement = instruction.memory_displacement64();
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        if base == Register::RIP || base == Register::EIP {
            return Value::Const(displacement);
        }
        let mut sum = Value::Const(displacement);
        if base != Register::None {
            let value = self.get(state::general(base.full_register().number()));
            let popped = if base == Register::RSP { popped } else { 0 };
            let displacement = displacement.wrapping_add(popped);
            sum = if displacement == 0 || index != Register::None {
                value
            } else {
                self.op(Op::Add(64), &[value, Value::Const(displacement)])
            };
        }
        if index != Register::None {
            let value = self.get(state::general(index.full_register().number()));
            let scale = Value::Const(u64::from(instruction.memory_index_scale().trailing_zeros()));
            let scaled = self.op(Op::Shl(64), &[value, scale]);
            sum = match (base, displacement) {
                (Register::None, _) => self.op(Op::Add(64), &[scaled, sum]),
                (_, 0) => self.op(Op::Add(64), &[sum, scaled]),
                _ => {
                    let sum = self.op(Op::Add(64), &[sum, scaled]);
                    self.op(Op::Add(64), &[sum, Value::Const(displacement)])
                }
            };
        }
        if base.size() == 4 || index.size() == 4 {
            sum = self.trunc(sum, 4);
            sum = self.zext(sum, 4);
        }
        let segment = match instruction.segment_prefix() {
            Register::FS => state::FS_CONST,
            Register::GS => state::GS_CONST,
            _ => return sum,
        };
        let segment = self.get(segment);
        self.op(Op::Add(64), &[sum, segment])
    }

    /// Locates an operand.
    pub(super) fn operand(&mut self, instruction: &Instruction, operand: u32) -> Operand {
        match instruction.op_kind(operand) {
            OpKind::Register => Operand::Register(instruction.op_register(operand)),
            OpKind::Memory => Operand::Memory(self.address(instruction)),
            _ => {
                let bits = 8 * bytes(instruction, 0).min(8) as u8;
                Operand::Immediate(instruction.try_immediate(operand).unwrap_or(0) & mask(bits))
            }
        }
    }

    /// Reads an operand; a load is the data event of this index.
    pub(super) fn read(&mut self, place: Operand, event: u8) -> Value {
        match place {
            Operand::Register(register) => self.register(register),
            Operand::Memory(address) => self.load(event, address),
            Operand::Immediate(value) => Value::Const(value),
        }
    }

    /// Writes an operand; a store is the data event of this index.
    pub(super) fn write(&mut self, instruction: &Instruction, place: Operand, event: u8, value: Value) {
        match place {
            Operand::Register(register) => self.set_register(register, value),
            Operand::Memory(address) if is_locked(instruction) => {
                self.keep(address);
                self.keep(value);
                // The compare-and-swap expects the value that was loaded.
                let loaded = self.code.iter().rev().find_map(|statement| match *statement {
                    Statement::Load { to, insn, .. } if insn == self.insn => Some(Value::Temp(to)),
                    _ => None,
                });
                if let Some(loaded) = loaded {
                    self.keep(loaded);
                }
                self.compare_and_swap();
            }
            Operand::Memory(address) => self.store(event, address, value),
            Operand::Immediate(_) => {}
        }
    }

    /// Compare-and-swap that ends a locked operation, with an exit that retries if it fails.
    pub(super) fn compare_and_swap(&mut self) {
        self.barrier(false);
        let failed = self.op(Op::Opaque(UNNAMED, 2), &[]);
        self.exit(0, failed);
    }

    /// Sets the flags thunk.
    pub(super) fn set_flags(&mut self, cc_op: Value, dep1: Value, dep2: Value, ndep: Value) {
        self.put(state::CC_OP, cc_op);
        self.put(state::CC_DEP1, dep1);
        self.put(state::CC_DEP2, dep2);
        self.put(state::CC_NDEP, ndep);
    }

    /// Sets the flags to a value.
    pub(super) fn set_all_flags(&mut self, flags: Value) {
        self.set_flags(CcOp::Copy.value(8), flags, ZERO, ZERO);
    }

    fn of_thunk(&mut self, op: Op) -> Value {
        let parts = [state::CC_OP, state::CC_DEP1, state::CC_DEP2, state::CC_NDEP].map(|part| self.get(part));
        self.op(op, &parts)
    }

    /// Condition that a condition code holds.
    pub(in crate::vex) fn condition(&mut self, code: u8) -> Value {
        let holds = self.of_thunk(Op::CalculateCondition(code));
        self.op(Op::IntToBool, &[holds])
    }

    /// Carry flag.
    pub(super) fn carry(&mut self) -> Value {
        self.of_thunk(Op::CalculateRflagsC)
    }

    /// RFLAGS.
    pub(super) fn flags(&mut self) -> Value {
        self.of_thunk(Op::CalculateRflagsAll)
    }
}

/// Size of an operand in bytes.
pub(super) fn bytes(instruction: &Instruction, operand: u32) -> usize {
    match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size(),
        _ => instruction.memory_size().size(),
    }
}

/// Accumulator of this size.
pub(super) fn accumulator(size: usize) -> Register {
    match size {
        1 => Register::AL,
        2 => Register::AX,
        4 => Register::EAX,
        _ => Register::RAX,
    }
}

/// Integer type of this size in bytes.
pub(super) const fn int(bytes: u8) -> Type {
    Type::Int(bytes)
}
