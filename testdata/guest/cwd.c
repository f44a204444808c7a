// covers: getcwd chdir fchdir
#include "guest.h"

static void here(const char *start)
{
    char buf[4096];
    long n = S(getcwd, buf, sizeof buf);
    if (n < 0)
        show("getcwd", n);
    else if (strncmp(buf, start, strlen(start)) == 0)
        printf("in .%s, %s\n", buf + strlen(start), n == (long)strlen(buf) + 1 ? "length agrees" : "WRONG LENGTH");
    else
        printf("in %s\n", buf);
}

int main(void)
{
    char start[4096], buf[8];
    S(getcwd, start, sizeof start);
    T(chdir, "host");
    here(start);
    T(access, "file", F_OK);
    T(chdir, "..");
    here(start);
    T(chdir, "host/empty/../empty/.");
    here(start);
    T(chdir, "../link");
    T(chdir, "../nothing");
    T(chdir, "");
    T(chdir, BAD);
    T(chdir, start);
    S(symlink, "host/empty", "to-empty");
    T(chdir, "to-empty");
    here(start);
    T(getcwd, buf, 3);
    T(getcwd, buf, 0);
    T(getcwd, BAD, 4096);
    long dir = S(open, "..", O_RDONLY), path = S(open, "..", O_PATH), file = S(open, "../file", O_RDONLY);
    T(fchdir, dir);
    here(start);
    T(fchdir, path);
    T(fchdir, file);
    T(fchdir, 99);
    T(rename, "../host", "../house");
    here(start);
    T(mkdir, "inner", 0755);
    T(chdir, "inner");
    T(rmdir, "../inner");
    here(start);
    T(open, "x", O_CREAT | O_WRONLY, 0600);
    T(access, ".", F_OK);
    T(chdir, "..");
    here(start);
    T(chdir, "/");
    here(start);
    T(chdir, "/../..");
    here(start);
    T(chdir, "/proc/self");
    T(access, "status", R_OK);
    T(chdir, "/dev");
    here(start);
    return 0;
}
