//! Access to the engine's CPU state, as far as helpers need it.

use std::ffi::c_void;

use crate::emu::unicorn::layout as at;

/// `CPUX86State *`, as generated code hands it to a helper.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Env(*mut u8);

/// Invalid operation. Exceptions have the bits of MXCSR and of the x87 status word, as in
/// `float_status`.
pub(crate) const INVALID: u8 = 1;
/// Denormal operand, which the engine does not record.
pub(crate) const DENORMAL: u8 = 2;
/// Division by zero.
pub(crate) const ZERO_DIVIDE: u8 = 4;
/// Overflow.
pub(crate) const OVERFLOW: u8 = 8;
/// Underflow.
pub(crate) const UNDERFLOW: u8 = 16;
/// Inexact result (precision).
pub(crate) const INEXACT: u8 = 32;
/// Exceptions that the engine records.
pub(crate) const RECORDED: u8 = INVALID | ZERO_DIVIDE | OVERFLOW | UNDERFLOW | INEXACT;

/// MXCSR.DAZ: denormal operands count as zeros.
pub(crate) const DAZ: u32 = 0x40;
/// MXCSR.OM: overflow is masked.
pub(crate) const OVERFLOW_MASKED: u32 = 0x400;
/// MXCSR.UM: underflow is masked.
pub(crate) const UNDERFLOW_MASKED: u32 = 0x800;
/// MXCSR.FTZ: tiny results are flushed to zero.
pub(crate) const FTZ: u32 = 0x8000;

/// `float_status`.
#[repr(C)]
pub(crate) struct Status {
    pub(crate) tininess: i8,
    /// 0 for nearest, 1 for down, 2 for up, 3 for truncation.
    pub(crate) rounding: i8,
    pub(crate) flags: u8,
    /// Bits of an extended result: 32, 64 or 80, by the format whose precision it has.
    pub(crate) precision: i8,
    pub(crate) flush_to_zero: u8,
    pub(crate) flush_inputs: u8,
    pub(crate) default_nan: u8,
    pub(crate) snan_bit: u8,
}

/// `ZMMReg`, of which SSE has the low sixteen bytes; also `MMXReg`, which has eight.
#[repr(C)]
pub(crate) struct Lanes([u64; 2]);

/// An extended real.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct F80 {
    pub(crate) mantissa: u64,
    /// Sign and exponent.
    pub(crate) top: u16,
}

/// Bytes of the x87 and SSE state, from the top of the stack to the last register.
const STATE: usize = at::ENV_XMM + 16 * at::XMM_SIZE - at::ENV_FPSTT;

/// The state before an instruction that may have to be undone.
pub(crate) struct Before {
    flags: u64,
    state: [u8; STATE],
}

impl Before {
    /// None yet.
    pub(crate) const NONE: Before = Before { flags: 0, state: [0; STATE] };

    fn part<const N: usize>(&self, offset: usize) -> [u8; N] {
        std::array::from_fn(|i| self.state[offset - at::ENV_FPSTT + i])
    }

    /// The x87 status word.
    pub(crate) fn fpus(&self) -> u16 {
        u16::from_le_bytes(self.part(at::ENV_FPUS))
    }
}

/// Two 64-bit lanes.
pub(crate) type V = [u64; 2];

/// Reads the low sixteen bytes of a vector register.
///
/// # Safety
/// `from` is a register, or the engine's temporary for an operand in memory.
pub(crate) unsafe fn read(from: *const Lanes) -> V {
    // SAFETY: the caller's.
    unsafe { (*from).0 }
}

/// Sets the low sixteen bytes of a vector register.
///
/// # Safety
/// `to` is a register.
pub(crate) unsafe fn write(to: *mut Lanes, value: V) {
    // SAFETY: the caller's.
    unsafe { (*to).0 = value }
}

// SAFETY, for all of them: an `Env` is the live state of the one CPU, which runs on this thread and
// waits for the helper; `EngineState::verify` has compared the offsets with the engine's own
// answers.
impl Env {
    /// The state at `env`.
    ///
    /// # Safety
    /// `env` is the `CPUX86State` of a live engine whose CPU does not run meanwhile.
    pub(crate) unsafe fn new(env: *mut u8) -> Env {
        Env(env)
    }

