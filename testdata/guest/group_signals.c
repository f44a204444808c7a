// covers: kill setpgid getpgid fork wait4 tgkill rt_sigqueueinfo setsid
#include "cases.h"

/* Signals to groups of processes: who is in one, who gets them, and what each form of the number means. */
static volatile int got;
static int ready[2];
static void handler(int signo)
{
    got += signo == SIGUSR1;
}
static pid_t sleeper(pid_t group)
{
    pid_t pid = fork();
    if (pid == 0) {
        S(setpgid, 0, group), signal(SIGUSR1, SIG_DFL), S(write, ready[1], "x", 1);
        for (;;)
            pause();
    }
    char c;
    S(setpgid, pid, group), S(read, ready[0], &c, 1); /* its parent's handler is gone */
    return pid;
}
static void own_group(void)
{
    signal(SIGUSR1, handler);
    pid_t a = sleeper(getpgrp()), b = sleeper(getpgrp()), apart = sleeper(0);
    T(kill, 0, SIGUSR1), num(got), reap("a", a, 0), reap("b", b, 0), reap("apart", apart, WNOHANG), kill(apart, SIGKILL), reap("apart", apart, 0);
    a = sleeper(getpgrp()), T(kill, -getpgrp(), SIGUSR1), num(got), reap("by number", a, 0), num(killpg(0, SIGUSR1)), num(got), T(kill, 0, 0),
        T(kill, 0, 65), T(kill, -getpgrp(), -1);
}
static void other_group(void)
{
    signal(SIGUSR1, handler);
    pid_t a = sleeper(0), b = sleeper(a), c = sleeper(a);
    is(S(getpgid, b) == a), T(kill, -a, 0), kill(c, SIGKILL), reap("killed before", c, 0), T(kill, -a, SIGUSR1), num(got), reap("a", a, 0),
        T(kill, -a, 0), reap("b", b, 0), show("nobody left", S(kill, -a, 0)), show("leader gone", S(setpgid, 0, a));
    a = sleeper(0), kill(a, SIGKILL), until(a, 'Z'), show("a zombie alone", S(kill, -a, SIGUSR1)), show("its number", S(kill, a, SIGUSR1)), reap("a", a, 0);
}
static void groups_that_change(void)
{
    pid_t a = sleeper(0), b = sleeper(0);
    show("into another", S(setpgid, b, a)), is(S(getpgid, b) == a), show("back to its own", S(setpgid, b, b)),
        show("of its parent", S(setpgid, b, getpgrp())), show("of nobody", S(setpgid, b, 0x3ffffe)), show("negative", S(setpgid, b, -1)),
        show("no process", S(setpgid, 0x3ffffe, 0)), show("its parent", S(setpgid, getppid(), 0)), kill(a, SIGKILL), kill(b, SIGKILL),
        reap("a", a, 0), reap("b", b, 0);
    pid_t leader = fork();
    if (leader == 0) {
        S(setsid);
        for (;;)
            pause();
    }
    while (S(getsid, leader) != leader)
        usleep(300);
    show("a leader of a session", S(setpgid, leader, getpgrp())), show("into its session", S(setpgid, 0, leader)),
        show("setsid by a leader", (S(setpgid, 0, 0), S(setsid))), kill(leader, SIGKILL), reap("leader", leader, 0);
}
static void several_at_once(void)
{
    /* One that may not be reached is passed over; SIGSTOP and SIGCONT go to all. */
    pid_t a = sleeper(0), b = sleeper(a);
    until(a, 'S'), until(b, 'S'), T(kill, -a, SIGSTOP), reap("a", a, WUNTRACED), reap("b", b, WUNTRACED), T(kill, -a, SIGTERM),
        reap("a waits", a, WNOHANG | WUNTRACED), T(kill, -a, SIGCONT), reap("a", a, 0), reap("b", b, 0);
}

int main(void)
{
    S(pipe2, ready, 0);
    CASE(own_group);
    CASE(other_group);
    CASE(groups_that_change);
    CASE(several_at_once);
    return 0;
}
