// covers: ioctl setsid setpgid kill wait4 read
#include "guest.h"
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

static int master;
static volatile int hangups;

static void count(int signo)
{
    (void)signo;
    hangups++;
}

static void type(const char *text)
{
    if (write(master, text, strlen(text)) < 0)
        printf("typing failed\n");
}

/* A session on the terminal: what it exits with is its result. */
static void session(const char *name)
{
    int status, value = -1;
    pid_t group = -1;
    setsid();
    int tty = open(name, O_RDWR | O_NOCTTY);
    show("tcgetpgrp without a terminal", tcgetpgrp(tty) == -1 ? -errno : 0);
    check(open("/dev/tty", O_RDWR) >= 0 ? -2 : errno == ENXIO);
    check(ioctl(tty, TIOCSCTTY, 0));
    check(ioctl(tty, TIOCSCTTY, 0));
    is(tcgetpgrp(tty) == getpid());
    is(tcgetsid(tty) == getpid());
    int again = open("/dev/tty", O_RDWR);
    is(again >= 0 && isatty(again));
    is(tcgetpgrp(again) == getpid());
    check(tcsetpgrp(tty, 0x3fffff));
    group = -1;
    check(ioctl(tty, TIOCSPGRP, &group));

    /* A child in the background that reads is stopped, and goes on in the foreground. */
    pid_t pid = fork();
    if (!pid) {
        char line[16];
        setpgid(0, 0);
        long got = read(tty, line, sizeof line);
        _exit(got == 3 && !memcmp(line, "ab\n", 3) ? 50 : 51);
    }
    setpgid(pid, pid);
    check(waitpid(pid, &status, WUNTRACED) == pid);
    printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
    signal(SIGTTOU, SIG_IGN);
    check(tcsetpgrp(tty, pid));
    is(tcgetpgrp(tty) == pid);
    kill(-pid, SIGCONT);
    type("ab\n");
    check(waitpid(pid, &status, 0) == pid);
    num(WEXITSTATUS(status));

    /* From the background: SIGTTOU for tcsetpgrp, and for writing only with TOSTOP. */
    pid = fork();
    if (!pid) {
        signal(SIGTTOU, SIG_DFL);
        setpgid(0, 0);
        if (write(tty, "text", 4) != 4)
            _exit(53);
        tcsetpgrp(tty, getpgrp());
        _exit(tcgetpgrp(tty) == getpgrp() ? 54 : 55);
    }
    setpgid(pid, pid);
    check(tcsetpgrp(tty, getpgrp()));
    check(waitpid(pid, &status, WUNTRACED) == pid);
    printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
    signal(SIGTTOU, SIG_DFL);
    kill(pid, SIGKILL);
    check(waitpid(pid, &status, 0) == pid);

    /* Keys send signals to the foreground. */
    static const struct {
        const char *key;
        int signo;
    } keys[] = {{"\003", SIGINT}, {"\034", SIGQUIT}, {"\032", SIGTSTP}};
    for (unsigned i = 0; i < 3; i++) {
        pid = fork();
        if (!pid) {
            setpgid(0, 0);
            for (;;)
                pause();
        }
        setpgid(pid, pid);
        signal(SIGTTOU, SIG_IGN);
        tcsetpgrp(tty, pid);
        type(keys[i].key);
        check(waitpid(pid, &status, WUNTRACED) == pid);
        printf("key %u: %s by %d\n", i, WIFSTOPPED(status) ? "stopped" : "ended",
               WIFSTOPPED(status) ? WSTOPSIG(status) : WTERMSIG(status));
        if (WIFSTOPPED(status)) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
        }
        tcsetpgrp(tty, getpgrp());
    }
    struct winsize size = {.ws_row = 10, .ws_col = 20};
    signal(SIGWINCH, count);
    check(ioctl(tty, TIOCSWINSZ, &size));
    num(hangups);
    hangups = 0;

    /* When the leader gives the terminal up, the foreground is hung up. */
    signal(SIGHUP, count);
    check(ioctl(tty, TIOCNOTTY));
    num(hangups);
    show("tcgetpgrp afterwards", tcgetpgrp(tty) == -1 ? -errno : 0);
    (void)value;
    fflush(stdout);
    _exit(60);
}

int main(void)
{
    int status, one = 0;
    char name[64];
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    ioctl(master, TIOCSPTLCK, &one);
    ioctl(master, TIOCGPTN, &one);
    sprintf(name, "/dev/pts/%d", one);
    pid_t pid = fork();
    if (!pid)
        session(name);
    check(waitpid(pid, &status, 0) == pid);
    num(WEXITSTATUS(status));

    /* The end of the master hangs up the leader; the terminal is at its end then. */
    pid = fork();
    if (!pid) {
        int other = open("/dev/ptmx", O_RDWR | O_NOCTTY);
        one = 0;
        ioctl(other, TIOCSPTLCK, &one);
        ioctl(other, TIOCGPTN, &one);
        sprintf(name, "/dev/pts/%d", one);
        setsid();
        int tty = open(name, O_RDWR);
        is(tcgetsid(tty) == getpid());
        signal(SIGHUP, count);
        close(other);
        num(hangups);
        char byte;
        check(read(tty, &byte, 1));
        show("write", write(tty, "x", 1) == -1 ? -errno : 0);
        fflush(stdout);
        _exit(61);
    }
    check(waitpid(pid, &status, 0) == pid);
    num(WEXITSTATUS(status));
    return 0;
}
