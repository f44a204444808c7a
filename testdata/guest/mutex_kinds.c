// covers: futex set_robust_list
// flags: -pthread
// Robust mutexes and those with priority inheritance, whose owners may die with them.
#include "guest.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

static pthread_mutex_t *shared;

static void init(pthread_mutex_t *mutex, int robust, int protocol, int pshared)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setpshared(&attributes, pshared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    show("init", -pthread_mutex_init(mutex, &attributes));
}

static pthread_mutex_t mutex;
static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&mutex);
        long before = counter;
        if (i % 10 == 0)
            sched_yield();
        counter = before + 1;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void *die_with_it(void *arg)
{
    show("lock", -pthread_mutex_lock(&mutex));
    if (arg)
        usleep(50000); /* until somebody waits */
    return NULL;
}

static void *try_it(void *arg)
{
    show("another's lock", -pthread_mutex_trylock(&mutex));
    show("another's unlock", -pthread_mutex_unlock(&mutex));
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 20000000;
    if (at.tv_nsec >= 1000000000)
        at.tv_sec++, at.tv_nsec -= 1000000000;
    show("timed", -pthread_mutex_timedlock(&mutex, &at));
    return arg;
}

static void each(const char *kind, int robust, int protocol)
{
    printf("%s\n", kind);
    init(&mutex, robust, protocol, 0);
    pthread_t threads[3];
    counter = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    show("counter", counter);
    show("lock", -pthread_mutex_lock(&mutex));
    show("lock again", -pthread_mutex_lock(&mutex));
    pthread_create(&threads[0], NULL, try_it, NULL);
    pthread_join(threads[0], NULL);
    show("unlock", -pthread_mutex_unlock(&mutex));
    show("unlock again", -pthread_mutex_unlock(&mutex));
    if (!robust)
        return;
    for (long waits = 0; waits < 2; waits++) {
        pthread_create(&threads[0], NULL, die_with_it, (void *)waits);
        if (waits)
            usleep(10000);
        else
            pthread_join(threads[0], NULL);
        show("owner died", -pthread_mutex_lock(&mutex));
        if (waits)
            pthread_join(threads[0], NULL);
        show("consistent", -pthread_mutex_consistent(&mutex));
        show("unlock", -pthread_mutex_unlock(&mutex));
    }
    pthread_create(&threads[0], NULL, die_with_it, NULL);
    pthread_join(threads[0], NULL);
    show("owner died", -pthread_mutex_lock(&mutex));
    show("unlock without repair", -pthread_mutex_unlock(&mutex));
    show("lost", -pthread_mutex_lock(&mutex));
}

static void between(const char *kind, int protocol)
{
    printf("%s\n", kind);
    init(shared, 1, protocol, 1);
    fflush(stdout);
    int ready[2];
    if (pipe(ready))
        return;
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(shared);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        usleep(50000);
        kill(getpid(), SIGKILL);
    }
    char byte;
    show("ready", read(ready[0], &byte, 1));
    show("owner died in another process", -pthread_mutex_lock(shared));
    show("consistent", -pthread_mutex_consistent(shared));
    show("unlock", -pthread_mutex_unlock(shared));
    int status;
    show("child", waitpid(child, &status, 0) == child ? WTERMSIG(status) : -1);
}

int main(void)
{
    each("plain", 0, PTHREAD_PRIO_NONE);
    each("robust", 1, PTHREAD_PRIO_NONE);
    each("inheriting", 0, PTHREAD_PRIO_INHERIT);
    each("inheriting and robust", 1, PTHREAD_PRIO_INHERIT);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    between("robust, shared", PTHREAD_PRIO_NONE);
    between("inheriting and robust, shared", PTHREAD_PRIO_INHERIT);
    return 0;
}
