// covers: name_to_handle_at open_by_handle_at unlink rename
/* Handles of files: they name a file whatever its path becomes, and root opens it by them. */
#include "cases.h"

struct handle {
    unsigned bytes;
    int type;
    unsigned char body[128];
};
static struct handle made(const char *path)
{
    struct handle h = {.bytes = 128};
    int mount = -1;
    long result = S(name_to_handle_at, AT_FDCWD, path, &h, &mount, 0);
    if (result == -EOPNOTSUPP)
        lacks("the file system of the temporary directory gives no handles");
    printf("handle of %s: %ld, %s\n", path, result, mount >= 0 ? "with its mount" : "without");
    return h;
}

static void have_a_size(void)
{
    struct handle h = {.bytes = 0};
    int mount = -1;
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, &mount, 0);
    is(h.bytes > 0 && h.bytes <= 128 && mount >= 0);
    unsigned needed = h.bytes;
    h.bytes = needed - 1;
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, &mount, 0);
    is(h.bytes == needed);
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, &mount, 0);
    is(h.bytes == needed);
    h.bytes = 128;
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, &mount, 0);
    is(h.bytes == needed);
    h.bytes = 129;
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, &mount, 0);
}
static void name_the_same_file(void)
{
    struct handle a = made("host/file"), b = made("host/file"), other = made("host/other"), link = made("host/link");
    is(!memcmp(&a, &b, sizeof a)), is(memcmp(&a, &other, sizeof a)), is(memcmp(&a, &link, sizeof a));
    struct handle through = {.bytes = 128}, empty = {.bytes = 128};
    int mount;
    T(name_to_handle_at, AT_FDCWD, "host/link", &through, &mount, AT_SYMLINK_FOLLOW);
    is(!memcmp(&a, &through, sizeof a));
    long fd = S(open, "host/file", O_PATH);
    T(name_to_handle_at, fd, "", &empty, &mount, AT_EMPTY_PATH);
    is(!memcmp(&a, &empty, sizeof a));
    T(name_to_handle_at, fd, "", &empty, &mount, 0);
    put("new", "one"), put("third", "three");
    a = made("new");
    T(rename, "new", "newer");
    b = made("newer");
    is(!memcmp(&a, &b, sizeof a));
}
static void errors(void)
{
    struct handle h = {.bytes = 128};
    int mount;
    T(name_to_handle_at, AT_FDCWD, "host/nothing", &h, &mount, 0);
    T(name_to_handle_at, AT_FDCWD, "host/file/x", &h, &mount, 0);
    T(name_to_handle_at, AT_FDCWD, "host/dangling", &h, &mount, AT_SYMLINK_FOLLOW);
    T(name_to_handle_at, AT_FDCWD, "", &h, &mount, 0);
    T(name_to_handle_at, AT_FDCWD, BAD, &h, &mount, 0);
    T(name_to_handle_at, AT_FDCWD, "host/file", BAD, &mount, 0);
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, BAD, 0);
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, &mount, 0x80000000);
    T(name_to_handle_at, AT_FDCWD, "host/file", &h, &mount, AT_SYMLINK_NOFOLLOW);
    T(name_to_handle_at, 99, "host/file", &h, &mount, 0);
    T(name_to_handle_at, 99, "", &h, &mount, AT_EMPTY_PATH);
    T(name_to_handle_at, AT_FDCWD, "/proc/self/status", &h, &mount, 0);
    int ends[2];
    S(pipe, ends);
    T(name_to_handle_at, ends[0], "", &h, &mount, AT_EMPTY_PATH);
    long fd = S(open, "host/file", O_RDONLY);
    T(name_to_handle_at, fd, "x", &h, &mount, 0);
    T(open_by_handle_at, 99, &h, O_RDONLY);
}
static void are_opened_by_root(void)
{
    char text[32] = "";
    put("kept", "what is kept\n");
    struct handle h = made("kept"), odd = h, dir = made("host");
    long here = S(open, ".", O_RDONLY), bad = S(open, "/proc", O_RDONLY);
    if (S(open_by_handle_at, here, &h, O_RDONLY) == -EPERM) {
        /* Not root. The same lines are printed. */
        printf("as root or not at all\n");
        return;
    }
    long fd = S(open_by_handle_at, here, &h, O_RDWR);
    is(fd > 0);
    T(read, fd, text, 31), printf("%s", text);
    T(pwrite64, fd, "W", 1, 0), cat("kept");
    T(rename, "kept", "kept2");
    long again = S(open_by_handle_at, fd, &h, O_RDONLY);
    is(again > 0), T(pread64, again, text, 31, 0), printf("%s", text);
    long directory = S(open_by_handle_at, here, &dir, O_RDONLY | O_DIRECTORY);
    is(directory > 0), is(S(openat, directory, "file", O_RDONLY) > 0);
    T(open_by_handle_at, here, &h, O_RDONLY | O_DIRECTORY), T(open_by_handle_at, here, &dir, O_WRONLY);
    odd.bytes = 0, T(open_by_handle_at, here, &odd, O_RDONLY);
    odd.bytes = 129, T(open_by_handle_at, here, &odd, O_RDONLY);
    T(open_by_handle_at, here, BAD, O_RDONLY), T(open_by_handle_at, 99, &h, O_RDONLY);
    is(S(open_by_handle_at, bad, &h, O_RDONLY) < 0);
    S(close, fd), S(close, again);
    T(unlink, "kept2");
    T(open_by_handle_at, here, &h, O_RDONLY);
}

int main(void)
{
    unfiltered();
    CASE(have_a_size);
    CASE(name_the_same_file);
    CASE(errors);
    CASE(are_opened_by_root);
    return 0;
}
