// covers: getdents64 getdents lseek open read mkdir unlink fcntl dup
#include "guest.h"
#include <dirent.h>

/* getdents64(2) itself: buffers of every size, places to go on from, and descriptors that share a place. */
struct entry {
    unsigned long ino, off;
    unsigned short len;
    unsigned char type;
    char name[];
};
static char buf[65536] __attribute__((aligned(8)));

static int count(long fd, size_t room, int *calls)
{
    int n = 0;
    *calls = 0;
    for (long got; (got = S(getdents64, fd, buf, room)) > 0; ++*calls)
        for (long at = 0; at < got; at += ((struct entry *)(buf + at))->len)
            n++;
    return n;
}

int main(void)
{
    char name[64];
    int calls, odd = 0;
    S(mkdir, "d", 0755), S(mkdir, "empty", 0755);
    for (int i = 0; i < 100; i++)
        snprintf(name, sizeof name, "d/%0*d", 1 + i % 40, i), put(name, "");
    long d = S(open, "d", O_RDONLY | O_DIRECTORY);
    for (size_t room = 24; room <= 32768; room *= 2) {
        S(lseek, d, 0, SEEK_SET);
        int n = count(d, room, &calls);
        if (room >= 128)
            printf("room %zu: %d entries, more than one call %d\n", room, n, calls > 1);
        else
            printf("room %zu: %s\n", room, n < 102 ? "not all" : "all");
    }
    S(lseek, d, 0, SEEK_SET), T(getdents64, d, buf, 23), T(getdents64, d, buf, 0), T(getdents64, d, BAD, 1000),
        is(count(d, sizeof buf, &calls) == 102), T(getdents64, d, buf, 100), T(getdents64, d, BAD, 100);
    /* d_off is a place to go on from, and the place of the descriptor. */
    S(lseek, d, 0, SEEK_SET);
    long got = S(getdents64, d, buf, 512), places[40], n = 0;
    char names[40][64];
    for (long at = 0; at < got && n < 40; at += ((struct entry *)(buf + at))->len, n++)
        places[n] = (long)((struct entry *)(buf + at))->off, strcpy(names[n], ((struct entry *)(buf + at))->name),
            odd |= ((struct entry *)(buf + at))->len & 7;
    num(odd), is(S(lseek, d, 0, SEEK_CUR) == places[n - 1]), T(lseek, d, 0, SEEK_SET), is(S(lseek, d, places[2], SEEK_SET) == places[2]),
        S(getdents64, d, buf, 512), is(strcmp(((struct entry *)buf)->name, names[3]) == 0);
    long copy = S(dup, d), again = S(open, "d", O_RDONLY);
    S(lseek, d, 0, SEEK_SET), S(getdents64, copy, buf, 512), is(S(lseek, d, 0, SEEK_CUR) == places[n - 1]), num(S(lseek, again, 0, SEEK_CUR)),
        is(count(copy, sizeof buf, &calls) + n == 102), is(count(again, sizeof buf, &calls) == 102);
    T(lseek, d, -1, SEEK_SET);
    T(lseek, d, 0, 9);

    long e = S(open, "empty", O_RDONLY);
    num(count(e, 4096, &calls)), S(lseek, e, 0, SEEK_SET), put("empty/new", ""), num(count(e, 4096, &calls)), S(unlink, "empty/new"),
        S(lseek, e, 0, SEEK_SET), num(count(e, 4096, &calls)), T(rmdir, "empty"), S(lseek, e, 0, SEEK_SET), T(getdents64, e, buf, 4096),
        T(getdents64, S(open, "host/file", O_RDONLY), buf, 4096), T(getdents64, S(open, "d", O_PATH), buf, 4096), T(getdents64, 99, buf, 4096),
        T(getdents64, S(open, "/dev/null", O_RDONLY), buf, 4096), S(lseek, d, 0, SEEK_SET), T(read, d, buf, 10), T(write, d, buf, 10), T(pread64, d, buf, 10, 0);
    /* Types and numbers as stat(2) has them. */
    S(mkdir, "kinds", 0755), S(mkdir, "kinds/dir", 0755), S(symlink, "x", "kinds/link"), S(mknod, "kinds/fifo", S_IFIFO | 0600, 0), put("kinds/file", "");
    long k = S(open, "kinds", O_RDONLY);
    got = S(getdents64, k, buf, sizeof buf);
    int matching = 0, types = 0;
    for (long at = 0; at < got; at += ((struct entry *)(buf + at))->len) {
        struct entry *x = (void *)(buf + at);
        struct stat st;
        if (S(newfstatat, k, x->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            matching += st.st_ino == x->ino, types += IFTODT(st.st_mode) == x->type;
    }
    num(matching), num(types);
    return 0;
}
