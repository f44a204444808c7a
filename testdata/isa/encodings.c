/* Runs each encoding of cases.bin once in every place that its record asks for, and writes what it left to stdout:
   a struct outcome per place. The same program runs on the host's CPU and under cgemu.

     encodings                  all of them
     encodings FIRST COUNT      these records
     encodings FIRST COUNT x    these, as text, with the registers before and after

   It has no C library, whose thread-local storage an instruction might move. Every case starts and ends in the
   signal handler: it sets the registers of its frame, and the instruction raises the next signal, at the latest by
   the INT3 or the unmapped page behind it. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* A page of code with nothing behind it, and its alias for writing. */
#define END_PAGE 0x10000000ul
#define END_ALIAS 0x18000000ul
/* Pages of code, a new place for each case in the middle of a page. */
#define CODE 0x30000000ul
#define PLACE 64
#define PLACES (1u << 13)
/* Two pages of data, of which a part is compared. */
#define MEM 0x20000000ul
#define WATCHED 0x800
#define WATCHED_END 0xe00
#define OPERAND (MEM + 0xb40)
#define STACK (MEM + 0xd80)

struct record {
    u8 len, places, bytes[15], unused[3];
};

struct outcome {
    u32 signal, addr, rip, gpr, flags, x87, xmm, mem;
};

extern const struct record cases[], cases_end[];
__asm__(".section .rodata\n.balign 16\n.globl cases, cases_end\ncases: .incbin \"cases.bin\"\ncases_end:\n.text\n");

