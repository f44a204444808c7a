/* Loops long enough for their blocks to be joined where one usually follows the other, which are left early all the
   same: by the other way and by calls, and with an argument by faults, whose instruction Callgrind does not count. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#define APART __attribute__((noinline, noclone))
static sigjmp_buf out;
static volatile unsigned caught, rare;
static unsigned locked;

static void handler(int signal) {
    caught += signal;
    siglongjmp(out, 1);
}
APART static unsigned seldom(unsigned n) { return rare += n & 7; }
/* Every test usually goes one way. */
APART static unsigned usual(const unsigned char *from, unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 64; i++) {
        if (from[i] == 255) sum += seldom(i);
        if ((n + i) % 97 == 0) sum ^= 5;
        if (((n ^ i) & 63) == 17) continue;
        __atomic_fetch_xor(&locked, n, __ATOMIC_SEQ_CST);
        if ((sum += from[i]) == 0xffffffff) return sum;
        if (from[i] > 250) sum += seldom(n);
    }
    return sum;
}
APART static unsigned odd(unsigned n) { return n < 2 ? n : odd(n - 2) + (n % 31 ? 1 : seldom(n)); }

int main(int argc, char **argv) {
    (void)argv;
    static unsigned char page[4096], *no_page;
    for (unsigned i = 0; i < sizeof page; i++) page[i] = i * 7 % 253;
    for (unsigned i = 11; i < sizeof page; i += 501) page[i] = 255;
    no_page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(no_page, page, 4096);
    mprotect(no_page + 4096, 4096, PROT_NONE);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGSEGV, &action, 0);
    volatile unsigned sum = 0;
    for (volatile unsigned n = 0; n < 4000; n++) {
        if (sigsetjmp(out, 1)) continue;
        sum += argc > 1 && n % 100 == 99 ? usual(no_page + 4096 - n % 61, n) : usual(page + n % 1000, n);
        sum += odd(n % 50);
    }
    printf("%u %u %u %u\n", sum, caught, rare, locked);
    return 0;
}
