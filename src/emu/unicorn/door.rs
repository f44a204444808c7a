//! The state that the engine's callbacks reach: one per engine, on the thread that runs it.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr::NonNull;

use rustc_hash::{FxHashMap, FxHashSet};
use unicorn_engine::RegisterX86;
use unicorn_engine::hook::sys;

use crate::emu::cpuid::CpuModel;
use crate::emu::memory::frames::Invalidation;
use crate::emu::memory::space::AddressSpace;
use crate::emu::supervisor::{Next, Refused, Supervisor};
use crate::emu::unicorn::ffi;
use crate::emu::unicorn::jump_cache::JumpCache;
use crate::emu::unicorn::layout::{FS, GS, Parts};
use crate::emu::unicorn::reference::Api;
use crate::emu::unicorn::tlb::Growth;
use crate::emu::unicorn::translate::Translation;
use crate::guest::{Fault, Gpr, GuestCpu};
use crate::hooks::record::{BUFFER_WORDS, MAX_BLOCK};
use crate::hooks::recorder::Recorder;
use crate::x86::request::Request;

/// The two words that generated code reads and writes: where the next record goes, and past which address it has
/// to ask first.
#[repr(C)]
#[derive(Debug)]
pub struct TapWords {
    /// Next free word of the buffer.
    pub next: *mut u64,
    /// When `next` is above it, the block calls for help before it starts.
    pub limit: *mut u64,
}

/// Everything the callbacks need.
pub struct Door {
    /// First, so that its address is the door's.
    pub words: TapWords,
    /// A source operand that generated code has set aside for a helper; as large as the engine's registers.
    pub aside: [u64; 8],
    pub parts: Parts,
    pub space: AddressSpace,
    /// What CPUID says.
    pub model: CpuModel,
    pub recorder: Recorder,
    pub translation: Translation,
    pub growth: Growth,
    pub jumps: JumpCache,
    /// The reference producer; `None` when the tap records.
    pub api: Option<Api>,
    /// Set while the guest runs.
    pub supervisor: Option<NonNull<dyn Supervisor>>,
    /// Why the engine was asked to leave.
    pub leave: Option<Leave>,
    /// What went wrong in the last refused page lookup.
    pub denied: Option<Fault>,
    /// Words from the start of the buffer at which to ask next.
    pub ask_at: usize,
    /// Addresses at which blocks begin and ask.
    pub breakpoints: FxHashSet<u64>,
    /// Set by a block that begins at a breakpoint, to its address.
    pub at: u64,
    /// Where the next block begins, if it was limited.
    pub limited: u64,
    /// The breakpoint that the CPU is at and that has been dealt with.
    pub passed: Option<u64>,
    /// The client requests that were translated.
    pub requests: FxHashMap<u64, Request>,
}

/// Why the engine leaves its loop.
#[derive(Clone, Debug)]
pub enum Leave {
    /// The supervisor said so.
    Stop,
    /// The guest faulted; the instruction at RIP did not complete unless it is a trap.
    Fault(Fault, Option<Refused>),
    /// The supervisor wants a pause.
    Interrupt,
    /// Control is at a breakpoint.
    Breakpoint,
    /// The supervisor wants the instruction at this address undone.
    Undo(u64),
    /// The next block may be too long: it is to be made again, shorter.
    Approach,
    /// The engine did what the tap does not understand.
    Broken(String),
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<Door>>> = const { Cell::new(None) };
}

/// Makes a door the one that callbacks on this thread reach, until dropped.
pub struct Entered(Option<NonNull<Door>>);

