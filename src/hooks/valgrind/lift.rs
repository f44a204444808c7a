//! Instructions as statements: what VEX's front end makes of each, as far as its optimiser's work shows in the counts. This
//! file has the operands and the flags; the instructions are in [`super::integer`], [`super::sse`] and [`super::fpu`].

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::fold::mask;
use super::ir::{OPERANDS, Op, Slice, Source, Statement, Temp, Type, Value};
use super::known::Known;
use super::state;

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Register(Register),
    Memory(Value),
    Constant(u64),
}

/// Makes statements of instructions. A slice that was read or written before is not read again.
#[derive(Debug, Default)]
pub(super) struct Lifter {
    pub code: Vec<Statement>,
    temps: Temp,
    /// What slices hold.
    known: Known,
    /// Which instruction of the superblock is at hand.
    pub insn: u16,
    /// Where the superblock leads, if it computes that.
    pub next: Option<Value>,
}

impl Lifter {
    /// Begins a superblock.
    pub fn begin(&mut self) {
        self.code.clear();
        self.known.clear();
        (self.temps, self.insn, self.next) = (0, 0, None);
    }

    /// What was read or written is not known from here on.
    pub fn forget_registers(&mut self) {
        self.known.clear();
    }

    pub fn temps(&self) -> usize {
        self.temps as usize
    }

    fn temp(&mut self) -> Temp {
        self.temps += 1;
        self.temps - 1
    }

    pub fn op(&mut self, op: Op, operands: &[Value]) -> Value {
        let mut all = [Value::Known(0); OPERANDS];
        for (place, operand) in all.iter_mut().zip(operands) {
            *place = *operand;
        }
        let to = self.temp();
        self.code.push(Statement::Compute(to, op, all));
        Value::Temp(to)
    }

    /// Something of up to four values that the optimiser does not look into; two of one mnemonic are the same.
    pub fn opaque(&mut self, instruction: &Instruction, operands: &[Value]) -> Value {
        self.op(Op::Opaque(instruction.mnemonic() as u16, operands.len() as u8), operands)
    }

    /// What a function gives.
    pub fn call(&mut self, operands: &[Value]) -> Value {
        self.op(Op::Call, operands)
    }

    /// Something that is like nothing else.
    pub fn unknown(&mut self) -> Value {
        self.call(&[])
    }

    pub fn get(&mut self, slice: Slice) -> Value {
        if let Some(value) = self.known.value(slice) {
            return value;
        }
        let to = self.temp();
        self.add(Statement::Get(to, slice));
        Value::Temp(to)
    }

    pub fn put(&mut self, slice: Slice, value: Value) {
        self.add(Statement::Put(slice, value));
    }

    pub fn load(&mut self, event: u8, address: Value) -> Value {
        let to = self.temp();
        self.code.push(Statement::Load { to, address, insn: self.insn, event });
        Value::Temp(to)
    }

    pub fn store(&mut self, event: u8, address: Value, value: Value) {
        self.code.push(Statement::Store { address, value, insn: self.insn, event });
    }

    pub fn exit(&mut self, branch: u8, guard: Value) {
        self.code.push(Statement::Exit { guard, insn: self.insn, branch });
    }

    /// The operand is needed, whatever becomes of it.
    pub fn used(&mut self, value: Value) {
        self.code.push(Statement::Use(value));
    }

    /// All registers must be right here; with `writes`, they may be others afterwards.
    pub fn barrier(&mut self, writes: bool) {
        self.add(Statement::Barrier { writes, state: true });
    }

    /// Adds a statement.
    pub fn add(&mut self, statement: Statement) {
        self.known.pass(&statement);
        self.code.push(statement);
    }

    /// Writes an x87 register or its tag; see [`Statement::PutStack`].
    pub fn put_stack(&mut self, tag: bool, top: Value, bias: u8, value: Value) {
        self.add(Statement::PutStack { tag, top, bias, value });
    }

    /// Calls a function that knows nothing of the registers.
    pub fn helper(&mut self) {
        self.code.push(Statement::Barrier { writes: false, state: false });
    }

    /// A general register or a part of it.
    pub fn register(&mut self, register: Register) -> Value {
        if state::is_high(register) {
            return self.get(state::written(register));
        }
        let value = self.get(state::general(register.full_register().number()));
        self.low(value, register.size())
    }

    /// The low bytes of eight.
    pub fn low(&mut self, value: Value, bytes: usize) -> Value {
        if bytes < 8 { self.op(Op::Narrow(8 * bytes as u8), &[value]) } else { value }
    }

    /// Eight bytes of fewer.
    pub fn widened(&mut self, value: Value, bytes: usize) -> Value {
        if bytes < 8 { self.op(Op::Widen(8 * bytes as u8), &[value]) } else { value }
    }

    pub fn set_register(&mut self, register: Register, value: Value) {
        let value = if register.size() == 4 { self.widened(value, 4) } else { value };
        self.put(state::written(register), value);
    }

    /// The address of the memory operand.
    pub fn address(&mut self, instruction: &Instruction) -> Value {
        self.address_after(instruction, 0)
    }

