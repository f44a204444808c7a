// covers: open read socket connect close
#include "guest.h"
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <arpa/inet.h>
#include <sys/socket.h>

/* Users, groups, hosts, services and protocols by the databases that every machine has the same entries in. */
static void host(const char *name, const char *service, int flags, int family, int type)
{
    struct addrinfo want = {.ai_flags = flags, .ai_family = family, .ai_socktype = type}, *all = 0;
    int r = getaddrinfo(name, service, &want, &all);
    printf("%s %s %#x %d %d:", name ? name : "-", service ? service : "-", flags, family, type);
    if (r)
        printf(" %s\n",
            r == EAI_NONAME ? "EAI_NONAME" : r == EAI_FAMILY ? "EAI_FAMILY" : r == EAI_SERVICE ? "EAI_SERVICE" : r == EAI_SOCKTYPE ? "EAI_SOCKTYPE" : r == EAI_BADFLAGS ? "EAI_BADFLAGS" : r == EAI_ADDRFAMILY ? "EAI_ADDRFAMILY" : "another error");
    else {
        for (struct addrinfo *a = all; a; a = a->ai_next) {
            char text[64], port[16];
            int e = getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
            printf(" %s port %s type %d protocol %d;", e ? "?" : text, port, a->ai_socktype, a->ai_protocol);
        }
        printf("\n"), freeaddrinfo(all);
    }
}

int main(void)
{
    struct passwd *p = getpwuid(0), own, *r;
    char buf[1024], small[4];
    printf("%s %d %d %s\n", p->pw_name, p->pw_uid, p->pw_gid, p->pw_dir), p = getpwnam("root"), is(p && p->pw_uid == 0), errno = 0,
        is(getpwnam("no such user") == NULL), num(errno), is(getpwuid(0x7ffffff0) == NULL), num(getpwnam_r("root", &own, buf, sizeof buf, &r)),
        is(r == &own && strcmp(own.pw_dir, "/root") == 0), show("too little room", -getpwnam_r("root", &own, small, sizeof small, &r)),
        num(getpwnam_r("no such user", &own, buf, sizeof buf, &r)), is(r == NULL);
    struct group *g = getgrgid(0);
    printf("%s %d\n", g->gr_name, g->gr_gid), is(getgrnam("root") != NULL), is(getgrnam("no such group") == NULL), g = getgrnam("tty"), is(g && g->gr_gid == 5);
    int count = 0, n = 1;
    setpwent();
    while ((p = getpwent()))
        count += strcmp(p->pw_name, "root") == 0;
    endpwent(), num(count);
    gid_t groups[1];
    num(getgrouplist("root", 0, groups, &n) >= -1), is(groups[0] == 0);

    host("127.0.0.1", "80", 0, AF_UNSPEC, SOCK_STREAM), host("::1", "65535", 0, AF_UNSPEC, SOCK_DGRAM), host("127.1", 0, 0, AF_INET, SOCK_STREAM),
        host("0x7f000001", 0, 0, AF_INET, SOCK_STREAM), host("localhost", 0, 0, AF_INET, SOCK_STREAM), host("127.0.0.1", "http", 0, AF_INET, 0),
        host("127.0.0.1", "domain", 0, AF_INET, SOCK_DGRAM), host(0, "1", 0, AF_INET, SOCK_STREAM), host(0, "1", AI_PASSIVE, AF_INET, SOCK_STREAM),
        host(0, "1", 0, AF_INET6, SOCK_STREAM), host(0, "1", AI_PASSIVE, AF_INET6, SOCK_STREAM), host(0, 0, 0, AF_INET, 0),
        host("127.0.0.1", "none-such", 0, AF_INET, SOCK_STREAM), host("127.0.0.1", "65536", 0, AF_INET, SOCK_STREAM),
        host("name", 0, AI_NUMERICHOST, AF_INET, 0), host("::1", 0, 0, AF_INET, 0), host("127.0.0.1", 0, 0, AF_INET6, SOCK_STREAM),
        host("127.0.0.1", 0, AI_V4MAPPED, AF_INET6, SOCK_STREAM), host("127.0.0.1", "http", AI_NUMERICSERV, AF_INET, SOCK_STREAM),
        host("127.0.0.1", 0, 0, 77, 0), host("127.0.0.1", 0, 0x10000, AF_INET, 0), host("127.0.0.1", "1", 0, AF_INET, 77),
        host("127.0.0.1", 0, AI_CANONNAME, AF_INET, SOCK_RAW), host("256.0.0.1", 0, AI_NUMERICHOST, AF_INET, 0),
        host("fe80::1%lo", "1", AI_NUMERICHOST, AF_INET6, SOCK_STREAM);
    struct servent *s = getservbyname("ssh", "tcp");
    is(s && ntohs(s->s_port) == 22), s = getservbyport(htons(53), "udp"), printf("%s\n", s ? s->s_name : "none"), is(getservbyname("ssh", "none") == NULL);
    struct protoent *o = getprotobyname("tcp");
    is(o && o->p_proto == 6), o = getprotobynumber(17), printf("%s\n", o ? o->p_name : "none");
    struct in_addr a;
    const char *texts[] = {"1.2.3.4", "1.2.3", "1.2", "1", "0x10", "010", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "", " 1.2.3.4", "1.2.3.4 x", "a"};
    for (int i = 0; i < 13; i++) {
        int ok = inet_aton(texts[i], &a);
        printf("'%s': %d %08x, pton %d\n", texts[i], ok, ok ? ntohl(a.s_addr) : 0, inet_pton(AF_INET, texts[i], &a));
    }
    return 0;
}
