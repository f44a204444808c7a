// covers: mq_open mq_timedsend mq_timedreceive mq_notify mq_getsetattr mq_unlink fork poll
// flags: -pthread
#include "child.h"
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

/* Message queues of POSIX: priorities, who is told of a message, threads that are, and limits of one queue. */
static char name[64];
static mqd_t q;
static volatile int told, code, value, from_child;
static sem_t called;

static void handler(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    told++, code = info->si_code, value = info->si_value.sival_int, from_child = info->si_pid != getpid();
}
static void thread(union sigval v)
{
    value = v.sival_int, told++, sem_post(&called);
}
static void get(const char *what)
{
    char buf[64];
    unsigned priority = 99;
    ssize_t n = mq_receive(q, buf, sizeof buf, &priority);
    if (n < 0)
        show(what, -errno);
    else
        printf("%s: %zd '%.*s' priority %u\n", what, n, (int)n, buf, priority);
}
static long put_(const char *text, unsigned priority)
{
    return mq_send(q, text, strlen(text), priority) ? -errno : 0;
}
static void sends(void)
{
    put_("from a child", 3);
}
static void receives(void)
{
    mqd_t own = mq_open(name, O_RDONLY);
    char buf[64];
    ssize_t n = mq_receive(own, buf, sizeof buf, 0);
    printf("child received %zd\n", n);
}
static long notify(struct sigevent *e)
{
    return mq_notify(q, e) ? -errno : 0;
}

int main(void)
{
    struct mq_attr a = {.mq_maxmsg = 5, .mq_msgsize = 64}, got;
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, 0), snprintf(name, sizeof name, "/cgemu.queue.%d", (int)getpid()),
        q = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &a);
    if (q < 0)
        lacks("a kernel without POSIX message queues");
    put_("low", 1), put_("high", 9), put_("middle", 5), put_("high too", 9), show("fifth", put_("lowest", 0)), show("full", put_("x", 0)),
        mq_getattr(q, &got), printf("%ld of %ld, %ld bytes, flags %#lo\n", got.mq_curmsgs, got.mq_maxmsg, got.mq_msgsize, got.mq_flags);
    for (int i = 0; i < 6; i++)
        get("next");
    show("priority 32768", put_("x", 32768)), show("priority 32767", put_("x", 32767)), get("highest"),
        show("65 bytes", put_("0123456789012345678901234567890123456789012345678901234567890123x", 0)), show("nothing", put_("", 0)), get("nothing");

    /* One process is told of the first message in an empty queue, once. */
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    show("notify", notify(&e)), show("again", notify(&e)), put_("first", 0), printf("told %d code %d value %d\n", told, code == SI_MESGQ, value),
        put_("second", 0), num(told), show("notify while it is not empty", notify(&e)), put_("third", 0), num(told), get("1"), get("2"), get("3"),
        put_("fourth", 0), num(told), get("4"), show("notify", notify(&e)), show("taken back", notify(0)), show("twice", notify(0)), put_("fifth", 0),
        num(told), get("5");
    show("notify", notify(&e)), reap(child(sends)), printf("told %d by another %d\n", told, from_child), get("child's");
    /* A reader that waits comes first: nobody is told. */
    mq_setattr(q, &(struct mq_attr){.mq_flags = 0}, &got), printf("flags were %#lo\n", got.mq_flags), show("notify", notify(&e));
    pid_t pid = child(receives);
    asleep(pid), put_("for the reader", 0), reap(pid), num(told), put_("for the signal", 0), num(told), get("it");
    e.sigev_notify = SIGEV_NONE, show("none", notify(&e)), e.sigev_notify = SIGEV_SIGNAL, show("busy by none", notify(&e)), put_("x", 0),
        show("free", notify(&e)), notify(0), get("x");
    sem_init(&called, 0, 0), told = 0, e.sigev_notify = SIGEV_THREAD, e.sigev_notify_function = thread, e.sigev_notify_attributes = 0,
        e.sigev_value.sival_int = 77, show("thread", notify(&e)), put_("y", 0), sem_wait(&called), printf("thread %d value %d\n", told, value),
        get("y");
    e.sigev_notify = 9, show("kind 9", notify(&e)), e.sigev_notify = SIGEV_SIGNAL, e.sigev_signo = 65, show("signal 65", notify(&e));

    /* Times and descriptors. */
    struct timespec past = {1, 0}, bad = {0, -1};
    char buf[64];
    T(mq_timedreceive, q, buf, 64, 0, &past), T(mq_timedreceive, q, buf, 63, 0, &past), T(mq_timedreceive, q, buf, 64, 0, &bad), put_("z", 0),
        T(mq_timedreceive, q, buf, 64, 0, &bad), T(mq_timedreceive, q, buf, 64, 0, &past), T(mq_timedsend, q, BAD, 3, 0, &past),
        T(mq_timedsend, 0, "x", 1, 0, &past), T(mq_timedreceive, 99, buf, 64, 0, 0);
    mqd_t r = mq_open(name, O_RDONLY), w = mq_open(name, O_WRONLY);
    T(mq_timedsend, r, "x", 1, 0, 0), T(mq_timedreceive, w, buf, 64, 0, 0), T(write, w, "x", 1);
    struct pollfd p[2] = {{r, POLLIN | POLLOUT, 0}, {w, POLLIN | POLLOUT, 0}};
    S(poll, p, 2, 0), printf("%#x %#x\n", p[0].revents, p[1].revents), put_("x", 0), S(poll, p, 2, 0),
        printf("%#x %#x\n", p[0].revents, p[1].revents), num(mq_unlink(name)), is(mq_unlink(name) == -1 && errno == ENOENT), num(mq_close(r)),
        get("after unlink"), is(mq_open(name, O_RDWR) == -1 && errno == ENOENT), is(mq_open("noslash", O_RDWR) == -1 && errno == EINVAL),
        is(mq_open("/a/b", O_RDWR | O_CREAT, 0600, 0) == -1 && errno == EACCES), a.mq_maxmsg = 0,
        is(mq_open(name, O_RDWR | O_CREAT, 0600, &a) == -1 && errno == EINVAL), a = (struct mq_attr){.mq_maxmsg = 5, .mq_msgsize = -1},
        is(mq_open(name, O_RDWR | O_CREAT, 0600, &a) == -1 && errno == EINVAL);
    return 0;
}
