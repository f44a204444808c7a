// covers: getsockopt setsockopt recvmsg
#include "guest.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* Every option of a level for every kind of socket: what it is at first for several lengths, what it takes and is then.
   Left out are those that are the machine's (buffers, sysctl, netfilter) or that kernels have since recently. */
enum { UNIX_STREAM, UNIX_DATAGRAM, TCP, UDP, TCP6, UDP6, NETLINK, LISTENS, CONNECTED, KINDS };
static const char *const kinds[] = { "unix stream", "unix datagram", "tcp", "udp", "tcp6", "udp6", "netlink", "listens", "connected" };
static long helper = -1; /* the other socket of CONNECTED */

static long make(int kind)
{
    static const short families[] = { AF_UNIX, AF_UNIX, AF_INET, AF_INET, AF_INET6, AF_INET6, AF_NETLINK, AF_INET, AF_INET };
    static const short types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_STREAM, SOCK_DGRAM, SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_STREAM,
        SOCK_STREAM };
    long fd = S(socket, families[kind], types[kind], 0);
    if (kind == LISTENS)
        S(listen, fd, 5);
    if (kind == CONNECTED) {
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof at;
        helper = S(socket, AF_INET, SOCK_STREAM, 0);
        S(bind, helper, &at, len);
        S(listen, helper, 5);
        S(getsockname, helper, &at, &len);
        S(connect, fd, &at, len);
    }
    return fd;
}

static void drop(long fd)
{
    S(close, fd);
    if (helper >= 0)
        S(close, helper);
    helper = -1;
}

static const char *word(long result)
{
    return result < 0 ? strerrorname_np((int)-result) : "ok";
}

static void get(long fd, int level, int option, socklen_t len)
{
    unsigned char bytes[64];
    memset(bytes, 0xee, sizeof bytes);
    long result = S(getsockopt, fd, level, option, bytes, &len);
    printf(" %s", word(result));
    if (result >= 0) {
        printf(" %d:", (int)len);
        for (socklen_t i = 0; i < len; i++)
            printf("%02x", bytes[i]);
    }
    putchar(',');
}

static int left_out(int kind, int level, int option)
{
    static const short out[][2] = { { SOL_SOCKET, 7 }, { SOL_SOCKET, 8 }, { SOL_SOCKET, 16 }, { SOL_SOCKET, 17 }, { SOL_SOCKET, 18 },
        { SOL_SOCKET, 26 }, { SOL_SOCKET, 34 }, { SOL_SOCKET, 36 }, { SOL_SOCKET, 37 }, { SOL_SOCKET, 42 }, { SOL_SOCKET, 46 },
        { SOL_SOCKET, 51 }, { SOL_SOCKET, 55 }, { SOL_SOCKET, 57 }, { SOL_SOCKET, 65 }, { IPPROTO_IPV6, 17 }, { IPPROTO_IPV6, 70 }, { IPPROTO_TCP, 10 },
        { IPPROTO_TCP, 11 }, { IPPROTO_TCP, 13 }, { IPPROTO_TCP, 14 }, { IPPROTO_TCP, 24 }, { IPPROTO_TCP, 26 }, { IPPROTO_TCP, 32 },
        { IPPROTO_TCP, 35 }, { IPPROTO_UDP, 100 } };
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        if (out[i][0] == level && out[i][1] == option)
            return 1;
    /* The port, the CPU and the segments of a connection. */
    return kind == CONNECTED && (level == SOL_SOCKET ? option == SO_PEERNAME || option == SO_INCOMING_CPU : level == IPPROTO_TCP && option == 2);
}

