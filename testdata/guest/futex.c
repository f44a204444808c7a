// covers: futex
#include "guest.h"
#include <linux/futex.h>
#include <time.h>

int main(void)
{
    uint32_t word = 5, other = 6;
    struct timespec soon = {0, 2000000}, bad = {0, 1000000000}, past = {1, 0};

    T(futex, &word, FUTEX_WAKE, 1);
    T(futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX);
    T(futex, &word, FUTEX_WAIT, 4, NULL);
    T(futex, &word, FUTEX_WAIT_PRIVATE, 4, NULL);
    T(futex, &word, FUTEX_WAIT, 5, &soon);
    T(futex, &word, FUTEX_WAIT_PRIVATE, 5, &soon);
    T(futex, &word, FUTEX_WAIT, 5, &bad);
    T(futex, &word, FUTEX_WAIT_BITSET, 5, &past, NULL, -1);
    T(futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 5, &past, NULL, -1);
    T(futex, &word, FUTEX_WAIT_BITSET, 5, &past, NULL, 0);
    T(futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0);
    T(futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 1);
    T(futex, (char *)&word + 1, FUTEX_WAIT, 5, NULL);
    T(futex, (char *)&word + 1, FUTEX_WAKE, 1);
    T(futex, BAD, FUTEX_WAIT, 5, NULL);
    T(futex, &word, FUTEX_WAIT, 5, BAD);
    T(futex, BAD, FUTEX_WAKE_PRIVATE, 1);
    T(futex, &word, FUTEX_REQUEUE, 1, 1, &other);
    T(futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &other, 5);
    T(futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &other, 4);
    T(futex, &word, FUTEX_WAKE_OP, 1, 1, &other, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 6));
    num(other);
    T(futex, &word, 99, 1);
    T(futex, &word, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1);
    uint32_t pi = 0;
    T(futex, &pi, FUTEX_LOCK_PI, 0, NULL);
    is(pi == (uint32_t)S(gettid));
    T(futex, &pi, FUTEX_TRYLOCK_PI, 0, NULL);
    T(futex, &pi, FUTEX_UNLOCK_PI, 0, NULL);
    num(pi);
    T(futex, &pi, FUTEX_UNLOCK_PI, 0, NULL);
    return 0;
}
