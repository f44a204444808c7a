//! The emulated machine: CPU, memory and trace, and the loop that runs them.
#![allow(unsafe_code)]

use std::ffi::c_void;

use iced_x86::{FlowControl, Mnemonic as M, OpKind};
use unicorn_engine::{Arch, Mode, Prot as EngineProt, TlbType, Unicorn, uc_error};

use crate::emu::cpuid::CpuModel;
use crate::emu::memory::space::AddressSpace;
use crate::emu::supervisor::{Next, Supervisor};
use crate::emu::unicorn::callbacks::add_hooks;
use crate::emu::unicorn::engine_state::{EngineState, Segment};
use crate::emu::unicorn::ffi;
use crate::emu::unicorn::helpers;
use crate::emu::unicorn::helpers::env::Before;
use crate::emu::unicorn::interpose::{exit_check, look_up};
use crate::emu::unicorn::mmu::Mmu;
use crate::emu::unicorn::predictors::absent_line;
use crate::emu::unicorn::reference::Reference;
use crate::emu::unicorn::registers::Cpu;
use crate::emu::unicorn::run_control::{Leave, RunControl};
use crate::emu::unicorn::trace_buffer::{Calls, TraceBuffer};
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::branch::ADDRESSES;
use crate::emu::unicorn::vcpu::{Entered, Vcpu};
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory as _};
use crate::hooks::consumer::Consumer;
use crate::hooks::fault::Cause;
use crate::hooks::recorder::Recorder;
use crate::x86::address::{Address, is_canonical, is_stack_access};
use crate::x86::cost::modifies_memory;
use crate::x86::decode::{MAX_LENGTH, decode};

/// Bytes of the host's address space that the engine takes for generated code
/// (`DEFAULT_CODE_GEN_BUFFER_SIZE`), and as much as everything else may need. Without its buffer
/// the engine would end the process.
pub(crate) const HOST_ADDRESSES: usize = (1 << 30) + (256 << 20);

/// Failure of the engine that no guest can cause.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EngineError(String);

/// Says what the engine failed to do.
pub(super) fn engine_error(what: &str) -> impl FnOnce(uc_error) -> EngineError + '_ {
    move |error| EngineError(format!("{what}: {error:?}"))
}

/// The emulated machine: CPU, memory and trace.
pub(crate) struct Machine {
    // Before `vcpu`, whose arena the engine has mapped.
    pub(super) engine: Unicorn<'static, ()>,
    // Boxed, since generated code has addresses of its members.
    pub(super) vcpu: Box<Vcpu>,
}

/// Bytes of generated code that are kept; all of it is dropped when they are full. The engine's own
/// choice is 1 GiB.
const GENERATED_CODE: u32 = 256 << 20;

/// Selectors that Linux gives user programs.
const SELECTORS: [(Segment, u32); 2] = [(Segment::Cs, 0x33), (Segment::Ss, 0x2b)];

impl Machine {
    /// Makes a machine with this memory and CPU model. Generated code writes the trace, or with
    /// `reference` the engine's public hooks.
    ///
    /// # Errors
    /// When the engine cannot be made, or is not the release that the tap knows.
    pub(crate) fn new(
        space: AddressSpace,
        model: CpuModel,
        recorder: Recorder,
        reference: bool,
    ) -> Result<Machine, EngineError> {
        let mut engine =
            Unicorn::new(Arch::X86, Mode::MODE_64).map_err(engine_error("cannot start the engine"))?;
        // SAFETY: the engine lives, and the control takes one 32-bit number.
        unsafe { ffi::uc_ctl(engine.get_handle().cast(), ffi::SET_TCG_BUFFER_SIZE, GENERATED_CODE) };
        engine.ctl_set_tlb_type(TlbType::VIRTUAL).map_err(engine_error("cannot set up the engine's TLB"))?;
        let arena = space.frames().arena();
        // SAFETY: the arena stays mapped as long as the virtual CPU, which is dropped after the
        // engine.
        unsafe {
            engine
                .mem_map_ptr(arena.base() as u64, arena.len() as u64, EngineProt::ALL, arena.base())
                .map_err(engine_error("cannot map the engine's memory"))?;
        }
        add_hooks(&mut engine, reference).map_err(engine_error("cannot set the engine's hooks"))?;
        // SAFETY: the engine is dropped after the virtual CPU that holds the result was last used.
        let mut state = unsafe { EngineState::find(&mut engine) }.map_err(EngineError)?;
        state.set_unaligned(helpers::alignment::unaligned).map_err(EngineError)?;
        let mut vcpu = Box::new(Vcpu {
            mmu: Mmu::new(space, &state, look_up as *const c_void).map_err(EngineError)?,
            trace: TraceBuffer::new(
                recorder,
                !reference,
                state.env_start(),
                Calls { exit_check, absent_line },
            ),
            run: RunControl::default(),
            outcome: 0,
            addresses: Box::new([0; ADDRESSES]),
            times: 1,
            words: None,
            translator: Translator::new(reference, state.env_start(), state.env().sse().cast()),
            reference: reference.then(Reference::default),
            model,
            before: Before::NONE,
            raised_earlier: 0,
            refused: false,
            state,
        });
        vcpu.simulate_inline();
        vcpu.resume_trace();
        let mut machine = Machine { engine, vcpu };
        machine.reset();
        Ok(machine)
    }