static void sweep(int kind, int level, int from, int to)
{
    static const int values[] = { -1, 0, 1, 2, 255, 256, 40000 };
    static const unsigned char lengths[] = { 0, 1, 3, 8, 16 };
    static unsigned char one[16] = { 1 };
    for (int option = from; option <= to; option++) {
        if (left_out(kind, level, option))
            continue;
        printf("%s %d %d:", kinds[kind], level, option);
        long fd = make(kind);
        for (int len = 0; len <= 64; len = len == 0 ? 1 : len == 1 ? 4 : len * 4)
            get(fd, level, option, (socklen_t)len);
        drop(fd);
        for (size_t i = 0; i < sizeof values / sizeof *values + sizeof lengths; i++) {
            size_t at = i - sizeof values / sizeof *values;
            int number = i < sizeof values / sizeof *values;
            fd = make(kind);
            long set = number ? S(setsockopt, fd, level, option, &values[i], 4) : S(setsockopt, fd, level, option, one, lengths[at]);
            printf(" %s%d %s", number ? "" : "#", number ? values[i] : lengths[at], word(set));
            if (set >= 0)
                get(fd, level, option, 64);
            drop(fd);
        }
        putchar('\n');
    }
}

/* What comes beside a message. */
static void beside(const char *what, long fd)
{
    char byte[2], room[512];
    struct iovec part = { byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
    printf("%s: %s", what, word(S(recvmsg, fd, &message, 0)));
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        printf("; %d %d %d", c->cmsg_level, c->cmsg_type, (int)c->cmsg_len);
        if (c->cmsg_len <= CMSG_LEN(4))
            printf(" %d", *(int *)CMSG_DATA(c));
    }
    putchar('\n');
}

static long on(long fd, int level, int option)
{
    return S(setsockopt, fd, level, option, &(int){ 1 }, 4);
}

static void udp(int family)
{
    struct sockaddr_in6 at6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in at4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    void *at = family == AF_INET ? (void *)&at4 : &at6;
    socklen_t len = family == AF_INET ? sizeof at4 : sizeof at6;
    long a = S(socket, family, SOCK_DGRAM, 0), b = S(socket, family, SOCK_DGRAM, 0);
    S(bind, a, at, len);
    S(getsockname, a, at, &len);
    S(connect, b, at, len);
    int six = family == AF_INET6;
    on(a, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? 74 : 20); /* IPV6_RECVORIGDSTADDR, IP_RECVORIGDSTADDR */
    if (six) {
        on(a, IPPROTO_IPV6, IPV6_2292PKTINFO);
        on(a, IPPROTO_IPV6, IPV6_2292HOPLIMIT);
        on(a, IPPROTO_IPV6, 11); /* IPV6_FLOWINFO */
        S(setsockopt, b, IPPROTO_IPV6, IPV6_TCLASS, &(int){ 32 }, 4);
        S(setsockopt, b, IPPROTO_IPV6, 70, &(int){ 0 }, 4); /* IPV6_AUTOFLOWLABEL, which is random */
    }
    S(write, b, "x", 1);
    beside("udp", a);
    T(setsockopt, b, SOL_SOCKET, SO_BINDTOIFINDEX, &(int){ 1 }, 4);
    char name[IFNAMSIZ] = "";
    len = sizeof name;
    T(getsockopt, b, SOL_SOCKET, SO_BINDTODEVICE, name, &len);
    printf("%s %d\n", name, (int)len);
    struct group_req group = { .gr_interface = 1 };
    ((struct sockaddr *)&group.gr_group)->sa_family = (sa_family_t)family;
    if (six)
        inet_pton(AF_INET6, "ff02::123", &((struct sockaddr_in6 *)&group.gr_group)->sin6_addr);
    else
        inet_pton(AF_INET, "239.1.2.3", &((struct sockaddr_in *)&group.gr_group)->sin_addr);
    int level = six ? IPPROTO_IPV6 : IPPROTO_IP;
    T(setsockopt, a, level, MCAST_JOIN_GROUP, &group, sizeof group - 1);
    T(setsockopt, a, level, MCAST_JOIN_GROUP, &group, sizeof group);
    T(setsockopt, a, level, MCAST_JOIN_GROUP, &group, sizeof group);
    T(setsockopt, a, level, MCAST_LEAVE_GROUP, &group, sizeof group);
    T(setsockopt, a, level, MCAST_LEAVE_GROUP, &group, sizeof group);
    S(close, a);
    S(close, b);
}

