// covers: ptrace waitid
// Signals of a tracee pass its tracer - they are seen, held back, exchanged and changed, those that stop, continue
// and kill too; signals that wait, and the mask.
#include "tracing.h"

static volatile int handled, code;
static void handler(int s, siginfo_t *i, void *c)
{
    handled = s;
    code = i->si_code;
    printf("handler %d code %d value %d\n", s, i->si_code, i->si_code == SI_USER ? 0 : i->si_value.sival_int);
    fflush(stdout);
}

static void catch_all(void)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    int all[] = {SIGUSR1, SIGUSR2, SIGTRAP, SIGRTMIN + 1, SIGCONT};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaction(all[i], &sa, NULL);
}

static void sends(void)
{
    catch_all();
    pid_t me = S(getpid);
    S(kill, me, SIGUSR1);
    S(kill, me, SIGUSR1);
    S(kill, me, SIGUSR1);
    S(kill, me, SIGUSR1);
    sigqueue(me, SIGRTMIN + 1, (union sigval){.sival_int = 5});
    signal(SIGTERM, SIG_IGN);
    S(kill, me, SIGTERM);
    S(kill, me, SIGCHLD);
    S(kill, me, SIGTERM);
    *(volatile int *)16 = 1;
}

static void say_info(pid_t pid)
{
    siginfo_t si = {0};
    long r = P(GETSIGINFO, pid, 0, &si);
    printf("  info %ld: signal %d code %d own %d\n", r, si.si_signo, si.si_code, si.si_pid == pid);
}

static void stops(void)
{
    catch_all();
    S(kill, S(getpid), SIGSTOP);
    printf("goes on\n");
    fflush(stdout);
    S(kill, S(getpid), SIGTSTP);
    printf("goes on\n");
    fflush(stdout);
}

