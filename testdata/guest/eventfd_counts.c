// covers: eventfd2 eventfd read write poll readv fork
#include "child.h"
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

/* Counters of eventfd(2): their limits, semaphores, who waits and what wakes them. */
static long e;

static long add(uint64_t n)
{
    return S(write, e, &n, 8);
}
static void take(const char *what)
{
    uint64_t n = 77;
    long r = S(read, e, &n, 8);
    if (r < 0)
        show(what, r);
    else
        printf("%s: %ld bytes, %#lx\n", what, r, (unsigned long)n);
}
static void waits_for_one(void)
{
    take("child got");
}
static void waits_for_room(void)
{
    show("child adds", add(10));
}

int main(void)
{
    char buf[32];
    T(eventfd2, 0, 1), T(eventfd2, 0, EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK | 4), e = T(eventfd2, 0xffffffff, EFD_NONBLOCK), take("first"), take("empty");
    show("5", add(5)), show("0", add(0)), show("7", add(7)), take("sum"), show("0", add(0)), take("nothing");
    show("-1", add(-1)), show("-2", add(-2)), show("1 more", add(1)), show("0 more", add(0)), take("most"), show("-3", add(-3)), show("2", add(2)),
        show("1", add(1)), take("most again");
    T(read, e, buf, 7), T(write, e, buf, 7), T(read, e, BAD, 8), T(write, e, BAD, 8), show("1", add(1)), T(read, e, buf, 32),
        T(pread64, e, buf, 8, 0), T(lseek, e, 0, SEEK_CUR), show("2", add(2)), T(read, e, BAD, 8), take("a fault took it or not");
    struct iovec v[2] = {{buf, 4}, {buf + 16, 4}}, w[2] = {{buf, 8}, {buf + 8, 8}};
    memset(buf, 0, sizeof buf), buf[0] = 3, show("3", add(3)), T(readv, e, v, 2), T(writev, e, w, 2), take("vectors"), T(writev, e, v, 2), take("halves");

    /* A semaphore gives one at a time. */
    long s = e;
    e = T(eventfd2, 3, EFD_SEMAPHORE | EFD_NONBLOCK), take("sem"), take("sem"), show("2", add(2)), take("sem"), take("sem"), take("sem"), take("sem"),
        S(close, e), e = s;

    /* Waiting. */
    S(fcntl, e, F_SETFL, 0);
    pid_t pid = child(waits_for_one);
    asleep(pid), show("to the child", add(9)), reap(pid), show("full", add(-2)), pid = child(waits_for_room), asleep(pid), take("room"), reap(pid),
        take("the child's");
    e = S(eventfd2, 0, EFD_SEMAPHORE);
    pid_t two[2] = {child(waits_for_one), child(waits_for_one)};
    asleep(two[0]), asleep(two[1]), show("for both", add(2)), num(reap(two[0])), num(reap(two[1]));
    /* One that has been shared and closed here lives on in the child. */
    e = S(eventfd2, 0, 0), pid = child(waits_for_one), asleep(pid), show("last", add(4)), S(close, e), num(reap(pid)), take("closed");
    return 0;
}
