// covers: signalfd signalfd4
#include "guest.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>

static uint64_t set(int a, int b) { return 1ul << (a - 1) | (b ? 1ul << (b - 1) : 0); }

static void line(const char *what, long n, const struct signalfd_siginfo *i)
{
    if (show(what, n) <= 0)
        return;
    for (long k = 0; k < n / 128; k++, i++)
        printf("  %u code %d errno %d pid %d uid %d int %d ptr %lx tid %u overrun %u band %u fd %d\n", i->ssi_signo, i->ssi_code, i->ssi_errno,
               i->ssi_pid == (uint32_t)getpid(), i->ssi_uid == getuid(), i->ssi_int, (unsigned long)i->ssi_ptr, i->ssi_tid, i->ssi_overrun, i->ssi_band, i->ssi_fd);
}
static struct signalfd_siginfo got[8];
#define READ(fd, size) line("read(" #fd ", " #size ")", S(read, fd, got, size), got)

static int caught;
static void on(int s) { caught = s; }

int main(void)
{
    uint64_t usr = set(SIGUSR1, SIGUSR2), all = usr | set(SIGALRM, SIGRTMIN + 3) | set(SIGKILL, SIGSTOP), other = set(SIGUSR2, 0), more = set(SIGRTMIN + 3, SIGALRM);
    S(rt_sigprocmask, SIG_BLOCK, &all, NULL, 8);
    T(signalfd4, -1, &usr, 4, 0), T(signalfd4, -1, &usr, 16, 0), T(signalfd4, -1, BAD, 8, 0), T(signalfd4, -1, &usr, 8, 1), T(signalfd4, 99, &usr, 8, 0), T(signalfd4, 1, &usr, 8, 0), T(signalfd4, -2, &usr, 8, 0);
    long fd = S(signalfd4, -1, &usr, 8, SFD_NONBLOCK | SFD_CLOEXEC), old = S(signalfd, -1, &usr, 8);
    is(S(fcntl, fd, F_GETFD) == 1), is(S(fcntl, fd, F_GETFL) == (O_RDWR | O_NONBLOCK)), is(S(fcntl, old, F_GETFL) == O_RDWR);
    READ(fd, 128), READ(fd, 127), READ(fd, 0), T(write, fd, got, 128), T(lseek, fd, 0, SEEK_SET), T(pread64, fd, got, 128, 0);

    /* What kill, sigqueue, timers and faults say. */
    S(kill, getpid(), SIGUSR1), S(kill, getpid(), SIGUSR1);
    struct pollfd p = {fd, POLLIN | POLLOUT, 0};
    T(poll, &p, 1, 0), num(p.revents);
    READ(fd, 1024), READ(fd, 128);
    sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 77}), S(tgkill, getpid(), getpid(), SIGUSR1);
    READ(old, 128), READ(old, 256), READ(fd, 128);

    /* Another mask for the same description; SIGKILL and SIGSTOP are left out. */
    is(S(signalfd4, fd, &more, 8, 0) == fd);
    S(kill, getpid(), SIGUSR1), READ(fd, 128);
    for (int i = 0; i < 3; i++)
        sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_ptr = (void *)(0x100000001ul + i)});
    READ(fd, 256), READ(fd, 256), READ(old, 128);
    struct itimerval v = {{0, 0}, {0, 2000}};
    setitimer(ITIMER_REAL, &v, NULL);
    T(fcntl, fd, F_SETFL, 0), READ(fd, 128), T(fcntl, fd, F_SETFL, O_NONBLOCK);
    timer_t id;
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3, .sigev_value.sival_int = 5};
    timer_create(CLOCK_MONOTONIC, &ev, &id);
    struct itimerspec once = {{0, 0}, {0, 1000000}};
    timer_settime(id, 0, &once, NULL);
    p.fd = fd;
    T(poll, &p, 1, -1), num(p.revents), READ(fd, 128), T(poll, &p, 1, 2);

    /* Watched by an instance; a signal that is not blocked goes to its handler. */
    long ep = S(epoll_create1, 0);
    struct epoll_event e = {EPOLLIN, {.u64 = 3}}, out[2];
    T(epoll_ctl, ep, EPOLL_CTL_ADD, fd, &e), T(epoll_wait, ep, out, 2, 0);
    setitimer(ITIMER_REAL, &v, NULL);
    T(epoll_wait, ep, out, 2, -1), num(out[0].events), READ(fd, 128), T(epoll_wait, ep, out, 2, 0);
    signal(SIGUSR2, on);
    S(rt_sigprocmask, SIG_UNBLOCK, &other, NULL, 8);
    S(kill, getpid(), SIGUSR2), num(caught), READ(old, 0);
    T(fcntl, old, F_SETFL, O_NONBLOCK), READ(old, 128);
    uint64_t pending = 0;
    S(kill, getpid(), SIGUSR1), T(close, fd), READ(old, 128), S(rt_sigpending, &pending, 8), num(pending);
    char path[64], buf[512];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%ld", old);
    long in = S(open, path, O_RDONLY), n = S(read, in, buf, sizeof buf - 1);
    buf[n > 0 ? n : 0] = 0;
    printf("%s", strstr(buf, "sigmask") ? strstr(buf, "sigmask") : "none\n");
    return 0;
}
