//! The engine's public hooks: TLB fills, system calls, exceptions, and instructions that the
//! machine answers itself.
#![allow(unsafe_code)]

use iced_x86::{Mnemonic, OpKind};
use unicorn_engine::{Unicorn, X86Insn, uc_error};

use crate::emu::memory::space::Access;
use crate::emu::supervisor::{Next, Refused};
use crate::emu::umip;
use crate::emu::unicorn::far::{ALIGNMENT_CHECK, NESTED_TASK, ORDER, Target, target};
use crate::emu::unicorn::run_control::Leave;
use crate::emu::unicorn::translator::request_at;
use crate::emu::unicorn::vcpu::{Vcpu, current};
use crate::guest::{Fault, Gpr, GuestCpu as _, GuestMemory as _};
use crate::hooks::record::MAX_BLOCK;
use crate::x86::address::{Address, is_stack_access};
use crate::x86::decode::{self, MAX_LENGTH, Refusal, Trap, Verdict};
use crate::x86::far::FarReturn;
use crate::x86::request::{LENGTH, Request};

/// Instruction in whose place the engine is shown an undefined opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trapped {
    /// The machine answers it; it has this many bytes.
    Answered(Trap, u8),
    /// It faults.
    Refused(Refused),
    /// A client request.
    Request(Request),
}

/// EFLAGS.TF, as it is in the mode of a block.
const TRAP_FLAG: u32 = 0x100;
/// Bytes of `syscall`, which the engine adds to RIP after the hook.
const SYSCALL_BYTES: u64 = 2;

/// Calls `f` with the virtual CPU of the engine that is calling back.
fn with_vcpu<T>(f: impl FnOnce(&mut Vcpu) -> T) -> Option<T> {
    // SAFETY: the hooks below, the only callers, are called by the engine inside `Machine::run`.
    unsafe { current() }.map(f)
}

/// Sets the hooks; with `reference` also those that the reference producer needs.
///
/// # Errors
/// The engine's.
pub(super) fn add_hooks(engine: &mut Unicorn<'static, ()>, reference: bool) -> Result<(), uc_error> {
    engine.add_tlb_hook(1, 0, |_, page, kind| {
        with_vcpu(|vcpu| {
            vcpu.trace.filled();
            vcpu.mmu.fill(page, kind, &mut vcpu.state)
        })
        .flatten()
    })?;
    engine.add_insn_sys_hook(X86Insn::SYSCALL, 1, 0, |_| {
        with_vcpu(Vcpu::syscall);
    })?;
    engine.add_insn_invalid_hook(|_| with_vcpu(Vcpu::invalid_instruction).unwrap_or(false))?;
    engine.add_intr_hook(|_, number| {
        with_vcpu(|vcpu| vcpu.exception(number));
    })?;
    if reference {
        engine.add_block_hook(1, 0, |_, pc, size| {
            with_vcpu(|vcpu| vcpu.reference_block(pc, u64::from(size)));
        })?;
        engine.add_code_hook(1, 0, |_, pc, _| {
            with_vcpu(|vcpu| vcpu.reference_instruction(pc));
        })?;
    }
    Ok(())
}

impl Vcpu {
    fn syscall(&mut self) {
        self.trace.sync();
        let pc = self.state.rip();
        let mut next = Next::Stop;
        if let Some((supervisor, cpu, space)) = self.supervised() {
            next = supervisor.syscall(&mut cpu.before_rip_advances(SYSCALL_BYTES), space);
        }
        self.reschedule();
        self.invalidate();
        match next {
            Next::Continue => {}
            Next::Undo => self.leave(Leave::Undo(pc)),
            Next::Stop | Next::Interrupt => self.leave(Leave::Stop),
        }
        self.resume_trace();
    }

