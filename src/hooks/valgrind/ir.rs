//! What instructions do, as far as Valgrind's optimiser looks at it: statements over slices of the registers, each
//! statement one step, as in VEX's intermediate code. What an operation computes matters only where the optimiser can
//! compute it too.

/// Names the result of a statement.
pub type Temp = u32;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A constant.
    Known(u64),
    /// The result of a statement.
    Temp(Temp),
}

impl Default for Value {
    fn default() -> Value {
        Value::Known(0)
    }
}

/// The type of a slice. VEX tells integers from floating-point numbers of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer of so many bytes.
    Int(u8),
    /// A floating-point number of so many bytes.
    Float(u8),
    /// Sixteen bytes.
    Vector,
}

impl Type {
    /// Bytes.
    pub fn size(self) -> u16 {
        match self {
            Type::Int(bytes) | Type::Float(bytes) => u16::from(bytes),
            Type::Vector => 16,
        }
    }
}

/// A part of the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its place in the guest's state; see [`super::state`].
    pub offset: u16,
    /// Its type.
    pub ty: Type,
}

impl Slice {
    /// Whether both are the same bytes.
    pub fn same_place(self, other: Slice) -> bool {
        self.offset == other.offset && self.ty.size() == other.ty.size()
    }

    /// Whether both have a byte in common with the other.
    pub fn overlaps(self, offset: u16, len: u16) -> bool {
        self.offset < offset + len && offset < self.offset + self.ty.size()
    }
}

/// What a statement computes of its operands, one of VEX's operations each. Widths are in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Its only operand.
    Copy,
    /// Something that the optimiser never computes, of so many operands; the same is the same of the same operands.
    Opaque(u16, u8),
    /// A call of a function without effects, which the optimiser never takes for another one.
    Call,
    /// Sums.
    Add(u8),
    /// Differences.
    Sub(u8),
    /// The low half of products.
    Mul(u8),
    /// Products of twice 32 bits with signs.
    MulSigned,
    /// Bitwise and.
    And(u8),
    /// Bitwise or.
    Or(u8),
    /// Bitwise exclusive or.
    Xor(u8),
    /// Complements.
    Not(u8),
    /// Shifts to the left.
    Shl(u8),
    /// Shifts to the right.
    Shr(u8),
    /// Shifts to the right that keep the sign.
    Sar(u8),
    /// How many zeroes are above the highest bit of 64.
    LeadingZeroes,
    /// The low bits.
    Narrow(u8),
    /// The upper half, of so many bits.
    High(u8),
    /// One number of two with so many bits, the upper half first.
    Join(u8),
    /// Extends from so many bits with zeroes.
    Widen(u8),
    /// Extends from so many bits with the sign, to so many.
    Sign(u8, u8),
    /// 0 or 1, as a number.
    Number,
    /// The lowest bit of a number, as a condition.
    Bit,
    /// The opposite of a condition.
    Opposite,
    /// Whether both are equal.
    Equal(u8),
    /// Whether they differ.
    Differ(u8),
    /// Whether the first is less; with signs if so.
    Less(bool, u8),
    /// Whether the first is less or equal.
    LessEqual(bool, u8),
    /// The second operand if the condition holds, otherwise the third.
    Choose,
    /// Vector operations on one value, all zeroes or all ones: the bitwise ones.
    VectorXor,
    /// Bitwise and of vectors.
    VectorAnd,
    /// Bitwise or of vectors.
    VectorOr,
    /// Complements of vectors.
    VectorNot,
    /// Which elements of so many bits of vectors are equal.
    VectorEqual(u8),
    /// A vector with a number in its low bits.
    VectorOf,
    /// 1 if a condition code holds, by the four parts of the flags.
    Condition(u8),
    /// The carry flag, by the four parts of the flags.
    Carry,
    /// All flags, by their four parts.
    Flags,
}

impl Op {
    /// How many operands it has.
    pub fn operands(self) -> usize {
        match self {
            Op::Opaque(_, count) => usize::from(count),
            Op::Copy | Op::Not(_) | Op::LeadingZeroes | Op::Narrow(_) | Op::High(_) | Op::Widen(_) => 1,
            Op::Sign(..) | Op::Number | Op::Bit | Op::Opposite | Op::VectorNot | Op::VectorOf => 1,
            Op::Choose => 3,
            Op::Condition(_) | Op::Carry | Op::Flags | Op::Call => 4,
            _ => 2,
        }
    }

