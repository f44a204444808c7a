// covers: add_key request_key keyctl fork clone setresuid
// flags: -pthread
/* Keys: types, special keyrings, searching, permissions, ends, links, quotas, and what children and threads have. */
#include "cases.h"
#include <linux/keyctl.h>
#include <pthread.h>
#include <sys/wait.h>

#ifndef KEYCTL_MOVE
#define KEYCTL_MOVE 30
#endif
#ifndef KEYCTL_CAPABILITIES
#define KEYCTL_CAPABILITIES 31
#endif

#define SESSION (-3)

static long add(const char *type, const char *name, const char *content, long keyring)
{
    return S(add_key, type, name, content, content ? strlen(content) : 0, keyring);
}

/* Every serial number is another on every machine: only whether there is one. */
#define KEY(expr) show_ok(#expr, (expr))

static void described(const char *what, long key)
{
    char text[300];
    memset(text, '#', sizeof text);
    long n = S(keyctl, KEYCTL_DESCRIBE, key, text, sizeof text);
    if (n < 0) {
        show(what, n);
        return;
    }
    /* Without the ids of the user and the group. */
    char *perm = strchr(strchr(strchr(text, ';') + 1, ';') + 1, ';');
    *strchr(text, ';') = 0;
    printf("%s: %s%s, NUL %d\n", what, text, perm, text[n - 1] == 0);
}

static void content(const char *what, long key)
{
    char text[100];
    memset(text, '#', sizeof text);
    long n = S(keyctl, KEYCTL_READ, key, text, sizeof text);
    if (n < 0)
        show(what, n);
    else
        printf("%s holds %ld: %.*s\n", what, n, (int)n, text);
}

static long count(long keyring)
{
    return S(keyctl, KEYCTL_READ, keyring, NULL, 0) / 4;
}

static void types(void)
{
    static char big[40000];
    memset(big, 'b', sizeof big);
    long user = KEY(add("user", "u", "hello", SESSION));
    long logon = KEY(add("logon", "service:l", "secret", SESSION));
    long ring = KEY(add("keyring", "r", NULL, SESSION));
    described("user", user), described("logon", logon), described("keyring", ring);
    content("user", user), content("logon", logon), num(count(ring));
    KEY(add("logon", "nocolon", "x", SESSION)), KEY(add("logon", ":x", "x", SESSION));
    KEY(add("user", "empty", NULL, SESSION)), KEY(add("keyring", "full", "x", SESSION));
    KEY(add("nothing", "x", "x", SESSION)), KEY(add(".x", "x", "x", SESSION)), KEY(add("", "x", "x", SESSION));
    KEY(add("keyring", ".x", NULL, SESSION)), KEY(add("user", "", "x", SESSION));
    KEY(add("a type with a very long name beyond bounds", "x", "x", SESSION));
    T(add_key, "user", NULL, "x", 1, SESSION), T(add_key, BAD, "x", "x", 1, SESSION);
    T(add_key, "user", BAD, "x", 1, SESSION), T(add_key, "user", "x", BAD, 1, SESSION);
    T(add_key, "user", "x", big, 32768, SESSION), T(add_key, "user", "x", big, 1 << 20, SESSION);
    T(add_key, "user", big, "x", 1, SESSION);
    T(add_key, "user", "x", "x", 1, 0), T(add_key, "user", "x", "x", 1, -6), T(add_key, "user", "x", "x", 1, -9);
    T(add_key, "user", "x", "x", 1, user), T(add_key, "user", "x", "x", 1, 0x7ffffff1);
    /* The same name again is an update, of a keyring another one. */
    is(add("user", "u", "other", SESSION) == user), content("user again", user);
    is(add("keyring", "r", NULL, SESSION) != ring);
    T(keyctl, KEYCTL_UPDATE, user, "third", 5), content("updated", user);
    T(keyctl, KEYCTL_UPDATE, user, "", 0), T(keyctl, KEYCTL_UPDATE, user, big, 4097), T(keyctl, KEYCTL_UPDATE, user, BAD, 3);
    T(keyctl, KEYCTL_UPDATE, SESSION, "x", 1);
}

