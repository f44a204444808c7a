//! The intermediate representation: flat statements over temporaries and slices of the guest state,
//! as VEX's `IRStmt` and `IRExpr`. Values matter only where VEX's optimiser computes them, so most
//! operations are opaque.

/// Index of a temporary (`IRTemp`).
pub(crate) type Temp = u32;

/// Operand of a flat expression (an IR atom).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Constant.
    Const(u64),
    /// Temporary.
    Temp(Temp),
}

impl Default for Value {
    fn default() -> Value {
        ZERO
    }
}

/// Constant 0.
pub(super) const ZERO: Value = Value::Const(0);

/// Type of a slice. VEX distinguishes integers from floating-point numbers of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Integer, size in bytes.
    Int(u8),
    /// Floating-point number, size in bytes.
    Float(u8),
    /// SSE register.
    V128,
}

impl Type {
    /// Size in bytes.
    pub(super) fn size(self) -> u16 {
        match self {
            Type::Int(bytes) | Type::Float(bytes) => u16::from(bytes),
            Type::V128 => 16,
        }
    }
}

/// Range of the guest state with the type in which it is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// Offset in the guest state; see [`super::guest_state`].
    pub offset: u16,
    /// Type of the access.
    pub ty: Type,
}

impl Slice {
    /// Compares the byte ranges and ignores the types.
    pub(super) fn same_bytes(self, other: Slice) -> bool {
        self.offset == other.offset && self.ty.size() == other.ty.size()
    }

    /// Tests for a byte in common with the range of `len` bytes at `offset`.
    pub(super) fn overlaps(self, offset: u16, len: u16) -> bool {
        self.offset < offset + len && offset < self.offset + self.ty.size()
    }
}

/// Operation of an expression, one `IROp` each. Widths are in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Copy of the operand.
    Copy,
    /// Operation that the optimiser never folds: a number that names it, and the count of its
    /// operands.
    Opaque(u16, u8),
    /// Call of a clean helper (`Iex_CCall`), which VEX never treats as a common subexpression.
    CCall,
    Add(u8),
    Sub(u8),
    Mul(u8),
    /// Signed 32-bit multiplication with a 64-bit product (`Iop_MullS32`).
    MullS32,
    And(u8),
    Or(u8),
    Xor(u8),
    Not(u8),
    Shl(u8),
    Shr(u8),
    Sar(u8),
    /// Leading zeroes of 64 bits.
    Clz,
    /// Truncation to this width.
    Trunc(u8),
    /// Upper half of a value of this width.
    HighHalf(u8),
    /// Concatenation of two values of this width, the upper one first (`Iop_32HLto64`).
    Concat(u8),
    /// Zero extension from this width to 64 bits.
    Zext(u8),
    /// Sign extension from the first width to the second.
    Sext(u8, u8),
    /// Condition to integer (`Iop_1Uto64`).
    BoolToInt,
    /// Lowest bit of an integer as a condition (`Iop_64to1`).
    IntToBool,
    /// Negation of a condition (`Iop_Not1`).
    NotBool,
    CmpEq(u8),
    CmpNe(u8),
    /// Less than; signed if the flag is set.
    CmpLt(bool, u8),
    /// Less than or equal; signed if the flag is set.
    CmpLe(bool, u8),
    /// If-then-else (`Iex_ITE`).
    Ite,
    XorV128,
    AndV128,
    OrV128,
    NotV128,
    /// Lane-wise equality; lanes of this width.
    CmpEqV128(u8),
    /// Integer zero-extended to a vector (`Iop_64UtoV128`).
    ZextToV128,
    /// `amd64g_calculate_condition` of a condition code, with the four parts of the flags thunk.
    CalculateCondition(u8),
    /// `amd64g_calculate_rflags_c` of the flags thunk.
    CalculateRflagsC,
    /// `amd64g_calculate_rflags_all` of the flags thunk.
    CalculateRflagsAll,
}

impl Op {
    /// Count of operands.
    pub(super) fn operands(self) -> usize {
        match self {
            Op::Opaque(_, count) => usize::from(count),
            Op::Copy | Op::Not(_) | Op::Clz | Op::Trunc(_) | Op::HighHalf(_) | Op::Zext(_) => 1,
            Op::Sext(..) | Op::BoolToInt | Op::IntToBool | Op::NotBool | Op::NotV128 | Op::ZextToV128 => 1,
            Op::Ite => 3,
            Op::CalculateCondition(_) | Op::CalculateRflagsC | Op::CalculateRflagsAll | Op::CCall => 4,
            _ => 2,
        }
    }

    /// Tests for the call of a clean helper. VEX's `sameIRExprs` finds no two of them equal.
    pub(super) fn is_ccall(self) -> bool {
        matches!(self, Op::CalculateCondition(_) | Op::CalculateRflagsC | Op::CalculateRflagsAll | Op::CCall)
    }
}

