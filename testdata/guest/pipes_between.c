// covers: pipe pipe2 read write poll select epoll_wait open flock fcntl splice sendfile eventfd2 fork
// Processes that wait for each other at pipes, named pipes, terminals, locks and event counters.
#include "guest.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

static void reap(const char *what, pid_t child)
{
    int status = -1;
    pid_t got = waitpid(child, &status, 0);
    printf("%s: %s, status %#x\n", what, got == child ? "ended" : "lost", status);
}

#define CHILD(name, ...)              \
    fflush(stdout);                   \
    pid_t name = fork();              \
    if (name == 0) {                  \
        __VA_ARGS__;                  \
        _exit(0);                     \
    }

/* More than a pipe holds goes through it whole and in order. */
static void much(void)
{
    enum { BYTES = 300000 };
    int ends[2];
    if (pipe(ends))
        return;
    CHILD(writer, {
        static unsigned char bytes[BYTES];
        for (int i = 0; i < BYTES; i++)
            bytes[i] = (unsigned char)(i * 7 + i / 251);
        close(ends[0]);
        _exit(write(ends[1], bytes, BYTES) == BYTES ? 0 : 1);
    });
    close(ends[1]);
    static unsigned char got[BYTES];
    long done = 0, wrong = 0, count;
    while ((count = read(ends[0], got + done, 10000)) > 0)
        done += count;
    for (int i = 0; i < BYTES; i++)
        wrong += got[i] != (unsigned char)(i * 7 + i / 251);
    show("bytes", done);
    show("wrong ones", wrong);
    close(ends[0]);
    reap("writer", writer);
}

static void readers_gone(void)
{
    int ends[2];
    if (pipe(ends))
        return;
    CHILD(reader, {
        close(ends[1]);
        char byte;
        _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
    });
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    static char bytes[200000];
    long count = write(ends[1], bytes, sizeof bytes);
    printf("a write whose reader goes: %s\n", count > 0 && count < (long)sizeof bytes ? "a part" : "other");
    show("the next", write(ends[1], bytes, 1) < 0 ? -errno : 0);
    close(ends[1]);
    reap("reader", reader);
}

static void readiness(void)
{
    int a[2], b[2];
    if (pipe(a) || pipe(b))
        return;
    CHILD(child, {
        char byte;
        for (int i = 0; i < 3; i++) {
            usleep(20000);
            if (write(a[1], "x", 1) != 1 || read(b[0], &byte, 1) != 1)
                _exit(1);
        }
        close(a[1]);
        if (read(b[0], &byte, 1) != 1)
            _exit(2);
    });
    close(a[1]);
    close(b[0]);
    char byte;
    struct pollfd polled = {.fd = a[0], .events = POLLIN};
    show("poll in time", poll(&polled, 1, 1));
    show("poll", poll(&polled, 1, -1));
    show("revents", polled.revents);
    show("read", read(a[0], &byte, 1));
    show("write", write(b[1], "y", 1));
    fd_set set;
    FD_ZERO(&set);
    FD_SET(a[0], &set);
    struct timeval minute = {60, 0};
    show("select", select(a[0] + 1, &set, NULL, NULL, &minute));
    show("read", read(a[0], &byte, 1));
    show("write", write(b[1], "y", 1));
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 7};
    epoll_ctl(epoll, EPOLL_CTL_ADD, a[0], &event);
    show("epoll_wait in time", epoll_wait(epoll, &event, 1, 1));
    show("epoll_wait", epoll_wait(epoll, &event, 1, -1));
    show("read", read(a[0], &byte, 1));
    show("write", write(b[1], "y", 1));
    show("epoll_wait for the end", epoll_wait(epoll, &event, 1, -1));
    show("events", event.events);
    show("read", read(a[0], &byte, 1));
    show("write", write(b[1], "y", 1));
    reap("child", child);
    close(a[0]);
    close(b[1]);
}

static void named(void)
{
    mkfifo("fifo", 0600);
    CHILD(reader, {
        int fd = open("fifo", O_RDONLY);
        char text[16] = "";
        long count = read(fd, text, sizeof text);
        printf("read %ld: %.*s\n", count, (int)count, text);
        fflush(stdout);
    });
    int fd = open("fifo", O_WRONLY);
    show("named pipe", fd < 0 ? -errno : 0);
    show("write", write(fd, "hello", 5));
    reap("reader", reader);
    close(fd);
    CHILD(writer, {
        usleep(20000);
        close(open("fifo", O_WRONLY));
    });
    fd = open("fifo", O_RDONLY);
    char byte;
    show("a writer that went again", read(fd, &byte, 1));
    close(fd);
    reap("writer", writer);
    unlink("fifo");
}

