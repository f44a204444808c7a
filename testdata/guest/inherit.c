// covers: fork clone fcntl flock setitimer getrusage times prctl sigaltstack rt_sigpending alarm unshare close_range kcmp
#include "guest.h"
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>

static void end(const char *what, pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid)
        printf("no child\n");
    printf("%s: %#x\n", what, status);
}

static int can_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(fd, F_SETLK, &lock);
}

static void locks(void)
{
    int fd = open("locked", O_RDWR | O_CREAT, 0644), other = open("locked", O_RDWR);
    check(can_lock(fd));
    pid_t pid = fork();
    if (!pid) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
        fcntl(fd, F_GETLK, &lock);
        int held = lock.l_type == F_WRLCK && lock.l_pid == getppid();
        int refused = can_lock(fd) == -1 && errno == EAGAIN;
        close(other);
        _exit(held | refused << 1 | (can_lock(fd) == -1) << 2);
    }
    end("record locks are not inherited", pid);
    pid = fork();
    if (!pid) {
        close(fd);
        close(other);
        _exit(0);
    }
    end("closing in the child", pid);
    pid = fork();
    if (!pid)
        _exit(can_lock(fd) == -1 ? 1 : 0);
    end("does not unlock", pid);
    close(other);
    pid = fork();
    if (!pid)
        _exit(can_lock(fd) == -1 ? 1 : 0);
    end("closing here does", pid);
    /* A lock of flock(2) and one of the description are shared. */
    check(flock(fd, LOCK_EX));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    check(fcntl(fd, F_OFD_SETLK, &lock));
    pid = fork();
    if (!pid) {
        int again = open("locked", O_RDWR);
        int shared = !flock(fd, LOCK_EX | LOCK_NB) && !fcntl(fd, F_OFD_SETLK, &lock);
        int apart = flock(again, LOCK_EX | LOCK_NB) == -1;
        _exit(shared | apart << 1);
    }
    end("locks of the description", pid);
    close(fd);
}

static void signals(void)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR1);
    static char alternate[8192];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    struct itimerval timer = {.it_value = {.tv_sec = 100}};
    setitimer(ITIMER_REAL, &timer, NULL);
    timer_t posix;
    check(timer_create(CLOCK_MONOTONIC, NULL, &posix));
    pid_t pid = fork();
    if (!pid) {
        sigset_t mask;
        struct sigaction action;
        struct itimerspec spec;
        sigpending(&pending);
        sigprocmask(SIG_BLOCK, NULL, &mask);
        sigaction(SIGUSR2, NULL, &action);
        sigaltstack(NULL, &stack);
        getitimer(ITIMER_REAL, &timer);
        _exit(!sigismember(&pending, SIGUSR1) | (sigismember(&mask, SIGUSR1) << 1) |
              (action.sa_handler == SIG_IGN) << 2 | (stack.ss_sp == alternate) << 3 |
              (timer.it_value.tv_sec == 0) << 4 | (timer_gettime(posix, &spec) == -1) << 5);
    }
    end("signals, stack, timers", pid);
    sigpending(&pending);
    num(sigismember(&pending, SIGUSR1));
    alarm(0);
}

static void settings(void)
{
    prctl(PR_SET_NAME, "parent", 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 12345, 0, 0, 0);
    umask(077);
    chdir("/");
    struct rlimit limit = {100, 200};
    setrlimit(RLIMIT_NOFILE, &limit);
    setpriority(PRIO_PROCESS, 0, 5);
    pid_t pid = fork();
    if (!pid) {
        char name[16], here[64];
        prctl(PR_GET_NAME, name, 0, 0, 0);
        getrlimit(RLIMIT_NOFILE, &limit);
        getcwd(here, sizeof here);
        _exit(!strcmp(name, "parent") | (prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == 12345) << 1 |
              (umask(0) == 077) << 2 | !strcmp(here, "/") << 3 | (limit.rlim_cur == 100) << 4 |
              (getpriority(PRIO_PROCESS, 0) == 5) << 5);
    }
    end("settings", pid);
    num(umask(022));
}

static void sharing(void)
{
    int fd = open("/dev/null", O_RDONLY), status;
    /* CLONE_FILES and CLONE_FS share what fork copies. */
    long pid = S(clone, CLONE_FILES | CLONE_FS | SIGCHLD, NULL, NULL, NULL, 0);
    if (!pid) {
        S(close, fd);
        S(umask, 027);
        S(exit_group, S(kcmp, S(getpid), S(getppid), 2, 0, 0));
    }
    check(waitpid((pid_t)pid, &status, 0) == pid);
    num(status);
    check(fcntl(fd, F_GETFD));
    num(umask(022));
    fd = open("/dev/null", O_RDONLY);
    pid = S(clone, CLONE_FILES | CLONE_FS | SIGCHLD, NULL, NULL, NULL, 0);
    if (!pid) {
        long result = S(unshare, CLONE_FILES | CLONE_FS);
        S(close, fd);
        S(umask, 0);
        S(exit_group, result);
    }
    check(waitpid((pid_t)pid, &status, 0) == pid);
    num(status);
    check(fcntl(fd, F_GETFD));
    num(umask(022));
    pid = S(clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, 0);
    if (!pid)
        S(exit_group, S(close_range, 3, ~0u, 2));
    check(waitpid((pid_t)pid, &status, 0) == pid);
    check(fcntl(fd, F_GETFD));
    T(unshare, CLONE_THREAD);
    T(unshare, CLONE_VM);
    T(unshare, CLONE_SIGHAND);
    T(unshare, 1);
    /* An offset is the description's. */
    int file = open("/etc/passwd", O_RDONLY);
    pid = fork();
    if (!pid) {
        char bytes[7];
        _exit((int)read(file, bytes, 7));
    }
    check(waitpid((pid_t)pid, &status, 0) == pid);
    num(lseek(file, 0, SEEK_CUR));
}

static void usage(void)
{
    struct rusage children, self;
    struct tms tms;
    pid_t pid = fork();
    if (!pid) {
        /* Linux samples: work until some of it was seen as the user's. */
        do {
            for (volatile int i = 0; i < 1000000; i++)
                ;
            getrusage(RUSAGE_SELF, &self);
        } while (self.ru_utime.tv_sec == 0 && self.ru_utime.tv_usec <= 10000);
        _exit(0);
    }
    end("worked", pid);
    getrusage(RUSAGE_CHILDREN, &children);
    getrusage(RUSAGE_SELF, &self);
    times(&tms);
    is(children.ru_utime.tv_sec * 1000000 + children.ru_utime.tv_usec > 5000);
    is(children.ru_maxrss > 100);
    is(tms.tms_cutime >= 0);
}

int main(void)
{
    locks();
    signals();
    sharing();
    usage();
    settings();
    return 0;
}
