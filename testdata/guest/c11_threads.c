// covers: futex clone exit
// flags: -pthread
#include "guest.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

/* Threads of C11: results, mutexes, conditions, storage, and calls that are made once; and fork(2) with its handlers. */
static mtx_t plain, timed, recursive;
static cnd_t cond;
static once_flag once = ONCE_FLAG_INIT;
static tss_t storage;
static thread_local int own = 7;
static atomic_int sum, calls;
static int turn;

static void first(void)
{
    calls++;
}
static void destroy(void *value)
{
    sum += (int)(long)value;
}
static int adds(void *arg)
{
    call_once(&once, first), own += (int)(long)arg, tss_set(storage, (void *)(long)own);
    for (int i = 0; i < 100; i++)
        mtx_lock(&plain), turn++, mtx_unlock(&plain), atomic_fetch_add(&sum, 1);
    return own;
}
static int exits(void *arg)
{
    thrd_exit(*(int *)arg);
}
static const char *name(int r)
{
    return r == thrd_success ? "success" : r == thrd_busy ? "busy" : r == thrd_error ? "error" : r == thrd_nomem ? "nomem" : r == thrd_timedout ? "timed out" : "?";
}
static int locks(void *arg)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC), t.tv_nsec += 3000000, t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
    return mtx_timedlock(arg, &t);
}
static int tries(void *arg)
{
    return mtx_trylock(arg);
}
static int waits(void *arg)
{
    int *state = arg;
    mtx_lock(&plain), *state = 1, cnd_broadcast(&cond);
    while (*state != 2)
        cnd_wait(&cond, &plain);
    *state = 3, mtx_unlock(&plain);
    return 5;
}
static int run(thrd_start_t work, void *arg)
{
    thrd_t t;
    int result = -1;
    thrd_create(&t, work, arg), thrd_join(t, &result);
    return result;
}
static void before(void)
{
    printf("before\n");
}
static void before2(void)
{
    printf("before, registered later\n"), fflush(stdout);
}
static void parent(void)
{
    printf("in the parent\n");
}
static void child_(void)
{
    printf("in the child\n");
}

int main(void)
{
    printf("%s %s %s\n", name(mtx_init(&plain, mtx_plain)), name(mtx_init(&timed, mtx_timed)), name(mtx_init(&recursive, mtx_plain | mtx_recursive))),
        cnd_init(&cond), tss_create(&storage, destroy);
    thrd_t t[4];
    int results = 0, r, n = 42;
    for (long i = 0; i < 4; i++)
        thrd_create(&t[i], adds, (void *)i);
    for (int i = 0; i < 4; i++)
        thrd_join(t[i], &r), results += r;
    printf("results %d sum %d turn %d calls %d own %d\n", results, sum, turn, calls, own), num(run(exits, &n));
    mtx_lock(&plain), printf("try: %s\n", name(run(tries, &plain))), mtx_unlock(&plain), mtx_lock(&timed),
        printf("timed: %s\n", name(run(locks, &timed))), mtx_unlock(&timed), printf("free: %s\n", name(run(locks, &timed))),
        printf("%s %s %s\n", name(mtx_lock(&recursive)), name(mtx_trylock(&recursive)), name(mtx_unlock(&recursive))),
        printf("held once: %s\n", name(run(tries, &recursive)));
    int state = 0;
    thrd_create(&t[0], waits, &state), mtx_lock(&plain);
    while (state != 1)
        cnd_wait(&cond, &plain);
    struct timespec now;
    timespec_get(&now, TIME_UTC), printf("past: %s\n", name(cnd_timedwait(&cond, &plain, &now))), state = 2, cnd_signal(&cond), mtx_unlock(&plain),
        thrd_join(t[0], &r), printf("%d %d\n", r, state);
    struct timespec ms = {0, 1000000}, bad = {0, -1}, left;
    num(thrd_sleep(&ms, &left)), is(thrd_sleep(&bad, 0) < -1), is(thrd_equal(thrd_current(), thrd_current())), thrd_yield(),
        is(tss_get(storage) == 0), thrd_create(&t[0], exits, &n), printf("detach: %s\n", name(thrd_detach(t[0])));
    pthread_atfork(before, parent, child_), pthread_atfork(before2, parent, child_), fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        fflush(stdout), _exit(0);
    waitpid(pid, 0, 0), printf("end\n");
    return 0;
}
