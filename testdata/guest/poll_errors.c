// covers: kcmp pidfd_open pidfd_send_signal pidfd_getfd poll ppoll pselect6 select epoll_pwait epoll_wait getrusage prlimit64 getrlimit setrlimit sysinfo uname times sethostname setdomainname
/* Comparing processes, descriptors of processes, readiness with every kind of bad timeout and mask, and limits. */
#include "cases.h"
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sysinfo.h>
#include <sys/times.h>

static void processes(void)
{
    int me = getpid();
    long a = S(open, "host/file", O_RDONLY), b = S(dup, a), c = S(open, "host/file", O_RDONLY);
    T(kcmp, me, me, KCMP_FILE, a, b);
    long r = S(kcmp, me, me, KCMP_FILE, a, c), q = S(kcmp, me, me, KCMP_FILE, c, a);
    is((r == 1 && q == 2) || (r == 2 && q == 1)), T(kcmp, me, me, KCMP_FILE, a, 99), T(kcmp, me, me, KCMP_VM, 0, 0);
    T(kcmp, me, me, KCMP_FILES, 0, 0), T(kcmp, me, me, KCMP_FS, 0, 0), T(kcmp, me, me, KCMP_SIGHAND, 0, 0);
    T(kcmp, me, me, KCMP_IO, 0, 0), T(kcmp, me, me, KCMP_SYSVSEM, 0, 0), T(kcmp, me, me, 99, 0, 0);
    T(kcmp, me, 999999, KCMP_VM, 0, 0), T(kcmp, -1, me, KCMP_VM, 0, 0), T(kcmp, me, me, -1, 0, 0);
    pid_t ch = fork();
    if (!ch){pause();_exit(0);}
    r = S(kcmp, me, ch, KCMP_VM, 0, 0);
    is(r == 1 || r == 2), T(kcmp, me, ch, KCMP_FILE, a, a);
    r = S(kcmp, me, ch, KCMP_FILES, 0, 0);
    is(r == 1 || r == 2);
    long pf = S(pidfd_open, ch, 0);
    T(pidfd_open, -1, 0), T(pidfd_open, 0, 0), T(pidfd_open, 999999, 0), T(pidfd_send_signal, pf, 0, NULL, 0);
    T(pidfd_send_signal, pf, 65, NULL, 0), T(pidfd_send_signal, pf, 0, NULL, 16);
    T(pidfd_send_signal, a, 0, NULL, 0), T(pidfd_send_signal, 99, 0, NULL, 0), T(pidfd_send_signal, pf, 0, BAD, 0);
    siginfo_t si = {.si_signo = 10, .si_code = -1};
    T(pidfd_send_signal, pf, 12, &si, 0), T(pidfd_getfd, pf, 99, 0), T(pidfd_getfd, pf, 0, 1);
    T(pidfd_getfd, 99, 0, 0), T(pidfd_getfd, a, 0, 0), is(S(pidfd_getfd, pf, a, 0)>0), T(read, pf, &si, 1);
    T(write, pf, &si, 1), T(lseek, pf, 0, 0), T(waitid, 3, pf, &si, WNOHANG | WEXITED, 0);
    struct pollfd p = {pf, POLLIN};
    T(poll, &p, 1, 0), T(pidfd_send_signal, pf, 9, NULL, 0), S(poll, &p, 1, -1);
    printf("%x\n", p.revents);
    T(pidfd_send_signal, pf, 0, NULL, 0), T(waitid, 3, pf, &si, WEXITED, 0), T(pidfd_send_signal, pf, 9, NULL, 0);
    T(pidfd_getfd, pf, 0, 0), T(waitid, 3, 99, &si, WEXITED, 0), T(waitid, 3, a, &si, WEXITED, 0);
}
static void readiness(void)
{
    struct timespec bad = {0, 1000000000}, neg = {-1, 0}, z = {0, 0};
    struct pollfd p[2] = {{0, POLLIN}, {-1, POLLIN}};
    unsigned long long m = 0;
    struct epoll_event e;
    T(poll, p, -1, 0), T(poll, BAD, 1, 0), T(poll, NULL, 0, 0), T(poll, p, 100000, 0), T(ppoll, p, 2, &bad, 0, 0);
    T(ppoll, p, 2, &neg, 0, 0), T(ppoll, p, 0, &z, &m, 7), T(ppoll, p, 0, &z, BAD, 8), T(ppoll, p, 0, BAD, 0, 0);
    T(ppoll, p, 0, &z, &m, 8);
    p[0].fd = 99;
    T(ppoll, p, 1, &z, 0, 0);
    printf("%x\n", p[0].revents);
    p[0].fd = S(open, "host/file", O_PATH);
    T(poll, p, 1, 0);
    printf("%x\n", p[0].revents);
    fd_set f;
    FD_ZERO(&f);
    struct{void*a;long n;}six = {&m, 8}, s2 = {&m, 9}, s3 = {BAD, 8};
    T(pselect6, -1, &f, 0, 0, &z, 0), T(pselect6, 0, 0, 0, 0, &bad, 0), T(pselect6, 0, 0, 0, 0, &neg, 0);
    T(pselect6, 0, 0, 0, 0, &z, &six), T(pselect6, 0, 0, 0, 0, &z, &s2), T(pselect6, 0, 0, 0, 0, &z, &s3);
    T(pselect6, 0, 0, 0, 0, &z, BAD), T(pselect6, 8, BAD, 0, 0, &z, 0);
    FD_SET(50, &f);
    T(pselect6, 51, &f, 0, 0, &z, 0);
    struct timeval tb = {0, 2000000}, tn = {-1, 0};
    T(select, 0, 0, 0, 0, &tb), T(select, 0, 0, 0, 0, &tn), T(select, 0, 0, 0, 0, BAD);
    T(select, 2000000, &f, 0, 0, 0);
    long ep = S(epoll_create1, 0);
    T(epoll_pwait, ep, &e, 1, 0, &m, 9), T(epoll_wait, ep, BAD, 1, 0), T(epoll_wait, ep, &e, 1 << 30, 0);
}
static void limits_and_names(void)
{
    struct rusage r;
    struct rlimit l, b = {5, 4};
    struct sysinfo s;
    char n[400];
    T(getrusage, 5, &r), T(getrusage, 0, BAD), T(prlimit64, 0, 99, 0, &l), T(prlimit64, 0, 7, &b, 0);
    T(prlimit64, 999999, 7, 0, &l), T(prlimit64, -1, 7, 0, &l), T(prlimit64, 0, 7, 0, BAD);
    T(prlimit64, 0, 7, BAD, 0), T(prlimit64, 0, 7, 0, 0);
    b.rlim_max = -1;
    b.rlim_cur = 5;
    T(prlimit64, 0, 7, &b, 0), T(getrlimit, 16, &l), T(setrlimit, -1, &l), T(sysinfo, BAD), T(sysinfo, &s);
    num(s.mem_unit), T(uname, BAD), T(times, BAD), T(sethostname, n, 65), T(sethostname, n, -1);
    T(sethostname, BAD, 5), T(setdomainname, n, 65), S(setresuid, 1000, 1000, 1000), T(sethostname, n, 1);
    b.rlim_max = RLIM_INFINITY;
    T(prlimit64, 0, 0, &b, 0);
    b.rlim_cur = 1 << 22;
    T(setrlimit, 7, &b), T(prlimit64, getppid(), 7, 0, &l);
}

int main(void)
{
    unfiltered();
    CASE(processes);
    CASE(readiness);
    CASE(limits_and_names);
    return 0;
}
