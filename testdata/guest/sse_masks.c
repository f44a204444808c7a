// covers: rt_sigaction rt_sigreturn
// flags: -O1 -msse4.1 -mno-red-zone
// Results of SSE arithmetic over operands and masks of exceptions, or what the handler of an exception
// finds in MXCSR.
#include "guest.h"
#include <ucontext.h>

static const uint64_t D[] = {
    0, 1ull << 63, 0x3ff0000000000000, 0xbff8000000000000, 1, 0x8000000000000003, 0xfffffffffffff,
    0x10000000000000, 0x8020000000000000, 0x1fffffffffffff, 0x3fd5555555555555, 0x7fefffffffffffff,
    0xffe0000000000000, 0x7fd0000000000001, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001,
    0x7ff4000000000001, 0x3e50000000000001, 0x2000000000000000, 0x1ff0000000000001, 0x5ff0000000000000,
    0x6000000000000003, 0x3ca0000000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000,
    0x380ffffff0000000, 0x380fffffe0000000, 0x36a0000000000000, 0x3690000000000001,
};
static const uint32_t F[] = {
    0, 1u << 31, 0x3f800000, 0xbfc00000, 1, 0x80000003, 0x7fffff, 0x800000, 0x81000000, 0xffffff, 0x3eaaaaab,
    0x7f7fffff, 0xff000000, 0x7e800001, 0x7f800000, 0xff800000, 0x7fc00001, 0x7fa00001, 0x33800001, 0x20000000,
    0x1f800001, 0x5f800000, 0x60000003, 0x34000000, 0x4b000001, 0x4f000000, 0xcf000000, 0x4effffff, 0x33000000,
    0x3effffff, 0x3f000001,
};
enum { N = sizeof D / sizeof D[0] };
_Static_assert(N == sizeof F / sizeof F[0], "as many of both");

static uint64_t hash;
static unsigned raised, masked = 0x1f80;
static void on_error(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i;
    ucontext_t *u = c;
    raised = u->uc_mcontext.fpregs->mxcsr | 0x10000;
    u->uc_mcontext.fpregs->mxcsr = masked;
    u->uc_mcontext.gregs[REG_RIP] = u->uc_mcontext.gregs[REG_R15];
}
static void mix(uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
}

#define RUN(what, type, of) \
    static void what(unsigned mxcsr) \
    { \
        enum { LANES = 16 / sizeof(type) }; \
        for (int i = 0; i < N; i++) \
            for (int j = 0; j < N; j++) { \
                type a[LANES], b[LANES]; \
                uint64_t r[2]; \
                for (int k = 0; k < LANES; k++) \
                    a[k] = of[(i + k * (j & 1)) % N], b[k] = of[(j + k * (i & 1) * 3) % N]; \
                __asm__ volatile("movups %2, %%xmm0; movups %3, %%xmm1; lea 1f(%%rip), %%r15; ldmxcsr %4; " #what \
                                 " %%xmm1, %%xmm0; stmxcsr %1; 1: ldmxcsr %5; movups %%xmm0, %0" \
                                 : "=m"(r), "=m"(raised) : "m"(a), "m"(b), "m"(mxcsr), "m"(masked) \
                                 : "r15", "xmm0", "xmm1", "memory"); \
                mix(raised), mix(r[0]), mix(r[1]); \
            } \
    }
#define ALL(run) \
    run(addsd, uint64_t, D) run(subsd, uint64_t, D) run(mulsd, uint64_t, D) run(divsd, uint64_t, D) \
    run(cvtsd2ss, uint64_t, D) run(mulpd, uint64_t, D) run(divpd, uint64_t, D) run(cvtpd2ps, uint64_t, D) \
    run(haddpd, uint64_t, D) run(sqrtpd, uint64_t, D) run(maxpd, uint64_t, D) run(cmplepd, uint64_t, D) \
    run(addss, uint32_t, F) run(mulss, uint32_t, F) run(divss, uint32_t, F) run(mulps, uint32_t, F) \
    run(divps, uint32_t, F) run(addps, uint32_t, F) run(cvtss2sd, uint32_t, F) run(cvtps2dq, uint32_t, F)
ALL(RUN)
#define NAME(what, ...) {#what, what},
static const struct {
    const char *name;
    void (*run)(unsigned);
} tests[] = {ALL(NAME)};

int main(void)
{
    struct sigaction sa = {.sa_sigaction = on_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGFPE, &sa, NULL);
    /* All masked, some not, none; roundings, FTZ and DAZ; inexact before. */
    static const unsigned words[] = {0x1f80, 0x1b80, 0x1780, 0x0f80, 0x1e80, 0x0000, 0x5b80, 0x7780, 0x9f80, 0x17c0, 0x1fa0, 0x1fe0, 0x9fe0};
    for (unsigned t = 0; t < sizeof tests / sizeof tests[0]; t++) {
        hash = 1;
        for (unsigned w = 0; w < sizeof words / sizeof words[0]; w++)
            tests[t].run(words[w]);
        printf("%s %016llx\n", tests[t].name, (unsigned long long)hash);
    }
    return 0;
}
