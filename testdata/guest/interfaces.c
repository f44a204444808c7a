// covers: socket sendto recvmsg
#include "guest.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* The loopback, which every machine has, by ioctl(2) and by netlink. */
int main(void)
{
    T(socket, AF_NETLINK, SOCK_STREAM, 0);
    T(socket, AF_NETLINK, SOCK_RAW, 99);
    check(if_nametoindex("lo"));
    check(if_nametoindex("none0"));
    char name[IF_NAMESIZE];
    is(if_indextoname(1, name) && strcmp(name, "lo") == 0);
    long s = S(socket, AF_INET, SOCK_DGRAM, 0), u = S(socket, AF_UNIX, SOCK_STREAM, 0);
    struct ifreq r = {.ifr_name = "lo"}, none = {.ifr_name = "none0"};
    T(ioctl, s, SIOCGIFADDR, &none);
    T(ioctl, s, SIOCGIFADDR, BAD);
    T(ioctl, u, SIOCGIFINDEX, &r);
    num(r.ifr_ifindex);
    T(ioctl, u, SIOCGIFADDR, &r);
    T(ioctl, s, SIOCGIFADDR, &r);
    printf("%s\n", inet_ntoa(((struct sockaddr_in *)&r.ifr_addr)->sin_addr));
    T(ioctl, s, SIOCGIFNETMASK, &r);
    printf("%s\n", inet_ntoa(((struct sockaddr_in *)&r.ifr_addr)->sin_addr));
    T(ioctl, s, SIOCGIFFLAGS, &r);
    is((r.ifr_flags & (IFF_UP | IFF_LOOPBACK | IFF_RUNNING)) == (IFF_UP | IFF_LOOPBACK | IFF_RUNNING));
    T(ioctl, s, SIOCGIFHWADDR, &r);
    num(r.ifr_hwaddr.sa_family);
    T(ioctl, 1, SIOCGIFADDR, &r);
    struct ifaddrs *all, *at;
    check(getifaddrs(&all));
    for (at = all; at; at = at->ifa_next)
        if (strcmp(at->ifa_name, "lo") == 0 && at->ifa_addr && at->ifa_addr->sa_family == AF_INET)
            printf("%s %s\n", at->ifa_name, inet_ntoa(((struct sockaddr_in *)at->ifa_addr)->sin_addr));

    /* A question that is none, and one that nobody answers. */
    long n = S(socket, AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, 0);
    struct sockaddr_nl a = {.nl_family = AF_NETLINK};
    T(bind, n, &a, 4);
    T(bind, n, &a, sizeof a);
    socklen_t len = sizeof a;
    T(getsockname, n, &a, &len);
    is(len == sizeof a && a.nl_pid != 0);
    char buf[8192];
    T(recvfrom, n, buf, sizeof buf, 0, 0, 0);
    struct {
        struct nlmsghdr h;
        char body[16];
    } q = {.h = {sizeof q, 18, NLM_F_REQUEST | NLM_F_DUMP, 7, 0}};
    T(sendto, n, &q, sizeof q, 0, 0, 0);
    struct sockaddr_nl from;
    len = sizeof from;
    long got = S(recvfrom, n, buf, sizeof buf, 0, &from, &len);
    struct nlmsghdr *h = (struct nlmsghdr *)buf;
    is(got > 16 && h->nlmsg_type == 16 && h->nlmsg_seq == 7 && h->nlmsg_pid == a.nl_pid && from.nl_pid == 0);

    /* Names: those of the machine itself. */
    struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    num(getaddrinfo("localhost", "80", &want, &found));
    printf("%s\n", inet_ntoa(((struct sockaddr_in *)found->ai_addr)->sin_addr));
    return 0;
}
