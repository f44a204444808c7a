// covers: unlink rmdir rename renameat2 setresuid link open
// open: skip owners stay in the emulated machine
#include "child.h"
#include <sys/prctl.h>

/* Directories with the sticky bit: who may remove and rename in them. */
static void user(uid_t uid)
{
    S(setgroups, 0, 0), S(setresgid, uid, uid, uid), S(setresuid, uid, uid, uid);
}

static void files(void)
{
    S(mkdir, "s", 0777), S(chmod, "s", 01777), S(chown, "s", 1001, 1001), S(chmod, "s", 01777);
    put("s/of_2", "2"), S(chown, "s/of_2", 1002, 1002), put("s/of_3", "3"), S(chown, "s/of_3", 1003, 1003);
    S(mkdir, "s/d_of_2", 0777), S(chown, "s/d_of_2", 1002, 1002), S(mkdir, "s/d_of_3", 0777), S(chown, "s/d_of_3", 1003, 1003);
    S(mkdir, "p", 0777), S(chmod, "p", 0777), put("p/of_2", ""), S(chown, "p/of_2", 1002, 1002);
}

static void another(void)
{
    user(1003);
    T(unlink, "s/of_2"), T(rmdir, "s/d_of_2"), T(rename, "s/of_2", "s/x"), T(rename, "s/of_2", "p/x"), T(rename, "s/of_3", "s/of_2"),
        T(rename, "s/d_of_3", "s/d_of_2");
    T(renameat2, AT_FDCWD, "s/of_3", AT_FDCWD, "s/of_2", 2), T(renameat2, AT_FDCWD, "s/of_2", AT_FDCWD, "p/of_2", 2),
        T(renameat2, AT_FDCWD, "s/of_3", AT_FDCWD, "s/of_2", 1);
    T(unlink, "p/of_2"), T(rename, "s/of_3", "s/mine"), T(unlink, "s/mine"), T(rmdir, "s/d_of_3"), T(unlink, "s/none"), T(rename, "s/d_of_2", "s/d"),
        T(open, "s/new", O_CREAT | O_WRONLY, 0600);
}
static void owner_of_the_file(void)
{
    user(1002);
    T(unlink, "s/new"), T(rename, "s/of_2", "s/renamed"), T(unlink, "s/renamed"), T(rmdir, "s/d_of_2");
}
static void owner_of_the_directory(void)
{
    user(1001);
    T(unlink, "s/of_2"), T(rename, "s/of_3", "s/taken"), T(unlink, "s/taken"), T(rmdir, "s/d_of_2"), T(rmdir, "s/d_of_3");
}
static void root(void)
{
    T(unlink, "s/of_2"), T(rename, "s/of_3", "s/taken"), T(rmdir, "s/d_of_2");
}

int main(void)
{
    void (*all[])(void) = {another, owner_of_the_file, owner_of_the_directory, root};
    const char *names[] = {"another", "owner of the file", "owner of the directory", "root"};
    if (getuid() != 0)
        lacks("only root has several users");
    S(chmod, ".", 0755);
    for (int i = 0; i < 4; i++) {
        files();
        printf("== %s\n", names[i]);
        reap(child(all[i]));
        if (system("rm -rf s p"))
            printf("rm failed\n");
    }
    return 0;
}