    /// The state of a CPU.
    ///
    /// # Safety
    /// `cpu` is the `CPUState` of a live engine whose CPU waits for a helper.
    pub(super) unsafe fn of_cpu(cpu: *mut c_void) -> Env {
        // SAFETY: the offset is that of `env_ptr` in the pinned engine.
        unsafe { Env::new(*cpu.cast::<u8>().add(at::CPU_ENV).cast::<*mut u8>()) }
    }

    fn at<T>(self, offset: usize) -> *mut T {
        // SAFETY: as above.
        unsafe { self.0.add(offset).cast() }
    }

    pub(crate) fn sse(self) -> *mut Status {
        self.at(at::ENV_SSE_STATUS)
    }

    pub(crate) fn x87(self) -> *mut Status {
        self.at(at::ENV_FP_STATUS)
    }

    pub(crate) fn mxcsr(self) -> u32 {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_MXCSR) }
    }

    pub(crate) fn set_mxcsr(self, value: u32) {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_MXCSR) = value }
        self.set_mode(at::SSE_UNMASKED, !value & 0x1f80 != 0);
    }

    /// Sets a bit of the mode that blocks are translated for.
    fn set_mode(self, bit: u32, set: bool) {
        // SAFETY: as above.
        unsafe {
            let mode = self.at::<u32>(at::ENV_HFLAGS);
            *mode = *mode & !bit | if set { bit } else { 0 };
        }
    }

    /// Follows the masks of the x87 control word, which the engine may have set.
    pub(crate) fn follow_fpuc(self) {
        self.set_mode(at::X87_UNMASKED, !self.fpuc() & 0x3f != 0);
    }

    /// A general register, by its number in instruction encodings.
    pub(crate) fn gpr(self, number: usize) -> u64 {
        // SAFETY: as above; there are sixteen.
        unsafe { *self.at(8 * (number & 15)) }
    }

    pub(crate) fn set_gpr(self, number: usize, value: u64) {
        // SAFETY: as above; there are sixteen.
        unsafe { *self.at(8 * (number & 15)) = value }
    }

    /// Sets the status flags, for instructions after which the engine takes them from `cc_src`.
    pub(crate) fn set_flags(self, value: u64) {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_CC_SRC) = value }
    }

    /// Reads the status flags; see [`Env::set_flags`].
    pub(crate) fn flags(self) -> u64 {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_CC_SRC) }
    }

    pub(crate) fn xmm(self, number: usize) -> *mut Lanes {
        self.at(at::ENV_XMM + at::XMM_SIZE * (number & 15))
    }

    /// The low half of a vector register.
    pub(crate) fn xmm_low(self, number: usize) -> u64 {
        // SAFETY: as above.
        unsafe { read(self.xmm(number))[0] }
    }

    /// Rounding modes of x87 and SSE arithmetic.
    pub(crate) fn modes(self) -> (i8, i8) {
        // SAFETY: as above.
        unsafe { ((*self.x87()).rounding, (*self.sse()).rounding) }
    }

    pub(crate) fn fpuc(self) -> u16 {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_FPUC) }
    }

    pub(crate) fn set_fpuc(self, value: u16) {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_FPUC) = value }
        self.follow_fpuc();
    }

    pub(crate) fn fpus(self) -> u16 {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_FPUS) }
    }

    pub(crate) fn set_fpus(self, value: u16) {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_FPUS) = value }
    }

    /// Number of the register that is ST(0).
    pub(crate) fn top(self) -> usize {
        // SAFETY: as above.
        unsafe { *self.at::<u32>(at::ENV_FPSTT) as usize & 7 }
    }

    pub(crate) fn set_top(self, top: usize) {
        // SAFETY: as above.
        unsafe { *self.at::<u32>(at::ENV_FPSTT) = top as u32 & 7 }
    }

    /// Tags ST(i) as empty or as valid.
    pub(crate) fn set_empty(self, i: usize, empty: bool) {
        // SAFETY: as above; there are eight tags.
        unsafe { *self.at::<u8>(at::ENV_FPTAGS + ((self.top() + i) & 7)) = u8::from(empty) }
    }

    /// The tag word: two bits per register, 0 for a number, 1 for zero, 2 for a special value, 3
    /// for empty.
    pub(crate) fn tags(self) -> u16 {
        let mut tags = 0;
        for i in 0..8 {
            let physical = (self.top() + i) & 7;
            let value = self.st(i);
            // SAFETY: as above; there are eight tags.
            let empty = unsafe { *self.at::<u8>(at::ENV_FPTAGS + physical) } != 0;
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

    /// Loads a segment register with a selector of a segment that begins at 0.
    pub(crate) fn load_segment(self, segment: usize, selector: u32) {
        let start = at::ENV_SEGS + at::SEGMENT_SIZE * segment;
        // SAFETY: as above; there are six segments.
        unsafe {
            *self.at::<u32>(start) = selector;
            *self.at::<u64>(start + at::SEGMENT_BASE) = 0;
        }
    }

    fn st_pointer(self, i: usize) -> *mut F80 {
        self.at(at::ENV_FPREGS + 16 * ((self.top() + i) & 7))
    }

    pub(crate) fn st(self, i: usize) -> F80 {
        // SAFETY: as above.
        unsafe { *self.st_pointer(i) }
    }

    /// Marks the operand of an x87 instruction that is not on the stack, in its padding: it was
    /// denormal in memory, which an extended real does not show.
    pub(crate) fn mark_ft0(self) {
        // SAFETY: as above; the bytes past the ten of the number are padding to the engine.
        unsafe { *self.at::<u8>(at::ENV_FT0 + 15) = 1 }
    }

    /// Takes the mark of the operand that is not on the stack.
    pub(crate) fn take_ft0_mark(self) -> bool {
        // SAFETY: as above.
        unsafe { std::mem::take(&mut *self.at::<u8>(at::ENV_FT0 + 15)) != 0 }
    }

    /// The operand of an x87 instruction that is not on the stack.
    pub(crate) fn ft0(self) -> F80 {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_FT0) }
    }

    /// Sets the operand that is not on the stack, without a mark.
    pub(crate) fn set_ft0(self, value: F80) {
        // SAFETY: as above.
        unsafe { *self.at::<[u64; 2]>(at::ENV_FT0) = [value.mantissa, value.top.into()] }
    }

    pub(crate) fn set_st(self, i: usize, value: F80) {
        // SAFETY: as above; the bytes past the ten of the number are padding to the engine too.
        unsafe { *self.st_pointer(i) = value }
    }

    pub(crate) fn push(self, value: F80) {
        self.set_top(self.top() + 7);
        self.set_empty(0, false);
        self.set_st(0, value);
    }

    /// Forgets the x87 exceptions that are not in the status word yet: those of a store that
    /// faults.
    pub(crate) fn forget_x87(self) {
        // SAFETY: as above.
        unsafe { (*self.x87()).flags = 0 }
    }

    /// Saves what an arithmetic instruction may change.
    pub(crate) fn save(self) -> Before {
        // SAFETY: as above; the members lie there one after the other.
        Before { flags: self.flags(), state: unsafe { *self.at(at::ENV_FPSTT) } }
    }

    /// Restores the registers of x87 and SSE, and all of their status.
    pub(crate) fn restore_registers(self, before: &Before) {
        // SAFETY: as above.
        unsafe { *self.at(at::ENV_FPSTT) = before.state }
    }

    /// Restores the source of the status flags.
    pub(crate) fn restore_flags(self, before: &Before) {
        self.set_flags(before.flags);
    }

    /// Takes the SSE exceptions that are recorded.
    pub(crate) fn take_sse(self) -> u8 {
        const ALL: u8 = RECORDED | DENORMAL;
        let mxcsr = self.mxcsr();
        self.set_mxcsr(mxcsr & !u32::from(ALL));
        // SAFETY: as above.
        let flags = unsafe { std::mem::take(&mut (*self.sse()).flags) };
        (flags & RECORDED) | mxcsr as u8 & ALL
    }

    /// Records SSE exceptions beside those that were recorded before.
    pub(crate) fn give_sse(self, before: &Before, raised: u8) {
        let [flags] = before.part(at::ENV_SSE_STATUS + std::mem::offset_of!(Status, flags));
        self.set_mxcsr(u32::from_le_bytes(before.part(at::ENV_MXCSR)));
        self.raise_sse(flags | raised);
    }

    /// Records SSE exceptions.
    pub(crate) fn raise_sse(self, flags: u8) {
        // SAFETY: as above.
        unsafe { (*self.sse()).flags |= flags & RECORDED }
        if flags & DENORMAL != 0 {
            self.set_mxcsr(self.mxcsr() | u32::from(DENORMAL));
        }
    }

    /// Records x87 exceptions.
    pub(crate) fn raise_x87(self, flags: u8) {
        // SAFETY: as above.
        unsafe { (*self.x87()).flags |= flags & RECORDED }
        self.set_fpus(self.fpus() | u16::from(flags & DENORMAL));
    }
}
