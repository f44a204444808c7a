// covers: socket bind sendto recvmsg recvfrom getsockname setsockopt getsockopt
#include "guest.h"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <arpa/inet.h>
#include <sys/socket.h>

/* Requests of rtnetlink(7) about the loopback interface, which every machine has, and requests that are refused. */
static long n;
static unsigned seq;

static struct {
    struct nlmsghdr h;
    union {
        struct ifinfomsg link;
        struct ifaddrmsg addr;
        struct rtgenmsg any;
        struct rtmsg route;
        char room[200];
    };
} q;

static long ask(int type, int flags, size_t body)
{
    q.h = (struct nlmsghdr){(unsigned)(NLMSG_HDRLEN + body), (unsigned short)type, (unsigned short)(NLM_F_REQUEST | flags), ++seq, 0};
    return S(sendto, n, &q, q.h.nlmsg_len, 0, 0, 0);
}
static void attributes(struct rtattr *a, int left, int link)
{
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (link ? a->rta_type == IFLA_IFNAME || a->rta_type == IFLA_MTU || a->rta_type == IFLA_ADDRESS || a->rta_type == IFLA_OPERSTATE : a->rta_type == IFA_ADDRESS || a->rta_type == IFA_LOCAL || a->rta_type == IFA_LABEL) {
            printf("    %d:", a->rta_type);
            if (link ? a->rta_type == IFLA_IFNAME : a->rta_type == IFA_LABEL)
                printf(" %s\n", (char *)RTA_DATA(a));
            else
                for (unsigned i = 0; i <= RTA_PAYLOAD(a); i++)
                    printf(i < RTA_PAYLOAD(a) ? " %02x" : "\n", ((unsigned char *)RTA_DATA(a))[i < RTA_PAYLOAD(a) ? i : 0]);
        }
}
/* The answers that are about the loopback. */
static void answers(const char *what)
{
    static char buf[65536];
    printf("%s:\n", what);
    for (;;) {
        long got = S(recvfrom, n, buf, sizeof buf, MSG_DONTWAIT, 0, 0);
        if (got < 0) {
            show("  end", got);
            return;
        }
        for (struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, got); h = NLMSG_NEXT(h, got)) {
            struct ifinfomsg *i = NLMSG_DATA(h);
            struct ifaddrmsg *a = NLMSG_DATA(h);
            int flags = h->nlmsg_flags & ~NLM_F_DUMP_FILTERED;
            if (h->nlmsg_seq != seq)
                printf("  of another request\n");
            if (h->nlmsg_type == NLMSG_ERROR)
                printf("  error %d for type %d%s\n", ((struct nlmsgerr *)NLMSG_DATA(h))->error, ((struct nlmsgerr *)NLMSG_DATA(h))->msg.nlmsg_type,
                    flags & NLM_F_CAPPED ? " capped" : "");
            else if (h->nlmsg_type == NLMSG_DONE)
                printf("  done %d, flags %#x\n", *(int *)NLMSG_DATA(h), flags);
            else if (h->nlmsg_type == RTM_NEWLINK && i->ifi_index == 1)
                printf("  link flags %#x type %d up %d\n", flags, i->ifi_type, !!(i->ifi_flags & IFF_UP)), attributes(IFLA_RTA(i), (int)IFLA_PAYLOAD(h), 1);
            else if (h->nlmsg_type == RTM_NEWADDR && a->ifa_index == 1)
                printf("  address flags %#x family %d prefix %d scope %d\n", flags, a->ifa_family, a->ifa_prefixlen, a->ifa_scope),
                    attributes(IFA_RTA(a), (int)IFA_PAYLOAD(h), 0);
        }
    }
}

