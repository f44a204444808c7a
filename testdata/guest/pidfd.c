// covers: pidfd_open pidfd_send_signal pidfd_getfd waitid poll clone clone3 kcmp
#include "guest.h"
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

#define P_PIDFD_ 3

static long fd, pipes[2];

static short ready(void)
{
    struct pollfd entry = {.fd = (int)fd, .events = POLLIN};
    return poll(&entry, 1, 0) == 1 ? entry.revents : 0;
}

static pid_t child(void)
{
    pid_t pid = fork();
    if (!pid)
        for (;;)
            pause();
    return pid;
}

int main(void)
{
    siginfo_t info;
    int words[2], status;
    char bytes[8];
    pipe(words);
    T(pidfd_open, 0, 0);
    T(pidfd_open, -1, 0);
    T(pidfd_open, getpid(), 1);
    T(pidfd_open, 0x3fffff, 0);

    pid_t pid = child();
    fd = T(pidfd_open, pid, 0);
    num(fcntl((int)fd, F_GETFD));
    num(ready());
    T(read, fd, bytes, 8);
    T(write, fd, bytes, 8);
    T(lseek, fd, 0, SEEK_CUR);
    T(pidfd_send_signal, fd, 0, NULL, 0);
    T(pidfd_send_signal, fd, 65, NULL, 0);
    T(pidfd_send_signal, fd, SIGTERM, NULL, 16);
    T(pidfd_send_signal, words[0], SIGTERM, NULL, 0);
    T(pidfd_send_signal, 99, SIGTERM, NULL, 0);
    T(pidfd_send_signal, fd, SIGTERM, BAD, 0);
    memset(&info, 0, sizeof info);
    info.si_signo = SIGUSR1;
    info.si_code = SI_QUEUE;
    T(pidfd_send_signal, fd, SIGUSR2, &info, 0);
    info.si_code = SI_USER;
    T(pidfd_send_signal, fd, SIGUSR1, &info, 0);
    T(waitid, P_PIDFD_, fd, &info, WEXITED | WNOHANG, NULL);
    num(info.si_pid);
    T(waitid, P_PIDFD_, words[0], &info, WEXITED, NULL);
    T(waitid, P_PIDFD_, 99, &info, WEXITED, NULL);
    T(waitid, P_PIDFD_, -1, &info, WEXITED, NULL);

    T(pidfd_getfd, fd, words[0], 1);
    T(pidfd_getfd, fd, 99, 0);
    T(pidfd_getfd, words[0], 0, 0);
    T(pidfd_getfd, 99, 0, 0);
    long copy = T(pidfd_getfd, fd, words[0], 0);
    num(fcntl((int)copy, F_GETFD));
    T(kcmp, getpid(), pid, 0, copy, words[0]);
    is(S(kcmp, getpid(), pid, 1, 0, 0) > 0);
    T(kcmp, getpid(), 0x3fffff, 0, 0, 0);

    T(pidfd_send_signal, fd, SIGKILL, NULL, 0);
    struct pollfd entry = {.fd = (int)fd, .events = POLLIN};
    check(poll(&entry, 1, -1));
    num(entry.revents);
    T(pidfd_send_signal, fd, 0, NULL, 0);
    T(pidfd_getfd, fd, 0, 0);
    T(waitid, P_PIDFD_, fd, &info, WEXITED, NULL);
    printf("%d %d %d\n", info.si_pid == pid, info.si_code, info.si_status);
    is(ready() & POLLIN);
    T(pidfd_send_signal, fd, 0, NULL, 0);
    T(pidfd_getfd, fd, 0, 0);
    T(waitid, P_PIDFD_, fd, &info, WEXITED, NULL);
    T(pidfd_open, pid, 0);
    close((int)fd);

    /* One that does not wait. */
    pid = child();
    fd = T(pidfd_open, pid, O_NONBLOCK);
    T(waitid, P_PIDFD_, fd, &info, WEXITED, NULL);
    kill(pid, SIGTERM);
    check(poll(&(struct pollfd){.fd = (int)fd, .events = POLLIN}, 1, -1));
    T(waitid, P_PIDFD_, fd, &info, WEXITED, NULL);
    close((int)fd);

    /* From clone(2). */
    int pidfd = -1;
    long made = S(clone, CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL, 0);
    if (!made)
        _exit(12);
    fd = pidfd;
    num(fcntl(pidfd, F_GETFD));
    T(waitid, P_PIDFD_, pidfd, &info, WEXITED, NULL);
    printf("%d %d\n", info.si_pid == made, info.si_status);
    close(pidfd);
    struct clone_args args = {.flags = CLONE_PIDFD, .pidfd = (uintptr_t)&pidfd, .exit_signal = SIGCHLD};
    made = S(clone3, &args, sizeof args);
    if (!made)
        _exit(13);
    check(waitpid((pid_t)made, &status, 0) == made);
    num(WEXITSTATUS(status));
    args.pidfd = 16;
    T(clone3, &args, sizeof args);
    return 0;
}
