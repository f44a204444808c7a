// covers: open read lseek eventfd2 epoll_create1 epoll_ctl inotify_add_watch signalfd4 timerfd_settime memfd_create pidfd_open
#include "guest.h"
#include <dirent.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

/* What /proc/self/fdinfo tells of each kind of descriptor, and how it follows what is done with it. */
static void details(const char *what, long fd)
{
    char path[40], line[300];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%ld", fd);
    FILE *f = fopen(path, "r");
    printf("%s:\n", what);
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "mnt_id", 6) == 0 || strncmp(line, "ino:", 4) == 0 || strncmp(line, "scm_fds", 7) == 0 || strncmp(line, "eventfd-semaphore", 17) == 0)
            continue;
        char *cut = strstr(line, " ino:");
        if (cut && strncmp(line, "tfd", 3) && strncmp(line, "inotify", 7))
            *cut = 0;
        if (strncmp(line, "tfd", 3) == 0 && (cut = strstr(line, " pos:")))
            strcpy(cut, "\n");
        if (strncmp(line, "inotify", 7) == 0) {
            int wd;
            unsigned mask, ignored;
            char *m = strstr(line, "mask:");
            sscanf(line, "inotify wd:%x", &wd), sscanf(m, "mask:%x ignored_mask:%x", &mask, &ignored), printf("  inotify wd %d mask %#x\n", wd, mask);
            continue;
        }
        if (strncmp(line, "eventfd-id", 10) == 0)
            continue;
        if (strncmp(line, "Pid:", 4) == 0 || strncmp(line, "NSpid:", 6) == 0) {
            printf("  %.4s is %s\n", line, atoi(strchr(line, ':') + 1) == getpid() ? "its own" : "another");
            continue;
        }
        if (strncmp(line, "it_value", 8) == 0)
            strcpy(line, strstr(line, "(0, 0)") ? "it_value: none\n" : "it_value: some\n");
        printf("  %s", line);
    }
    if (f)
        fclose(f);
}

int main(void)
{
    char buf[64];
    uint64_t more = 0x1234;
    put("f", "0123456789");
    long f = S(open, "f", O_RDWR | O_APPEND), e = S(eventfd2, 5, EFD_NONBLOCK), ep = S(epoll_create1, EPOLL_CLOEXEC),
        in = S(inotify_init1, IN_NONBLOCK), t = S(timerfd_create, CLOCK_MONOTONIC, 0), dir = S(open, "host", O_RDONLY | O_DIRECTORY);
    details("file", f), S(read, f, buf, 4), S(fcntl, f, F_SETFL, O_NONBLOCK), details("read", f),
        details("closed on execve", S(open, "f", O_RDONLY | O_CLOEXEC)), details("path", S(open, "f", O_PATH)), details("directory", dir),
        S(getdents64, dir, buf, 64), details("/dev/null", S(open, "/dev/null", O_WRONLY)), details("memfd", S(memfd_create, "m", 1));
    details("eventfd", e), S(write, e, &more, 8), details("written", e), details("epoll", ep);
    struct epoll_event event = {EPOLLIN | EPOLLET, {.u64 = 0xabcdef}};
    S(epoll_ctl, ep, EPOLL_CTL_ADD, e, &event), details("with one", ep), event.events = EPOLLOUT | EPOLLONESHOT, event.data.u64 = 1,
        S(epoll_ctl, ep, EPOLL_CTL_MOD, e, &event), details("modified", ep), S(epoll_ctl, ep, EPOLL_CTL_DEL, e, 0), details("empty", ep);
    details("inotify", in), S(inotify_add_watch, in, ".", IN_CREATE), S(inotify_add_watch, in, "f", IN_ALL_EVENTS | IN_ONESHOT), details("with watches", in);
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGRTMAX);
    long s = S(signalfd4, -1, &set, 8, 0);
    details("signalfd", s), sigaddset(&set, SIGHUP), sigaddset(&set, SIGKILL), S(signalfd4, s, &set, 8, 0), details("set anew", s);
    struct itimerspec later = {{3, 4}, {1000, 0}};
    details("timerfd", t), S(timerfd_settime, t, 0, &later, 0), details("set", t), S(timerfd_settime, t, TFD_TIMER_ABSTIME, &later, 0),
        details("set by the clock", t), details("pidfd", S(pidfd_open, getpid(), 0));
    int p[2];
    S(pipe2, p, O_DIRECT | O_NONBLOCK), details("pipe", p[0]), details("pipe", p[1]), details("socket", S(socket, 1, 1, 0)),
        T(open, "/proc/self/fdinfo/99", O_RDONLY), T(open, "/proc/self/fdinfo/x", O_RDONLY);
    /* The directory of them. */
    DIR *d = opendir("/proc/self/fdinfo");
    int count = 0, own = dirfd(d);
    for (struct dirent *x; (x = readdir(d));)
        count += x->d_name[0] != '.' && atoi(x->d_name) != own;
    num(count);
    return 0;
}
