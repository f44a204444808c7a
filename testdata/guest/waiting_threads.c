// covers: epoll_wait epoll_ctl eventfd2 read futex accept4 poll flock
// flags: -pthread
#include "guest.h"
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* Several threads that wait for one thing: how many an event wakes. */
static int ep[3], ev;
static int woken, ready_, only_hears;

static void *waits(void *arg)
{
    struct epoll_event e;
    uint64_t n;
    __atomic_fetch_add(&ready_, 1, __ATOMIC_RELEASE);
    long r = S(epoll_wait, ep[(long)arg], &e, 1, 400);
    if (r == 1 && !only_hears && S(read, ev, &n, 8) == 8)
        __atomic_fetch_add(&woken, 1, __ATOMIC_RELEASE);
    return (void *)r;
}
static void *reads(void *arg)
{
    uint64_t n = 0;
    __atomic_fetch_add(&ready_, 1, __ATOMIC_RELEASE);
    S(read, (long)arg, &n, 8);
    return (void *)(long)n;
}
static void *locks(void *arg)
{
    long fd = S(open, "lock", O_RDWR | O_CREAT, 0644);
    __atomic_fetch_add(&ready_, 1, __ATOMIC_RELEASE), S(flock, fd, 2), ++*(int *)arg, usleep(500), S(flock, fd, 8);
    return 0;
}
static void three(pthread_t *t, void *(*work)(void *), void *a, void *b, void *c)
{
    void *all[] = {a, b, c};
    ready_ = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, all[i]);
    while (__atomic_load_n(&ready_, __ATOMIC_ACQUIRE) < 3)
        usleep(200);
    usleep(5000);
}
static int results(pthread_t *t)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        void *r;
        pthread_join(t[i], &r), sum += (int)(long)r;
    }
    return sum;
}

int main(void)
{
    pthread_t t[3];
    uint64_t one = 1, many = 3;
    /* One instance, an edge: one thread; the others' time is up. */
    ev = (int)S(eventfd2, 0, EFD_NONBLOCK), ep[0] = (int)S(epoll_create1, 0);
    struct epoll_event e = {EPOLLIN | EPOLLET, {0}};
    S(epoll_ctl, ep[0], EPOLL_CTL_ADD, ev, &e), three(t, waits, 0, 0, 0), S(write, ev, &one, 8), num(results(t)), num(woken), S(close, ep[0]);
    /* One instance, one shot: the same. */
    woken = 0, ep[0] = (int)S(epoll_create1, 0), e.events = EPOLLIN | EPOLLONESHOT, S(epoll_ctl, ep[0], EPOLL_CTL_ADD, ev, &e),
        three(t, waits, 0, 0, 0), S(write, ev, &one, 8), num(results(t)), num(woken), S(close, ep[0]);
    /* Three instances: all of them hear of it. */
    only_hears = 1, e.events = EPOLLIN | EPOLLET;
    for (int i = 0; i < 3; i++)
        ep[i] = (int)S(epoll_create1, 0), S(epoll_ctl, ep[i], EPOLL_CTL_ADD, ev, &e);
    three(t, waits, (void *)0, (void *)1, (void *)2), S(write, ev, &one, 8), num(results(t)), num(S(read, ev, &one, 8));
    for (int i = 0; i < 3; i++)
        S(close, ep[i]);
    /* Readers of a semaphore: as many as there are units. */
    long sem = S(eventfd2, 0, EFD_SEMAPHORE);
    three(t, reads, (void *)sem, (void *)sem, (void *)sem), S(write, sem, &many, 8), num(results(t));
    int turns = 0;
    long fd = S(open, "lock", O_RDWR | O_CREAT, 0644);
    S(flock, fd, 2), three(t, locks, &turns, &turns, &turns), num(turns), S(flock, fd, 8), results(t), num(turns);
    return 0;
}
