// covers: sendto recvfrom recvmsg fcntl poll setsockopt
#include "guest.h"
#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/sockios.h>

/* Urgent data with its signal, and packets that come back. */

static volatile sig_atomic_t urgent;

static void on_urgent(int signo, siginfo_t *info, void *context)
{
    (void)context;
    urgent += signo == SIGURG && info->si_code == SI_KERNEL;
}

static void settle(int until)
{
    for (int i = 0; i < 2000 && urgent < until; i++)
        usleep(1000);
    num(urgent);
}

static void ready(long fd)
{
    struct pollfd p = {.fd = (int)fd, .events = POLLIN | POLLPRI};
    poll(&p, 1, 2000);
    printf("events %x\n", p.revents);
}

static void returned(long fd, int level, int name)
{
    char buf[16] = "", control[256];
    struct sockaddr_in6 from = {0};
    struct iovec piece = {buf, sizeof buf};
    struct msghdr m = {&from, sizeof from, &piece, 1, control, sizeof control, 0};
    long n = S(recvmsg, fd, &m, MSG_ERRQUEUE);
    show("recvmsg", n);
    if (n < 0)
        return;
    printf("'%.*s' flags %x port %d\n", (int)n, buf, m.msg_flags, ntohs(from.sin6_port));
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        struct sock_extended_err *e = (void *)CMSG_DATA(c);
        struct sockaddr *offender = (void *)(e + 1);
        printf("%d %d: len %ld errno %u origin %d type %d code %d info %u data %u from %d\n", c->cmsg_level == level,
               c->cmsg_type == name, (long)c->cmsg_len, e->ee_errno, e->ee_origin, e->ee_type, e->ee_code, e->ee_info,
               e->ee_data, offender->sa_family);
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_urgent, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGURG, &action, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    long l = S(socket, AF_INET, SOCK_STREAM, 0);
    bind((int)l, (void *)&a, sizeof a);
    listen((int)l, 1);
    getsockname((int)l, (void *)&a, &len);
    long c = S(socket, AF_INET, SOCK_STREAM, 0);
    connect((int)c, (void *)&a, sizeof a);
    long d = S(accept, l, 0, 0);
    char buf[16];
    int one = 1, mark;

    printf("== without an owner\n");
    T(sendto, c, "a!", 2, MSG_OOB, 0, 0);
    ready(d);
    num(urgent);
    T(recvfrom, d, buf, 16, MSG_OOB, 0, 0);
    T(recvfrom, d, buf, 16, MSG_OOB, 0, 0);
    T(recvfrom, d, buf, 16, 0, 0, 0);

    printf("== with one\n");
    T(fcntl, d, F_SETOWN, getpid());
    T(sendto, c, "bc?", 3, MSG_OOB, 0, 0);
    settle(1);
    T(ioctl, d, SIOCATMARK, &mark);
    num(mark);
    T(recvfrom, d, buf, 16, 0, 0, 0);
    T(ioctl, d, SIOCATMARK, &mark);
    num(mark);
    ready(d);
    T(setsockopt, d, SOL_SOCKET, SO_OOBINLINE, &one, 4);
    T(recvfrom, d, buf, 16, MSG_OOB, 0, 0);
    T(recvfrom, d, buf, 16, 0, 0, 0);
    T(sendto, c, "u", 1, MSG_OOB, 0, 0);
    settle(2);
    T(recvfrom, d, buf, 16, 0, 0, 0);

    printf("== packets that come back\n");
    long s = S(socket, AF_INET, SOCK_DGRAM, 0), gone = S(socket, AF_INET, SOCK_DGRAM, 0);
    a.sin_port = 0;
    bind((int)gone, (void *)&a, sizeof a);
    getsockname((int)gone, (void *)&a, &len);
    printf("no one's port %d\n", ntohs(a.sin_port) != 0);
    close((int)gone);
    a.sin_port = htons(9);
    T(sendto, s, "lost", 4, 0, &a, sizeof a);
    returned(s, IPPROTO_IP, IP_RECVERR);
    T(setsockopt, s, IPPROTO_IP, IP_RECVERR, &one, 4);
    T(sendto, s, "back", 4, 0, &a, sizeof a);
    ready(s);
    T(sendto, s, "more", 4, 0, &a, sizeof a);
    T(sendto, s, "more", 4, 0, &a, sizeof a);
    returned(s, IPPROTO_IP, IP_RECVERR);
    int error;
    len = sizeof error;
    T(getsockopt, s, SOL_SOCKET, SO_ERROR, &error, &len);
    num(error);
    returned(s, IPPROTO_IP, IP_RECVERR);
    returned(s, IPPROTO_IP, IP_RECVERR);
    T(getsockopt, s, SOL_SOCKET, SO_ERROR, &error, &len);
    num(error);
    struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    long v = S(socket, AF_INET6, SOCK_DGRAM, 0);
    T(setsockopt, v, IPPROTO_IPV6, IPV6_RECVERR, &one, 4);
    T(sendto, v, "six", 3, 0, &b, sizeof b);
    ready(v);
    returned(v, IPPROTO_IPV6, IPV6_RECVERR);
    return 0;
}