static void reading(void)
{
    char text[8] = "########";
    long key = add("user", "read", "abcdef", SESSION);
    num(S(keyctl, KEYCTL_READ, key, NULL, 100)), num(S(keyctl, KEYCTL_READ, key, text, 0));
    num(S(keyctl, KEYCTL_READ, key, text, 5)), printf("%.8s\n", text);
    num(S(keyctl, KEYCTL_READ, key, text, 6)), printf("%.8s\n", text);
    T(keyctl, KEYCTL_READ, key, BAD, 100), T(keyctl, KEYCTL_READ, 0, text, 8), T(keyctl, KEYCTL_READ, -9, text, 8);
    memset(text, '#', 8);
    is(S(keyctl, KEYCTL_DESCRIBE, key, text, 8) > 8), printf("%.8s\n", text), T(keyctl, KEYCTL_DESCRIBE, key, BAD, 4000);
    T(keyctl, KEYCTL_GET_SECURITY, 0, text, 8);
}

static void special(void)
{
    T(keyctl, KEYCTL_GET_KEYRING_ID, -1, 0), T(keyctl, KEYCTL_GET_KEYRING_ID, -2, 0);
    long thread = KEY(S(keyctl, KEYCTL_GET_KEYRING_ID, -1, 1)), process = KEY(S(keyctl, KEYCTL_GET_KEYRING_ID, -2, 1));
    long user = KEY(S(keyctl, KEYCTL_GET_KEYRING_ID, -4, 0)), session = KEY(S(keyctl, KEYCTL_GET_KEYRING_ID, -5, 0));
    described("thread", thread), described("process", process);
    is(S(keyctl, KEYCTL_GET_KEYRING_ID, -1, 0) == thread), is(S(keyctl, KEYCTL_GET_KEYRING_ID, thread, 0) == thread);
    is(user != session);
    for (long id = -6; id > -10; id--)
        T(keyctl, KEYCTL_GET_KEYRING_ID, id, 1);
    T(keyctl, KEYCTL_GET_KEYRING_ID, 0, 0), T(keyctl, KEYCTL_GET_KEYRING_ID, 0x7ffffff1, 0);
    T(keyctl, KEYCTL_SET_REQKEY_KEYRING, -1), T(keyctl, KEYCTL_SET_REQKEY_KEYRING, 1), T(keyctl, KEYCTL_SET_REQKEY_KEYRING, 7);
    T(keyctl, KEYCTL_SET_REQKEY_KEYRING, 6), T(keyctl, KEYCTL_SET_REQKEY_KEYRING, 8), T(keyctl, KEYCTL_SET_REQKEY_KEYRING, -2);
    T(keyctl, KEYCTL_SET_REQKEY_KEYRING, 0), T(keyctl, KEYCTL_SET_REQKEY_KEYRING, -1);
    T(keyctl, KEYCTL_JOIN_SESSION_KEYRING, BAD), T(keyctl, KEYCTL_JOIN_SESSION_KEYRING, ".x");
    char name[64];
    sprintf(name, "cgemu-%d", getpid());
    long named = KEY(S(keyctl, KEYCTL_JOIN_SESSION_KEYRING, name));
    described("anonymous", KEY(S(keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL)));
    is(S(keyctl, KEYCTL_GET_KEYRING_ID, SESSION, 0) != named);
}

