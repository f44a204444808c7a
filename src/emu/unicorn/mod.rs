//! The one door to the engine: nothing outside this folder names Unicorn or its symbols.
//!
//! `layout` and `ffi` know the insides of the pinned release, `tap` and `translate` put the trace into translated
//! code, `tlb` answers page lookups, `jump` finds where indirect jumps go, `api` is the reference producer, and `door`
//! is the state they share.
#![allow(unsafe_code)]

mod door;
mod emit;
mod errata;
mod ffi;
mod helpers;
mod interpose;
mod jump_cache;
mod layout;
mod matcher;
mod reference;
mod request;
mod snapshot;
mod superblocks;
mod tlb;
mod translate;
mod wrapped;

use std::collections::BTreeMap;
use std::ptr::NonNull;

use rustc_hash::{FxHashMap, FxHashSet};
use unicorn_engine::{Arch, Mode, Prot as EngineProt, TlbType, Unicorn, X86Insn, uc_error};

use crate::emu::cpuid::CpuModel;
use crate::emu::memory::space::AddressSpace;
use crate::emu::supervisor::{Next, Supervisor};
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory as _};
use crate::hooks::consumer::Consumer;
use crate::hooks::fault::Cause;
use crate::hooks::plan::NO_MAPPING;
use crate::hooks::record::BUFFER_WORDS;
use crate::hooks::recorder::Recorder;
use crate::x86::decode::{Refusal, Trap};

use door::{Cpu, Door, Entered, Leave, TapWords, door};
use jump_cache::JumpCache;
use layout::Parts;
use reference::Api;
pub use snapshot::SavedMachine;
use tlb::Growth;
use translate::{Special, Translation};

/// The engine failed in a way no guest can cause.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EngineError(String);

fn engine_error(what: &str) -> impl FnOnce(uc_error) -> EngineError + '_ {
    move |error| EngineError(format!("{what}: {error:?}"))
}

/// The emulated machine: CPU, memory and trace.
pub struct Machine {
    // Before `door`, whose arena the engine has mapped.
    engine: Unicorn<'static, ()>,
    door: Box<Door>,
}

/// Index of CS and SS among the segment registers, and the selectors that Linux gives user programs.
const CS: (usize, u32) = (1, 0x33);
const SS: (usize, u32) = (2, 0x2b);

impl Machine {
    /// A machine with this memory and what CPUID says of this model. The tap writes the trace, or with `reference` the public hooks.
    ///
    /// # Errors
    /// When the engine cannot be made, or is not the release that the tap knows.
    pub fn new(
        space: AddressSpace,
        model: CpuModel,
        recorder: Recorder,
        reference: bool,
    ) -> Result<Machine, EngineError> {
        let mut engine =
            Unicorn::new(Arch::X86, Mode::MODE_64).map_err(engine_error("cannot start the engine"))?;
        engine.ctl_set_tlb_type(TlbType::VIRTUAL).map_err(engine_error("cannot set up the engine's TLB"))?;
        let arena = space.frames().arena();
        // SAFETY: the arena stays mapped as long as the door, which is dropped after the engine.
        unsafe {
            engine
                .mem_map_ptr(arena.base() as u64, arena.len() as u64, EngineProt::ALL, arena.base())
                .map_err(engine_error("cannot map the engine's memory"))?;
        }
        add_hooks(&mut engine, reference).map_err(engine_error("cannot set the engine's hooks"))?;
        // SAFETY: the engine is live and of the pinned release; what follows checks that.
        let mut parts = unsafe { layout::parts(engine.get_handle().cast()) };
        check(&mut engine, &mut parts)?;
        parts.set_unaligned(helpers::status::unaligned).map_err(EngineError)?;
        let growth = Growth::find(&parts).map_err(EngineError)?;
        let mut door = Box::new(Door {
            words: TapWords { next: std::ptr::null_mut(), limit: std::ptr::null_mut() },
            aside: [0; 8],
            parts,
            space,
            model,
            recorder,
            translation: Translation::default(),
            growth,
            jumps: JumpCache::default(),
            api: reference.then(Api::default),
            supervisor: None,
            leave: None,
            denied: None,
            ask_at: BUFFER_WORDS,
            breakpoints: FxHashSet::default(),
            at: 0,
            limited: 0,
            passed: None,
            requests: FxHashMap::default(),
        });
        door.reload();
        let mut machine = Machine { engine, door };
        machine.reset();
        Ok(machine)
    }

    /// Registers as execve(2) leaves them.
    pub fn reset(&mut self) {
        let mut cpu = self.cpu();
        for gpr in Gpr::ALL {
            cpu.set_gpr(gpr, 0);
        }
        cpu.set_rflags(2);
        cpu.set_fs_base(0);
        cpu.set_gs_base(0);
        let mut fpu = [0; 512];
        fpu[0..2].copy_from_slice(&0x37f_u16.to_le_bytes());
        fpu[24..28].copy_from_slice(&0x1f80_u32.to_le_bytes());
        cpu.set_fpu(&fpu);
        drop(cpu);
        for (segment, selector) in [CS, SS] {
            self.door.parts.set_selector(segment, selector);
        }
    }

