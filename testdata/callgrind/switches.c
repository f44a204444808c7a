/* Instrumentation that is switched off and on in one function, with parts before, between and after. */
#include <valgrind/callgrind.h>
#define APART __attribute__((noinline, noclone))

volatile int one = 1;

APART int g(int n) { return n > 1 ? n * one + g(n - 1) : one; }
APART int f(int n) { return g(n) + g(2 * n) + one; }

int main(void) {
    int sum = f(3);
    CALLGRIND_DUMP_STATS;
    sum += f(5);
    CALLGRIND_STOP_INSTRUMENTATION;
    sum += f(7);
    CALLGRIND_START_INSTRUMENTATION;
    sum += f(9);
    CALLGRIND_DUMP_STATS;
    sum += f(2) + g(3);
    CALLGRIND_DUMP_STATS;
    sum += f(4);
    return sum == 0;
}
