// covers: msgget msgsnd msgrcv msgctl
#include "child.h"
#include <sys/ipc.h>
#include <sys/msg.h>

struct text {
    long kind;
    char bytes[16400];
};
static struct text out, in;
static struct msqid_ds ds;
static long id;

static long send(long kind, const char *bytes, int flags)
{
    out.kind = kind;
    strcpy(out.bytes, bytes);
    return S(msgsnd, id, &out, strlen(bytes), flags);
}

/* Receives and shows what it got. */
static void receive(long kind, long room, int flags)
{
    memset(&in, 0, sizeof in);
    long got = S(msgrcv, id, &in, room, kind, flags);
    printf("kind %ld, room %ld, flags %o: ", kind, room, flags);
    if (got < 0)
        show("error", got);
    else
        printf("%ld bytes of kind %ld: %s\n", got, in.kind, in.bytes);
}

static void stat_of(const char *what)
{
    long got = S(msgctl, id, IPC_STAT, &ds);
    if (got < 0) {
        show(what, got);
        return;
    }
    printf("%s: mode %o, %ld messages of %ld bytes, most %ld, sent %d by %d, received %d by %d, changed %d\n", what,
           ds.msg_perm.mode, (long)ds.msg_qnum, (long)ds.__msg_cbytes, (long)ds.msg_qbytes, ds.msg_stime != 0,
           ds.msg_lspid == 0 ? 0 : ds.msg_lspid == getpid() ? 1 : 2, ds.msg_rtime != 0,
           ds.msg_lrpid == 0 ? 0 : ds.msg_lrpid == getpid() ? 1 : 2, ds.msg_ctime != 0);
}

static void gets_two(void)
{
    receive(0, 100, 0), receive(0, 100, 0);
}
static void gets_seven(void)
{
    receive(7, 100, 0);
}
static void gets_little(void)
{
    receive(0, 2, 0);
}
static void gets_a_part(void)
{
    receive(0, 2, MSG_NOERROR);
}
static void fills(void)
{
    memset(out.bytes, 'x', sizeof out.bytes);
    out.kind = 1;
    long got = S(msgsnd, id, &out, 8000, 0);
    _exit(got < 0 ? (int)-got : 0);
}
static void waits(void)
{
    _exit((int)-S(msgrcv, id, &in, 100, 99, 0));
}
static void handler(int signo)
{
    (void)signo;
}
static void interrupted(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    waits();
}
static void of_another_user(void)
{
    if (getuid() == 0)
        S(setresuid, 12345, 12345, 12345);
    int other = geteuid() == 12345;
    show("send", other ? send(1, "x", IPC_NOWAIT) : -EACCES);
    show("receive", other ? S(msgrcv, id, &in, 100, 0, IPC_NOWAIT) : -EACCES);
    show("look", other ? S(msgctl, id, IPC_STAT, &ds) : -EACCES);
    show("set", other ? S(msgctl, id, IPC_SET, &ds) : -EPERM);
    show("remove", other ? S(msgctl, id, IPC_RMID, 0) : -EPERM);
}

