/* Talks to the server of tests/common/network.rs over the host's network, and says what came of it: the same on
 * Linux and in the emulated machine.
 *
 * Arguments: address, ports of TCP and UDP, a port that nobody has, what to do. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *address;
static int tcp_port, udp_port, no_port;

static const char *error(void)
{
    return strerrorname_np(errno);
}

/* A result, and why if it is an error. */
static void tell(const char *what, long result)
{
    printf("%s: %ld %s\n", what, result, result < 0 ? error() : "");
}

static int reach(int kind, int port, int flags)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    int is_six = inet_pton(AF_INET, address, &four.sin_addr) != 1;
    if (is_six)
        inet_pton(AF_INET6, address, &six.sin6_addr);
    int fd = socket(is_six ? AF_INET6 : AF_INET, kind | flags, 0);
    int result = is_six ? connect(fd, (void *)&six, sizeof six) : connect(fd, (void *)&four, sizeof four);
    if (result < 0 && !(errno == EINPROGRESS && flags & SOCK_NONBLOCK)) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

/* A connection on which the server does what the line says. */
static int ask(const char *line)
{
    int fd = reach(SOCK_STREAM, tcp_port, 0);
    if (fd >= 0)
        (void)!write(fd, line, strlen(line));
    return fd;
}

/* All that comes until there are so many bytes or the end. */
static size_t take(int fd, char *buf, size_t most)
{
    size_t got = 0;
    ssize_t count = 0;
    while (got < most && (count = read(fd, buf + got, most - got)) > 0)
        got += count;
    if (count < 0)
        printf("read: %s\n", error());
    buf[got] = 0;
    return got;
}

static void *answer(void *fd)
{
    static char byte[2];
    printf("the thread has %zd\n", read(*(int *)fd, byte, 1));
    return NULL;
}

static volatile int seen;
static void *watcher(void *fd)
{
    char byte;
    seen = read(*(int *)fd, &byte, 1) == 1;
    return NULL;
}

