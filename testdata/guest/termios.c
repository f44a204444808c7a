// covers: ioctl
#include "guest.h"
#include <asm/termbits.h>
#include <linux/capability.h>
#include <sys/ioctl.h>

/* The forms in which modes of terminals are asked for and set, and speeds. */

struct old {
    unsigned short iflag, oflag, cflag, lflag;
    unsigned char line, cc[8];
};

static int m, s;
static struct termios2 t;

static void speeds(const char *what)
{
    is(S(ioctl, s, TCGETS2, &t) == 0);
    printf("%s: %o, %u in, %u out\n", what, t.c_cflag, t.c_ispeed, t.c_ospeed);
}

static void set(const char *what, unsigned long how, tcflag_t cflag, unsigned in, unsigned out)
{
    t.c_cflag = cflag, t.c_ispeed = in, t.c_ospeed = out;
    is(S(ioctl, s, how, &t) == 0), speeds(what);
}

int main(void)
{
    int number = 0;
    char name[64];
    m = (int)S(open, "/dev/ptmx", O_RDWR | O_NOCTTY), S(ioctl, m, TIOCSPTLCK, &number), S(ioctl, m, TIOCGPTN, &number);
    snprintf(name, sizeof name, "/dev/pts/%d", number);
    s = (int)S(open, name, O_RDWR | O_NOCTTY);

    speeds("fresh");
    set("a number", TCSETS2, BOTHER, 0, 12345), set("a name", TCSETSF2, B9600 | CS5 | PARENB, 1, 2);
    set("both", TCSETSW2, B9600 | B50 << IBSHIFT, 0, 0), set("two numbers", TCSETS2, BOTHER | BOTHER << IBSHIFT, 50, 115200);
    set("fast", TCSETS2, B4000000 | B57600 << IBSHIFT, 0, 0), set("none", TCSETS2, B0, 7, 7), set("again", TCSETS2, BOTHER, 8, 77);
    struct termios one;
    is(S(ioctl, s, TCGETS, &one) == 0), one.c_cflag = BOTHER, is(S(ioctl, s, TCSETS, &one) == 0), speeds("kept");
    one.c_cflag = B300, is(S(ioctl, s, TCSETSW, &one) == 0), speeds("by name"), T(ioctl, s, TCSETS2, BAD), T(ioctl, s, TCGETS2, BAD);

    struct old old;
    memset(&old, 0xee, sizeof old);
    T(ioctl, s, TCGETA, &old);
    printf("%o %o %o %o %d:", old.iflag, old.oflag, old.cflag, old.lflag, old.line);
    for (int i = 0; i < 8; i++)
        printf(" %d", old.cc[i]);
    printf("\n");
    S(ioctl, s, TCGETS2, &t), t.c_lflag |= EXTPROC, S(ioctl, s, TCSETS2, &t);
    old.iflag = INLCR, old.cflag = B38400, old.lflag &= ~ECHO, old.cc[VKILL] = 7;
    T(ioctl, s, TCSETA, &old), speeds("old"), printf("%o %o %d %d\n", t.c_iflag, t.c_lflag, t.c_cc[VKILL], t.c_cc[VLNEXT]);
    T(ioctl, m, TCSETAW, &old), T(ioctl, s, TCSETAF, &old), T(ioctl, s, TCSETA, BAD), T(ioctl, m, TCGETA, BAD);

    memset(&one, 0xee, sizeof one);
    T(ioctl, s, TIOCGLCKTRMIOS, &one);
    printf("locked: %o %o %o %o %d %d\n", one.c_iflag, one.c_oflag, one.c_cflag, one.c_lflag, one.c_line, one.c_cc[VKILL]);
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct nothing[2] = {{0}};
    S(capset, &head, nothing);
    T(ioctl, s, TIOCSLCKTRMIOS, &one), T(ioctl, s, TIOCGLCKTRMIOS, BAD);
    int pipes[2];
    S(pipe, pipes), T(ioctl, pipes[0], TCGETA, &old), T(ioctl, pipes[0], TCGETS2, &t), T(ioctl, pipes[0], TIOCGLCKTRMIOS, &one);
    return 0;
}
