//! The front end: x86 instructions to statements, as `guest_amd64_toIR.c`, as far as the
//! optimiser's work on them shows in the counts. This file dispatches; each file below lifts a
//! family of instructions.

mod bits;
mod control;
mod ctx;
mod exchange;
mod integer;
mod mmx;
mod shifts;
mod sse;
pub(super) mod strings;
mod vector_ops;
mod x87;

use iced_x86::{Instruction, Mnemonic as M, Register};

pub(super) use ctx::LiftCtx;
pub(super) use vector_ops::checks_alignment;

use super::guest_state as state;
use super::ir::Value;

/// Lifts an instruction of which the superblock goes on behind it.
pub(super) fn lift_and_advance(ctx: &mut LiftCtx, i: &Instruction) {
    lift(ctx, i);
    if !i.is_jcc_short_or_near() {
        ctx.put(state::RIP, Value::Const(i.next_ip()));
    }
}

/// Lifts an instruction, and of one that ends the superblock what it does before the jump.
pub(super) fn lift(ctx: &mut LiftCtx, i: &Instruction) {
    let is_vector = |register: Register| register.is_xmm() || register.is_mm() || register.is_st();
    if x87::is_x87(i) {
        ctx.x87(i);
    } else if (0..i.op_count()).any(|n| is_vector(i.op_register(n))) || is_vector_control(i) {
        vector(ctx, i);
    } else {
        general(ctx, i);
    }
}

/// Recognises SSE and MMX instructions that may have no vector register.
fn is_vector_control(i: &Instruction) -> bool {
    matches!(i.mnemonic(), M::Ldmxcsr | M::Stmxcsr | M::Emms)
        || matches!(i.mnemonic(), M::Fxsave | M::Fxsave64 | M::Fxrstor | M::Fxrstor64)
        || matches!(i.mnemonic(), M::Cvtss2si | M::Cvttss2si | M::Cvtsd2si | M::Cvttsd2si)
}

fn vector(ctx: &mut LiftCtx, i: &Instruction) {
    match i.mnemonic() {
        M::Ldmxcsr | M::Stmxcsr | M::Fxsave | M::Fxsave64 | M::Fxrstor | M::Fxrstor64 => ctx.sse_state(i),
        M::Maskmovdqu | M::Maskmovq => ctx.masked_store(i),
        M::Emms => ctx.mmx(i),
        _ if (0..i.op_count()).any(|n| i.op_register(n).is_mm()) => ctx.mmx(i),
        _ => ctx.sse(i),
    }
}

/// Lifts an instruction without vector operands.
fn general(ctx: &mut LiftCtx, i: &Instruction) {
    match i.mnemonic() {
        M::Wait | M::Nop | M::Endbr64 | M::Endbr32 | M::Pause | M::Reservednop | M::Clflush => {}
        M::Prefetch | M::Prefetchw | M::Prefetchnta | M::Prefetcht0 | M::Prefetcht1 => {}
        M::Prefetcht2 | M::Prefetchwt1 => {}
        M::Mov | M::Movnti | M::Movzx | M::Movsx | M::Movsxd | M::Movbe => ctx.mov(i),
        M::Lea => ctx.lea(i),
        M::Add | M::Sub | M::And | M::Or | M::Xor | M::Cmp | M::Test | M::Neg => ctx.arithmetic(i),
        M::Adc | M::Sbb => ctx.with_carry(i),
        M::Inc | M::Dec => ctx.increment(i),
        M::Not => ctx.not(i),
        M::Shl | M::Sal | M::Shr | M::Sar => ctx.shift(i),
        M::Rol | M::Ror => ctx.rotate(i),
        M::Rcl | M::Rcr => ctx.rotate_carry(i),
        M::Shld | M::Shrd => ctx.double_shift(i),
        M::Push | M::Pushf | M::Pushfq | M::Pop | M::Popf | M::Popfq => ctx.push_pop(i),
        M::Call | M::Ret | M::Jmp | M::Leave | M::Enter => ctx.jump_call_return(i),
        M::Xchg => ctx.exchange(i),
        M::Xadd => ctx.exchange_add(i),
        M::Cmpxchg => ctx.compare_exchange(i),
        M::Cmpxchg8b | M::Cmpxchg16b => ctx.compare_exchange_pair(i),
        M::Mul | M::Imul | M::Div | M::Idiv => ctx.multiply(i),
        M::Bt | M::Bts | M::Btr | M::Btc => ctx.bit(i),
        M::Bsf | M::Bsr | M::Popcnt | M::Lzcnt | M::Tzcnt => ctx.bit_scan(i),
        M::Andn | M::Blsr | M::Blsmsk | M::Mulx | M::Pext | M::Shlx | M::Shrx | M::Sarx | M::Rorx => {
            ctx.bmi(i);
        }
        M::Crc32 => ctx.crc32(i),
        M::Bswap => ctx.bswap(i),
        M::Cbw | M::Cwde | M::Cdqe | M::Cwd | M::Cdq | M::Cqo => ctx.sign_extend(i),
        M::Sahf | M::Lahf | M::Clc | M::Stc | M::Cmc => ctx.flag_instruction(i),
        M::Cld => ctx.put(state::DFLAG, Value::Const(1)),
        M::Std => ctx.put(state::DFLAG, Value::Const(u64::MAX)),
        M::Mfence | M::Lfence | M::Sfence => ctx.barrier(false),
        _ if i.is_string_instruction() => ctx.string(i),
        _ if i.is_jcc_short_or_near() => ctx.jcc(i),
        M::Loop | M::Loope | M::Loopne | M::Jrcxz | M::Jecxz | M::Jcxz => ctx.loop_or_jrcxz(i),
        _ => ctx.conditional_or_unknown(i),
    }
}
