// covers: epoll_create1 epoll_ctl epoll_wait poll select dup
#include "guest.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>

#ifndef EPOLLEXCLUSIVE
#define EPOLLEXCLUSIVE (1u << 28)
#endif

static struct epoll_event got[16];

static void wait_for(long ep, int room)
{
    long n = S(epoll_wait, ep, got, room, 0);
    printf("ready %ld:", n);
    for (long i = 0; i < n; i++)
        printf(" %x/%lu", got[i].events, (unsigned long)got[i].data.u64);
    printf("\n");
}

static long add(long ep, int op, long fd, uint32_t events, uint64_t word)
{
    struct epoll_event event = {events, {.u64 = word}};
    return S(epoll_ctl, ep, op, fd, &event);
}
#define ADD(ep, fd, events, word) show("add " #fd " " #events, add(ep, EPOLL_CTL_ADD, fd, events, word))
#define MOD(ep, fd, events, word) show("mod " #fd " " #events, add(ep, EPOLL_CTL_MOD, fd, events, word))

static int polled(long fd, int events)
{
    struct pollfd p = {(int)fd, (short)events, 0};
    long n = S(poll, &p, 1, 0);
    return n < 0 ? (int)n : p.revents;
}

int main(void)
{
    /* More is ready than there is room for: the kernel goes round. */
    long ep = S(epoll_create1, 0), fds[6];
    uint64_t one = 1, v;
    for (int i = 0; i < 6; i++) {
        fds[i] = S(eventfd2, 0, EFD_NONBLOCK);
        add(ep, EPOLL_CTL_ADD, fds[i], EPOLLIN, i);
    }
    wait_for(ep, 16);
    const int order[] = {3, 1, 5, 0, 2, 4};
    for (int i = 0; i < 6; i++)
        S(write, fds[order[i]], &one, 8);
    for (int i = 0; i < 5; i++)
        wait_for(ep, 4);
    S(read, fds[1], &v, 8), S(read, fds[2], &v, 8);
    wait_for(ep, 2), wait_for(ep, 2), wait_for(ep, 2);
    S(write, fds[1], &one, 8);
    wait_for(ep, 16);
    MOD(ep, fds[3], EPOLLIN | EPOLLONESHOT, 30);
    wait_for(ep, 16), wait_for(ep, 16);
    MOD(ep, fds[3], EPOLLIN, 31);
    wait_for(ep, 16);
    S(close, ep);

    /* Every write is an edge, and so is a change of the interest. */
    ep = S(epoll_create1, 0);
    int p[2];
    char buf[16];
    S(pipe2, p, O_NONBLOCK);
    ADD(ep, p[0], EPOLLIN | EPOLLET, 1);
    ADD(ep, p[1], EPOLLOUT | EPOLLET, 2);
    wait_for(ep, 4), wait_for(ep, 4);
    S(write, p[1], "abc", 3);
    wait_for(ep, 4), wait_for(ep, 4);
    S(write, p[1], "abc", 3);
    wait_for(ep, 4);
    S(read, p[0], buf, 1);
    wait_for(ep, 4);
    MOD(ep, p[0], EPOLLIN | EPOLLET, 3);
    wait_for(ep, 4), wait_for(ep, 4);
    S(read, p[0], buf, 16);
    wait_for(ep, 4);
    while (S(write, p[1], "x", 1) == 1)
        ;
    wait_for(ep, 4), wait_for(ep, 4);
    char big[8192];
    S(read, p[0], big, sizeof big);
    wait_for(ep, 4), wait_for(ep, 4);
    S(read, p[0], big, sizeof big);
    wait_for(ep, 4);

    /* A descriptor that was closed stays as long as its description does. */
    long copy = S(dup, p[0]);
    S(write, p[1], "y", 1);
    S(close, p[0]);
    wait_for(ep, 4);
    T(epoll_ctl, ep, EPOLL_CTL_DEL, p[0], NULL);
    T(epoll_ctl, ep, EPOLL_CTL_DEL, copy, NULL);
    ADD(ep, copy, EPOLLIN, 4);
    ADD(ep, copy, EPOLLIN, 4);
    long second = S(dup, copy);
    is(ADD(ep, second, EPOLLIN, 5) == 0);
    S(close, second);
    S(close, copy);
    wait_for(ep, 4);
    S(close, p[1]);
    S(close, ep);

    /* Instances that watch each other. */
    long e[10];
    for (int i = 0; i < 10; i++)
        e[i] = S(epoll_create1, 0);
    long ev = S(eventfd2, 0, EFD_NONBLOCK);
    ADD(e[0], ev, EPOLLIN, 100);
    ADD(e[1], e[0], EPOLLIN, 101);
    ADD(e[2], e[1], EPOLLIN, 102);
    ADD(e[0], e[0], EPOLLIN, 0);
    ADD(e[0], e[1], EPOLLIN, 0);
    ADD(e[0], e[2], EPOLLIN, 0);
    ADD(e[1], e[0], EPOLLIN, 0);
    printf("%x %x\n", polled(e[0], POLLIN | POLLOUT | POLLRDNORM), polled(e[2], POLLIN));
    wait_for(e[2], 4);
    S(write, ev, &one, 8);
    printf("%x %x\n", polled(e[0], POLLIN | POLLOUT | POLLRDNORM), polled(e[2], POLLIN));
    wait_for(e[2], 4), wait_for(e[2], 4), wait_for(e[1], 4), wait_for(e[0], 4);
    S(read, ev, &v, 8);
    wait_for(e[2], 4), wait_for(e[1], 4), wait_for(e[0], 4);
    MOD(e[2], e[1], EPOLLIN | EPOLLET, 103);
    S(write, ev, &one, 8);
    wait_for(e[2], 4), wait_for(e[2], 4);
    S(write, ev, &one, 8);
    wait_for(e[2], 4), wait_for(e[2], 4);
    T(epoll_ctl, e[2], EPOLL_CTL_DEL, e[1], NULL);
    T(epoll_ctl, e[2], EPOLL_CTL_DEL, e[1], NULL);
    ADD(e[0], e[2], EPOLLIN, 0);
    /* How deep: five hold, nine do not. */
    for (int i = 0; i < 10; i++)
        S(close, e[i]), e[i] = S(epoll_create1, 0);
    for (int i = 1; i < 5; i++)
        printf("%d: %ld\n", i, add(e[i], EPOLL_CTL_ADD, e[i - 1], EPOLLIN, i));
    long last = 0;
    for (int i = 5; i < 10 && last == 0; i++)
        last = add(e[i], EPOLL_CTL_ADD, e[i - 1], EPOLLIN, i);
    show("deeper", last);
    add(e[0], EPOLL_CTL_ADD, ev, EPOLLIN, 7);
    wait_for(e[4], 4);

    /* What cannot be watched. */
    long o = S(open, "host/file", O_PATH), dir = S(open, ".", O_RDONLY), null = S(open, "/dev/null", O_RDWR);
    long zero = S(open, "/dev/zero", O_RDWR), memory = S(memfd_create, "m", 0);
    long file = S(open, "host/file", O_RDONLY), random = S(open, "/dev/urandom", O_RDONLY);
    ADD(e[0], o, EPOLLIN, 0), ADD(o, ev, EPOLLIN, 0), ADD(file, o, EPOLLIN, 0);
    ADD(e[0], dir, EPOLLIN, 0), ADD(e[0], null, EPOLLIN, 0), ADD(e[0], zero, EPOLLIN, 0);
    ADD(e[0], memory, EPOLLIN, 0), ADD(e[0], file, EPOLLIN, 0);
    ADD(file, file, EPOLLIN, 0), ADD(file, ev, EPOLLIN, 0), ADD(ev, e[1], EPOLLIN, 0);
    ADD(e[5], random, EPOLLIN, 9);
    wait_for(e[5], 4);
    T(epoll_ctl, e[0], EPOLL_CTL_DEL, file, NULL), T(epoll_ctl, e[0], EPOLL_CTL_DEL, o, NULL);
    T(epoll_ctl, e[0], 0, ev, got), T(epoll_ctl, e[0], 4, ev, got), T(epoll_ctl, e[0], 4, file, got);
    T(epoll_ctl, 99, EPOLL_CTL_ADD, 98, BAD);
    show("wait O_PATH", S(epoll_wait, o, got, 1, 0));
    T(epoll_wait, e[5], KERNEL, 1, 0), T(epoll_wait, e[5], got, 1 << 30, 0);
    printf("%x %x %x\n", polled(o, POLLIN), polled(file, POLLIN | POLLOUT | POLLPRI), polled(dir, POLLIN | POLLRDNORM));
    fd_set set;
    FD_ZERO(&set);
    FD_SET(o, &set);
    struct timeval none = {0, 0};
    show("select O_PATH", S(select, o + 1, &set, NULL, NULL, &none));

    /* EPOLLEXCLUSIVE. */
    ADD(e[6], ev, EPOLLIN | EPOLLEXCLUSIVE, 6);
    MOD(e[6], ev, EPOLLIN, 6);
    MOD(e[6], ev, EPOLLIN | EPOLLEXCLUSIVE, 6);
    ADD(e[7], ev, EPOLLIN | EPOLLPRI | EPOLLEXCLUSIVE, 6);
    ADD(e[7], e[6], EPOLLIN | EPOLLEXCLUSIVE, 6);
    ADD(e[7], ev, EPOLLIN | EPOLLET | EPOLLWAKEUP | EPOLLEXCLUSIVE, 6);
    wait_for(e[6], 4), wait_for(e[7], 4);
    return 0;
}