static void tcp(void)
{
    long a = make(CONNECTED), b = S(accept, helper, 0, 0);
    on(a, IPPROTO_TCP, TCP_INQ);
    S(write, b, "abcd", 4);
    beside("tcp, three left", a);
    beside("two left", a);
    int v;
    socklen_t len = sizeof v;
    S(getsockopt, a, IPPROTO_IP, IP_MTU, &v, &len);
    printf("mtu %d\n", v);
    len = sizeof v;
    S(setsockopt, a, IPPROTO_IP, IP_TOS, &(int){ 0x10 }, 4);
    S(getsockopt, a, SOL_SOCKET, SO_PRIORITY, &v, &len);
    printf("priority %d\n", v);
    S(close, b);
    drop(a);
}

static void netlink(void)
{
    long fd = make(NETLINK);
    unsigned groups[4] = { 9, 9, 9, 9 };
    socklen_t len = sizeof groups;
    T(getsockopt, fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, groups, &len);
    printf("%d\n", (int)len);
    T(setsockopt, fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &(int){ RTNLGRP_IPV4_IFADDR }, 4);
    T(setsockopt, fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &(int){ RTNLGRP_LINK }, 4);
    T(setsockopt, fd, SOL_NETLINK, NETLINK_DROP_MEMBERSHIP, &(int){ RTNLGRP_IPV4_IFADDR }, 4);
    len = sizeof groups;
    T(getsockopt, fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, groups, &len);
    printf("%u\n", groups[0]);
    /* An error brings the request back, or its header alone. */
    struct {
        struct nlmsghdr header;
        struct ifinfomsg link;
    } request = { { sizeof request, RTM_GETLINK, NLM_F_REQUEST, 7, 0 }, { .ifi_index = 12345 } };
    for (int capped = 0; capped < 2; capped++) {
        char answer[256];
        S(setsockopt, fd, SOL_NETLINK, NETLINK_CAP_ACK, &capped, 4);
        S(write, fd, &request, sizeof request);
        T(read, fd, answer, sizeof answer);
        printf("%d %x %d\n", ((struct nlmsghdr *)answer)->nlmsg_type, ((struct nlmsghdr *)answer)->nlmsg_flags,
            *(int *)(answer + sizeof(struct nlmsghdr)));
    }
    S(close, fd);
}

int main(void)
{
    S(setgroups, 0, 0);
    S(setresgid, 1000, 1000, 1000);
    S(setresuid, 1000, 1000, 1000);
    for (int kind = 0; kind < KINDS; kind++) {
        sweep(kind, SOL_SOCKET, 0, 58);
        sweep(kind, SOL_SOCKET, 60, 64);
        if (kind == UNIX_STREAM || kind == UNIX_DATAGRAM) {
            sweep(kind, IPPROTO_IP, 1, 2);
            continue;
        }
        sweep(kind, IPPROTO_IP, 0, 40);
        sweep(kind, IPPROTO_IP, 42, 47);
        sweep(kind, IPPROTO_IP, 49, 50);
        sweep(kind, IPPROTO_IPV6, 0, 62);
        sweep(kind, IPPROTO_IPV6, 66, 67);
        sweep(kind, IPPROTO_IPV6, 72, 78);
        sweep(kind, IPPROTO_TCP, 0, 37);
        sweep(kind, IPPROTO_UDP, 0, 12);
        sweep(kind, IPPROTO_UDP, 101, 104);
        sweep(kind, SOL_NETLINK, 0, 13);
        sweep(kind, 777, 0, 1);
    }
    udp(AF_INET);
    udp(AF_INET6);
    tcp();
    netlink();
    return 0;
}
