/* Processes of which much is kept; the first argument says what, the second how many. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEN(x) x x x x x x x x x x
#define SIZE (8 << 20)

static volatile unsigned sum;

/* Many instructions on each level. */
static int down(int levels)
{
    TEN(TEN(sum += levels;))
    return levels ? down(levels - 1) + 1 : 0;
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0, i;
    if (!strcmp(argv[1], "recursion")) {
        for (i = 0; i < count; i++) {
            if (!fork())
                _exit(down(200) != 200);
            wait(0);
        }
        return 0;
    }
    /* Every process begins with caches that are full. */
    volatile char *all = malloc(SIZE);
    for (i = 0; i < SIZE; i += 64)
        all[i] = 1;
    for (i = 0; i < count; i++)
        if (!fork())
            pause();
    kill(0, SIGKILL);
    return 0;
}
