//! CLIENT_CALL0 to CLIENT_CALL3: a function of the program that Valgrind runs on the host's CPU, so
//! that nothing of it is counted. Here it runs in the emulated CPU like everything else, and
//! counting is off meanwhile. Its stack is the caller's, below the red zone; Valgrind's is a
//! separate one.

use crate::guest::Gpr;
use crate::requests::host::{Answer, Host, Voice};
use crate::requests::state::{Caller, RETURN, Requests};

/// Bytes below RSP that a function may use without moving it (System V ABI, 3.2.2).
const RED_ZONE: u64 = 128;

/// Deepest nesting of functions called this way.
const NESTED: usize = 64;

/// CLIENT_CALL0: a function without arguments besides the thread.
pub(super) fn call0(requests: &mut Requests, host: &mut dyn Host, [function, ..]: [u64; 5]) -> Answer {
    call(requests, host, 0, function, &[])
}

/// CLIENT_CALL1: a function with one more argument.
pub(super) fn call1(requests: &mut Requests, host: &mut dyn Host, [function, a, ..]: [u64; 5]) -> Answer {
    call(requests, host, 1, function, &[a])
}

/// CLIENT_CALL2: a function with two.
pub(super) fn call2(requests: &mut Requests, host: &mut dyn Host, [function, a, b, ..]: [u64; 5]) -> Answer {
    call(requests, host, 2, function, &[a, b])
}

/// CLIENT_CALL3: a function with three.
pub(super) fn call3(
    requests: &mut Requests,
    host: &mut dyn Host,
    [function, a, b, c, _]: [u64; 5],
) -> Answer {
    call(requests, host, 3, function, &[a, b, c])
}

fn call(requests: &mut Requests, host: &mut dyn Host, number: u8, function: u64, args: &[u64]) -> Answer {
    if function == 0 {
        let text = format!("VG_USERREQ__CLIENT_CALL{number}: func=0x0\n");
        return if host.say(Voice::Debug, text.as_bytes()) { Answer::Untouched } else { Answer::Later };
    }
    let below = host.cpu().gpr(Gpr::Rsp).wrapping_sub(RED_ZONE) & !15;
    let rsp = below.wrapping_sub(8);
    if requests.callers().len() >= NESTED || host.mem().write(rsp, &RETURN.to_le_bytes()).is_err() {
        host.notice(format!(
            "CLIENT_CALL{number} of {function:#x} was ignored: there is no room on the stack"
        ));
        return Answer::Untouched;
    }
    let cpu = host.cpu();
    let counting = cpu.set_counting(false);
    requests.push(Caller {
        gprs: Gpr::ALL.map(|gpr| cpu.gpr(gpr)),
        rip: cpu.rip(),
        rflags: cpu.rflags(),
        fpu: cpu.fpu(),
        rsp: below,
        counting,
    });
    for (gpr, value) in
        [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::Rcx].into_iter().zip([&[requests.thread()], args].concat())
    {
        cpu.set_gpr(gpr, value);
    }
    // No vector registers are used if the function takes a variable number of arguments.
    cpu.set_gpr(Gpr::Rax, 0);
    cpu.set_gpr(Gpr::Rsp, rsp);
    cpu.set_rip(function);
    Answer::Resume
}
