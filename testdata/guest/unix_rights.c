// covers: sendmsg recvmsg
#include "guest.h"
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/un.h>

/* Descriptors and credentials on their way, and what becomes of those that nobody receives. */
static long send_fds(int to, const int *fds, int count, const char *text, int type)
{
    char control[CMSG_SPACE(sizeof(int) * 260)];
    memset(control, 0, sizeof control);
    struct iovec v = {(void *)text, strlen(text)};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(sizeof(int) * (unsigned)count)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = type, c->cmsg_len = CMSG_LEN(sizeof(int) * (unsigned)count);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * (unsigned)count);
    return S(sendmsg, to, &m, 0);
}

static int last[260];
static int receive(int from, size_t room, size_t space, int flags)
{
    char control[CMSG_SPACE(sizeof(int) * 260)], buf[64];
    memset(control, 0, sizeof control);
    struct iovec v = {buf, room};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = space ? control : NULL, .msg_controllen = space};
    long r = S(recvmsg, from, &m, flags);
    if (r < 0) {
        show("recvmsg", r);
        return 0;
    }
    printf("recvmsg: %ld flags %#x control %ld", r, m.msg_flags, (long)m.msg_controllen);
    int count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        printf(" [level %d type %d words %d]", c->cmsg_level, c->cmsg_type, n);
        if (c->cmsg_type == SCM_RIGHTS)
            memcpy(last, CMSG_DATA(c), sizeof(int) * (unsigned)(count = n));
        else if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred u;
            memcpy(&u, CMSG_DATA(c), sizeof u);
            printf(" %s %s", u.pid == getpid() ? "own pid" : u.pid == 0 ? "no pid" : "other pid",
                   u.uid == getuid() ? "own uid" : "other uid");
        }
    }
    printf("\n");
    return count;
}

int main(void)
{
    int s[2], p[2], q[2];
    char buf[16];
    S(socketpair, AF_UNIX, SOCK_STREAM, 0, s);
    S(pipe, p);

    num(send_fds(s[0], (int[]){p[1]}, 1, "pipe", SCM_RIGHTS));
    close(p[1]);
    num(receive(s[1], 64, CMSG_SPACE(4), MSG_CMSG_CLOEXEC));
    num(S(fcntl, last[0], F_GETFD));
    T(write, last[0], "through", 7);
    close(last[0]);
    T(read, p[0], buf, sizeof buf);
    T(read, p[0], buf, sizeof buf);

    /* Bad ones. */
    num(send_fds(s[0], (int[]){99}, 1, "x", SCM_RIGHTS));
    num(send_fds(s[0], (int[]){p[0]}, 1, "x", 77));
    int many[254];
    for (int i = 0; i < 254; i++)
        many[i] = p[0];
    num(send_fds(s[0], many, 254, "x", SCM_RIGHTS));
    num(send_fds(s[0], many, 253, "x", SCM_RIGHTS));
    num(receive(s[1], 64, CMSG_SPACE(4 * 253), 0));
    for (int i = 0; i < 253; i++)
        close(last[i]);

    /* Too little room, none, and none for the descriptor. */
    num(send_fds(s[0], (int[]){p[0], p[0], p[0]}, 3, "abc", SCM_RIGHTS));
    num(receive(s[1], 64, CMSG_LEN(4), 0));
    close(last[0]);
    num(send_fds(s[0], (int[]){p[0]}, 1, "abc", SCM_RIGHTS));
    num(receive(s[1], 64, 0, 0));
    num(send_fds(s[0], (int[]){p[0]}, 1, "abc", SCM_RIGHTS));
    T(read, s[1], buf, 2);
    num(receive(s[1], 64, CMSG_SPACE(4), 0));
    num(send_fds(s[0], (int[]){p[0]}, 1, "abc", SCM_RIGHTS));
    num(receive(s[1], 64, CMSG_SPACE(4), MSG_PEEK));
    num(S(fcntl, last[0], F_GETFL));
    close(last[0]);
    num(receive(s[1], 64, CMSG_SPACE(4), 0));
    close(last[0]);

    /* Bytes before and behind descriptors. */
    T(write, s[0], "before", 6);
    num(send_fds(s[0], (int[]){p[0]}, 1, "with", SCM_RIGHTS));
    T(write, s[0], "behind", 6);
    num(receive(s[1], 64, CMSG_SPACE(4), 0));
    close(last[0]);
    num(receive(s[1], 64, CMSG_SPACE(4), 0));

    /* Credentials. */
    int on = 1;
    T(write, s[0], "early", 5);
    T(setsockopt, s[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    num(receive(s[1], 64, 128, 0));
    T(write, s[0], "late", 4);
    num(receive(s[1], 64, 128, 0));
    num(send_fds(s[0], (int[]){getpid(), (int)getuid(), (int)getgid()}, 3, "given", SCM_CREDENTIALS));
    num(receive(s[1], 64, 128, 0));
    num(send_fds(s[0], (int[]){getpid()}, 1, "short", SCM_CREDENTIALS));
    struct ucred u;
    socklen_t len = sizeof u;
    T(getsockopt, s[0], SOL_SOCKET, SO_PEERCRED, &u, &len);
    is(u.pid == getpid() && u.uid == getuid() && u.gid == getgid());
    long lone = S(socket, AF_UNIX, SOCK_STREAM, 0);
    T(getsockopt, lone, SOL_SOCKET, SO_PEERCRED, &u, &len);
    num(u.pid);
    num((int)u.uid);

    /* Sockets in each other's queues hold nothing but each other. */
    S(pipe, q);
    for (int i = 0; i < 40; i++) {
        int x[2];
        S(socketpair, AF_UNIX, SOCK_DGRAM, 0, x);
        send_fds(x[0], (int[]){x[0], x[1], q[1]}, 3, "circle", SCM_RIGHTS);
        send_fds(x[1], (int[]){x[0], x[1]}, 2, "circle", SCM_RIGHTS);
        close(x[0]), close(x[1]);
    }
    close(q[1]);
    T(read, q[0], buf, 1);

    /* One that closes takes with it what was on its way. */
    S(pipe, q);
    S(socketpair, AF_UNIX, SOCK_SEQPACKET, 0, p);
    num(send_fds(p[0], (int[]){q[1]}, 1, "gone", SCM_RIGHTS));
    close(q[1]);
    close(p[1]);
    T(read, q[0], buf, 1);

    /* To a child, whose table is another. */
    S(socketpair, AF_UNIX, SOCK_STREAM, 0, p);
    S(pipe, q);
    if (fork() == 0) {
        close(p[0]), close(q[0]), close(q[1]);
        receive(p[1], 64, CMSG_SPACE(4), 0);
        S(write, last[0], "from the child", 14);
        _exit(0);
    }
    num(send_fds(p[0], (int[]){q[1]}, 1, "x", SCM_RIGHTS));
    close(q[1]);
    wait(0);
    T(read, q[0], buf, 14);
    return 0;
}
