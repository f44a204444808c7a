//! Access to the engine's CPU: registers, exceptions, the limit of the next block, and its caches.
#![allow(unsafe_code)]

use std::ffi::c_void;

use iced_x86::Register;
use unicorn_engine::hook::sys;
use unicorn_engine::{RegisterX86, Unicorn, uc_error};

use crate::emu::unicorn::ffi;
use crate::emu::unicorn::helpers::env::Env;
use crate::emu::unicorn::layout as at;
use crate::guest::Gpr;

/// Number of a segment register in instruction encodings, which is also its index in the engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Segment {
    Cs = 1,
    Ss = 2,
    Fs = 4,
    Gs = 5,
}

/// RFLAGS.RF.
const RESUME_FLAG: u64 = 0x1_0000;

/// Pointers to a live engine's structures. The CPU runs only inside `uc_emu_start`, and whoever
/// calls a method here is either a callback of it or runs before or after it; so nobody else
/// accesses them.
#[derive(Debug)]
pub(super) struct EngineState {
    /// `uc_struct`.
    uc: *mut u8,
    /// `CPUState`.
    cpu: *mut c_void,
    /// `CPUX86State`.
    env: *mut u8,
    /// RFLAGS.RF as a fault saves it; the engine has none.
    resume: bool,
}

impl EngineState {
    /// Finds the structures of an engine and compares them with what the engine itself answers.
    ///
    /// # Safety
    /// The engine outlives the result.
    ///
    /// # Errors
    /// When the engine is not the release that `layout` describes.
    pub(super) unsafe fn find(engine: &mut Unicorn<'static, ()>) -> Result<EngineState, String> {
        let uc = engine.get_handle().cast::<u8>();
        // SAFETY: Cargo.toml pins the release that has these members at these offsets; `verify`
        // compares what they lead to with the engine's own answers before anything relies on it.
        let mut state = unsafe {
            let cpu = *uc.add(at::UC_CPU).cast::<*mut c_void>();
            let env = *cpu.cast::<u8>().add(at::CPU_ENV).cast::<*mut u8>();
            EngineState { uc, cpu, env, resume: false }
        };
        state.verify(engine)?;
        Ok(state)
    }

    fn verify(&mut self, engine: &mut Unicorn<'static, ()>) -> Result<(), String> {
        use RegisterX86 as R;
        let error = |error: uc_error| format!("cannot write a register: {error:?}");
        let mut agree = true;
        for (reg, value) in
            [(R::RIP, 0x1234_5678_9abc_u64), (R::RSP, 0x7fff_0102_0304), (R::FS_BASE, 0x5555_1111_2222)]
        {
            engine.reg_write(reg, value).map_err(error)?;
            agree &= value
                == match reg {
                    R::RIP => self.rip(),
                    R::RSP => self.gpr(Gpr::Rsp),
                    _ => self.segment_base(Segment::Fs),
                };
            engine.reg_write(reg, 0).map_err(error)?;
        }
        agree &= self.exception_in_flight() == -1 && self.is_next_block_free();
        let env = self.env();
        let mut image = [0; 16];
        for (reg, value) in [
            (R::FPCW, 0x1f7f),
            (R::FPSW, 0x3841),
            (R::MXCSR, 0x7fff),
            (R::ST0, 0x4000_1234),
            (R::XMM9, 0x5678),
        ] {
            image[..8].copy_from_slice(&u64::to_le_bytes(value));
            engine.reg_write_long(reg, &image).map_err(error)?;
        }
        agree &= (env.fpuc(), env.fpus(), env.top()) == (0x1f7f, 0x41, 7);
        agree &= (env.mxcsr(), env.st(0).mantissa, env.xmm_low(9)) == (0x7fff, 0x4000_1234, 0x5678);
        agree &= env.modes() == (3, 3) && self.place_blocks_closely();
        if agree { Ok(()) } else { Err("this engine is not the release that the tap knows".into()) }
    }

    /// Has the engine leave no room between blocks of generated code, which it aligns to lines of
    /// the host's cache. Returns false if its members are not the expected ones.
    fn place_blocks_closely(&mut self) -> bool {
        /// Alignment of the engine's code itself.
        const CLOSELY: i32 = 16;
        // SAFETY: as in `find`; the members before tell if these are the ones.
        unsafe {
            let page_size = *self.uc.add(at::UC_HOST_PAGE_SIZE).cast::<u64>();
            let line_size = self.uc.add(at::UC_ICACHE_LINE_SIZE).cast::<i32>();
            let agree = page_size.is_power_of_two() && page_size >= 4096 && (16..=1024).contains(&*line_size);
            if agree {
                *line_size = CLOSELY;
            }
            agree
        }
    }

    /// `uc_struct`.
    pub(super) fn engine(&self) -> *mut c_void {
        self.uc.cast()
    }

    fn word(&self, offset: usize) -> *mut u64 {
        // SAFETY: every offset used here lies within `CPUX86State`.
        unsafe { self.env.add(offset).cast() }
    }

