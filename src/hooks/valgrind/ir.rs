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

/// What a statement computes of its operands. Widths are in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Its only operand.
    Copy,
    /// Something that the optimiser never computes.
    Opaque(u16),
    /// Sums.
    Add(u8),
    /// Differences.
    Sub(u8),
    /// Bitwise and.
    And(u8),
    /// Bitwise or.
    Or(u8),
    /// Bitwise exclusive or.
    Xor(u8),
    /// Shifts to the left.
    Shl(u8),
    /// Shifts to the right.
    Shr(u8),
    /// Shifts to the right that keep the sign.
    Sar(u8),
    /// Shifts of two numbers, to the left or to the right.
    Double(bool, u8),
    /// Complements.
    Not(u8),
    /// The low bits.
    Narrow(u8),
    /// Extends from so many bits with zeroes.
    Widen(u8),
    /// Extends from so many bits with the sign, to so many.
    Sign(u8, u8),
    /// Whether both are equal.
    Equal(u8),
    /// Whether they differ.
    Differ(u8),
    /// The second operand if the first is not zero, otherwise the third.
    Choose,
    /// Vector operations on one value: the bitwise ones.
    VectorXor,
    /// Bitwise and of vectors.
    VectorAnd,
    /// Bitwise or of vectors.
    VectorOr,
    /// Which bytes of vectors are equal.
    VectorEqual,
    /// Whether a condition code holds after an operation of so many bytes, by its operands.
    Compare(Source, u8, u8),
    /// Whether a condition code holds, by the four parts of the flags.
    Condition(u8),
    /// The carry flag, by the four parts of the flags.
    Carry,
    /// All flags, by their four parts.
    Flags,
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
pub mod code {
    /// Equal. The code behind it says that both differ.
    pub const Z: u8 = 4;
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
