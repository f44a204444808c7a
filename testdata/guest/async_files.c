// covers: pread64 pwrite64 clone futex rt_sigqueueinfo fsync
// flags: -pthread -lrt
#include "guest.h"
#include <aio.h>
#include <semaphore.h>

/* Asynchronous input and output of POSIX, which the C library makes with threads: requests, lists, notices, errors. */
static volatile int told, value, code;
static sem_t called;
static void handler(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    told++, value = info->si_value.sival_int, code = info->si_code;
}
static void thread(union sigval v)
{
    value = v.sival_int, sem_post(&called);
}
static long end(struct aiocb *c)
{
    const struct aiocb *list[] = {c};
    while (aio_error(c) == EINPROGRESS)
        aio_suspend(list, 1, 0);
    int e = aio_error(c);
    long r = aio_return(c);
    return e ? -e : r;
}

int main(void)
{
    char buf[64] = "", text[] = "written by a thread";
    int fd = open("f", O_RDWR | O_CREAT, 0644), p[2];
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &a, 0), sem_init(&called, 0, 0);
    struct aiocb w = {.aio_fildes = fd, .aio_buf = text, .aio_nbytes = strlen(text), .aio_offset = 3, .aio_sigevent.sigev_notify = SIGEV_NONE},
        r = {.aio_fildes = fd, .aio_buf = buf, .aio_nbytes = 10, .aio_offset = 3, .aio_sigevent.sigev_notify = SIGEV_NONE};
    num(aio_write(&w)), show("write", end(&w)), cat("f"), num(aio_read(&r)), show("read", end(&r)), printf("%s\n", buf), r.aio_offset = 100,
        aio_read(&r), show("behind the end", end(&r)), num(S(lseek, fd, 0, SEEK_CUR)), num(aio_fsync(O_SYNC, &w)), show("fsync", end(&w)),
        is(aio_fsync(9, &w) == -1 && errno == EINVAL);
    /* Errors: at once, or as the result. */
    struct aiocb bad = r;
    bad.aio_fildes = 99, num(aio_read(&bad)), show("closed", end(&bad)), bad = r, bad.aio_offset = -1, num(aio_read(&bad)),
        show("offset -1", end(&bad)), bad = r, bad.aio_reqprio = -1, is(aio_read(&bad) == -1 && errno == EINVAL), bad = r,
        bad.aio_fildes = open("f", O_WRONLY), num(aio_read(&bad)), show("write-only", end(&bad));
    /* Notices. */
    r.aio_offset = 0, r.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 5},
        aio_read(&r), show("signal", end(&r));
    while (!told)
        usleep(200);
    printf("told %d value %d code %d\n", told, value, code == SI_ASYNCIO),
        r.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = thread, .sigev_value.sival_int = 6}, aio_read(&r),
        sem_wait(&called), show("thread", end(&r)), num(value);
    /* Lists. */
    char parts[3][8] = {"one", "two", "three"};
    struct aiocb c[3], *list[] = {&c[0], NULL, &c[1], &c[2]};
    for (int i = 0; i < 3; i++)
        c[i] = (struct aiocb){.aio_fildes = fd, .aio_buf = parts[i], .aio_nbytes = 3, .aio_offset = i * 3, .aio_lio_opcode = LIO_WRITE,
            .aio_sigevent.sigev_notify = SIGEV_NONE};
    num(lio_listio(LIO_WAIT, list, 4, 0));
    for (int i = 0; i < 3; i++)
        show("part", end(&c[i]));
    cat("f"), c[1].aio_lio_opcode = LIO_NOP, c[2].aio_fildes = 99, is(lio_listio(LIO_WAIT, list, 4, 0) == -1 && errno == EIO),
        show("good", end(&c[0])), show("bad", end(&c[2])), is(lio_listio(9, list, 4, 0) == -1 && errno == EINVAL);
    told = 0;
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 9};
    c[2].aio_fildes = fd, num(lio_listio(LIO_NOWAIT, list, 4, &e));
    while (!told)
        usleep(200);
    num(value);
    /* Taken back, or not any more; a wait with a time. */
    if (pipe(p))
        return 1;
    struct aiocb wait = {.aio_fildes = p[0], .aio_buf = buf, .aio_nbytes = 5, .aio_sigevent.sigev_notify = SIGEV_NONE};
    const struct aiocb *waits[] = {&wait};
    struct timespec soon = {0, 50000000}; /* by then a thread reads */
    num(aio_cancel(fd, &r) == AIO_ALLDONE), num(aio_read(&wait)), is(aio_suspend(waits, 1, &soon) == -1 && errno == EAGAIN),
        num(aio_cancel(p[0], &wait) == AIO_NOTCANCELED), num(aio_error(&wait) == EINPROGRESS), is(write(p[1], "ended", 5) == 5),
        show("pipe", end(&wait)), is(aio_cancel(99, 0) == -1 && errno == EBADF);
    return 0;
}