    /// Serves an instruction that the engine does not run: the machine answers it, or it faults.
    /// Returns whether the engine goes on.
    fn invalid_instruction(&mut self) -> bool {
        let pc = self.state.rip();
        let trapped = self.trapped_at(pc);
        let mut buf = [0; MAX_LENGTH];
        let stale = match self.translator.request(pc) {
            Some(request) => trapped != Some(Trapped::Request(request)),
            None => self.translator.is_stale(pc, self.mmu.space().fetch(pc, &mut buf)),
        };
        if stale {
            // The code has changed in bytes that the engine was not shown.
            self.translator.forget_request(pc);
            self.trace.sync();
            self.trace.recorder().cut(pc);
            self.mmu.space().retranslate(pc);
            self.invalidate();
            self.resume_trace();
            return true;
        }
        match trapped {
            Some(Trapped::Request(request)) => return self.request(request, pc),
            Some(Trapped::Answered(Trap::Descriptors, _)) => return self.answer_descriptors(pc),
            Some(Trapped::Answered(Trap::Flush, _)) => return self.flush(pc),
            Some(Trapped::Answered(Trap::FarReturn, _)) => return self.far_return(pc),
            Some(Trapped::Answered(Trap::Icebp, len)) => {
                self.trace.sync();
                self.state.set_rip(pc.wrapping_add(u64::from(len)));
                self.leave(Leave::Fault(Fault::Icebp, None));
            }
            Some(Trapped::Answered(Trap::Rdtsc | Trap::Rdtscp, _))
                if self.run.supervisor().is_some_and(|supervisor| !supervisor.may_read_tsc()) =>
            {
                self.leave(Leave::Fault(Fault::Protection { error: 0 }, None));
            }
            Some(Trapped::Answered(trap, len)) => {
                self.trace.sync();
                self.answer(trap, pc);
                return self.go_on(pc.wrapping_add(u64::from(len)));
            }
            Some(Trapped::Refused(refused)) => {
                let fault = match refused.why {
                    Refusal::Privileged => Fault::Protection { error: self.vector_error(pc) },
                    Refusal::Undefined | Refusal::Unsupported | Refusal::Transfer => Fault::InvalidOpcode,
                };
                self.leave(Leave::Fault(fault, Some(refused)));
            }
            None => self.leave(Leave::Fault(Fault::InvalidOpcode, None)),
        }
        false
    }

    /// The instruction at `pc`, if the engine was shown an undefined opcode in its place.
    fn trapped_at(&mut self, pc: u64) -> Option<Trapped> {
        if let Some(request) = request_at(self.mmu.space(), pc) {
            return Some(Trapped::Request(request));
        }
        let mut buf = [0; MAX_LENGTH];
        let bytes = self.mmu.space().fetch(pc, &mut buf);
        let (instruction, verdict) = decode::examine(bytes, pc);
        match verdict {
            Verdict::Run | Verdict::Truncated => None,
            Verdict::Trap(Trap::Xgetbv) if self.model.xcr0().is_none() => {
                Some(Trapped::Refused(Refused { pc, why: Refusal::Unsupported }))
            }
            // There is no other register than XCR0: #GP.
            Verdict::Trap(Trap::Xgetbv) if self.state.gpr(Gpr::Rcx) as u32 != 0 => {
                Some(Trapped::Refused(Refused { pc, why: Refusal::Privileged }))
            }
            // As Linux leaves the CPU's #GP to the program.
            Verdict::Trap(Trap::Descriptors) if !umip::is_decoded(&instruction, bytes) => {
                Some(Trapped::Refused(Refused { pc, why: Refusal::Privileged }))
            }
            Verdict::Trap(trap) => Some(Trapped::Answered(trap, instruction.len() as u8)),
            Verdict::Refuse(why) => Some(Trapped::Refused(Refused { pc, why })),
        }
    }

    /// Answers an instruction in place of the engine.
    fn answer(&mut self, trap: Trap, pc: u64) {
        match trap {
            Trap::Cpuid => {
                let (leaf, subleaf) = (self.state.gpr(Gpr::Rax) as u32, self.state.gpr(Gpr::Rcx) as u32);
                let [a, b, c, d] = self.model.cpuid(leaf, subleaf);
                for (reg, value) in [(Gpr::Rax, a), (Gpr::Rbx, b), (Gpr::Rcx, c), (Gpr::Rdx, d)] {
                    self.state.set_gpr(reg, u64::from(value));
                }
            }
            Trap::Rdtsc | Trap::Rdtscp => {
                // One tick for each instruction executed.
                let ticks = self.trace.recorder().instructions();
                self.state.set_gpr(Gpr::Rax, ticks & 0xffff_ffff);
                self.state.set_gpr(Gpr::Rdx, ticks >> 32);
                if trap == Trap::Rdtscp {
                    self.state.set_gpr(Gpr::Rcx, 0);
                }
            }
            Trap::Xgetbv => {
                let xcr0 = self.model.xcr0().unwrap_or_default();
                self.state.set_gpr(Gpr::Rax, xcr0 & 0xffff_ffff);
                self.state.set_gpr(Gpr::Rdx, xcr0 >> 32);
            }
            Trap::Random => {
                let mut buf = [0; MAX_LENGTH];
                let instruction = decode::decode(self.mmu.space().fetch(pc, &mut buf), pc);
                let target = instruction.op0_register();
                let value = self.run.supervisor().map_or(0, |supervisor| supervisor.random());
                self.set_random(target, value);
            }
            Trap::Descriptors | Trap::Flush | Trap::Icebp | Trap::FarReturn => {}
        }
    }