    /// Resets the registers as execve(2) does.
    pub(crate) fn reset(&mut self) {
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
        for (segment, selector) in SELECTORS {
            self.vcpu.state.set_selector(segment, selector);
        }
    }

    /// The registers.
    pub(crate) fn cpu(&mut self) -> impl GuestCpu + '_ {
        self.vcpu.cpu()
    }

    /// Lets `f` work with the registers and the memory, while the guest does not run.
    pub(crate) fn between_runs<T>(&mut self, f: impl FnOnce(&mut dyn GuestCpu, &mut AddressSpace) -> T) -> T {
        let Vcpu { state, trace, mmu, .. } = &mut *self.vcpu;
        f(&mut Cpu::new(state, trace.recorder()), mmu.space())
    }

    /// The memory.
    pub(crate) fn memory(&mut self) -> &mut AddressSpace {
        self.vcpu.mmu.space()
    }

    /// Runs the guest until the supervisor stops it.
    ///
    /// # Errors
    /// When the engine or the tap fails.
    pub(crate) fn run(&mut self, supervisor: &mut dyn Supervisor) -> Result<(), EngineError> {
        // SAFETY: it is taken away before this function returns.
        unsafe { self.vcpu.run.set_supervisor(Some(supervisor)) };
        let entered = Entered::new(&mut self.vcpu);
        self.vcpu.mmu.place_lines(true);
        let result = self.run_entered();
        self.vcpu.mmu.place_lines(false);
        drop(entered);
        // SAFETY: there is none.
        unsafe { self.vcpu.run.set_supervisor(None) };
        result
    }

    fn run_entered(&mut self) -> Result<(), EngineError> {
        loop {
            let vcpu = &mut *self.vcpu;
            vcpu.run.start();
            vcpu.mmu.take_denied();
            vcpu.mmu.take_dropped();
            vcpu.invalidate();
            vcpu.prepare();
            let rip = vcpu.state.rip();
            vcpu.trace.recorder().decide_branch(rip);
            vcpu.resume_trace();
            vcpu.state.clear_exception();
            vcpu.state.set_resume(false);
            let rip = vcpu.state.rip();
            let result = self.engine.emu_start(rip, 0, 0, 0);
            let vcpu = &mut *self.vcpu;
            vcpu.trace.sync();
            vcpu.translator.abandon();
            let rip = vcpu.state.rip();
            let (fault, refused) = match (vcpu.run.take_leave(), result) {
                (Some(Leave::Stop), _) => {
                    vcpu.trace.recorder().point(rip);
                    return Ok(());
                }
                (Some(Leave::Interrupt), _) => {
                    vcpu.trace.recorder().point(rip);
                    let Some((supervisor, mut cpu, space)) = vcpu.supervised() else { return Ok(()) };
                    if supervisor.interrupt(&mut cpu, space) != Next::Continue {
                        return Ok(());
                    }
                    continue;
                }
                (Some(Leave::Approach), _) => continue,
                (Some(Leave::TraceCaches), _) => {
                    self.trace_caches()?;
                    continue;
                }
                (Some(Leave::Breakpoint), _) => {
                    vcpu.trace.recorder().point(rip);
                    let Some((supervisor, mut cpu, space)) = vcpu.supervised() else { return Ok(()) };
                    if supervisor.breakpoint(&mut cpu, space) != Next::Continue {
                        return Ok(());
                    }
                    vcpu.run.set_passed(Some(rip));
                    continue;
                }
                (Some(Leave::Undo(rip)), _) => {
                    vcpu.state.set_rip(rip);
                    vcpu.trace.recorder().cut(rip);
                    vcpu.trace.recorder().point(rip);
                    return Ok(());
                }
                (Some(Leave::Broken(why)), _) => return Err(EngineError(why)),
                (Some(Leave::Fault(fault, refused)), _) => (fault, refused),
                (None, Err(uc_error::EXCEPTION)) => (self.page_fault(), None),
                (None, other) => {
                    return Err(EngineError(format!(
                        "the engine stopped at {rip:#x} without a reason: {other:?}"
                    )));
                }
            };
            let fault = self.as_a_store(fault);
            self.record_fault(fault, refused.is_some());
            let fault = self.as_the_cpu_reports(fault);
            let is_trap = matches!(fault, Fault::Breakpoint | Fault::Debug | Fault::Icebp | Fault::Overflow);
            self.vcpu.state.set_resume(!is_trap);
            let out_of_memory = self.vcpu.mmu.space().take_out_of_memory();
            let Some((supervisor, mut cpu, space)) = self.vcpu.supervised() else { return Ok(()) };
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

    /// The fault of a refused TLB fill, with the exact address.
    fn page_fault(&mut self) -> Fault {
        let exact = self.vcpu.state.invalid_address();
        match self.vcpu.mmu.take_denied() {
            Some(Fault::Page { fetch: false, .. }) if self.leaves_the_lower_half(exact) => {
                if self.is_stack(exact) { Fault::Stack } else { Fault::Protection { error: 0 } }
            }
            Some(Fault::Page { write, fetch, mapped, .. }) => {
                Fault::Page { addr: exact, write, fetch, mapped }
            }
            Some(Fault::Bus { .. }) => Fault::Bus { addr: exact },
            Some(fault @ Fault::Protection { .. }) if exact == self.vcpu.state.rip() => {
                self.undo_jump();
                fault
            }
            Some(Fault::Protection { .. }) if self.is_stack(exact) => Fault::Stack,
            Some(fault) => fault,
            None => Fault::Protection { error: 0 },
        }
    }

    /// Goes back to the jump or return that has led to an address that is not canonical: the CPU
    /// faults there. It counts as it would under Valgrind, where the target faults. Nothing happens
    /// where the kernel has led here.
    fn undo_jump(&mut self) {
        let Vcpu { state, mmu, trace, .. } = &mut *self.vcpu;
        let target = state.rip();
        let Some(pc) = trace.recorder().last_instruction() else { return };
        let mut buf = [0; MAX_LENGTH];
        let jump = decode(mmu.space().fetch(pc, &mut buf), pc);
        let rsp = state.gpr(Gpr::Rsp);
        let (before, from) = match jump.flow_control() {
            FlowControl::Return => {
                let before = rsp.wrapping_sub(jump.stack_pointer_increment() as u64);
                (before, Some(before))
            }
            FlowControl::IndirectBranch => {
                let address = Address::Operand(0).evaluate(&jump, &mut |reg| state.register(reg));
                (rsp, address.filter(|_| jump.op0_kind() == OpKind::Memory))
            }
            _ => return,
        };
        let mut word = [0; 8];
        let led_here = match from {
            Some(address) => {
                mmu.space().read(address, &mut word).is_ok() && u64::from_le_bytes(word) == target
            }
            None => state.register(jump.op0_register()) == target,
        };
        if led_here {
            state.set_gpr(Gpr::Rsp, before);
            state.set_rip(pc);
            trace.recorder().point(target);
            trace.recorder().point(pc);
        }
    }

    /// Tests whether the operand of the instruction at RIP begins at this address and ends where
    /// addresses are not canonical.
    fn leaves_the_lower_half(&mut self, addr: u64) -> bool {
        const END: u64 = 1 << 47;
        if !(END - 0x200..END).contains(&addr) {
            return false;
        }
        let Vcpu { state, mmu, .. } = &mut *self.vcpu;
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode(mmu.space().fetch(state.rip(), &mut buf), state.rip());
        // That of a push or pop has no size.
        let size = match instruction.memory_size().size() {
            0 => 8,
            size => size as u64,
        };
        addr + size > END
    }

    /// Tests whether the instruction at RIP accesses a non-canonical address through SS, which is
    /// #SS instead of #GP.
    fn is_stack(&mut self, addr: u64) -> bool {
        let Vcpu { state, mmu, .. } = &mut *self.vcpu;
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode(mmu.space().fetch(state.rip(), &mut buf), state.rip());
        is_stack_access(&instruction, addr, &mut |reg| state.register(reg))
    }

    /// The fault of an instruction that only stores, which helpers probe with a load; and it raises
    /// no exceptions of what it would have stored.
    fn as_a_store(&mut self, fault: Fault) -> Fault {
        let touches_memory = matches!(
            fault,
            Fault::Page { fetch: false, .. } | Fault::Bus { .. } | Fault::Alignment | Fault::Stack
        );
        if !touches_memory && !matches!(fault, Fault::Protection { .. }) {
            return fault;
        }
        let Vcpu { state, mmu, .. } = &mut *self.vcpu;
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode(mmu.space().fetch(state.rip(), &mut buf), state.rip());
        match (instruction.mnemonic(), fault) {
            (M::Fst | M::Fstp | M::Fist | M::Fistp | M::Fisttp | M::Fbstp, _) => state.env().forget_x87(),
            (M::Fnstenv | M::Fnsave | M::Fxsave | M::Fxsave64, _) => {}
            (M::Enter, Fault::Page { addr, .. }) if addr < state.gpr(Gpr::Rsp) => {}
            _ => return fault,
        }
        match fault {
            Fault::Page { addr, fetch, mapped, .. } => Fault::Page { addr, write: true, fetch, mapped },
            fault => fault,
        }
    }

    /// The address that the instruction at RIP calls, if it is not canonical. The call counts as it
    /// would under Valgrind, where the target faults.
    fn calls_nowhere(&mut self) -> Option<u64> {
        let Vcpu { state, mmu, .. } = &mut *self.vcpu;
        let (rip, mut buf) = (state.rip(), [0; MAX_LENGTH]);
        let call = decode(mmu.space().fetch(rip, &mut buf), rip);
        if call.flow_control() != FlowControl::IndirectCall {
            return None;
        }
        let mut word = [0; 8];
        let target = match call.op0_kind() {
            OpKind::Memory => Address::Operand(0)
                .evaluate(&call, &mut |reg| state.register(reg))
                .filter(|&addr| mmu.space().read(addr, &mut word).is_ok())
                .map(|_| u64::from_le_bytes(word)),
            _ => Some(state.register(call.op0_register())),
        };
        target.filter(|&target| !is_canonical(target))
    }

    /// The fault as a CPU reports it, which asks for the right to store before it loads what an
    /// instruction modifies.
    fn as_the_cpu_reports(&mut self, fault: Fault) -> Fault {
        let Fault::Page { addr, write: false, fetch: false, mapped } = fault else { return fault };
        let Vcpu { state, mmu, .. } = &mut *self.vcpu;
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode(mmu.space().fetch(state.rip(), &mut buf), state.rip());
        Fault::Page { addr, write: modifies_memory(&instruction), fetch: false, mapped }
    }

    /// Records how far the last block got.
    fn record_fault(&mut self, fault: Fault, refused: bool) {
        let rip = self.vcpu.state.rip();
        let may_call = matches!(fault, Fault::Protection { .. } | Fault::Stack) && !refused;
        let nowhere = may_call.then(|| self.calls_nowhere()).flatten();
        let Vcpu { trace, mmu, .. } = &mut *self.vcpu;
        let (recorder, space) = (trace.recorder(), mmu.space());
        let mut readable = |addr| space.read(addr, &mut [0]).is_ok();
        match fault {
            // The jump that led here is complete; nothing was fetched.
            Fault::Page { fetch: true, .. } => recorder.point(rip),
            _ if let Some(target) = nowhere => {
                recorder.leads_to(target);
                recorder.point(rip);
            }
            // Traps: the instruction before RIP is complete.
            Fault::Debug => recorder.point(rip),
            Fault::Breakpoint | Fault::Icebp | Fault::Overflow => {}
            Fault::InvalidOpcode => recorder.fault(rip, Cause::Instruction, &mut readable),
            _ if refused => recorder.fault(rip, Cause::Instruction, &mut readable),
            Fault::Page { addr, write, .. } => {
                recorder.fault(rip, Cause::Page { addr, write: Some(write) }, &mut readable);
            }
            Fault::Bus { addr } => recorder.fault(rip, Cause::Page { addr, write: None }, &mut readable),
            Fault::KernelStore { addr } => {
                recorder.fault(rip, Cause::Page { addr, write: Some(true) }, &mut readable);
            }
            Fault::Protection { .. } | Fault::Stack | Fault::Alignment => {
                recorder.fault(rip, Cause::Address, &mut readable);
            }
            Fault::Divide | Fault::FloatingPoint => recorder.fault(rip, Cause::Result, &mut readable),
        }
    }

    /// Ends the machine and returns the consumers of its trace.
    pub(crate) fn finish(self) -> Vec<Consumer> {
        let Machine { engine, vcpu } = self;
        drop(engine);
        let Vcpu { trace, .. } = *vcpu;
        trace.into_recorder().finish()
    }
}
