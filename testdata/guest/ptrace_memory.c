// covers: ptrace wait4
// flags: -fno-pie -no-pie -O1
// Memory and registers of a tracee - words of every kind of page, breakpoints in its code, which is shared with
// the tracer, general registers, x87 and SSE, and what it then goes on with.
#include "tracing.h"

static long word = 0x1122334455667788;
static const long constant = 0x0102030405060708;
static char *none, *shared, *shown;

__attribute__((noinline)) static int answer(int given)
{
    __asm__ volatile("" : "+r"(given));
    return given + 1;
}

static void work(void)
{
    double x = 1.5;
    long r12, r13 = 13;
    __asm__ volatile("movsd %2, %%xmm5; mov $12, %%r12; int3; mov %%r12, %0; movsd %%xmm5, %2; mov %%r13, %1"
                     : "=r"(r12), "+r"(r13), "+m"(x) : : "r12", "xmm5", "memory");
    printf("word %lx, r12 %ld, xmm5 %g\n", word, r12, x);
    printf("answer %d, constant %lx, none %x\n", answer(41), *(volatile const long *)&constant,
           mprotect(none, 4096, PROT_READ) ? 0 : *(unsigned char *)none);
    _exit(3);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shown = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = tracee(work);
    long got = 0;
    await("first", pid);
    SAY(PEEKDATA, pid, &word, &got);
    printf("%lx\n", got);
    SAY(PEEKTEXT, pid, (char *)&word + 3, &got);
    printf("%lx\n", got & 0xffffffffff);
    SAY(POKEDATA, pid, &word, 0x42);
    printf("own %lx\n", word);
    SAY(POKEDATA, pid, &constant, 0x1000);
    printf("own %lx\n", *(volatile const long *)&constant);
    SAY(PEEKDATA, pid, none, &got);
    SAY(POKEDATA, pid, none, 0x99);
    SAY(PEEKDATA, pid, none, &got);
    printf("%lx\n", got);
    SAY(PEEKDATA, pid, shared, &got);
    SAY(POKEDATA, pid, shared, 1);
    SAY(POKEDATA, pid, shown, 0x77);
    printf("shown %x\n", *shown);
    SAY(PEEKDATA, pid, none + 4092, &got);
    SAY(PEEKDATA, pid, 16, &got);
    SAY(POKEDATA, pid, 16, 1);
    SAY(PEEKDATA, pid, KERNEL, &got);
    SAY(PEEKDATA, pid, &word, BAD);
    /* A breakpoint in code that both have mapped. */
    long code = 0;
    SAY(PEEKTEXT, pid, answer, &code);
    SAY(POKETEXT, pid, answer, (code & ~0xffL) | 0xcc);
    printf("own answer %d\n", answer(1));
    NEXT(CONT, pid, 0);
    struct user_regs_struct regs = registers(pid);
    printf("r12 %llx\n", regs.r12);
    regs.r12 = 1212;
    SAY(SETREGS, pid, 0, &regs);
    struct user_fpregs_struct fp;
    SAY(GETFPREGS, pid, 0, &fp);
    double x;
    memcpy(&x, (char *)fp.xmm_space + 5 * 16, sizeof x);
    printf("xmm5 %g cwd %x mxcsr %x\n", x, fp.cwd, fp.mxcsr);
    x = 2.25;
    memcpy((char *)fp.xmm_space + 5 * 16, &x, sizeof x);
    SAY(SETFPREGS, pid, 0, &fp);
    NEXT(CONT, pid, 0);
    regs = registers(pid);
    printf("at the breakpoint: %d, rdi %lld, orig_rax %lld\n", regs.rip == (unsigned long)answer + 1, regs.rdi,
           (long long)regs.orig_rax);
    SAY(POKETEXT, pid, answer, code);
    SAY(POKEUSER, pid, offsetof(struct user_regs_struct, rip), answer);
    SAY(POKEUSER, pid, offsetof(struct user_regs_struct, rdi), 99);
    SAY(PEEKUSER, pid, offsetof(struct user_regs_struct, rdi), &got);
    printf("rdi %ld\n", got);
    NEXT(CONT, pid, 0);

    /* Sets of registers. */
    pid = tracee(work);
    await("second", pid);
    long words[600];
    struct iovec iov = {words, sizeof words};
    SAY(GETREGSET, pid, 1, &iov);
    regs = registers(pid);
    printf("%zu, equal %d\n", iov.iov_len, !memcmp(words, &regs, sizeof regs));
    printf("cs %llx ss %llx ds %llx orig_rax %lld rax %lld\n", regs.cs, regs.ss, regs.ds, (long long)regs.orig_rax,
           (long long)regs.rax);
    iov.iov_len = 16;
    SAY(GETREGSET, pid, 1, &iov);
    printf("%zu\n", iov.iov_len);
    iov.iov_len = 15;
    SAY(GETREGSET, pid, 1, &iov);
    iov.iov_len = sizeof words;
    SAY(GETREGSET, pid, 2, &iov);
    printf("%zu\n", iov.iov_len);
    SAY(SETREGSET, pid, 2, &iov);
    iov.iov_len = 8;
    SAY(SETREGSET, pid, 2, &iov);
    words[0] = 15, words[1] = 14;
    iov.iov_len = 16;
    SAY(SETREGSET, pid, 1, &iov);
    regs = registers(pid);
    printf("r15 %lld r14 %lld\n", regs.r15, regs.r14);
    iov.iov_len = sizeof words;
    SAY(GETREGSET, pid, 0x201, &iov);
    SAY(GETREGSET, pid, 0x777, &iov);
    SAY(GETREGSET, pid, 1, BAD);
    iov.iov_base = BAD;
    SAY(GETREGSET, pid, 1, &iov);
    SAY(ARCH_PRCTL, pid, &got, 0x1003);
    printf("fs %d\n", got == (long)regs.fs_base && got != 0);
    SAY(ARCH_PRCTL, pid, &got, 0x1);

    /* What registers cannot be. The selectors that the CPU would take are not tried. */
    for (size_t at = 0; at < sizeof regs; at += 8) {
        int selector = at / 8 == 17 || at / 8 == 20 || at / 8 >= 23;
        long r = P(POKEUSER, pid, at, selector ? 0x28L : -1L);
        if (r)
            printf("%zu: %s\n", at / 8, strerrorname_np(-r));
    }
    regs = registers(pid);
    printf("flags %llx\n", regs.eflags);
    for (long at = 208; at < 944; at += at < 220 || at > 840 ? 8 : 64) {
        long r = P(PEEKUSER, pid, at, &got);
        printf("%ld: %ld %lx\n", at, r, got);
    }
    SAY(PEEKUSER, pid, 4, &got);
    SAY(PEEKUSER, pid, -8L, &got);
    SAY(POKEUSER, pid, 4, 0);
    SAY(POKEUSER, pid, 300, 0);
    SAY(POKEUSER, pid, 848, &word);
    SAY(PEEKUSER, pid, 848, &got);
    printf("%d\n", got == (long)&word);
    SAY(POKEUSER, pid, 848, KERNEL);
    SAY(POKEUSER, pid, 848 + 7 * 8, 0);
    SAY(POKEUSER, pid, 848 + 4 * 8, 0);
    SAY(GETREGS, pid, 0, BAD);
    SAY(SETREGS, pid, 0, BAD);
    SAY(GETFPREGS, pid, 0, BAD);
    SAY(SETFPREGS, pid, 0, BAD);
    SAY(KILL, pid, 0, 0);
    await("end", pid);
    return 0;
}
