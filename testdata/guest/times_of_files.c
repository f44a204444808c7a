// covers: utime utimes futimesat utimensat
#include "guest.h"
#include <sys/time.h>
#include <utime.h>

static void times(const char *path)
{
    struct stat st;
    S(lstat, path, &st);
    printf("%s %ld.%09ld %ld.%09ld\n", path, st.st_atim.tv_sec, st.st_atim.tv_nsec, st.st_mtim.tv_sec,
           st.st_mtim.tv_nsec);
}

int main(void)
{
    put("f", "x");
    struct utimbuf u = {100000, 200000};
    struct timeval tv[2] = {{300000, 1}, {400000, 999999}};
    struct timespec ts[2] = {{500000, 3}, {600000, 999999999}};

    T(utime, "f", &u);
    times("f");
    T(utimes, "f", tv);
    times("f");
    T(futimesat, AT_FDCWD, "f", tv);
    T(utimensat, AT_FDCWD, "f", ts, 0);
    times("f");
    ts[0].tv_nsec = UTIME_OMIT;
    ts[1] = (struct timespec){700000, 7};
    T(utimensat, AT_FDCWD, "f", ts, 0);
    times("f");
    ts[1].tv_nsec = UTIME_OMIT;
    T(utimensat, AT_FDCWD, "f", ts, 0);
    T(utimensat, AT_FDCWD, "nothing", ts, 0);
    times("f");
    ts[0] = (struct timespec){-5, 5}, ts[1] = (struct timespec){-7, 7};
    T(utimensat, AT_FDCWD, "f", ts, 0);
    times("f");
    ts[0] = (struct timespec){4294967296 + 1000, 5}, ts[1] = (struct timespec){3000000000, 7};
    T(utimensat, AT_FDCWD, "f", ts, 0);
    times("f");
    ts[0].tv_nsec = 1000000000;
    T(utimensat, AT_FDCWD, "f", ts, 0);
    ts[0].tv_nsec = -1;
    T(utimensat, AT_FDCWD, "f", ts, 0);
    tv[1].tv_usec = 1000000;
    T(utimes, "f", tv);
    tv[1].tv_usec = -1;
    T(futimesat, AT_FDCWD, "f", tv);
    tv[1].tv_usec = 5;

    ts[0] = (struct timespec){1000, 1}, ts[1] = (struct timespec){2000, 2};
    T(utimensat, AT_FDCWD, "host/link", ts, AT_SYMLINK_NOFOLLOW);
    times("host/link");
    times("host/file");
    T(utimensat, AT_FDCWD, "host/link", ts, 0);
    times("host/file");
    long fd = S(open, "f", O_RDONLY), dir = S(open, "host", O_RDONLY);
    T(utimensat, fd, NULL, ts, 0);
    times("f");
    T(utimensat, dir, "other", ts, 0);
    times("host/other");
    T(utimensat, dir, "empty", ts, 0);
    times("host/empty");
    T(futimesat, dir, "other", tv);
    times("host/other");
    T(futimesat, fd, NULL, tv);
    times("f");
    T(utimensat, fd, "", ts, AT_EMPTY_PATH);
    T(utimensat, fd, "", ts, 0);
    T(utimensat, AT_FDCWD, NULL, ts, 0);
    T(utimensat, fd, NULL, ts, AT_SYMLINK_NOFOLLOW);
    T(utimensat, dir, "other", ts, 1);
    T(utimensat, 99, NULL, ts, 0);
    T(utimensat, 99, "x", ts, 0);
    T(utimensat, AT_FDCWD, "f", BAD, 0);
    T(utimensat, AT_FDCWD, BAD, ts, 0);
    T(utime, "nothing", &u);
    T(utime, "f", BAD);
    T(utimes, "f", BAD);
    T(utimes, "", tv);
    T(futimesat, 99, "x", tv);

    /* Now, by all three ways: later than what was there, and the same in both. */
    struct stat st, before;
    S(stat, "f", &before);
    T(utime, "f", NULL);
    S(stat, "f", &st);
    is(st.st_mtime > before.st_mtime && st.st_mtim.tv_nsec == st.st_atim.tv_nsec);
    T(utimensat, AT_FDCWD, "f", NULL, 0);
    ts[0].tv_nsec = UTIME_NOW, ts[1] = (struct timespec){800000, 8};
    T(utimensat, AT_FDCWD, "f", ts, 0);
    S(stat, "f", &st);
    is(st.st_atime > before.st_atime);
    num(st.st_mtime);

    /* Writing, truncating and adding names move the time; reading the size does not. */
    u.modtime = 12345;
    S(utime, "f", &u);
    S(close, S(open, "f", O_WRONLY));
    S(stat, "f", &st);
    num(st.st_mtime);
    fd = S(open, "f", O_WRONLY);
    S(write, fd, "", 0);
    S(stat, "f", &st);
    num(st.st_mtime);
    S(write, fd, "y", 1);
    S(stat, "f", &st);
    is(st.st_mtime > 12345);
    S(mkdir, "d", 0755);
    S(utime, "d", &u);
    put("d/new", "");
    S(stat, "d", &st);
    is(st.st_mtime > 12345);
    S(utime, "d", &u);
    put("d/new", "more");
    S(stat, "d", &st);
    num(st.st_mtime);
    S(unlink, "d/new");
    S(stat, "d", &st);
    is(st.st_mtime > 12345);
    is(st.st_ctime >= st.st_mtime);
    return 0;
}
