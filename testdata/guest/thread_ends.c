// covers: clone exit futex tgkill rt_sigaction exit_group
// flags: -pthread
#include "guest.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

/* Ends of threads: results, cancellation at its points, handlers that clean up, destructors of thread-specific data, and
 * what the end of the first thread means. */
static pthread_key_t key, second;
static int fds[2], order;

static void destroy(void *value)
{
    printf("  destructor of %s\n", (char *)value);
    if (strcmp(value, "first") == 0)
        pthread_setspecific(key, "first, again");
}
static void clean(void *arg)
{
    printf("  cleans %s\n", (char *)arg);
}
static void inner(void)
{
    pthread_exit("from a function");
}
static void *exits(void *arg)
{
    pthread_setspecific(key, "first"), pthread_setspecific(second, "second");
    pthread_cleanup_push(clean, "outer");
    pthread_cleanup_push(clean, "inner");
    if (arg)
        inner();
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return "returned";
}
static void *reads(void *arg)
{
    char c;
    pthread_cleanup_push(clean, "a read");
    if (read(fds[0], &c, 1) < 0)
        printf("read failed\n");
    pthread_cleanup_pop(0);
    return arg;
}
static void *disabled(void *arg)
{
    int old = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), printf("  was enabled %d\n", old == PTHREAD_CANCEL_ENABLE);
    while (!__atomic_load_n(&order, __ATOMIC_ACQUIRE))
        usleep(200);
    pthread_testcancel(), printf("  still here\n"), pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0), printf("  enabled again\n"),
        pthread_testcancel(), printf("  never\n");
    return arg;
}
static void *loops(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    __atomic_store_n(&order, 2, __ATOMIC_RELEASE);
    for (volatile long i = 0;; i++)
        ;
    return arg;
}
static void *waits(void *arg)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&m);
    pthread_cleanup_push(clean, "a condition");
    pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(0);
    return arg;
}
static void *itself(void *arg)
{
    pthread_cancel(pthread_self()), printf("  asked itself\n"), usleep(1), printf("  never\n");
    return arg;
}
static void *joins_itself(void *arg)
{
    show("  joins itself", -pthread_join(pthread_self(), 0));
    return arg;
}
static const char *end(pthread_t t)
{
    void *value = 0;
    int r = pthread_join(t, &value);
    return r ? strerrorname_np(r) : value == PTHREAD_CANCELED ? "cancelled" : value ? value : "nothing";
}
static pthread_t start(void *(*work)(void *), void *arg)
{
    pthread_t t;
    pthread_create(&t, 0, work, arg);
    return t;
}
static void *outlives(void *arg)
{
    usleep(3000), printf("the last thread\n"), fflush(stdout);
    return arg;
}

int main(void)
{
    pthread_key_create(&key, destroy), pthread_key_create(&second, destroy);
    if (pipe(fds))
        return 1;
    printf("returns\n"), printf("%s\n", end(start(exits, 0))), printf("exits\n"), printf("%s\n", end(start(exits, "x")));
    pthread_t t = start(reads, 0);
    usleep(2000);
    int cancelled = pthread_cancel(t);
    printf("read: %s\n", end(t)), show("cancel", -cancelled), t = start(disabled, 0), usleep(1000), pthread_cancel(t),
        __atomic_store_n(&order, 1, __ATOMIC_RELEASE), printf("disabled: %s\n", end(t)), t = start(loops, 0);
    while (__atomic_load_n(&order, __ATOMIC_ACQUIRE) != 2)
        usleep(200);
    pthread_cancel(t), printf("loop: %s\n", end(t)), t = start(waits, 0), usleep(2000), pthread_cancel(t), printf("condition: %s\n", end(t)),
        printf("itself: %s\n", end(start(itself, 0))), end(start(joins_itself, 0));
    t = start(reads, "has read"), show("try", -pthread_tryjoin_np(t, 0));
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon), soon.tv_nsec += 2000000, soon.tv_sec += soon.tv_nsec / 1000000000, soon.tv_nsec %= 1000000000,
        show("timed", -pthread_timedjoin_np(t, 0, &soon));
    if (write(fds[1], "x", 1) == 1)
        printf("read: %s\n", end(t));
    t = start(reads, 0), show("detach", -pthread_detach(t)), show("join a detached one", -pthread_join(t, 0)),
        show("state 9", -pthread_setcancelstate(9, 0)), show("type 9", -pthread_setcanceltype(9, 0));
    show("delete", -pthread_key_delete(second)), show("again", -pthread_key_delete(second)),
        show("set a deleted one", -pthread_setspecific(second, "x")), is(pthread_getspecific(second) == 0);
    fflush(stdout);
    /* The first thread goes, the process stays. */
    pid_t pid = fork();
    if (pid == 0) {
        printf("the first thread\n"), start(outlives, 0), pthread_exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0), num(status);
    return 0;
}
