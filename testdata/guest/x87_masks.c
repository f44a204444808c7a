// covers: write
// flags: -O1 -mno-red-zone
// What x87 instructions leave in the registers, in memory and in the status word, over operands and
// control words. Left out are C1, the condition codes of a comparison whose operands raise an exception that
// is not masked, and whether what fscale and fprem leave of a denormal is an underflow that is not masked.
// Manuals disagree about them with CPUs, and CPUs with each other.
#include "guest.h"

struct real {
    uint64_t m;
    uint16_t e;
} __attribute__((packed));

static const struct real V[] = {
    {0, 0}, {0, 0x8000}, {1ull << 63, 0x3fff}, {0xc000000000000000, 0xc000}, {1, 0}, {0x7fffffffffffffff, 0},
    {0x0000000080000001, 0x8000}, {0x8000000000000000, 1}, {0xffffffffffffffff, 1}, {0xffffffffffffffff, 0x7ffe},
    {0x8000000000000000, 0x7ffe}, {0xffffff0000000000, 0xfffe}, {0xfffffffffffffc01, 0x7ffe}, {1ull << 63, 0x7fff},
    {1ull << 63, 0xffff}, {0xc000000000000000, 0x7fff}, {0xe123456789abcdef, 0xffff}, {0x8000000000000123, 0xffff},
    {0xaaaaaaaaaaaaaaab, 0x3ffd}, {0x8000000000000001, 0x2000}, {0x9876543210fedcba, 0x5fff},
    {0xfedcba9876543210, 0x1fff}, {0x8000000000000000, 0x3f80}, {0xffffff8000000000, 0x3f80},
    {0xfffffffffffffc00, 0x3c00}, {0x8000000000000001, 0x3c00}, {0xffffff7fffffffff, 0x407e},
    {0xffffff8000000000, 0x407e}, {0xfffffffffffffbff, 0x43fe}, {0x8000000000000000, 0x400c},
    {0xffffffff00000000, 0x401d}, {0x8000000000000000, 0xc03e}, {0xde0b6b3a763fffff, 0x403a},
    {0xde0b6b3a76400000, 0x403a}, {0xa000000000000000, 0x3ffe}, {0x8000000000000000, 0x400e},
    {0xc003000000000000, 0xc00d},
};
static const double D[] = {0, -1, 0x1p-1074, 0x1.8p-1050, 0x1p-1022, 0x1.fffffffffffffp1023, 1 / 0.0, 0 / 0.0};
static const float F[] = {0, 3, 0x1p-149, -0x1.8p-140, 0x1p-126, 0x1.fffffep127, 1 / 0.0f, 0 / 0.0f};
#define COUNT(a) (int)(sizeof(a) / sizeof(a)[0])

struct environment {
    uint32_t cw, sw, tw, fip, fcs, fdp, fds;
    uint8_t r[80];
} __attribute__((packed));

static uint64_t hash;
static int compares, scales;
static void mix(const void *from, int n)
{
    for (const uint8_t *b = from; n--; b++)
        hash = (hash ^ *b) * 0x100000001b3;
}
static void note(const struct environment *g, unsigned cw, const void *mem, int n)
{
    uint16_t sw = g->sw & ~0x200, tw = g->tw;
    if (compares && sw & ~cw & 3)
        sw &= ~0x4500;
    mix(&sw, 2), mix(&tw, 2), mix(g->r, 30), mix(mem, n);
}

static int is_open(struct real v, unsigned cw)
{
    return scales && ~cw & 0x10 && v.m && !(v.e & 0x7fff);
}

#define EACH(what, inner) \
    static void what(unsigned short cw) \
    { \
        struct environment g; \
        for (int i = 0; i < COUNT(V); i++) \
            inner \
    }
#define ONE(what, insn) \
    EACH(what, { \
        __asm__ volatile("fninit; fldt %1; fldcw %2; " insn "; fnsave %0; fninit" : "=m"(g) : "m"(V[i]), "m"(cw)); \
        note(&g, cw, 0, 0); \
    })
