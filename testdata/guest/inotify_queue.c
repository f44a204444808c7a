// covers: inotify_init1 inotify_add_watch inotify_rm_watch read rename unlink ioctl
#include "guest.h"
#include <sys/inotify.h>
#include <sys/ioctl.h>

/* The queue of an inotify instance: equal events that become one, moves by their cookies, the overflow, and watches that
 * go while events of theirs wait. */
static long in;

static int drain(const char *what, int tell)
{
    static char buf[1 << 16] __attribute__((aligned(8)));
    int count = 0, overflow = 0, last = 0;
    unsigned cookie = 0, pairs = 0;
    for (long n; (n = S(read, in, buf, sizeof buf)) > 0;)
        for (long at = 0; at < n; count++) {
            struct inotify_event *e = (void *)(buf + at);
            if (tell)
                printf("  %#x%s%s\n", e->mask, e->len ? " " : "", e->len ? e->name : "");
            overflow += e->mask == IN_Q_OVERFLOW && e->wd == -1 && e->len == 0, last = e->mask == IN_Q_OVERFLOW;
            if (e->mask & IN_MOVED_TO)
                pairs += e->cookie && e->cookie == cookie;
            cookie = e->mask & IN_MOVED_FROM ? e->cookie : 0;
            at += sizeof *e + e->len;
        }
    printf("%s: %d events, %u moves, overflow %d%s\n", what, count, pairs, overflow, overflow && last ? " at the end" : "");
    return count;
}

int main(void)
{
    int most = 0, bytes = 0;
    FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    if (!f || fscanf(f, "%d", &most) != 1 || most > 100000)
        lacks("the queue of inotify is longer than 100,000 events here");
    fclose(f);
    S(mkdir, "d", 0755), S(mkdir, "e", 0755), put("d/a", "text"), put("d/b", "");
    in = S(inotify_init1, IN_NONBLOCK);
    T(inotify_add_watch, in, "d", IN_ALL_EVENTS);

    /* Equal to the last one: it is not said again. */
    long fd = S(open, "d/a", O_RDWR);
    drain("open", 1);
    for (int i = 0; i < 5; i++)
        S(write, fd, "x", 1);
    drain("five writes", 1);
    for (int i = 0; i < 3; i++)
        S(write, fd, "x", 1), S(pread64, fd, &bytes, 1, 0);
    drain("writes and reads in turns", 1), S(fchmod, fd, 0600), S(fchmod, fd, 0600), S(chmod, "d/b", 0600), S(chmod, "d/b", 0600), drain("chmod", 1),
        S(close, fd), drain("close", 1);
    S(rename, "d/a", "d/c"), S(rename, "d/c", "d/a"), S(rename, "d/a", "e/a"), S(rename, "e/a", "d/a"), drain("moves", 1);
    S(ioctl, in, FIONREAD, &bytes), num(bytes), S(unlink, "d/a"), S(ioctl, in, FIONREAD, &bytes), num(bytes), drain("unlink", 1);

    /* Two watches of one file by two names, and of a directory and a file in it. */
    put("one", ""), S(link, "one", "two");
    long w1 = S(inotify_add_watch, in, "one", IN_OPEN), w2 = S(inotify_add_watch, in, "two", IN_CLOSE);
    is(w1 == w2), S(close, S(open, "one", O_RDONLY)), drain("the last mask counts", 1), w2 = S(inotify_add_watch, in, "two", IN_OPEN | IN_MASK_ADD),
        S(close, S(open, "two", O_RDONLY)), drain("both masks", 1);
    S(unlink, "one"), S(unlink, "two"), drain("no name left", 1), show("gone by itself", S(inotify_rm_watch, in, w1));

    /* A watch that is taken away: what waits stays, and one event ends it. */
    long w = S(inotify_add_watch, in, "d", IN_CREATE | IN_DELETE);
    put("d/x", ""), show("away", S(inotify_rm_watch, in, w)), put("d/y", ""), drain("after it", 1), is(S(inotify_add_watch, in, "d", IN_CREATE) > w);

    /* More than fits. */
    put("d/k", "k"), put("d/l", "l");
    long k = S(open, "d/k", O_RDONLY), l = S(open, "d/l", O_RDONLY);
    S(inotify_add_watch, in, "d", IN_ACCESS | IN_ATTRIB);
    for (int i = 0; i < most / 2 + 25; i++)
        S(pread64, k, &bytes, 1, 0), S(pread64, l, &bytes, 1, 0);
    is(drain("too many", 0) == most + 1), S(chmod, "d/k", 0644), drain("after the overflow", 1);
    long second = S(inotify_init1, IN_NONBLOCK);
    S(inotify_add_watch, second, "d", IN_DELETE_SELF | IN_MOVE_SELF), in = second, S(rename, "d", "e/d"), drain("moved itself", 1),
        S(unlink, "e/d/k"), S(unlink, "e/d/l"), S(unlink, "e/d/b"), S(unlink, "e/d/x"), S(unlink, "e/d/y"), show("rmdir", S(rmdir, "e/d")),
        drain("removed", 1);
    return 0;
}
