//! The parts of the CPU's state that the helpers work on, at their places in the pinned engine.

use crate::emu::unicorn::layout as at;

/// `CPUX86State *`, as generated code hands it to a helper.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Env(*mut u8);

/// Exceptions as `float_status` has them, which are MXCSR's and the x87 status word's bits.
pub const INVALID: u8 = 1;
/// An operand was denormal; the engine does not record it.
pub const DENORMAL: u8 = 2;
/// See [`INVALID`].
pub const ZERO_DIVIDE: u8 = 4;
/// See [`INVALID`].
pub const UNDERFLOW: u8 = 16;
/// See [`INVALID`].
pub const INEXACT: u8 = 32;
/// The exceptions that the engine records.
pub const RECORDED: u8 = INVALID | ZERO_DIVIDE | 8 | UNDERFLOW | INEXACT;

/// MXCSR: denormals are zeros.
pub const DAZ: u32 = 0x40;
/// MXCSR: underflow is masked.
pub const UNDERFLOW_MASKED: u32 = 0x800;
/// MXCSR: tiny results are zeros.
pub const FTZ: u32 = 0x8000;

/// `float_status`.
#[repr(C)]
pub struct Status {
    pub tininess: i8,
    /// 0 for nearest, 1 for down, 2 for up, 3 for truncation.
    pub rounding: i8,
    pub flags: u8,
    /// Bits of an extended result: 32, 64 or 80, by the format whose precision it has.
    pub precision: i8,
    pub flush_to_zero: u8,
    pub flush_inputs: u8,
    pub default_nan: u8,
    pub snan_bit: u8,
}

/// `ZMMReg`, of which SSE has the low sixteen bytes; also `MMXReg`, which has eight.
#[repr(C)]
pub struct Lanes([u64; 2]);

/// An extended real.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct F80 {
    pub mantissa: u64,
    /// Sign and exponent.
    pub top: u16,
}

/// Two 64-bit lanes.
pub type V = [u64; 2];

/// What a vector register holds.
///
/// # Safety
/// `from` is a register, or the engine's temporary for an operand in memory.
pub unsafe fn read(from: *const Lanes) -> V {
    // SAFETY: the caller's.
    unsafe { (*from).0 }
}

/// Sets the low sixteen bytes of a vector register.
///
/// # Safety
/// `to` is a register.
pub unsafe fn write(to: *mut Lanes, value: V) {
    // SAFETY: the caller's.
    unsafe { (*to).0 = value }
}

// SAFETY, for all of them: an `Env` is the live state of the one CPU, which runs on this thread and waits for the
// helper; `layout::check` has compared the offsets with the engine's own answers.
impl Env {
    /// The state at `env`.
    ///
    /// # Safety
    /// `env` is the `CPUX86State` of a live engine whose CPU does not run meanwhile.
    pub unsafe fn new(env: *mut u8) -> Env {
        Env(env)
    }

    fn place<T>(self, offset: usize) -> *mut T {
        // SAFETY: as above.
        unsafe { self.0.add(offset).cast() }
    }

    pub fn sse(self) -> *mut Status {
        self.place(at::ENV_SSE_STATUS)
    }

    pub fn x87(self) -> *mut Status {
        self.place(at::ENV_FP_STATUS)
    }

    pub fn mxcsr(self) -> u32 {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_MXCSR) }
    }

    pub fn set_mxcsr(self, value: u32) {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_MXCSR) = value }
    }

    /// A general register, by its number in encodings.
    pub fn gpr(self, number: usize) -> u64 {
        // SAFETY: as above; there are sixteen.
        unsafe { *self.place(8 * (number & 15)) }
    }

    pub fn set_gpr(self, number: usize, value: u64) {
        // SAFETY: as above; there are sixteen.
        unsafe { *self.place(8 * (number & 15)) = value }
    }

    /// The status flags, for instructions after which the engine takes them from here.
    pub fn set_flags(self, value: u64) {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_CC_SRC) = value }
    }

    /// See [`Env::set_flags`].
    pub fn flags(self) -> u64 {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_CC_SRC) }
    }

    pub fn xmm(self, number: usize) -> *mut Lanes {
        self.place(at::ENV_XMM + at::XMM_SIZE * (number & 15))
    }

    /// The low half of a vector register.
    pub fn xmm_low(self, number: usize) -> u64 {
        // SAFETY: as above.
        unsafe { read(self.xmm(number))[0] }
    }

    /// Rounding of x87 and SSE arithmetic.
    pub fn modes(self) -> (i8, i8) {
        // SAFETY: as above.
        unsafe { ((*self.x87()).rounding, (*self.sse()).rounding) }
    }

    pub fn fpuc(self) -> u16 {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_FPUC) }
    }

    pub fn set_fpuc(self, value: u16) {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_FPUC) = value }
    }

    pub fn fpus(self) -> u16 {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_FPUS) }
    }

    pub fn set_fpus(self, value: u16) {
        // SAFETY: as above.
        unsafe { *self.place(at::ENV_FPUS) = value }
    }

    /// Number of the register that is ST(0).
    pub fn top(self) -> usize {
        // SAFETY: as above.
        unsafe { *self.place::<u32>(at::ENV_FPSTT) as usize & 7 }
    }

    pub fn set_top(self, top: usize) {
        // SAFETY: as above.
        unsafe { *self.place::<u32>(at::ENV_FPSTT) = top as u32 & 7 }
    }

    /// Marks ST(i) as empty or not.
    pub fn set_empty(self, i: usize, empty: bool) {
        // SAFETY: as above; there are eight tags.
        unsafe { *self.place::<u8>(at::ENV_FPTAGS + ((self.top() + i) & 7)) = u8::from(empty) }
    }

    /// The tag word: two bits a register, 0 for a number, 1 for zero, 2 for anything else, 3 for empty.
    pub fn tags(self) -> u16 {
        let mut tags = 0;
        for i in 0..8 {
            let physical = (self.top() + i) & 7;
            let value = self.st(i);
            // SAFETY: as above; there are eight tags.
            let empty = unsafe { *self.place::<u8>(at::ENV_FPTAGS + physical) } != 0;
            let tag = match value.top & 0x7fff {
                _ if empty => 3,
                0 if value.mantissa == 0 => 1,
                0 | 0x7fff => 2,
                _ if value.mantissa >> 63 == 0 => 2,
                _ => 0,
            };
            tags |= tag << (2 * physical);
        }
        tags
    }

    fn st_place(self, i: usize) -> *mut F80 {
        self.place(at::ENV_FPREGS + 16 * ((self.top() + i) & 7))
    }

    pub fn st(self, i: usize) -> F80 {
        // SAFETY: as above.
        unsafe { *self.st_place(i) }
    }

    pub fn set_st(self, i: usize, value: F80) {
        // SAFETY: as above; the bytes past the ten of the number are padding to the engine too.
        unsafe { *self.st_place(i) = value }
    }

    pub fn push(self, value: F80) {
        self.set_top(self.top() + 7);
        self.set_empty(0, false);
        self.set_st(0, value);
    }

    /// Records SSE exceptions.
    pub fn raise_sse(self, flags: u8) {
        // SAFETY: as above.
        unsafe { (*self.sse()).flags |= flags & RECORDED }
        if flags & DENORMAL != 0 {
            self.set_mxcsr(self.mxcsr() | u32::from(DENORMAL));
        }
    }

    /// Records x87 exceptions.
    pub fn raise_x87(self, flags: u8) {
        // SAFETY: as above.
        unsafe { (*self.x87()).flags |= flags & RECORDED }
        self.set_fpus(self.fpus() | u16::from(flags & DENORMAL));
    }
}
