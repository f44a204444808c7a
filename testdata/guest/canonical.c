// covers: rt_sigaction rt_sigreturn
// flags: -fno-pie -no-pie
// Jumps, calls and returns to addresses that are not canonical, or not the program's. Left out is the place
// below the stack of a call: AMD's CPUs store there before they refuse the target, Intel's do not.
#include "guest.h"
#include <ucontext.h>

static volatile int sig, code;
static volatile long trap, error;
static volatile unsigned long rip, rsp;
static void *volatile addr;
unsigned long resume __attribute__((used)), at __attribute__((used));
static unsigned long area[1024];

static void skip(int s, siginfo_t *i, void *c)
{
    ucontext_t *u = c;
    sig = s, code = i->si_code, addr = i->si_addr;
    trap = u->uc_mcontext.gregs[REG_TRAPNO];
    error = u->uc_mcontext.gregs[REG_ERR];
    rip = u->uc_mcontext.gregs[REG_RIP];
    rsp = u->uc_mcontext.gregs[REG_RSP];
    u->uc_mcontext.gregs[REG_RIP] = resume;
}

/* One instruction at label 1, with the target in RAX and at RDI, which is RSP too. */
#define GO(insn)                                                                                   \
    do {                                                                                           \
        unsigned long *p = area + 512;                                                             \
        memset(area, 0xaa, sizeof area);                                                           \
        *p = target;                                                                               \
        sig = 0, rsp = 0;                                                                          \
        __asm__ volatile("lea 2f(%%rip), %%rax\n mov %%rax, resume(%%rip)\n"                       \
                         "lea 1f(%%rip), %%rax\n mov %%rax, at(%%rip)\n"                           \
                         "mov %%rsp, %%r15\n mov %%rbp, %%r14\n mov (%%rdi), %%rax\n"              \
                         "mov %%rax, %%r11\n mov %%rdi, %%rsp\n"                                   \
                         "1: " insn "\n 2: mov %%r15, %%rsp\n mov %%r14, %%rbp"                    \
                         : "+D"(p)                                                                 \
                         :                                                                         \
                         : "rax", "rbx", "rcx", "rdx", "r11", "r14", "r15", "memory", "cc");       \
        printf("%016lx %s: signal %d code %d trap %ld error %lx address %p rip %s rsp %+ld below %d\n", target, \
               insn, sig, code, trap, error, addr, rip == at ? "there" : rip == target ? "target" : "elsewhere", \
               (long)(rsp - (unsigned long)(area + 512)), insn[0] == 'c' || area[511] == 0xaaaaaaaaaaaaaaaa);        \
    } while (0)

static char stack[65536];
int main(void)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction sa = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    int all[] = {SIGSEGV, SIGBUS, SIGILL};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        sigaction(all[i], &sa, NULL);
    static const unsigned long targets[] = {
        0x800000000000, 0x800000000003, 0xffff7fffffffffff, 0x8000000000000000, 0xff00000000000000,
        0x1000, 0x7ffffffff000, 0xffff800000000000,
    };
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++) {
        unsigned long target = targets[i];
        GO("jmp *%%rax");
        GO("jmp *%%r11");
        GO("jmp *(%%rdi)");
        GO("jmp *(%%rsp)");
        GO("call *%%rax");
        GO("call *%%r11");
        GO("call *(%%rdi)");
        GO("call *(%%rsp)");
        GO("ret");
        GO("ret $16");
        GO("ret $0x8008");
    }
    /* A handler's return goes where the frame says. */
    unsigned long target = 0x800000000000;
    for (int i = 0; i < 3; i++) {
        GO("call *%%rax");
        GO("nop\n nop\n mov $1, %%ecx\n jmp *%%rax");
    }
    return 0;
}
