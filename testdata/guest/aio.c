// covers: io_setup io_destroy io_submit io_getevents io_pgetevents io_cancel eventfd2 fork
// flags: -pthread
/* Linux AIO: contexts, requests of every kind and their results, what is refused, and waiting for results. */
#include "cases.h"
#include <linux/aio_abi.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

#ifndef SYS_io_pgetevents
#define SYS_io_pgetevents 333
#endif

static struct iocb request(int op, long fd, void *buf, long bytes, long offset)
{
    static long number;
    return (struct iocb){.aio_data = 1000 + number++, .aio_lio_opcode = op, .aio_fildes = fd, .aio_buf = (long)buf, .aio_nbytes = bytes, .aio_offset = offset};
}
static aio_context_t context(unsigned count)
{
    aio_context_t made = 0;
    show("io_setup", S(io_setup, count, &made));
    return made;
}
static void results(aio_context_t at, long least, struct iocb *of)
{
    struct io_event events[16];
    struct timespec second = {1, 0};
    long n = S(io_getevents, at, least, 16, events, &second);
    show("io_getevents", n);
    for (long i = 0; i < n; i++) {
        long distance = ((char *)events[i].obj - (char *)of) / (long)sizeof *of;
        printf("  data %lld request %ld: ", events[i].data, distance);
        show("result", events[i].res);
        if (events[i].res2)
            printf("  second result %lld\n", events[i].res2);
    }
}
static long submit(aio_context_t at, struct iocb *first, int count)
{
    struct iocb *list[16];
    for (int i = 0; i < count; i++)
        list[i] = first + i;
    return show("io_submit", S(io_submit, at, count, list));
}
static long file(void)
{
    put("aio", "the bytes of a file\n");
    return S(open, "aio", O_RDWR);
}

