// covers: futex
// flags: -pthread
// Threads that wait for each other by everything that the C library has for it.
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t full, empty;
static long counter, sum, pair[2], torn;
static int slots[8], filled, taken, phase[THREADS], behind;

static void *count(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *produce(void *arg)
{
    for (int i = 1; i <= ROUNDS; i++) {
        sem_wait(&empty);
        pthread_mutex_lock(&lock);
        slots[filled++ % 8] = i;
        pthread_mutex_unlock(&lock);
        sem_post(&full);
    }
    return arg;
}

static void *consume(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&full);
        pthread_mutex_lock(&lock);
        sum += slots[taken++ % 8];
        pthread_mutex_unlock(&lock);
        sem_post(&empty);
    }
    return arg;
}

static void *step(void *arg)
{
    long me = (long)arg;
    for (int i = 1; i <= 50; i++) {
        phase[me] = i;
        pthread_barrier_wait(&barrier);
        for (int other = 0; other < THREADS; other++)
            if (phase[other] != i)
                __atomic_add_fetch(&behind, 1, __ATOMIC_RELAXED);
        pthread_barrier_wait(&barrier);
    }
    return arg;
}

static void *write_pair(void *arg)
{
    for (int i = 0; i < 300; i++) {
        pthread_rwlock_wrlock(&rwlock);
        pair[0]++;
        sched_yield();
        pair[1]++;
        pthread_rwlock_unlock(&rwlock);
    }
    return arg;
}

static void *read_pair(void *arg)
{
    for (int i = 0; i < 300; i++) {
        pthread_rwlock_rdlock(&rwlock);
        if (pair[0] != pair[1])
            __atomic_add_fetch(&torn, 1, __ATOMIC_RELAXED);
        sched_yield();
        pthread_rwlock_unlock(&rwlock);
    }
    return arg;
}

static int turn;

static void *take_turns(void *arg)
{
    int me = (int)(long)arg;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 20; i++) {
        while (turn % THREADS != me)
            pthread_cond_wait(&changed, &lock);
        turn++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void run(const char *what, void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? second : first, (void *)i);
    long results = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        show(what, pthread_join(threads[i], &result));
        results += (long)result;
    }
    show("results", results);
}

static struct timespec soon(int milliseconds)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 1000000000 + milliseconds * 1000000L; /* it may be in the past */
    at.tv_sec += at.tv_nsec / 1000000000 - 1;
    at.tv_nsec %= 1000000000;
    return at;
}

static void *hold(void *arg)
{
    struct timespec at = soon(20);
    show("timed lock of a held mutex", -pthread_mutex_timedlock(&lock, &at));
    return arg;
}

int main(void)
{
    run("count", count, count);
    show("counter", counter);
    sem_init(&empty, 0, 8);
    sem_init(&full, 0, 0);
    run("queue", produce, consume);
    show("sum", sum);
    pthread_barrier_init(&barrier, NULL, THREADS);
    run("barrier", step, step);
    show("behind", behind);
    run("rwlock", write_pair, read_pair);
    show("torn", torn);
    show("written", pair[0]);
    run("turns", take_turns, take_turns);
    show("turn", turn);

    struct timespec at = soon(20);
    pthread_mutex_lock(&lock);
    show("timed wait", -pthread_cond_timedwait(&changed, &lock, &at));
    pthread_t thread;
    pthread_create(&thread, NULL, hold, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&lock);
    at = soon(20);
    show("timed semaphore", sem_timedwait(&full, &at) ? -errno : 0);
    at = soon(-20);
    show("semaphore in the past", sem_timedwait(&full, &at) ? -errno : 0);
    return 0;
}
