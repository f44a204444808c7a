// covers: rt_sigaction rt_sigreturn
/* IRET and far RET to the same code segment, and what they refuse. */
#include "guest.h"
#include <ucontext.h>

static volatile long trap, error, rip, rsp, addr, eflags;
static volatile int sig, code;
long saved, landed_rsp, landed_flags, landed_ss;
extern char resume[];

/* Jumps to `code` with RSP at the frame and these flags; what it returns to jumps to RBX. */
void go(char *frame, char *code, long flags);
__asm__("go: push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, saved(%rip)\n lea landed(%rip), %rbx\n push %rdx\n popfq\n mov %rdi, %rsp\n jmp *%rsi\n"
        "landed: mov %rsp, landed_rsp(%rip)\n mov saved(%rip), %rsp\n pushfq\n popq landed_flags(%rip)\n"
        "mov %ss, %eax\n mov %rax, landed_ss(%rip)\n"
        "resume: mov saved(%rip), %rsp\n pushq $0x202\n popfq\n cld\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret");

static void handler(int s, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    sig = s, code = info->si_code, addr = (long)info->si_addr;
    trap = regs[REG_TRAPNO], error = regs[REG_ERR];
    rip = regs[REG_RIP], rsp = regs[REG_RSP], eflags = regs[REG_EFL];
    regs[REG_EFL] = 0x202;
    regs[REG_RIP] = (long)resume;
}

static const struct insn {
    const char *name;
    char bytes[4];
    int size, pops;
} iretq = {"iretq", "\x48\xcf", 8, 5}, iretl = {"iretl", "\xcf", 4, 5}, iretw = {"iretw", "\x66\xcf", 2, 5},
  lretq = {"lretq", "\x48\xcb", 8, 2}, lretl = {"lretl", "\xcb", 4, 2}, lretw = {"lretw", "\x66\xcb", 2, 2},
  drops = {"lretq 0x8008", "\x48\xca\x08\x80", 8, 2}, both = {"data16 iretq", "\x66\x48\xcf", 8, 5};

/* The code, and a frame in a page before one that is not there; all in the low 4 GiB. */
static char *low, *page, *frame;
static int nowhere;

static void run(const struct insn *insn, long flags)
{
    memcpy(low, insn->bytes, sizeof insn->bytes);
    sig = 0;
    go(frame, low, flags);
    if (!sig)
        printf("%s: rsp %+ld flags %lx ss %lx\n", insn->name, landed_rsp - (long)page, landed_flags, landed_ss);
    else
        printf("%s: signal %d code %d trap %ld error %lx address %lx rip %s%+ld rsp %+ld flags %lx\n", insn->name, sig,
               code, trap, error, nowhere ? 0 : addr < 1 << 16 || addr >> 46 ? addr : addr - (long)page,
               rip >> 12 == (long)low >> 12 ? "there" : "", rip >> 12 == (long)low >> 12 ? rip - (long)low : rip >> 16 << 16,
               rsp - (long)frame, eflags);
}

static void try(const struct insn *insn, long flags, long ip, long cs, long new_flags, long sp, long ss)
{
    long values[] = {ip, cs, new_flags, sp, ss};
    memset(page, 0xaa, 4096);
    for (int i = 0; i < insn->pops; i++)
        memcpy(frame + i * insn->size, &values[i], insn->size);
    run(insn, flags);
}