impl Entered {
    /// Enters; `door` must stay where it is until the result is dropped.
    pub fn new(door: &mut Door) -> Entered {
        Entered(CURRENT.replace(Some(NonNull::from(door))))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The door of the engine that is calling.
///
/// # Safety
/// Called only from callbacks of the engine, which run inside [`Entered`]; the engine is not re-entered from them,
/// so there is no other reference to the door while the result lives.
pub unsafe fn door<'a>() -> Option<&'a mut Door> {
    // SAFETY: the pointer was made from a live door by `Entered`, which outlives the engine's call.
    CURRENT.get().map(|mut door| unsafe { door.as_mut() })
}

impl Door {
    /// Tells the recorder what generated code has written.
    pub fn sync(&mut self) {
        if self.api.is_none() {
            let base = self.recorder.words().as_ptr() as usize;
            self.recorder.set_len((self.words.next as usize - base) / size_of::<u64>());
        }
    }

    /// Tells generated code where the recorder is now.
    pub fn reload(&mut self) {
        let len = self.recorder.len();
        let ask_at = self.ask_at;
        let words = self.recorder.words();
        self.words.next = words[len..].as_mut_ptr();
        // A block asks when `next` is above the limit, so the limit is one word less.
        self.words.limit = match self.leave {
            None if ask_at > len => words[ask_at - 1..].as_mut_ptr(),
            _ => std::ptr::null_mut(),
        };
    }

    /// Asks the engine to leave its loop at the next block.
    pub fn leave(&mut self, why: Leave) {
        self.leave.get_or_insert(why);
        self.words.limit = std::ptr::null_mut();
        // SAFETY: the engine is live; stopping only sets its flags.
        unsafe { sys::uc_emu_stop(self.parts.uc.cast()) };
    }

    /// The supervisor, the CPU and the memory, apart from each other.
    pub fn split(&mut self) -> Option<(&mut dyn Supervisor, Cpu<'_>, &mut AddressSpace)> {
        let mut supervisor = self.supervisor?;
        // SAFETY: set from a reference that lives as long as the run, and used by one callback at a time.
        let supervisor = unsafe { supervisor.as_mut() };
        let cpu = Cpu { parts: &mut self.parts, recorder: &mut self.recorder, syscall_bytes: 0 };
        Some((supervisor, cpu, &mut self.space))
    }

    /// The buffer is full, or the supervisor wants to be asked: called at the start of a block.
    pub fn ask(&mut self) {
        self.sync();
        let executed = self.executed();
        if self.recorder.len() >= BUFFER_WORDS {
            self.recorder.flush();
        }
        let resident = self.space.frames().in_use() as u64 * crate::guest::PAGE_SIZE;
        let next =
            self.supervisor_ref().map_or(Next::Continue, |supervisor| supervisor.tick(executed, resident));
        let left = self.reschedule();
        let at = std::mem::take(&mut self.at);
        // A block at a breakpoint asks even if it is the one that was made short enough.
        let is_limited = std::mem::take(&mut self.limited) == at && at != 0;
        match next {
            Next::Continue if left.is_some_and(|left| left > 0 && left < MAX_BLOCK) && !is_limited => {
                self.leave(Leave::Approach);
            }
            Next::Continue => {}
            Next::Stop | Next::Undo => self.leave(Leave::Stop),
            Next::Interrupt => self.leave(Leave::Interrupt),
        }
        if at != 0 && self.stops_at(at) {
            self.leave(Leave::Breakpoint);
        }
        if is_limited && self.leave.is_none() {
            self.ask_at = self.recorder.len() + 1;
        }
        self.reload();
    }

    /// Whether the block at `pc`, which is about to run, is at a breakpoint that has not been dealt with.
    pub fn stops_at(&mut self, pc: u64) -> bool {
        self.leave.is_none() && self.breakpoints.contains(&pc) && self.passed.take() != Some(pc)
    }

    /// Instructions executed: exactly where the supervisor's next wish may be less than a block away, else what is
    /// known without waiting for the consumers.
    fn executed(&mut self) -> u64 {
        let most = self.recorder.instructions_at_most();
        match self.left_after(most) {
            Some(left) if left < MAX_BLOCK => self.recorder.instructions(),
            _ => self.recorder.instructions_seen(),
        }
    }

    /// Arranges the next call of `ask` so that it comes before the instruction that the supervisor wants to be asked
    /// at. Returns how many instructions are left until then; exactly, if that is less than a block may have.
    pub fn reschedule(&mut self) -> Option<u64> {
        let most = self.recorder.instructions_at_most();
        let mut left = self.left_after(most);
        if left.is_some_and(|left| left < MAX_BLOCK) {
            let executed = self.recorder.instructions();
            left = self.left_after(executed);
        }
        self.ask_at = match left {
            None => BUFFER_WORDS,
            // Every record is at least one word and at most a block.
            Some(left) => {
                let words = (left / MAX_BLOCK).min(BUFFER_WORDS as u64) as usize;
                (self.recorder.len() + words).min(BUFFER_WORDS)
            }
        };
        left
    }

    /// Arranges that the supervisor is asked in time, and that the next block is no longer than it may be. Only
    /// before the engine is started.
    pub fn prepare(&mut self) {
        if let Some(left) = self.reschedule().filter(|&left| left > 0 && left < MAX_BLOCK) {
            if self.recorder.len() >= BUFFER_WORDS {
                self.recorder.flush();
            }
            self.parts.limit_next_block(left as u32);
            self.limited = self.parts.eip();
            self.ask_at = self.recorder.len() + 1;
        }
    }

    /// See [`Supervisor::instructions_left`].
    fn left_after(&mut self, executed: u64) -> Option<u64> {
        self.supervisor_ref().and_then(|supervisor| supervisor.instructions_left(executed))
    }

    fn supervisor_ref(&mut self) -> Option<&mut dyn Supervisor> {
        self.split().map(|(supervisor, ..)| supervisor)
    }

    /// Carries out what the memory has changed.
    pub fn invalidate(&mut self) {
        for change in self.space.take_invalidations() {
            self.jumps.forget();
            // SAFETY: the engine is live and between two guest instructions, and these functions only drop what
            // it has cached. Frames lie in the one region that was mapped, whose offsets the last one takes.
            unsafe {
                match change {
                    Invalidation::Page(addr) => ffi::tlb_flush_page_x86_64(self.parts.cpu, addr),
                    Invalidation::AllPages => ffi::tlb_flush_x86_64(self.parts.cpu),
                    Invalidation::Code(frame) => {
                        let start = frame.index() as u64 * crate::guest::PAGE_SIZE;
                        let end = start + crate::guest::PAGE_SIZE;
                        ffi::tb_invalidate_phys_range_x86_64(self.parts.uc.cast(), start, end);
                    }
                }
            }
        }
    }
}

/// The guest's registers, and the recorder for its clock.
pub struct Cpu<'a> {
    pub parts: &'a mut Parts,
    pub recorder: &'a mut Recorder,
    /// Bytes that the engine will add to RIP after the callback.
    pub syscall_bytes: u64,
}

impl Cpu<'_> {
    fn read<const N: usize>(&self, reg: RegisterX86) -> [u8; N] {
        let mut value = [0u8; N];
        // SAFETY: the buffer is as large as the register; the engine is live.
        unsafe { sys::uc_reg_read(self.parts.uc.cast(), reg as i32, value.as_mut_ptr().cast()) };
        value
    }

