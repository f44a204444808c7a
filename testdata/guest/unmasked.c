// covers: rt_sigaction rt_sigreturn
// flags: -O0 -frounding-math -lm
// Exceptions of floating-point arithmetic that the program has unmasked.
#include "guest.h"
#include <fenv.h>
#include <setjmp.h>
#include <ucontext.h>

static sigjmp_buf back;
static unsigned long at;
static int code, trap, addr_is_rip;
static unsigned flags, status;
static void jump(int s, siginfo_t *i, void *c)
{
    ucontext_t *u = c;
    code = i->si_code;
    at = u->uc_mcontext.gregs[REG_RIP];
    trap = u->uc_mcontext.gregs[REG_TRAPNO];
    addr_is_rip = (unsigned long)i->si_addr == at;
    flags = u->uc_mcontext.fpregs->mxcsr;
    status = u->uc_mcontext.fpregs->swd & 0x80ff;
    siglongjmp(back, s);
}

static void set(unsigned mxcsr)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}

static void x87(unsigned short cw)
{
    __asm__ volatile("fninit; fldcw %0" : : "m"(cw));
}

static void report(const char *what, int s)
{
    set(0x1f80);
    if (s)
        printf("%s: signal %d code %d trap %d address %d", what, s, code, trap, addr_is_rip);
    else
        printf("%s: none", what);
}

/* One instruction at a label, with the destination in xmm0 and the source in xmm1. */
#define SSE(name, insn, mask, d0, s0)                                                              \
    do {                                                                                           \
        double d[2] = {d0, 7.0}, s[2] = {s0, 9.0};                                                 \
        static double after[2];                                                                    \
        static unsigned long label, flag;                                                          \
        int sig = sigsetjmp(back, 1);                                                              \
        if (!sig) {                                                                                \
            set(mask);                                                                             \
            __asm__ volatile("lea 1f(%%rip), %%rax\n mov %%rax, %0\n movupd %3, %%xmm0\n"          \
                             "movupd %4, %%xmm1\n xor %%eax, %%eax\n stc\n"                        \
                             "1: " insn "\n movupd %%xmm0, %1\n pushf\n pop %2\n"                  \
                             : "=m"(label), "=m"(after), "=m"(flag)                                \
                             : "m"(d), "m"(s)                                                      \
                             : "rax", "xmm0", "xmm1", "memory");                                   \
            __asm__ volatile("stmxcsr %0" : "=m"(flags));                                          \
        }                                                                                          \
        report(name, sig);                                                                         \
        if (sig)                                                                                   \
            printf(" rip %d", at == label);                                                        \
        else                                                                                       \
            printf(" %a %a flags %lx", after[0], after[1], flag & 0x8d5);                          \
        printf(" mxcsr %x\n", flags & 0xffff);                                                     \
    } while (0)

static volatile double zero, one = 1, three = 3;
static double handled[2];
static void mend(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i;
    ucontext_t *u = c;
    memcpy(handled, u->uc_mcontext.fpregs->_xmm, 16);
    u->uc_mcontext.fpregs->mxcsr = 0x1f80;
}

