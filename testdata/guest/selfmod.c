// covers: mmap read
/* Code that changes the code behind it, in its own block, the next, an earlier one, the next page and across pages,
 * by every kind of store: what runs then is the new code, as on any x86 CPU. */
#include "guest.h"

/* The stores. RDI points to the code to change, RSI to sixteen bytes of new code, whose first eight are in RAX and
 * all in XMM0; XMM1 and MM1 are all ones, MM0 has the first eight; R9 is the end of a pipe with the new code. Callee-
 * saved registers may change; R10 points to a number whose eighteen digits are code. */
#define STORES(X)                                                                                                     \
    X(movb, "mov %ah, 1(%rdi)")                                                                                       \
    X(movw, "mov %ax, (%rdi)")                                                                                        \
    X(movl, "mov %eax, (%rdi)")                                                                                       \
    X(movq, "mov %rax, (%rdi)")                                                                                       \
    X(movnti, "movnti %rax, (%rdi)")                                                                                  \
    X(immediate, "movb $7, 1(%rdi)")                                                                                  \
    X(stosb, "inc %rdi; shr $8, %eax; stosb")                                                                         \
    X(stosq, "stosq")                                                                                                 \
    X(rep_stosb_1, "inc %rdi; mov $5, %eax; mov $1, %ecx; rep stosb")                                                 \
    X(rep_stosb_3, "inc %rdi; mov $5, %eax; mov $3, %ecx; rep stosb")                                                 \
    X(rep_stosl, "mov $1, %ecx; rep stosl")                                                                           \
    X(rep_stosq, "mov $2, %ecx; rep stosq")                                                                           \
    X(std_stosb, "add $3, %rdi; mov $5, %eax; mov $3, %ecx; std; rep stosb; cld")                                     \
    X(movsb, "inc %rdi; inc %rsi; movsb")                                                                             \
    X(movsq, "movsq")                                                                                                 \
    X(rep_movsb, "mov $16, %ecx; rep movsb")                                                                          \
    X(rep_movsq, "mov $2, %ecx; rep movsq")                                                                           \
    X(addb, "addb $9, 1(%rdi)")                                                                                       \
    X(incl, "incl 1(%rdi)")                                                                                           \
    X(lock_incl, "lock incl 1(%rdi)")                                                                                 \
    X(notl, "notl 1(%rdi)")                                                                                           \
    X(shll, "shll $2, 1(%rdi)")                                                                                       \
    X(shldl, "mov $-1, %edx; shldl $3, %edx, 1(%rdi)")                                                                \
    X(setcc, "cmp %eax, %eax; sete 2(%rdi)")                                                                          \
    X(bts, "btsl $9, (%rdi)")                                                                                         \
    X(lock_btc, "mov $10, %edx; lock btcl %edx, (%rdi)")                                                              \
    X(xchg, "xchg %eax, (%rdi)")                                                                                      \
    X(xadd, "mov $0x300, %eax; xadd %eax, (%rdi)")                                                                    \
    X(lock_xadd, "mov $0x300, %eax; lock xadd %eax, (%rdi)")                                                          \
    X(cmpxchg, "mov %eax, %ecx; mov (%rdi), %eax; cmpxchg %ecx, (%rdi)")                                              \
    X(lock_cmpxchg, "mov %rax, %rcx; mov (%rdi), %rax; lock cmpxchg %rcx, (%rdi)")                                    \
    X(cmpxchg8b, "mov (%rsi), %ebx; mov 4(%rsi), %ecx; mov (%rdi), %eax; mov 4(%rdi), %edx; cmpxchg8b (%rdi)")        \
    X(cmpxchg16b_aligned, "mov (%rsi), %rbx; mov 8(%rsi), %rcx; mov (%rdi), %rax; mov 8(%rdi), %rdx; lock cmpxchg16b (%rdi)") \
    X(push, "mov %rsp, %rbp; lea 8(%rdi), %rsp; push %rax; mov %rbp, %rsp")                                           \
    X(push_memory, "mov %rsp, %rbp; lea 8(%rdi), %rsp; push (%rsi); mov %rbp, %rsp")                                  \
    X(pop_memory, "push %rax; pop (%rdi)")                                                                            \
    X(enter, "mov %rsp, %r8; lea 8(%rdi), %rsp; mov %rax, %rbp; enter $0, $0; mov %r8, %rsp")                         \
    X(movd, "movd %xmm0, (%rdi)")                                                                                     \
    X(movsd, "movsd %xmm0, (%rdi)")                                                                                   \
    X(movhps, "movhps %xmm2, (%rdi)")                                                                                 \
    X(movups, "movups %xmm0, (%rdi)")                                                                                 \
    X(movaps_aligned, "movaps %xmm0, (%rdi)")                                                                                \
    X(movntdq_aligned, "movntdq %xmm0, (%rdi)")                                                                              \
    X(movntq, "movntq %mm0, (%rdi)")                                                                                  \
    X(maskmovq, "maskmovq %mm1, %mm0")                                                                                \
    X(maskmovdqu, "maskmovdqu %xmm1, %xmm0")                                                                          \
    X(pextrd, "pextrd $0, %xmm0, (%rdi)")                                                                             \
    X(stmxcsr, "stmxcsr 1(%rdi)")                                                                                     \
    X(fnstcw, "emms; fnstcw 1(%rdi)")                                                                                 \
    X(fnstsw, "emms; fnstsw 1(%rdi)")                                                                                 \
    X(fistp, "emms; fildll (%rsi); fistpll (%rdi)")                                                                   \
    X(fstpt, "emms; fldt (%rsi); fstpt (%rdi)")                                                                       \
    X(fbstp, "emms; fildll (%r10); fbstp 1(%rdi)")                                                                    \
    X(fnsave_far, "emms; fldt (%rsi); fincstp; fnsave -98(%rdi)")                                                     \
    X(fxsave_far_aligned, "fxsave -160(%rdi)")                                                                                \
    X(read, "push %rdi; push %rsi; mov %rdi, %rsi; mov %r9, %rdi; mov $16, %edx; xor %eax, %eax; syscall; pop %rsi; " \
            "pop %rdi")