    /// Goes on behind an instruction that was answered, unless the program takes single steps.
    /// Returns whether the engine goes on.
    fn go_on(&mut self, next: u64) -> bool {
        self.state.set_rip(next);
        self.step();
        self.resume_trace();
        !self.run.is_leaving()
    }

    /// Raises the trap of EFLAGS.TF, which comes after every instruction.
    fn step(&mut self) {
        if self.state.block_mode() & TRAP_FLAG != 0 {
            self.leave(Leave::Fault(Fault::Debug, None));
        }
    }

    /// Serves CLFLUSH. Returns whether the engine goes on.
    fn flush(&mut self, pc: u64) -> bool {
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode::decode(self.mmu.space().fetch(pc, &mut buf), pc);
        self.trace.sync();
        let state = &self.state;
        let addr = Address::Operand(0).evaluate(&instruction, &mut |reg| state.register(reg));
        if let Some(addr) = addr
            && self.mmu.space().read(addr, &mut [0]).is_err()
        {
            let fault = match self.mmu.fault_at(addr, Access::Read) {
                Fault::Protection { .. }
                    if is_stack_access(&instruction, addr, &mut |reg| state.register(reg)) =>
                {
                    Fault::Stack
                }
                fault => fault,
            };
            self.leave(Leave::Fault(fault, None));
            return false;
        }
        self.go_on(instruction.next_ip())
    }

    /// Serves SGDT and its kin as Linux does. Returns whether the engine goes on.
    fn answer_descriptors(&mut self, pc: u64) -> bool {
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode::decode(self.mmu.space().fetch(pc, &mut buf), pc);
        let (answer, len) = umip::answer(&instruction);
        let answer = &answer[..len];
        self.trace.sync();
        let state = &self.state;
        let addr = Address::Operand(0).evaluate(&instruction, &mut |reg| state.register(reg));
        if let Some(addr) = addr.filter(|_| instruction.op0_kind() == OpKind::Memory) {
            self.trace.recorder().set_address(pc, addr);
            let stored = self.mmu.space().write(addr, answer);
            self.invalidate();
            if stored.is_err() {
                self.leave(Leave::Fault(Fault::KernelStore { addr }, None));
                return false;
            }
        } else if let Some(&gpr) = Gpr::ALL.get(instruction.op0_register().full_register().number()) {
            let mut value = self.state.gpr(gpr).to_le_bytes();
            value[..len].copy_from_slice(answer);
            self.state.set_gpr(gpr, u64::from_le_bytes(value));
        }
        self.go_on(instruction.next_ip())
    }

    /// Serves IRET and far RET. Returns whether the engine goes on.
    fn far_return(&mut self, pc: u64) -> bool {
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode::decode(self.mmu.space().fetch(pc, &mut buf), pc);
        let Some(far) = FarReturn::of(&instruction) else { return false };
        self.trace.sync();
        let (rsp, rflags) = (self.state.gpr(Gpr::Rsp), self.state.rflags());
        self.trace.recorder().set_address(pc, rsp);
        let mut values = [0; 5];
        let read = match far.values {
            5 if rflags & NESTED_TASK != 0 => Err(Fault::Protection { error: 0 }),
            _ => self.pop_far(&far, rsp, rflags & ALIGNMENT_CHECK != 0, &mut values),
        };
        let (fault, refused) = match read.map(|()| target(&far, &values, rsp, rflags)) {
            Ok(Target::Same { rip, rsp, rflags }) => {
                let steps = self.state.block_mode() & TRAP_FLAG != 0;
                self.state.set_gpr(Gpr::Rsp, rsp);
                self.state.set_popped_flags(rflags);
                self.state.set_rip(rip);
                if steps {
                    self.leave(Leave::Fault(Fault::Debug, None));
                }
                self.resume_trace();
                return !self.run.is_leaving();
            }
            Ok(Target::Narrow) => (Fault::InvalidOpcode, Some(Refused { pc, why: Refusal::Transfer })),
            Ok(Target::Denied(error)) => (Fault::Protection { error }, None),
            Err(fault) => (fault, None),
        };
        self.leave(Leave::Fault(fault, refused));
        false
    }

