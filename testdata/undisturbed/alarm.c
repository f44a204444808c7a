/* Computes while a timer interrupts it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile unsigned ticks, seen;
static char text[256];

static void tick(int number)
{
    ticks++;
    seen = seen * 31 + (unsigned)number;
    snprintf(text, sizeof text, "tick %u", ticks);
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    sigaction(SIGALRM, &action, 0);
    struct itimerval every = {{0, 300}, {0, 500}};
    setitimer(ITIMER_REAL, &every, 0);
    unsigned hash = 1;
    static unsigned table[4096];
    for (unsigned i = 0; i < 600000; i++) {
        hash = hash * 1664525 + 1013904223;
        table[hash >> 20] += hash ^ ticks;
    }
    printf("%u %u %u %s\n", hash, ticks, table[17], text);
    return ticks > 3 ? 5 : 6;
}