#define TWO(what, insn) \
    EACH(what, for (int j = 0; j < COUNT(V); j++) { \
        if (is_open(V[i], cw)) \
            continue; \
        __asm__ volatile("fninit; fldt %2; fldt %1; fldcw %3; " insn "; fnsave %0; fninit" \
                         : "=m"(g) : "m"(V[i]), "m"(V[j]), "m"(cw)); \
        note(&g, cw, 0, 0); \
    })
#define STORE(what, insn, n) \
    EACH(what, { \
        struct { uint8_t b[16]; } mem; \
        memset(&mem, 0xa5, 16); \
        __asm__ volatile("fninit; fldt %2; fldcw %3; " insn " %1; fnsave %0; fninit" \
                         : "=m"(g), "+m"(mem) : "m"(V[i]), "m"(cw)); \
        note(&g, cw, &mem, n); \
    })
#define LOAD(what, insn, of) \
    EACH(what, for (int j = 0; j < COUNT(of); j++) { \
        __asm__ volatile("fninit; fldt %2; fldcw %3; " insn " %1; fnsave %0; fninit" \
                         : "=m"(g) : "m"(of[j]), "m"(V[i]), "m"(cw)); \
        note(&g, cw, 0, 0); \
    })
#define ALL(one, two, store, load) \
    two(fadd, "fadd %%st(1), %%st") two(fsub, "fsub %%st(1), %%st") two(fsubr, "fsubr %%st(1), %%st") \
    two(fmul, "fmul %%st(1), %%st") two(fdiv, "fdiv %%st(1), %%st") two(fdivr, "fdivr %%st(1), %%st") \
    two(faddp, "faddp") two(fmulp, "fmulp") two(fsubp, "fsubp") two(fdivp, "fdivp") two(fdivrp, "fdivrp") \
    two(fscale, "fscale") two(fprem, "fprem") two(fprem1, "fprem1") \
    two(fcom, "fcom") two(fucom, "fucom") two(fcomp, "fcomp") two(fucompp, "fucompp") \
    one(fsqrt, "fsqrt") one(frndint, "frndint") one(fxtract, "fxtract") one(fchs, "fchs") one(fld, "fld %%st(0)") \
    store(fsts, "fsts", 4) store(fstps, "fstps", 4) store(fstl, "fstl", 8) store(fstpl, "fstpl", 8) \
    store(fstpt, "fstpt", 10) store(fistps, "fistps", 2) store(fistl, "fistl", 4) store(fistpll, "fistpll", 8) \
    store(fisttps, "fisttps", 2) store(fisttpll, "fisttpll", 8) store(fbstp, "fbstp", 10) \
    load(fldl, "fldl", D) load(flds, "flds", F) load(faddl, "faddl", D) load(fmuls, "fmuls", F) \
    load(fdivl, "fdivl", D) load(fdivrs, "fdivrs", F) load(fcoml, "fcoml", D) load(fcomps, "fcomps", F)
ALL(ONE, TWO, STORE, LOAD)
#define NAME(what, ...) {#what, what},
static const struct {
    const char *name;
    void (*run)(unsigned short);
} tests[] = {ALL(NAME, NAME, NAME, NAME)};

int main(void)
{
    /* All exceptions masked, each of them not, several, none; precisions and roundings. */
    static const unsigned short words[] = {0x37f, 0x37e, 0x37d, 0x37b, 0x377, 0x36f, 0x35f, 0x347, 0x340,
                                           0x77f, 0xb6f, 0xf77, 0xf6f, 0x07f, 0x067, 0x267, 0xe67};
    for (int t = 0; t < COUNT(tests); t++) {
        hash = 0xcbf29ce484222325;
        compares = strstr(tests[t].name, "com") != NULL;
        scales = strstr(tests[t].name, "fprem") || !strcmp(tests[t].name, "fscale");
        for (int w = 0; w < COUNT(words); w++)
            tests[t].run(words[w]);
        printf("%s %016llx\n", tests[t].name, (unsigned long long)hash);
    }
    return 0;
}
