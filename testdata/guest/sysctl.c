// covers: getsockopt setsockopt fcntl
#include "guest.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* What /proc/sys says, beside what the calls do that it is about. */

static char text[4096];

static long number(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/sys/%s", name);
    long fd = open(path, O_RDONLY), got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0 ? atol(text) : -1;
}

static long option(int s, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;
    getsockopt(s, level, name, &value, &len);
    return value;
}

static void same(const char *name, long value) { printf("%s: %s\n", name, number(name) == value ? "as it is" : "NO"); }

/* Linux before 6.8 hides these in all network namespaces but the first. */
static void same_or_hidden(const char *name, long value)
{
    long read = number(name);
    printf("%s: %s\n", name, read == value || read == -1 ? "as it is" : "NO");
}

int main(void)
{
    int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0), six = socket(AF_INET6, SOCK_DGRAM, 0);
    same("net/ipv4/ip_default_ttl", option(udp, IPPROTO_IP, IP_TTL));
    same("net/ipv4/tcp_keepalive_time", option(tcp, IPPROTO_TCP, TCP_KEEPIDLE));
    same("net/ipv4/tcp_keepalive_intvl", option(tcp, IPPROTO_TCP, TCP_KEEPINTVL));
    same("net/ipv4/tcp_keepalive_probes", option(tcp, IPPROTO_TCP, TCP_KEEPCNT));
    same("net/ipv4/tcp_syn_retries", option(tcp, IPPROTO_TCP, TCP_SYNCNT));
    same("net/ipv4/tcp_fin_timeout", option(tcp, IPPROTO_TCP, TCP_LINGER2));
    if (six >= 0)
        same("net/ipv6/bindv6only", option(six, IPPROTO_IPV6, IPV6_V6ONLY));
    same_or_hidden("net/core/rmem_default", option(udp, SOL_SOCKET, SO_RCVBUF));
    same_or_hidden("net/core/wmem_default", option(udp, SOL_SOCKET, SO_SNDBUF));
    int most = 1 << 30;
    setsockopt(udp, SOL_SOCKET, SO_RCVBUF, &most, sizeof most), setsockopt(udp, SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
    same_or_hidden("net/core/rmem_max", option(udp, SOL_SOCKET, SO_RCVBUF) / 2);
    same_or_hidden("net/core/wmem_max", option(udp, SOL_SOCKET, SO_SNDBUF) / 2);

    char name[16] = "";
    socklen_t len = sizeof name;
    getsockopt(tcp, IPPROTO_TCP, TCP_CONGESTION, name, &len);
    number("net/ipv4/tcp_congestion_control");
    printf("tcp_congestion_control: %s\n", strncmp(text, name, strlen(name)) == 0 ? "as it is" : text);
    number("net/ipv4/tcp_available_congestion_control");
    printf("available: %s\n", strstr(text, name) ? "yes" : "NO");

    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    len = sizeof at;
    bind(udp, (void *)&at, sizeof at), getsockname(udp, (void *)&at, &len);
    long first = number("net/ipv4/ip_local_port_range"), last = atol(text + strcspn(text, "\t"));
    printf("a port of ip_local_port_range: %d\n", first > 0 && first <= ntohs(at.sin_port) && ntohs(at.sin_port) <= last);

    mkdir("d", 0755);
    printf("dir-notify-enable: %d\n", number("fs/dir-notify-enable") == (fcntl(open("d", O_RDONLY), F_NOTIFY, 0) == 0));
    close(open("leased", O_RDWR | O_CREAT, 0644));
    printf("leases-enable: %d\n", number("fs/leases-enable") == (fcntl(open("leased", O_RDONLY), F_SETLEASE, F_RDLCK) == 0));
    is(number("fs/lease-break-time") > 0), is(number("fs/mount-max") > 0);
    is(number("fs/overflowuid") == number("kernel/overflowuid")), is(number("fs/overflowgid") == number("kernel/overflowgid"));
    is(number("vm/overcommit_kbytes") >= 0), is(number("vm/page-cluster") >= 0);
    return 0;
}
