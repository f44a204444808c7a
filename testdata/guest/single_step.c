// covers: rt_sigaction rt_sigreturn getppid
// flags: -fno-pie -no-pie -mno-red-zone
// EFLAGS.TF, by which a program has itself stopped after each instruction; and EFLAGS.RF, which the frame
// of a fault has and that of a trap has not. CPUs differ in it between the turns of a repeated instruction,
// and in the first eight bytes of ten of which two cannot be stored.
#include "guest.h"
#include <sys/mman.h>
#include <ucontext.h>

extern const char first[], last[];
static void on_trap(int s, siginfo_t *i, void *c)
{
    ucontext_t *u = c;
    unsigned long rip = u->uc_mcontext.gregs[REG_RIP];
    if (rip < (unsigned long)first || rip > (unsigned long)last)
        return;
    printf("%d code %d trap %lld at +%ld, address there: %d, rcx %lld, TF and RF %llx\n", s, i->si_code,
           (long long)u->uc_mcontext.gregs[REG_TRAPNO], rip - (unsigned long)first, (unsigned long)i->si_addr == rip,
           rip - (unsigned long)first < 4 ? (long long)u->uc_mcontext.gregs[REG_RCX] : 0,
           (long long)u->uc_mcontext.gregs[REG_EFL] & (rip == (unsigned long)first ? 0x100 : 0x10100));
}

static unsigned long beyond;
static void on_fault(int s, siginfo_t *i, void *c)
{
    ucontext_t *u = c;
    printf("%d code %d trap %lld RF %d\n", s, i->si_code, (long long)u->uc_mcontext.gregs[REG_TRAPNO],
           (int)(u->uc_mcontext.gregs[REG_EFL] >> 16 & 1));
    u->uc_mcontext.gregs[REG_RIP] = beyond;
}

#define FAULT(insn) \
    __asm__ volatile("lea 1f(%%rip), %%rax; mov %%rax, %0; " insn "; 1:" : "=m"(beyond) : "r"(nowhere) \
                     : "rax", "rcx", "rdx", "memory", "cc")

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &sa, NULL);
    /* RF stays through a repeated instruction that has touched a new page. */
    static char from[16] = "0123456789abcde", to[16];
    memset(to, '-', sizeof to);
    unsigned long rdi = (unsigned long)to, rsi = (unsigned long)from, rcx = 3, rax = SYS_getppid;
    __asm__ volatile("lock orb $0, (%%rdi); lock orb $0, (%%rsi); pushf; orq $0x100, (%%rsp); popf\n"
                     "first: rep movsb\n"
                     "jz 1f; jnz 1f; nop\n"
                     "1: call 2f; jmp 3f\n"
                     "2: ret\n"
                     "3: syscall\n"
                     "nop; nop\n"
                     "xor %%ecx, %%ecx; rep stosb\n"
                     "xor %%eax, %%eax; cpuid; xor %%ecx, %%ecx; rdtsc\n"
                     "lock incl (%%rsi)\n"
                     "pushf; andq $~0x100, (%%rsp); popf\n"
                     "nop\n"
                     "last: nop\n"
                     : "+D"(rdi), "+S"(rsi), "+c"(rcx), "+a"(rax) : : "rbx", "rdx", "r11", "memory", "cc");
    printf("%.3s\n", to);

    sa.sa_sigaction = on_fault;
    for (int s = 1; s < 32; s++)
        sigaction(s, &sa, NULL);
    char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FAULT("mov (%1), %%al");
    FAULT("clflush (%1)");
    FAULT("ud2");
    FAULT("hlt");
    FAULT("xor %%ecx, %%ecx; div %%ecx");
    FAULT("int3");
    FAULT("mov $1, %%eax; ror $1, %%rax; mov (%%rax), %%al");
    FAULT("mov $1, %%eax; ror $1, %%rax; clflush (%%rax)");
    /* The operand ends where addresses are not canonical. */
    FAULT("mov $0x7ffffffffffc, %%rax; mov (%%rax), %%rax");

    /* What faults has stored nothing, and changed no register. */
    char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(two, 'a', 8192);
    mprotect(two + 4096, 4096, PROT_READ);
    nowhere = two + 4096 - 32;
    FAULT("fnsave -40(%1)");
    FAULT("fnstenv 8(%1)");
    FAULT("fxsave -32(%1)");
    FAULT("fldz; fstpt 24(%1)");
    FAULT("fbstp 24(%1)");
    FAULT("fld1; fadd %%st(0); fldl2e; fstpl 28(%1)");
    unsigned short status;
    __asm__ volatile("fnstsw %0; fninit" : "=m"(status));
    printf("status %x\n", status & 0x3f);
    munmap(two + 4096, 4096);
    FAULT("fldenv 8(%1)");
    for (int i = 0; i < 4096; i++)
        if (two[i] != 'a' && i / 8 != (4096 - 32 + 24) / 8) {
            printf("stored at %d\n", i);
            break;
        }
    return 0;
}
