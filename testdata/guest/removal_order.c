// covers: unlink rmdir unlinkat rename renameat2 chmod chown setresuid
// open: skip owners stay in the emulated machine
#include "child.h"

/* Which of several reasons is told for a name that cannot be removed or renamed: a line for each call, with the results
 * for the names. */
static const char *names[] = {"file", "dir", "full", "link", "none", "dir/", "file/", "link/", "none/", ".", "..", "full/.", "full/..", "/"};
static const char *targets[] = {"new", "file", "dir", "full"};

static void build(int mode)
{
    S(mkdir, "m", 0777), S(chdir, "m"), put("file", ""), S(mkdir, "dir", 0777), S(mkdir, "full", 0777), put("full/x", ""), S(symlink, "dir", "link");
    S(chown, "file", 1002, 1002), S(chown, "dir", 1002, 1002), S(lchown, "link", 1002, 1002), S(chown, "full", 1002, 1002);
    S(chown, ".", 1001, 1001), S(chmod, ".", mode);
}
static void clear(void)
{
    static const char *all[] = {"m/file", "m/link", "m/new", "m/dir", "m/full"};
    char inner[32];
    S(chdir, ".."), S(chmod, "m", 0777);
    for (int i = 0; i < 5; i++)
        snprintf(inner, sizeof inner, "%s/x", all[i]), S(unlink, inner), S(unlink, all[i]), S(rmdir, all[i]);
    S(rmdir, "m");
}
static long call(int number, const char *name, const char *to)
{
    switch (number) {
    case 0: return S(unlink, name);
    case 1: return S(rmdir, name);
    case 2: return S(unlinkat, AT_FDCWD, name, AT_REMOVEDIR);
    case 3: return S(rename, name, to);
    case 4: return S(renameat2, AT_FDCWD, name, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */);
    default: return S(renameat2, AT_FDCWD, name, AT_FDCWD, to, 2 /* RENAME_EXCHANGE */);
    }
}
static void line(int mode, int user, int number, const char *to)
{
    static const char *calls[] = {"unlink", "rmdir", "AT_REMOVEDIR", "rename", "NOREPLACE", "EXCHANGE"};
    printf("%o %d %s %s:", mode, user, calls[number], to);
    for (int n = 0; n < (number < 3 ? 14 : 13); n++) {
        build(mode), fflush(stdout);
        if (!fork()) {
            S(setgroups, 0, 0), S(setresgid, user, user, user), S(setresuid, user, user, user);
            long r = call(number, names[n], to);
            printf(" %s", r ? strerrorname_np(-r) : "ok"), fflush(stdout);
            _exit(0);
        }
        wait(0), clear();
    }
    puts("");
}

int main(void)
{
    static const int modes[] = {0777, 01777, 0555, 0666};
    S(umask, 0);
    for (int m = 0; m < 4; m++)
        for (int user = 1002; user < 1004; user++) {
            for (int number = 0; number < 3; number++)
                line(modes[m], user, number, "");
            for (int number = 3; number < 6; number++)
                for (int t = 0; t < 4; t++)
                    line(modes[m], user, number, targets[t]);
        }
    return 0;
}
