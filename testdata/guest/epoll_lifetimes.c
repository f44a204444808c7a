// covers: epoll_create1 epoll_ctl epoll_wait dup close fork eventfd2 pipe2
#include "child.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* What an epoll instance has of a descriptor: its copies, its end, its number again; edges and single shots. */
static long ep;

static void wait_(const char *what)
{
    struct epoll_event got[8];
    long n = S(epoll_wait, ep, got, 8, 0);
    printf("%s: %ld", what, n);
    for (long i = 0; i < n; i++)
        printf(" %u:%#x", got[i].data.u32, got[i].events);
    printf("\n");
}
static long ctl(int op, long fd, unsigned events, unsigned name)
{
    struct epoll_event e = {events, {.u32 = name}};
    return S(epoll_ctl, ep, op, fd, &e);
}
static void in_the_child(void)
{
    wait_("child sees it"), show("child takes it out", ctl(EPOLL_CTL_DEL, 3, 0, 0)), wait_("child, after");
}

int main(void)
{
    char buf[8];
    int p[2];
    uint64_t one = 1;
    long ev = S(eventfd2, 1, EFD_NONBLOCK);
    ep = S(epoll_create1, EPOLL_CLOEXEC), num(ev);
    show("add", ctl(EPOLL_CTL_ADD, ev, EPOLLIN, 1)), show("again", ctl(EPOLL_CTL_ADD, ev, EPOLLIN, 1)), wait_("ready");
    long copy = S(dup, ev);
    show("copy", ctl(EPOLL_CTL_ADD, copy, EPOLLIN, 2)), wait_("both"), S(close, ev), wait_("first closed"),
        show("its number", ctl(EPOLL_CTL_DEL, ev, 0, 0)), show("modify by the number", ctl(EPOLL_CTL_MOD, ev, EPOLLIN, 9));
    ev = S(dup, copy), is(ev == 3), show("the number again: it is still there", ctl(EPOLL_CTL_ADD, ev, EPOLLIN, 3)),
        show("and can be taken out", ctl(EPOLL_CTL_DEL, ev, 0, 0)), S(close, copy), wait_("copy closed, description lives"), S(close, ev),
        wait_("all closed");
    S(pipe2, p, O_NONBLOCK), show("the number of another file", ctl(EPOLL_CTL_ADD, p[0], EPOLLIN, 4)), S(write, p[1], "x", 1), wait_("pipe"),
        S(close, p[1]), wait_("hang-up too"), S(read, p[0], buf, 8), wait_("hang-up alone"), S(close, p[0]), wait_("gone");

    /* Edges: each event once, but a new one even if nothing was read. */
    ev = S(eventfd2, 0, EFD_NONBLOCK), show("edge", ctl(EPOLL_CTL_ADD, ev, EPOLLIN | EPOLLOUT | EPOLLET, 5)), wait_("writable"), wait_("said"),
        S(write, ev, &one, 8), wait_("written"), wait_("said"), S(write, ev, &one, 8), wait_("written again"), S(read, ev, buf, 8), wait_("read"),
        show("modified", ctl(EPOLL_CTL_MOD, ev, EPOLLIN | EPOLLOUT | EPOLLET, 6)), wait_("said anew"), wait_("once");

    /* Single shots. */
    show("one shot", ctl(EPOLL_CTL_MOD, ev, EPOLLOUT | EPOLLONESHOT, 7)), wait_("first"), wait_("disarmed"), S(write, ev, &one, 8), wait_("still"),
        show("armed", ctl(EPOLL_CTL_MOD, ev, EPOLLIN | EPOLLONESHOT, 8)), wait_("again"), wait_("disarmed"),
        show("and with an edge", ctl(EPOLL_CTL_MOD, ev, EPOLLIN | EPOLLET | EPOLLONESHOT, 9)), wait_("again"), S(write, ev, &one, 8),
        wait_("disarmed");
    show("no events", ctl(EPOLL_CTL_MOD, ev, 0, 1)), wait_("none"), show("exclusive", ctl(EPOLL_CTL_MOD, ev, EPOLLIN | EPOLLEXCLUSIVE, 1)), S(close, ev);

    /* More than are asked for come in turn. */
    struct epoll_event got[2];
    long many[5];
    for (int i = 0; i < 5; i++)
        many[i] = S(eventfd2, 1, 0), ctl(EPOLL_CTL_ADD, many[i], EPOLLIN, 10 + i);
    for (int i = 0; i < 5; i++) {
        long n = S(epoll_wait, ep, got, 2, 0);
        printf("%ld: %u %u\n", n, got[0].data.u32, got[1].data.u32);
    }
    for (int i = 0; i < 5; i++)
        S(close, many[i]);
    /* A child has the same instance. */
    ev = S(eventfd2, 1, 0), is(ev == 3), ctl(EPOLL_CTL_ADD, ev, EPOLLIN, 20), reap(child(in_the_child)), wait_("parent, after");

    /* Files that cannot wait; itself; a chain. */
    long file = S(open, "host/file", O_RDONLY), dir = S(open, "host", O_RDONLY), null = S(open, "/dev/null", O_RDONLY), path = S(open, "host", O_PATH);
    show("file", ctl(EPOLL_CTL_ADD, file, EPOLLIN, 1)), show("directory", ctl(EPOLL_CTL_ADD, dir, EPOLLIN, 1)),
        show("null", ctl(EPOLL_CTL_ADD, null, EPOLLIN, 1)), show("path", ctl(EPOLL_CTL_ADD, path, EPOLLIN, 1)),
        show("itself", ctl(EPOLL_CTL_ADD, ep, EPOLLIN, 1)), show("closed", ctl(EPOLL_CTL_ADD, 99, EPOLLIN, 1)),
        show("operation 4", ctl(4, ev, EPOLLIN, 1)), show("not there", ctl(EPOLL_CTL_MOD, ev, EPOLLIN, 1)),
        show("not there", ctl(EPOLL_CTL_DEL, ev, EPOLLIN, 1));
    T(epoll_ctl, file, EPOLL_CTL_ADD, ev, got), T(epoll_ctl, ep, EPOLL_CTL_ADD, ev, BAD), T(epoll_wait, ep, BAD, 1, 0), T(epoll_wait, ep, got, 0, 0),
        T(epoll_wait, ep, got, -1, 0), T(epoll_wait, file, got, 1, 0), show("wakeup", ctl(EPOLL_CTL_ADD, ev, EPOLLIN | EPOLLWAKEUP, 1)),
        wait_("last");
    return 0;
}