static void searching(void)
{
    long a = add("keyring", "a", NULL, SESSION), b = add("keyring", "b", NULL, a), c = add("keyring", "c", NULL, b);
    long deep = add("user", "deep", "x", c), other = add("keyring", "other", NULL, SESSION);
    is(S(keyctl, KEYCTL_SEARCH, SESSION, "user", "deep", 0) == deep), is(S(keyctl, KEYCTL_SEARCH, a, "user", "deep", 0) == deep);
    is(S(request_key, "user", "deep", NULL, 0) == deep), num(count(other));
    is(S(keyctl, KEYCTL_SEARCH, b, "user", "deep", other) == deep), num(count(other));
    is(S(keyctl, KEYCTL_SEARCH, SESSION, "keyring", "c", 0) == c), is(S(keyctl, KEYCTL_SEARCH, c, "keyring", "c", 0) == c);
    T(keyctl, KEYCTL_SEARCH, other, "user", "no", 0), T(keyctl, KEYCTL_SEARCH, SESSION, "logon", "deep", 0);
    T(keyctl, KEYCTL_SEARCH, SESSION, "nothing", "deep", 0), T(keyctl, KEYCTL_SEARCH, deep, "user", "deep", 0);
    T(keyctl, KEYCTL_SEARCH, SESSION, ".x", "deep", 0), T(keyctl, KEYCTL_SEARCH, SESSION, "user", BAD, 0);
    T(request_key, "user", "no", NULL, 0), T(request_key, "nothing", "no", NULL, 0), T(request_key, BAD, "no", NULL, 0);
    T(request_key, "user", "no", BAD, 0), T(request_key, "user", "no", NULL, 0x7ffffff1);
    /* As deep as it is searched. */
    long at = add("keyring", "0", NULL, SESSION);
    for (int depth = 1; depth < 8; depth++) {
        char name[8] = {(char)('0' + depth)};
        at = add("keyring", name, NULL, at);
        sprintf(name, "k%d", depth);
        add("user", name, "x", at);
        printf("depth %d: ", depth), show_ok("search", S(keyctl, KEYCTL_SEARCH, SESSION, "user", name, 0));
    }
}

static void links(void)
{
    long a = add("keyring", "a", NULL, SESSION), b = add("keyring", "b", NULL, SESSION), key = add("user", "k", "x", a);
    T(keyctl, KEYCTL_LINK, key, b), T(keyctl, KEYCTL_LINK, key, b), num(count(a)), num(count(b));
    T(keyctl, KEYCTL_UNLINK, key, a), T(keyctl, KEYCTL_UNLINK, key, a), num(count(a)), content("key", key);
    T(keyctl, KEYCTL_LINK, a, a), T(keyctl, KEYCTL_LINK, b, a), T(keyctl, KEYCTL_LINK, a, b), T(keyctl, KEYCTL_UNLINK, b, a);
    T(keyctl, KEYCTL_LINK, key, key), T(keyctl, KEYCTL_UNLINK, key, key), T(keyctl, KEYCTL_LINK, 0, b), T(keyctl, KEYCTL_LINK, key, 0);
    T(keyctl, KEYCTL_MOVE, key, b, a, 0), num(count(a)), num(count(b)), T(keyctl, KEYCTL_MOVE, key, b, a, 0);
    T(keyctl, KEYCTL_MOVE, key, a, a, 0), T(keyctl, KEYCTL_MOVE, key, a, b, 2), T(keyctl, KEYCTL_MOVE, key, a, key, 0);
    add("user", "k", "y", b);
    T(keyctl, KEYCTL_MOVE, key, a, b, 1), T(keyctl, KEYCTL_MOVE, key, a, b, 0), num(count(b));
    T(keyctl, KEYCTL_CLEAR, b), num(count(b)), T(keyctl, KEYCTL_CLEAR, 0x7ffffff1);
    key = add("user", "k", "x", a), T(keyctl, KEYCTL_CLEAR, key);
    /* Nothing more. */
    T(keyctl, KEYCTL_RESTRICT_KEYRING, a, "user", NULL), T(keyctl, KEYCTL_RESTRICT_KEYRING, a, NULL, "x");
    T(keyctl, KEYCTL_RESTRICT_KEYRING, a, "user", "x"), T(keyctl, KEYCTL_RESTRICT_KEYRING, a, "nothing", "x");
    T(keyctl, KEYCTL_RESTRICT_KEYRING, key, NULL, NULL), T(keyctl, KEYCTL_RESTRICT_KEYRING, a, NULL, NULL);
    T(keyctl, KEYCTL_RESTRICT_KEYRING, a, NULL, NULL), T(keyctl, KEYCTL_LINK, b, a), KEY(add("user", "n", "x", a));
    T(keyctl, KEYCTL_UNLINK, key, a);
}

