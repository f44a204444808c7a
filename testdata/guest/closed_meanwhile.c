// covers: close read write poll epoll_wait accept4 dup2 shutdown futex
// flags: -pthread
#include "guest.h"
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Descriptors that one thread closes while another waits at them: the call goes on with the file that it had. */
static int p[2], s[2], ep;
static pid_t tid;
static char buf[16];

static void *reads(void *arg)
{
    __atomic_store_n(&tid, (pid_t)S(gettid), __ATOMIC_RELEASE);
    return (void *)S(read, (long)arg, buf, 16);
}
static void *polls(void *arg)
{
    struct pollfd f = {(int)(long)arg, POLLIN, 0};
    __atomic_store_n(&tid, (pid_t)S(gettid), __ATOMIC_RELEASE);
    long r = S(poll, &f, 1, 2000);
    return (void *)(r * 0x1000 + f.revents);
}
static void *waits(void *arg)
{
    struct epoll_event e = {0, {0}};
    __atomic_store_n(&tid, (pid_t)S(gettid), __ATOMIC_RELEASE);
    long r = S(epoll_wait, (long)arg, &e, 1, 2000);
    return (void *)(r * 0x1000 + e.events);
}
static void *accepts(void *arg)
{
    __atomic_store_n(&tid, (pid_t)S(gettid), __ATOMIC_RELEASE);
    return (void *)S(accept4, (long)arg, 0, 0, 0);
}
/* Starts a thread and waits until it sleeps. */
static pthread_t start(void *(*work)(void *), long arg)
{
    pthread_t t;
    char path[64], state = 0;
    tid = 0, pthread_create(&t, 0, work, (void *)arg);
    while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
        usleep(200);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    for (int i = 0; i < 2000 && state != 'S'; i++) {
        FILE *f = fopen(path, "re");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 'S';
        if (f)
            fclose(f);
        if (state != 'S')
            usleep(300);
    }
    return t;
}
static long end(pthread_t t)
{
    void *r;
    pthread_join(t, &r);
    return (long)r;
}

int main(void)
{
    S(pipe2, p, 0);
    pthread_t t = start(reads, p[0]);
    T(close, p[0]), T(write, p[1], "late", 4), show("reader of a closed descriptor", end(t)), signal(SIGPIPE, SIG_IGN), T(write, p[1], "x", 1), S(close, p[1]);
    S(pipe2, p, 0), t = start(reads, p[0]), S(socketpair, AF_UNIX, SOCK_STREAM, 0, s), T(dup2, s[0], p[0]), T(write, s[1], "to the socket", 13),
        T(write, p[1], "to the pipe", 11), show("reader of what was there", end(t)), printf("%.11s\n", buf), T(read, p[0], buf, 16), S(close, p[0]),
        S(close, p[1]);
    S(pipe2, p, 0), t = start(reads, p[0]), T(close, p[1]), show("writer closed", end(t)), S(close, p[0]);
    t = start(reads, s[0]), T(shutdown, s[0], SHUT_RD), show("shut", end(t)), S(close, s[0]), S(close, s[1]);
    S(pipe2, p, 0), t = start(polls, p[0]), T(close, p[0]), S(write, p[1], "x", 1), show("poll of a closed one", end(t)), S(close, p[1]);
    S(pipe2, p, 0), ep = (int)S(epoll_create1, 0);
    struct epoll_event e = {EPOLLIN, {.u64 = 1}};
    S(epoll_ctl, ep, EPOLL_CTL_ADD, p[0], &e), t = start(waits, ep), T(close, ep), T(write, p[1], "x", 1), printf("closed instance: %#lx\n", end(t)),
        S(close, p[0]), S(close, p[1]), ep = (int)S(epoll_create1, 0), S(pipe2, p, 0), t = start(waits, ep),
        T(epoll_ctl, ep, EPOLL_CTL_ADD, p[0], &e), T(write, p[1], "x", 1), printf("added meanwhile: %#lx\n", end(t)), t = start(reads, p[0]);
    show("bytes there", end(t)), t = start(waits, ep), e.events = EPOLLIN | EPOLLOUT, T(epoll_ctl, ep, EPOLL_CTL_ADD, p[1], &e),
        printf("another added: %#lx\n", end(t));
    struct sockaddr_un a = {AF_UNIX, "sock"};
    int l = (int)S(socket, AF_UNIX, SOCK_STREAM, 0), c = (int)S(socket, AF_UNIX, SOCK_STREAM, 0);
    S(bind, l, &a, sizeof a), S(listen, l, 1), t = start(accepts, l), T(shutdown, l, SHUT_RDWR), show("shut listener", end(t)), S(close, l),
        S(unlink, "sock"), l = (int)S(socket, AF_UNIX, SOCK_STREAM, 0), S(bind, l, &a, sizeof a), S(listen, l, 1), t = start(accepts, l), T(close, l),
        T(connect, c, &a, sizeof a), is(end(t) > 0), show("gone then", S(connect, (int)S(socket, AF_UNIX, SOCK_STREAM, 0), &a, sizeof a));
    return 0;
}
