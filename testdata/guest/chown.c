// covers: chown fchown lchown fchownat
#include "guest.h"

int main(void)
{
    uid_t me = getuid();
    gid_t group = getgid();
    struct stat st;

    put("f", "x");
    S(symlink, "f", "l");
    S(chmod, "f", 06755);
    T(chown, "f", me, group);
    stat("f", &st);
    /* Set-user-id and set-group-id fall with a change of the owner. */
    printf("%o\n", st.st_mode);
    S(chmod, "f", 06755);
    T(chown, "f", -1, -1);
    stat("f", &st);
    printf("%o\n", st.st_mode);
    S(chmod, "f", 06644);
    T(chown, "f", me, -1);
    stat("f", &st);
    printf("%o\n", st.st_mode);
    T(lchown, "l", me, group);
    T(chown, "l", -1, group);
    T(chown, "host/file", me, group);
    T(chown, "nothing", me, group);
    T(chown, "host/dangling", me, group);
    T(lchown, "host/dangling", me, group);
    T(chown, "f/x", me, group);
    T(chown, "", me, group);
    T(chown, BAD, me, group);
    long fd = S(open, "f", O_RDONLY), dir = S(open, "host", O_RDONLY);
    T(fchown, fd, me, group);
    T(fchown, 99, me, group);
    T(fchownat, dir, "file", me, group, 0);
    T(fchownat, dir, "link", me, group, AT_SYMLINK_NOFOLLOW);
    T(fchownat, fd, "", me, group, AT_EMPTY_PATH);
    T(fchownat, fd, "", me, group, 0);
    T(fchownat, dir, "file", me, group, 1);
    T(fchownat, 99, "file", me, group, 0);
    T(fchownat, fd, "file", me, group, 0);
    stat("f", &st);
    is(st.st_uid == me && st.st_gid == group);
    return 0;
}
