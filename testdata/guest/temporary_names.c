// covers: open openat unlink mkdir getrandom newfstatat rename linkat
#include "guest.h"
#include <limits.h>
#include <sys/statvfs.h>

/* Names that are made up, and names that are made plain: mkstemp and its kin, tmpfile, realpath, and paths of /proc. */
static void real(const char *path)
{
    static char top[PATH_MAX];
    char buf[PATH_MAX], *r;
    if (!top[0] && !getcwd(top, sizeof top))
        return;
    r = realpath(path, buf);
    if (!r)
        printf("%s: %s\n", path, strerrorname_np(errno));
    else if (strncmp(r, top, strlen(top)) == 0)
        printf("%s: HERE%s\n", path, r + strlen(top));
    else
        printf("%s: %s\n", path, r);
}

int main(void)
{
    struct stat st;
    char a[] = "x.XXXXXX", b[] = "x.XXXXXX", c[] = "x.XXXXX", d[] = "XXXXXX.c", e[] = "none/XXXXXX", f[] = "dXXXXXX", g[] = "XXXXXXx";
    int x = mkstemp(a), y = mkstemp(b);
    is(x >= 0 && y >= 0 && strcmp(a, b) != 0), fstat(x, &st), printf("%o %ld\n", st.st_mode, (long)st.st_size),
        printf("%#lo\n", S(fcntl, x, F_GETFL)), is(strncmp(a, "x.", 2) == 0 && strcmp(a + 2, "XXXXXX") != 0), is(mkstemp(c) == -1 && errno == EINVAL),
        is(strcmp(c, "x.XXXXX") == 0), is(mkstemp(g) == -1 && errno == EINVAL), is(mkstemps(d, 2) >= 0 && strcmp(d + 6, ".c") == 0),
        is(mkstemps(d, 7) == -1 && errno == EINVAL), is(mkstemp(e) == -1 && errno == ENOENT);
    char h[] = "hXXXXXX";
    y = mkostemp(h, O_APPEND | O_CLOEXEC), printf("%#lo %ld\n", S(fcntl, y, F_GETFL), S(fcntl, y, F_GETFD)), is(mkdtemp(f) == f), stat(f, &st),
        printf("%o\n", st.st_mode), unlink(a), unlink(b), unlink(d), unlink(h), rmdir(f);
    FILE *t = tmpfile();
    is(t != NULL), fstat(fileno(t), &st), num(st.st_nlink), num(S_ISREG(st.st_mode)), fprintf(t, "kept for a while"), rewind(t);
    char text[32] = "";
    is(fgets(text, sizeof text, t) != NULL), printf("%s\n", text), fclose(t);

    /* Paths without links and dots. */
    S(mkdir, "d", 0755), S(mkdir, "d/e", 0755), put("d/e/f", ""), symlink("e/f", "d/l"), symlink("../d", "d/up"), symlink("none", "dangling"),
        symlink("loop", "loop"), symlink("/usr/../tmp", "absolute");
    real("."), real("d/../d/./e//f"), real("d/l"), real("d/up/up/up/e"), real("dangling"), real("loop"), real("absolute"), real("d/e/f/"),
        real("d/e/f/.."), real("none"), real("d/none"), real("d/none/x"), real(""), real("/"), real("//"), real("/.."), real("/../../usr"),
        real("d/e/../../d/l"), real("/proc/self/../self/cwd/d"), real("/dev/null"), is(realpath(NULL, NULL) == NULL && errno == EINVAL);
    char *own = realpath("d", NULL), *name = canonicalize_file_name("d/l");
    is(own && strcmp(own + strlen(own) - 2, "/d") == 0), is(name && strcmp(name + strlen(name) - 6, "/d/e/f") == 0);
    static char longest[PATH_MAX + 10];
    memset(longest, 'x', 300), real(longest) /* NAME_MAX */, memset(longest, '/', PATH_MAX + 5), is(realpath(longest, NULL) == NULL || 1);
    num(pathconf(".", _PC_NAME_MAX)), num(pathconf(".", _PC_PATH_MAX)), num(pathconf(".", _PC_PIPE_BUF)), errno = 0,
        is(pathconf("none", _PC_NAME_MAX) == -1 || errno == 0), num(pathconf(".", _PC_NO_TRUNC)), num(pathconf(".", _PC_CHOWN_RESTRICTED)), errno = 0,
        num(pathconf(".", 999)), num(errno == EINVAL), num(sysconf(_SC_PAGESIZE)), num(sysconf(_SC_CLK_TCK)), num(sysconf(_SC_IOV_MAX)),
        num(sysconf(_SC_VERSION)), num(sysconf(_SC_MONOTONIC_CLOCK)), num(sysconf(_SC_HOST_NAME_MAX)), num(sysconf(_SC_RTSIG_MAX)), errno = 0,
        num(sysconf(9999)), num(errno == EINVAL), is(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
    return 0;
}
