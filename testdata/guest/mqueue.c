// covers: mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr read lseek fstat poll epoll_ctl epoll_wait fcntl fork
// flags: -pthread
/* POSIX message queues: names, order, limits, waiting in turn, notification, and what a descriptor of one is. */
#include "cases.h"
#include <linux/netlink.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Names of this process alone: the queues of the machine are everybody's. */
static const char *name(const char *of)
{
    static char names[8][64];
    static int next;
    char *at = names[next++ & 7];
    sprintf(at, "cgemu-%s-%d", of, getppid());
    return at;
}
static long made(const char *of, long messages, long size, int flags)
{
    struct mq_attr attr = {0, messages, size, 0};
    return S(mq_open, name(of), O_CREAT | O_RDWR | flags, 0600, &attr);
}
static void told_attr(long q)
{
    struct mq_attr a;
    memset(&a, 0xee, sizeof a);
    T(mq_getsetattr, q, NULL, &a);
    printf("flags %#lx maxmsg %ld msgsize %ld curmsgs %ld\n", a.mq_flags, a.mq_maxmsg, a.mq_msgsize, a.mq_curmsgs);
}
static long sent(long q, const char *text, unsigned priority)
{
    char what[80];
    sprintf(what, "send %s with %u", text, priority);
    return show(what, S(mq_timedsend, q, text, strlen(text), priority, NULL));
}
static long got(long q)
{
    char text[8193] = "";
    unsigned priority = 77;
    long n = S(mq_timedreceive, q, text, 8192, &priority, NULL);
    if (n < 0)
        return show("receive", n);
    printf("receive %ld: %s with %u\n", n, text, priority);
    return n;
}