int main(void)
{
    struct sigaction sa = {.sa_sigaction = jump, .sa_flags = SA_SIGINFO};
    sigaction(SIGFPE, &sa, NULL);
    double inf = __builtin_inf(), nan = __builtin_nan(""), snan = __builtin_nans("");
    double tiny = 0x1p-1074, small = 0x1p-1022, big = 0x1.fffffffffffffp1023;

    SSE("divide by zero", "divsd %%xmm1, %%xmm0", 0x1d80, one, zero);
    SSE("divide by zero, masked", "divsd %%xmm1, %%xmm0", 0x0200, one, zero);
    SSE("zero by zero", "divsd %%xmm1, %%xmm0", 0x1f00, zero, zero);
    SSE("zero by zero, only ZM", "divsd %%xmm1, %%xmm0", 0x1d80, zero, zero);
    SSE("exact", "divsd %%xmm1, %%xmm0", 0x0000, 6.0, 3.0);
    SSE("inexact", "divsd %%xmm1, %%xmm0", 0x0f80, one, three);
    SSE("inexact before", "divsd %%xmm1, %%xmm0", 0x0fa0, 6.0, 3.0);
    SSE("overflow", "mulsd %%xmm1, %%xmm0", 0x1b80, big, 1.1);
    SSE("underflow", "mulsd %%xmm1, %%xmm0", 0x1780, small * 1.1, 0.3);
    SSE("exact and tiny", "mulsd %%xmm1, %%xmm0", 0x1780, small, 0.5);
    SSE("denormal", "addsd %%xmm1, %%xmm0", 0x1e80, tiny, one);
    SSE("signalling", "addsd %%xmm1, %%xmm0", 0x1f00, snan, one);
    SSE("quiet", "addsd %%xmm1, %%xmm0", 0x1f00, nan, one);
    SSE("root", "sqrtsd %%xmm1, %%xmm0", 0x1f00, 5.0, -1.0);
    SSE("packed", "divpd %%xmm1, %%xmm0", 0x1d80, one, zero);
    SSE("from memory", "divsd %4, %%xmm0", 0x1d80, one, zero);
    SSE("ordered", "comisd %%xmm1, %%xmm0", 0x1f00, one, nan);
    SSE("unordered", "ucomisd %%xmm1, %%xmm0", 0x1f00, one, nan);
    SSE("unordered, signalling", "ucomisd %%xmm1, %%xmm0", 0x1f00, one, snan);
    SSE("compare", "cmpltpd %%xmm1, %%xmm0", 0x1f00, one, nan);
    SSE("to integer", "cvtsd2si %%xmm1, %%rcx\n cvtsi2sd %%rcx, %%xmm0", 0x1f00, one, 42.0);
    SSE("too large for an integer", "cvttsd2si %%xmm1, %%rax", 0x1f00, one, 1e300);
    SSE("to integer, inexact", "cvtsd2si %%xmm1, %%rax", 0x0f80, one, 1.5);
    SSE("narrow", "cvtsd2ss %%xmm1, %%xmm0", 0x1b80, one, 1e300);
    SSE("round", "roundsd $0, %%xmm1, %%xmm0", 0x0f80, one, 1.5);
    SSE("round, no precision", "roundsd $8, %%xmm1, %%xmm0", 0x0f80, one, 1.5);
    SSE("largest of a NaN", "maxsd %%xmm1, %%xmm0", 0x1f00, one, nan);
    SSE("infinities", "subsd %%xmm1, %%xmm0", 0x1f00, inf, inf);

    /* The destination is as it was, and the instruction runs again. */
    sa.sa_sigaction = mend;
    sigaction(SIGFPE, &sa, NULL);
    feenableexcept(FE_DIVBYZERO);
    volatile double q = one / zero;
    printf("again: %f, destination %f\n", q, handled[0]);
    sa.sa_sigaction = jump;
    sigaction(SIGFPE, &sa, NULL);

    /* By the C library. */
    int names[] = {FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INEXACT};
    for (int i = 0; i < 5; i++) {
        fedisableexcept(FE_ALL_EXCEPT);
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(names[i]);
        int sig = sigsetjmp(back, 1);
        if (!sig)
            feraiseexcept(names[i]);
        report("raised", sig);
        printf(" %x\n", fegetexcept() & 0);
        x87(0x37f);
    }

    /* The x87 says so at the next instruction that waits. */
    for (int i = 0; i < 6; i++) {
        static unsigned short sw;
        static unsigned long label;
        double a = i == 1 ? 0.0 : 1.0, b = i == 2 ? 3.0 : 0.0, got = 0;
        int sig = sigsetjmp(back, 1);
        if (!sig) {
            x87(i == 0 ? 0x37b : i == 1 ? 0x37e : i == 2 ? 0x35f : i == 3 ? 0x37e : 0x37b);
            if (i < 4)
                __asm__ volatile("lea 1f(%%rip), %%rax\n mov %%rax, %0\n fldl %3\n fdivl %4\n fnstsw %1\n nop\n"
                                 "1: fstpl %2\n fwait"
                                 : "=m"(label), "=m"(sw), "=m"(got) : "m"(a), "m"(b) : "rax", "memory");
            else if (i == 4)
                __asm__ volatile("lea 1f(%%rip), %%rax\n mov %%rax, %0\n fldl %3\n fdivl %4\n fnstsw %1\n"
                                 "1: fwait\n fstpl %2"
                                 : "=m"(label), "=m"(sw), "=m"(got) : "m"(a), "m"(b) : "rax", "memory");
            else
                __asm__ volatile("lea 1f(%%rip), %%rax\n mov %%rax, %0\n fldl %3\n fdivl %4\n fnclex\n fnstsw %1\n"
                                 "1: fwait\n fstpl %2"
                                 : "=m"(label), "=m"(sw), "=m"(got) : "m"(a), "m"(b) : "rax", "memory");
        }
        report("x87", sig);
        if (sig)
            printf(" rip %d status %x", at == label, status & 0x80bf);
        printf(" sw %x got %a\n", sw & 0x80bf, sig ? 0.0 : got);
        x87(0x37f);
    }
    return 0;
}