    /// A general register. The engine has stored its registers wherever we are called.
    pub(super) fn gpr(&self, reg: Gpr) -> u64 {
        // SAFETY: `regs` is the first member, sixteen words in the order of instruction encodings,
        // which is that of `Gpr`.
        unsafe { *self.word(8 * reg as usize) }
    }

    /// Sets a general register.
    pub(super) fn set_gpr(&mut self, reg: Gpr, value: u64) {
        // SAFETY: as in `gpr`.
        unsafe { *self.word(8 * reg as usize) = value }
    }

    /// A 64-bit register, or the base of a segment.
    pub(super) fn register(&self, register: Register) -> u64 {
        match register {
            Register::FS => self.segment_base(Segment::Fs),
            Register::GS => self.segment_base(Segment::Gs),
            _ if register.is_gpr() => Gpr::ALL.get(register.number()).map_or(0, |&gpr| self.gpr(gpr)),
            _ => 0,
        }
    }

    /// The instruction pointer.
    pub(super) fn rip(&self) -> u64 {
        // SAFETY: `verify` has compared the member with the engine's own answer.
        unsafe { *self.word(at::ENV_EIP) }
    }

    /// Sets the instruction pointer; in hooks only where the engine reads it again afterwards.
    pub(super) fn set_rip(&mut self, value: u64) {
        // SAFETY: as in `rip`.
        unsafe { *self.word(at::ENV_EIP) = value }
    }

    /// Base of a segment.
    pub(super) fn segment_base(&self, segment: Segment) -> u64 {
        // SAFETY: as in `rip`; there are six segments.
        unsafe { *self.word(at::ENV_SEGS + at::SEGMENT_SIZE * segment as usize + at::SEGMENT_BASE) }
    }

    /// Sets the base of a segment.
    pub(super) fn set_segment_base(&mut self, segment: Segment, value: u64) {
        // SAFETY: as in `segment_base`.
        unsafe { *self.word(at::ENV_SEGS + at::SEGMENT_SIZE * segment as usize + at::SEGMENT_BASE) = value }
    }

    /// Sets the selector that a program reads from a segment register, and nothing else of the
    /// segment.
    pub(super) fn set_selector(&mut self, segment: Segment, value: u32) {
        // SAFETY: the selector is the first member of the segment.
        unsafe { *self.word(at::ENV_SEGS + at::SEGMENT_SIZE * segment as usize).cast::<u32>() = value }
    }

    /// Reads a register through the engine, which computes the flags for it.
    pub(super) fn read<const N: usize>(&self, reg: RegisterX86) -> [u8; N] {
        let mut value = [0u8; N];
        // SAFETY: the buffer is as large as the register; the engine is live.
        unsafe { sys::uc_reg_read(self.uc.cast(), reg as i32, value.as_mut_ptr().cast()) };
        value
    }

    /// Writes a register through the engine.
    pub(super) fn write<const N: usize>(&mut self, reg: RegisterX86, value: &[u8; N]) {
        // SAFETY: as in `read`.
        unsafe { sys::uc_reg_write(self.uc.cast(), reg as i32, value.as_ptr().cast()) };
    }

    /// RFLAGS; interrupts are enabled in user mode, as far as a program can see.
    pub(super) fn rflags(&self) -> u64 {
        let resume = if self.resume { RESUME_FLAG } else { 0 };
        u64::from_le_bytes(self.read(RegisterX86::RFLAGS)) | 0x202 | resume
    }

    /// Sets RFLAGS to flags that user code may set.
    pub(super) fn set_popped_flags(&mut self, flags: u64) {
        self.set_resume(false);
        self.write(RegisterX86::RFLAGS, &(flags | 2).to_le_bytes());
    }

    /// Sets RFLAGS.RF, which only those see who look at the registers after a fault.
    pub(super) fn set_resume(&mut self, resume: bool) {
        self.resume = resume;
    }

    /// The state as helpers see it.
    pub(super) fn env(&self) -> Env {
        // SAFETY: the engine lives as long as the machine that holds this value.
        unsafe { Env::new(self.env) }
    }

    /// Start of `CPUX86State`, for those who look at what lies before it.
    pub(super) fn env_start(&self) -> *mut u64 {
        self.env.cast()
    }

    /// The address of the last access that the page table refused.
    pub(super) fn invalid_address(&self) -> u64 {
        // SAFETY: the member lies within `uc_struct`.
        unsafe { *self.uc.add(at::UC_INVALID_ADDR).cast::<u64>() }
    }

    /// The exception that the engine believes to be in flight; -1 for none.
    fn exception_in_flight(&self) -> i32 {
        // SAFETY: the member lies within `CPUX86State`.
        unsafe { *self.env.add(at::ENV_OLD_EXCEPTION).cast::<i32>() }
    }

