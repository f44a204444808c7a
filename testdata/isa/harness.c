/* Runs every instruction form of forms.S on generated inputs and prints, per form, a hash of each facet of
   what it left behind. The same program runs on the host's CPU and under cgemu; the lines must be equal.

     harness              one line per form: NAME<TAB>facet=hash ...
     harness @N           the same from the Nth form on
     harness NAME...      one line per trial of these forms: all state before and after */

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "forms.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* What the instruction sees and leaves: general registers, RFLAGS, the image of FXSAVE64. */
struct state {
    u64 gpr[16];
    u64 flags, unused;
    u8 fx[512] __attribute__((aligned(64)));
};

struct state in __attribute__((aligned(64))), out __attribute__((aligned(64)));
u64 host_rsp, target, taken, phase, wait_after;
u32 default_mxcsr = 0x1f80;
static int fault;

void run_stub(void);
void form_return(void);
void after_wait(void);

__asm__(".text\n.globl run_stub, form_return, form_return_taken, after_wait\n"
        "run_stub: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, host_rsp\n"
        "fxrstor64 in+192\n"
        "pushq in+128; popfq\n"
        "mov in, %rax; mov in+8, %rcx; mov in+16, %rdx; mov in+24, %rbx; mov in+40, %rbp; mov in+48, %rsi\n"
        "mov in+56, %rdi; mov in+64, %r8; mov in+72, %r9; mov in+80, %r10; mov in+88, %r11; mov in+96, %r12\n"
        "mov in+104, %r13; mov in+112, %r14; mov in+120, %r15; mov in+32, %rsp\n"
        "jmp *target\n"
        "form_return_taken: movq $1, taken\n"
        "form_return:\n"
        "mov %rax, out; mov %rcx, out+8; mov %rdx, out+16; mov %rbx, out+24; mov %rsp, out+32; mov %rbp, out+40\n"
        "mov %rsi, out+48; mov %rdi, out+56; mov %r8, out+64; mov %r9, out+72; mov %r10, out+80\n"
        "mov %r11, out+88; mov %r12, out+96; mov %r13, out+104; mov %r14, out+112; mov %r15, out+120\n"
        "mov host_rsp, %rsp\n"
        "pushfq; popq out+128\n"
        "cld\n"
        "movq $1, phase\n"
        "cmpq $0, wait_after; je after_wait\n"
        "fwait\n"
        "after_wait: fxsave64 out+192; fninit; ldmxcsr default_mxcsr\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "ret\n");

static void on_signal(int number, siginfo_t *info, void *context) {
    ucontext_t *uc = context;
    fault = number | (info->si_code & 0xff) << 8;
    uc->uc_mcontext.gregs[REG_RIP] = (long)(phase ? after_wait : form_return);
    uc->uc_mcontext.gregs[REG_EFL] &= ~0x40100L;
}

/* The instruction's memory straddles a page boundary. */
#define MEM_START (MEM_OPERAND - 0x1f0)
#define MEM_SIZE 1152
static u8 *const mem = (u8 *)MEM_START;
static u8 mem_before[MEM_SIZE];

static u64 seed;

static u64 rnd(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1dull;
}

static u32 below(u32 n) { return (u32)((rnd() >> 32) * n >> 32); }

#define PICK(array) array[below(sizeof array / sizeof *array)]

static u64 int_value(void) {
    static const u64 special[] = {0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
        0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, -1ull, -2ull,
        -128ull, -32768ull, -2147483648ull, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x8080808080808080,
        0x7f7f7f7f7f7f7f7f, 0x8000800080008000, 0x7fff7fff7fff7fff, 0x8000000080000000, 0x7fffffff7fffffff,
        0x0001000100010001};
    switch (below(4)) {
    case 0: return PICK(special);
    case 1: return rnd() >> below(64);
    case 2: return (int64_t)rnd() >> below(64);
    default: return rnd();
    }
}

static u32 f32_value(void) {
    static const u32 special[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc00000, 0x7fc12345, 0x7f800001, 0x7fa00000, 0xffbfffff, 1, 0x80000001, 0x007fffff, 0x00800000,
        0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x4f000000,
        0xcf000000, 0x4effffff, 0x4f800000, 0x5f000000, 0xdf000000, 0x5effffff, 0x3effffff, 0x3f7fffff, 0x4b000001,
        0x4b7fffff, 0x4affffff, 0x7f000000, 0x33800000, 0x34000000};
    switch (below(4)) {
    case 0: return PICK(special);
    case 1: return (u32)rnd() & 0x807fffff | (u32)(100 + below(60)) << 23;
    case 2: { float f = (float)((int)below(4001) - 2000) / (1 << below(4)); u32 b; memcpy(&b, &f, 4); return b; }
    default: return (u32)rnd();
    }
}

static u64 f64_value(void) {
    static const u64 special[] = {0, 1ull << 63, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
        0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff8123456789abc, 0x7ff0000000000001,
        0x7ff4000000000000, 0xfff7ffffffffffff, 1, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
        0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0xbfe0000000000000,
        0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000, 0x41e0000000000000, 0xc1e0000000000000,
        0xc1e0000000200000, 0x41dfffffffc00000, 0x41dfffffffe00000, 0x41f0000000000000, 0x43e0000000000000,
        0xc3e0000000000000, 0x43dfffffffffffff, 0x3fdfffffffffffff, 0x4330000000000001, 0x47efffffe0000000,
        0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000, 0x3690000000000001, 0x380fffffffffffff,
        0x3810000000000000, 0x380fffffc0000000, 0x3ff0000010000000, 0x3ff0000030000000, 0x7fe0000000000000};
    switch (below(4)) {
    case 0: return PICK(special);
    case 1: return rnd() & 0x800fffffffffffff | (u64)(960 + below(120)) << 52;
    case 2: { double f = (double)((int)below(4001) - 2000) / (1 << below(4)); u64 b; memcpy(&b, &f, 8); return b; }
    default: return rnd();
    }
}

/* Trials come in groups, each with facets of its own, so that a fault in a rare mode does not hide one in the usual. */
enum { USUAL, MODE, NANS, EMPTY, ODD, UNMASKED };

/* An extended real; in the group for it, encodings that are none since the 80387: unnormals, pseudo-infinities. */
static void f80_value(u8 *to, int group) {
    int odd = group == ODD;
    u64 mantissa;
    u32 exponent;
    switch (below(8)) {
    case 0: mantissa = 1ull << 63; break;
    case 1: mantissa = -1ull; break;
    case 2: mantissa = 1ull << 63 | 1ull << below(63); break;
    case 3: mantissa = 1ull << 63 | (rnd() & 0x7fffff8000000000) | (below(2) ? 1ull << 39 : 0) | below(2); break;
    case 4: mantissa = 1ull << 63 | (rnd() & 0x7ffffffffffff800) | (below(2) ? 1ull << 10 : 0) | below(2); break;
    case 5: mantissa = 1ull << 63 | rnd() << (below(60)); break;
    default: mantissa = 1ull << 63 | rnd(); break;
    }
    switch (below(16)) {
    case 0: exponent = 0, mantissa &= ~(1ull << 63); break;
    case 1: exponent = 0, mantissa = 0; break;
    case 2: exponent = 32767; break;
    case 3: exponent = 32767, mantissa = 1ull << 63; break;
    case 4: exponent = 1 + below(70); break;
    case 5: exponent = 32766 - below(70); break;
    case 6: exponent = below(32767) + 1; break;
    case 7: exponent = 16383 + below(130) - 65; break;
    case 8: exponent = 16383 + (below(2) ? 1023 : -1023) + below(8) - 4; break;
    case 9: exponent = 16383 + (below(2) ? 127 : -127) + below(8) - 4; break;
    case 10: exponent = 16383 + below(64), mantissa &= ~0ull << (63 - below(64)), mantissa |= 1ull << 63; break;
    default: exponent = 16383 + below(70) - 3; break;
    }
    if (odd && below(3) == 0) {
        if (below(4) == 0) exponent = 0, mantissa |= 1ull << 63;
        else exponent |= 1, mantissa &= ~(1ull << 63);
    }
    if (group == USUAL || group == MODE)
        if (exponent == 32767) mantissa = 1ull << 63;
    u16 top = exponent | below(2) << 15;
    memcpy(to, &mantissa, 8);
    memcpy(to + 8, &top, 2);
}

/* Fills n bytes, a multiple of 8, with lanes of the sort that suits the instruction, now and then of another. */
static void fill(u8 *to, int n, int sort) {
    if (below(8) == 0) sort = below(SORT_COUNT);
    for (int i = 0; i < n; i += 8) {
        u64 v = 0;
        switch (sort) {
        case SORT_F32: v = f32_value() | (u64)f32_value() << 32; break;
        case SORT_F64: v = f64_value(); break;
        case SORT_TEXT: for (int k = 0; k < 8; k++) v = v << 8 | "\0aabbc\x7f\x80\xff"[below(below(2) ? 9 : 6)]; break;
        case SORT_BYTES: {
            static const u8 b[] = {0, 1, 2, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff};
            for (int k = 0; k < 8; k++) v = v << 8 | (below(2) ? PICK(b) : (u8)rnd());
            break;
        }
        case SORT_WORDS: {
            static const u16 w[] = {0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xff7f, 0xff80, 0xfffe, 0xffff};
            for (int k = 0; k < 4; k++) v = v << 16 | (below(2) ? PICK(w) : (u16)rnd());
            break;
        }
        case SORT_DWORDS: v = (u32)int_value() | int_value() << 32; break;
        default: v = int_value(); break;
        }
        memcpy(to + i, &v, 8);
    }
}

static int group_of(const struct form *f) {
    u32 r = below(100);
    if (f->flags & FORM_SSE_FLOAT) return r < 45 ? USUAL : r < 65 ? MODE : r < 85 ? NANS : UNMASKED;
    if (f->flags & FORM_X87) return r < 45 ? USUAL : r < 60 ? MODE : r < 72 ? NANS : r < 80 ? EMPTY : r < 90 ? ODD : UNMASKED;
    return USUAL;
}

/* Turns NaNs into numbers. */
static void no_nans(u8 *p, int n, int sort) {
    for (int i = 0; i < n && sort == SORT_F32; i += 4) {
        u32 v;
        memcpy(&v, p + i, 4);
        if ((v & 0x7fffffff) > 0x7f800000) v ^= 0x40000000, memcpy(p + i, &v, 4);
    }
    for (int i = 0; i < n && sort == SORT_F64; i += 8) {
        u64 v;
        memcpy(&v, p + i, 8);
        if ((v & ~0ull >> 1) > 0x7ffull << 52) v ^= 1ull << 62, memcpy(p + i, &v, 8);
    }
}

static void put16(u8 *p, u16 v) { memcpy(p, &v, 2); }
static void put32(u8 *p, u32 v) { memcpy(p, &v, 4); }
static u16 get16(const u8 *p) { u16 v; memcpy(&v, p, 2); return v; }
static u32 get32(const u8 *p) { u32 v; memcpy(&v, p, 4); return v; }

static void fill_fx(u8 *fx, const struct form *f, int group, int sort) {
    memset(fx, 0, 512);
    u32 rc = below(4), sticky = below(2) ? 0 : (u32)rnd() & 0x3f;
    put16(fx, 0x37f | rc << 10);
    u32 top = below(8);
    put16(fx + 2, top << 11 | sticky | (below(2) ? (u32)rnd() & 0x4700 : 0));
    /* Seven values on the x87 stack: room for one more. */
    fx[4] = f->flags & FORM_X87 ? (u8)~(1 << ((top + 7) & 7)) : 0xff;
    put32(fx + 24, 0x1f80 | (below(2) ? rc : 0) << 13 | (below(2) ? 0 : (u32)rnd() & 0x3f));
    if (group == MODE) {
        put16(fx, 0x07f | rc << 10 | (below(2) ? 0x200 : 0));
        put32(fx + 24, 0x1f80 | rc << 13 | (1 + below(3)) * 0x8000 % 0x10000 | (below(2) ? 0x40 : 0));
        if (!(get32(fx + 24) & 0x8040)) put32(fx + 24, get32(fx + 24) | 0x8040);
    }
    if (group == EMPTY) fx[4] = below(2) ? (u8)rnd() : 0;
    if (group == UNMASKED) {
        put16(fx, 0x340 | rc << 10 | ((u32)rnd() & 0x3f));
        put16(fx + 2, top << 11);
        put32(fx + 24, rc << 13 | ((u32)rnd() & 0x1f80));
    }
    for (int i = 0; i < 8; i++) {
        if (f->flags & FORM_X87) f80_value(fx + 32 + 16 * i, group);
        else fill(fx + 32 + 16 * i, 8, sort), put16(fx + 40 + 16 * i, (u16)rnd());
    }
    if (f->flags & FORM_X87 && below(3) == 0) { /* operands near each other */
        u16 e = get16(fx + 40);
        put16(fx + 56, (u16)((e & 0x7fff) + below(5) - 2) % 32767 | (e & 0x8000));
        if (below(2)) memcpy(fx + 48, fx + 32, 8);
        if (!(get16(fx + 56) & 0x7fff)) put16(fx + 56, 1);
        if (group != ODD) fx[55] |= 0x80;
    }
    for (int i = 0; i < 16; i++) fill(fx + 160 + 16 * i, 16, sort);
    if (below(4) == 0) memcpy(fx + 160, fx + 176, 16), memcpy(fx + 192, fx + 176, 16), memcpy(fx + 304, fx + 384, 16);
}

static void fill_bcd(u8 *p) {
    for (int i = 0; i < 9; i++) p[i] = below(10) | below(10) << 4;
    for (u32 i = below(10); i < 9; i++) p[i] = 0;
    p[9] = below(2) << 7;
}

static u64 operand;

static void prepare(const struct form *f, u32 stub, int group) {
    int sort = f->sort == SORT_ANY ? (int)below(SORT_COUNT) : f->sort;
    for (int i = 0; i < 16; i++) in.gpr[i] = int_value();
    if (below(4) == 0) in.gpr[RDX] = in.gpr[RBX] = in.gpr[RAX], in.gpr[R14] = in.gpr[R9];
    in.flags = 0x202 | (rnd() & 0x8d5);
    fill_fx(in.fx, f, group, sort);
    operand = MEM_OPERAND;
    if (!(f->flags & FORM_FIXED_ADDRESS)) operand += f->flags & FORM_ALIGNED ? 16 * below(2) : below(32);
    if (f->flags & FORM_MISALIGNED) operand |= 1 + below(15);
    memset(mem, (u8)rnd(), MEM_SIZE);
    fill((u8 *)MEM_OPERAND - 128, 288, sort);
    fill((u8 *)operand, 64, sort);
    fill((u8 *)MEM_OPERAND + 0x110 - 32, 64, sort);
    if (f->flags & FORM_MEMORY_F80) f80_value((u8 *)operand, group);
    u64 stack = MEM_OPERAND + 0x110;
    in.gpr[RSP] = stack;
    if (f->flags & FORM_MEMORY) {
        in.gpr[RDI] = operand - 16;
        in.gpr[RBP] = operand + 8 - 4 * 2;
        in.gpr[R12] = 2;
        in.gpr[R13] = operand;
        in.gpr[RBX] = f->special == SPECIAL_XLAT ? operand : in.gpr[RBX];
        if (f->flags & FORM_ON_STACK) in.gpr[RSP] = operand - 8;
        if (below(3) == 0) memcpy((u8 *)operand, in.fx + 176, 16); /* equal operands */
        if (below(4) == 0) memcpy((u8 *)operand, &in.gpr[RAX], 8);
    }
    switch (f->special) {
    case SPECIAL_STRING: {
        in.gpr[RSI] = MEM_OPERAND - 0x68 + below(32);
        in.gpr[RDI] = below(3) ? MEM_OPERAND + 0x40 + below(32) : in.gpr[RSI] + below(33) - 16;
        in.gpr[RCX] = below(10);
        in.flags |= below(2) << 10;
        if (f->flags & FORM_ADDRESS32) {
            in.gpr[RSI] |= rnd() << 32;
            in.gpr[RDI] |= rnd() << 32;
            in.gpr[RCX] |= rnd() << 32;
        }
        if (below(2)) memset(mem, mem[0], MEM_SIZE), mem[below(MEM_SIZE)] ^= 1, mem[0x190 + below(32)] ^= 0x80;
        if (below(2)) in.gpr[RAX] = mem[0] * 0x0101010101010101ull;
        break;
    }
    case SPECIAL_SHIFT16: in.gpr[RCX] = (in.gpr[RCX] & ~31ull) | below(17); break;
    case SPECIAL_BIT: {
        u64 bit = (u64)below(1024) - 512;
        for (int i = 0; i < 16; i++)
            if (i != RDI && i != RBP && i != RSP && i != R12 && i != R13) in.gpr[i] = bit;
        break;
    }
    case SPECIAL_LOOP: in.gpr[RCX] = below(2) ? below(3) : below(2) ? rnd() << 32 | below(2) : rnd(); break;
    case SPECIAL_POPF: *(u64 *)in.gpr[RSP] &= 0x8d5 | (below(2) ? 0x400 : 0) | (below(2) ? 0x200000 : 0); break;
    case SPECIAL_BCD: if (group != ODD) fill_bcd((u8 *)operand); break;
    case SPECIAL_DIVIDE: {
        switch (below(4)) {
        case 0: in.gpr[RDX] = 0, in.gpr[RAX] &= 0xff; break;
        case 1: in.gpr[RDX] = 0; break;
        case 2: in.gpr[RDX] = (int64_t)in.gpr[RAX] >> 63; break;
        default: in.gpr[RDX] >>= below(64), in.gpr[RAX] = in.gpr[RAX] & 0xff | below(0x40) << 8; break;
        }
        if (below(4) == 0) in.gpr[RDX] = (int32_t)in.gpr[RAX] >> 31;
        break;
    }
    case SPECIAL_FXRSTOR: {
        fill_fx((u8 *)operand, f, below(3), SORT_QWORDS);
        if (below(8) == 0) put32((u8 *)operand + 24, (u32)rnd());
        break;
    }
    case SPECIAL_ENVIRONMENT: { /* FLDENV, FRSTOR: control, status, tags */
        u8 *p = (u8 *)operand;
        int wide = !(f->flags & FORM_X87_16);
        memset(p, 0, 108);
        put16(p, 0x37f & ~(below(4) << 8) | below(4) << 10);
        put16(p + (wide ? 4 : 2), (u16)rnd() & 0x7f3f);
        put16(p + (wide ? 8 : 4), below(2) ? (u16)rnd() : below(2) ? 0xffff : 0);
        for (int i = 0; i < 8; i++) f80_value(p + (wide ? 28 : 14) + 10 * i, USUAL);
        break;
    }
    case SPECIAL_FLDCW: put16((u8 *)operand, ((u16)rnd() & 0xf00) | 0x7f); break;
    case SPECIAL_MXCSR: put32((u8 *)operand, below(4) ? (u32)rnd() & 0xffff : (u32)rnd()); break;
    case SPECIAL_SEGMENT: {
        u16 selector = f->flags & FORM_SS ? 0x2b : below(2) ? 0 : below(2) ? 0x2b : 1 + below(2);
        for (int i = 0; i < 16; i++)
            if (i != RDI && i != RBP && i != RSP && i != R12 && i != R13) in.gpr[i] = in.gpr[i] << 16 | selector;
        put16((u8 *)operand, selector);
        put16((u8 *)in.gpr[RSP], selector);
        break;
    }
    case SPECIAL_LENGTHS: /* PCMPESTRI and PCMPESTRM */
        if (below(8)) in.gpr[RAX] = (int64_t)below(41) - 20;
        if (below(8)) in.gpr[RDX] = (int64_t)below(41) - 20;
        if (below(4) == 0) in.gpr[RAX] &= 0xffffffff, in.gpr[RDX] |= 0x500000000;
        break;
    case SPECIAL_FRAME: in.gpr[RBP] = stack - 8 * below(4); break;
    case SPECIAL_RETURN: *(u64 *)in.gpr[RSP] = (u64)form_return; break;
    case SPECIAL_JUMP:
        for (int i = 0; i < 16; i++)
            if (i != RSP && i != R12 && i != RBP && i != RDI && i != R13) in.gpr[i] = (u64)form_return;
        memcpy((u8 *)operand, &in.gpr[RAX], 8);
        break;
    }
    if ((f->flags & (FORM_SSE_FLOAT | FORM_X87)) && (group == USUAL || group == MODE)) {
        no_nans((u8 *)operand, 64, f->sort);
        if (f->flags & FORM_SSE_FLOAT) no_nans(in.fx + 160, 256, f->sort);
    }
    memcpy(mem_before, mem, MEM_SIZE);
    target = FORMS_ADDRESS + (u64)stub * STUB_SIZE;
    taken = phase = 0;
    wait_after = group == UNMASKED && f->flags & FORM_X87;
    fault = 0;
    memset(&out, 0, sizeof out);
}

/* Status flags that count for this very trial: a shift by a counter leaves more of them defined when it is 0 or 1. */
static u32 defined_flags(const struct form *f, u32 stub) {
    u32 mask = stub_flags[stub];
    if (f->special == SPECIAL_SHIFT || f->special == SPECIAL_SHIFT16) {
        u32 count = in.gpr[RCX] & (f->flags & FORM_WIDE_COUNT ? 63 : 31);
        if (count == 0) mask |= 0x8d5;
        if (count == 1) mask |= 0x800;
    }
    return mask | 0x400;
}

static u64 mix(u64 hash, u64 value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static u64 mix_bytes(u64 hash, const void *p, u32 n) {
    for (u32 i = 0; i < n; i += 8) {
        u64 v;
        memcpy(&v, (const u8 *)p + i, 8);
        hash = mix(hash, v);
    }
    return hash;
}

enum { VALUE, FLAGS, FAULT, CODES, C1, STATUS, MXCSR, MMXTOP, MODES, NAN_VALUES, STACK, UNSUPPORTED, TRAPS, UNDEFINED, FACETS };
static const char *const facet_names[FACETS] = {"value", "flags", "fault", "x87-cc", "x87-c1", "x87-status", "mxcsr",
    "mmx-high", "mode", "nan", "x87-empty", "x87-odd", "unmasked", "undefined"};

static void record(u64 *facet, const struct form *f, u32 stub, int group) {
    u32 mask = defined_flags(f, stub), cc = stub_codes[stub];
    u16 fsw = get16(out.fx + 2);
    if (f->flags & FORM_HIDES_POINTERS) { /* FIP, FDP and FOP in memory depend on the CPU model */
        u8 *p = (u8 *)operand;
        if (f->special == SPECIAL_FXRSTOR) memset(p + 6, 0, 18);
        else if (f->flags & FORM_X87_16) memset(p + 6, 0, 8);
        else memset(p + 12, 0, 16);
    }
    u64 value = mix_bytes(1, out.gpr, sizeof out.gpr);
    value = mix_bytes(value, mem, MEM_SIZE);
    value = mix(value, get16(out.fx) | (u64)(fsw & 0x3800) << 16 | (u64)out.fx[4] << 32 | taken << 40);
    value = mix(value, get32(out.fx + 24) & 0xffc0);
    u64 high = 0;
    for (int i = 0; i < 8; i++) {
        value = mix_bytes(value, out.fx + 32 + 16 * i, 8);
        u16 h = get16(out.fx + 40 + 16 * i);
        if (f->flags & FORM_MMX) high = mix(high, h);
        else value = mix(value, h);
    }
    value = mix_bytes(value, out.fx + 160, 256);
    u64 codes = fsw & cc & 0x4500, c1 = fsw & cc & 0x200, status = fsw & 0x80ff;
    if (group == USUAL) {
        facet[VALUE] = mix(facet[VALUE], value);
        facet[FLAGS] = mix(facet[FLAGS], out.flags & mask);
        facet[FAULT] = mix(facet[FAULT], fault);
        facet[CODES] = mix(facet[CODES], codes);
        facet[C1] = mix(facet[C1], c1);
        facet[STATUS] = mix(facet[STATUS], status);
        facet[MXCSR] = mix(facet[MXCSR], get32(out.fx + 24) & 0x3f);
        facet[MMXTOP] = mix(facet[MMXTOP], high);
        facet[UNDEFINED] = mix(facet[UNDEFINED], (out.flags & 0x8d5) | (u64)fsw << 32);
    } else {
        int k = group == MODE ? MODES : group == NANS ? NAN_VALUES : group == EMPTY ? STACK : group == ODD ? UNSUPPORTED : TRAPS;
        facet[k] = mix(facet[k], value);
        facet[k] = mix(facet[k], (out.flags & mask) | codes << 32 | (u64)fault << 48);
        if (group == EMPTY || group == ODD) facet[k] = mix(facet[k], status & 0x41);
    }
}

static void hex(const char *name, const void *p, int n) {
    printf(" %s=", name);
    for (int i = 0; i < n; i++) printf("%02x", ((const u8 *)p)[i]);
}

static void dump(const struct form *f, u32 trial, u32 stub, int group) {
    u64 facet[FACETS] = {0};
    record(facet, f, stub, group);
    printf("%s\t%u stub=%u group=%d", f->name, trial, stub - f->first, group);
    for (int i = 0; i < FACETS; i++) printf(" %s:%016lx", facet_names[i], facet[i]);
    printf(" fault=%x operand=%lx", fault, operand);
    hex("gpr", in.gpr, 128), hex("flags", &in.flags, 8), hex("fx", in.fx, 416), hex("mem", mem_before, MEM_SIZE);
    hex("gpr'", out.gpr, 128), hex("flags'", &out.flags, 8), hex("fx'", out.fx, 416), hex("mem'", mem, MEM_SIZE);
    printf("\n");
}

static void run_form(const struct form *f, int verbose) {
    u64 facet[FACETS] = {0};
    seed = 0x9e3779b97f4a7c15ull;
    for (const char *c = f->name; *c; c++) seed = (seed ^ (u8)*c) * 0x100000001b3ull;
    for (u32 trial = 0; trial < f->trials; trial++) {
        u32 stub = f->first + trial % f->count;
        int group = group_of(f);
        prepare(f, stub, group);
        run_stub();
        if (f->special == SPECIAL_SEGMENT) __asm__ volatile("mov %0, %%ds; mov %0, %%es; mov %0, %%gs" : : "r"(0));
        if (verbose) dump(f, trial, stub, group);
        else record(facet, f, stub, group);
    }
    if (verbose) return;
    printf("%s\t", f->name);
    for (int i = 0; i < FACETS; i++) printf(" %s=%016lx", facet_names[i], facet[i]);
    printf("\n");
}

int main(int argc, char **argv) {
    static u8 stack[65536];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
    setvbuf(stdout, NULL, _IOLBF, 65536);
    u64 page = MEM_START & ~0xfffull;
    if (mmap((void *)page, 0x3000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)page) {
        perror("mmap");
        return 1;
    }
    u32 first = argc > 1 && argv[1][0] == '@' ? (u32)atoi(argv[1] + 1) : 0;
    if (first) argc = 1;
    for (u32 i = first; i < FORM_COUNT; i++) {
        int chosen = argc == 1;
        for (int k = 1; k < argc; k++) chosen |= !strcmp(argv[k], forms[i].name);
        if (chosen) run_form(&forms[i], argc > 1);
    }
    return 0;
}
