// covers: socket bind listen connect read
#include "guest.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Sockets as /proc/net and sock_diag(7) show them. Others of this machine are passed over. */

static struct stat of;

/* The line of a table with the inode of a socket, of which the columns from `first` to `last` are shown. */
static void line(const char *table, int s, int first, int last)
{
    static char text[1 << 20];
    fstat(s, &of);
    char inode[32], path[64];
    snprintf(inode, sizeof inode, " %lu", (unsigned long)of.st_ino);
    snprintf(path, sizeof path, "/proc/self/net/%s", table);
    long fd = open(path, O_RDONLY), len = 0, got;
    while ((got = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += got;
    text[len] = 0;
    close(fd);
    printf("%s:", table);
    char *save, *next = 0;
    for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(0, "\n", &save)) {
        char *at = strstr(l, inode);
        if (!at || (at[strlen(inode)] != ' ' && at[strlen(inode)] != 0))
            continue;
        int column = 0;
        for (char *w = strtok_r(l, " ", &next); w; w = strtok_r(0, " ", &next), column++)
            if (column >= first && column <= last)
                printf(" %s", w);
        break;
    }
    printf("\n");
}

int main(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(47113), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons(47114), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int one = 1;
    long l = S(socket, AF_INET, SOCK_STREAM, 0), l6 = S(socket, AF_INET6, SOCK_STREAM, 0);
    setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(l6, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    line("tcp", l, 1, 3);
    check(bind(l, (void *)&a, sizeof a));
    check(listen(l, 5));
    check(bind(l6, (void *)&b, sizeof b));
    check(listen(l6, 5));
    line("tcp", l, 1, 4);
    line("tcp6", l6, 1, 4);
    long c = S(socket, AF_INET, SOCK_STREAM, 0);
    check(connect(c, (void *)&a, sizeof a));
    line("tcp", l, 1, 4);
    line("tcp", c, 2, 4);
    long d = S(accept, l, 0, 0);
    line("tcp", d, 1, 1);
    line("tcp", d, 3, 3);
    check(send(c, "abc", 3, 0));
    line("tcp", d, 4, 4);
    close(c);
    line("tcp", d, 3, 3);
    close(d);

    long u = S(socket, AF_INET, SOCK_DGRAM, 0);
    line("udp", u, 1, 3);
    check(bind(u, (void *)&a, sizeof a));
    line("udp", u, 1, 3);
    check(connect(u, (void *)&a, sizeof a));
    line("udp", u, 1, 3);
    long u6 = S(socket, AF_INET6, SOCK_DGRAM, 0);
    check(bind(u6, (void *)&b, sizeof b));
    line("udp6", u6, 1, 3);

    struct sockaddr_un n = {.sun_family = AF_UNIX, .sun_path = "\0proc_net.c"};
    long x = S(socket, AF_UNIX, SOCK_STREAM, 0);
    line("unix", x, 1, 5);
    check(bind(x, (void *)&n, sizeof(sa_family_t) + 11));
    check(listen(x, 1));
    fstat(x, &of);
    line("unix", x, 2, 5);
    line("unix", x, 7, 7);
    return 0;
}
