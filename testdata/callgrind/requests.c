/* What a program asks of Callgrind itself: parts, zeros and switches, at the outermost level and within calls. */
#include <valgrind/callgrind.h>
#define APART __attribute__((noinline, noclone))

volatile int one = 1;

APART int h(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += one;
    return sum;
}

APART int g(int n) {
    int sum = h(n);
    if (n == 11) CALLGRIND_DUMP_STATS;
    if (n == 12) CALLGRIND_ZERO_STATS;
    if (n == 13) CALLGRIND_TOGGLE_COLLECT;
    return sum + h(2 * n);
}

APART int rec(int n) {
    if (n == 2) CALLGRIND_DUMP_STATS_AT("in recursion");
    return n ? rec(n - 1) + h(3) + one : 0;
}

int main(void) {
    int sum = g(1);
    CALLGRIND_DUMP_STATS_AT("first");
    sum += g(2) + g(11) + rec(4);
    CALLGRIND_DUMP_STATS;
    sum += g(3);
    CALLGRIND_ZERO_STATS;
    sum += g(4) + g(12);
    CALLGRIND_DUMP_STATS_AT("after zeros");
    sum += g(5);
    CALLGRIND_TOGGLE_COLLECT;
    sum += g(6) + rec(3);
    CALLGRIND_TOGGLE_COLLECT;
    sum += g(7) + g(13) + h(8);
    CALLGRIND_TOGGLE_COLLECT;
    sum += h(9);
    CALLGRIND_DUMP_STATS_AT("after switches");
    sum += g(14) + rec(3);
    return sum == 0;
}
