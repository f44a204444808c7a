// covers: fcntl
#include "guest.h"

#ifndef DN_ACCESS
#error fcntl.h without DN_ACCESS
#endif

static int count, code, from;
static void on(int s, siginfo_t *i, void *c) { (void)c, count++, code = i->si_code, from = i->si_fd, (void)s; }
static void told(const char *what)
{
    printf("%s: %d", what, count);
    if (count)
        printf(" code %d", code);
    printf("\n");
    count = 0;
}

int main(void)
{
    char buf[512];
    struct sigaction sa = {.sa_sigaction = on, .sa_flags = SA_SIGINFO};
    sigaction(SIGIO, &sa, NULL), sigaction(SIGRTMIN + 1, &sa, NULL);
    S(mkdir, "d", 0755), put("d/f", "text");
    long d = S(open, "d", O_RDONLY), f = S(open, "d/f", O_RDWR);
    T(fcntl, f, F_NOTIFY, DN_CREATE), T(fcntl, f, F_NOTIFY, 0), T(fcntl, d, F_NOTIFY, 0), T(fcntl, 99, F_NOTIFY, DN_CREATE);
    T(fcntl, d, F_NOTIFY, DN_CREATE), is(S(fcntl, d, F_GETOWN) == getpid());
    put("d/new", ""), told("create"), put("d/more", ""), told("only once");
    T(fcntl, d, F_SETSIG, SIGRTMIN + 1);
    T(fcntl, d, F_NOTIFY, DN_ACCESS | DN_MODIFY | DN_CREATE | DN_DELETE | DN_RENAME | DN_ATTRIB | DN_MULTISHOT);
    S(read, f, buf, 1), told("read"), is(from == d), S(write, f, "x", 1), told("write"), S(chmod, "d/f", 0600), told("chmod"), S(unlink, "d/new"), told("unlink");
    S(mkdir, "d/sub", 0755), told("mkdir"), S(rmdir, "d/sub"), told("rmdir"), S(close, S(open, "d/more", O_RDONLY)), told("open and close");
    T(fcntl, d, F_NOTIFY, 0), S(chmod, "d/f", 0644), told("nothing");
    T(fcntl, d, F_NOTIFY, DN_DELETE | DN_MULTISHOT), S(chmod, "d/f", 0600), told("other"), S(unlink, "d/more"), told("unlink");
    T(fcntl, d, F_NOTIFY, DN_ATTRIB | DN_MULTISHOT), S(chmod, "d/f", 0644), told("added");
    long copy = S(dup, d);
    T(close, copy), S(chmod, "d/f", 0600), told("closing a copy ends it");
    return 0;
}
