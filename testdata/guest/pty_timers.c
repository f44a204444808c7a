// covers: read ioctl
/* VMIN and VTIME of a terminal that is not in canonical mode, in their four cases. */
#include "guest.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

static int master, slave;

static void mode(int least, int tenths)
{
    struct termios t;
    tcgetattr(slave, &t);
    cfmakeraw(&t);
    t.c_cc[VMIN] = least, t.c_cc[VTIME] = tenths;
    show("tcsetattr", tcsetattr(slave, TCSANOW, &t));
}

/* A child that types pieces, each after some milliseconds. */
static int types(const char *first, int before, const char *second, int between)
{
    int pid = fork();
    if (pid == 0) {
        usleep(before * 1000);
        write(master, first, strlen(first));
        usleep(between * 1000);
        write(master, second, strlen(second));
        _exit(0);
    }
    return pid;
}

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads, and says what came and whether it took so many milliseconds at least. */
static void reads(const char *what, int room, long least)
{
    char buf[16] = "";
    long begin = now(), n = S(read, slave, buf, room);
    show(what, n);
    printf("  \"%s\" %s\n", buf, now() - begin >= least ? "in time" : "too early");
}

static void on(int signo)
{
    (void)signo;
}

int main(void)
{
    master = posix_openpt(O_RDWR | O_NOCTTY);
    grantpt(master), unlockpt(master);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct sigaction action = {.sa_handler = on};
    sigaction(SIGALRM, &action, NULL);

    mode(0, 0);
    reads("nothing there", 8, 0);
    write(master, "abc", 3);
    reads("something there", 8, 0);
    write(master, "abc", 3);
    reads("more than room", 2, 0);
    reads("the rest", 8, 0);

    mode(0, 2);
    reads("no byte in time", 8, 195);
    int child = types("x", 20, "", 0);
    reads("a byte", 8, 10);
    waitpid(child, NULL, 0);

    mode(3, 0);
    child = types("a", 20, "bcd", 50);
    reads("as many as VMIN", 8, 60);
    waitpid(child, NULL, 0);
    child = types("e", 20, "f", 50);
    reads("as many as there is room for", 2, 60);
    waitpid(child, NULL, 0);
    write(master, "gh", 2);
    struct pollfd fd = {slave, POLLIN, 0};
    T(poll, &fd, 1, 0);
    alarm(1);
    reads("a signal after some bytes", 8, 500);
    alarm(1);
    reads("a signal before any", 8, 500);

    mode(5, 2);
    child = types("kl", 400, "", 0);
    reads("the timer begins with the first byte", 8, 500);
    waitpid(child, NULL, 0);
    child = types("mn", 10, "opq", 20);
    reads("all in time", 8, 20);
    waitpid(child, NULL, 0);
    write(master, "r", 1);
    T(poll, &fd, 1, 0);
    reads("what is there", 8, 195);

    fcntl(slave, F_SETFL, O_NONBLOCK);
    reads("nonblocking, nothing there", 8, 0);
    write(master, "st", 2);
    reads("nonblocking, fewer", 8, 0);
    mode(0, 2);
    reads("nonblocking, with a timer", 8, 0);
    mode(0, 0);
    reads("nonblocking, without", 8, 0);
    mode(4, 0);
    write(master, "u", 1);
    reads("nonblocking, with VMIN", 8, 0);
    return 0;
}
