// covers: rt_sigaction rt_sigreturn
#include "guest.h"
#include <setjmp.h>
#include <ucontext.h>

static sigjmp_buf back;
static siginfo_t seen;
static unsigned long rip, trap, error, cr2;
static void jump(int s, siginfo_t *i, void *c)
{
    ucontext_t *u = c;
    seen = *i;
    rip = u->uc_mcontext.gregs[REG_RIP];
    trap = u->uc_mcontext.gregs[REG_TRAPNO];
    error = u->uc_mcontext.gregs[REG_ERR];
    cr2 = u->uc_mcontext.gregs[REG_CR2];
    siglongjmp(back, s);
}

static char *page;
static int mended;
static void mend(int s, siginfo_t *i, void *c)
{
    (void)s, (void)c;
    mended++;
    seen = *i;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void edit(int s, siginfo_t *i, void *c)
{
    (void)s, (void)i;
    greg_t *g = ((ucontext_t *)c)->uc_mcontext.gregs;
    g[REG_RIP] += 2;
    g[REG_RAX] = 0x1122334455667788;
    g[REG_R15] = 15;
    g[REG_EFL] |= 1;
}

static void handle(int s, void (*f)(int, siginfo_t *, void *), int flags)
{
    struct sigaction sa = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | flags};
    sigaction(s, &sa, NULL);
}

#define TRY(what, code)                                                                                    \
    do {                                                                                                   \
        int s_ = sigsetjmp(back, 1);                                                                       \
        if (s_ == 0) {                                                                                     \
            code;                                                                                          \
            printf("%s: no signal\n", what);                                                               \
        } else {                                                                                           \
            printf("%s: signal %d code %d errno %d trap %lu error %lu\n", what, s_, seen.si_code, seen.si_errno, trap, error); \
        }                                                                                                  \
    } while (0)

int main(void)
{
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP)
            handle(s, jump, 0);
    page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int one = 1, zero = 0, minimum = INT32_MIN, minus = -1, result;
    volatile long lminimum = INT64_MIN;

    /* A page that is there already. */
    (void)*(volatile char *)page;
    TRY("read of nothing", (void)*(volatile char *)16);
    is(seen.si_addr == (void *)16 && cr2 == 16);
    TRY("write to nothing", *(volatile char *)24 = 1);
    is(seen.si_addr == (void *)24);
    TRY("write to a read-only page", *(volatile char *)(page + 5) = 1);
    is(seen.si_addr == page + 5);
    TRY("not canonical", (void)*(volatile char *)0x8000000000000000);
    is(seen.si_addr == 0);
    TRY("kernel half", (void)*(volatile char *)0xffffffff80000000);
    TRY("jump to nothing", ((void (*)(void))32)());
    is(seen.si_addr == (void *)32 && rip == 32);
    TRY("jump to data", ((void (*)(void))page)());
    is(seen.si_addr == page && rip == (unsigned long)page);
    TRY("jump, not canonical", ((void (*)(void))0x8000000000000000)());
    TRY("divide by zero", result = one / zero);
    is(seen.si_addr == (void *)rip);
    TRY("remainder by zero", result = one % zero);
    TRY("divide overflow", result = minimum / minus);
    TRY("long overflow", lminimum = lminimum / minus);
    TRY("ud2", __asm__ volatile("ud2"));
    is(seen.si_addr == (void *)rip);
    TRY("int3", __asm__ volatile("int3"));
    TRY("hlt", __asm__ volatile("hlt"));
    TRY("cli", __asm__ volatile("cli"));
    TRY("in", __asm__ volatile("in $0x10, %%al" ::: "eax"));
    TRY("read cr0", __asm__ volatile("mov %%cr0, %%rax" ::: "rax"));
    TRY("bad opcode", __asm__ volatile(".byte 0x06"));
    TRY("a straddling read", (void)*(volatile long *)(page + 8192 - 4));

    /* The handler mends the page, the instruction runs again. */
    handle(SIGSEGV, mend, 0);
    mprotect(page, 4096, PROT_NONE);
    volatile char *v = page + 7;
    *v = 'm';
    printf("%c after %d\n", *v, mended);
    is(seen.si_addr == page + 7 && seen.si_code == SEGV_ACCERR);
    mprotect(page, 4096, PROT_READ);
    __atomic_fetch_add((int *)(page + 8), 5, __ATOMIC_SEQ_CST);
    printf("%d after %d\n", *(int *)(page + 8), mended);
    mprotect(page, 4096, PROT_READ);
    memset(page + 100, 'r', 50);
    printf("%c after %d\n", page[149], mended);
    mprotect(page, 4096, PROT_NONE);
    __asm__ volatile("rep movsb" ::"D"(page + 200), "S"("string ops"), "c"(10L) : "memory");
    printf("%.10s after %d\n", page + 200, mended);

    /* The handler steps over an instruction and edits registers. */
    handle(SIGILL, edit, 0);
    unsigned long rax = 1, r15 = 1;
    unsigned char carry = 0;
    __asm__ volatile("clc\n\tud2\n\tsetc %2\n\tmov %%r15, %1" : "=a"(rax), "=r"(r15), "=r"(carry) : "0"(1L) : "r15", "cc");
    printf("%lx %lu %d\n", rax, r15, carry);

    /* After int3 the address is behind it, so going on needs no edit. */
    handle(SIGTRAP, mend, 0);
    __asm__ volatile("int3");
    printf("after int3: %d code %d\n", mended, seen.si_code);

    /* Vector registers and the control words survive a handler. */
    handle(SIGILL, edit, 0);
    double d = 1.5;
    __asm__ volatile("movapd %%xmm0, %%xmm7\n\tud2\n\tmovapd %%xmm7, %%xmm0" : "+Yz"(d)::"rax", "r15", "xmm7");
    printf("%.2f\n", d);
    return 0;
}
