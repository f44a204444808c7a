// covers: setpgid kill fork setsid wait4 exit_group
#include "cases.h"

/* Process groups without a member whose parent is of another group of the session: stops that do not stop, and the
 * signals at the moment when a group becomes such a one. */
static int report[2];
static volatile int hups, conts;
static void handler(int signo)
{
    hups += signo == SIGHUP, conts += signo == SIGCONT;
}
static void say(const char *text)
{
    S(write, report[1], text, strlen(text));
}
static void heard(void)
{
    char buf[200];
    long n;
    while ((n = S(read, report[0], buf, sizeof buf)) > 0)
        printf("%.*s", (int)n, buf);
}

static void stops_in_an_orphaned_group(void)
{
    S(pipe2, report, 0);
    pid_t pid = fork();
    if (pid == 0) {
        S(close, report[0]), S(setsid);
        /* A leader of a session is alone: its group is orphaned. */
        for (const int *s = (const int[]){SIGTSTP, SIGTTIN, SIGTTOU, 0}; *s; s++)
            raise(*s), say("went on\n");
        _exit(3);
    }
    S(close, report[1]), heard(), reap("leader", pid, 0);
    pid = fork();
    if (pid == 0)
        S(setsid), raise(SIGSTOP), _exit(4);
    reap("SIGSTOP stops it all the same", pid, WUNTRACED), kill(pid, SIGCONT), reap("leader", pid, 0);
}
static void a_stopped_member_is_told(void)
{
    S(pipe2, report, 0);
    pid_t pid = fork();
    if (pid == 0) {
        S(close, report[0]), S(setsid);
        pid_t member = fork();
        if (member == 0) {
            char text[60];
            S(setpgid, 0, 0), signal(SIGHUP, handler), signal(SIGCONT, handler), raise(SIGSTOP);
            for (int i = 0; i < 2000 && !(hups && conts); i++)
                usleep(500);
            snprintf(text, sizeof text, "member: HUP %d CONT %d\n", hups, conts), say(text), _exit(0);
        }
        waitpid(member, 0, WUNTRACED), _exit(0);
    }
    S(close, report[1]), reap("parent", pid, 0), heard();
}
static void one_that_runs_is_not(void)
{
    S(pipe2, report, 0);
    pid_t pid = fork();
    if (pid == 0) {
        S(close, report[0]), S(setsid);
        pid_t parent = getpid();
        if (fork() == 0) {
            char text[60];
            S(setpgid, 0, 0), signal(SIGHUP, handler), signal(SIGCONT, handler);
            while (getppid() == parent)
                usleep(300);
            usleep(2000), snprintf(text, sizeof text, "member: HUP %d CONT %d\n", hups, conts), say(text), raise(SIGTSTP), say("not stopped\n"), _exit(0);
        }
        usleep(2000), _exit(0);
    }
    S(close, report[1]), reap("parent", pid, 0), heard();
}
static void a_pending_stop_is_dropped(void)
{
    S(pipe2, report, 0);
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t set, now;
        S(close, report[0]), S(setsid), sigemptyset(&set), sigaddset(&set, SIGTSTP), sigaddset(&set, SIGTTOU), sigprocmask(SIG_BLOCK, &set, 0),
            raise(SIGTSTP), sigpending(&now), say(sigismember(&now, SIGTSTP) ? "pending\n" : "not pending\n"), sigprocmask(SIG_UNBLOCK, &set, 0),
            say("went on\n"), _exit(5);
    }
    S(close, report[1]), heard(), reap("leader", pid, 0);
}
int main(void)
{
    CASE(stops_in_an_orphaned_group);
    CASE(a_stopped_member_is_told);
    CASE(one_that_runs_is_not);
    CASE(a_pending_stop_is_dropped);
    return 0;
}