static long call(long n, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void quit(int status) {
    call(SYS_exit_group, status, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

static struct outcome results[4096];
static u32 count;

static void flush(void) {
    const char *from = (const char *)results;
    long left = (long)(count * sizeof *results);
    while (left > 0) {
        long done = call(SYS_write, 1, (long)from, left, 0, 0, 0);
        if (done <= 0) quit(3);
        from += done, left -= done;
    }
    count = 0;
}

/* Text, for one case alone. */
static void text(const char *s) {
    long n = 0;
    while (s[n]) n++;
    call(SYS_write, 1, (long)s, n, 0, 0, 0);
}

static void hex(const char *name, const void *of, int n) {
    char line[4096];
    int at = 0;
    for (; *name; name++) line[at++] = *name;
    line[at++] = '=';
    for (int i = 0; i < n; i++) {
        u8 b = ((const u8 *)of)[i];
        line[at++] = "0123456789abcdef"[b >> 4], line[at++] = "0123456789abcdef"[b & 15];
    }
    line[at++] = '\n', line[at] = 0;
    text(line);
}

static u64 mix(u64 hash, u64 value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static const struct record *at, *last;
static int place = -1, verbose;
static u64 start;
static u32 next_place;
static u8 memory[WATCHED_END - WATCHED], fpu[512];

/* Copies so many bytes, a multiple of 8. */
static void copy(void *to, const void *from, u64 n) {
    n /= 8;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* What a record asks for. */
enum { MIDDLE = 1, FITS = 2, CUTS = 4 };

/* Puts the code where it is to run: behind no end of a page, just before it, or cut off by it. */
static int put(void) {
    u8 code[PLACE];
    int cut = place - 1, wanted = place == 0 ? MIDDLE : place == 1 ? FITS : CUTS;
    if (!(at->places & wanted) || cut >= at->len) return 0;
    int n = place ? at->len - cut : at->len, from = place ? PLACE - n : PLACE / 2;
    for (int i = 0; i < PLACE; i++) code[i] = i >= from && i < from + n ? at->bytes[i - from] : 0xcc;
    start = place ? END_PAGE + 0x1000 - PLACE : CODE + (u64)PLACE * (next_place++ % PLACES);
    copy((void *)(place ? END_ALIAS + 0x1000 - PLACE : start), code, PLACE);
    start += (u64)from;
    return 1;
}

static const u64 initial[NGREG] = {
    [REG_RAX] = MEM + 0xc30, [REG_RBX] = 0x20000a55, [REG_RCX] = 3, [REG_RDX] = 0x20000123, [REG_RSI] = MEM + 0xa10,
    [REG_RDI] = OPERAND, [REG_RBP] = MEM + 0xc80, [REG_RSP] = STACK, [REG_R8] = 0x1122334455667788,
    [REG_R9] = 5, [REG_R10] = 0xfedcba9876543210, [REG_R11] = 0x7f, [REG_R12] = 0x8000000080008080,
    [REG_R13] = 0x21, [REG_R14] = 0xffffffffffffffff, [REG_R15] = OPERAND,
};

static void prepare(ucontext_t *uc) {
    for (int i = 0; i <= REG_RSP; i++) uc->uc_mcontext.gregs[i] = (long)initial[i];
    uc->uc_mcontext.gregs[REG_RIP] = (long)start;
    uc->uc_mcontext.gregs[REG_EFL] = 0x246;
    copy(uc->uc_mcontext.fpregs, fpu, 416);
    copy((void *)(MEM + WATCHED), memory, sizeof memory);
}

/* An address, counted from the instruction if it is near. */
static u64 relative(u64 addr) { return addr - start + 0x1000000 < 0x2000000 ? addr - start : addr; }

static void observe(const siginfo_t *info, ucontext_t *uc) {
    const long long *g = uc->uc_mcontext.gregs;
    const u8 *fx = (const u8 *)uc->uc_mcontext.fpregs;
    struct outcome *o = &results[count++];
    o->signal = (u32)info->si_signo | (u32)(info->si_code & 0xff) << 8 | (u32)(g[REG_TRAPNO] & 0xff) << 16 |
                (u32)(g[REG_ERR] & 0xff) << 24;
    u64 addr = (u64)info->si_addr;
    o->addr = (u32)mix(1, relative(addr));
    o->rip = (u32)relative((u64)g[REG_RIP]);
    u64 hash = 1;
    for (int i = 0; i <= REG_RSP; i++) {
        /* What points into the code is a push of the address. */
        hash = mix(hash, (u64)g[i]);
    }
    o->gpr = (u32)hash;
    o->flags = (u32)g[REG_EFL] & 0x40cd5;
    hash = mix(1, *(const u16 *)fx | (u64)(*(const u16 *)(fx + 2) & 0x3800) << 16 | (u64)fx[4] << 32);
    for (int i = 0; i < 8; i++) hash = mix(hash, *(const u64 *)(fx + 32 + 16 * i));
    o->x87 = (u32)hash;
    hash = mix(1, *(const u32 *)(fx + 24) & 0xffc0);
    for (int i = 0; i < 32; i++) hash = mix(hash, *(const u64 *)(fx + 160 + 8 * i));
    o->xmm = (u32)hash;
    hash = 1;
    for (u32 i = 0; i < sizeof memory; i += 8) {
        u64 value = *(const u64 *)(MEM + WATCHED + i);
        if (value - start < 16) value -= start;
        hash = mix(hash, value);
    }
    o->mem = (u32)hash;
    if (verbose) {
        hex("place", &place, 4);
        hex("outcome", o, sizeof *o);
        hex("addr", &addr, 8);
        hex("start", &start, 8);
        for (int i = 0; i <= REG_EFL; i++) {
            static const char *const names[] = {"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi",
                "rbp", "rbx", "rdx", "rax", "rcx", "rsp", "rip", "efl"};
            hex(names[i], &g[i], 8);
        }
        hex("fx", fx, 416);
        hex("mem", (void *)(MEM + WATCHED), sizeof memory);
        count = 0;
    }
    if (count == sizeof results / sizeof *results) flush();
}

static void on_signal(int number, siginfo_t *info, void *context) {
    ucontext_t *uc = context;
    (void)number;
    if (place >= 0) {
        observe(info, uc);
    } else {
        /* The first signal: a state of the FPU to begin with, and memory. */
        copy(fpu, uc->uc_mcontext.fpregs, 512);
        *(u16 *)fpu = 0x37f, *(u16 *)(fpu + 2) = 2 << 11, fpu[4] = (u8)~2;
        *(u64 *)(fpu + 8) = *(u64 *)(fpu + 16) = 0;
        *(u32 *)(fpu + 24) = 0x1f80;
        for (u32 i = 0; i < 8; i++) {
            *(u64 *)(fpu + 32 + 16 * i) = 1ull << 63 | (u64)(i + 1) << 60;
            *(u16 *)(fpu + 40 + 16 * i) = (u16)(0x3fff + i);
        }
        for (u32 i = 0; i < 32; i++) *(u64 *)(fpu + 160 + 8 * i) = 0x3ff8000040200000ull + (u64)i * 0x0011000000130000ull;
        for (u32 i = 0; i < sizeof memory; i += 8) {
            u64 v = (i & 8) ? 0x4008000040400000ull + i : OPERAND + 0x20 + i;
            copy(memory + i, &v, 8);
        }
        u64 flags = 0x246;
        copy(memory + (STACK - MEM - WATCHED), &flags, 8);
        at--;
        place = 99;
    }
    __asm__ volatile("mov %0, %%ds; mov %0, %%es" : : "r"(0));
    do {
        if (++place > 16) {
            if (++at == last) {
                flush();
                quit(0);
            }
            place = 0;
        }
    } while (!put());
    prepare(uc);
}

void restorer(void);
__asm__(".globl restorer\nrestorer: mov $15, %eax\nsyscall\n");

static long number(const char *s) {
    long n = 0;
    for (; *s; s++) n = 10 * n + (*s - '0');
    return n;
}

static long map(u64 at, u64 size, int prot, int flags, int fd) {
    return call(SYS_mmap, (long)at, (long)size, prot, flags | MAP_FIXED_NOREPLACE, fd, 0) == (long)at ? 0 : -1;
}

__attribute__((used)) static void begin(long *stack) {
    char **argv = (char **)(stack + 1);
    at = cases, last = cases_end;
    if (stack[0] > 2) at = cases + number(argv[1]), last = at + number(argv[2]);
    verbose = stack[0] > 3;
    int memfd = (int)call(SYS_memfd_create, (long)"code", 0, 0, 0, 0, 0);
    call(SYS_ftruncate, memfd, 4096, 0, 0, 0, 0);
    int both = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    if (map(END_PAGE, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, memfd) || map(END_ALIAS, 4096, both, MAP_SHARED, memfd) ||
        map(CODE, (u64)PLACE * PLACES, both | PROT_EXEC, anonymous, -1) || map(MEM, 8192, both, anonymous, -1))
        quit(4);
    for (u64 *p = (u64 *)CODE; p < (u64 *)(CODE + (u64)PLACE * PLACES); p++) *p = 0xcccccccccccccccc;
    static u8 alternate[65536];
    stack_t ss = {.ss_sp = alternate, .ss_size = sizeof alternate};
    call(SYS_sigaltstack, (long)&ss, 0, 0, 0, 0, 0);
    struct { void (*handler)(int, siginfo_t *, void *); u64 flags; void (*restorer)(void); u64 mask; } action =
        {on_signal, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000, restorer, 0};
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (u32 i = 0; i < 5; i++) call(SYS_rt_sigaction, numbers[i], (long)&action, 0, 8, 0, 0);
    if (at == last) quit(0);
    __asm__ volatile("fninit; fld1; int3");
    quit(5);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