static void contexts(void)
{
    aio_context_t at = 0, other = 0, taken = 5;
    T(io_setup, 4, BAD), T(io_setup, 4, KERNEL), T(io_setup, 4, &taken), T(io_setup, 0, &at), T(io_setup, -1, &at), T(io_setup, 0x7fffffff, &at);
    T(io_setup, 10000000, &at), T(io_setup, 65537, &at);
    T(io_setup, 1, &at), T(io_setup, 100, &other), is(at && other && at != other);
    T(io_setup, 1, &at);
    unsigned *ring = (unsigned *)at;
    printf("%#x %u %u\n", ring[4], ring[2], ring[3]);
    T(io_destroy, 0), T(io_destroy, 12345), T(io_destroy, at + 64), T(io_destroy, at), T(io_destroy, at), T(io_destroy, other);
    T(io_getevents, at, 0, 0, NULL, NULL), T(io_submit, at, 0, NULL);
}
static void reads_and_writes(void)
{
    char a[32] = "", b[32] = "", c[32] = "";
    long fd = file();
    aio_context_t at = context(8);
    struct iovec parts[2] = {{b, 4}, {c, 5}}, out[2] = {{"AB", 2}, {"CD", 2}};
    struct iocb r[6] = {request(IOCB_CMD_PREAD, fd, a, 9, 4), request(IOCB_CMD_PREADV, fd, parts, 2, 0),
                        request(IOCB_CMD_PWRITE, fd, "XYZ", 3, 10), request(IOCB_CMD_PWRITEV, fd, out, 2, 30),
                        request(IOCB_CMD_PREAD, fd, a, 9, 100), request(IOCB_CMD_PREAD, fd, a, 0, 0)};
    for (int i = 0; i < 6; i++)
        submit(at, r + i, 1), results(at, 1, r);
    printf("%s %s %s\n", a, b, c);
    num(S(lseek, fd, 0, SEEK_CUR));
    cat("aio");
    struct iocb s[4] = {request(IOCB_CMD_FSYNC, fd, NULL, 0, 0), request(IOCB_CMD_FDSYNC, fd, NULL, 0, 0),
                        request(IOCB_CMD_FSYNC, fd, NULL, 1, 0), request(IOCB_CMD_FSYNC, fd, NULL, 0, 1)};
    for (int i = 0; i < 4; i++)
        submit(at, s + i, 1), i < 2 ? results(at, 1, s) : results(at, 0, s);
    T(io_destroy, at), T(unlink, "aio");
}
static void many_at_once(void)
{
    char a[4][8] = {"", "", "", ""};
    long fd = file();
    aio_context_t at = context(8);
    struct iocb r[4];
    for (int i = 0; i < 4; i++)
        r[i] = request(IOCB_CMD_PREAD, fd, a[i], 4, i * 4);
    submit(at, r, 4);
    struct io_event events[4];
    memset(events, 0, sizeof events);
    T(io_getevents, at, 4, 4, events, NULL);
    long sum = 0;
    for (int i = 0; i < 4; i++)
        sum += events[i].res;
    num(sum), printf("%s|%s|%s|%s\n", a[0], a[1], a[2], a[3]);
    r[2].aio_fildes = 99;
    submit(at, r, 4), T(io_getevents, at, 2, 4, events, NULL), submit(at, r + 2, 2);
    T(io_destroy, at), T(unlink, "aio");
}
static void what_is_refused(void)
{
    char a[32];
    long fd = file(), only = S(open, "aio", O_RDONLY), out = S(open, "aio", O_WRONLY), dir = S(open, ".", O_RDONLY);
    long path = S(open, "aio", O_PATH), event = S(eventfd2, 0, 0);
    aio_context_t at = context(4);
    struct iocb good = request(IOCB_CMD_PREAD, fd, a, 4, 0), r, *list[2] = {&good, BAD};
    T(io_submit, at, -1, list), T(io_submit, at, 1, BAD), T(io_submit, at, 1, list + 1), T(io_submit, 0, 1, list), T(io_submit, at, 0, BAD);
    T(io_submit, at, 2, list), results(at, 1, &good);
#define REFUSED(...) printf("%s: ", #__VA_ARGS__), r = request(__VA_ARGS__), submit(at, &r, 1)
    REFUSED(IOCB_CMD_PREAD, 99, a, 4, 0), REFUSED(IOCB_CMD_PREAD, path, a, 4, 0), REFUSED(IOCB_CMD_PREAD, out, a, 4, 0), REFUSED(IOCB_CMD_PWRITE, only, a, 4, 0);
    REFUSED(IOCB_CMD_PREAD, fd, a, -1, 0), REFUSED(IOCB_CMD_PREAD, fd, a, 4, -1), REFUSED(IOCB_CMD_PREAD, dir, a, 4, 0), REFUSED(77, fd, a, 4, 0), REFUSED(4, fd, a, 4, 0);
    REFUSED(IOCB_CMD_PREADV, fd, BAD, 1, 0), REFUSED(IOCB_CMD_PREADV, fd, BAD, 1025, 0), REFUSED(IOCB_CMD_PREAD, fd, KERNEL, 4, 0), REFUSED(IOCB_CMD_FSYNC, event, NULL, 0, 0);
    r = good, r.aio_reserved2 = 1, submit(at, &r, 1);
    r = good, r.aio_flags = IOCB_FLAG_RESFD, r.aio_resfd = 99, submit(at, &r, 1), r.aio_resfd = fd, submit(at, &r, 1);
    r = good, r.aio_rw_flags = 0x4000000, submit(at, &r, 1);
    results(at, 0, &r);
    printf("a bad buffer: "), r = request(IOCB_CMD_PREAD, fd, BAD, 4, 0), submit(at, &r, 1), results(at, 1, &r);
    printf("a bad buffer: "), r = request(IOCB_CMD_PWRITE, fd, BAD, 4, 0), submit(at, &r, 1), results(at, 1, &r);
    T(io_cancel, at, &good, NULL), T(io_cancel, 0, &good, NULL), T(io_cancel, at, BAD, NULL), good.aio_key = 5, T(io_cancel, at, &good, NULL);
    struct io_event events[2];
    T(io_getevents, at, -1, 1, events, NULL), T(io_getevents, at, 2, 1, events, NULL), T(io_getevents, at, 0, 1, events, BAD);
    T(io_getevents, at, 0, 0, NULL, NULL), T(io_getevents, at, 0, 1, BAD, NULL), T(io_getevents, at, 0, -1, events, NULL);
    submit(at, &good, 1), T(io_getevents, at, 1, 1, BAD, NULL), T(io_getevents, at, 1, 1, events, NULL);
    T(io_pgetevents, at, 0, 1, events, NULL, BAD), T(unlink, "aio");
}
static void counters(void)
{
    char a[8];
    uint64_t count = 0;
    long fd = file(), event = S(eventfd2, 0, EFD_NONBLOCK);
    aio_context_t at = context(4);
    struct iocb r[2] = {request(IOCB_CMD_PREAD, fd, a, 4, 0), request(IOCB_CMD_PREAD, fd, a, 4, 4)};
    for (int i = 0; i < 2; i++)
        r[i].aio_flags = IOCB_FLAG_RESFD, r[i].aio_resfd = event;
    submit(at, r, 2), results(at, 2, r);
    T(read, event, &count, 8), num(count), T(read, event, &count, 8);
    T(io_destroy, at), T(unlink, "aio");
}
static void pipes(void)
{
    int ends[2];
    char a[16] = "";
    S(pipe, ends);
    aio_context_t at = context(4);
    struct iocb r[3] = {request(IOCB_CMD_PWRITE, ends[1], "through", 7, 500), request(IOCB_CMD_PREAD, ends[0], a, 15, 0), request(IOCB_CMD_PREAD, ends[0], a, 15, 0)};
    submit(at, r, 2), results(at, 2, r), printf("%s\n", a);
    S(fcntl, ends[0], F_SETFL, O_NONBLOCK), submit(at, r + 2, 1), results(at, 1, r);
    S(close, ends[1]), submit(at, r + 2, 1), results(at, 1, r);
    S(fcntl, ends[0], F_SETFL, 0), T(io_destroy, at);
}
static aio_context_t shared;
static struct iocb later;
static void *submit_later(void *arg)
{
    until((pid_t)(long)arg, 'S');
    struct iocb *list = &later;
    S(io_submit, shared, 1, &list);
    return NULL;
}
static void on_alarm(int signo)
{
    (void)signo;
}
static void waiting(void)
{
    char a[8];
    struct io_event events[4];
    struct timespec none = {0, 0}, soon = {0, 5000000};
    long fd = file();
    shared = context(4), later = request(IOCB_CMD_PREAD, fd, a, 4, 0);
    T(io_getevents, shared, 1, 4, events, &none), T(io_getevents, shared, 1, 4, events, &soon);
    T(io_getevents, shared, 0, 4, events, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, submit_later, (void *)S(gettid));
    T(io_getevents, shared, 1, 4, events, NULL), pthread_join(thread, NULL), num(events[0].res);
    submit(shared, &later, 1), T(io_getevents, shared, 2, 4, events, &soon);
    signal(SIGALRM, on_alarm);
    ualarm(20000, 0);
    T(io_getevents, shared, 1, 4, events, NULL);
    sigset_t all, before;
    sigfillset(&all), sigprocmask(SIG_SETMASK, NULL, &before);
    struct {
        sigset_t *set;
        size_t size;
    } mask = {&all, 8}, wrong = {&all, 4};
    ualarm(5000, 0);
    soon.tv_nsec = 50000000;
    T(io_pgetevents, shared, 1, 4, events, &soon, &mask), T(io_pgetevents, shared, 1, 4, events, &soon, &wrong);
    T(io_destroy, shared), T(unlink, "aio");
}
static void are_not_inherited(void)
{
    char a[8];
    long fd = file();
    aio_context_t at = context(4);
    struct iocb r = request(IOCB_CMD_PREAD, fd, a, 4, 0);
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        submit(at, &r, 1), T(io_destroy, at), fflush(stdout), _exit(0);
    reap("the child", child, 0);
    submit(at, &r, 1), results(at, 1, &r);
    T(munmap, at & -4096, 4096), submit(at, &r, 1), T(io_destroy, at), T(unlink, "aio");
}

int main(void)
{
    unfiltered();
    aio_context_t there = 0;
    if (S(io_setup, 1, &there) == -ENOSYS)
        lacks("a kernel without Linux AIO");
    S(io_destroy, there);
    CASE(contexts);
    CASE(reads_and_writes);
    CASE(many_at_once);
    CASE(what_is_refused);
    CASE(counters);
    CASE(pipes);
    CASE(waiting);
    CASE(are_not_inherited);
    return 0;
}