    /// The registers.
    pub fn cpu(&mut self) -> impl GuestCpu + '_ {
        let door = &mut *self.door;
        Cpu { parts: &mut door.parts, recorder: &mut door.recorder, syscall_bytes: 0 }
    }

    /// The memory.
    pub fn memory(&mut self) -> &mut AddressSpace {
        &mut self.door.space
    }

    /// Runs the guest until the supervisor stops it.
    ///
    /// # Errors
    /// When the engine or the tap fails.
    pub fn run(&mut self, supervisor: &mut dyn Supervisor) -> Result<(), EngineError> {
        let pointer: *mut (dyn Supervisor + '_) = supervisor;
        // SAFETY: only the lifetime changes; the pointer is taken away before this function returns.
        let pointer: *mut (dyn Supervisor + 'static) = unsafe { std::mem::transmute(pointer) };
        self.door.supervisor = NonNull::new(pointer);
        let entered = Entered::new(&mut self.door);
        let result = self.run_entered();
        drop(entered);
        self.door.supervisor = None;
        result
    }

    fn run_entered(&mut self) -> Result<(), EngineError> {
        loop {
            self.door.leave = None;
            self.door.denied = None;
            self.door.invalidate();
            self.door.prepare();
            self.door.reload();
            self.door.parts.forget_exception();
            let rip = self.door.parts.eip();
            let result = self.engine.emu_start(rip, 0, 0, 0);
            self.door.sync();
            self.door.translation.abandon();
            let (fault, refused) = match (self.door.leave.take(), result) {
                (Some(Leave::Stop), _) => {
                    let rip = self.door.parts.eip();
                    self.door.recorder.point(rip);
                    return Ok(());
                }
                (Some(Leave::Interrupt), _) => {
                    let rip = self.door.parts.eip();
                    self.door.recorder.point(rip);
                    let Some((supervisor, mut cpu, space)) = self.door.split() else { return Ok(()) };
                    if supervisor.interrupt(&mut cpu, space) != Next::Continue {
                        return Ok(());
                    }
                    continue;
                }
                (Some(Leave::Approach), _) => continue,
                (Some(Leave::Breakpoint), _) => {
                    let rip = self.door.parts.eip();
                    self.door.recorder.point(rip);
                    let Some((supervisor, mut cpu, space)) = self.door.split() else { return Ok(()) };
                    if supervisor.breakpoint(&mut cpu, space) != Next::Continue {
                        return Ok(());
                    }
                    self.door.passed = Some(rip);
                    continue;
                }
                (Some(Leave::Undo(rip)), _) => {
                    self.door.parts.set_eip(rip);
                    self.door.recorder.cut(rip);
                    self.door.recorder.point(rip);
                    return Ok(());
                }
                (Some(Leave::Broken(why)), _) => return Err(EngineError(why)),
                (Some(Leave::Fault(fault, refused)), _) => (fault, refused),
                (None, Err(uc_error::EXCEPTION)) => (self.page_fault(), None),
                (None, other) => {
                    let rip = self.door.parts.eip();
                    return Err(EngineError(format!(
                        "the engine stopped at {rip:#x} without a reason: {other:?}"
                    )));
                }
            };
            self.record_fault(fault, refused.is_some());
            let out_of_memory = self.door.space.take_out_of_memory();
            let Some((supervisor, mut cpu, space)) = self.door.split() else { return Ok(()) };
            if out_of_memory {
                supervisor.out_of_memory(&mut cpu);
                return Ok(());
            }
            let mapping = supervisor.mapping_of(space.file_at(cpu.rip()));
            if supervisor.fault(&mut cpu, space, fault, refused, mapping) != Next::Continue {
                return Ok(());
            }
        }
    }

    /// The fault of a page lookup that had no answer, with the exact address.
    fn page_fault(&mut self) -> Fault {
        let exact = self.door.parts.invalid_address();
        match self.door.denied.take() {
            Some(Fault::Page { write, fetch, mapped, .. }) => {
                Fault::Page { addr: exact, write, fetch, mapped }
            }
            Some(Fault::Bus { .. }) => Fault::Bus { addr: exact },
            Some(fault) => fault,
            None => Fault::Protection,
        }
    }

    /// Writes into the trace how far the last block got.
    fn record_fault(&mut self, fault: Fault, refused: bool) {
        let rip = self.door.parts.eip();
        let Door { recorder, space, .. } = &mut *self.door;
        let mut readable = |addr| space.read(addr, &mut [0]).is_ok();
        match fault {
            // The jump that led here is complete; nothing was fetched.
            Fault::Page { fetch: true, .. } => recorder.point(rip),
            // Traps: the instruction before RIP is complete.
            Fault::Breakpoint | Fault::Debug => {}
            Fault::InvalidOpcode => recorder.fault(rip, Cause::Instruction, &mut readable),
            _ if refused => recorder.fault(rip, Cause::Instruction, &mut readable),
            Fault::Page { addr, write, .. } => {
                recorder.fault(rip, Cause::Page { addr, write: Some(write) }, &mut readable);
            }
            Fault::Bus { addr } => recorder.fault(rip, Cause::Page { addr, write: None }, &mut readable),
            Fault::Protection | Fault::Alignment => recorder.fault(rip, Cause::Address, &mut readable),
            Fault::Divide | Fault::FloatingPoint => recorder.fault(rip, Cause::Result, &mut readable),
        }
    }

    /// The bytes of every instruction that ran and is in no file, by address, as they are now.
    pub fn code_in_no_file(&mut self) -> BTreeMap<u64, Vec<u8>> {
        let mut code = BTreeMap::new();
        let door = &mut *self.door;
        for plan in door.recorder.plans.iter().filter(|plan| plan.mapping == NO_MAPPING) {
            for insn in &plan.insns {
                let mut bytes = vec![0; usize::from(insn.len)];
                if door.space.read(insn.pc, &mut bytes).is_ok() {
                    code.insert(insn.pc, bytes);
                }
            }
        }
        code
    }

    /// Ends the machine and gives back what the trace has become.
    pub fn finish(self) -> Vec<Consumer> {
        let Machine { engine, door } = self;
        drop(engine);
        let Door { recorder, .. } = *door;
        recorder.finish()
    }
}

/// Compares the places we reach into with what the engine itself answers.
fn check(engine: &mut Unicorn<'static, ()>, parts: &mut Parts) -> Result<(), EngineError> {
    use unicorn_engine::RegisterX86 as R;
    let mut agree = true;
    for (reg, value) in
        [(R::RIP, 0x1234_5678_9abc_u64), (R::RSP, 0x7fff_0102_0304), (R::FS_BASE, 0x5555_1111_2222)]
    {
        engine.reg_write(reg, value).map_err(engine_error("cannot write a register"))?;
        agree &= value
            == match reg {
                R::RIP => parts.eip(),
                R::RSP => parts.gpr(Gpr::Rsp),
                _ => parts.segment_base(layout::FS),
            };
        engine.reg_write(reg, 0).map_err(engine_error("cannot write a register"))?;
    }
    agree &= parts.exception_in_flight() == -1 && parts.any_next_block();
    let state = parts.state();
    let mut image = [0; 16];
    for (reg, value) in
        [(R::FPCW, 0x1f7f), (R::FPSW, 0x3841), (R::MXCSR, 0x7fff), (R::ST0, 0x4000_1234), (R::XMM9, 0x5678)]
    {
        image[..8].copy_from_slice(&u64::to_le_bytes(value));
        engine.reg_write_long(reg, &image).map_err(engine_error("cannot write a register"))?;
    }
    agree &= (state.fpuc(), state.fpus(), state.top()) == (0x1f7f, 0x41, 7);
    agree &= (state.mxcsr(), state.st(0).mantissa, state.xmm_low(9)) == (0x7fff, 0x4000_1234, 0x5678);
    agree &= state.modes() == (3, 3);
    if agree { Ok(()) } else { Err(EngineError("this engine is not the release that the tap knows".into())) }
}

/// Calls `f` with the door of the engine that is calling back.
fn with_door<T>(f: impl FnOnce(&mut Door) -> T) -> Option<T> {
    // SAFETY: the hooks below, the only callers, are called by the engine inside `Machine::run`.
    unsafe { door() }.map(f)
}

fn add_hooks(engine: &mut Unicorn<'static, ()>, reference: bool) -> Result<(), uc_error> {
    engine.add_tlb_hook(1, 0, |_, page, kind| with_door(|door| door.fill(page, kind)).flatten())?;
    engine.add_insn_sys_hook(X86Insn::SYSCALL, 1, 0, |_| {
        with_door(Door::syscall);
    })?;
    engine.add_insn_invalid_hook(|_| with_door(Door::invalid_instruction).unwrap_or(false))?;
    engine.add_intr_hook(|_, number| {
        with_door(|door| door.interrupt(number));
    })?;
    if reference {
        engine.add_block_hook(1, 0, |_, pc, size| {
            with_door(|door| door.api_block(pc, u64::from(size)));
        })?;
        engine.add_code_hook(1, 0, |_, pc, _| {
            with_door(|door| door.api_instruction(pc));
        })?;
    }
    Ok(())
}

/// Bytes of `syscall`, which the engine adds to RIP after the hook.
const SYSCALL_BYTES: u64 = 2;

impl Door {
    fn syscall(&mut self) {
        self.sync();
        let pc = self.parts.eip();
        let mut next = Next::Stop;
        if let Some((supervisor, mut cpu, space)) = self.split() {
            cpu.syscall_bytes = SYSCALL_BYTES;
            next = supervisor.syscall(&mut cpu, space);
        }
        self.reschedule();
        self.invalidate();
        match next {
            Next::Continue => {}
            Next::Undo => self.leave(Leave::Undo(pc)),
            Next::Stop | Next::Interrupt => self.leave(Leave::Stop),
        }
        self.reload();
    }

    /// The engine met something it does not run: an instruction the machine answers itself, or a fault.
    fn invalid_instruction(&mut self) -> bool {
        let pc = self.parts.eip();
        let special = self.special_at(pc);
        if let Some(request) = self.requests.get(&pc).copied()
            && special != Some(Special::Request(request))
        {
            // It was one when its block was translated; the engine has not seen the change, as it was shown less.
            self.requests.remove(&pc);
            self.sync();
            self.recorder.cut(pc);
            self.space.retranslate(pc);
            self.invalidate();
            self.reload();
            return true;
        }
        match special {
            Some(Special::Request(request)) => return self.request(request, pc),
            Some(Special::Trap(trap, len)) => {
                self.sync();
                self.answer(trap, pc);
                self.parts.set_eip(pc.wrapping_add(u64::from(len)));
                self.reload();
                return true;
            }
            Some(Special::Refused(refused)) => {
                let fault = match refused.why {
                    Refusal::Privileged => Fault::Protection,
                    Refusal::Undefined | Refusal::Unsupported => Fault::InvalidOpcode,
                };
                self.leave(Leave::Fault(fault, Some(refused)));
            }
            None => self.leave(Leave::Fault(Fault::InvalidOpcode, None)),
        }
        false
    }

    fn answer(&mut self, trap: Trap, pc: u64) {
        match trap {
            Trap::Cpuid => {
                let (leaf, subleaf) = (self.parts.gpr(Gpr::Rax) as u32, self.parts.gpr(Gpr::Rcx) as u32);
                let [a, b, c, d] = self.model.cpuid(leaf, subleaf);
                for (reg, value) in [(Gpr::Rax, a), (Gpr::Rbx, b), (Gpr::Rcx, c), (Gpr::Rdx, d)] {
                    self.parts.set_gpr(reg, u64::from(value));
                }
            }
            Trap::Rdtsc | Trap::Rdtscp => {
                // One tick for each instruction executed.
                let ticks = self.recorder.instructions();
                self.parts.set_gpr(Gpr::Rax, ticks & 0xffff_ffff);
                self.parts.set_gpr(Gpr::Rdx, ticks >> 32);
                if trap == Trap::Rdtscp {
                    self.parts.set_gpr(Gpr::Rcx, 0);
                }
            }
            Trap::Xgetbv => {
                let xcr0 = self.model.xcr0().unwrap_or_default();
                self.parts.set_gpr(Gpr::Rax, xcr0 & 0xffff_ffff);
                self.parts.set_gpr(Gpr::Rdx, xcr0 >> 32);
            }
            Trap::Random => {
                let mut buf = [0; crate::x86::decode::MAX_LENGTH];
                let instruction = crate::x86::decode::decode(self.space.fetch(pc, &mut buf), pc);
                let target = instruction.op0_register();
                let value = self.split().map_or(0, |(supervisor, ..)| supervisor.random());
                self.set_random(target, value);
            }
        }
    }

    /// Stores a random number and sets CF, which says that it is one; OF, SF, ZF, AF and PF are cleared.
    fn set_random(&mut self, target: iced_x86::Register, value: u64) {
        let Some((_, mut cpu, _)) = self.split() else { return };
        if let Some(&gpr) = Gpr::ALL.get(target.full_register().number()) {
            let value = match target.size() {
                8 => value,
                4 => value & 0xffff_ffff,
                _ => cpu.gpr(gpr) & !0xffff | value & 0xffff,
            };
            cpu.set_gpr(gpr, value);
        }
        const ARITHMETIC: u64 = 0x8d5;
        let flags = cpu.rflags() & !ARITHMETIC | 1;
        cpu.set_rflags(flags);
    }

    /// An exception or software interrupt.
    fn interrupt(&mut self, number: u32) {
        let fault = match number {
            0 => Fault::Divide,
            1 => Fault::Debug,
            3 => Fault::Breakpoint,
            6 => Fault::InvalidOpcode,
            16 | 19 => Fault::FloatingPoint,
            17 => Fault::Alignment,
            _ => Fault::Protection,
        };
        self.leave(Leave::Fault(fault, None));
    }
}