#define TEXT(name, code) "s_" #name ": " code "\ne_" #name ":\n"
#define DECLARE(name, code) extern const uint8_t s_##name[], e_##name[];
#define ENTRY(name, code) {#name, s_##name, e_##name},
STORES(DECLARE)
__asm__(".data\n.balign 8\ndecimal: .quad -909090909000000002\n.text\n" STORES(TEXT));
static const struct store { const char *name; const uint8_t *start, *end; } stores[] = {STORES(ENTRY)};

/* Calls the code with the registers that the stores expect. */
uint64_t enter(const void *code, void *slot, const void *source, long pipe);
__asm__(".globl enter\nenter: push %rbx; push %rbp; push %r12\n"
        "lea decimal(%rip), %r10; mov %rdi, %r11; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %r9; mov (%rsi), %rax\n"
        "pcmpeqd %xmm1, %xmm1; movdqu (%rsi), %xmm0; pxor %xmm2, %xmm2; movlhps %xmm0, %xmm2\n"
        "movdq2q %xmm1, %mm1; movdq2q %xmm0, %mm0\n"
        "call *%r11\n"
        "emms; fninit; pop %r12; pop %rbp; pop %rbx; ret\n");

/* mov $1, %eax; ret. What is new has another number; the rest may be stored over it too. */
static const uint8_t old[16] = {0xb8, 1, 0, 0, 0, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3, 0, 0xc3, 0x90, 0x90};
static uint8_t new[16] = {0xb8, 2, 3, 4, 0, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3, 0, 0xc3, 0x90, 0x90};

static uint8_t *area, *alias;
static int ends[2];

static void jump(uint8_t *at, const uint8_t *to)
{
    int32_t distance = (int32_t)(to - (at + 5));
    at[0] = 0xe9;
    memcpy(at + 1, &distance, 4);
}

/* The store is at `code` and what it changes at `slot`, both in bytes of the area; with `through`, by its alias. */
static void run(const struct store *store, const char *where, long code, long slot, int through)
{
    long size = store->end - store->start;
    printf("%s, %s:", store->name, where);
    for (int round = 0; round < 4; round++) {
        new[1] = (uint8_t)(2 + round);
        memset(area, 0x90, 3 * 4096);
        memcpy(area + slot, old, 16);
        memcpy(area + code, store->start, (size_t)size);
        if (code + size != slot)
            jump(area + code + size, area + slot);
        if (strcmp(store->name, "read") == 0 && write(ends[1], new, 16) != 16)
            exit(1);
        /* The code to change has run before, or not. */
        if (round & 1)
            printf(" %lx", enter(area + slot, NULL, new, 0));
        printf(" %lx", enter(area + code, (through ? alias : area) + slot, new, ends[0]));
        printf(" %lx", enter(area + slot, NULL, new, 0));
    }
    printf("\n");
}

static void all(int through)
{
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        const struct store *store = &stores[i];
        long size = store->end - store->start;
        if (!strstr(store->name, "far")) {
            /* The nops before the store make the code that it changes begin at a multiple of 16. */
            run(store, "the same block", 0x800 - size, 0x800, through);
            run(store, "the next page", 0x1000 - size, 0x1000, through);
            if (!strstr(store->name, "aligned")) {
                run(store, "across pages", 0xffe - size, 0xffe, through);
                run(store, "the next block, across words", 0x400, 0x83f, through);
            }
        }
        run(store, "the next block", 0x400, 0x800, through);
        run(store, "an earlier block", 0xc00, 0x800, through);
        run(store, "another page", 0x400, 0x1800, through);
    }
}

int main(void)
{
    long file = S(memfd_create, "code", 0);
    int both = PROT_READ | PROT_WRITE;
    if (file < 0 || ftruncate((int)file, 3 * 4096) || pipe(ends))
        return 1;
    area = mmap(NULL, 3 * 4096, both | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    all(0);
    munmap(area, 3 * 4096);
    /* The same memory twice: what is stored through one mapping runs in the other. */
    area = mmap(NULL, 3 * 4096, both | PROT_EXEC, MAP_SHARED, (int)file, 0);
    alias = mmap(NULL, 3 * 4096, both, MAP_SHARED, (int)file, 0);
    all(0);
    printf("through another mapping\n");
    all(1);
    return 0;
}
