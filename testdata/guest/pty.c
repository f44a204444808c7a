// covers: ioctl open read write poll close
// flags: -lutil
#include "guest.h"
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

static int m, s;
static struct termios t;

static void show_bytes(const char *what, const char *buf, long n)
{
    if (n < 0) {
        show(what, n);
        return;
    }
    printf("%s %ld:", what, n);
    for (long i = 0; i < n; i++) {
        unsigned char c = buf[i];
        if (c < 32 || c > 126)
            printf("<%d>", c);
        else
            putchar(c);
    }
    printf("\n");
}

static void shown(const char *what, int fd)
{
    char buf[256];
    show_bytes(what, buf, S(read, fd, buf, sizeof buf));
}

/* All that has come to the master: Linux brings an echo there in the background, in as many pieces as it likes, and waits
 * for it only in a read that would find nothing. */
static void echoed(void)
{
    char buf[256];
    long n = S(read, m, buf, sizeof buf), more;
    while (n > 0 && (more = S(read, m, buf + n, sizeof buf - n)) > 0)
        n += more;
    show_bytes("  echo", buf, n);
}

static int polled(int fd)
{
    struct pollfd p = {fd, POLLIN | POLLOUT | POLLPRI, 0};
    S(poll, &p, 1, 0);
    return p.revents;
}

/* What is typed at the master, what it echoes, and what the slave reads then. */
static void type(const char *text)
{
    printf("%ld typed; ", S(write, m, text, strlen(text)));
    /* Linux takes it in the background; poll waits for that. */
    int n = -1, to_slave = polled(s);
    S(ioctl, s, FIONREAD, &n);
    printf("%d there; %x %x\n", n, polled(m), to_slave);
    echoed(), shown("  read", s), shown("  read", s);
}

static void modes(tcflag_t off_in, tcflag_t in, tcflag_t off_local, tcflag_t local)
{
    tcgetattr(s, &t);
    t.c_iflag = (t.c_iflag & ~off_in) | in, t.c_lflag = (t.c_lflag & ~off_local) | local;
    is(tcsetattr(s, TCSANOW, &t) == 0);
}

