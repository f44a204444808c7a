#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int counter;
static int table[4096];

int step(int i)
{
    counter += i;
    table[(i * 97) & 4095] ^= i;
    return counter;
}

int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += step(i);
    return sum;
}

static void handler(int signal)
{
    counter = -signal;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    char line[64];
    long got = read(0, line, sizeof line);
    printf("read %ld\n", got);
    printf("sum %d\n", work(n));
    fflush(stdout);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    if (argc > 2)
        execl("/bin/true", "true", (char *)0);
    return 3;
}
