// covers: fork vfork clone clone3 wait4 waitid exit exit_group execve execveat prctl pidfd_open pidfd_getfd
// covers: pidfd_send_signal setpgid setsid getpgid getsid kill poll getpriority setpriority sched_setscheduler
// covers: sched_getscheduler sched_setaffinity unshare kcmp set_tid_address epoll_wait
/* Processes: making them, waiting for them, replacing their programs, and the errors of these calls. */
#include "cases.h"
#include <poll.h>
#include <sys/epoll.h>
#include <linux/sched.h>

static pid_t sleeper(void)
{
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return pid;
}
static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void options_of_wait_that_are_refused(void)
{
    int status;
    siginfo_t info;
    T(wait4, -1, &status, 0, NULL);
    T(wait4, 1, &status, 0, NULL);
    T(wait4, 0, &status, WNOHANG, NULL);
    T(wait4, -0x3ffffe, &status, WNOHANG, NULL);
    T(wait4, (int)0x80000000, &status, 0, NULL);
    T(wait4, -1, &status, 0x10, NULL);
    T(wait4, -1, &status, WEXITED, NULL);
    T(waitid, P_ALL, 0, &info, 0, NULL);
    T(waitid, P_ALL, 0, &info, WNOHANG, NULL);
    T(waitid, P_ALL, 0, &info, WEXITED | 0x10, NULL);
    T(waitid, 7, 0, &info, WEXITED, NULL);
    T(waitid, P_PID, 0, &info, WEXITED, NULL);
    T(waitid, P_PID, -1, &info, WEXITED, NULL);
    T(waitid, P_PGID, -1, &info, WEXITED, NULL);
    T(waitid, P_PIDFD, -1, &info, WEXITED, NULL);
    T(waitid, P_PIDFD, 0, &info, WEXITED, NULL);
    T(waitid, P_ALL, 0, &info, WEXITED, NULL);
}
static void stopped_and_continued_and_exited(void)
{
    siginfo_t info;
    pid_t pid = sleeper();
    const int events[] = {WSTOPPED, WCONTINUED, WEXITED};
    const int signals[] = {SIGSTOP, SIGCONT, SIGTERM};
    for (int i = 0; i < 3; i++) {
        kill(pid, signals[i]);
        memset(&info, 0, sizeof info);
        check(waitid(P_PID, pid, &info, events[i] | WNOWAIT));
        printf("code %d status %d\n", info.si_code, info.si_status);
        for (int j = 0; j < 3; j++) {
            memset(&info, 0, sizeof info);
            long result = waitid(P_PID, pid, &info, events[j] | WNOHANG | WNOWAIT);
            printf("  asked for %d: %ld, %s\n", events[j], result, info.si_pid == pid ? "news" : "nothing");
        }
        check(waitid(P_PID, pid, &info, events[i]));
    }
    check(waitid(P_PID, pid, &info, WEXITED | WNOHANG));
}
static void a_zombie_is_still_there(void)
{
    siginfo_t info;
    pid_t pid = fork();
    if (!pid)
        _exit(7);
    waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
    check(kill(pid, 0));
    check(kill(pid, SIGKILL));
    check(getpgid(pid) == getpgrp());
    check(setpgid(pid, 0));
    check(getpriority(PRIO_PROCESS, pid) == getpriority(PRIO_PROCESS, 0));
    is(syscall(SYS_pidfd_open, pid, 0) >= 0);
    reap("child", pid, 0);
    check(kill(pid, 0));
    check(getpgid(pid));
    check(syscall(SYS_pidfd_open, pid, 0));
}
static void waiting_by_group(void)
{
    pid_t a = sleeper(), b = sleeper();
    setpgid(a, a);
    setpgid(b, a);
    kill(-a, SIGTERM);
    int status;
    is(waitpid(-a, &status, 0) > 0);
    is(waitpid(-a, &status, 0) > 0);
    check(waitpid(-a, &status, 0));
}
static void no_wait_with_ignored_sigchld(void)
{
    signal(SIGCHLD, SIG_IGN);
    pid_t pid = fork();
    if (!pid)
        _exit(3);
    check(waitpid(pid, NULL, 0));
    check(wait(NULL));
}
static void no_wait_with_nocldwait(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGCHLD, &action, NULL);
    pid_t pid = fork();
    if (!pid)
        _exit(3);
    check(wait(NULL));
}
static volatile int children;
static void count_child(int signo)
{
    (void)signo;
    children++;
}
static void nocldstop_is_quiet(void)
{
    for (int flags = 0; flags <= SA_NOCLDSTOP; flags += SA_NOCLDSTOP) {
        struct sigaction action = {.sa_handler = count_child, .sa_flags = flags | SA_RESTART};
        sigaction(SIGCHLD, &action, NULL);
        children = 0;
        pid_t pid = sleeper();
        kill(pid, SIGSTOP);
        until(pid, 'T');
        waitpid(pid, NULL, WUNTRACED);
        printf("flags %d: %d\n", flags, children);
        end(pid);
        printf("and at the end %d\n", children);
        if (flags == SA_NOCLDSTOP)
            break;
    }
}
static void exit_signals(void)
{
    const int signals[] = {0, SIGCHLD, SIGUSR1, SIGRTMIN};
    sigset_t all, pending;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < 4; i++) {
        pid_t pid = (pid_t)S(clone, signals[i], 0, 0, 0, 0);
        if (!pid)
            S(exit_group, 9);
        until(pid, 'Z');
        sigpending(&pending);
        printf("signal %d pending %d\n", signals[i], signals[i] ? sigismember(&pending, signals[i]) : 0);
        check(waitpid(pid, NULL, WNOHANG) == pid);
        reap("  as clone", pid, __WALL | WNOHANG);
    }
}
static void clones_that_are_refused(void)
{
    const struct {
        const char *name;
        unsigned long flags;
    } wrong[] = {
        {"THREAD", CLONE_THREAD}, {"THREAD|SIGHAND", CLONE_THREAD | CLONE_SIGHAND}, {"SIGHAND", CLONE_SIGHAND},
        {"THREAD|VM", CLONE_THREAD | CLONE_VM}, {"NEWNS|FS", CLONE_NEWNS | CLONE_FS},
        {"NEWUSER|FS", CLONE_NEWUSER | CLONE_FS}, {"NEWUSER|THREAD", CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM},
        {"NEWPID|THREAD", CLONE_NEWPID | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM},
        {"PIDFD|PARENT_SETTID", CLONE_PIDFD | CLONE_PARENT_SETTID}, {"PIDFD|DETACHED", CLONE_PIDFD | CLONE_DETACHED},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        show(wrong[i].name, S(clone, wrong[i].flags | SIGCHLD, 0, 0, 0, 0));
    T(clone, CLONE_PIDFD | SIGCHLD, 0, BAD, 0, 0);
    struct clone_args args = {.exit_signal = SIGCHLD};
    T(clone3, &args, 0);
    T(clone3, &args, 4097);
    T(clone3, BAD, sizeof args);
    args.exit_signal = 65;
    T(clone3, &args, sizeof args);
    args.exit_signal = SIGCHLD;
    args.flags = CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
    T(clone3, &args, sizeof args);
    args.flags = 1ull << 34;
    T(clone3, &args, sizeof args);
    args.flags = CLONE_SIGHAND | CLONE_VM | CLONE_CLEAR_SIGHAND;
    T(clone3, &args, sizeof args);
    args.flags = 0;
    args.stack_size = 4096;
    T(clone3, &args, sizeof args);
    args.stack_size = 0;
    args.stack = 4096;
    T(clone3, &args, sizeof args);
    args.stack = 0;
    args.set_tid_size = 1;
    T(clone3, &args, sizeof args);
    args.set_tid = (unsigned long)BAD;
    T(clone3, &args, sizeof args);
    args.set_tid_size = 33;
    T(clone3, &args, sizeof args);
    args.set_tid = args.set_tid_size = 0;
    args.flags = CLONE_INTO_CGROUP;
    args.cgroup = 1;
    T(clone3, &args, 80);
    args.cgroup = 1ull << 40;
    T(clone3, &args, sizeof args);
}
static void vfork_shares_memory_and_waits(void)
{
    volatile int word = 1;
    pid_t pid = vfork();
    if (!pid) {
        word = 2;
        _exit(6);
    }
    printf("word %d\n", word);
    reap("child", pid, 0);
}
static void vfork_until_exec(void)
{
    char *args[] = {"true", NULL};
    volatile int word = 1;
    pid_t pid = vfork();
    if (!pid) {
        word = 2;
        execv("gone", args);
        word = errno == ENOENT ? 3 : 4;
        execv("/bin/true", args);
        _exit(5);
    }
    printf("word %d\n", word);
    reap("child", pid, 0);
}
static void parent_shares_the_parent(void)
{
    pid_t self = getpid(), parent = getppid();
    pid_t pid = (pid_t)S(clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (!pid)
        S(exit_group, (S(getppid) == parent) + 2 * (S(getppid) == self));
    check(waitpid(pid, NULL, 0));
    (void)self;
}
static void files_are_shared_or_not(void)
{
    for (int share = 0; share < 2; share++) {
        int fd = open("/dev/null", O_RDONLY);
        pid_t pid = (pid_t)S(clone, (share ? CLONE_FILES : 0) | SIGCHLD, 0, 0, 0, 0);
        if (!pid)
            S(exit_group, S(close, fd) != 0);
        waitpid(pid, NULL, 0);
        printf("shared %d: ", share);
        show("open", fcntl(fd, F_GETFD) < 0 ? -errno : 0);
    }
}
static void directories_are_shared_or_not(void)
{
    for (int share = 0; share < 2; share++) {
        char here[256];
        check(chdir("/tmp"));
        pid_t pid = (pid_t)S(clone, (share ? CLONE_FS : 0) | SIGCHLD, 0, 0, 0, 0);
        if (!pid) {
            S(umask, 077);
            S(exit_group, S(chdir, "/usr") != 0);
        }
        waitpid(pid, NULL, 0);
        printf("shared %d: %s umask %#o\n", share, getcwd(here, sizeof here), umask(022));
    }
}
static void unshares_that_are_refused(void)
{
    T(unshare, 0);
    T(unshare, CLONE_FS | CLONE_FILES);
    T(unshare, CLONE_THREAD);
    T(unshare, CLONE_SIGHAND);
    T(unshare, CLONE_VM);
    T(unshare, SIGCHLD);
    T(unshare, CLONE_VFORK);
}
static void programs_that_are_refused(void)
{
    char *args[] = {"x", NULL};
    check(execve("gone", args, NULL));
    check(execve("/tmp", args, NULL));
    check(execve("/etc/passwd", args, NULL));
    check(execve("/etc/passwd/x", args, NULL));
    check(execve("", args, NULL));
    T(execve, BAD, args, NULL);
    T(execve, "/bin/true", BAD, NULL);
    T(execve, "/bin/true", args, BAD);
    put("empty", "");
    chmod("empty", 0755);
    check(execve("empty", args, NULL));
    put("text", "text\n");
    chmod("text", 0755);
    check(execve("text", args, NULL));
    put("nowhere", "#!gone/interpreter\n");
    chmod("nowhere", 0755);
    check(execve("nowhere", args, NULL));
    put("blank", "#!   \n");
    chmod("blank", 0755);
    check(execve("blank", args, NULL));
    put("elf", "\x7f" "ELF");
    chmod("elf", 0755);
    check(execve("elf", args, NULL));
    static char name[5000];
    memset(name, 'a', sizeof name - 1);
    check(execve(name, args, NULL));
    static char longest[131073];
    memset(longest, 'a', sizeof longest - 1);
    char *too_long[] = {"x", longest, NULL};
    check(execve("/bin/true", too_long, NULL));
    check(syscall(SYS_execveat, -1, "true", args, NULL, 0));
    check(syscall(SYS_execveat, AT_FDCWD, "/bin/true", args, NULL, 1));
    check(syscall(SYS_execveat, AT_FDCWD, "", args, NULL, 0));
    check(syscall(SYS_execveat, AT_FDCWD, "", args, NULL, AT_EMPTY_PATH));
    symlink("/bin/true", "link");
    check(syscall(SYS_execveat, AT_FDCWD, "link", args, NULL, AT_SYMLINK_NOFOLLOW));
    for (const char **name = (const char *[]){"empty", "text", "nowhere", "blank", "elf", "link", NULL}; *name; name++)
        unlink(*name);
}
static void a_script_gets_its_argument(void)
{
    put("script", "#!/bin/echo one  two \n");
    chmod("script", 0755);
    pid_t pid = fork();
    if (!pid) {
        char *args[] = {"name", "three", NULL};
        execve("script", args, NULL);
        _exit(99);
    }
    reap("script", pid, 0);
    unlink("script");
}
static void exec_keeps_and_resets(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGTERM, count_child);
    kill(getpid(), SIGUSR2);
    fflush(stdout);
    char *args[] = {"sed", "-n", "s/^\\(ShdPnd\\|SigBlk\\|SigIgn\\).*\\(....\\)$/\\1 \\2/p", "/proc/self/status", NULL};
    execv("/bin/sed", args);
}
static void close_on_exec(void)
{
    int kept = dup(1), closed = fcntl(1, F_DUPFD_CLOEXEC, 20);
    char line[100];
    snprintf(line, sizeof line, "test -e /proc/self/fd/%d && echo kept; test -e /proc/self/fd/%d || echo closed", kept, closed);
    char *args[] = {"sh", "-c", line, NULL};
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        execv("/bin/sh", args);
        _exit(9);
    }
    reap("sh", pid, 0);
}
static void death_of_the_parent(void)
{
    int ends[2];
    pipe(ends);
    pid_t pid = fork();
    if (!pid) {
        pid_t grandchild = fork();
        if (!grandchild) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            write(ends[1], "x", 1);
            for (;;)
                pause();
        }
        char c;
        read(ends[0], &c, 1);
        _exit(0);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    reap("child", pid, 0);
    int status;
    is(wait(&status) > 0);
    told("grandchild", status);
}
static void values_of_pdeathsig(void)
{
    int value = -1;
    check(prctl(PR_SET_PDEATHSIG, 65));
    check(prctl(PR_SET_PDEATHSIG, -1));
    check(prctl(PR_SET_PDEATHSIG, SIGHUP));
    check(prctl(PR_GET_PDEATHSIG, &value));
    num(value);
    T(prctl, PR_GET_PDEATHSIG, BAD);
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_GET_PDEATHSIG, &value);
        _exit(value);
    }
    reap("not inherited", pid, 0);
}
static void a_chain_of_subreapers(void)
{
    /* The nearest one above takes the orphan, not the farthest. */
    int ends[2];
    pipe(ends);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        pid_t self = getpid(), middle = fork();
        if (!middle) {
            if (!fork()) {
                while (getppid() != self)
                    usleep(500);
                _exit(44);
            }
            _exit(0);
        }
        waitpid(middle, NULL, 0);
        int status;
        wait(&status);
        _exit(WEXITSTATUS(status));
    }
    reap("the nearest", pid, 0);
    int value = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &value);
    num(value);
}
static void pidfds(void)
{
    pid_t pid = sleeper();
    int fd = (int)S(pidfd_open, pid, 0);
    is(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    struct pollfd event = {fd, POLLIN, 0};
    check(poll(&event, 1, 0));
    T(pidfd_send_signal, fd, 65, NULL, 0);
    T(pidfd_send_signal, fd, 0, NULL, 99);
    T(pidfd_send_signal, 0, 0, NULL, 0);
    T(pidfd_send_signal, fd, 0, BAD, 0);
    check(S(pidfd_send_signal, fd, SIGTERM, NULL, 0));
    check(poll(&event, 1, -1));
    num(event.revents);
    siginfo_t info;
    check(waitid(P_PIDFD, fd, &info, WEXITED));
    check(waitid(P_PIDFD, fd, &info, WEXITED));
    check(S(pidfd_send_signal, fd, 0, NULL, 0));
    T(pidfd_open, 0, 0);
    T(pidfd_open, -1, 0);
    T(pidfd_open, getpid(), 1);
    T(pidfd_open, 0x3ffffe, 0);
    T(read, fd, &info, 1);
}
static void a_nonblocking_pidfd(void)
{
    siginfo_t info;
    pid_t pid = sleeper();
    int fd = (int)S(pidfd_open, pid, O_NONBLOCK);
    check(waitid(P_PIDFD, fd, &info, WEXITED));
    kill(pid, SIGKILL);
    struct pollfd event = {fd, POLLIN, 0};
    poll(&event, 1, -1);
    check(waitid(P_PIDFD, fd, &info, WEXITED));
    num(info.si_status);
}
static void getting_descriptors_of_others(void)
{
    int ends[2];
    pipe(ends);
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        for (;;)
            pause();
    }
    int fd = (int)S(pidfd_open, pid, 0);
    close(ends[1]);
    T(pidfd_getfd, fd, 12345, 0);
    T(pidfd_getfd, fd, 0, 1);
    T(pidfd_getfd, 0, 0, 0);
    T(pidfd_getfd, -1, 0, 0);
    int got = (int)S(pidfd_getfd, fd, ends[1], 0);
    is(got >= 0 && fcntl(got, F_GETFD) == FD_CLOEXEC);
    check(write(got, "abc", 3));
    end(pid);
    T(pidfd_getfd, fd, 0, 0);
}
static void groups_that_are_refused(void)
{
    pid_t pid = sleeper();
    check(setpgid(0, -1));
    check(setpgid(pid, 0x3ffffe));
    check(setpgid(0x3ffffe, 0));
    check(setpgid(pid, 0));
    is(getpgid(pid) == pid);
    check(setpgid(pid, getpgrp()));
    check(getpgid(-1));
    check(getsid(0x3ffffe));
    check(setsid());
    pid_t leader = fork();
    if (!leader) {
        check(setsid() == getpid());
        check(setsid());
        check(setpgid(0, 0));
        check(setpgid(0, getppid()));
        fflush(stdout);
        _exit(0);
    }
    reap("leader", leader, 0);
    end(pid);
}
static void a_group_of_a_child_after_exec(void)
{
    int ends[2];
    pipe(ends);
    pid_t pid = fork();
    if (!pid) {
        dup2(ends[0], 0);
        char *args[] = {"cat", NULL};
        fcntl(ends[1], F_SETFD, FD_CLOEXEC);
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        execv("/bin/cat", args);
        _exit(9);
    }
    char exe[64] = "", path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    for (int i = 0; i < 4000 && strcmp(exe, "cat\n"); i++) {
        FILE *file = fopen(path, "r");
        if (file && !fgets(exe, sizeof exe, file))
            exe[0] = 0;
        if (file)
            fclose(file);
        usleep(500);
    }
    check(setpgid(pid, pid));
    close(ends[1]);
    reap("cat", pid, 0);
}
static void the_parents_own(void)
{
    /* The parent of a process can be asked about, whoever it is. */
    pid_t parent = getppid();
    check(kill(parent, 0));
    is(getpgid(parent) > 0);
    is(getsid(parent) == getsid(0));
    is(sched_getscheduler(parent) == SCHED_OTHER);
    errno = 0;
    is(getpriority(PRIO_PROCESS, parent) == getpriority(PRIO_PROCESS, 0) && errno == 0);
}
static void calls_after_a_stop(void)
{
    /* signal(7): after SIGSTOP and SIGCONT these go on, or fail with EINTR though there is no handler. */
    for (int which = 0; which < 5; which++) {
        int ends[2];
        pipe(ends);
        pid_t pid = fork();
        if (!pid) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            struct pollfd event = {ends[0], POLLIN, 0};
            struct epoll_event got, wanted = {.events = EPOLLIN};
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGUSR1);
            sigprocmask(SIG_BLOCK, &set, NULL);
            int epoll = epoll_create1(0);
            epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &wanted);
            char c;
            long result = 0;
            switch (which) {
            case 0: result = read(ends[0], &c, 1); break;
            case 1: result = poll(&event, 1, -1); break;
            case 2: result = epoll_wait(epoll, &got, 1, -1); break;
            case 3: result = sigtimedwait(&set, NULL, &(struct timespec){60, 0}); break;
            case 4: result = nanosleep(&(struct timespec){1, 0}, NULL); break;
            }
            _exit(result < 0 ? errno : 100 + (int)result);
        }
        until(pid, 'S');
        kill(pid, SIGSTOP);
        until(pid, 'T');
        waitpid(pid, NULL, WUNTRACED);
        kill(pid, SIGCONT);
        usleep(100000);
        write(ends[1], "x", 1);
        kill(pid, SIGUSR1);
        int status;
        waitpid(pid, &status, 0);
        static const char *names[] = {"read", "poll", "epoll_wait", "sigtimedwait", "nanosleep"};
        int code = WEXITSTATUS(status);
        printf("%s: %s %d\n", names[which], code < 100 ? strerrorname_np(code) : "result", code < 100 ? 0 : code - 100);
    }
}
static void status_words(void)
{
    const int codes[] = {0, 1, 127, 128, 255, 256, -1};
    for (int i = 0; i < 7; i++) {
        pid_t pid = fork();
        if (!pid)
            _exit(codes[i]);
        reap("exit", pid, 0);
    }
    const int signals[] = {SIGHUP, SIGKILL, SIGPIPE, SIGALRM, SIGUSR2, SIGSTKFLT, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGRTMIN + 5};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t pid = sleeper();
        kill(pid, signals[i]);
        reap("signal", pid, 0);
    }
    const int harmless[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT};
    pid_t pid = sleeper();
    for (int i = 0; i < 4; i++)
        kill(pid, harmless[i]);
    kill(pid, SIGTERM);
    reap("the others", pid, 0);
}
static void usage_of_children(void)
{
    struct rusage usage;
    pid_t pid = fork();
    if (!pid) {
        /* Linux samples: work until some of it was seen as the user's. */
        do {
            for (volatile int i = 0; i < 1000000; i++)
                ;
            getrusage(RUSAGE_SELF, &usage);
        } while (usage.ru_utime.tv_sec == 0 && usage.ru_utime.tv_usec <= 10000);
        _exit(0);
    }
    check(wait4(pid, NULL, 0, &usage) == pid);
    is(usage.ru_utime.tv_sec > 0 || usage.ru_utime.tv_usec > 0);
    getrusage(RUSAGE_CHILDREN, &usage);
    is(usage.ru_utime.tv_sec > 0 || usage.ru_utime.tv_usec > 0);
}
static void clocks_of_others(void)
{
    clockid_t clock;
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile int i = 0; i < 5000000; i++)
            ;
        for (;;)
            pause();
    }
    until(pid, 'S');
    check(clock_getcpuclockid(pid, &clock));
    struct timespec time = {0, 0}, again;
    check(clock_gettime(clock, &time));
    is(time.tv_sec > 0 || time.tv_nsec > 0);
    check(clock_gettime(clock, &again));
    is(again.tv_sec == time.tv_sec && again.tv_nsec == time.tv_nsec);
    check(clock_getres(clock, &time));
    end(pid);
    check(clock_gettime(clock, &time));
    num(clock_getcpuclockid(pid, &clock));
    num(clock_getcpuclockid(0x3ffffe, &clock));
}