static void talk(void)
{
    static char buf[1 << 20];
    struct sockaddr_storage name;
    socklen_t len = sizeof name;

    int fd = ask("echo\n");
    getpeername(fd, (void *)&name, &len);
    printf("peer %d %d\n", name.ss_family, ntohs(((struct sockaddr_in *)&name)->sin_port) == tcp_port);
    printf("sent %zd\n", send(fd, "hello", 5, 0));
    printf("looked at %zd\n", recv(fd, buf, 5, MSG_PEEK | MSG_WAITALL));
    int there = 0;
    ioctl(fd, FIONREAD, &there);
    size_t got = take(fd, buf, 5);
    printf("there %d, got %zu %.5s\n", there, got, buf);
    /* More than buffers hold, to one that reads it all. */
    memset(buf, 'x', sizeof buf);
    size_t done = 0;
    while (done < sizeof buf) {
        ssize_t count = write(fd, buf + done, sizeof buf - done);
        if (count <= 0)
            break;
        done += count;
    }
    shutdown(fd, SHUT_WR);
    printf("wrote %zu\n", done);
    tell("write after the end", send(fd, "x", 1, MSG_NOSIGNAL));
    take(fd, buf, 100);
    printf("%s", buf);
    printf("at the end %zd\n", read(fd, buf, 1));
    close(fd);

    fd = ask("much\n");
    size_t all = 0;
    ssize_t count;
    int same = 1;
    while ((count = read(fd, buf, 10000)) > 0)
        for (all += count; count > 0; count--)
            same &= buf[count - 1] == 'm';
    printf("%zu bytes %d\n", all, same);
    close(fd);

    fd = ask("silent\n");
    struct pollfd wanted = {.fd = fd, .events = POLLIN | POLLOUT};
    int ready = poll(&wanted, 1, 50);
    printf("poll %d %#x\n", ready, wanted.revents);
    wanted.events = POLLIN;
    printf("poll %d\n", poll(&wanted, 1, 50));
    tell("recv", recv(fd, buf, 1, MSG_DONTWAIT));
    struct timeval time = {.tv_usec = 50000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    tell("read", read(fd, buf, 1));
    close(fd);

    fd = ask("reset\n");
    (void)!write(fd, "unread", 6);
    tell("reset", read(fd, buf, 1));
    tell("after it", send(fd, buf, 1, MSG_NOSIGNAL));
    close(fd);

    tell("nobody", reach(SOCK_STREAM, no_port, 0));
    fd = reach(SOCK_STREAM, no_port, SOCK_NONBLOCK);
    wanted.fd = fd, wanted.events = POLLOUT;
    ready = poll(&wanted, 1, -1);
    int why = 0;
    len = sizeof why;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len);
    printf("nobody: poll %d %#x %s\n", ready, wanted.revents, strerrorname_np(why));
    close(fd);

    fd = reach(SOCK_STREAM, tcp_port, SOCK_NONBLOCK);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    /* Loopback may connect before it is asked. */
    do
        ready = epoll_wait(epoll, &event, 1, -1);
    while (!(event.events & EPOLLOUT));
    printf("epoll %d %#x\n", ready, event.events);
    (void)!write(fd, "echo\nx", 6);
    do
        ready = epoll_wait(epoll, &event, 1, -1);
    while (!(event.events & EPOLLIN));
    count = read(fd, buf, 9);
    printf("epoll %d, read %zd\n", ready, count);
    close(fd), close(epoll);

    /* One that waits beside one that answers, and one that only looks. */
    int inside[2];
    pthread_t thread;
    (void)!pipe(inside);
    fd = ask("silent\n");
    pthread_create(&thread, NULL, answer, &inside[0]);
    wanted.fd = fd, wanted.events = POLLIN;
    poll(&wanted, 1, 20);
    (void)!write(inside[1], "x", 1);
    pthread_join(thread, NULL);
    close(fd);
    fd = ask("echo\nx");
    pthread_create(&thread, NULL, watcher, &fd);
    while (!seen)
        ;
    pthread_join(thread, NULL);
    puts("it was seen");
    close(fd);

    /* A child has the connection, and ends without a word. */
    fd = ask("echo\n");
    fflush(stdout);
    if (fork() == 0) {
        (void)!write(fd, "child", 5);
        _exit(0);
    }
    wait(NULL);
    got = take(fd, buf, 5);
    printf("%zu %.5s\n", got, buf);
    shutdown(fd, SHUT_WR);
    take(fd, buf, 100);
    printf("%s", buf);
    close(fd);

    fd = reach(SOCK_DGRAM, udp_port, 0);
    printf("udp: sent %zd", send(fd, "one", 3, 0));
    count = recv(fd, buf, sizeof buf, 0);
    printf(", got %zd %.*s\n", count, (int)count, buf);
    printf("udp: sent %zd", send(fd, "", 0, 0));
    count = recv(fd, buf, sizeof buf, 0);
    printf(", got %zd %.*s\n", count, (int)count, buf);
    tell("udp", recv(fd, buf, sizeof buf, MSG_DONTWAIT));
    close(fd);
    fd = reach(SOCK_DGRAM, no_port, 0);
    (void)!send(fd, "one", 3, 0);
    tell("udp, nobody", recv(fd, buf, sizeof buf, 0));
    close(fd);

    /* What is not read yet when the program ends still goes there. */
    fd = ask("keep\n");
    memset(buf, 'y', sizeof buf);
    for (int i = 0; i < 3; i++)
        (void)!write(fd, buf, sizeof buf);
}

/* Where a debugger stops. */
__attribute__((noinline)) void number(char *buf, long count)
{
    buf[count] = 0;
    printf("got %s\n", buf);
    fflush(stdout);
}

/* Numbers that the server never gives twice. */
static void numbers(void)
{
    char buf[100];
    int fd = ask("numbers\n");
    for (int i = 0; i < 4; i++) {
        (void)!write(fd, "?", 1);
        number(buf, read(fd, buf, sizeof buf - 1));
    }
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    address = argv[1], tcp_port = atoi(argv[2]), udp_port = atoi(argv[3]), no_port = atoi(argv[4]);
    if (strcmp(argv[5], "talk") == 0)
        talk();
    else if (strcmp(argv[5], "numbers") == 0)
        numbers();
    else if (strcmp(argv[5], "wait") == 0) {
        char byte;
        int fd = ask("silent\n");
        puts("waiting");
        return read(fd, &byte, 1) != 0;
    } else if (strcmp(argv[5], "reach") == 0)
        printf("tcp %s, udp %s\n", reach(SOCK_STREAM, tcp_port, 0) < 0 ? error() : "ok",
               reach(SOCK_DGRAM, udp_port, 0) < 0 ? error() : "ok");
    return 0;
}
