// covers: fork wait4 prctl getppid setpgid kill waitid
#include "guest.h"
#include <sys/prctl.h>
#include <sys/wait.h>

static int pipes[2];
static volatile int hangups, continues;

static void count(int signo)
{
    if (signo == SIGHUP)
        hangups++;
    else
        continues++;
}

/* A subreaper gets the grandchildren, those that have ended too. */
static void subreaper(void)
{
    int status, value = -1;
    pid_t self = getpid();
    check(prctl(PR_SET_CHILD_SUBREAPER, 1));
    check(prctl(PR_GET_CHILD_SUBREAPER, &value));
    num(value);
    pipe(pipes);
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_GET_CHILD_SUBREAPER, &value);
        if (value)
            _exit(1);
        if (!fork()) {
            char byte;
            read(pipes[0], &byte, 1);
            _exit(getppid() == self ? 42 : 1);
        }
        if (!fork())
            _exit(43);
        usleep(20000);
        _exit(41);
    }
    check(waitpid(pid, &status, 0) == pid);
    num(WEXITSTATUS(status));
    check(wait(&status) > 0);
    num(WEXITSTATUS(status));
    write(pipes[1], "x", 1);
    check(wait(&status) > 0);
    num(WEXITSTATUS(status));
    check(wait(&status));
    check(prctl(PR_SET_CHILD_SUBREAPER, 0));
}

/* prctl(2) PR_SET_PDEATHSIG. */
static void death_signal(void)
{
    int status;
    check(prctl(PR_SET_CHILD_SUBREAPER, 1));
    pid_t pid = fork();
    if (!pid) {
        int ready[2];
        char byte;
        pipe(ready);
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGUSR1);
            if (!fork()) {
                int signo = -1;
                prctl(PR_GET_PDEATHSIG, &signo);
                _exit(signo);
            }
            wait(&status);
            if (WEXITSTATUS(status))
                _exit(9);
            write(ready[1], "x", 1);
            for (;;)
                pause();
        }
        read(ready[0], &byte, 1);
        _exit(40);
    }
    check(waitpid(pid, &status, 0) == pid);
    num(WEXITSTATUS(status));
    check(wait(&status) > 0);
    printf("killed by %d\n", WTERMSIG(status));
    check(prctl(PR_SET_CHILD_SUBREAPER, 0));
}

/* A stopped process whose group becomes orphaned, because its parent in the same session but another
 * group ends, gets SIGHUP and SIGCONT. */
static void orphaned_group(void)
{
    int status, results[2];
    pipe(results);
    check(prctl(PR_SET_CHILD_SUBREAPER, 1));
    pid_t leader = fork();
    if (!leader) {
        /* A session of its own: the new parent is outside of it. */
        setsid();
        pid_t stopped = fork();
        if (!stopped) {
            setpgid(0, 0);
            signal(SIGHUP, count);
            signal(SIGCONT, count);
            raise(SIGSTOP);
            int counts[3] = {hangups, continues, 0};
            raise(SIGTSTP);
            counts[2] = 1;
            write(results[1], counts, sizeof counts);
            _exit(45);
        }
        waitpid(stopped, &status, WUNTRACED);
        _exit(WIFSTOPPED(status) ? 44 : 1);
    }
    check(waitpid(leader, &status, 0) == leader);
    num(WEXITSTATUS(status));
    int counts[3] = {-1, -1, -1};
    read(results[0], counts, sizeof counts);
    printf("SIGHUP %d, SIGCONT %d, SIGTSTP ignored %d\n", counts[0], counts[1], counts[2]);
    check(wait(&status) > 0);
    num(WEXITSTATUS(status));
}

int main(void)
{
    subreaper();
    death_signal();
    orphaned_group();
    return 0;
}