static void names_and_flags(void)
{
    static char longest[300];
    memset(longest, 'n', 299);
    T(mq_open, name("no"), O_RDWR, 0, NULL);
    T(mq_open, "", O_RDWR | O_CREAT, 0600, NULL), T(mq_open, ".", O_RDWR | O_CREAT, 0600, NULL);
    T(mq_open, "..", O_RDWR | O_CREAT, 0600, NULL), T(mq_open, "a/b", O_RDWR | O_CREAT, 0600, NULL);
    T(mq_open, "/a", O_RDWR | O_CREAT, 0600, NULL), T(mq_open, BAD, O_RDWR | O_CREAT, 0600, NULL);
    T(mq_open, longest, O_RDWR | O_CREAT, 0600, NULL), T(mq_unlink, longest);
    longest[255] = 0;
    is(S(mq_open, longest, O_RDWR | O_CREAT, 0600, NULL) > 0), T(mq_unlink, longest);
    T(mq_open, name("x"), O_RDWR | O_CREAT, 0600, BAD);
    T(mq_unlink, name("no")), T(mq_unlink, ""), T(mq_unlink, "/a"), T(mq_unlink, "."), T(mq_unlink, BAD);
    long q = S(mq_open, name("flags"), O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0666, NULL);
    is(q > 0);
    num(S(fcntl, q, F_GETFD)), printf("%#lx\n", S(fcntl, q, F_GETFL));
    told_attr(q);
    T(mq_open, name("flags"), O_RDWR | O_CREAT | O_EXCL, 0666, NULL);
    T(mq_open, name("flags"), O_ACCMODE, 0, NULL);
    is(S(mq_open, name("flags"), O_RDONLY | O_CREAT, 0, NULL) > 0), is(S(mq_open, name("flags"), O_WRONLY, 0, NULL) > 0);
    struct stat st;
    T(fstat, q, &st);
    printf("%o links %ld size %ld owner %s\n", st.st_mode, (long)st.st_nlink, (long)st.st_size, st.st_uid == getuid() ? "me" : "another");
    T(mq_unlink, name("flags")), T(mq_unlink, name("flags"));
    S(fstat, q, &st), num(st.st_nlink);
    sent(q, "still here", 1), got(q);
    long other = S(mq_open, name("flags"), O_RDWR | O_CREAT | O_EXCL, 0600, NULL);
    is(other > 0), S(fcntl, other, F_SETFL, O_NONBLOCK), got(other), T(mq_unlink, name("flags"));
}
static void sizes_and_limits(void)
{
    long wrong[][2] = {{0, 10}, {10, 0}, {-1, 10}, {10, -1}, {65537, 10}, {10, (16 << 20) + 1}, {1L << 40, 1L << 40}};
    for (int i = 0; i < 7; i++)
        show("wrong sizes", made("wrong", wrong[i][0], wrong[i][1], 0));
    struct rlimit few = {5000, 5000}, none = {0, 0};
    long q = made("small", 2, 8, O_NONBLOCK);
    told_attr(q);
    char text[16] = "0123456789";
    T(mq_timedsend, q, text, 9, 0, NULL), T(mq_timedsend, q, text, 8, 32768, NULL), T(mq_timedsend, q, text, 8, 32767, NULL);
    T(mq_timedsend, q, NULL, 0, 0, NULL), T(mq_timedsend, q, text, 1, 0, NULL), T(mq_timedsend, q, BAD, 1, 0, NULL);
    T(mq_timedreceive, q, text, 7, NULL, NULL), T(mq_timedreceive, q, text, 8, BAD, NULL);
    T(mq_timedreceive, q, BAD, 8, NULL, NULL), T(mq_timedreceive, q, text, 8, NULL, NULL);
    T(mq_timedsend, q, text, 4, 0, NULL), T(mq_timedreceive, q, BAD, 8, NULL, NULL), told_attr(q);
    long out = S(mq_open, name("small"), O_WRONLY, 0, NULL), in = S(mq_open, name("small"), O_RDONLY, 0, NULL);
    T(mq_timedreceive, out, text, 8, NULL, NULL), T(mq_timedsend, in, text, 1, 0, NULL);
    T(mq_timedsend, 0, text, 1, 0, NULL), T(mq_timedreceive, 0, text, 8, NULL, NULL), T(mq_timedsend, 99, text, 1, 0, NULL);
    T(mq_timedreceive, 99, text, 8, NULL, NULL), T(mq_notify, 99, NULL), T(mq_notify, 0, NULL), T(mq_getsetattr, 0, NULL, NULL);
    T(mq_unlink, name("small"));
    S(setrlimit, RLIMIT_MSGQUEUE, &few);
    show("too much", made("much", 10, 8192, 0)), is(made("less", 1, 1000, 0) > 0), T(mq_unlink, name("less"));
    S(setrlimit, RLIMIT_MSGQUEUE, &none), show("nothing", made("much", 1, 1, 0));
}
static void an_order(void)
{
    long q = made("order", 6, 8192, O_NONBLOCK);
    sent(q, "low", 0), sent(q, "high", 9), sent(q, "middle", 5), sent(q, "second high", 9), sent(q, "highest", 32767);
    sent(q, "second low", 0), sent(q, "too many", 1);
    told_attr(q);
    for (int i = 0; i < 7; i++)
        got(q);
    T(mq_unlink, name("order"));
}
static void attributes(void)
{
    long q = made("attr", 1, 8192, 0);
    struct mq_attr a = {O_NONBLOCK, 99, 99, 99}, b;
    T(mq_getsetattr, q, &a, &b), num(b.mq_flags), told_attr(q);
    a.mq_flags = 0, T(mq_getsetattr, q, &a, &b), num(b.mq_flags), num(b.mq_maxmsg);
    a.mq_flags = O_NONBLOCK | O_APPEND, T(mq_getsetattr, q, &a, NULL), a.mq_flags = -1, T(mq_getsetattr, q, &a, NULL);
    T(mq_getsetattr, q, BAD, NULL), T(mq_getsetattr, q, NULL, BAD), T(mq_getsetattr, q, NULL, NULL);
    T(mq_getsetattr, 99, NULL, NULL);
    T(mq_unlink, name("attr"));
}
static void time_limits(void)
{
    long q = made("time", 1, 8192, 0);
    struct timespec past = {1, 0}, bad = {1, 1000000000}, worse = {-1, 0}, soon;
    char text[8192];
    T(mq_timedreceive, q, text, 8192, NULL, &past), T(mq_timedreceive, q, text, 8192, NULL, &bad);
    T(mq_timedreceive, q, text, 8192, NULL, &worse), T(mq_timedreceive, q, text, 8192, NULL, BAD);
    T(mq_timedreceive, 99, text, 8192, NULL, &bad), T(mq_timedsend, 99, "x", 1, 0, &bad);
    T(mq_timedsend, q, "x", 1, 0, &past), T(mq_timedsend, q, "y", 1, 0, &past), T(mq_timedsend, q, "y", 1, 40000, &bad);
    clock_gettime(CLOCK_REALTIME, &soon), soon.tv_nsec += 20000000;
    if (soon.tv_nsec >= 1000000000)
        soon.tv_sec++, soon.tv_nsec -= 1000000000;
    T(mq_timedsend, q, "y", 1, 0, &soon);
    got(q), T(mq_timedreceive, q, text, 8192, NULL, &soon);
    T(mq_unlink, name("time"));
}
static void waiting_in_turn(void)
{
    long q = made("turn", 1, 8192, 0), back = made("back", 10, 8192, 0);
    int status;
    pid_t first = fork();
    if (!first) {
        char text[9000] = "1 ";
        S(mq_timedreceive, q, text + 2, 8000, NULL, NULL), S(mq_timedreceive, q, text + 2, 8192, NULL, NULL);
        S(mq_timedsend, back, text, strlen(text), 1, NULL), _exit(0);
    }
    until(first, 'S');
    pid_t second = fork();
    if (!second) {
        char text[9000] = "2 ";
        S(mq_timedreceive, q, text + 2, 8192, NULL, NULL);
        S(mq_timedsend, back, text, strlen(text), 0, NULL), _exit(0);
    }
    until(second, 'S');
    sent(q, "for the first", 0), sent(q, "for the second", 9);
    waitpid(first, &status, 0), waitpid(second, &status, 0);
    got(back), got(back), told_attr(q);
    /* Those who wait for room are let in as they came. */
    sent(q, "0", 0);
    for (int i = 1; i <= 3; i++) {
        pid_t pid = fork();
        char text[2] = {(char)('0' + i), 0};
        if (!pid)
            S(mq_timedsend, q, text, 1, 0, NULL), _exit(0);
        until(pid, 'S');
    }
    got(q), got(q), got(q), got(q);
    while (wait(&status) > 0)
        ;
    T(mq_unlink, name("turn")), T(mq_unlink, name("back"));
}
static void on_signal(int signo)
{
    (void)signo;
}
static void signals_while_waiting(void)
{
    long q = made("signal", 1, 8192, 0);
    for (int restart = 0; restart < 2; restart++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = restart ? SA_RESTART : 0};
        fflush(stdout);
        pid_t pid = fork();
        if (!pid) {
            sigaction(SIGUSR1, &action, NULL);
            got(q), fflush(stdout), _exit(0);
        }
        until(pid, 'S'), kill(pid, SIGUSR1);
        if (restart)
            until(pid, 'S'), S(mq_timedsend, q, "after the signal", 16, 0, NULL);
        reap("the receiver", pid, 0);
    }
    T(mq_unlink, name("signal"));
}
static void as_descriptors(void)
{
    char text[200] = "";
    long q = made("file", 2, 100, O_NONBLOCK), ep = S(epoll_create1, 0);
    struct pollfd p = {(int)q, POLLIN | POLLOUT, 0};
    struct epoll_event want = {EPOLLIN, {.u32 = 5}}, event;
    T(poll, &p, 1, 0), printf("%#x\n", p.revents);
    T(epoll_ctl, ep, EPOLL_CTL_ADD, q, &want), T(epoll_wait, ep, &event, 1, 0);
    sent(q, "some bytes", 3), T(poll, &p, 1, 0), printf("%#x\n", p.revents), T(epoll_wait, ep, &event, 1, 0);
    sent(q, "more", 3), T(poll, &p, 1, 0), printf("%#x\n", p.revents);
    num(S(read, q, text, 199)), printf("%s", text);
    T(read, q, text, 199), T(lseek, q, 0, SEEK_SET), T(lseek, q, 6, SEEK_SET), memset(text, 0, 200), T(read, q, text, 4);
    printf("%s\n", text);
    T(lseek, q, 0, SEEK_END), T(write, q, "x", 1), T(pread64, q, text, 5, 0), T(mmap, 0, 4096, PROT_READ, MAP_SHARED, q, 0);
    T(mq_timedreceive, q, text, 100, NULL, NULL), S(close, S(dup, q)), T(mq_timedreceive, q, text, 100, NULL, NULL);
    T(mq_unlink, name("file"));
}
static volatile int seen_code, seen_value, seen_sender;
static void on_message(int signo, siginfo_t *info, void *context)
{
    (void)context, (void)signo;
    seen_code = info->si_code, seen_value = info->si_value.sival_int;
    seen_sender = info->si_pid == getpid() && info->si_uid == getuid();
}
static void notification(void)
{
    long q = made("notify", 3, 8192, O_NONBLOCK), status;
    struct sigaction action = {.sa_sigaction = on_message, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    sigaction(SIGUSR1, &action, NULL);
    T(mq_notify, q, NULL), T(mq_notify, q, BAD), T(mq_notify, q, &event), T(mq_notify, q, &event);
    char text[100] = "";
    S(pread64, q, text, 40, 0), printf("%s\n", text);
    sent(q, "a", 0), num(seen_code), num(seen_value), num(seen_sender), seen_code = 0;
    sent(q, "b", 0), num(seen_code), T(mq_notify, q, &event), sent(q, "c", 0), num(seen_code);
    got(q), got(q), got(q);
    T(mq_notify, q, NULL), T(mq_notify, q, NULL), sent(q, "d", 0), num(seen_code), got(q);
    event.sigev_notify = SIGEV_NONE, T(mq_notify, q, &event), T(mq_notify, q, &event), sent(q, "e", 0), T(mq_notify, q, &event), got(q);
    event.sigev_notify = 77, T(mq_notify, q, &event), event.sigev_notify = SIGEV_SIGNAL, event.sigev_signo = 65, T(mq_notify, q, &event);
    event.sigev_signo = -1, T(mq_notify, q, &event), event.sigev_signo = SIGUSR1;
    T(mq_notify, q, NULL), T(mq_notify, q, &event);
    long copy = S(dup, q);
    S(close, copy), T(mq_notify, q, &event);
    pid_t child = fork();
    if (!child)
        _exit(S(mq_notify, q, NULL) == 0 && S(mq_notify, q, &event) == -EBUSY ? 3 : 4);
    waitpid(child, (int *)&status, 0), told("the child", (int)status);
    T(mq_notify, q, &event);
    /* Who waits gets the message, and nobody is told. */
    S(fcntl, q, F_SETFL, 0);
    child = fork();
    if (!child)
        _exit(S(mq_timedreceive, q, malloc(8192), 8192, NULL, NULL) == 1 ? 5 : 6);
    until(child, 'S'), seen_code = 0, sent(q, "f", 0), waitpid(child, (int *)&status, 0), told("the child", (int)status);
    num(seen_code), T(mq_notify, q, &event);
    T(mq_unlink, name("notify"));
}
static void threads_of_the_library(void)
{
    long q = made("thread", 3, 8192, O_NONBLOCK), socket = S(socket, AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, 0);
    char cookie[32] = "the cookie of this queue......", back[64];
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_signo = (int)socket, .sigev_value.sival_ptr = cookie};
    T(mq_notify, q, &event), T(read, socket, back, 64);
    sent(q, "x", 0), T(read, socket, back, 64), printf("%.30s %d\n", back, back[31]);
    T(mq_notify, q, &event), T(mq_notify, q, NULL), T(read, socket, back, 64), num(back[31]);
    event.sigev_signo = 99, T(mq_notify, q, &event), event.sigev_signo = (int)q, T(mq_notify, q, &event);
    event.sigev_signo = (int)S(socket, AF_UNIX, SOCK_STREAM, 0), T(mq_notify, q, &event);
    event.sigev_value.sival_ptr = BAD, T(mq_notify, q, &event);
    T(mq_unlink, name("thread"));
}

int main(void)
{
    unfiltered();
    long here = S(mq_open, "cgemu-there-at-all", O_RDONLY, 0, NULL);
    if (here == -ENOSYS)
        lacks("a kernel without POSIX message queues");
    CASE(names_and_flags);
    CASE(sizes_and_limits);
    CASE(an_order);
    CASE(attributes);
    CASE(time_limits);
    CASE(waiting_in_turn);
    CASE(signals_while_waiting);
    CASE(as_descriptors);
    CASE(notification);
    CASE(threads_of_the_library);
    return 0;
}