    /// Ends the delivery of the last exception. The engine does that only for one it delivers
    /// itself; otherwise the next divide or protection fault would become a double fault.
    pub(super) fn clear_exception(&mut self) {
        // SAFETY: the member is a C `int` that the engine reads when it raises an exception, and
        // not between runs.
        unsafe { *self.env.add(at::ENV_OLD_EXCEPTION).cast::<i32>() = -1 }
    }

    /// Limits the block that the CPU runs next; the engine translates it anew unless it has one
    /// that was made for this limit.
    pub(super) fn limit_next_block(&mut self, instructions: u32) {
        // SAFETY: the member lies within `CPUState`, and the engine reads it when it is started.
        unsafe { *self.cpu.cast::<u8>().add(at::CPU_NEXT_BLOCK).cast::<u32>() = instructions }
    }

    /// Tests whether the length of the next block is free, as it is unless it has just been
    /// limited.
    fn is_next_block_free(&self) -> bool {
        // SAFETY: as in `limit_next_block`.
        unsafe { *self.cpu.cast::<u8>().add(at::CPU_NEXT_BLOCK).cast::<u32>() == at::ANY_BLOCK }
    }

    /// The CPU mode, which the engine compares with the one that a block was translated for.
    pub(super) fn block_mode(&self) -> u32 {
        // SAFETY: both lie within `CPUX86State`.
        unsafe {
            let eflags = *self.word(at::ENV_EFLAGS) as u32;
            *self.env.add(at::ENV_HFLAGS).cast::<u32>() | eflags & at::MODE_FLAGS
        }
    }

    /// Clears the status flags and DF in `eflags`, where the engine copies them for its public
    /// hooks. Their own members hold them too, and PUSHF would combine both.
    pub(super) fn clear_copied_flags(&mut self) {
        // SAFETY: it lies within `CPUX86State`.
        unsafe { *self.env.add(at::ENV_EFLAGS).cast::<u32>() &= !at::COPIED_FLAGS };
    }

    /// Installs the handler of accesses that are not aligned as their operation demands; the x86
    /// CPU of the engine has none.
    ///
    /// # Errors
    /// When there is one, so the offset is wrong.
    pub(super) fn set_unaligned(&mut self, handler: at::Unaligned) -> Result<(), String> {
        // SAFETY: the class is the engine's own copy, and lives as long as it.
        unsafe {
            let class = *self.cpu.cast::<u8>().add(at::CPU_CLASS).cast::<*mut u8>();
            if class.is_null() {
                return Err("the CPU's class is not where CPUState.cc should be".into());
            }
            let member = class.add(at::CLASS_UNALIGNED).cast::<Option<at::Unaligned>>();
            if (*member).is_some() {
                return Err("CPUClass.do_unaligned_access should be empty".into());
            }
            *member = Some(handler);
        }
        Ok(())
    }

    /// Checks the code generator's context; see [`at::verify_context`].
    ///
    /// # Safety
    /// `context` is the engine's, in the middle of a translation.
    pub(super) unsafe fn verify_context(&self, context: ffi::Context) -> Result<(), String> {
        // SAFETY: the caller's.
        unsafe { at::verify_context(context, self.uc.cast()) }
    }

    /// Makes the engine leave its loop at the next block.
    pub(super) fn stop(&mut self) {
        // SAFETY: the engine is live; stopping only sets its flags.
        unsafe { sys::uc_emu_stop(self.uc.cast()) };
    }

    /// Flushes the TLB. Allowed in a fill callback too, since the new entry is set after it.
    pub(super) fn flush_tlb(&mut self) {
        // SAFETY: the engine is live, and only drops what it has cached.
        unsafe { ffi::tlb_flush_x86_64(self.cpu) };
    }

    /// Makes a new TLB, without regard to the one that is there.
    pub(super) fn new_tlb(&mut self) {
        // SAFETY: the engine is live, and does the same when it is made.
        unsafe { ffi::tlb_init_x86_64(self.cpu) };
    }

    /// Flushes the TLB entry of a page.
    pub(super) fn flush_page(&mut self, addr: u64) {
        // SAFETY: as in `flush_tlb`.
        unsafe { ffi::tlb_flush_page_x86_64(self.cpu, addr) };
    }

    /// Restores the registers to the instruction whose generated code returns to `retaddr`, which
    /// is to be left.
    pub(super) fn restore_registers(&mut self, retaddr: usize) {
        // SAFETY: the engine is live; outside of generated code the call does nothing.
        unsafe { ffi::cpu_restore_state_x86_64(self.cpu, retaddr, true) };
    }

    /// `CPUState`.
    pub(super) fn cpu(&self) -> *mut c_void {
        self.cpu
    }

    /// Drops the blocks translated from a range of the engine's memory; offsets are those in the
    /// arena, the one region that is mapped.
    pub(super) fn drop_code(&mut self, start: u64, end: u64) {
        // SAFETY: as in `flush_tlb`.
        unsafe { ffi::tb_invalidate_phys_range_x86_64(self.uc.cast(), start, end) };
    }
}