    fn store<const N: usize>(&mut self, reg: RegisterX86, value: &[u8; N]) {
        // SAFETY: as in `read`.
        unsafe { sys::uc_reg_write(self.parts.uc.cast(), reg as i32, value.as_ptr().cast()) };
    }
}

/// Flags that a user program may set: CF PF AF ZF SF TF DF OF AC ID, and bit 1, which is always set.
const USER_FLAGS: u64 = 0x24_0dd5;

impl GuestCpu for Cpu<'_> {
    fn gpr(&self, reg: Gpr) -> u64 {
        self.parts.gpr(reg)
    }

    fn set_gpr(&mut self, reg: Gpr, value: u64) {
        self.parts.set_gpr(reg, value);
    }

    fn rip(&self) -> u64 {
        self.parts.eip().wrapping_add(self.syscall_bytes)
    }

    fn set_rip(&mut self, value: u64) {
        let bytes = self.syscall_bytes;
        self.parts.set_eip(value.wrapping_sub(bytes));
    }

    fn rflags(&self) -> u64 {
        // Interrupts are enabled in user mode, as far as a program can see.
        u64::from_le_bytes(self.read(RegisterX86::RFLAGS)) | 0x202
    }

    fn set_rflags(&mut self, value: u64) {
        self.store(RegisterX86::RFLAGS, &(value & USER_FLAGS | 2).to_le_bytes());
    }

    fn fs_base(&self) -> u64 {
        self.parts.segment_base(FS)
    }

    fn set_fs_base(&mut self, value: u64) {
        self.parts.set_segment_base(FS, value);
    }

    fn gs_base(&self) -> u64 {
        self.parts.segment_base(GS)
    }

    fn set_gs_base(&mut self, value: u64) {
        self.parts.set_segment_base(GS, value);
    }

    fn fpu(&self) -> Box<[u8; 512]> {
        let mut image = Box::new([0u8; 512]);
        self.parts.state().collect_x87();
        image[0..2].copy_from_slice(&self.read::<2>(RegisterX86::FPCW));
        image[2..4].copy_from_slice(&self.read::<2>(RegisterX86::FPSW));
        let tags = u16::from_le_bytes(self.read(RegisterX86::FPTAG));
        // FXSAVE has one bit a register: not empty.
        image[4] = (0..8).filter(|i| tags >> (2 * i) & 3 != 3).fold(0, |bits, i| bits | 1 << i);
        image[24..28].copy_from_slice(&self.parts.state().full_mxcsr().to_le_bytes());
        image[28..32].copy_from_slice(&0xffff_u32.to_le_bytes());
        for i in 0..8 {
            image[32 + 16 * i..][..10].copy_from_slice(&self.read::<10>(st(i)));
        }
        for i in 0..16 {
            image[160 + 16 * i..][..16].copy_from_slice(&self.read::<16>(xmm(i)));
        }
        image
    }

    fn set_fpu(&mut self, image: &[u8; 512]) {
        let part = |at: usize| -> [u8; 16] { std::array::from_fn(|i| image[at + i]) };
        self.parts.state().collect_x87();
        self.store(RegisterX86::FPCW, &[image[0], image[1]]);
        self.store(RegisterX86::FPSW, &[image[2], image[3]]);
        let tags = (0..8).fold(0u16, |tags, i| tags | if image[4] >> i & 1 == 0 { 3 << (2 * i) } else { 0 });
        for i in 0..8 {
            let value: [u8; 10] = std::array::from_fn(|k| image[32 + 16 * i + k]);
            self.store(st(i), &value);
        }
        self.store(RegisterX86::FPTAG, &tags.to_le_bytes());
        self.parts.state().load_mxcsr(u32::from_le_bytes([image[24], image[25], image[26], image[27]]));
        for i in 0..16 {
            self.store(xmm(i), &part(160 + 16 * i));
        }
    }

    fn instructions(&mut self) -> u64 {
        self.recorder.instructions()
    }

    fn set_counting(&mut self, counting: bool) -> bool {
        let pc = self.rip();
        self.recorder.set_counting(counting, pc)
    }
}

fn st(i: usize) -> RegisterX86 {
    use RegisterX86::{ST0, ST1, ST2, ST3, ST4, ST5, ST6, ST7};
    [ST0, ST1, ST2, ST3, ST4, ST5, ST6, ST7][i]
}

fn xmm(i: usize) -> RegisterX86 {
    use RegisterX86::{XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7};
    use RegisterX86::{XMM8, XMM9, XMM10, XMM11, XMM12, XMM13, XMM14, XMM15};
    [XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7, XMM8, XMM9, XMM10, XMM11, XMM12, XMM13, XMM14, XMM15][i]
}
