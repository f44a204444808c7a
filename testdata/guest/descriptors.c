// covers: rt_sigaction rt_sigreturn sigaltstack
// flags: -fno-pie -no-pie
// Descriptor tables as user code sees them; faults that name a selector, a gate or the stack.
#include "faulting.h"
#include <sys/mman.h>

static void skip(int s, siginfo_t *i, void *c)
{
    note_fault(s, i, c);
}

/* One instruction at label 1, with `value` in RAX, and RSP and RBP kept. */
#define RUN(insn, value)                                                                           \
    ({                                                                                             \
        unsigned long v_ = (unsigned long)(value);                                                 \
        sig = 0;                                                                                   \
        __asm__ volatile("lea 2f(%%rip), %%rcx\n mov %%rcx, resume(%%rip)\n"                       \
                         "lea 1f(%%rip), %%rcx\n mov %%rcx, at(%%rip)\n"                           \
                         "mov %%rsp, %%r15\n mov %%rbp, %%r14\n stc\n"                             \
                         "1: " insn "\n 2: mov %%r15, %%rsp\n mov %%r14, %%rbp\n"                  \
                         : "+a"(v_) : : "rcx", "rdx", "rbx", "r12", "r13", "r14", "r15", "rdi", "memory", "cc"); \
        v_;                                                                                        \
    })

static void report(const char *what)
{
    printf("%s:", what);
    if (sig)
        printf(" signal %d code %d trap %ld error %lx address %p rip %+ld", sig, code, trap, error, addr,
               (long)(rip - at));
}

/* Which bytes are stored: with two patterns before. */
#define STORES(insn)                                                                               \
    do {                                                                                           \
        unsigned char a[32], b[32];                                                                \
        memset(a, 0x55, sizeof a), memset(b, 0xaa, sizeof b);                                      \
        RUN(insn, a + 3);                                                                          \
        RUN(insn, b + 3);                                                                          \
        report(insn);                                                                              \
        for (int i = 0; i < 32; i++)                                                               \
            if (a[i] == b[i])                                                                      \
                printf(" %d", i - 3);                                                              \
        puts("");                                                                                  \
    } while (0)

/* Low half of a register: what becomes of the high one depends on who answers. */
#define ANSWERS(insn)                                                                              \
    do {                                                                                           \
        unsigned long v = RUN(insn, 0x1122334455667788);                                           \
        report(insn);                                                                              \
        printf(" %x\n", (unsigned)v);                                                              \
    } while (0)

#define FAULTS(insn, value)                                                                        \
    do {                                                                                           \
        RUN(insn, value);                                                                          \
        report(insn);                                                                              \
        printf(" [%lx]\n", (unsigned long)(value));                                                \
    } while (0)