int main(void)
{
    int number = -1, value = -1, on = 1, off = 0;
    char name[64], path[64];
    /* By hand. */
    m = (int)S(open, "/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK);
    is(m >= 0);
    S(ioctl, m, TIOCGPTN, &number), is(number >= 0);
    snprintf(name, sizeof name, "/dev/pts/%d", number);
    show("locked", S(ioctl, m, TIOCGPTLCK, &value)), num(value);
    show("open", S(open, name, O_RDWR | O_NOCTTY)), show("peer", S(ioctl, m, TIOCGPTPEER, O_RDWR | O_NOCTTY));
    shown("nobody", m);
    printf("%x\n", polled(m));
    show("unlock", S(ioctl, m, TIOCSPTLCK, &off)), S(ioctl, m, TIOCGPTLCK, &value), num(value);
    s = (int)S(open, name, O_RDWR | O_NOCTTY | O_NONBLOCK);
    is(s >= 0), is(isatty(m)), is(isatty(s)), is(strcmp(ttyname(s), name) == 0), is(strcmp(ptsname(m), name) == 0);
    struct stat st;
    fstat(s, &st);
    is(S_ISCHR(st.st_mode)), is(st.st_rdev == (dev_t)(136 << 8 | number)), is(stat(name, &st) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", s);
    char link[64];
    long n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    is(strcmp(link, name) == 0);
    show("slave", S(ioctl, s, TIOCGPTN, &number)), show("slave", S(ioctl, s, TIOCSPTLCK, &on));
    T(lseek, m, 0, SEEK_CUR), T(pread64, m, name, 1, 0), T(lseek, s, 0, SEEK_SET);
    T(fsync, s), T(ftruncate, s, 0), T(ioctl, s, 0x54fe, 0), T(ioctl, m, TCGETS, BAD);

    tcgetattr(s, &t);
    printf("%o %o %o %o %d\n", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag, t.c_line);
    for (int i = 0; i < 17; i++)
        printf("%d ", t.c_cc[i]);
    printf("\n");
    struct winsize size = {1, 1, 1, 1};
    show("size", S(ioctl, s, TIOCGWINSZ, &size)), num(size.ws_row), num(size.ws_col);
    size = (struct winsize){30, 100, 7, 9};
    show("size", S(ioctl, m, TIOCSWINSZ, &size)), size.ws_col = 0;
    show("size", S(ioctl, s, TIOCGWINSZ, &size)), num(size.ws_row), num(size.ws_col), num(size.ws_ypixel);

    /* Canonical mode. */
    type("hello\n"), type("two\nlines\n"), shown("more", s), type("half"), type(" and half\r"), type("\n");
    type("abc\177d\n"), type("\177\177x\n"), type("one two\027three\n"), type("a b_c  \027\027z\n"), type("gone\025kept\n");
    type("eof\004"), type("\004"), type("x\004\n"), type("tab\there\n"), type("\001\002\033\n"), type("a\026\003b\026\177c\n");
    type("a\001\177\177\n"), type("\t\177x\n"), type("ab\t\177x\n"), type("redo\022\n"), type("typed\003after\n"), type("q\034r\032s\n");
    type("\303\251\177x\n");
    char small[4] = "";
    S(write, m, "longer\n", 7), polled(s);
    num(S(read, s, small, 3)), num(S(read, s, small, 3)), num(S(read, s, small, 3)), show("none", S(read, s, small, 3));
    shown("echo", m);
    S(write, m, "end\004", 4), polled(s);
    num(S(read, s, small, 3)), S(read, s, small, 3), shown("echo", m);

    /* Other modes. */
    modes(ICRNL, INLCR, 0, 0), type("a\rb\nc"), modes(INLCR, IGNCR, 0, 0), type("x\ry\n"), modes(IGNCR, ICRNL, 0, 0);
    modes(0, 0, ECHO, ECHONL), type("hidden\n"), modes(0, 0, ECHONL, 0), type("hidden\177\025\n"), modes(0, 0, 0, ECHO);
    modes(0, 0, ECHOE, 0), type("ab\177c\n"), type("ab\025c\n"), modes(0, 0, ECHOK, 0), type("ab\025c\n");
    modes(0, 0, ECHOCTL, ECHOE | ECHOK), type("\001a\177\177\n"), modes(0, 0, ISIG | IEXTEN, ECHOCTL), type("\003\027\026x\n");
    modes(0, 0, 0, ISIG | IEXTEN), modes(0, ISTRIP, 0, 0), type("\341\342\n"), modes(ISTRIP, 0, 0, 0);
    tcgetattr(s, &t), t.c_cc[VEOL] = ';', t.c_cc[VERASE] = 'e', tcsetattr(s, TCSADRAIN, &t);
    type("a;bex;"), tcgetattr(s, &t), t.c_cc[VEOL] = 0, t.c_cc[VERASE] = 127, tcsetattr(s, TCSADRAIN, &t);

    /* Raw mode. */
    modes(ICRNL | IXON, 0, ICANON | ECHO | ISIG | IEXTEN, 0);
    type("raw\r\003\004\177"), type("x");
    tcgetattr(s, &t), t.c_cc[VMIN] = 3, tcsetattr(s, TCSANOW, &t);
    type("ab"), type("abc"), t.c_cc[VMIN] = 0, tcsetattr(s, TCSANOW, &t), type("q");
    t.c_cc[VMIN] = 1, tcsetattr(s, TCSANOW, &t);
    S(write, m, "kept", 4), polled(s), modes(0, 0, 0, ICANON), shown("now a line", s), modes(0, 0, ICANON, 0), shown("none", s);
    S(write, m, "flushed", 7), polled(s), tcflush(s, TCIFLUSH), shown("none", s);

    /* Output. */
    T(write, s, "one\ntwo\tx\r\n", 11), shown("master", m);
    tcgetattr(s, &t), t.c_oflag = OPOST | OCRNL | XTABS, tcsetattr(s, TCSANOW, &t);
    T(write, s, "a\rb\tc\n", 6), shown("master", m), t.c_oflag = OPOST | OLCUC, tcsetattr(s, TCSANOW, &t);
    T(write, s, "\rab\r\n", 5), shown("master", m), t.c_oflag = 0, tcsetattr(s, TCSANOW, &t);
    T(write, s, "raw\n", 4), shown("master", m);
    tcflow(s, TCOOFF), show("stopped", S(write, s, "x", 1)), printf("%x\n", polled(s)), tcflow(s, TCOON);
    T(write, s, "y", 1), shown("master", m);
    show("packet", S(ioctl, m, TIOCPKT, &on)), T(write, s, "p", 1), shown("master", m), S(ioctl, m, TIOCPKT, &off);

    /* Ends. */
    T(write, s, "last", 4), S(close, s), printf("%x\n", polled(m)), shown("rest", m), shown("closed", m), printf("%x\n", polled(m));
    s = (int)S(open, name, O_RDWR | O_NOCTTY | O_NONBLOCK);
    is(s >= 0), shown("again", m), S(close, m), printf("%x\n", polled(s)), shown("hung up", s);
    show("write", S(write, s, "x", 1)), show("gone", S(open, name, O_RDWR | O_NOCTTY)), show("ioctl", S(ioctl, s, TCGETS, &t));
    S(close, s);

    /* By the C library. */
    struct termios made = {.c_lflag = ICANON, .c_cflag = CS8 | CREAD | B38400};
    size.ws_col = 44;
    check(openpty(&m, &s, name, &made, &size));
    is(strncmp(name, "/dev/pts/", 9) == 0);
    fcntl(m, F_SETFL, O_NONBLOCK), fcntl(s, F_SETFL, O_NONBLOCK);
    type("plain\n"), S(ioctl, s, TIOCGWINSZ, &size), num(size.ws_col);
    return 0;
}
