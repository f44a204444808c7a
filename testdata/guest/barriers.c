// covers: futex clone
// flags: -pthread
#include "guest.h"
#include <pthread.h>
#include <time.h>

/* Barriers, read-write locks, spin locks and condition variables of the C library: what each refuses, and what becomes
 * of a wait whose time is up. */
static pthread_barrier_t barrier;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int serial, waiting, woken, ready;

static struct timespec in(int clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t), t.tv_nsec += ms * 1000000, t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
    return t;
}
static void *meets(void *arg)
{
    for (int i = 0; i < 10; i++) {
        int r = pthread_barrier_wait(&barrier);
        if (r == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
        else if (r)
            printf("barrier: %d\n", r);
    }
    return arg;
}
static void *reads(void *arg)
{
    (void)arg;
    struct timespec t = in(CLOCK_REALTIME, 4), m = in(CLOCK_MONOTONIC, 4), bad = {0, -1};
    show("other: try read", -pthread_rwlock_tryrdlock(&lock)), show("other: try write", -pthread_rwlock_trywrlock(&lock)),
        show("other: timed read", -pthread_rwlock_timedrdlock(&lock, &t)),
        show("other: monotonic write", -pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &m)),
        show("other: bad time", -pthread_rwlock_timedrdlock(&lock, &bad));
    return 0;
}
static void *reads_too(void *arg)
{
    show("other: read beside a reader", -pthread_rwlock_tryrdlock(&lock)), show("other: write beside", -pthread_rwlock_trywrlock(&lock)),
        pthread_rwlock_unlock(&lock);
    return arg;
}
static void *waits(void *arg)
{
    pthread_mutex_lock(&mutex), waiting++;
    while (!ready)
        pthread_cond_wait(&cond, &mutex);
    ready--, woken++, pthread_mutex_unlock(&mutex);
    return arg;
}
static void join(void *(*work)(void *), void *arg)
{
    pthread_t t;
    pthread_create(&t, 0, work, arg), pthread_join(t, 0);
}
static void *locks(void *arg)
{
    struct timespec t = in(CLOCK_REALTIME, 4), m = in(CLOCK_MONOTONIC, 4);
    show("other: try", -pthread_mutex_trylock(arg)), show("other: timed", -pthread_mutex_timedlock(arg, &t)),
        show("other: monotonic", -pthread_mutex_clocklock(arg, CLOCK_MONOTONIC, &m)), show("other: unlock", -pthread_mutex_unlock(arg));
    return 0;
}

int main(void)
{
    pthread_t t[4];
    show("barrier of 0", -pthread_barrier_init(&barrier, 0, 0)), show("barrier of 4", -pthread_barrier_init(&barrier, 0, 4));
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, meets, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    num(serial), show("destroy", -pthread_barrier_destroy(&barrier));

    show("write", -pthread_rwlock_wrlock(&lock)), show("write again", -pthread_rwlock_wrlock(&lock)), show("read too", -pthread_rwlock_rdlock(&lock)),
        join(reads, 0), pthread_rwlock_unlock(&lock), show("read", -pthread_rwlock_rdlock(&lock)), show("read again", -pthread_rwlock_rdlock(&lock)),
        join(reads_too, 0), pthread_rwlock_unlock(&lock), pthread_rwlock_unlock(&lock), show("write", -pthread_rwlock_trywrlock(&lock)),
        pthread_rwlock_unlock(&lock);

    /* Kinds of mutexes. */
    const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t attr;
        pthread_mutex_t m;
        pthread_mutexattr_init(&attr), pthread_mutexattr_settype(&attr, kinds[i]), pthread_mutex_init(&m, &attr), printf("== kind %d\n", kinds[i]);
        if (kinds[i] != PTHREAD_MUTEX_NORMAL)
            show("unlock of a free one", -pthread_mutex_unlock(&m));
        pthread_mutex_lock(&m), show("try again", -pthread_mutex_trylock(&m));
        if (kinds[i] != PTHREAD_MUTEX_NORMAL)
            show("lock again", -pthread_mutex_lock(&m)), join(locks, &m);
        show("unlock", -pthread_mutex_unlock(&m)), show("destroy", -pthread_mutex_destroy(&m));
    }
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr), show("kind 9", -pthread_mutexattr_settype(&attr, 9)), show("protocol 9", -pthread_mutexattr_setprotocol(&attr, 9)),
        show("robust 9", -pthread_mutexattr_setrobust(&attr, 9)), show("shared 9", -pthread_mutexattr_setpshared(&attr, 9));

    /* Conditions: one, all, nobody in time. */
    struct timespec soon = in(CLOCK_REALTIME, 3), late = in(CLOCK_REALTIME, -3), mono = in(CLOCK_MONOTONIC, 3), bad = {0, 1000000000};
    pthread_mutex_lock(&mutex), show("timed", -pthread_cond_timedwait(&cond, &mutex, &soon)),
        show("past", -pthread_cond_timedwait(&cond, &mutex, &late)),
        show("monotonic", -pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &mono)), show("bad", -pthread_cond_timedwait(&cond, &mutex, &bad)),
        show("still locked", -pthread_mutex_trylock(&mutex)), pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, waits, 0);
    for (int done = 0; !done; usleep(200))
        pthread_mutex_lock(&mutex), done = waiting == 4, pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex), ready = 1, pthread_cond_signal(&cond), pthread_mutex_unlock(&mutex);
    for (int done = 0; !done; usleep(200))
        pthread_mutex_lock(&mutex), done = woken == 1, pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex), num(woken), ready = 3, pthread_cond_broadcast(&cond), pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    num(woken), num(ready), show("destroy", -pthread_cond_destroy(&cond));
    pthread_spinlock_t spin;
    pthread_spin_init(&spin, 0), show("spin", -pthread_spin_lock(&spin)), show("try", -pthread_spin_trylock(&spin)), pthread_spin_unlock(&spin),
        show("try", -pthread_spin_trylock(&spin));
    return 0;
}