static char area[64];
int main(void)
{
    take_faults(skip);

    STORES("sgdt (%%rax)");
    STORES("sidt (%%rax)");
    STORES(".byte 0x66, 0x0f, 0x01, 0x00");
    STORES(".byte 0x48, 0x0f, 0x01, 0x08");
    STORES("sldt (%%rax)");
    STORES("str (%%rax)");
    STORES("smsw (%%rax)");
    STORES(".byte 0x48, 0x0f, 0x01, 0x20");
    STORES(".byte 0x66, 0x0f, 0x00, 0x08");
    STORES("lea 8(%%rax), %%rdx\n smsw -8(%%rdx)");
    ANSWERS("smsw %%ax");
    ANSWERS("smsw %%eax");
    ANSWERS(".byte 0x48, 0x0f, 0x01, 0xe0");
    ANSWERS(".byte 0x66, 0x48, 0x0f, 0x01, 0xe0");
    ANSWERS("sldt %%ax");
    ANSWERS("sldt %%eax");
    ANSWERS(".byte 0x48, 0x0f, 0x00, 0xc0");
    ANSWERS("str %%ax");
    ANSWERS("str %%eax");
    ANSWERS("mov %%rax, %%r12\n smsw %%r12w\n mov %%r12, %%rax");
    /* Lines that no cache holds. */
    static char cold[3][4096];
    RUN("sgdt (%%rax)", cold[0] + 1024), RUN("sidt (%%rax)", cold[1] + 1024), RUN("smsw (%%rax)", cold[2] + 1024);
    report("cold");
    puts("");
    /* The flags are left alone. */
    printf("carry %lx\n", RUN("smsw %%dx\n sbb %%rax, %%rax", 0));

    char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 4096);
    int unmapped[] = {0, 0x1000, 0x1234};
    for (unsigned i = 0; i < sizeof unmapped / sizeof *unmapped; i++) {
        FAULTS("sgdt (%%rax)", unmapped[i]);
        FAULTS("sidt 16(%%rax)", unmapped[i]);
        FAULTS("smsw (%%rax)", unmapped[i]);
        FAULTS("sldt (%%rax)", unmapped[i]);
        FAULTS("str (%%rax)", unmapped[i]);
    }
    /* What changes the tables is for the kernel. */
    FAULTS("lgdt (%%rax)", area);
    FAULTS("lidt (%%rax)", area);
    FAULTS("lldt %%ax", 0);
    FAULTS("ltr %%ax", 0);
    FAULTS("lmsw %%ax", 0x33);
    FAULTS("mov %%cr0, %%rax", 0);

    /* The error code has the selector without its privilege level. */
    int selectors[] = {0x08, 0x10, 0x1b, 0x63, 0x6b, 0x07, 0x1234, 0x1237, 0xffff, 0x2f};
    for (unsigned i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        FAULTS("mov %%eax, %%ds", selectors[i]);
        FAULTS("mov %%eax, %%es", selectors[i]);
        FAULTS("mov %%eax, %%gs", selectors[i]);
        FAULTS("mov %%eax, %%ss", selectors[i]);
    }
    FAULTS("mov %%eax, %%ss", 0);
    FAULTS("mov %%eax, %%ss", 3);
    FAULTS("mov %%eax, %%ss", 0x28);
    FAULTS("mov %%eax, %%ss", 0x33);
    /* Another fault after it has none. */
    FAULTS("hlt", 0);

    /* So has that of a gate which is not for user code. */
    FAULTS("int $0", 0);
    FAULTS("int $1", 0);
    FAULTS("int $2", 0);
    FAULTS(".byte 0xcd, 3", 0);
    FAULTS("int $4", 0);
    FAULTS("int $13", 0);
    FAULTS("int $14", 0);
    FAULTS("int $0x20", 0);
    FAULTS("int $0xff", 0);
    FAULTS("int3", 0);

    /* Addresses that are not canonical, through SS and through DS. */
    unsigned long far = 0x800000000100;
    FAULTS("mov (%%rax), %%ecx", far);
    FAULTS("mov %%ecx, (%%rax)", far);
    FAULTS("mov %%rax, %%rbp\n 1: mov (%%rbp), %%ecx", far);
    FAULTS("mov %%rax, %%rbp\n 1: mov %%ecx, 16(%%rbp,%%rax)", far);
    FAULTS("mov %%rax, %%rsp\n 1: mov 8(%%rsp), %%ecx", far);
    FAULTS("mov %%rax, %%rsp\n 1: push %%rcx", far);
    FAULTS("mov %%rax, %%rsp\n 1: pop %%rcx", far);
    FAULTS("mov %%rax, %%rsp\n 1: call 2f", far);
    FAULTS("mov %%rax, %%rsp\n 1: ret", far);
    FAULTS("mov %%rax, %%rsp\n 1: pushf", far);
    FAULTS("mov %%rax, %%rsp\n 1: popf", far);
    FAULTS("mov %%rax, %%rbp\n 1: leave", far);
    FAULTS("mov %%rax, %%rsp\n 1: push (%%rcx)", far);
    FAULTS("push (%%rax)", far);
    FAULTS("mov %%rax, %%r12\n 1: mov (%%r12), %%ecx", far);
    FAULTS("mov %%rax, %%r13\n 1: mov (%%r13), %%ecx", far);
    FAULTS("mov %%rax, %%rbp\n 1: mov %%gs:(%%rbp), %%ecx", far);
    FAULTS("mov %%rax, %%rbp\n 1: .byte 0x3e, 0x8b, 0x4d, 0x00", far);
    FAULTS("mov %%rax, %%rdi\n 1: stosb", far);
    FAULTS("mov %%rax, %%rbp\n 1: addps (%%rbp), %%xmm0", far);
    FAULTS("mov %%rax, %%rbp\n 1: fldt (%%rbp)", far);
    FAULTS("mov %%rax, %%rbp\n 1: lock incl (%%rbp)", far);
    return 0;
}
