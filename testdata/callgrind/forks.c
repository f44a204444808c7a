/* Functions that end parts, in a process, in its child, and in a program that the child executes. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

volatile int one = 1;

APART int g(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += one;
    return sum;
}

APART int f(int n) { return g(n) + g(2 * n) + one; }

int main(int argc, char **argv) {
    if (argc > 1) return f(2) + f(3) == 0;
    int sum = f(5);
    if (!fork()) {
        sum += g(7);
        sum += f(1);
        execl(argv[0], argv[0], "again", (char *)0);
        _exit(1);
    }
    wait(0);
    return sum + f(4) + g(3) == 0;
}
