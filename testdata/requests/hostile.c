/* Requests as no header makes them. What is printed is what docs/counting.md says. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PREAMBLE "rol $3, %%rdi; rol $13, %%rdi; rol $61, %%rdi; rol $51, %%rdi; "
#define ASK(words) \
    ({ long r_ = 77; \
       __asm__ volatile(PREAMBLE "xchg %%rbx, %%rbx" : "+d"(r_) : "a"(words) : "memory", "cc"); \
       r_; })
#define REQUEST(...) ({ volatile long w_[6] = {__VA_ARGS__}; ASK(w_); })

static sigjmp_buf back;
static char *page;

static void handler(int signal, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    long at = (long)info->si_addr;
    const unsigned char *rip = (const unsigned char *)uc->uc_mcontext.gregs[REG_RIP];
    if (at >= (long)page && at < (long)page + 8192)
        printf("signal %d at page+%ld", signal, at - (long)page);
    else
        printf("signal %d at %lx", signal, at);
    printf(", code %d, %s\n", info->si_code, (char *)rip < page || (char *)rip >= page + 8192
        ? ((long)rip > 4096 && (long)rip < 0x7ffffffff000 && !memcmp(rip, "\x48\xc1\xc7\x03", 4) ? "in the request" : "elsewhere")
        : "in the page");
    siglongjmp(back, 1);
}

#define TRY(what) do { fputs(#what ": ", stdout); if (!sigsetjmp(back, 1)) printf("%ld\n", (long)(what)); } while (0)

static int listed(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    long result = REQUEST(0x1403, (long)format, (long)&args);
    va_end(args);
    return result;
}

static long leaves(int thread)
{
    siglongjmp(back, 1);
}

static long faults(int thread)
{
    return *(volatile long *)16;
}

static long many(int thread, long a)
{
    return a == 0 ? 0 : REQUEST(0x1102, (long)many, a - 1) + 1;
}

/* The sequence where it is wanted, with a return behind it. */
static long at(char *code)
{
    static const unsigned char bytes[] = {0x48, 0xc1, 0xc7, 3, 0x48, 0xc1, 0xc7, 13, 0x48, 0xc1, 0xc7, 61,
                                          0x48, 0xc1, 0xc7, 51, 0x48, 0x87, 0xdb, 0xc3};
    memcpy(code, bytes, sizeof bytes);
    return 0;
}

static long run(char *code)
{
    static long words[6] = {0x1001};
    long result = 77;
    long rdi = 0x123456789abcdef;
    __asm__ volatile("call *%2" : "+d"(result), "+D"(rdi) : "r"(code), "a"(words) : "memory", "cc");
    return rdi == 0x123456789abcdef ? result : -1;
}

int main(void)
{
    setvbuf(stdout, 0, _IONBF, 0);
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGILL, &action, 0);
    page = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);

    TRY(ASK(16));
    TRY(ASK(0xffff800000000000));
    TRY(ASK(0x1234000000000000));
    TRY(ASK(-1l));
    TRY(ASK(page + 4096));
    TRY(ASK(page + 4096 - 40));
    memset(page, 0, 4096);
    TRY(ASK(page + 4096 - 48));
    TRY(ASK(page + 1));

    TRY(listed("%s|%s|%s\n", (char *)16, (char *)0xffff800000000000, (char *)-1));
    memset(page, 'x', 4096);
    TRY(listed("%s|\n", page + 4096 - 10));
    TRY(listed(page + 4096 - 3));
    TRY(listed("%n%n|\n", (int *)16, (int *)16));
    TRY(listed("%2000000000d|%.2000000000f|%-99999999999999999999s|\n", 1, 1.0, "x") <= 70000);
    TRY(listed("%*d|%*s|\n", -2147483647 - 1, 1, 2147483647, "x") <= 70000);
    char *longest = malloc(1 << 20);
    memset(longest, 'y', 1 << 20);
    longest[(1 << 20) - 1] = 0;
    TRY(listed("%s\n", longest) <= 70000);
    TRY(listed(longest) <= 70000);
    TRY(listed("\n"));
    TRY(REQUEST(0x1403, 16, 16));
    TRY(REQUEST(0x1403, (long)"%d %s %f\n", 16));
    TRY(REQUEST(0x1403, (long)"%d %s %f\n", 0));
    long list[3] = {-1, -1, -1};
    TRY(REQUEST(0x1404, (long)"%d %d %s %f\n", (long)list));

    TRY(REQUEST(0x1701, (long)main, 16));
    TRY(REQUEST(0x1701, 0xffff800000000000, (long)page));
    TRY(REQUEST(0x1701, -1l, (long)page));
    TRY(REQUEST(0x1004, 16, 100));
    TRY(REQUEST(0x1004, (long)page, 10));
    TRY(REQUEST(0x1004, (long)page, 11) + 100 * !!strcmp(page, "cachegrind"));
    TRY(REQUEST(0x1202, 16));
    TRY(REQUEST(0x1203, (long)page + 4096));
    TRY(REQUEST(0x1002, 0, -1l));
    TRY(REQUEST(0x1101, 16));
    TRY(REQUEST(0x1101, (long)faults));
    TRY(REQUEST(0x1101, (long)leaves));
    for (int i = 0; i < 200; i++)
        if (!sigsetjmp(back, 1))
            REQUEST(0x1101, (long)leaves);
    TRY(REQUEST(0x1102, (long)many, 5));
    TRY(REQUEST(0x1102, (long)many, 1000) > 0);
    TRY(REQUEST(0x1102, (long)many, 3));

    // Where nothing waits, the place that functions return to is an address like others.
    TRY(((long (*)(void))0x7ffffffff000)());

    // Written over, in its middle and at its end.
    TRY(at(page) + run(page));
    page[18] = 0xc0; // XCHG RAX,RAX
    TRY(run(page));
    page[18] = 0xdb;
    TRY(run(page));
    page[11] = 60, page[7] = 14;
    TRY(run(page));
    page[11] = 61, page[7] = 13;
    TRY(run(page));
    for (int i = 0; i < 3; i++) {
        page[18] = 0xc0;
        run(page);
        page[18] = 0xdb;
        run(page);
    }
    TRY(run(page));
    // Over the end of a page.
    mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (int inside = 1; inside < 20; inside++) {
        char *code = page + 4096 - inside;
        long sum = at(code) + run(code);
        code[18] = 0xc0;
        sum += 100 * run(code);
        code[18] = 0xdb;
        sum += 10000 * run(code);
        if (sum != 1 + 7700 + 10000)
            printf("%d bytes in the first page: %ld\n", inside, sum);
    }
    // The second page may not be executed.
    at(page + 4096 - 8);
    mprotect(page + 4096, 4096, PROT_READ);
    TRY(run(page + 4096 - 8));
    return 0;
}
