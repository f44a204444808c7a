// covers: fcntl open truncate fork unlink rename link
#include "child.h"

/* Leases: who may take one, who breaks it and how its holder is told, and what follows. */
static volatile int signals, last_fd;
static void note(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    signals++, last_fd = info->si_fd;
}
static long opener_flags, lease = -1;
static void opener(void)
{
    S(close, lease); /* the parent's alone */
    long fd = S(open, "f", opener_flags, 0644);
    show(opener_flags & O_NONBLOCK ? "opened at once" : "opened after the break", fd < 0 ? fd : 0);
}
static void truncater(void)
{
    S(close, lease);
    show("truncated", S(truncate, "f", 1));
}
static void lets_go(const char *what, long fd, int to)
{
    for (int i = 0; i < 2000 && !signals; i++)
        usleep(500);
    printf("%s: signals %d of the lease %d, now %ld\n", what, signals, last_fd == fd, S(fcntl, fd, F_GETLEASE));
    signals = 0, show("answer", S(fcntl, fd, F_SETLEASE, to));
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGIO, &action, 0), sigaction(SIGRTMIN, &action, 0);
    put("f", "contents"), put("g", "");
    lease = S(open, "f", O_RDONLY);
    num(S(fcntl, lease, F_GETLEASE)), T(fcntl, lease, F_SETLEASE, F_RDLCK), num(S(fcntl, lease, F_GETLEASE)), T(fcntl, lease, F_SETLEASE, F_WRLCK),
        num(S(fcntl, lease, F_GETLEASE)), T(fcntl, lease, F_SETLEASE, 5), T(fcntl, lease, F_SETLEASE, F_UNLCK), T(fcntl, lease, F_SETLEASE, F_UNLCK),
        num(S(fcntl, lease, F_GETLEASE));
    long w = S(open, "f", O_RDWR);
    T(fcntl, lease, F_SETLEASE, F_RDLCK), T(fcntl, w, F_SETLEASE, F_RDLCK), T(fcntl, w, F_SETLEASE, F_WRLCK), S(close, lease),
        T(fcntl, w, F_SETLEASE, F_WRLCK), num(S(fcntl, w, F_GETLEASE)), S(close, w);
    int p[2];
    S(pipe2, p, 0), T(fcntl, p[0], F_SETLEASE, F_RDLCK), T(fcntl, S(open, "host", O_RDONLY), F_SETLEASE, F_RDLCK),
        T(fcntl, S(open, "/dev/null", O_RDONLY), F_SETLEASE, F_RDLCK), T(fcntl, S(open, "f", O_PATH), F_SETLEASE, F_RDLCK);

    /* A read lease: readers do not mind it, writers break it. */
    lease = S(open, "f", O_RDONLY), T(fcntl, lease, F_SETLEASE, F_RDLCK), T(fcntl, lease, F_SETSIG, SIGRTMIN), S(close, S(open, "f", O_RDONLY)),
        num(signals), show("stat", S(access, "f", W_OK)), num(signals);
    opener_flags = O_WRONLY | O_NONBLOCK, reap(child(opener)), num(signals), lets_go("told", lease, F_UNLCK), T(fcntl, lease, F_SETLEASE, F_RDLCK);
    opener_flags = O_WRONLY;
    pid_t pid = child(opener);
    lets_go("waited for", lease, F_UNLCK), reap(pid), T(fcntl, lease, F_SETLEASE, F_RDLCK), pid = child(truncater),
        lets_go("truncate", lease, F_UNLCK), reap(pid), cat("f");
    T(fcntl, lease, F_SETLEASE, F_RDLCK), opener_flags = O_WRONLY, pid = child(opener), lets_go("closing ends it", lease, F_RDLCK), asleep(pid),
        S(close, lease), reap(pid);

    /* A write lease: anybody who opens; a reader is content with a read lease. */
    lease = S(open, "f", O_RDWR), T(fcntl, lease, F_SETSIG, SIGRTMIN), T(fcntl, lease, F_SETLEASE, F_WRLCK), opener_flags = O_RDONLY | O_NONBLOCK,
        reap(child(opener)), lets_go("told", lease, F_UNLCK), T(fcntl, lease, F_SETLEASE, F_WRLCK), opener_flags = O_RDONLY, pid = child(opener),
        lets_go("a reader", lease, F_UNLCK), reap(pid);
    S(close, lease), lease = S(open, "f", O_RDONLY), T(fcntl, lease, F_SETSIG, SIGRTMIN), T(fcntl, lease, F_SETLEASE, F_WRLCK), pid = child(opener),
        lets_go("content", lease, F_RDLCK), reap(pid), num(S(fcntl, lease, F_GETLEASE)), S(fcntl, lease, F_SETLEASE, F_UNLCK);

    /* Names that change are no openers, only the removal of delegations. */
    T(fcntl, lease, F_SETLEASE, F_RDLCK), T(link, "f", "h"), T(rename, "f", "i"), T(rename, "i", "f"), T(unlink, "h"), T(chmod, "f", 0600),
        num(signals), num(S(fcntl, lease, F_GETLEASE)), T(fcntl, lease, F_SETLEASE, F_UNLCK);
    return 0;
}
