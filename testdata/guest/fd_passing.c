// covers: sendmsg recvmsg socketpair close fcntl pipe2 dup
#include "child.h"
#include <sys/socket.h>
#include <sys/uio.h>

/* Descriptors in messages of Unix sockets: how many, where they go, what is cut, and what lives only in a queue. */
static union {
    char room[CMSG_SPACE(300 * sizeof(int))];
    struct cmsghdr align;
} control;
static int fds[300], s[2];

static long give(int count, const char *text, size_t n)
{
    struct iovec v = {(char *)text, n};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *c = (void *)control.room;
    memset(&control, 0, sizeof control),
        *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS},
        memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    return S(sendmsg, s[0], &m, MSG_DONTWAIT);
}
static int taken[300];
static int take(const char *what, size_t room, size_t text, int flags)
{
    static char buf[256];
    struct iovec v = {buf, text};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room ? control.room : 0, .msg_controllen = room};
    memset(&control, 0xff, sizeof control);
    long r = S(recvmsg, s[1], &m, flags | MSG_DONTWAIT);
    if (r < 0) {
        show(what, r);
        return -1;
    }
    int count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(taken + count, CMSG_DATA(c), n * sizeof(int)), count += n;
    }
    printf("%s: %ld '%.*s' %d descriptors, control %d%s%s\n", what, r, (int)(r > 20 ? 20 : r), buf, count, (int)m.msg_controllen,
        m.msg_flags & MSG_CTRUNC ? " ctrunc" : "", m.msg_flags & MSG_TRUNC ? " trunc" : "");
    return count;
}
static void drop(int count)
{
    for (int i = 0; i < count; i++)
        S(close, taken[i]);
}

int main(void)
{
    int p[2];
    char buf[16];
    S(socketpair, AF_UNIX, SOCK_STREAM, 0, s), S(pipe2, p, O_NONBLOCK);
    for (int i = 0; i < 300; i++)
        fds[i] = p[1];
    int all = CMSG_SPACE(300 * sizeof(int));
    show("1", give(1, "a", 1)), drop(take("1", all, 9, 0)), show("253", give(253, "b", 1)), drop(take("253", all, 9, 0)),
        show("254", give(254, "c", 1)), show("0", give(0, "d", 1)), drop(take("0", all, 9, 0)), fds[1] = 99, show("a closed one", give(2, "e", 1)),
        fds[1] = -1, show("-1", give(2, "e", 1)), fds[1] = p[1], show("without text", give(1, "", 0)), take("nothing", all, 9, 0);

    /* Less room than descriptors. */
    show("5", give(5, "five", 4)), drop(take("room for 2", CMSG_SPACE(2 * sizeof(int)), 9, 0)), show("5", give(5, "five", 4)),
        drop(take("room for half a one", CMSG_LEN(2), 9, 0)), show("5", give(5, "five", 4)), drop(take("room for none", 0, 9, 0)),
        show("5", give(5, "five", 4)), drop(take("room for 3, not aligned", CMSG_LEN(3 * sizeof(int)), 9, 0));
    /* They belong to the first byte of their text; texts are not joined across them. */
    show("with text", give(1, "abcdef", 6)), drop(take("part", all, 2, 0)), drop(take("rest", all, 9, 0)), S(write, s[0], "before", 6),
        show("between", give(1, "with", 4)), S(write, s[0], "after", 5), drop(take("1st", all, 99, 0)), drop(take("2nd", all, 99, 0)),
        drop(take("3rd", all, 99, 0)), show("two", give(1, "x", 1)), show("two", give(2, "y", 1)), drop(take("1st", all, 99, 0)),
        drop(take("2nd", all, 99, 0));
    show("peek", give(1, "peek", 4)), drop(take("looked at", all, 9, MSG_PEEK)), drop(take("again", all, 9, MSG_PEEK)), drop(take("taken", all, 9, 0));
    show("flag", give(2, "f", 1)), num(take("to be closed", all, 9, MSG_CMSG_CLOEXEC)), num(S(fcntl, taken[0], F_GETFD)), drop(2),
        show("flag", give(1, "f", 1)), take("not", all, 9, 0), num(S(fcntl, taken[0], F_GETFD)), is(taken[0] != p[1]);
    T(write, taken[0], "through", 7), T(read, p[0], buf, 16), S(fcntl, taken[0], F_SETFL, O_NONBLOCK | O_APPEND),
        is(S(fcntl, p[1], F_GETFL) & O_APPEND), drop(1);

    /* A pipe whose last writer is in a message. */
    show("last", give(1, "last", 4)), S(close, p[1]), T(read, p[0], buf, 9), take("out of it", all, 9, 0), T(write, taken[0], "alive", 5),
        T(read, p[0], buf, 9), drop(1), T(read, p[0], buf, 9);
    S(pipe2, p, O_NONBLOCK), fds[0] = p[1], show("never received", give(1, "z", 1)), S(close, p[1]), T(read, p[0], buf, 9), S(close, s[1]),
        T(read, p[0], buf, 9), signal(SIGPIPE, SIG_IGN), show("nobody there", give(1, "z", 1));
    /* A socket in its own queue. */
    S(socketpair, AF_UNIX, SOCK_DGRAM, 0, s), S(pipe2, p, O_NONBLOCK), fds[0] = s[1], fds[1] = p[1], show("itself", give(2, "self", 4)),
        S(close, s[1]), S(close, p[1]), S(close, s[0]), usleep(1000);
    for (int i = 0; i < 200 && S(read, p[0], buf, 9) < 0; i++) {
        S(close, S(socket, AF_UNIX, SOCK_DGRAM, 0)); /* Linux collects such circles when another socket goes */
        usleep(1000);
    }
    T(read, p[0], buf, 9);
    /* No room in the table. */
    S(socketpair, AF_UNIX, SOCK_DGRAM, 0, s), fds[0] = fds[1] = fds[2] = s[0], show("3", give(3, "three", 5));
    struct rlimit few = {(rlim_t)s[1] + 2, 4096};
    S(setrlimit, RLIMIT_NOFILE, &few), drop(take("1 number free", all, 9, 0)), show("3", give(3, "three", 5)), fds[2] = S(dup, s[0]),
        drop(take("none free", all, 9, 0));
    return 0;
}
