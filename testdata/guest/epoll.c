// covers: epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2
#include "guest.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

static struct epoll_event got[8];

static int by_data(const void *a, const void *b)
{
    const struct epoll_event *x = a, *y = b;
    return (x->data.u64 > y->data.u64) - (x->data.u64 < y->data.u64);
}

/* What is ready, in the order of our numbers: the kernel's order is not promised. */
static void wait_for(long ep)
{
    long n = S(epoll_wait, ep, got, 8, 0);
    if (n > 0)
        qsort(got, n, sizeof got[0], by_data);
    printf("ready %ld:", n);
    for (long i = 0; i < n; i++)
        printf(" %x/%lu", got[i].events, (unsigned long)got[i].data.u64);
    printf("\n");
}

int main(void)
{
    int p[2];
    char buf[8];
    S(pipe2, p, O_NONBLOCK);
    long ep = T(epoll_create1, EPOLL_CLOEXEC);
    num(S(fcntl, ep, F_GETFD));
    long counter = S(eventfd2, 1, 0);
    T(read, counter, buf, 0), T(write, counter, buf, 0), T(read, p[0], buf, 0), T(write, p[1], buf, 0), T(close, counter);
    long old = T(epoll_create, 1);
    T(epoll_create, 0);
    T(epoll_create, -1);
    T(epoll_create1, 1);
    struct epoll_event in = {EPOLLIN, {.u64 = 7}}, out = {EPOLLOUT, {.u64 = 8}};
    T(epoll_ctl, ep, EPOLL_CTL_ADD, p[0], &in);
    T(epoll_ctl, ep, EPOLL_CTL_ADD, p[0], &in);
    T(epoll_ctl, ep, EPOLL_CTL_MOD, p[1], &out);
    T(epoll_ctl, ep, EPOLL_CTL_ADD, p[1], &out);
    wait_for(ep);
    S(write, p[1], "x", 1);
    wait_for(ep);
    wait_for(ep);
    T(epoll_wait, ep, got, 1, -1);
    in.events = EPOLLIN | EPOLLET;
    T(epoll_ctl, ep, EPOLL_CTL_MOD, p[0], &in);
    T(epoll_ctl, ep, EPOLL_CTL_DEL, p[1], NULL);
    T(epoll_ctl, ep, EPOLL_CTL_DEL, p[1], NULL);
    wait_for(ep);
    wait_for(ep);
    S(read, p[0], buf, 8);
    wait_for(ep);
    S(write, p[1], "y", 1);
    wait_for(ep);
    wait_for(ep);
    in.events = EPOLLIN | EPOLLONESHOT;
    T(epoll_ctl, ep, EPOLL_CTL_MOD, p[0], &in);
    wait_for(ep);
    wait_for(ep);
    in.events = EPOLLIN;
    T(epoll_ctl, ep, EPOLL_CTL_MOD, p[0], &in);
    S(read, p[0], buf, 8);
    wait_for(ep);
    T(epoll_wait, ep, got, 8, 10);
    S(close, p[1]);
    wait_for(ep);

    long file = S(open, "host/file", O_RDONLY);
    T(epoll_ctl, ep, EPOLL_CTL_ADD, file, &in);
    T(epoll_ctl, ep, EPOLL_CTL_ADD, ep, &in);
    T(epoll_ctl, ep, EPOLL_CTL_ADD, 99, &in);
    T(epoll_ctl, 99, EPOLL_CTL_ADD, p[0], &in);
    T(epoll_ctl, file, EPOLL_CTL_ADD, p[0], &in);
    T(epoll_ctl, ep, 9, p[0], &in);
    T(epoll_ctl, ep, EPOLL_CTL_MOD, p[0], BAD);
    T(epoll_wait, ep, got, 0, 0);
    T(epoll_wait, ep, got, -1, 0);
    T(epoll_wait, 99, got, 1, 0);
    T(epoll_wait, file, got, 1, 0);
    T(epoll_wait, ep, BAD, 1, 0);
    T(epoll_ctl, ep, EPOLL_CTL_DEL, p[0], NULL);
    S(close, p[0]);
    wait_for(ep);
    wait_for(old);

    struct timespec ts = {0, 1000000}, bad = {0, -1};
    sigset_t none;
    sigemptyset(&none);
    T(epoll_pwait, ep, got, 8, 1, &none, 8);
    T(epoll_pwait, ep, got, 8, 1, &none, 4);
    SINCE(511, 0, epoll_pwait2, ep, got, 8, &ts, &none, 8);
    SINCE(511, -EINVAL, epoll_pwait2, ep, got, 8, &bad, NULL, 8);
    SINCE(511, -EBADF, epoll_pwait2, 99, got, 8, &ts, NULL, 8);

    /* A counter. */
    uint64_t v = 5;
    long e = T(eventfd2, 3, EFD_NONBLOCK | EFD_CLOEXEC);
    num(S(fcntl, e, F_GETFD));
    in.data.u64 = 11, in.events = EPOLLIN | EPOLLOUT;
    T(epoll_ctl, ep, EPOLL_CTL_ADD, e, &in);
    wait_for(ep);
    T(write, e, &v, 8);
    T(read, e, &v, 8);
    num(v);
    T(read, e, &v, 8);
    wait_for(ep);
    T(read, e, &v, 4);
    T(write, e, &v, 4);
    v = -1;
    T(write, e, &v, 8);
    v = -2;
    T(write, e, &v, 8);
    v = 1;
    T(write, e, &v, 8);
    wait_for(ep);
    T(read, e, BAD, 8);
    T(read, e, buf, 8);
    T(pread64, e, buf, 8, 0);
    T(lseek, e, 5, SEEK_SET), T(lseek, e, 0, 9), T(lseek, ep, 1, SEEK_CUR);
    e = T(eventfd2, 2, EFD_SEMAPHORE | EFD_NONBLOCK);
    T(read, e, &v, 8);
    num(v);
    T(read, e, &v, 8);
    T(read, e, &v, 8);
    T(eventfd2, 0, 0x100);
    e = T(eventfd, 1);
    T(read, e, &v, 8);
    return 0;
}
