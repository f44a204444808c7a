//! CLIENT_CALL0 to CLIENT_CALL3: a function of the program's that Valgrind runs on the host's CPU, so that nothing of it
//! is counted. Here it runs in the emulated one like everything else, and counting is off meanwhile. Its stack is the
//! caller's, below the red zone, where Valgrind's is one of its own.

use crate::guest::{Fault, Gpr, GuestCpu, USER_END};
use crate::requests::{Answer, Host, Requests, Voice};

/// Where these functions return to: above all that can be mapped, so that the return is a fault.
pub const RETURN: u64 = USER_END;

/// Bytes below RSP that a function may use without moving it (System V ABI, 3.2.2).
const RED_ZONE: u64 = 128;

/// The number of the one thread, which is the first argument.
const THREAD: u64 = 1;

/// Functions that may have called each other this way and not returned.
const NESTED: usize = 64;

/// Whoever waits for a function: its registers.
#[derive(Clone, Debug)]
pub struct Caller {
    gprs: [u64; 16],
    rip: u64,
    rflags: u64,
    fpu: Box<[u8; 512]>,
    /// RSP when the function has returned.
    rsp: u64,
    /// Whether counting goes on then.
    counting: bool,
}

impl Caller {
    /// Whether counting goes on when the function has returned.
    pub fn counts(&self) -> bool {
        self.counting
    }
}

/// A function without arguments of its own.
pub fn call0(requests: &mut Requests, host: &mut dyn Host, [function, ..]: [u64; 5]) -> Answer {
    call(requests, host, 0, function, &[])
}

/// A function with one.
pub fn call1(requests: &mut Requests, host: &mut dyn Host, [function, a, ..]: [u64; 5]) -> Answer {
    call(requests, host, 1, function, &[a])
}

/// A function with two.
pub fn call2(requests: &mut Requests, host: &mut dyn Host, [function, a, b, ..]: [u64; 5]) -> Answer {
    call(requests, host, 2, function, &[a, b])
}

/// A function with three.
pub fn call3(requests: &mut Requests, host: &mut dyn Host, [function, a, b, c, _]: [u64; 5]) -> Answer {
    call(requests, host, 3, function, &[a, b, c])
}

fn call(requests: &mut Requests, host: &mut dyn Host, number: u8, function: u64, args: &[u64]) -> Answer {
    if function == 0 {
        let text = format!("VG_USERREQ__CLIENT_CALL{number}: func=0x0\n");
        return if host.say(Voice::Debug, text.as_bytes()) { Answer::Untouched } else { Answer::Later };
    }
    let below = host.cpu().gpr(Gpr::Rsp).wrapping_sub(RED_ZONE) & !15;
    let rsp = below.wrapping_sub(8);
    if requests.calls.len() >= NESTED || host.mem().write(rsp, &RETURN.to_le_bytes()).is_err() {
        host.notice(format!(
            "CLIENT_CALL{number} of {function:#x} was ignored: there is no room on the stack"
        ));
        return Answer::Untouched;
    }
    let cpu = host.cpu();
    let counting = cpu.set_counting(false);
    requests.calls.push(Caller {
        gprs: Gpr::ALL.map(|gpr| cpu.gpr(gpr)),
        rip: cpu.rip(),
        rflags: cpu.rflags(),
        fpu: cpu.fpu(),
        rsp: below,
        counting,
    });
    for (gpr, value) in [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::Rcx].into_iter().zip([&[THREAD], args].concat()) {
        cpu.set_gpr(gpr, value);
    }
    // No vector registers are used if the function takes a variable number of arguments.
    cpu.set_gpr(Gpr::Rax, 0);
    cpu.set_gpr(Gpr::Rsp, rsp);
    cpu.set_rip(function);
    Answer::Resume
}

/// Forgets functions that were left by longjmp(3), as the stack shows; counting goes on if one of them had stopped it.
pub fn settle(requests: &mut Requests, cpu: &mut dyn GuestCpu) {
    let rsp = cpu.gpr(Gpr::Rsp);
    let left = requests.calls.iter().take_while(|caller| caller.rsp > rsp).count();
    if requests.calls.drain(left..).any(|caller| caller.counting) {
        cpu.set_counting(true);
    }
}

/// Whether the function called last has returned with this fault: then its caller goes on with the result in RDX.
pub fn returned(requests: &mut Requests, host: &mut dyn Host, fault: Fault) -> bool {
    let cpu = host.cpu();
    if !matches!(fault, Fault::Page { fetch: true, .. } | Fault::Protection) || cpu.rip() != RETURN {
        return false;
    }
    let rsp = cpu.gpr(Gpr::Rsp);
    let Some(at) = requests.calls.iter().rposition(|caller| caller.rsp == rsp) else { return false };
    let result = cpu.gpr(Gpr::Rax);
    // Of those that were left by longjmp the outermost knows whether counting was on.
    let counting = requests.calls.iter().skip(at).any(|caller| caller.counting);
    let Some(caller) = requests.calls.drain(at..).next() else { return false };
    for (gpr, value) in Gpr::ALL.into_iter().zip(caller.gprs) {
        cpu.set_gpr(gpr, value);
    }
    cpu.set_fpu(&caller.fpu);
    cpu.set_rflags(caller.rflags);
    cpu.set_gpr(Gpr::Rdx, result);
    cpu.set_rip(caller.rip);
    if counting {
        cpu.set_counting(true);
    }
    true
}
