// covers: bind listen close shutdown getpeername
/* Who ends a connection of TCP first keeps its addresses: TIME_WAIT and FIN_WAIT2, what they keep others from,
 * and who sees them. */
#include "guest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int family;
/* The other port of the connection at hand. */
static int client_port;

static struct sockaddr_storage at(int port, socklen_t *len)
{
    struct sockaddr_storage all = {.ss_family = family};
    struct sockaddr_in *four = (void *)&all;
    struct sockaddr_in6 *six = (void *)&all;
    if (family == AF_INET) {
        four->sin_port = htons(port);
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *len = sizeof *four;
    } else {
        six->sin6_port = htons(port);
        six->sin6_addr = in6addr_loopback;
        *len = sizeof *six;
    }
    return all;
}

static int port_of(int fd)
{
    struct sockaddr_storage all;
    socklen_t len = sizeof all;
    getsockname(fd, (void *)&all, &len);
    return ntohs(((struct sockaddr_in *)&all)->sin_port);
}

/* A socket with some options on; `port` may be 0. -1 and errno if it cannot be bound. */
static int bound(int port, int reuse_address, int reuse_port)
{
    int fd = socket(family, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse_address, sizeof reuse_address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &reuse_port, sizeof reuse_port);
    socklen_t len;
    struct sockaddr_storage all = at(port, &len);
    if (bind(fd, (void *)&all, len) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void try(const char *what, int port, int reuse_address, int reuse_port)
{
    int fd = bound(port, reuse_address, reuse_port);
    printf("  bind %s: %s", what, fd < 0 ? strerrorname_np(errno) : "ok");
    if (fd >= 0) {
        printf(", listen: %s", listen(fd, 1) < 0 ? strerrorname_np(errno) : "ok");
        close(fd);
    }
    printf("\n");
}

/* The states of connections at a port, ours before that of the other side. Linux waits a little before it
 * acknowledges an end, so FIN_WAIT1 and FIN_WAIT2 are one here; their timer is left out. */
static void states(const char *what, int port)
{
    for (int side = 0; side < 2; side++) {
        FILE *file = fopen(family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "r");
        char line[400], ends[2][64];
        unsigned state, timer;
        while (fgets(line, sizeof line, file)) {
            if (sscanf(line, " %*d: %63s %63s %x %*x:%*x %x", ends[0], ends[1], &state, &timer) != 4)
                continue;
            int ours = (int)strtoul(strchr(ends[side], ':') + 1, NULL, 16);
            int theirs = (int)strtoul(strchr(ends[!side], ':') + 1, NULL, 16);
            if (ours != port || theirs != client_port)
                continue;
            printf("  %s: %s ", what, side == 0 ? "here" : "there");
            if (state == 4 || state == 5)
                printf("FIN_WAIT\n");
            else
                printf("state %u, timer %u\n", state, timer);
        }
        fclose(file);
    }
}

static void tries(int port)
{
    try("plain", port, 0, 0);
    try("SO_REUSEADDR", port, 1, 0);
    try("SO_REUSEPORT", port, 0, 1);
}

/* A listener, and a connection to it: fd[0] is the client's end, fd[1] the server's. */
static int pair(int fd[2], int reuse_address, int reuse_port)
{
    int listener = bound(0, reuse_address, reuse_port);
    listen(listener, 1);
    socklen_t len;
    struct sockaddr_storage all = at(port_of(listener), &len);
    fd[0] = socket(family, SOCK_STREAM, 0);
    connect(fd[0], (void *)&all, len);
    fd[1] = accept(listener, NULL, NULL);
    int port = port_of(fd[1]);
    client_port = port_of(fd[0]);
    close(listener);
    return port;
}

static void both(int reuse_address, int reuse_port)
{
    int fd[2], port;
    printf("the server ends first, reuse %d %d\n", reuse_address, reuse_port);
    port = pair(fd, reuse_address, reuse_port);
    tries(port);
    close(fd[1]);
    states("half", port);
    tries(port);
    close(fd[0]);
    states("whole", port);
    tries(port);

    printf("the client ends first, reuse %d %d\n", reuse_address, reuse_port);
    port = pair(fd, reuse_address, reuse_port);
    close(fd[0]);
    states("half", port);
    close(fd[1]);
    states("whole", port);
    tries(port);
    try("the client's port", client_port, 1, 1);
}

static void ends(void)
{
    struct sockaddr_storage all;
    socklen_t len;
    int fd[2], port;
    char byte;

    printf("both shut down, the client first\n");
    port = pair(fd, 0, 0);
    shutdown(fd[0], SHUT_WR);
    states("half", port);
    shutdown(fd[1], SHUT_WR);
    states("whole", port);
    len = sizeof all;
    check(getpeername(fd[0], (void *)&all, &len));
    len = sizeof all;
    check(getpeername(fd[1], (void *)&all, &len));
    check(read(fd[0], &byte, 1));
    check(read(fd[1], &byte, 1));
    tries(port);
    close(fd[0]);
    close(fd[1]);
    states("closed", port);

    printf("the server shuts down and closes, then the client\n");
    port = pair(fd, 0, 0);
    shutdown(fd[1], SHUT_WR);
    close(fd[1]);
    check(read(fd[0], &byte, 1));
    close(fd[0]);
    states("whole", port);

    printf("a reset\n");
    port = pair(fd, 0, 0);
    struct linger now = {.l_onoff = 1};
    setsockopt(fd[1], SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd[1]);
    close(fd[0]);
    states("whole", port);
    try("plain", port, 0, 0);

    printf("bytes that nobody reads\n");
    port = pair(fd, 0, 0);
    (void)!write(fd[0], "x", 1);
    close(fd[1]);
    close(fd[0]);
    states("whole", port);
    try("plain", port, 0, 0);

    printf("bytes for one that is gone\n");
    port = pair(fd, 0, 0);
    close(fd[1]);
    states("half", port);
    (void)!write(fd[0], "x", 1);
    states("reset", port);
    try("plain", port, 0, 0);
    close(fd[0]);
}

int main(void)
{
    static const int families[] = {AF_INET, AF_INET6};
    for (int i = 0; i < 2; i++) {
        family = families[i];
        printf("family %d\n", family);
        both(0, 0);
        both(1, 0);
        both(0, 1);
        ends();
    }
    return 0;
}