    /// Whether it is a call of a function: VEX does not compare two of them.
    pub fn is_call(self) -> bool {
        matches!(self, Op::Condition(_) | Op::Carry | Op::Flags | Op::Call)
    }
}

/// Most operands that a statement has.
pub const OPERANDS: usize = 4;

/// One step of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Was one and is not needed.
    Nothing,
    /// Reads a slice.
    Get(Temp, Slice),
    /// Writes a slice.
    Put(Slice, Value),
    /// Computes.
    Compute(Temp, Op, [Value; OPERANDS]),
    /// Loads: a data event of the instruction at hand.
    Load {
        /// The result.
        to: Temp,
        /// The address.
        address: Value,
        /// Which instruction of the superblock.
        insn: u16,
        /// Which of its data events.
        event: u8,
    },
    /// Stores: a data event, too.
    Store {
        /// The address.
        address: Value,
        /// What is stored.
        value: Value,
        /// Which instruction of the superblock.
        insn: u16,
        /// Which of its data events.
        event: u8,
    },
    /// Uses a value.
    Use(Value),
    /// Registers must be right here: a call of a function, a fence, a compare-and-exchange.
    Barrier {
        /// Whether registers may be others behind it.
        writes: bool,
        /// Whether it is said to access registers at all; a function of its operands is not.
        state: bool,
    },
    /// Writes an x87 register or its tag: so many elements from the top of the stack.
    PutStack {
        /// Whether it is a tag.
        tag: bool,
        /// The top of the stack.
        top: Value,
        /// Elements from there.
        bias: u8,
        /// What is written.
        value: Value,
    },
    /// Reads one.
    GetStack {
        /// The result.
        to: Temp,
        /// Whether it is a tag.
        tag: bool,
        /// The top of the stack.
        top: Value,
        /// Elements from there.
        bias: u8,
    },
    /// Leaves the superblock if the value is not zero: a branch of the instruction.
    Exit {
        /// The condition.
        guard: Value,
        /// Which instruction of the superblock.
        insn: u16,
        /// Which of its branches.
        branch: u8,
    },
}

/// Condition codes as `Jcc` has them in its opcode.
#[allow(missing_docs)]
pub mod code {
    pub const O: u8 = 0;
    pub const B: u8 = 2;
    pub const NB: u8 = 3;
    pub const Z: u8 = 4;
    pub const NZ: u8 = 5;
    pub const BE: u8 = 6;
    pub const NBE: u8 = 7;
    pub const S: u8 = 8;
    pub const NS: u8 = 9;
    pub const P: u8 = 10;
    pub const L: u8 = 12;
    pub const NL: u8 = 13;
    pub const LE: u8 = 14;
    pub const NLE: u8 = 15;
}

/// What the flags come from, as VEX notes it: a kind of operation and the bytes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The flags themselves.
    Flags = 1,
    /// A sum.
    Add,
    /// A difference.
    Sub,
    /// A sum with carry.
    Adc,
    /// A difference with carry.
    Sbb,
    /// A bitwise operation.
    Logic,
    /// An increment.
    Inc,
    /// A decrement.
    Dec,
    /// A shift to the left.
    Shl,
    /// A shift to the right.
    Shr,
    /// Something else.
    Other,
}

impl Source {
    /// As the constant that stands in the state; `bytes` are 1, 2, 4 or 8.
    pub fn value(self, bytes: usize) -> Value {
        Value::Known((self as u64) << 8 | bytes as u64)
    }

    /// The source and the bytes of such a constant.
    pub fn of(value: Value) -> Option<(Source, u8)> {
        let Value::Known(number) = value else { return None };
        let source = [
            Source::Flags,
            Source::Add,
            Source::Sub,
            Source::Adc,
            Source::Sbb,
            Source::Logic,
            Source::Inc,
            Source::Dec,
            Source::Shl,
            Source::Shr,
            Source::Other,
        ]
        .into_iter()
        .find(|source| *source as u64 == number >> 8)?;
        Some((source, number as u8))
    }
}