int main(void)
{
    CASE(options_of_wait_that_are_refused);
    CASE(stopped_and_continued_and_exited);
    CASE(a_zombie_is_still_there);
    CASE(waiting_by_group);
    CASE(no_wait_with_ignored_sigchld);
    CASE(no_wait_with_nocldwait);
    CASE(nocldstop_is_quiet);
    CASE(exit_signals);
    CASE(clones_that_are_refused);
    CASE(vfork_shares_memory_and_waits);
    CASE(vfork_until_exec);
    CASE(parent_shares_the_parent);
    CASE(files_are_shared_or_not);
    CASE(directories_are_shared_or_not);
    CASE(unshares_that_are_refused);
    CASE(programs_that_are_refused);
    CASE(a_script_gets_its_argument);
    CASE(exec_keeps_and_resets);
    CASE(close_on_exec);
    CASE(death_of_the_parent);
    CASE(values_of_pdeathsig);
    CASE(a_chain_of_subreapers);
    CASE(pidfds);
    CASE(a_nonblocking_pidfd);
    CASE(getting_descriptors_of_others);
    CASE(groups_that_are_refused);
    CASE(a_group_of_a_child_after_exec);
    CASE(the_parents_own);
    CASE(calls_after_a_stop);
    CASE(status_words);
    CASE(usage_of_children);
    CASE(clocks_of_others);
    return 0;
}
