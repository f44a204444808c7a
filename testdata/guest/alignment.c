// covers: rt_sigaction rt_sigreturn clock_gettime
// flags: -fno-pie -no-pie -mno-red-zone -Wl,-z,now
// Misaligned accesses with EFLAGS.AC. Left out is what CPUs may do differently, as moves of sixteen
// bytes that need not be aligned, FXSAVE and the order of faults. Symbols are bound at the start, as
// the linker must not run with the flag.
#include "faulting.h"
#include <time.h>

static volatile int inside, outside;

#define AC 0x40000
static unsigned long flags(void)
{
    unsigned long f;
    __asm__ volatile("pushf\n pop %0" : "=r"(f));
    return f;
}

static void skip(int s, siginfo_t *i, void *c)
{
    inside = (flags() & AC) != 0;
    ucontext_t *u = note_fault(s, i, c);
    outside = (u->uc_mcontext.gregs[REG_EFL] & AC) != 0;
    u->uc_mcontext.gregs[REG_EFL] &= ~AC;
}

static unsigned char area[8192] __attribute__((aligned(64)));
static void report(void)
{
    if (!sig)
        printf(" -");
    else if (sig == SIGBUS && code == BUS_ADRALN && trap == 17 && !error && !addr && inside && outside && rip >= at)
        printf(" A");
    else
        printf(" %d/%d/%ld/%lx/%p", sig, code, trap, error, addr);
}

/* One instruction or two, with RDI at an offset from 64 bytes and RSI 512 bytes above it. */
#define CHECK(insn)                                                                                \
    do {                                                                                           \
        printf("%s:", insn);                                                                       \
        for (int offset = 1; offset <= 16; offset *= 2) {                                          \
            unsigned char *p = area + 4096 + offset;                                               \
            sig = 0;                                                                               \
            memset(area, 0, sizeof area);                                                          \
            memcpy(p + 512, &(int){0x1f80}, 4);                                                    \
            __asm__ volatile("lea 2f(%%rip), %%rax\n mov %%rax, resume(%%rip)\n"                   \
                             "lea 1f(%%rip), %%rax\n mov %%rax, at(%%rip)\n"                       \
                             "mov %%rsp, %%r15\n mov %%rbp, %%r14\n mov $1, %%ecx\n"               \
                             "lea 512(%%rdi), %%rsi\n xor %%eax, %%eax\n xor %%edx, %%edx\n"       \
                             "xor %%ebx, %%ebx\n fninit\n fld1\n pushf\n orl $0x40000, (%%rsp)\n"  \
                             "popf\n 1: " insn "\n 2: mov %%r15, %%rsp\n mov %%r14, %%rbp\n"       \
                             "pushf\n andl $~0x40000, (%%rsp)\n popf\n fninit"                    \
                             : "+D"(p)                                                             \
                             :                                                                     \
                             : "rax", "rbx", "rcx", "rdx", "rsi", "r14", "r15", "memory", "cc", "xmm0"); \
            report();                                                                              \
        }                                                                                          \
        puts("");                                                                                  \
    } while (0)

/* The same code with the flag and without it. */
static __attribute__((noinline)) int load(const void *p)
{
    int v;
    __asm__ volatile("lea 1f(%%rip), %%rax\n mov %%rax, resume(%%rip)\n mov %%rax, at(%%rip)\n"
                     "xor %%eax, %%eax\n mov (%1), %%eax\n 1: mov %%eax, %0"
                     : "=r"(v) : "r"(p) : "rax", "memory");
    return v;
}

static void set(int on)
{
    if (on)
        __asm__ volatile("pushf\n orl $0x40000, (%%rsp)\n popf" : : : "memory", "cc");
    else
        __asm__ volatile("pushf\n andl $~0x40000, (%%rsp)\n popf" : : : "memory", "cc");
}

