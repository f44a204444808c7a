//! The three calls of the page at 0xffffffffff600000, which is what it is with Linux's
//! `vsyscall=xonly`: a jump to one makes the call and returns from it, and nothing can be read
//! there (`emulate_vsyscall`). No instruction is executed, so none is counted.

use crate::abi::errno::Errno;
use crate::abi::signal::signo::SIGSEGV;
use crate::guest::{Gpr, GuestCpu, GuestMemory};
use crate::kernel::Kernel;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::uaccess::get_u64;
use crate::syscalls::context::{Action, Break, Ctx};
use crate::syscalls::{seccomp, table};

/// The page.
const START: u64 = 0xffff_ffff_ff60_0000;
const END: u64 = START + 0x1000;
/// Bytes from one call to the next.
const STRIDE: u64 = 0x400;

/// gettimeofday(2), time(2), getcpu(2).
const CALLS: [u32; 3] = [96, 201, 309];

/// Tests whether a fetch from this address is a call.
pub(super) fn is_here(addr: u64) -> bool {
    (START..END).contains(&addr)
}

/// Carries out the call whose address RIP is, and returns from it; signals are still to be
/// delivered.
///
/// # Errors
/// What else has become of the task.
pub(super) fn emulate(
    kernel: &mut Kernel,
    cpu: &mut dyn GuestCpu,
    mem: &mut dyn GuestMemory,
) -> Result<(), Action> {
    let mut ctx = Ctx { kernel, cpu, mem };
    match call(&mut ctx) {
        Ok(()) => {}
        // An address that cannot be, or arguments of that kind.
        Err(Break::Errno(_)) => ctx.kernel.signals().force(SigInfo::kernel(SIGSEGV)),
        Err(Break::Gone) => return Err(Action::Gone),
        Err(_) => {
            let why = "a vsyscall that seccomp(2) answers is not emulated; call what the C library has";
            return Err(Action::Refuse(why.into()));
        }
    }
    Ok(())
}

fn call(ctx: &mut Ctx) -> Result<(), Break> {
    let place = ctx.cpu.rip() - START;
    let number = CALLS.get((place / STRIDE) as usize).filter(|_| place.is_multiple_of(STRIDE));
    let number = *number.ok_or(Errno::EINVAL)?;
    let rsp = ctx.cpu.gpr(Gpr::Rsp);
    let caller = get_u64(ctx.mem, rsp)?;
    let args = [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::R10, Gpr::R8, Gpr::R9].map(|reg| ctx.cpu.gpr(reg));
    let traced = ctx.kernel.task().tracing.trace.is_some();
    let result = match seccomp::filters(ctx, number, args, traced) {
        Ok(()) => {
            let row = table::find(number.into()).ok_or(Errno::ENOSYS)?;
            // Without its third argument getcpu(2) is as the page's always was.
            (row.handler)(ctx, [args[0], args[1], 0, 0, 0, 0])?
        }
        Err(Break::Errno(errno)) => errno.to_rax(),
        Err(why) => return Err(why),
    };
    ctx.cpu.set_gpr(Gpr::Rax, result);
    ctx.cpu.set_rip(caller);
    ctx.cpu.set_gpr(Gpr::Rsp, rsp.wrapping_add(8));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::Fault;
    use crate::syscalls::testing::{DATA, Machine, STACK};

    /// A jump to an address of the page; RAX, and where the program goes on.
    fn jump(machine: &mut Machine, addr: u64, args: [u64; 2]) -> (u64, u64, u64) {
        machine.put_words(STACK - 256, &[0x40_1000]);
        machine.cpu.set_gpr(Gpr::Rsp, STACK - 256);
        machine.cpu.set_gpr(Gpr::Rdi, args[0]);
        machine.cpu.set_gpr(Gpr::Rsi, args[1]);
        machine.cpu.set_gpr(Gpr::Rax, 77);
        machine.cpu.set_rip(addr);
        let action = machine.fault(Fault::Page { addr, write: false, fetch: true, mapped: false });
        assert!(matches!(action, Action::Continue | Action::Gone), "{action:?}");
        (machine.cpu.gpr(Gpr::Rax), machine.cpu.rip(), machine.cpu.gpr(Gpr::Rsp))
    }

    #[test]
    fn calls_answer_and_return() {
        let mut machine = Machine::new();
        let back = |rax| (rax, 0x40_1000, STACK - 248);
        assert_eq!(jump(&mut machine, START, [DATA, 0]), back(0));
        let seconds = machine.word(DATA);
        assert_eq!(jump(&mut machine, START + 0x400, [DATA + 32, 0]), back(seconds));
        assert_eq!(machine.word(DATA + 32), seconds);
        machine.put_words(DATA, &[u64::MAX]);
        assert_eq!(jump(&mut machine, START + 0x800, [DATA, DATA + 4]), back(0));
        assert_eq!(machine.word(DATA), 0);
        assert_eq!(machine.killed(), None);
    }

    /// Other places of the page, and addresses that cannot be stored to, are SIGSEGV.
    #[test]
    fn what_is_no_call_is_a_signal() {
        for (addr, args) in [(START + 0xc00, [0, 0]), (START + 0x401, [0, 0]), (START + 0x400, [8, 0])] {
            let mut machine = Machine::new();
            jump(&mut machine, addr, args);
            assert_eq!(machine.killed(), Some(SIGSEGV), "{addr:#x}");
        }
    }
}
