// covers: open mknod read write poll close fcntl kill
#include "child.h"
#include <poll.h>
#include <sys/time.h>

/* Named pipes: who waits for whom in open(2), what either end sees of the other's coming and going. */
static int events(long fd)
{
    struct pollfd p = {(int)fd, POLLIN | POLLOUT, 0};
    S(poll, &p, 1, 0);
    return p.revents;
}
static void writer(void)
{
    long fd = S(open, "p", O_WRONLY);
    S(write, fd, "from the writer", 15);
}
static void reader(void)
{
    char buf[32];
    long fd = S(open, "p", O_RDONLY);
    S(read, fd, buf, sizeof buf), S(read, fd, buf, sizeof buf);
}
static void nothing(int signo)
{
    (void)signo;
}
static void killed_by_sigpipe(void)
{
    long r = S(open, "p", O_RDONLY | O_NONBLOCK), w = S(open, "p", O_WRONLY);
    S(close, r), S(write, w, "x", 1);
}

int main(void)
{
    char buf[64];
    S(mknod, "p", S_IFIFO | 0600, 0);
    T(open, "p", O_WRONLY | O_NONBLOCK);
    long r = T(open, "p", O_RDONLY | O_NONBLOCK);
    T(read, r, buf, 1), num(events(r));
    long w = T(open, "p", O_WRONLY | O_NONBLOCK);
    T(read, r, buf, 1), num(events(r)), num(events(w)), T(write, w, "abc", 3), num(events(r)), T(read, r, buf, 2), T(close, w), num(events(r)),
        T(read, r, buf, 5), T(read, r, buf, 5), num(events(r));
    w = S(open, "p", O_WRONLY), num(events(r)), T(read, r, buf, 1), T(close, r), num(events(w)), signal(SIGPIPE, SIG_IGN), T(write, w, "x", 1),
        T(write, w, "", 0), r = T(open, "p", O_RDONLY), T(write, w, "back", 4), T(read, r, buf, 9), T(close, r), T(close, w);

    /* Both ends in one: never an end of file. */
    long both = T(open, "p", O_RDWR);
    T(write, both, "self", 4), T(read, both, buf, 9), T(fcntl, both, F_SETFL, O_NONBLOCK), T(read, both, buf, 9), num(events(both)),
        w = T(open, "p", O_WRONLY | O_NONBLOCK), T(write, w, "kept", 4), T(close, w), r = S(open, "p", O_RDONLY | O_NONBLOCK), T(close, both),
        T(read, r, buf, 9), T(read, r, buf, 9), T(close, r);

    /* What nobody has read is gone with the last end. */
    both = S(open, "p", O_RDWR), T(write, both, "lost", 4), S(close, both), r = S(open, "p", O_RDONLY | O_NONBLOCK), T(read, r, buf, 9), S(close, r);
    struct stat st;
    S(stat, "p", &st), num(st.st_size), T(truncate, "p", 0), r = S(open, "p", O_RDWR | O_TRUNC), T(lseek, r, 0, SEEK_SET), T(pread64, r, buf, 1, 0),
        T(ftruncate, r, 0), T(fsync, r), S(close, r);

    /* Waiting for the other end. */
    pid_t pid = child(writer);
    asleep(pid), r = T(open, "p", O_RDONLY), T(read, r, buf, 64), T(read, r, buf, 64), reap(pid), S(close, r);
    pid = child(reader), asleep(pid), w = T(open, "p", O_WRONLY), T(write, w, "x", 1), T(close, w), num(reap(pid));
    struct sigaction action = {.sa_handler = nothing};
    struct itimerval soon = {{0, 0}, {0, 5000}};
    sigaction(SIGALRM, &action, 0), S(setitimer, 0, &soon, 0), T(open, "p", O_RDONLY), S(setitimer, 0, &soon, 0), T(open, "p", O_WRONLY);
    /* A name that is removed while one waits behind it. */
    pid = child(reader), asleep(pid), both = S(open, "p", O_RDWR), S(unlink, "p"), S(mknod, "p", S_IFIFO | 0600, 0),
        T(open, "p", O_WRONLY | O_NONBLOCK), T(close, both), num(reap(pid)), signal(SIGPIPE, SIG_DFL), num(reap(child(killed_by_sigpipe)));
    T(mknod, "p", S_IFIFO | 0600, 0), T(mknod, "none/p", S_IFIFO, 0), num(mkfifo("p2", 0644)), num(mkfifoat(AT_FDCWD, "host/p", 0600)),
        T(unlink, "host/p"), T(open, "p2/", O_RDWR), T(open, "p2", O_RDWR | O_DIRECTORY);
    return 0;
}
