// covers: setsid ioctl read write close kill wait4 poll setpgid
#include "child.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

/* A session and its terminal: who gets it, what hanging up does to whom, and what is left of both ends. */
static int m;
static char name[40];
static volatile int hups, conts, ttins, ttous;

static void handler(int signo)
{
    hups += signo == SIGHUP, conts += signo == SIGCONT, ttins += signo == SIGTTIN, ttous += signo == SIGTTOU;
}
static void catches(void)
{
    signal(SIGHUP, handler), signal(SIGCONT, handler), signal(SIGTTIN, handler), signal(SIGTTOU, handler);
}
static void master(void)
{
    int n = -1, off = 0;
    m = (int)S(open, "/dev/ptmx", O_RDWR | O_NOCTTY), S(ioctl, m, TIOCGPTN, &n), S(ioctl, m, TIOCSPTLCK, &off), snprintf(name, sizeof name, "/dev/pts/%d", n);
}

static void leads(void)
{
    char buf[16];
    pid_t sid = -1;
    master(), catches(), S(setsid), show("not its own", S(ioctl, S(open, name, O_RDWR | O_NOCTTY), TIOCGPGRP, &sid));
    int s = (int)S(open, name, O_RDWR | O_NOCTTY);
    show("no terminal yet", S(open, "/dev/tty", O_RDWR)), show("taken", S(ioctl, s, TIOCSCTTY, 0)), show("again", S(ioctl, s, TIOCSCTTY, 0)),
        show("/dev/tty", S(open, "/dev/tty", O_RDWR) < 0), S(ioctl, s, TIOCGPGRP, &sid), is(sid == getpid()), S(ioctl, s, TIOCGSID, &sid),
        is(sid == getpid()), is((long)own_stat_field(7) != 0), is((long)own_stat_field(8) == getpid());
    /* The other end closes: a hang-up for the leader, an end for readers. */
    S(close, m);
    for (int i = 0; i < 1000 && !hups; i++)
        usleep(200);
    printf("HUP %d CONT %d\n", hups, conts), show("read", S(read, s, buf, 16)), show("write", S(write, s, "x", 1)),
        show("ioctl", S(ioctl, s, TIOCGWINSZ, buf)), show("attributes", S(ioctl, s, TCGETS, name));
    struct pollfd p = {s, POLLIN | POLLOUT, 0};
    S(poll, &p, 1, 0), printf("%#x\n", p.revents), show("/dev/tty", S(open, "/dev/tty", O_RDWR)), show("by name", S(open, name, O_RDWR) < 0);
}
static void gives_up(void)
{
    pid_t group = -1;
    master(), catches(), S(setsid);
    int s = (int)S(open, name, O_RDWR);
    S(ioctl, s, TIOCGPGRP, &group), is(group == getpid()), show("given up", S(ioctl, s, TIOCNOTTY)), printf("HUP %d CONT %d\n", hups, conts),
        show("again", S(ioctl, s, TIOCNOTTY)), show("/dev/tty", S(open, "/dev/tty", O_RDWR)), show("group", S(ioctl, s, TIOCGPGRP, &group)),
        show("still open", S(write, s, "x", 1)), show("opened anew", S(ioctl, S(open, name, O_RDWR), TIOCGPGRP, &group));
}
static void waits_in_the_group(void)
{
    for (int i = 0; i < 3000 && !hups; i++)
        usleep(500);
    printf("member: HUP %d\n", hups);
}
static void leader_ends(void)
{
    catches(), S(setsid), S(open, name, O_RDWR), child(waits_in_the_group), usleep(3000);
    _exit(7);
}
static void background(void)
{
    char buf[8];
    int s = (int)S(open, "/dev/tty", O_RDWR);
    struct termios t;
    struct winsize w = {1, 2, 3, 4};
    struct sigaction a = {.sa_handler = handler};
    pid_t none = 0x3ffffe;
    S(setpgid, 0, 0), sigaction(SIGTTOU, &a, 0), sigaction(SIGTTIN, &a, 0), show("background reads", S(read, s, buf, 8)), printf("TTIN %d\n", ttins),
        show("writes", S(write, s, "x", 1)), printf("TTOU %d\n", ttous), tcgetattr(s, &t), show("gets attributes", 0),
        show("sets them", S(ioctl, s, TCSETS, &t)), printf("TTOU %d\n", ttous), show("sets the size", S(ioctl, s, TIOCSWINSZ, &w)),
        printf("TTOU %d\n", ttous), show("a group of none", S(ioctl, s, TIOCSPGRP, &none)), printf("TTOU %d\n", ttous);
    t.c_lflag |= TOSTOP, signal(SIGTTOU, SIG_IGN), show("ignoring, sets", S(ioctl, s, TCSETS, &t)), show("ignoring, writes", S(write, s, "y", 1)),
        sigaction(SIGTTOU, &a, 0), show("writes with TOSTOP", S(write, s, "z", 1)), printf("TTOU %d\n", ttous), signal(SIGTTIN, SIG_IGN),
        show("ignoring, reads", S(read, s, buf, 8));
    sigset_t set;
    signal(SIGTTIN, handler), sigemptyset(&set), sigaddset(&set, SIGTTIN), sigprocmask(SIG_BLOCK, &set, 0), show("blocking, reads", S(read, s, buf, 8));
    pid_t own = getpid();
    signal(SIGTTOU, SIG_IGN), show("foreground", S(ioctl, s, TIOCSPGRP, &own)), sigprocmask(SIG_UNBLOCK, &set, 0), own = -1,
        show("of -1", S(ioctl, s, TIOCSPGRP, &own));
}
static void has_background(void)
{
    master(), S(setsid), S(open, name, O_RDWR), reap(child(background));
}

int main(void)
{
    char buf[64];
    void (*all[])(void) = {leads, gives_up, has_background};
    for (int i = 0; i < 3; i++)
        num(i), num(reap(child(all[i])));
    /* The leader's end hangs up on the foreground group. */
    int ends[2];
    master(), S(pipe2, ends, 0);
    pid_t pid = child(leader_ends);
    S(close, ends[1]), S(read, ends[0], buf, 1) /* nothing, when all have ended */, num(reap(pid)), show("read", S(read, m, buf, 64)), S(close, m);
    return 0;
}
