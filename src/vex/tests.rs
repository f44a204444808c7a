//! Superblocks of a few instructions. Expected values are those of Valgrind 3.19, seen with
//! `--tool=cachegrind --branch-sim=yes` and `--trace-flags=01000000`.

use iced_x86::code_asm::*;

use super::superblock::{Insn, Superblock};
use super::translate::Translator;
use crate::x86::decode::MAX_LENGTH;

/// Emitter of some instructions.
type Code = fn(&mut CodeAssembler) -> Result<(), IcedError>;

/// No instruction.
const NONE: [usize; 0] = [];

/// Address of the code.
const START: u64 = 0x1000;

fn code(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut assembler = CodeAssembler::new(64).expect("64 bits");
    build(&mut assembler).expect("instructions");
    assembler.assemble(START).expect("code")
}

/// Translates the superblock at the start of the code; nothing else is executable.
fn translate(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Superblock {
    translate_by(&mut Translator::default(), build)
}

fn translate_by(
    translator: &mut Translator,
    build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Superblock {
    let bytes = code(build);
    let mut fetch = |pc: u64| {
        let mut out = [0; MAX_LENGTH];
        let rest = pc.checked_sub(START).and_then(|at| bytes.get(at as usize..)).unwrap_or_default();
        let len = rest.len().min(MAX_LENGTH);
        out[..len].copy_from_slice(&rest[..len]);
        (out, len)
    };
    translator.translate(START, &mut fetch)
}

/// Indices of the instructions that lose a load, and of those that lose a branch.
fn gone(superblock: &Superblock) -> (Vec<usize>, Vec<usize>) {
    let of = |is: fn(&Insn) -> bool| {
        let insns = superblock.insns.iter().enumerate();
        insns.filter(|(_, insn)| is(insn)).map(|(i, _)| i).collect()
    };
    (of(|insn| insn.change.removed | insn.change.stores != 0), of(|insn| insn.change.branches & 1 != 0))
}

/// Indices of the instructions that lose a load, in code that a return ends.
fn loads(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<usize> {
    gone(&translate(|a| {
        build(a)?;
        a.ret()
    }))
    .0
}

fn branches(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<usize> {
    gone(&translate(|a| {
        build(a)?;
        a.ret()
    }))
    .1
}

#[test]
fn sixty_instructions() {
    let superblock = translate(|a| (0..100).try_for_each(|_| a.nop()));
    assert_eq!((superblock.insns.len(), superblock.fall_through), (60, Some(START + 60)));
}

#[test]
fn a_jump_is_followed_once() {
    let superblock = translate(|a| {
        let (mut one, mut two) = (a.create_label(), a.create_label());
        a.jmp(one)?;
        a.int3()?;
        a.set_label(&mut one)?;
        a.jmp(two)?;
        a.int3()?;
        a.set_label(&mut two)?;
        a.ret()
    });
    assert_eq!(superblock.insns.len(), 2);
    // Under Callgrind not at all.
    let mut callgrind = Translator::default();
    callgrind.follow_no_jumps();
    let superblock = translate_by(&mut callgrind, |a| {
        let mut on = a.create_label();
        a.jmp(on)?;
        a.set_label(&mut on)?;
        a.ret()
    });
    assert_eq!((superblock.insns.len(), superblock.fall_through), (1, None));
    // Not with fewer than three instructions left.
    let long = translate(|a| {
        let mut on = a.create_label();
        (0..57).try_for_each(|_| a.nop())?;
        a.jmp(on)?;
        a.set_label(&mut on)?;
        a.ret()
    });
    assert_eq!(long.insns.len(), 58);
}

#[test]
fn loads_of_registers_written_again() {
    assert_eq!(
        loads(|a| {
            a.mov(rax, ptr(rbx))?;
            a.mov(eax, 1)
        }),
        [0]
    );
    // AL is another slice than EAX.
    assert_eq!(
        loads(|a| {
            a.mov(al, ptr(rbx))?;
            a.mov(eax, 1)
        }),
        NONE
    );
    assert_eq!(
        loads(|a| {
            a.mov(rax, ptr(rbx))?;
            a.mov(al, 1)
        }),
        NONE
    );
    assert_eq!(
        loads(|a| {
            a.movups(xmm0, ptr(rbx))?;
            a.xorps(xmm0, xmm0)
        }),
        [0]
    );
    assert_eq!(
        loads(|a| {
            a.movss(xmm0, ptr(rbx))?;
            a.movss(xmm0, ptr(rbx + 8))
        }),
        [0]
    );
    assert_eq!(
        loads(|a| {
            a.movsd_2(xmm0, ptr(rbx))?;
            a.xorps(xmm0, xmm0)
        }),
        NONE
    );
}

#[test]
fn loads_of_flags_written_again() {
    assert_eq!(
        loads(|a| {
            a.cmp(dword_ptr(rbx), 1)?;
            a.add(ecx, 1)
        }),
        [0]
    );
    // INC keeps the carry of the operation before.
    assert_eq!(
        loads(|a| {
            a.cmp(dword_ptr(rbx), 1)?;
            a.inc(ecx)?;
            a.add(ecx, 1)
        }),
        [0]
    );
    assert_eq!(
        loads(|a| {
            a.cmp(dword_ptr(rbx), 1)?;
            a.inc(ecx)
        }),
        NONE
    );
}

#[test]
fn registers_are_right_where_control_may_leave() {
    let kept: [Code; 3] = [|a| a.mfence(), |a| a.cpuid(), |a| a.lock().inc(dword_ptr(rdx))];
    for barrier in kept {
        assert_eq!(
            loads(|a| {
                a.mov(rax, ptr(rbx))?;
                barrier(a)?;
                a.mov(eax, 1)
            }),
            NONE
        );
    }
    // RSP is up to date at each memory access.
    assert_eq!(
        loads(|a| {
            a.mov(rsp, ptr(rbx))?;
            a.mov(ecx, ptr(rdx))?;
            a.mov(rsp, rdx)
        }),
        NONE
    );
    assert_eq!(
        loads(|a| {
            a.mov(rsp, ptr(rbx))?;
            a.mov(rsp, rdx)
        }),
        [0]
    );
}

#[test]
fn values_that_constants_decide() {
    assert_eq!(
        loads(|a| {
            a.mov(eax, ptr(rbx))?;
            a.and(eax, 0)
        }),
        [0]
    );
    assert_eq!(
        loads(|a| {
            a.mov(eax, ptr(rbx))?;
            a.or(eax, -1)
        }),
        [0]
    );
    assert_eq!(
        loads(|a| {
            a.mov(eax, ptr(rbx))?;
            a.imul_3(eax, eax, 0)
        }),
        NONE
    );
    assert_eq!(
        loads(|a| {
            a.pand(xmm0, ptr(rbx))?;
            a.pcmpeqw(xmm0, xmm0)
        }),
        [0]
    );
    // VEX has no rule for sixteen bits as it has for eight and thirty-two.
    assert_eq!(
        loads(|a| {
            a.mov(cx, ptr(rbx))?;
            a.sub(cx, cx)?;
            a.lea(rax, ptr(rcx))
        }),
        [0]
    );
    // The compare-and-swap of a locked operation uses the load.
    assert_eq!(loads(|a| a.lock().and(dword_ptr(rbx), 0)), NONE);
}

#[test]
fn branches_that_constants_decide() {
    assert_eq!(
        branches(|a| {
            let mut on = a.create_label();
            a.mov(ecx, 0)?;
            a.jrcxz(on)?;
            a.nop()?;
            a.set_label(&mut on)?;
            a.nop()
        }),
        [1]
    );
    assert_eq!(
        gone(&translate(|a| {
            a.mov(ecx, 5)?;
            a.rep().movsb()
        }))
        .1,
        [1]
    );
    assert_eq!(
        gone(&translate(|a| {
            a.mov(rax, 0x1234_u64)?;
            a.call(rax)
        }))
        .1,
        [1]
    );
}

/// VEX decides a jump on known flags only where its passes run twice, and by its rules for
/// comparisons.
#[test]
fn conditions_of_known_operands() {
    let jump = |mmx: bool, build: fn(&mut CodeAssembler, CodeLabel) -> Result<(), IcedError>| {
        gone(&translate(|a| {
            let mut on = a.create_label();
            if mmx {
                a.paddb(mm0, mm1)?;
            }
            a.cmp(rsi, rsi)?;
            build(a, on)?;
            a.int3()?;
            a.set_label(&mut on)?;
            a.nop()?;
            a.ret()
        }))
        .1
    };
    assert_eq!(jump(false, |a, on| a.je(on)), NONE);
    assert_eq!(jump(true, |a, on| a.je(on)), [2]);
    // VEX folds CmpEQ of equal operands, but neither CmpNE nor CmpLT.
    assert_eq!(
        jump(true, |a, on| {
            a.mov(ecx, 4)?;
            a.loopne(on)
        }),
        NONE
    );
    assert_eq!(jump(true, |a, on| a.jl(on)), NONE);
}

#[test]
fn two_jumps_to_one_place() {
    let both = |before: Code, common: Code| {
        translate(|a| {
            let (mut on, mut end) = (a.create_label(), a.create_label());
            a.test(rax, rax)?;
            a.jne(on)?;
            before(a)?;
            a.test(rcx, rcx)?;
            a.jne(on)?;
            a.set_label(&mut end)?;
            a.ret()?;
            a.set_label(&mut on)?;
            common(a)?;
            (0..8).try_for_each(|_| a.nop())?;
            a.ret()
        })
    };
    let plain = |a: &mut CodeAssembler| a.nop();
    let superblock = both(plain, plain);
    assert_eq!((superblock.insns.len(), superblock.merged), (5, Some(2)));
    assert_eq!(gone(&superblock).1, [1]);
    // Not over a memory access, and not if the common destination ends within three instructions
    // with anything but a jump.
    assert_eq!(both(|a| a.mov(edx, ptr(rbx)), plain).merged, None);
    assert_eq!(both(|a| a.div(rcx), plain).merged, None);
    assert_eq!(both(plain, |a| a.ret()).merged, None);
    let locked: Code = |a| {
        a.nop()?;
        a.nop()?;
        a.lock().inc(dword_ptr(rbx))
    };
    assert_eq!(both(plain, locked).merged, None);
    // The exit of a locked NOT is its last statement.
    assert_eq!(
        both(plain, |a| {
            a.nop()?;
            a.nop()?;
            a.lock().not(dword_ptr(rbx))
        })
        .merged,
        Some(2)
    );
}

/// The second block of a merged superblock knows its own writes; behind it a register may have its
/// old value.
#[test]
fn merged_code_writes_on_a_condition() {
    let superblock = translate(|a| {
        let mut on = a.create_label();
        a.mov(rdx, ptr(rbx))?;
        a.test(rax, rax)?;
        a.jne(on)?;
        a.mov(edx, 1)?;
        a.test(rcx, rcx)?;
        a.jne(on)?;
        a.nop()?;
        a.nop()?;
        a.set_label(&mut on)?;
        (0..8).try_for_each(|_| a.nop())?;
        a.ret()
    });
    assert_eq!(superblock.merged, Some(3));
    assert_eq!(gone(&superblock).0, NONE);
}
