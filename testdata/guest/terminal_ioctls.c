// covers: ioctl
#include "cases.h"
#include <asm/termbits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* ioctl_tty(2) beyond what the C library's termios(3) needs; pty.c and jobs.c have that. */

static int m, s;
static void open_pair(void)
{
    int off = 0, number = 0;
    char name[64];
    m = (int)S(open, "/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK);
    S(ioctl, m, TIOCSPTLCK, &off), S(ioctl, m, TIOCGPTN, &number);
    snprintf(name, sizeof name, "/dev/pts/%d", number);
    s = (int)S(open, name, O_RDWR | O_NOCTTY | O_NONBLOCK);
}
static void said(const char *what, struct termios2 *t)
{
    printf("%s %o %o %o %o line %d speeds %u %u\n", what, t->c_iflag, t->c_oflag, t->c_cflag, t->c_lflag, t->c_line, t->c_ispeed, t->c_ospeed);
    for (int i = 0; i < 19; i++) printf("%d ", t->c_cc[i]);
    printf("\n");
}
#define IO(fd, cmd, arg) show(#fd " " #cmd, S(ioctl, fd, cmd, arg))
static void speeds(void)
{
    open_pair();
    struct termios2 t = {0};
    IO(s, TCGETS2, &t), said("first", &t);
    IO(s, TCGETS2, BAD);
    t.c_cflag = (t.c_cflag & ~CBAUD) | BOTHER, t.c_ispeed = t.c_ospeed = 12345;
    IO(s, TCSETS2, &t);
    IO(m, TCGETS2, &t), said("other", &t);
    IO(s, TCGETS2, &t), said("other", &t);
    t.c_cflag = (t.c_cflag & ~(CBAUD | CIBAUD)) | B9600;
    IO(s, TCSETSW2, &t);
    IO(s, TCGETS2, &t), said("9600", &t);
    t.c_cflag |= B4800 << IBSHIFT;
    IO(s, TCSETSF2, &t);
    IO(s, TCGETS2, &t), said("4800 in", &t);
    IO(s, TCSETS2, BAD);
    struct termios old = {0};
    IO(s, TCGETS, &old);
    printf("%o\n", old.c_cflag);
    old.c_cflag = (old.c_cflag & ~CBAUD) | B0;
    IO(s, TCSETS, &old);
    IO(s, TCGETS2, &t), said("hung up", &t);
    old.c_cflag = (old.c_cflag & ~(CBAUD|CIBAUD|CSIZE|CREAD)) | B38400 | CS5 | CSTOPB | PARENB;
    IO(s, TCSETS, &old);
    IO(s, TCGETS2, &t), said("five bits", &t);
    old.c_line = 7; old.c_cflag |= 1u << 26;
    IO(s, TCSETS, &old);
    IO(s, TCGETS2, &t), said("line", &t);
    t.c_cflag = (t.c_cflag & ~(CBAUD|CIBAUD)) | BOTHER | (BOTHER << IBSHIFT), t.c_ispeed = 300, t.c_ospeed = 9600;
    IO(s, TCSETS2, &t);
    IO(s, TCGETS2, &t), said("two", &t);
    t.c_ispeed = 0, t.c_ospeed = 0;
    IO(s, TCSETS2, &t);
    IO(s, TCGETS2, &t), said("none", &t);
    t.c_ispeed = 99999999, t.c_ospeed = 9601;
    IO(s, TCSETS2, &t);
    IO(s, TCGETS2, &t), said("near", &t);
}
static void old_form(void)
{
    open_pair();
    struct termio t;
    memset(&t, 0x55, sizeof t);
    IO(s, TCGETA, &t);
    printf("%o %o %o %o %d:", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag, t.c_line);
    for (int i = 0; i < 8; i++) printf(" %d", t.c_cc[i]);
    printf("\n");
    t.c_lflag &= ~ECHO, t.c_cc[2] = 'x', t.c_cflag = B1200 | CS7;
    IO(s, TCSETA, &t), IO(m, TCGETA, &t);
    struct termios2 all;
    IO(s, TCGETS2, &all), said("all", &all);
    t.c_oflag = 0;
    IO(s, TCSETAW, &t), IO(s, TCSETAF, &t);
    IO(s, TCGETS2, &all), said("all", &all);
    IO(s, TCGETA, BAD), IO(s, TCSETA, BAD), IO(m, TCSETA, &t);
}
static int is_admin(void)
{
    struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct d[2] = {0};
    S(capget, &h, d);
    return d[0].effective >> CAP_SYS_ADMIN & 1;
}
static void exclusive(void)
{
    open_pair();
    int value = 7, number;
    char name[64];
    S(ioctl, m, TIOCGPTN, &number);
    snprintf(name, sizeof name, "/dev/pts/%d", number);
    IO(s, TIOCGEXCL, &value), num(value);
    IO(s, TIOCEXCL, 0), IO(s, TIOCGEXCL, &value), num(value);
    IO(m, TIOCGEXCL, &value), num(value);
    IO(s, TIOCGEXCL, BAD);
    long again = S(open, name, O_RDWR | O_NOCTTY), peer = S(ioctl, m, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    is(is_admin() ? again >= 0 && peer >= 0 : again == -EBUSY && peer == -EBUSY);
    IO(s, TIOCNXCL, 0), IO(s, TIOCGEXCL, &value), num(value);
    is(S(open, name, O_RDWR | O_NOCTTY) >= 0);
    IO(m, TIOCEXCL, 0), IO(m, TIOCGEXCL, &value), num(value), IO(s, TIOCGEXCL, &value), num(value);
}
static void discipline(void)
{
    open_pair();
    int d = 0;
    IO(s, TIOCSETD, &d), IO(s, TIOCGETD, &d), num(d);
    d = -1, IO(s, TIOCSETD, &d);
    d = 99, IO(s, TIOCSETD, &d);
    IO(s, TIOCSETD, BAD), IO(m, TIOCGETD, &d), num(d);
    d = 0, IO(m, TIOCSETD, &d);
}
static void no_modem(void)
{
    open_pair();
    int v = 0;
    char big[256];
    SINCE(513, -ENOTTY, ioctl, s, TIOCMGET, &v), SINCE(513, -ENOTTY, ioctl, s, TIOCMSET, &v);
    SINCE(513, -ENOTTY, ioctl, s, TIOCMBIS, &v), SINCE(513, -ENOTTY, ioctl, m, TIOCMGET, &v);
    SINCE(513, -ENOTTY, ioctl, s, TIOCGICOUNT, big), SINCE(513, -ENOTTY, ioctl, s, TIOCGSERIAL, big);
    IO(s, TIOCMIWAIT, 0), IO(s, TIOCSERGETLSR, &v), IO(s, TIOCGRS485, big), IO(s, TCGETX, big);
    IO(s, TIOCSBRK, 0), IO(s, TIOCCBRK, 0), IO(m, TIOCSBRK, 0);
    IO(s, TCSBRK, 0), IO(s, TCSBRK, 1), IO(s, TCSBRKP, 0), IO(s, TCSBRKP, 3), IO(m, TCSBRK, 0), IO(m, TCSBRK, 1);
    IO(s, TIOCGSOFTCAR, &v), num(v), v = 1, IO(s, TIOCSSOFTCAR, &v), IO(s, TIOCGSOFTCAR, &v), num(v);
    struct termios t;
    IO(m, TCGETS, &t), is(t.c_cflag & CLOCAL);
    IO(s, TIOCGSOFTCAR, BAD), IO(s, TIOCSSOFTCAR, BAD);
    IO(s, TIOCLINUX, big), IO(s, TIOCPKT, &v), IO(s, TIOCSIG, 2), IO(s, TIOCGPTPEER, 0), IO(s, 0x5460, 0);
    int p[2];
    S(pipe2, p, 0);
    IO(p[0], TCGETS2, big), IO(p[0], TCGETA, big), IO(p[0], TIOCEXCL, 0), IO(p[0], TIOCSTI, ""), IO(p[0], TIOCGDEV, &v);
}
static void locked(void)
{
    open_pair();
    struct termios t, before;
    IO(s, TIOCGLCKTRMIOS, &t);
    printf("%o %o %o %o %d %d\n", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag, t.c_line, t.c_cc[3]);
    IO(s, TIOCGLCKTRMIOS, BAD);
    t.c_lflag = ECHO, t.c_cc[2] = 1;
    long r = S(ioctl, s, TIOCSLCKTRMIOS, &t);
    is(r == (is_admin() ? 0 : -EPERM));
    if (r)
        return;
    S(ioctl, s, TCGETS, &t), before = t, t.c_lflag ^= ECHO | ICANON, t.c_cc[2] = 'q', t.c_cc[3] = 'w';
    S(ioctl, s, TCSETS, &t), S(ioctl, m, TCGETS, &t);
    /* No word if it is right, as not everyone gets here. */
    if ((t.c_lflag ^ before.c_lflag) != ICANON || t.c_cc[2] != before.c_cc[2] || t.c_cc[3] != 'w')
        printf("%o %d %d\n", t.c_lflag ^ before.c_lflag, t.c_cc[2], t.c_cc[3]);
    if (S(ioctl, s, TIOCSLCKTRMIOS, BAD) != -EFAULT)
        printf("not EFAULT\n");
}
static void who(void)
{
    open_pair();
    unsigned v = 0, n = 0;
    S(ioctl, m, TIOCGPTN, &n);
    IO(s, TIOCGDEV, &v), is(v == (136 << 8 | n)), v = 0, IO(m, TIOCGDEV, &v), is(v == (136 << 8 | n));
    IO(s, TIOCGDEV, BAD);
}
static int got;
static void on(int signal) { got = signal; }
static void sent(const char *what, long result)
{
    show(what, result), num(got), got = 0;
}
/* Linux has TIOCSTI off for who has no privilege since 6.2, unless dev.tty.legacy_tiocsti is set. */
static long type(char c)
{
    long result = S(ioctl, s, TIOCSTI, &c);
    if (result == -EIO && release() >= 602)
        result = S(write, m, &c, 1) - 1;
    return result;
}
static void as_session(void)
{
    char line[8] = "";
    open_pair();
    S(setsid);
    long foreign = type('x'); /* not yet its terminal */
    is(is_admin() ? foreign == 0 : foreign == -EPERM || release() >= 602), S(ioctl, s, TCFLSH, TCIOFLUSH);
    usleep(1000), S(read, m, line, 8); /* its echo, if the master has it already */
    IO(s, TIOCSCTTY, 0);
    signal(SIGINT, on), signal(SIGQUIT, on), signal(SIGTSTP, on);
    sent("INT", S(ioctl, m, TIOCSIG, SIGINT)), sent("QUIT", S(ioctl, m, TIOCSIG, SIGQUIT));
    sent("TSTP", S(ioctl, m, TIOCSIG, SIGTSTP)), sent("WINCH", S(ioctl, m, TIOCSIG, SIGWINCH));
    sent("0", S(ioctl, m, TIOCSIG, 0)), sent("65", S(ioctl, m, TIOCSIG, 65));
    show("typed", type('a')), show("typed", type('\n'));
    usleep(1000);
    num(S(read, s, line, 8)), printf("%s", line);
    num(S(read, m, line, 8)), printf("%.3s", line);
    show("typed", type(3)), usleep(1000), num(got);
    long bad = S(ioctl, s, TIOCSTI, BAD);
    is(bad == -EFAULT || (bad == -EIO && release() >= 602));
}
static void its_own_terminal(void)
{
    pid_t pid = fork();
    if (!pid)
        as_session(), exit(0);
    reap("session", pid, 0);
}
static void from_the_background(void)
{
    pid_t pid = fork();
    if (!pid) {
        struct termios2 t;
        struct termio old;
        int d = 0;
        S(setsid), open_pair(), IO(s, TIOCSCTTY, 0);
        S(ioctl, s, TCGETS2, &t), S(ioctl, s, TCGETA, &old);
        signal(SIGTTOU, on), signal(SIGHUP, SIG_IGN);
        pid_t child = fork();
        if (!child) {
            setpgid(0, 0);
            struct sigaction once = {.sa_handler = on}; /* no SA_RESTART */
            sigaction(SIGTTOU, &once, 0);
            sent("TCSETS2", S(ioctl, s, TCSETS2, &t)), sent("TCSETA", S(ioctl, s, TCSETA, &old));
            sent("TIOCSETD", S(ioctl, s, TIOCSETD, &d)), sent("TIOCSBRK", S(ioctl, s, TIOCSBRK, 0));
            sent("TIOCEXCL", S(ioctl, s, TIOCEXCL, 0)), sent("TCGETS2", S(ioctl, s, TCGETS2, &t));
            exit(0);
        }
        reap("background", child, 0);
        exit(0);
    }
    reap("session", pid, 0);
}
/* Bytes take a moment from side to side. */
static void settle(void) { usleep(8000); }
static void state(void)
{
    int in = -1, unsent = -1, at_master = -1, of_master = -1;
    settle();
    S(ioctl, s, FIONREAD, &in), S(ioctl, s, TIOCOUTQ, &unsent), S(ioctl, m, FIONREAD, &at_master), S(ioctl, m, TIOCOUTQ, &of_master);
    struct pollfd both[2] = {{m, POLLIN | POLLOUT | POLLPRI, 0}, {s, POLLIN | POLLOUT | POLLPRI, 0}};
    S(poll, both, 2, 0);
    printf("%d %d, master %d %d; poll %x, master %x\n", in, unsent, at_master, of_master, both[1].revents, both[0].revents);
}
static void taken(const char *what, int fd)
{
    unsigned char buf[256];
    settle();
    long n = S(read, fd, buf, sizeof buf);
    if (n < 0) {
        show(what, n);
        return;
    }
    printf("%s %ld:", what, n);
    for (long i = 0; i < n; i++) printf(" %02x", buf[i]);
    printf("\n");
}
#define TAKE(fd) taken("from " #fd, fd)
#define PUT(fd, text) (show(#fd " gets " #text, S(write, fd, text, sizeof text - 1)), settle())
static void modes(unsigned on, unsigned off, int how)
{
    struct termios t;
    S(ioctl, s, TCGETS, &t), t.c_lflag = (t.c_lflag | on) & ~off, S(ioctl, s, how, &t);
}
static void flow(unsigned on, unsigned off, int how)
{
    struct termios t;
    S(ioctl, s, TCGETS, &t), t.c_iflag = (t.c_iflag | on) & ~off, S(ioctl, s, how, &t);
}
static void stopped_and_started(void)
{
    open_pair();
    IO(s, TCXONC, TCOOFF), PUT(m, "\021"), PUT(s, "a"), IO(s, TCXONC, TCOON), PUT(s, "b"), TAKE(m);
    PUT(m, "\023"), PUT(s, "c"), IO(s, TCXONC, TCOON), PUT(s, "d"), IO(s, TCXONC, TCOOFF), IO(s, TCXONC, TCOON), PUT(s, "e"), TAKE(m);
    PUT(m, "\023x\021"), TAKE(m), PUT(m, "\023abc"), TAKE(m), PUT(m, "\003"), TAKE(m);
    PUT(m, "\023abc"), PUT(m, "\021"), TAKE(m), PUT(m, "d"), TAKE(m);
    PUT(m, "\023"), PUT(m, "lost"), IO(s, TCFLSH, TCIOFLUSH), PUT(m, "\021"), TAKE(m);
    PUT(m, "\023"), flow(0, IXON, TCSETS), PUT(s, "f"), TAKE(m), IO(s, TCXONC, TCOOFF);
    PUT(m, "\003"), PUT(s, "g"), TAKE(m), IO(s, TCXONC, TCOON), PUT(s, "h"), TAKE(m);
    IO(m, TCXONC, TCOOFF), state(), PUT(m, "x"), PUT(s, "y"), TAKE(m), IO(m, TCXONC, TCOON), PUT(m, "x\n"), TAKE(s), TAKE(m);
    IO(s, TCXONC, TCIOFF), IO(s, TCXONC, TCION), TAKE(m), flow(IXON, 0, TCSETS);
    IO(m, TCXONC, TCIOFF), state(), PUT(s, "z"), IO(m, TCXONC, TCION), settle(), PUT(s, "z"), TAKE(m);
    IO(s, TCXONC, 4), IO(m, TCXONC, -1);
}
static void flushed(void)
{
    for (int side = 0; side < 2; side++)
        for (int which = -1; which < 4; which++) {
            open_pair();
            PUT(m, "in\n"), PUT(s, "out\n");
            printf("%s %d: ", side ? "master" : "slave", which), show("flush", S(ioctl, side ? m : s, TCFLSH, which));
            state(), TAKE(s), TAKE(m), S(close, m), S(close, s);
        }
}
static void packets(void)
{
    int on = 1, off = 0;
    char one;
    open_pair();
    IO(m, TIOCPKT, &on), state(), TAKE(m);
    IO(s, TCXONC, TCOOFF), state(), TAKE(m), IO(s, TCXONC, TCOON), state(), TAKE(m), IO(s, TCXONC, TCOOFF), IO(s, TCXONC, TCOON), TAKE(m);
    IO(s, TCFLSH, TCIFLUSH), state(), TAKE(m), IO(s, TCFLSH, TCOFLUSH), TAKE(m), IO(s, TCFLSH, TCIOFLUSH), PUT(s, "data"), state(), TAKE(m), TAKE(m);
    IO(m, TCFLSH, TCIOFLUSH), TAKE(m), IO(m, TCXONC, TCOOFF), TAKE(m), IO(m, TCXONC, TCOON), TAKE(m);
    PUT(m, "\023"), TAKE(m), PUT(s, "no"), PUT(m, "\021"), TAKE(m), TAKE(m), PUT(m, "\003"), TAKE(m), TAKE(m), PUT(s, "kept"), PUT(m, "\034"), TAKE(m), TAKE(m);
    flow(0, IXON, TCSETS), state(), TAKE(m), flow(IXON, 0, TCSETS), TAKE(m), flow(0, IXON, TCSETSF), TAKE(m), flow(IXON, 0, TCSETSW), TAKE(m);
    modes(EXTPROC, 0, TCSETS), TAKE(m), modes(0, ECHO, TCSETS), TAKE(m), modes(ECHO, EXTPROC, TCSETS), TAKE(m), modes(0, 0, TCSETS), TAKE(m);
    IO(s, TCXONC, TCOOFF), show("one byte", S(read, m, &one, 1)), num(one), IO(s, TCXONC, TCOON), IO(m, TIOCPKT, &on), TAKE(m);
    IO(s, TCXONC, TCOOFF), IO(m, TIOCPKT, &off), TAKE(m), IO(m, TIOCPKT, &on), TAKE(m), IO(s, TCXONC, TCOON), TAKE(m);
    PUT(s, "zz"), show("one byte", S(read, m, &one, 1)), num(one), TAKE(m);
}
static void edited_elsewhere(void)
{
    open_pair();
    PUT(m, "par"), modes(EXTPROC, 0, TCSETS), state(), TAKE(s);
    PUT(m, "a\003b\004\n\023"), state(), TAKE(s), PUT(m, "x"), modes(0, EXTPROC, TCSETS), state(), TAKE(s), PUT(m, "y\n"), TAKE(s);
    modes(EXTPROC, 0, TCSETS), flow(ISTRIP | IUCLC, 0, TCSETS), PUT(m, "A\301\n"), TAKE(s), TAKE(m);
}
/* What a master writes while no slave is open waits for the next one. */
static void one_side_closed(void)
{
    char name[64];
    int number = 0, on = 1;
    open_pair();
    S(ioctl, m, TIOCGPTN, &number), snprintf(name, sizeof name, "/dev/pts/%d", number);
    S(close, s), PUT(m, "x"), PUT(m, "y\n"), TAKE(m);
    s = (int)S(open, name, O_RDWR | O_NOCTTY | O_NONBLOCK);
    TAKE(s), PUT(m, "z\n"), TAKE(s), TAKE(m);
    S(close, m);
    IO(s, TIOCSCTTY, 0), IO(s, TIOCNOTTY, 0), IO(s, TIOCGPGRP, BAD), IO(s, TIOCSPGRP, BAD), IO(s, TIOCGSID, BAD), IO(s, FIONREAD, BAD);
    IO(s, TIOCGPTPEER, 0), IO(s, TIOCCONS, 0), IO(s, TIOCVHANGUP, 0), IO(s, TIOCSTI, BAD), IO(s, 0x1234, 0), IO(s, 1, 0);
    IO(s, FIOASYNC, &on), IO(s, FIONBIO, &on), IO(s, FIOCLEX, 0), show("F_SETFL", S(fcntl, s, F_SETFL, O_ASYNC | O_NONBLOCK));
}
static void of_other_files(void)
{
    static const unsigned commands[] = {TCGETS, TCSETS, TCFLSH, TIOCGWINSZ, TIOCSTI, TIOCGPTPEER, TIOCSCTTY, TIOCOUTQ, FIONREAD, FIOQSIZE, 0x1234};
    long files[] = {S(open, "/dev/urandom", O_RDWR), S(open, "/proc/self/ns/uts", O_RDONLY), S(open, "/proc/self/mem", O_RDONLY), S(socket, AF_NETLINK, SOCK_RAW, 0), S(open, "/dev/null", O_RDWR)};
    for (unsigned c = 0; c < sizeof commands / sizeof *commands; c++)
        for (unsigned f = 0; f < sizeof files / sizeof *files; f++) {
            char what[64], arg[64] = "";
            snprintf(what, sizeof what, "command %#x of file %u", commands[c], f);
            show(what, S(ioctl, files[f], commands[c], arg));
        }
    long e = S(epoll_create1, 0);
    SINCE(609, -EINVAL, ioctl, e, TCGETS, 0), SINCE(609, -EINVAL, ioctl, e, FIONREAD, BAD), SINCE(609, -EINVAL, ioctl, e, TIOCGPTPEER, 0);
    open_pair();
    SINCE(513, -EFAULT, ioctl, s, TIOCSSERIAL, BAD), SINCE(513, -EFAULT, ioctl, m, TIOCSSERIAL, BAD);
    IO(m, TIOCCONS, 0);
    struct termios t;
    S(ioctl, s, TCGETS, &t), t.c_cflag |= 04000000000, S(ioctl, s, TCSETS, &t), S(ioctl, s, TCGETS, &t);
    is(release() < 600 || !(t.c_cflag & 04000000000));
}
int main(void)
{
    CASE(speeds);
    CASE(old_form);
    CASE(exclusive);
    CASE(discipline);
    CASE(no_modem);
    CASE(locked);
    CASE(who);
    CASE(its_own_terminal);
    CASE(from_the_background);
    CASE(stopped_and_started);
    CASE(flushed);
    CASE(packets);
    CASE(edited_elsewhere);
    CASE(one_side_closed);
    CASE(of_other_files);
    return 0;
}
