// covers: flock fcntl epoll_ctl open
#include "guest.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>

static char text[1 << 16];

static void slurp(const char *path)
{
    long fd = S(open, path, O_RDONLY), n = 0, got;
    while ((got = S(read, fd, text + n, sizeof text - 1 - n)) > 0)
        n += got;
    text[n] = 0;
    S(close, fd);
}

/* The lines about one inode, without what differs between machines: number, process, device. */
static void lines(const char *path, unsigned long ino)
{
    char kind[16], state[16], access[16], from[32], to[32];
    unsigned long at;
    int pid, found = 0;
    slurp(path);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *colon = strstr(line, ": ");
        if (!colon || sscanf(colon, ": %15s %15s %15s %d %*[0-9a-f]:%*[0-9a-f]:%lu %31s %31s", kind, state, access, &pid,
                             &at, from, to) != 7)
            continue;
        if (at == ino)
            printf("%s%.22s %s %s-%s\n", strncmp(line, "lock:\t", 6) == 0 ? "lock: " : "", colon + 2,
                   pid == getpid() ? "mine" : pid == -1 ? "nobody's" : "another's", from, to);
        found += at == ino;
    }
    printf("%s: %d\n", strncmp(path, "/proc/self", 10) == 0 ? "fdinfo" : path, found);
}

static void mount_of(long fd, char *to)
{
    char path[64];
    sprintf(path, "/proc/self/fdinfo/%ld", fd);
    slurp(path);
    char *line = strstr(text, "mnt_id:\t");
    sscanf(line ? line : "", "mnt_id: %31s", to);
}

static int is_mounted(const char *id, const char *place)
{
    char number[32], where[256];
    slurp("/proc/self/mountinfo");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (sscanf(line, "%31s %*s %*s %*s %255s", number, where) == 2 && strcmp(number, id) == 0)
            return strcmp(where, place) == 0;
    return 0;
}

int main(void)
{
    struct stat file, second;
    char path[64], id[32], other[32];
    long fd = S(open, "f", O_RDWR | O_CREAT, 0644), again = S(open, "f", O_RDWR), one = S(open, "g", O_RDWR | O_CREAT, 0644);
    S(fstat, fd, &file), S(fstat, one, &second);
    lines("/proc/locks", file.st_ino);
    T(flock, one, LOCK_SH);
    lines("/proc/locks", second.st_ino);
    struct flock lock = {.l_type = F_WRLCK, .l_start = 10, .l_len = 5};
    T(fcntl, fd, F_SETLK, &lock);
    lines("/proc/locks", file.st_ino);
    lock = (struct flock){.l_type = F_RDLCK, .l_start = 100};
    T(fcntl, again, F_OFD_SETLK, &lock);
    sprintf(path, "/proc/self/fdinfo/%ld", fd);
    lines(path, file.st_ino);
    sprintf(path, "/proc/self/fdinfo/%ld", again);
    lines(path, file.st_ino);
    lock = (struct flock){.l_type = F_WRLCK, .l_start = 15, .l_len = 5};
    T(fcntl, again, F_SETLK, &lock); /* continues the first one */
    sprintf(path, "/proc/self/fdinfo/%ld", fd);
    lines(path, file.st_ino);
    T(flock, fd, LOCK_EX);
    lines(path, file.st_ino);
    lock = (struct flock){.l_type = F_UNLCK};
    T(fcntl, fd, F_SETLK, &lock);
    S(flock, fd, LOCK_UN);
    lines(path, file.st_ino);
    S(close, again), S(close, fd);
    lines("/proc/locks", file.st_ino);
    S(close, one);
    one = S(open, "g", O_RDONLY);
    T(fcntl, one, F_SETLEASE, F_RDLCK);
    lines("/proc/locks", second.st_ino);

    /* What an epoll instance watches. */
    long epoll = S(epoll_create1, 0), event = S(eventfd2, 3, 0);
    struct epoll_event want = {EPOLLIN | EPOLLET, {.u64 = 0x1234}};
    T(epoll_ctl, epoll, EPOLL_CTL_ADD, event, &want);
    sprintf(path, "/proc/self/fdinfo/%ld", epoll);
    slurp(path);
    char *line = strstr(text, "tfd: ");
    line = line ? strstr(line, " events:") : NULL;
    printf("%.40s\n", line ? line : "none");
    is(line != NULL && strstr(line, "  pos:0 ino:") != NULL && strstr(line, " sdev:") != NULL);

    /* Descriptors of one mount have its number. */
    fd = S(open, "/proc/self/status", O_RDONLY);
    mount_of(fd, id);
    is(is_mounted(id, "/proc"));
    mount_of(S(open, "/proc/meminfo", O_RDONLY), other);
    is(strcmp(id, other) == 0);
    mount_of(one, other);
    is(strcmp(id, other) != 0);
    return 0;
}