int main(void)
{
    struct sockaddr_nl a = {.nl_family = AF_NETLINK};
    socklen_t len = sizeof a;
    n = S(socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    S(getsockname, n, &a, &len), num(a.nl_pid), memset(&q, 0, sizeof q), q.any.rtgen_family = AF_UNSPEC,
        is(ask(RTM_GETLINK, NLM_F_DUMP, sizeof q.link) > 0), S(getsockname, n, &a, &len), is(a.nl_pid == (unsigned)getpid()), answers("links");
    memset(&q, 0, sizeof q), q.link.ifi_index = 1, ask(RTM_GETLINK, 0, sizeof q.link), answers("link 1"), q.link.ifi_index = 99999,
        ask(RTM_GETLINK, 0, sizeof q.link), answers("link 99999"), q.link.ifi_index = 1, ask(RTM_GETLINK, NLM_F_ACK, sizeof q.link),
        answers("link 1 with an acknowledgement");
    struct rtattr *name = (void *)(q.room + sizeof q.link);
    memset(&q, 0, sizeof q), *name = (struct rtattr){RTA_LENGTH(3), IFLA_IFNAME}, strcpy(RTA_DATA(name), "lo"),
        ask(RTM_GETLINK, 0, sizeof q.link + 8), answers("by name"), strcpy(RTA_DATA(name), "xo"), ask(RTM_GETLINK, 0, sizeof q.link + 8),
        answers("by a wrong one"), memset(&q, 0, sizeof q), ask(RTM_GETLINK, 0, sizeof q.link), answers("of none");
    memset(&q, 0, sizeof q), q.addr.ifa_family = AF_INET, ask(RTM_GETADDR, NLM_F_DUMP, sizeof q.addr), answers("addresses of IPv4");
    /* Requests that are none. */
    memset(&q, 0, sizeof q), ask(RTM_GETLINK, NLM_F_DUMP, 0), answers("too short"), ask(RTM_GETADDR, NLM_F_DUMP, 1), answers("one byte"),
        ask(999, 0, 4), answers("type 999"), ask(NLMSG_NOOP, NLM_F_ACK, 0), answers("nothing, acknowledged"), ask(NLMSG_NOOP, 0, 0),
        answers("nothing"), ask(RTM_GETLINK, 0, 2), answers("half a message");
    q.h.nlmsg_flags = 0, q.h.nlmsg_type = RTM_GETLINK, q.h.nlmsg_len = 32, T(sendto, n, &q, 32, 0, 0, 0), answers("no request"), q.h.nlmsg_len = 10,
        T(sendto, n, &q, 32, 0, 0, 0), answers("length 10"), q.h.nlmsg_len = 500, T(sendto, n, &q, 32, 0, 0, 0), answers("length 500"),
        T(sendto, n, &q, 8, 0, 0, 0), answers("8 bytes"), T(sendto, n, &q, 0, 0, 0, 0), T(sendto, n, BAD, 16, 0, 0, 0), a.nl_pid = 0, a.nl_groups = 0,
        T(sendto, n, &q, 32, 0, &a, 4), a.nl_family = AF_UNIX, T(sendto, n, &q, 32, 0, &a, sizeof a), a.nl_family = AF_NETLINK;
    char buf[8];
    T(listen, n, 1), T(accept4, n, 0, 0, 0), T(recvfrom, n, buf, 8, MSG_OOB, 0, 0), T(sendto, n, &q, 32, MSG_OOB, 0, 0), T(shutdown, n, SHUT_RD);
    int on = 1, groups = RTNLGRP_LINK, value = -1;
    len = 4, T(setsockopt, n, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups, 4), T(setsockopt, n, SOL_NETLINK, NETLINK_DROP_MEMBERSHIP, &groups, 4),
        groups = 0, T(setsockopt, n, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups, 4), T(setsockopt, n, SOL_NETLINK, NETLINK_PKTINFO, &on, 4),
        T(getsockopt, n, SOL_NETLINK, NETLINK_PKTINFO, &value, &len), num(value), T(setsockopt, n, SOL_NETLINK, NETLINK_EXT_ACK, &on, 4),
        T(setsockopt, n, SOL_NETLINK, 99, &on, 4), T(setsockopt, n, SOL_NETLINK, NETLINK_PKTINFO, &on, 2);
    long m = S(socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    a.nl_pid = (unsigned)getpid(), T(bind, m, &a, sizeof a), a.nl_pid = 77777777, T(bind, m, &a, sizeof a), T(bind, m, &a, sizeof a), a.nl_pid = 5,
        T(bind, m, &a, sizeof a), S(getsockname, m, &a, &len);
    return 0;
}