/// Most operands of an operation.
pub(super) const OPERANDS: usize = 4;

/// Operands of an operation, filled up with zeroes.
pub(super) type Operands = [Value; OPERANDS];

/// Fills up the operands of an operation with zeroes.
pub(super) fn operands(values: &[Value]) -> Operands {
    let mut all = [ZERO; OPERANDS];
    for (place, value) in all.iter_mut().zip(values) {
        *place = *value;
    }
    all
}

/// Statement (`IRStmt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// Removed statement (`Ist_NoOp`).
    NoOp,
    /// Read of the guest state.
    Get(Temp, Slice),
    /// Write of the guest state.
    Put(Slice, Value),
    /// Computation (`Ist_WrTmp`).
    WrTmp(Temp, Op, Operands),
    /// Load: a data event.
    Load {
        to: Temp,
        address: Value,
        /// Index of the instruction in the superblock.
        insn: u16,
        /// Index of the data event in the instruction.
        event: u8,
    },
    /// Store: a data event.
    Store {
        address: Value,
        value: Value,
        /// Index of the instruction in the superblock.
        insn: u16,
        /// Index of the data event in the instruction.
        event: u8,
    },
    /// Keeps a value alive.
    Use(Value),
    /// Dirty helper, fence or compare-and-swap: the guest state must be up to date here.
    Barrier {
        /// The helper may write the guest state.
        writes: bool,
        /// The helper is declared to access the guest state at all; false for a function of its
        /// operands.
        state: bool,
    },
    /// Write to the x87 stack (`Ist_PutI`).
    PutI {
        /// Writes a tag instead of a register.
        tag: bool,
        /// Top of the stack.
        top: Value,
        /// Elements from the top.
        bias: u8,
        value: Value,
    },
    /// Read from the x87 stack (`Iex_GetI`).
    GetI {
        to: Temp,
        /// Reads a tag instead of a register.
        tag: bool,
        /// Top of the stack.
        top: Value,
        /// Elements from the top.
        bias: u8,
    },
    /// Conditional exit from the superblock: a branch event.
    Exit {
        guard: Value,
        /// Index of the instruction in the superblock.
        insn: u16,
        /// Index of the branch in the instruction, or [`SIDE_EXIT`].
        branch: u8,
    },
}

/// Branch index of an exit that is no branch of the program, such as a failed check of alignment.
pub(super) const SIDE_EXIT: u8 = 7;

/// Number of the opaque operations that no instruction names.
pub(super) const UNNAMED: u16 = u16::MAX;

/// Condition codes, numbered as in the opcode of Jcc (`AMD64CondO` and so on).
pub(super) mod cond {
    pub(in crate::vex) const O: u8 = 0;
    pub(in crate::vex) const B: u8 = 2;
    pub(in crate::vex) const NB: u8 = 3;
    pub(in crate::vex) const Z: u8 = 4;
    pub(in crate::vex) const NZ: u8 = 5;
    pub(in crate::vex) const BE: u8 = 6;
    pub(in crate::vex) const NBE: u8 = 7;
    pub(in crate::vex) const S: u8 = 8;
    pub(in crate::vex) const NS: u8 = 9;
    pub(in crate::vex) const P: u8 = 10;
    pub(in crate::vex) const NP: u8 = 11;
    pub(in crate::vex) const L: u8 = 12;
    pub(in crate::vex) const NL: u8 = 13;
    pub(in crate::vex) const LE: u8 = 14;
    pub(in crate::vex) const NLE: u8 = 15;
}

/// Operation of the flags thunk (`AMD64G_CC_OP_*`): the operation from which the flags are computed
/// lazily.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CcOp {
    /// DEP1 holds the flags themselves.
    Copy = 1,
    Add,
    Sub,
    Adc,
    Sbb,
    Logic,
    Inc,
    Dec,
    Shl,
    Shr,
    /// Rotations, multiplications and the rest, for which VEX has no rules.
    Other,
}

impl CcOp {
    const ALL: [CcOp; 11] = [
        CcOp::Copy,
        CcOp::Add,
        CcOp::Sub,
        CcOp::Adc,
        CcOp::Sbb,
        CcOp::Logic,
        CcOp::Inc,
        CcOp::Dec,
        CcOp::Shl,
        CcOp::Shr,
        CcOp::Other,
    ];

    /// Encodes the operation and the operand size in bytes as the constant in the guest state.
    pub(super) fn value(self, bytes: usize) -> Value {
        Value::Const((self as u64) << 8 | bytes as u64)
    }

    /// Decodes such a constant to the operation and the operand size in bytes.
    pub(super) fn of(value: Value) -> Option<(CcOp, u8)> {
        let Value::Const(number) = value else { return None };
        let op = CcOp::ALL.into_iter().find(|op| *op as u64 == number >> 8)?;
        Some((op, number as u8))
    }
}

/// Mask of the low bits.
pub(super) fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