    /// The address of the memory operand when RSP is so many bytes higher already.
    pub fn address_after(&mut self, instruction: &Instruction, popped: u64) -> Value {
        let displacement = instruction.memory_displacement64();
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        if base == Register::RIP || base == Register::EIP {
            return Value::Known(displacement);
        }
        let mut sum = Value::Known(displacement);
        if base != Register::None {
            let value = self.get(state::general(base.full_register().number()));
            let popped = if base == Register::RSP { popped } else { 0 };
            let displacement = displacement.wrapping_add(popped);
            sum = if displacement == 0 || index != Register::None {
                value
            } else {
                self.op(Op::Add(64), &[value, Value::Known(displacement)])
            };
        }
        if index != Register::None {
            let value = self.get(state::general(index.full_register().number()));
            let scale = Value::Known(u64::from(instruction.memory_index_scale().trailing_zeros()));
            let scaled = self.op(Op::Shl(64), &[value, scale]);
            sum = match (base, displacement) {
                (Register::None, _) => self.op(Op::Add(64), &[scaled, sum]),
                (_, 0) => self.op(Op::Add(64), &[sum, scaled]),
                _ => {
                    let sum = self.op(Op::Add(64), &[sum, scaled]);
                    self.op(Op::Add(64), &[sum, Value::Known(displacement)])
                }
            };
        }
        if base.size() == 4 || index.size() == 4 {
            sum = self.low(sum, 4);
            sum = self.widened(sum, 4);
        }
        let segment = match instruction.segment_prefix() {
            Register::FS => state::FS_BASE,
            Register::GS => state::GS_BASE,
            _ => return sum,
        };
        let segment = self.get(segment);
        self.op(Op::Add(64), &[sum, segment])
    }

    /// Where an operand is.
    pub fn place(&mut self, instruction: &Instruction, operand: u32) -> Place {
        match instruction.op_kind(operand) {
            OpKind::Register => Place::Register(instruction.op_register(operand)),
            OpKind::Memory => Place::Memory(self.address(instruction)),
            _ => {
                let bits = 8 * super::integer::bytes(instruction, 0).min(8) as u8;
                Place::Constant(instruction.try_immediate(operand).unwrap_or(0) & mask(bits))
            }
        }
    }

    /// A general operand; one in memory is the instruction's event of this number.
    pub fn read(&mut self, place: Place, event: u8) -> Value {
        match place {
            Place::Register(register) => self.register(register),
            Place::Memory(address) => self.load(event, address),
            Place::Constant(value) => Value::Known(value),
        }
    }

    /// Writes a general operand; one in memory is the instruction's event of this number.
    pub fn write(&mut self, instruction: &Instruction, place: Place, event: u8, value: Value) {
        match place {
            Place::Register(register) => self.set_register(register, value),
            Place::Memory(address) if is_locked(instruction) => {
                self.used(address);
                self.used(value);
                // It is compared with what was loaded.
                let loaded = self.code.iter().rev().find_map(|statement| match *statement {
                    Statement::Load { to, insn, .. } if insn == self.insn => Some(Value::Temp(to)),
                    _ => None,
                });
                if let Some(loaded) = loaded {
                    self.used(loaded);
                }
                self.swap();
            }
            Place::Memory(address) => self.store(event, address, value),
            Place::Constant(_) => {}
        }
    }

    /// The compare-and-exchange that a locked operation ends with, which leaves the superblock if it fails.
    pub fn swap(&mut self) {
        self.barrier(false);
        let failed = self.op(Op::Opaque(u16::MAX, 2), &[]);
        self.exit(0, failed);
    }

    /// Writes down what the flags come from.
    pub fn set_flags(&mut self, source: Value, dep1: Value, dep2: Value, ndep: Value) {
        self.put(state::CC_OP, source);
        self.put(state::CC_DEP1, dep1);
        self.put(state::CC_DEP2, dep2);
        self.put(state::CC_NDEP, ndep);
    }

    /// The flags themselves are a value.
    pub fn set_all_flags(&mut self, flags: Value) {
        self.set_flags(Source::Flags.value(8), flags, Value::Known(0), Value::Known(0));
    }

    fn of_flags(&mut self, op: Op) -> Value {
        let parts = [state::CC_OP, state::CC_DEP1, state::CC_DEP2, state::CC_NDEP].map(|part| self.get(part));
        self.op(op, &parts)
    }

    /// Whether a condition code holds.
    pub fn condition(&mut self, code: u8) -> Value {
        let holds = self.of_flags(Op::Condition(code));
        self.op(Op::Bit, &[holds])
    }

    /// The carry flag.
    pub fn carry(&mut self) -> Value {
        self.of_flags(Op::Carry)
    }

    /// All flags.
    pub fn flags(&mut self) -> Value {
        self.of_flags(Op::Flags)
    }

    /// An instruction, and that it is done.
    pub fn step(&mut self, instruction: &Instruction) {
        self.lift(instruction);
        if !instruction.is_jcc_short_or_near() {
            self.put(state::IP, Value::Known(instruction.next_ip()));
        }
    }

    /// The statements of an instruction that ends no block, or of what an instruction does before it jumps.
    pub fn lift(&mut self, instruction: &Instruction) {
        let vector = |register: Register| register.is_xmm() || register.is_mm() || register.is_st();
        let is_vector = (0..instruction.op_count()).any(|i| vector(instruction.op_register(i)));
        if super::fpu::is_fpu(instruction) {
            self.fpu(instruction);
        } else if is_vector || is_vector_control(instruction) {
            self.sse(instruction);
        } else {
            self.integer(instruction);
        }
    }
}

/// Instructions of the vector units that may have no vector register.
fn is_vector_control(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(instruction.mnemonic(), M::Ldmxcsr | M::Stmxcsr | M::Emms)
        || matches!(instruction.mnemonic(), M::Fxsave | M::Fxsave64 | M::Fxrstor | M::Fxrstor64)
        || matches!(instruction.mnemonic(), M::Cvtss2si | M::Cvttss2si | M::Cvtsd2si | M::Cvttsd2si)
}

/// Whether an instruction is one locked operation.
pub(super) fn is_locked(instruction: &Instruction) -> bool {
    instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg
}

/// An integer of so many bytes.
pub(super) const fn int(bytes: u8) -> Type {
    Type::Int(bytes)
}