int main(void)
{
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    for (int all[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP}, i = 0; i < 4; i++)
        sigaction(all[i], &act, NULL);
    page = mmap((void *)0x20000000, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    frame = page + 2048;
    long to = (long)low + 16, sp = (long)page + 1024;
    memcpy((char *)to, "\xff\xe3", 2);
    const struct insn *wide[] = {&iretq, &iretl, &lretq, &lretl, &drops, &both}, *narrow[] = {&iretw, &lretw};

    static const long segments[] = {0x33, 0, 1, 3, 0x30, 0x31, 0x32, 0x2b, 0x28, 0x10, 0x13, 0x43,
                                    0x7b, 0x1f, 0x37, 0x3b, 0x83, 0xffff};
    for (unsigned i = 0; i < sizeof segments / sizeof *segments; i++) {
        printf("code segment %lx\n", segments[i]);
        for (int j = 0; j < 6; j++)
            /* What AMD's CPUs read of an outer stack before they refuse is not there. */
            if (wide[j] != &drops || i == 0)
                try(wide[j], 0x202, to, segments[i], 0x202, sp, 0x2b);
        /* Nothing is at an address of sixteen bits. */
        for (int j = 0; j < 2; j++)
            try(narrow[j], 0x202, to, segments[i], 0x202, sp, 0x2b);
        printf("stack segment %lx\n", segments[i]);
        for (int j = 0; j < 2; j++)
            try(wide[j], 0x202, to, 0x33, 0x202, sp, segments[i]);
    }
    printf("more than a selector\n");
    try(&iretq, 0x202, to, 0x1234567800000033, 0x202, sp, 0x7fffffffffff002b);
    try(&lretq, 0x202, to, 0x7ffffffffff90033, 0x202, sp, 0x2b);

    static const long before[] = {0x202, 0xed7};
    for (int i = 0; i < 2; i++)
        for (int bit = 0; bit < 64; bit++) {
            printf("from flags %lx, bit %d\n", before[i], bit);
            for (int j = 0; j < (bit < 32 ? 2 : 1); j++)
                for (long flags = 1l << bit, k = 0; k < 2; k++, flags = ~flags)
                    try(wide[j], before[i], to, 0x33, flags & ~0x100, sp, 0x2b);
        }
    printf("a nested task\n");
    for (int j = 0; j < 3; j++)
        try(wide[j], 0x4202, to, 0x33, 0x202, sp, 0x2b);
    printf("a single step\n");
    memcpy((char *)to, "\x90\xff\xe3", 3);
    for (int j = 0; j < 2; j++)
        try(wide[j], 0x202, to, 0x33, 0x302, sp, 0x2b);
    memcpy((char *)to, "\xff\xe3", 2);

    static const long targets[] = {0x800000000000, 0x8000000000000000, 0xffff7fffffffffff,
                                   0xffff800000000000, 0x1000, 0x7ffffffff000};
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++) {
        printf("target %lx\n", targets[i]);
        try(&iretq, 0x202, targets[i], 0x33, 0x202, sp, 0x2b);
        try(&lretq, 0x202, targets[i], 0x33, 0x202, sp, 0x2b);
        printf("stack pointer %lx\n", targets[i]);
        try(&iretq, 0x202, to, 0x33, 0x202, targets[i], 0x2b);
    }
    /* Which part of a frame is missed first is the CPU's choice, and how much it reads for a selector. */
    nowhere = 1;
    for (int bytes = 0; bytes <= 40; bytes += 8) {
        long values[] = {to, 0x33, 0x202, sp, 0x2b};
        memset(page, 0xaa, 4096);
        frame = page + 4096 - bytes;
        memcpy(frame, values, bytes);
        printf("%d bytes\n", bytes);
        run(&iretq, 0x202), run(&lretq, 0x202);
    }
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++) {
        printf("frame at %lx\n", targets[i]);
        frame = (char *)targets[i];
        if (i != 2)
            run(&iretq, 0x202), run(&lretq, 0x202);
    }
    nowhere = 0;
    for (int off = 0; off < 8; off += 2) {
        printf("frame at +%d, alignment checked\n", off);
        frame = page + 2048 + off;
        try(&iretq, 0x40202, to, 0x33, 0x202, sp, 0x2b);
        try(&iretl, 0x40202, to, 0x33, 0x40202, sp, 0x2b);
        try(&iretw, 0x40202, to, 0x33, 0x202, sp, 0x2b);
        try(&lretq, 0x40202, to, 0x33, 0x202, sp, 0x2b);
        try(&lretl, 0x40202, to, 0x33, 0x202, sp, 0x2b);
    }
    frame = page + 2048;
    long sum = 0;
    for (long i = 0; i < 1000; i++)
        __asm__ volatile("mov %%rsp, %%rax\n mov %%ss, %%ecx\n sub $128, %%rsp\n push %%rcx\n push %%rax\n pushfq\n"
                         "mov %%cs, %%ecx\n push %%rcx\n lea 1f(%%rip), %%rcx\n push %%rcx\n iretq\n add $100, %0\n"
                         "1: inc %0\n sub $128, %%rsp\n mov %%cs, %%ecx\n push %%rcx\n lea 2f(%%rip), %%rcx\n"
                         "push %%rcx\n lretq $128\n add $100, %0\n 2: inc %0"
                         : "+r"(sum) : : "rax", "rcx", "memory", "cc");
    num(sum);
    return 0;
}
