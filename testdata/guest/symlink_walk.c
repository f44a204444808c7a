// covers: symlink readlink open stat lstat rename unlink mkdir chdir
#include "guest.h"

/* Chains of symbolic links, the limit of links in a walk, and the lengths of names and targets. */
static char target[8192];

static long chain(int length)
{
    char name[16], next[16];
    for (int i = 0; i < length; i++) {
        snprintf(name, sizeof name, "c%d", i), snprintf(next, sizeof next, "c%d", i + 1);
        S(symlink, next, name);
    }
    snprintf(name, sizeof name, "c%d", length);
    put(name, "end");
    long fd = S(open, "c0", O_RDONLY), result = fd < 0 ? fd : 0;
    S(close, fd);
    for (int i = 0; i <= length; i++)
        snprintf(name, sizeof name, "c%d", i), S(unlink, name);
    return result;
}

int main(void)
{
    struct stat st;
    char buf[32];
    show("1 link", chain(1)), show("40 links", chain(40)), show("41 links", chain(41));

    /* Every link of a walk counts, not only the last. */
    S(mkdir, "d", 0755), put("d/f", "text"), S(symlink, ".", "d/here"), S(symlink, "d", "to_d");
    strcpy(target, "d");
    for (int i = 0; i < 40; i++)
        strcat(target, "/here");
    strcat(target, "/f"), show("here 40 times", S(stat, target, &st));
    strcpy(target, "to_d");
    for (int i = 0; i < 40; i++)
        strcat(target, "/here");
    strcat(target, "/f"), show("to_d and here 40 times", S(stat, target, &st));
    S(symlink, "b", "a"), S(symlink, "a", "b");
    T(open, "a", O_RDONLY), T(open, "a/x", O_RDONLY), T(stat, "a", &st), T(lstat, "a", &st), T(stat, "a/", &st), T(chdir, "a");
    T(open, "a", O_RDONLY | O_CREAT, 0644), T(mkdir, "a", 0755), T(rename, "a", "c"), T(unlink, "c"), T(open, "b", O_RDONLY), T(unlink, "b");

    /* Targets. */
    T(symlink, "", "empty"), T(symlink, "x", ""), T(symlink, "x", "d"), T(symlink, "x", "d/"), T(symlink, "x", "new/"), T(symlink, "x", "none/y");
    T(symlink, BAD, "y"), T(symlink, "x", BAD), T(symlink, "x", "d/f/y");
    memset(target, 'x', sizeof target);
    for (int i = 255; i < 4096; i += 256)
        target[i] = '/';
    target[1023] = 0, show("target of 1023", S(symlink, target, "long")), T(lstat, "long", &st), num(st.st_size), show("through it", S(stat, "long", &st));
    target[1023] = 'x', target[4096] = 0, show("target of 4096", S(symlink, target, "longer"));
    memset(target, 'y', sizeof target), target[256] = 0, show("target with a name of 256", S(symlink, target, "name")), T(stat, "name", &st);
    target[255] = 0, show("with one of 255", S(symlink, target, "name2")), T(stat, "name2", &st);

    /* readlink cuts, and adds no zero. */
    S(symlink, "0123456789", "ten"), memset(buf, '-', sizeof buf);
    T(readlink, "ten", buf, 4), printf("%.6s\n", buf), T(readlink, "ten", buf, 32), printf("%.12s\n", buf), T(readlink, "ten", buf, 0),
        T(readlink, "ten", buf, -1);
    T(readlink, "d", buf, 4), T(readlink, "d/f", buf, 4), T(readlink, "none", buf, 4), T(readlink, "ten", BAD, 4), T(readlink, "ten/", buf, 4),
        T(readlink, "to_d/", buf, 4);

    /* What follows the last link, and what does not. */
    T(rename, "to_d/", "e"), T(rename, "to_d", "e"), T(rmdir, "e"), T(rmdir, "e/"), T(unlink, "e/"), T(unlink, "e/f"), T(mkdir, "e/sub", 0755),
        T(rmdir, "d/sub");
    S(symlink, "made", "e/to_made"), T(mkdir, "d/to_made", 0755), T(open, "d/to_made", O_CREAT | O_EXCL | O_WRONLY, 0644),
        T(open, "d/to_made", O_CREAT | O_WRONLY, 0644);
    T(stat, "d/made", &st), T(link, "d/to_made", "d/hard"), S(lstat, "d/hard", &st), is(S_ISLNK(st.st_mode)), num(st.st_nlink);

    /* ".." is of the directory, not of the link. */
    S(mkdir, "d/deep", 0755), S(symlink, "d/deep", "deep"), put("d/beside", ""), T(stat, "deep/../beside", &st), T(chdir, "deep"),
        T(stat, "../beside", &st), T(stat, "../../deep", &st);
    return 0;
}
