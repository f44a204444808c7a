// covers: mprotect rt_sigaction fork
// flags: -pthread
/* Code that has run often: faults, signals, changes of the code and other threads in the middle of it. */
#include "guest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#define P 4096L
#define ROUNDS 60000

/* Four blocks that mostly follow each other, in a page of their own. Each adds a number, which is at N_place. The second
 * and the fourth load from and store to where RSI points. */
#define WALK(NAME) \
    extern char NAME##_1[], NAME##_2[], NAME##_3[], NAME##_4[]; \
    long NAME(long i, long *at); \
    asm(".pushsection .text\n .p2align 12\n .globl " #NAME "\n .type " #NAME ",@function\n" #NAME ":\n" \
        "    mov $1, %eax\n .globl " #NAME "_1\n" #NAME "_1 = . - 4\n" \
        "    test $0xfff, %edi\n    jz 7f\n" \
        "    jmp 3f\n" \
        "2:  add $100, %eax\n    nop\n    nop\n" \
        "    add $0x100, %eax\n .globl " #NAME "_3\n" #NAME "_3 = . - 4\n" \
        "    lock incq (%rsi)\n" \
        "    test $7, %edi\n    jnz 4f\n" \
        "    sub $3, %eax\n" \
        "4:  mov %rax, 8(%rsi)\n" \
        "    add $0x10000, %eax\n .globl " #NAME "_4\n" #NAME "_4 = . - 4\n" \
        "    ret\n" \
        "3:  mov (%rsi), %rcx\n" \
        "    add $0x1000, %eax\n .globl " #NAME "_2\n" #NAME "_2 = . - 4\n" \
        "    test $0x3f, %edi\n    jnz 2b\n" \
        "    add $5, %eax\n    jmp 2b\n" \
        "7:  mov $77, %eax\n    ret\n" \
        "    .p2align 12\n .size " #NAME ", . - " #NAME "\n .popsection\n")

WALK(plain);
WALK(faulting);
WALK(first);
WALK(second);
WALK(third);
WALK(fourth);
WALK(forked);
WALK(threads);

typedef long walk(long, long *);

static long sum(walk *code, long *at, long from, long to)
{
    long sum = 0;
    for (long i = from; i < to; i++) sum += code(i, at);
    return sum;
}

static long *pages;
static volatile int faults, alarms;

/* Lets the access take place. */
static void fault(int sig, siginfo_t *info, void *context)
{
    faults++;
    mprotect((void *)((long)info->si_addr & -P), P, PROT_READ | PROT_WRITE);
}
/* Leaves out the load, the increment or the store. */
static void skip(int sig, siginfo_t *info, void *context)
{
    greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    unsigned char *code = (unsigned char *)*rip;
    faults++;
    *rip += code[1] == 0x8b ? 3 : 4;
}
static void handle(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, 0);
}
static void tick(int sig) { alarms++; }

/* Changes a number in code that has run. */
static void change(char *place, int number)
{
    char *page = (char *)((long)place & -P);
    S(mprotect, page, P, PROT_READ | PROT_WRITE);
    memcpy(place, &number, sizeof number);
    S(mprotect, page, P, PROT_READ | PROT_EXEC);
}
static void changed(const char *what, walk *code, char *place, int number)
{
    long at[2] = {0};
    long before = sum(code, at, 1, ROUNDS);
    change(place, number);
    printf("%s: %ld, then %ld\n", what, before, sum(code, at, 1, ROUNDS));
}

static void *run(void *argument)
{
    long own[2] = {0}, *shared = argument;
    long result = sum(threads, own, 1, ROUNDS);
    sum(threads, shared, 1, ROUNDS);
    return (void *)result;
}

int main(void)
{
    long at[2] = {0};
    long result = sum(plain, at, 1, 2 * ROUNDS);
    printf("plain: %ld %ld\n", result, at[0]);

    pages = (long *)S(mmap, 0, 2 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* The load and the increment are in the first page, the store in the second. */
    long *across = (long *)((char *)pages + P - 8);
    result = 0;
    for (int which = 0; which < 2; which++) {
        handle(which ? skip : fault);
        for (int i = 0; i < 40; i++) {
            result += sum(faulting, across, 1, 1500);
            mprotect((char *)pages + (i % 2) * P, P, i % 3 ? PROT_READ : PROT_NONE);
            result += sum(faulting, across, 4090, 4100 + i);
            mprotect(pages, 2 * P, PROT_READ | PROT_WRITE);
        }
        printf("faults: %ld %ld %ld, %d\n", result, across[0], across[1], faults);
    }

    changed("the first number", first, first_1, 2);
    changed("the second", second, second_2, 0x2000);
    changed("the third", third, third_3, 0x300);
    changed("the fourth", fourth, fourth_4, 0x50000);

    result = sum(forked, at, 1, ROUNDS), fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        changed("the child", forked, forked_3, 0x400), fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("the parent: %ld, then %ld\n", result, sum(forked, at, 1, ROUNDS));

    pthread_t others[3];
    long counted[2] = {0};
    for (int i = 0; i < 3; i++) pthread_create(&others[i], 0, run, counted);
    for (int i = 0; i < 3; i++) {
        void *its;
        pthread_join(others[i], &its);
        printf("a thread: %ld\n", (long)its);
    }
    printf("together: %ld\n", counted[0]);

    struct itimerval often = {{0, 1000}, {0, 1000}};
    signal(SIGVTALRM, tick), setitimer(ITIMER_VIRTUAL, &often, 0);
    do result = sum(plain, at, 1, ROUNDS);
    while (alarms < 5);
    printf("interrupted: %ld\n", result);
}