static void blocks(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t me = S(getpid);
    catch_all();
    S(tgkill, me, me, SIGUSR1);
    for (int i = 0; i < 3; i++)
        sigqueue(me, SIGRTMIN + 1, (union sigval){.sival_int = i});
    S(kill, me, SIGTRAP);
    S(kill, me, SIGTRAP);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    pid_t pid = tracee(sends);
    await("first", pid);
    SAY(GETSIGINFO, pid, 0, BAD);
    NEXT(CONT, pid, 0);
    say_info(pid);
    NEXT(CONT, pid, SIGUSR1);
    printf("held back\n");
    fflush(stdout);
    NEXT(CONT, pid, 0);
    NEXT(CONT, pid, SIGUSR2);
    siginfo_t si = {0};
    P(GETSIGINFO, pid, 0, &si);
    si.si_code = SI_QUEUE;
    si.si_value.sival_int = 77;
    SAY(SETSIGINFO, pid, 0, &si);
    SAY(SETSIGINFO, pid, 0, BAD);
    NEXT(CONT, pid, SIGUSR1);
    say_info(pid);
    NEXT(CONT, pid, SIGRTMIN + 1);
    say_info(pid);
    NEXT(CONT, pid, SIGTERM);
    say_info(pid);
    NEXT(CONT, pid, SIGCHLD);
    SAY(CONT, pid, 0, 65);
    SAY(CONT, pid, 0, -1L);
    NEXT(CONT, pid, 0);
    say_info(pid);
    NEXT(CONT, pid, SIGSEGV);

    /* Stops of the process. */
    pid = tracee(stops);
    await("stops", pid);
    NEXT(CONT, pid, 0);
    say_info(pid);
    NEXT(CONT, pid, SIGSTOP); /* the stop itself */
    say_info(pid);
    printf("%c\n", state_of(pid));
    kill(pid, SIGCONT); /* does nothing before it is let go */
    SAY(PEEKUSER, pid, 0, &si);
    NEXT(CONT, pid, 0);
    say_info(pid);
    NEXT(CONT, pid, SIGCONT);
    say_info(pid);
    NEXT(CONT, pid, 0);

    /* Signals that wait, and the mask. */
    pid = tracee(blocks);
    await("blocks", pid);
    NEXT(CONT, pid, 0);
    unsigned long mask = 0;
    SAY(GETSIGMASK, pid, 8, &mask);
    printf("%lx\n", mask);
    struct { uint64_t off; uint32_t flags; int32_t nr; } args = {0, 0, 5};
    siginfo_t infos[5];
    SAY(PEEKSIGINFO, pid, &args, infos);
    printf("%d\n", infos[0].si_signo);
    args.flags = 1;
    SAY(PEEKSIGINFO, pid, &args, infos);
    printf("%d %d %d\n", infos[0].si_signo, infos[1].si_value.sival_int, infos[2].si_value.sival_int);
    args.off = 2;
    SAY(PEEKSIGINFO, pid, &args, infos);
    printf("%d %d\n", infos[0].si_signo, infos[0].si_value.sival_int);
    args.off = 9;
    SAY(PEEKSIGINFO, pid, &args, infos);
    args.off = 0;
    SAY(PEEKSIGINFO, pid, &args, BAD);
    SAY(PEEKSIGINFO, pid, BAD, infos);
    args.nr = -1;
    SAY(PEEKSIGINFO, pid, &args, infos);
    args.nr = 1, args.flags = 2;
    SAY(PEEKSIGINFO, pid, &args, infos);
    SAY(GETSIGMASK, pid, 4, &mask);
    SAY(GETSIGMASK, pid, 8, BAD);
    SAY(SETSIGMASK, pid, 4, &mask);
    SAY(SETSIGMASK, pid, 8, BAD);
    NEXT(CONT, pid, SIGUSR2); /* is blocked, so it waits */
    mask = ~0UL;
    SAY(SETSIGMASK, pid, 8, &mask);
    SAY(GETSIGMASK, pid, 8, &mask);
    printf("%lx\n", mask);
    mask = 0;
    SAY(SETSIGMASK, pid, 8, &mask);
    for (int i = 0; i < 8; i++) {
        int status = NEXT(CONT, pid, i == 0 ? SIGTRAP : i & 1 ? SIGUSR1 : SIGUSR2);
        if (!WIFSTOPPED(status))
            break;
    }

    /* SIGKILL in every kind of stop, and waitid(2). */
    for (int kind = 0; kind < 4; kind++) {
        pid = tracee(sends);
        await("killed", pid);
        P(SETOPTIONS, pid, 0, 1 | (kind == 3 ? 0x40 : 0));
        if (kind)
            NEXT(SYSCALL, pid, 0);
        if (kind == 2)
            NEXT(SYSCALL, pid, 0);
        memset(&si, 0, sizeof si);
        kill(pid, SIGKILL);
        int status;
        if (kind == 3) {
            do {
                waitpid(pid, &status, 0);
                if (WIFSTOPPED(status))
                    P(CONT, pid, 0, 0);
            } while (WIFSTOPPED(status));
            say_status("end", status);
            continue;
        }
        printf("%d\n", waitid(P_PID, pid, &si, WEXITED | WSTOPPED));
        printf("code %d status %d, own %d\n", si.si_code, si.si_status, si.si_pid == pid);
        SAY(CONT, pid, 0, 0);
    }
    pid = tracee(sends);
    for (int options = WSTOPPED | WNOWAIT, i = 0; i < 3; i++) {
        memset(&si, 0, sizeof si);
        int r = waitid(P_PID, pid, &si, i == 2 ? WEXITED | WNOHANG : options);
        printf("%d: code %d status %d signal %d\n", r, si.si_code, si.si_status, si.si_signo);
        options = WEXITED;
        options |= WNOHANG;
    }
    int status;
    printf("%d\n", waitpid(pid, &status, WNOHANG));
    SAY(KILL, pid, 0, 0);
    memset(&si, 0, sizeof si);
    waitid(P_PID, pid, &si, WEXITED | WNOWAIT);
    printf("code %d status %d\n", si.si_code, si.si_status);
    await("end", pid);
    await("gone", pid);
    return 0;
}
