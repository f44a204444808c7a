// covers: futex set_robust_list get_robust_list membarrier
#include "guest.h"
#include <linux/futex.h>

static int word, other;

int main(void)
{
    struct timespec soon = {0, 1000}, bad = {0, 1000000000}, negative = {-1, 0};
    int *misaligned = (int *)((char *)&word + 1);
    int *ro = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int *none = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int *shared_ro = mmap(0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int *file = mmap(0, 8192, PROT_READ, MAP_SHARED, S(open, "host/file", O_RDONLY), 0);
    word = 5;
    for (int flags = 0; flags <= 128; flags += 128) {
        printf("flags %d\n", flags);
        for (int op = 0; op <= 14; op++) {
            /* What takes a lock of another task is tried below. */
            if (op == FUTEX_LOCK_PI || op == FUTEX_UNLOCK_PI || op == FUTEX_TRYLOCK_PI || op == FUTEX_LOCK_PI2)
                continue;
            char what[64];
            int code = op | flags;
            int *at[] = {&word, misaligned, BAD, NULL, KERNEL, ro, none, shared_ro, file};
            for (unsigned i = 0; i < sizeof at / sizeof *at; i++) {
                word = 5, other = 5;
                if (op == FUTEX_WAIT_REQUEUE_PI || op == FUTEX_CMP_REQUEUE_PI)
                    continue;
                sprintf(what, "op %d at %u", op, i);
                show(what, S(futex, at[i], code, op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET ? 6 : 1, 0, &other, 6));
                sprintf(what, "op %d to %u", op, i);
                if (op == FUTEX_REQUEUE || op == FUTEX_CMP_REQUEUE || op == FUTEX_WAKE_OP)
                    show(what, S(futex, &word, code, 1, 0, at[i], 5));
            }
        }
        T(futex, &word, FUTEX_WAIT | flags, 5, &soon);
        T(futex, &word, FUTEX_WAIT | flags, 5, &bad);
        T(futex, &word, FUTEX_WAIT | flags, 5, &negative);
        T(futex, &word, FUTEX_WAIT | flags, 6, &bad);
        T(futex, &word, FUTEX_WAIT | flags, 6, BAD);
        T(futex, misaligned, FUTEX_WAIT | flags, 6, BAD);
        T(futex, &word, FUTEX_WAIT | FUTEX_CLOCK_REALTIME | flags, 5, &soon);
        T(futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | flags, 5, &soon, 0, 1);
        T(futex, &word, FUTEX_WAIT_BITSET | flags, 5, &soon, 0, 0);
        T(futex, &word, FUTEX_WAKE_BITSET | flags, 5, 0, 0, 0);
        T(futex, &word, FUTEX_WAKE | FUTEX_CLOCK_REALTIME | flags, 1);
        T(futex, &word, FUTEX_WAKE | flags, 0);
        T(futex, &word, FUTEX_WAKE | flags, -1);
        T(futex, &word, FUTEX_REQUEUE | flags, -1, 1, &other, 0);
        T(futex, &word, FUTEX_REQUEUE | flags, 1, -1, &other, 0);
        T(futex, &word, FUTEX_REQUEUE | flags, 1, 1, &word, 0);
        T(futex, &word, FUTEX_CMP_REQUEUE | flags, 1, 1, &other, 4);
        for (int op = 0; op < 16; op++)
            for (int cmp = 0; cmp < 8; cmp++) {
                other = 12;
                printf("wake op %d cmp %d: %ld, %d\n", op, cmp,
                       S(futex, &word, FUTEX_WAKE_OP | flags, 1, 1, &other, op << 28 | cmp << 24 | 3 << 12 | 12), other);
            }
        int me = (int)S(gettid);
        word = 0;
        T(futex, &word, FUTEX_LOCK_PI | flags, 0, 0);
        is(word == me);
        T(futex, &word, FUTEX_LOCK_PI | flags, 0, 0);
        T(futex, &word, FUTEX_TRYLOCK_PI | flags, 0, 0);
        T(futex, &word, FUTEX_UNLOCK_PI | flags, 0, 0);
        num(word);
        T(futex, &word, FUTEX_UNLOCK_PI | flags, 0, 0);
        word = 0;
        T(futex, &word, FUTEX_TRYLOCK_PI | flags, 0, 0);
        is(word == me);
        T(futex, &word, FUTEX_UNLOCK_PI | flags);
        word = FUTEX_WAITERS;
        T(futex, &word, FUTEX_LOCK_PI | flags, 0, 0);
        printf("%x\n", word & ~me);
        word = FUTEX_OWNER_DIED;
        T(futex, &word, FUTEX_LOCK_PI | flags, 0, 0);
        printf("%x\n", word & ~me);
        T(futex, &word, FUTEX_UNLOCK_PI | flags);
        word = 0x3ffffffe;
        T(futex, &word, FUTEX_LOCK_PI | flags, 0, 0);
        T(futex, &word, FUTEX_TRYLOCK_PI | flags, 0, 0);
        T(futex, &word, FUTEX_UNLOCK_PI | flags, 0, 0);
        T(futex, misaligned, FUTEX_LOCK_PI | flags, 0, 0);
        T(futex, BAD, FUTEX_LOCK_PI | flags, 0, 0);
        T(futex, ro, FUTEX_LOCK_PI | flags, 0, 0);
        T(futex, BAD, FUTEX_UNLOCK_PI | flags, 0, 0);
        word = 0;
        T(futex, &word, FUTEX_LOCK_PI | flags, 0, &bad);
        T(futex, &word, FUTEX_LOCK_PI | flags, 0, BAD);
        T(futex, &word, FUTEX_LOCK_PI | FUTEX_CLOCK_REALTIME | flags, 0, 0);
        num(word ? 1 : 0);
        word = 0;
    }
    word = 5;
    T(futex, &word, 99, 0);
    T(futex, &word, 15, 0);
    T(futex, &word, 2, 0);
    T(futex, &word, 512, 0);
    T(futex, &word, 1 | 512, 0);
    T(set_robust_list, &word, 24);
    T(set_robust_list, &word, 23);
    T(set_robust_list, BAD, 24);
    long head = 0, len = 0;
    T(get_robust_list, 0, &head, &len);
    is(head == 16 && len == 24);
    T(get_robust_list, -1, &head, &len);
    T(get_robust_list, 0x7fffffff, &head, &len);
    T(get_robust_list, 0, BAD, &len);
    T(get_robust_list, 0, &head, BAD);
    T(set_robust_list, 0, 24);

    T(membarrier, 0, 1, 0);
    T(membarrier, 1 << 20, 0, 0);
    T(membarrier, -1, 0, 0);
    T(membarrier, 3, 0, 0);
    is((S(membarrier, 0, 0, 0) & 0x1f) == 0x1f);
    T(membarrier, 8, 0, 0);
    T(membarrier, 16, 0, 0);
    T(membarrier, 8, 0, 0);
    T(membarrier, 8, 1, 0);
    T(membarrier, 32, 0, 0);
    T(membarrier, 64, 0, 0);
    T(membarrier, 32, 0, 0);
    T(membarrier, 2, 0, 0);
    T(membarrier, 4, 0, 0);
    T(membarrier, 2, 0, 0);
    T(membarrier, 1, 0, 0);
}