static void permissions(void)
{
    long ring = add("keyring", "perm", NULL, SESSION), key = add("user", "p", "x", ring);
    T(keyctl, KEYCTL_SETPERM, key, 0x40000000), T(keyctl, KEYCTL_SETPERM, key, 0x3f3f3f3f), described("all", key);
    T(keyctl, KEYCTL_SETPERM, key, 0x3d000000), T(keyctl, KEYCTL_READ, key, NULL, 0), content("possessed", key);
    T(keyctl, KEYCTL_SETPERM, key, 0x37000000), T(keyctl, KEYCTL_READ, key, NULL, 0), T(keyctl, KEYCTL_SETPERM, key, 0x3f3f0000);
    T(keyctl, KEYCTL_UNLINK, key, ring);
    key = add("user", "p", "x", ring);
    T(keyctl, KEYCTL_SETPERM, key, 0x3b000000), T(keyctl, KEYCTL_UPDATE, key, "y", 1), KEY(add("user", "p", "z", ring));
    T(keyctl, KEYCTL_REVOKE, key), T(keyctl, KEYCTL_READ, key, NULL, 0);
    key = add("user", "q", "x", ring);
    T(keyctl, KEYCTL_SETPERM, key, 0x1f3f0000 & ~0x200000), T(keyctl, KEYCTL_SETPERM, key, 0x3f000000);
    T(keyctl, KEYCTL_SET_TIMEOUT, key, 10), T(keyctl, KEYCTL_CHOWN, key, -1, -1), T(keyctl, KEYCTL_CHOWN, key, getuid(), -1);
    T(keyctl, KEYCTL_SETPERM, ring, 0x3b3b0000), KEY(add("user", "n", "x", ring)), T(keyctl, KEYCTL_CLEAR, ring);
    T(keyctl, KEYCTL_SETPERM, ring, 0x37370000), KEY(S(keyctl, KEYCTL_SEARCH, SESSION, "user", "q", 0));
    T(keyctl, KEYCTL_SEARCH, ring, "user", "q", 0);
}

static void ends(void)
{
    long ring = add("keyring", "ends", NULL, SESSION), key = add("user", "e", "x", ring);
    T(keyctl, KEYCTL_SET_TIMEOUT, key, 1000), content("before", key), T(keyctl, KEYCTL_SET_TIMEOUT, key, 0);
    T(keyctl, KEYCTL_SET_TIMEOUT, key, 1), usleep(2100000), content("expired", key);
    T(keyctl, KEYCTL_SEARCH, ring, "user", "e", 0), T(request_key, "user", "e", NULL, 0), T(keyctl, KEYCTL_UPDATE, key, "x", 1);
    T(keyctl, KEYCTL_DESCRIBE, key, NULL, 0), num(count(ring)), is(add("user", "e", "new", ring) == key), content("again", key);
    T(keyctl, KEYCTL_REVOKE, key), content("revoked", key), T(keyctl, KEYCTL_REVOKE, key), num(count(ring));
    T(keyctl, KEYCTL_SEARCH, ring, "user", "e", 0), T(request_key, "user", "e", NULL, 0), T(keyctl, KEYCTL_LINK, key, SESSION);
    is(add("user", "e", "new", ring) != key), num(count(ring));
    key = add("user", "i", "x", ring);
    T(keyctl, KEYCTL_INVALIDATE, key), T(keyctl, KEYCTL_INVALIDATE, key);
    T(keyctl, KEYCTL_REVOKE, ring), T(keyctl, KEYCTL_READ, ring, NULL, 0), KEY(add("user", "n", "x", ring));
}