int main(void)
{
    int key = 0x5a000000 + getpid();
    struct msginfo info;

    show("no such key", S(msgget, key, 0));
    id = S(msgget, key, IPC_CREAT | IPC_EXCL | 0600);
    is(id >= 0), is(S(msgget, key, 0) == id), is(S(msgget, key, IPC_CREAT | 0600) == id);
    show("exclusive", S(msgget, key, IPC_CREAT | IPC_EXCL));
    stat_of("new");

    show("kind 0", send(0, "x", 0)), show("minus", send(-1, "x", 0)), show("empty", send(3, "", 0)), show("text", send(5, "five", 0));
    out.kind = 1;
    show("too long", S(msgsnd, id, &out, 8193, 0)), show("minus", S(msgsnd, id, &out, -1L, 0)), show("bad", S(msgsnd, id, BAD, 1, 0)), show("bad and long", S(msgsnd, id, BAD, 9000, 0));
    *(long *)(edge() - 8) = 1;
    show("kind alone", S(msgsnd, id, edge() - 8, 1, 0));
    T(msgsnd, -1, &out, 1, 0), T(msgsnd, 1 << 30, &out, 1, 0), T(msgrcv, -1, &in, 1, 0, 0), T(msgrcv, 1 << 30, &in, 1, 0, 0);
    show("minus", S(msgrcv, id, &in, -1L, 0, 0));
    stat_of("two");
    show("another", send(2, "two", 0)), show("another", send(9, "nine", 0)), show("another", send(2, "second two", 0)), show("another", send(4, "four", 0));
    receive(2, 2, IPC_NOWAIT), receive(2, 2, IPC_NOWAIT | MSG_NOERROR), receive(-4, 100, 0), receive(-4, 100, 0), receive(-4, 100, 0), receive(-4, 100, IPC_NOWAIT);
    receive(5, 100, MSG_EXCEPT), receive(5, 100, MSG_EXCEPT | IPC_NOWAIT), receive(0, 100, 0), receive(0, 100, IPC_NOWAIT);
    send(1, "lost", 0);
    show("bad", S(msgrcv, id, BAD, 100, 0, 0)), receive(0, 100, IPC_NOWAIT);
    send(1, "first", 0), send(2, "second", 0);
    show("copy that would wait", S(msgrcv, id, &in, 100, 0, MSG_COPY)), show("copy but one", S(msgrcv, id, &in, 100, 0, MSG_COPY | IPC_NOWAIT | MSG_EXCEPT));
    receive(-0x7fffffffffffffff - 1, 100, IPC_NOWAIT), receive(-0x7fffffffffffffff - 1, 100, IPC_NOWAIT);
    stat_of("empty");

    /* A full queue. */
    memset(out.bytes, 'x', sizeof out.bytes), out.kind = 1;
    show("fill", S(msgsnd, id, &out, 8192, IPC_NOWAIT)), show("fill", S(msgsnd, id, &out, 8192, IPC_NOWAIT)), show("full", S(msgsnd, id, &out, 1, IPC_NOWAIT)), show("empty text", S(msgsnd, id, &out, 0, IPC_NOWAIT));
    pid_t a = child(fills);
    asleep(a);
    show("receive", S(msgrcv, id, &in, 8192, 0, 0)), num(reap(a));
    stat_of("full again");
    S(msgctl, id, IPC_STAT, &ds), ds.msg_qbytes = 100;
    show("fewer", S(msgctl, id, IPC_SET, &ds)), show("full", S(msgsnd, id, &out, 1, IPC_NOWAIT));
    a = child(fills), asleep(a);
    ds.msg_qbytes = 16384;
    show("more", S(msgctl, id, IPC_SET, &ds)), show("receive", S(msgrcv, id, &in, 8192, 0, 0)), num(reap(a));
    stat_of("not full"), ds.msg_qbytes = 20000;
    long more = S(msgctl, id, IPC_SET, &ds);
    is(more == 0 || more == -EPERM);
    ds.msg_qbytes = 16384, S(msgctl, id, IPC_SET, &ds);
    while (S(msgrcv, id, &in, 8192, 0, IPC_NOWAIT) >= 0)
        ;

    /* Others wait, and are handed what they wait for. */
    a = child(gets_two), asleep(a), send(1, "one", 0), send(2, "two", 0), num(reap(a));
    a = child(gets_seven), asleep(a), send(1, "not this", 0), send(7, "this", 0), stat_of("one is left"), num(reap(a));
    receive(0, 100, IPC_NOWAIT);
    a = child(gets_little), asleep(a), show("too much for it", send(1, "much", 0)), num(reap(a)), receive(0, 100, IPC_NOWAIT);
    a = child(gets_a_part), asleep(a), show("a part of it", send(1, "much", 0)), num(reap(a)), receive(0, 100, IPC_NOWAIT);
    a = child(interrupted), asleep(a), kill(a, SIGUSR1), num(reap(a) == EINTR);
    a = child(waits), asleep(a), kill(a, SIGKILL), num(reap(a)), show("not to the dead", send(99, "x", 0)), receive(0, 100, IPC_NOWAIT);

    S(msgctl, id, IPC_STAT, &ds);
    reap(child(of_another_user));
    ds.msg_perm.mode = 0640;
    show("set", S(msgctl, id, IPC_SET, &ds)), show("bad", S(msgctl, id, IPC_SET, BAD)), show("bad", S(msgctl, id, IPC_STAT, BAD));
    printf("%d\n", S(msgctl, id, IPC_STAT, &ds) == 0 && ds.msg_perm.mode == 0640);
    T(msgctl, -1, IPC_STAT, &ds), T(msgctl, 1 << 30, IPC_RMID, 0), show("command", S(msgctl, id, 99, &ds)), show("minus", S(msgctl, id, -1, &ds));
    is(S(msgctl, 0, IPC_INFO, &info) >= 0 && info.msgmax == 8192 && info.msgssz == 16 && info.msgseg == 0xffff);
    is(S(msgctl, 0, MSG_INFO, &info) >= 0 && info.msgpool >= 1);
    long highest = S(msgctl, 0, MSG_INFO, &info), found = 0;
    for (long at = 0; at <= highest; at++)
        found += S(msgctl, at, MSG_STAT, &ds) == id;
    num(found);

    a = child(waits), asleep(a);
    show("remove", S(msgctl, id, IPC_RMID, 0)), is(reap(a) == EIDRM);
    stat_of("gone"), show("gone", send(1, "x", 0)), show("gone", S(msgrcv, id, &in, 1, 0, 0)), show("key", S(msgget, key, 0));
    id = S(msgget, IPC_PRIVATE, 0600);
    memset(out.bytes, 'x', sizeof out.bytes), out.kind = 1;
    S(msgsnd, id, &out, 8192, 0), S(msgsnd, id, &out, 8192, 0);
    a = child(fills), asleep(a);
    show("remove", S(msgctl, id, IPC_RMID, 0)), is(reap(a) == EIDRM);
    return 0;
}