static void locks(void)
{
    int fd = open("locked", O_RDWR | O_CREAT, 0600), go[2], gone[2];
    if (pipe(go) || pipe(gone))
        return;
    struct flock all = {.l_type = F_WRLCK}, half = {.l_type = F_WRLCK, .l_start = 10, .l_len = 10};
    CHILD(holder, {
        char byte;
        int own = open("locked", O_RDWR);
        flock(own, LOCK_EX);
        fcntl(own, F_SETLK, &half);
        if (write(go[1], "x", 1) != 1 || read(gone[0], &byte, 1) != 1)
            _exit(1);
        usleep(20000);
        flock(own, LOCK_UN);
        half.l_type = F_UNLCK;
        fcntl(own, F_SETLK, &half);
        pause();
    });
    char byte;
    show("go", read(go[0], &byte, 1));
    show("flock at once", flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0);
    show("fcntl at once", fcntl(fd, F_SETLK, &all) ? -errno : 0);
    show("gone", write(gone[1], "x", 1));
    show("flock", flock(fd, LOCK_EX) ? -errno : 0);
    show("fcntl", fcntl(fd, F_SETLKW, &all) ? -errno : 0);
    kill(holder, SIGKILL);
    reap("holder", holder);

    /* Each waits for the other: the second one is told. */
    struct flock first = {.l_type = F_WRLCK, .l_len = 1}, second = {.l_type = F_WRLCK, .l_start = 1, .l_len = 1};
    all.l_type = F_UNLCK;
    fcntl(fd, F_SETLK, &all);
    fcntl(fd, F_SETLK, &first);
    CHILD(rival, {
        int own = open("locked", O_RDWR);
        fcntl(own, F_SETLK, &second);
        if (write(go[1], "x", 1) != 1)
            _exit(1);
        _exit(fcntl(own, F_SETLKW, &first) ? 2 : 0);
    });
    show("go", read(go[0], &byte, 1));
    usleep(50000);
    show("a circle", fcntl(fd, F_SETLKW, &second) ? -errno : 0);
    first.l_type = F_UNLCK;
    fcntl(fd, F_SETLK, &first);
    reap("rival", rival);
    close(fd);
    unlink("locked");
}

static void counters(void)
{
    int a = eventfd(0, 0), b = eventfd(0, EFD_SEMAPHORE);
    uint64_t value;
    CHILD(child, {
        for (int i = 1; i <= 3; i++) {
            value = i;
            if (write(a, &value, 8) != 8 || read(b, &value, 8) != 8)
                _exit(1);
        }
    });
    for (int i = 1; i <= 3; i++) {
        if (read(a, &value, 8) != 8)
            return;
        show("counter", (long)value);
        value = 1;
        if (write(b, &value, 8) != 8)
            return;
    }
    reap("child", child);
}

static void copies(void)
{
    int in[2], out[2];
    if (pipe(in) || pipe(out))
        return;
    CHILD(child, {
        usleep(20000);
        _exit(write(in[1], "spliced", 7) != 7);
    });
    show("splice", splice(in[0], NULL, out[1], NULL, 100, 0));
    char text[16];
    show("read", read(out[0], text, sizeof text));
    reap("child", child);
    int file = open("bytes", O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 200000))
        return;
    CHILD(reader, {
        static char bytes[200000];
        long done = 0;
        close(out[1]);
        for (long count; (count = read(out[0], bytes, sizeof bytes)) > 0;)
            done += count;
        _exit(done == 200000 ? 0 : 1);
    });
    off_t at = 0;
    long sent = 0;
    for (long count; (count = sendfile(out[1], file, &at, 200000)) > 0;)
        sent += count;
    show("sendfile", sent);
    close(out[1]);
    reap("reader", reader);
    unlink("bytes");
}

int main(void)
{
    much();
    readers_gone();
    readiness();
    named();
    locks();
    counters();
    copies();
    return 0;
}
