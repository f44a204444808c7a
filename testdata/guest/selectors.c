// covers: rt_sigaction
// Selectors of Linux's descriptor table, as user code may load them and ask about them.
#include "guest.h"
#include <asm/prctl.h>
#include <setjmp.h>
#include <ucontext.h>

static sigjmp_buf back;
static void jump(int s, siginfo_t *i, void *c)
{
    (void)i, (void)c;
    siglongjmp(back, s);
}

#define LOAD(reg, selector)                                                                        \
    ({                                                                                             \
        int s_ = sigsetjmp(back, 1);                                                               \
        unsigned short was_, now_ = 0;                                                             \
        __asm__ volatile("mov %%" reg ", %0" : "=r"(was_));                                        \
        if (!s_) {                                                                                 \
            __asm__ volatile("mov %0, %%" reg : : "r"(selector));                                  \
            __asm__ volatile("mov %%" reg ", %0\n mov %1, %%" reg : "=&r"(now_) : "r"(was_));      \
        }                                                                                          \
        s_ ? -s_ : now_;                                                                           \
    })

#define ASK(insn, selector)                                                                        \
    ({                                                                                             \
        unsigned long value_ = 0x1122334455667788, known_;                                         \
        __asm__ volatile(insn "\n setz %b1\n movzbl %b1, %k1"                                      \
                         : "+r"(value_), "=&q"(known_) : "r"((unsigned)selector) : "cc");          \
        known_ ? value_ : 0;                                                                       \
    })

#define KNOWN(insn, selector)                                                                      \
    ({                                                                                             \
        unsigned char known_, carry_;                                                              \
        __asm__ volatile("stc\n " insn "\n setz %0\n setc %1"                                      \
                         : "=&q"(known_), "=&q"(carry_) : "r"((unsigned short)selector) : "cc");   \
        known_ + 2 * carry_;                                                                       \
    })

int main(void)
{
    struct sigaction sa = {.sa_sigaction = jump, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &sa, NULL);
    static const unsigned short selectors[] = {0,    1,    3,    4,    8,    0x10, 0x13, 0x18, 0x1b,
                                               0x28, 0x29, 0x2b, 0x2f, 0x33, 0x37, 0x40, 0x43,
                                               0x63, 0x6b, 0x73, 0x83, 0xfff8, 0xffff};
    for (unsigned i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        unsigned short s = selectors[i];
        printf("%04x: ds %x es %x", s, LOAD("ds", s), LOAD("es", s));
        if (s > 3)
            printf(" ss %x", LOAD("ss", s));
        printf(" verr %d verw %d", KNOWN("verr %2", s), KNOWN("verw %2", s));
        /* Linux may leave open what is below the access rights, and CPUs the bits of the limit. */
        printf(" lar %lx lsl %lx\n", ASK("lar %2, %k0", s) & 0xf0fe00, ASK("lsl %2, %k0", s));
    }
    /* From memory and the stack; the base of the segment is that of the descriptor. */
    unsigned long base = 0;
    static const unsigned short data = 0x2b;
    unsigned short read;
    long gs = (long)main;
    if (syscall(SYS_arch_prctl, ARCH_SET_GS, gs))
        return 1;
    __asm__ volatile("movw %1, %%gs\n mov %%gs, %0" : "=r"(read) : "m"(data));
    if (syscall(SYS_arch_prctl, ARCH_GET_GS, &base))
        return 1;
    printf("gs %x base %lx\n", read, base);
    __asm__ volatile("push $0x33\n pop %%gs\n mov %%gs, %0" : "=r"(read));
    printf("gs %x\n", read);
    return 0;
}
