/* Sockets of all kinds with something on its way between them. Each step takes a piece of it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int steps;

__attribute__((noinline)) void step(const char *what, long result)
{
    printf("step %d: %s %ld\n", ++steps, what, result);
    fflush(stdout);
}

int main(void)
{
    char buf[4000];
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), more;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    bind(listener, (void *)&at, len);
    listen(listener, 5);
    getsockname(listener, (void *)&at, &len);
    connect(client, (void *)&at, len);
    /* One that nobody has accepted yet, with bytes. */
    more = socket(AF_INET, SOCK_STREAM, 0);
    connect(more, (void *)&at, len);
    (void)!write(more, "early", 5);
    int server = accept(listener, NULL, NULL);
    memset(buf, 'x', sizeof buf);
    (void)!write(client, buf, 3000);
    (void)!write(client, buf, 1000);
    send(client, "!", 1, MSG_OOB);

    int one[2], udp[2];
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, one);
    for (int i = 0; i < 2; i++) {
        udp[i] = socket(AF_INET, SOCK_DGRAM, 0);
        struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        bind(udp[i], (void *)&any, sizeof any);
    }
    getsockname(udp[1], (void *)&at, &len);
    connect(udp[0], (void *)&at, len);
    send(udp[0], "first", 5, 0);
    send(udp[0], "second", 6, 0);

    /* A descriptor on its way, of a pipe that has bytes and no other writer. */
    int pipes[2];
    (void)!pipe(pipes);
    (void)!write(pipes[1], "through the pipe", 16);
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } room = {0};
    struct iovec word = {"fd", 2};
    struct msghdr message = {.msg_iov = &word, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &pipes[0], sizeof(int));
    sendmsg(one[0], &message, 0);
    close(pipes[0]);
    close(pipes[1]);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = server};
    epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event);

    step("all is on its way", 0);
    step("epoll", epoll_wait(epoll, &event, 1, 0));
    step("epoll again", epoll_wait(epoll, &event, 1, 0));
    step("stream", recv(server, buf, 100, MSG_WAITALL));
    step("rest", recv(server, buf, sizeof buf, 0));
    step("urgent", recv(server, buf, 1, MSG_OOB));
    char byte[2];
    struct iovec taken = {byte, 2};
    struct msghdr got = {.msg_iov = &taken, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    step("message", recvmsg(one[1], &got, 0));
    int through = -1;
    memcpy(&through, CMSG_DATA(CMSG_FIRSTHDR(&got)), sizeof through);
    step("pipe", read(through, buf, sizeof buf));
    step("packet", recv(udp[1], buf, sizeof buf, 0));
    int early = accept(listener, NULL, NULL);
    step("early", read(early, buf, sizeof buf));
    /* Another process sleeps for what comes. */
    pid_t child = fork();
    if (child == 0)
        _exit(read(early, buf, 1) == 1 ? 7 : 1);
    step("child", child > 0);
    (void)!write(more, "x", 1);
    int status;
    waitpid(child, &status, 0);
    step("status", WEXITSTATUS(status));
    return 0;
}
