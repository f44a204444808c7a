// covers: setitimer rt_sigaction
// native: skip Linux's timers come some instructions late, and each time others
// expect: timer_exact.out
/* A timer that goes off in the middle of long pieces of code without a jump: at exactly the instruction at which
 * it is due, one nanosecond each, so that as many are between any two signals, less what the handler and its return
 * take. */
#include "emulated.h"
#include <sys/time.h>
#include <ucontext.h>

#define PIECE 5000
#define PIECES 200

static long done[400];
static volatile int signals;

static void handler(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    if (signals < 400)
        done[signals++] = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX];
}

int main(void)
{
    struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGALRM, &act, NULL);
    struct itimerval each = {{0, 7}, {0, 7}}, none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &each, NULL);
    long counted, pieces = PIECES;
    __asm__ volatile("xor %%eax, %%eax\n1: .rept 5000\n inc %%rax\n .endr\n dec %1\n jnz 1b"
                     : "=a"(counted), "+r"(pieces));
    setitimer(ITIMER_REAL, &none, NULL);
    /* What is between two signals, with the two instructions behind each piece. */
    long distance = 0, differ = 0, places = 0;
    for (int i = 2; i < signals; i++) {
        long between = done[i] - done[i - 1] + 2 * (done[i] / PIECE - done[i - 1] / PIECE);
        differ += i > 2 && between != distance;
        places += done[i] % PIECE != done[i - 1] % PIECE;
        distance = between;
    }
    printf("counted %ld\n", counted);
    printf("signals %d, at other places %d\n", signals > 140, places > 130);
    printf("distances that differ: %ld; what is left of 7000: %d\n", differ,
           distance < 6800 && distance > 6700);
    return 0;
}