static void authority(void)
{
    long key = add("user", "auth", "x", SESSION);
    T(keyctl, KEYCTL_INSTANTIATE, key, "x", 1, SESSION), T(keyctl, KEYCTL_INSTANTIATE, key, "x", 1 << 20, SESSION);
    T(keyctl, KEYCTL_NEGATE, key, 1, SESSION), T(keyctl, KEYCTL_REJECT, key, 1, 13, SESSION), T(keyctl, KEYCTL_REJECT, key, 1, 0, 0);
    T(keyctl, KEYCTL_REJECT, key, 1, 4095, 0), T(keyctl, KEYCTL_REJECT, key, 1, 512, 0);
    T(keyctl, KEYCTL_ASSUME_AUTHORITY, 0), T(keyctl, KEYCTL_ASSUME_AUTHORITY, -1), T(keyctl, KEYCTL_ASSUME_AUTHORITY, key);
    T(keyctl, 99), T(keyctl, -1);
    unsigned char caps[8];
    memset(caps, 0xee, sizeof caps);
    num(S(keyctl, KEYCTL_CAPABILITIES, caps, 8)), printf("%d %d %d\n", caps[0] & 1, caps[2], caps[7]);
    num(S(keyctl, KEYCTL_CAPABILITIES, NULL, 0)), T(keyctl, KEYCTL_CAPABILITIES, BAD, 1), T(keyctl, KEYCTL_CAPABILITIES, edge() - 2, 3);
}

static void quota(void)
{
    static char big[32767];
    memset(big, 'b', sizeof big);
    long ring = add("keyring", "quota", NULL, SESSION), got = 0;
    if (getuid() == 0) {
        /* Root has another. */
        show("at most", -EDQUOT), show("keyctl(KEYCTL_CLEAR, ring)", 0), show_ok("got", 0), show("of one", -EDQUOT);
        return;
    }
    for (int at = 0; at < 300 && got >= 0; at++) {
        char name[16];
        sprintf(name, "%d", at);
        got = add("user", name, "x", ring);
    }
    show_ok("at most", got == -EDQUOT ? got : 0), T(keyctl, KEYCTL_CLEAR, ring);
    for (int wait = 0; wait < 50 && (got = S(add_key, "user", "small", big, 9000, ring)) == -EDQUOT; wait++)
        usleep(100000);
    KEY(got), show_ok("of one", S(add_key, "user", "large", big, 20000, ring));
}

static long of_thread[3];
static void *thread(void *unused)
{
    of_thread[0] = S(keyctl, KEYCTL_GET_KEYRING_ID, -1, 0), of_thread[1] = S(keyctl, KEYCTL_GET_KEYRING_ID, -2, 0);
    of_thread[2] = S(keyctl, KEYCTL_GET_KEYRING_ID, SESSION, 0);
    return unused;
}

static void children(void)
{
    long own = S(keyctl, KEYCTL_GET_KEYRING_ID, -1, 1), process = S(keyctl, KEYCTL_GET_KEYRING_ID, -2, 1);
    long session = S(keyctl, KEYCTL_GET_KEYRING_ID, SESSION, 1), key = add("user", "child", "x", SESSION);
    fflush(stdout);
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL), pthread_join(other, NULL);
    is(of_thread[0] > 0), is(of_thread[0] != own), is(of_thread[1] == process), is(of_thread[2] == session);
    fflush(stdout);
    if (!fork()) {
        T(keyctl, KEYCTL_GET_KEYRING_ID, -1, 0), T(keyctl, KEYCTL_GET_KEYRING_ID, -2, 0), content("in the child", key);
        is(S(keyctl, KEYCTL_GET_KEYRING_ID, SESSION, 0) == session), described("of the parent", own);
        KEY(S(keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL)), T(keyctl, KEYCTL_READ, key, NULL, 0), KEY(add("user", "gift", "y", SESSION));
        T(keyctl, KEYCTL_SESSION_TO_PARENT);
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    is(S(keyctl, KEYCTL_GET_KEYRING_ID, SESSION, 0) != session), KEY(S(request_key, "user", "gift", NULL, 0));
}

int main(void)
{
    unfiltered();
    if (S(keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) == -ENOSYS)
        lacks("this kernel has no keys (CONFIG_KEYS)");
    types(), reading(), special(), searching(), links(), permissions(), ends(), authority(), children(), quota();
    return 0;
}