    /// Reads what a return pops.
    fn pop_far(
        &mut self,
        far: &FarReturn,
        rsp: u64,
        aligned: bool,
        values: &mut [u64; 5],
    ) -> Result<(), Fault> {
        for number in ORDER.into_iter().filter(|number| *number < far.values) {
            let addr = rsp.wrapping_add((number * far.size) as u64);
            let mut bytes = [0; 8];
            if let Err(done) = self.mmu.space().read(addr, &mut bytes[..far.size]) {
                return Err(match self.mmu.fault_at(addr.wrapping_add(done as u64), Access::Read) {
                    Fault::Protection { .. } => Fault::Stack,
                    fault => fault,
                });
            }
            if aligned && !addr.is_multiple_of(far.size as u64) {
                return Err(Fault::Alignment);
            }
            values[number] = u64::from_le_bytes(bytes);
        }
        Ok(())
    }

    /// The error code of the #GP of the instruction at `pc`: INT names the gate.
    fn vector_error(&mut self, pc: u64) -> u16 {
        let mut buf = [0; MAX_LENGTH];
        let instruction = decode::decode(self.mmu.space().fetch(pc, &mut buf), pc);
        match instruction.mnemonic() {
            Mnemonic::Int => u16::from(instruction.immediate8()) * 8 + 2,
            _ => 0,
        }
    }

    /// Stores a random number, sets CF to say that there is one, and clears OF, SF, ZF, AF and PF.
    fn set_random(&mut self, target: iced_x86::Register, value: u64) {
        let mut cpu = self.cpu();
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

    /// Turns an exception or software interrupt into a fault.
    fn exception(&mut self, number: u32) {
        let fault = match number {
            0 => Fault::Divide,
            1 => Fault::Debug,
            3 => Fault::Breakpoint,
            4 => Fault::Overflow,
            6 => Fault::InvalidOpcode,
            12 => Fault::Stack,
            16 | 19 => Fault::FloatingPoint,
            17 => Fault::Alignment,
            _ => Fault::Protection { error: self.run.take_error() },
        };
        self.leave(Leave::Fault(fault, None));
    }

    /// Serves the client request at `pc`. Returns whether the engine goes on.
    fn request(&mut self, request: Request, pc: u64) -> bool {
        self.trace.sync();
        let next = pc.wrapping_add(LENGTH as u64);
        self.state.set_rip(next);
        let result = match request {
            Request::Client => {
                let Some((supervisor, mut cpu, space)) = self.supervised() else { return false };
                supervisor.request(&mut cpu, space).map_err(|addr| (addr, Access::Read))
            }
            Request::OriginalAddress => {
                // No function is replaced here, so none has another's address.
                self.state.set_gpr(Gpr::Rax, 0);
                Ok(Next::Continue)
            }
            Request::Call => self.call(next),
            Request::Injection => Ok(Next::Continue),
        };
        self.reschedule();
        self.invalidate();
        match result {
            Ok(Next::Continue) => {}
            Ok(Next::Undo) => self.leave(Leave::Undo(pc)),
            Ok(Next::Stop | Next::Interrupt) => self.leave(Leave::Stop),
            Err((addr, access)) => {
                self.state.set_rip(pc);
                let fault = self.mmu.fault_at(addr, access);
                self.leave(Leave::Fault(fault, None));
            }
        }
        self.step();
        self.resume_trace();
        !self.run.is_leaving()
    }

    /// Calls the function that RAX points to, which returns to `back`.
    fn call(&mut self, back: u64) -> Result<Next, (u64, Access)> {
        let rsp = self.state.gpr(Gpr::Rsp).wrapping_sub(8);
        self.mmu
            .space()
            .write(rsp, &back.to_le_bytes())
            .map_err(|written| (rsp.wrapping_add(written as u64), Access::Write))?;
        self.state.set_gpr(Gpr::Rsp, rsp);
        let target = self.state.gpr(Gpr::Rax);
        self.state.set_rip(target);
        Ok(Next::Continue)
    }

    /// Begins a block for the reference producer.
    fn reference_block(&mut self, pc: u64, size: u64) {
        if self.trace.must_ask() {
            self.ask(MAX_BLOCK);
        }
        if self.run.stops_at(pc) {
            self.leave(Leave::Breakpoint);
        }
        if self.run.is_leaving() {
            return;
        }
        let Some(reference) = &mut self.reference else { return };
        let (recorder, translator) = (self.trace.recorder(), &self.translator);
        reference.begin_block((pc, size), recorder, self.mmu.space(), |pc| translator.request(pc));
    }

    /// Records an instruction for the reference producer.
    fn reference_instruction(&mut self, pc: u64) {
        self.state.clear_copied_flags();
        if let Some(reference) = &mut self.reference {
            reference.instruction(pc, &self.state, self.trace.recorder());
        }
    }
}