int main(void)
{
    /* The emulated CPU has these two, though it does not say so. */
    if (!is_emulated() && !(__builtin_cpu_supports("movbe") && __builtin_cpu_supports("aes")))
        lacks("a CPU without MOVBE or AES");
    take_faults(skip);

    CHECK("movb (%%rdi),%%al");
    CHECK("movw (%%rdi),%%ax");
    CHECK("movl (%%rdi),%%eax");
    CHECK("movq (%%rdi),%%rax");
    CHECK("movw %%ax,(%%rdi)");
    CHECK("movl %%eax,(%%rdi)");
    CHECK("movq %%rax,(%%rdi)");
    CHECK("addw $1,(%%rdi)");
    CHECK("addl $1,(%%rdi)");
    CHECK("addq $1,(%%rdi)");
    CHECK("lock addl $1,(%%rdi)");
    CHECK("lock addq $1,(%%rdi)");
    CHECK("lock addw $1,(%%rdi)");
    CHECK("lock btsl $1,(%%rdi)");
    CHECK("lock negl (%%rdi)");
    CHECK("xchgl %%eax,(%%rdi)");
    CHECK("xchgq %%rax,(%%rdi)");
    CHECK("lock cmpxchgl %%eax,(%%rdi)");
    CHECK("lock xaddq %%rax,(%%rdi)");
    CHECK("cmpxchg8b (%%rdi)");
    CHECK("lock cmpxchg8b (%%rdi)");
    CHECK("cmpxchg16b (%%rdi)");
    CHECK("movsw");
    CHECK("movsl");
    CHECK("movsq");
    CHECK("stosw");
    CHECK("stosl");
    CHECK("stosq");
    CHECK("lodsl");
    CHECK("scasl");
    CHECK("cmpsq");
    CHECK("rep movsl");
    CHECK("rep stosq");
    CHECK("btw %%ax,(%%rdi)");
    CHECK("btl %%eax,(%%rdi)");
    CHECK("btq %%rax,(%%rdi)");
    CHECK("btl $1,(%%rdi)");
    CHECK("btsl %%eax,(%%rdi)");
    CHECK("movbel (%%rdi),%%eax");
    CHECK("movbeq %%rax,(%%rdi)");
    CHECK("movslq (%%rdi),%%rax");
    CHECK("movzwl (%%rdi),%%eax");
    CHECK("crc32q (%%rdi),%%rax");
    CHECK("popcntl (%%rdi),%%eax");
    CHECK("movntil %%eax,(%%rdi)");
    CHECK("movntiq %%rax,(%%rdi)");
    CHECK("prefetcht0 (%%rdi)");
    CHECK("clflush (%%rdi)");
    CHECK("lea (%%rdi),%%rax");
    CHECK("nopl (%%rdi)");
    CHECK("verr (%%rdi)");
    CHECK("lar (%%rdi),%%eax");
    CHECK("movw (%%rdi),%%es");
    CHECK("movw %%ds,(%%rdi)");
    CHECK("mov %%rdi,%%rsp\n push %%rax");
    CHECK("mov %%rdi,%%rsp\n pushw %%ax");
    CHECK("mov %%rdi,%%rsp\n pop %%rax");
    CHECK("mov %%rdi,%%rsp\n popw %%ax");
    CHECK("mov %%rdi,%%rsp\n call 2f");
    CHECK("mov %%rdi,%%rsp\n popf");
    CHECK("mov %%rdi,%%rsp\n enter $0,$0");
    CHECK("mov %%rdi,%%rsp\n pushq (%%rsi)");
    CHECK("mov %%rdi,%%rbp\n leave");
    CHECK("fldcw (%%rdi)");
    CHECK("fnstcw (%%rdi)");
    CHECK("fnstsw (%%rdi)");
    CHECK("flds (%%rdi)");
    CHECK("fldl (%%rdi)");
    CHECK("fldt (%%rdi)");
    CHECK("fstps (%%rdi)");
    CHECK("fstpl (%%rdi)");
    CHECK("fstpt (%%rdi)");
    CHECK("filds (%%rdi)");
    CHECK("fildl (%%rdi)");
    CHECK("fildll (%%rdi)");
    CHECK("fistps (%%rdi)");
    CHECK("fistpl (%%rdi)");
    CHECK("fistpll (%%rdi)");
    CHECK("fisttps (%%rdi)");
    CHECK("fisttpll (%%rdi)");
    CHECK("fbld (%%rdi)");
    CHECK("fbstp (%%rdi)");
    CHECK("fadds (%%rdi)");
    CHECK("faddl (%%rdi)");
    CHECK("fiadds (%%rdi)");
    CHECK("fiaddl (%%rdi)");
    CHECK("fnstenv (%%rdi)");
    CHECK("fldenv (%%rdi)");
    CHECK(".byte 0x66\n fnstenv (%%rdi)");
    CHECK(".byte 0x66\n fldenv (%%rdi)");
    CHECK("fnsave (%%rdi)");
    CHECK("frstor (%%rdi)");
    CHECK(".byte 0x66\n fnsave (%%rdi)");
    CHECK(".byte 0x66\n frstor (%%rdi)");
    CHECK("ldmxcsr (%%rsi)");
    CHECK("stmxcsr (%%rdi)");
    CHECK("movd (%%rdi),%%mm0");
    CHECK("movd %%mm0,(%%rdi)");
    CHECK("movq (%%rdi),%%mm0");
    CHECK("movq %%mm0,(%%rdi)");
    CHECK("paddb (%%rdi),%%mm0");
    CHECK("movntq %%mm0,(%%rdi)");
    CHECK("maskmovq %%mm0,%%mm0");
    CHECK("pinsrw $0,(%%rdi),%%mm0");
    CHECK("cvtpi2ps (%%rdi),%%xmm0");
    CHECK("cvtps2pi (%%rdi),%%mm0");
    CHECK("cvtpd2pi (%%rdi),%%mm0");
    CHECK("pshufb (%%rdi),%%mm0");
    CHECK("punpcklbw (%%rdi),%%mm0");
    CHECK("movd (%%rdi),%%xmm0");
    CHECK("movd %%xmm0,(%%rdi)");
    CHECK("movq (%%rdi),%%xmm0");
    CHECK("movq %%xmm0,(%%rdi)");
    CHECK("movss (%%rdi),%%xmm0");
    CHECK("movss %%xmm0,(%%rdi)");
    CHECK("movsd (%%rdi),%%xmm0");
    CHECK("movsd %%xmm0,(%%rdi)");
    CHECK("movlps (%%rdi),%%xmm0");
    CHECK("movhps %%xmm0,(%%rdi)");
    CHECK("movlpd %%xmm0,(%%rdi)");
    CHECK("movhpd (%%rdi),%%xmm0");
    CHECK("movddup (%%rdi),%%xmm0");
    CHECK("addss (%%rdi),%%xmm0");
    CHECK("addsd (%%rdi),%%xmm0");
    CHECK("ucomisd (%%rdi),%%xmm0");
    CHECK("cmpss $0,(%%rdi),%%xmm0");
    CHECK("cvtsi2sdl (%%rdi),%%xmm0");
    CHECK("cvtsi2sdq (%%rdi),%%xmm0");
    CHECK("cvtsd2si (%%rdi),%%eax");
    CHECK("cvtss2sd (%%rdi),%%xmm0");
    CHECK("cvtps2pd (%%rdi),%%xmm0");
    CHECK("cvtdq2pd (%%rdi),%%xmm0");
    CHECK("cvtsd2ss (%%rdi),%%xmm0");
    CHECK("sqrtss (%%rdi),%%xmm0");
    CHECK("rcpss (%%rdi),%%xmm0");
    CHECK("roundsd $0,(%%rdi),%%xmm0");
    CHECK("roundss $0,(%%rdi),%%xmm0");
    CHECK("pmovsxbw (%%rdi),%%xmm0");
    CHECK("pmovsxbd (%%rdi),%%xmm0");
    CHECK("pmovsxbq (%%rdi),%%xmm0");
    CHECK("pmovzxdq (%%rdi),%%xmm0");
    CHECK("insertps $0,(%%rdi),%%xmm0");
    CHECK("pinsrb $0,(%%rdi),%%xmm0");
    CHECK("pinsrw $0,(%%rdi),%%xmm0");
    CHECK("pinsrd $0,(%%rdi),%%xmm0");
    CHECK("pinsrq $0,(%%rdi),%%xmm0");
    CHECK("pextrb $0,%%xmm0,(%%rdi)");
    CHECK("pextrw $0,%%xmm0,(%%rdi)");
    CHECK("pextrd $0,%%xmm0,(%%rdi)");
    CHECK("pextrq $0,%%xmm0,(%%rdi)");
    CHECK("extractps $0,%%xmm0,(%%rdi)");
    CHECK("movaps (%%rdi),%%xmm0");
    CHECK("movaps %%xmm0,(%%rdi)");
    CHECK("movdqa (%%rdi),%%xmm0");
    CHECK("addps (%%rdi),%%xmm0");
    CHECK("paddb (%%rdi),%%xmm0");
    CHECK("movntdqa (%%rdi),%%xmm0");
    CHECK("movntdq %%xmm0,(%%rdi)");
    CHECK("movntps %%xmm0,(%%rdi)");
    CHECK("aesenc (%%rdi),%%xmm0");
    CHECK("mov %%rdi,%%rsp\n pushf");
    CHECK("push (%%rdi)");
    CHECK("push %%rax\n pop (%%rdi)");
    CHECK("rep movsq");
    CHECK("repe cmpsw");
    CHECK("lock xaddw %%ax,(%%rdi)");
    CHECK("lock btrq $3,(%%rdi)");
    CHECK("lock cmpxchg8b (%%rdi)");
    CHECK("lock cmpxchg16b (%%rdi)");
    CHECK("notq (%%rdi)");
    CHECK("imull (%%rdi),%%eax");
    CHECK("shrw $1,(%%rdi)");
    CHECK("cmovel (%%rdi),%%eax");
    CHECK("setc (%%rdi)");

    memset(area, 7, 64);
    for (int i = 0; i < 6; i++) {
        sig = 0;
        set(i & 1);
        int v = load(area + (i < 4));
        set(0);
        printf("load %x signal %d\n", v, sig);
    }
    /* The kernel's own accesses are not checked. */
    struct timespec *t = (void *)(area + 1);
    set(1);
    long r = syscall(SYS_clock_gettime, CLOCK_MONOTONIC, t);
    int still = (flags() & AC) != 0;
    set(0);
    printf("clock_gettime %ld flag %d\n", r, still);
    return 0;
}
