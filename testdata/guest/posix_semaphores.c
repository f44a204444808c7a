// covers: futex open mmap fork unlink link
// flags: -pthread
#include "child.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/time.h>
#include <time.h>

/* Semaphores of POSIX, named and not, between threads and processes. */
static sem_t *s;
static char name[64];

static void value(const char *what)
{
    int v = -99;
    sem_getvalue(s, &v), printf("%s: %d\n", what, v);
}
static long result(int r)
{
    return r ? -errno : 0;
}
static void posts(void)
{
    usleep(2000), sem_post(s), sem_post(s);
}
static void waits(void)
{
    show("child waits", result(sem_wait(s)));
}
static void *thread_waits(void *arg)
{
    for (int i = 0; i < 100; i++)
        sem_wait(s), ++*(int *)arg, sem_post(s);
    return 0;
}
static void handler(int signo)
{
    (void)signo;
}
static long timed(int clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t), t.tv_nsec += ms * 1000000, t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
    return result(clock == CLOCK_REALTIME ? sem_timedwait(s, &t) : sem_clockwait(s, clock, &t));
}

int main(void)
{
    s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    show("init", result(sem_init(s, 1, 2))), value("2"), show("try", result(sem_trywait(s))), show("try", result(sem_trywait(s))),
        show("try", result(sem_trywait(s))), value("0"), show("too large", result(sem_init(s + 1, 0, 0x80000000u))),
        show("timed", timed(CLOCK_REALTIME, 3)), show("monotonic", timed(CLOCK_MONOTONIC, 3)), show("past", timed(CLOCK_REALTIME, -5)),
        show("boot time", timed(CLOCK_BOOTTIME, 3));
    struct timespec bad = {0, 1000000000};
    show("bad time", result(sem_timedwait(s, &bad))), sem_post(s), show("bad time, but free", result(sem_timedwait(s, &bad))), sem_trywait(s);
    pid_t pid = child(posts);
    show("wait", result(sem_wait(s))), show("wait", result(sem_wait(s))), reap(pid), value("0"), pid = child(waits), asleep(pid),
        show("post", result(sem_post(s))), num(reap(pid));
    struct sigaction a = {.sa_handler = handler};
    struct itimerval soon = {{0, 0}, {0, 3000}};
    sigaction(SIGALRM, &a, 0), setitimer(ITIMER_REAL, &soon, 0), show("interrupted", result(sem_wait(s))), a.sa_flags = SA_RESTART,
        sigaction(SIGALRM, &a, 0), setitimer(ITIMER_REAL, &soon, 0), show("restarted", timed(CLOCK_REALTIME, 12));
    sem_init(s, 1, 0x7fffffff), show("overflow", result(sem_post(s))), value("most");
    sem_init(s, 0, 1);
    int count = 0;
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, thread_waits, &count);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    num(count), value("1"), show("destroy", result(sem_destroy(s)));

    /* By name. */
    snprintf(name, sizeof name, "/cgemu.sem.%d", (int)getpid());
    is(sem_open(name, 0) == SEM_FAILED && errno == ENOENT), s = sem_open(name, O_CREAT | O_EXCL, 0600, 3), is(s != SEM_FAILED), value("3"),
        is(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST), is(sem_open(name, O_CREAT, 0600, 9) == s), value("as it was"),
        is(sem_open("/a/b", O_CREAT, 0600, 1) == SEM_FAILED && errno == EINVAL), is(sem_open("/", O_CREAT, 0600, 1) == SEM_FAILED && errno == EINVAL),
        is(sem_open("/x", O_CREAT, 0600, 0x80000000u) == SEM_FAILED && errno == EINVAL), sem_wait(s), pid = child(waits), num(reap(pid)), value("1"),
        show("unlink", result(sem_unlink(name))), show("again", result(sem_unlink(name))), sem_wait(s), value("still usable"), pid = child(waits),
        asleep(pid), sem_post(s), num(reap(pid)), show("close", result(sem_close(s)));
    char path[80];
    struct stat st;
    snprintf(path, sizeof path, "/dev/shm/sem.%s", name + 1), show("no file is left", S(stat, path, &st));
    return 0;
}
