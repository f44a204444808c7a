// covers: msgget msgsnd msgrcv msgctl fork kill
#include "child.h"
#include <sys/msg.h>

/* Which message msgrcv(2) takes by its type, who waits and who is woken, and a queue that is full or removed. */
static int id;
static struct {
    long type;
    char text[100];
} m;

static long send_(long type, const char *text)
{
    m.type = type, strcpy(m.text, text);
    return S(msgsnd, id, &m, strlen(text), IPC_NOWAIT);
}
static void get(const char *what, long type, size_t room, int flags)
{
    memset(&m, 0, sizeof m);
    long r = S(msgrcv, id, &m, room, type, flags);
    if (r < 0)
        show(what, r);
    else
        printf("%s: %ld of type %ld '%s'\n", what, r, m.type, m.text);
}
static void fill(void)
{
    send_(3, "three"), send_(1, "one"), send_(2, "two"), send_(1, "again one"), send_(5, "five");
}
static void waits_for_4(void)
{
    get("child: type 4", 4, 99, 0);
}
static void waits_below_3(void)
{
    get("child: up to 3", -3, 99, 0);
}
static void waits_for_others(void)
{
    get("child: not 4", 4, 99, MSG_EXCEPT);
}
static void waits_to_send(void)
{
    m.type = 7, show("child sends", S(msgsnd, id, &m, 100, 0));
}
static void waits_for_the_end(void)
{
    m.type = 7, _exit(S(msgsnd, id, &m, 100, 0) == -EIDRM ? 43 : 1);
}
static void waits_for_4_to_the_end(void)
{
    _exit(S(msgrcv, id, &m, 99, 4, 0) == -EIDRM ? 43 : 1);
}
static void number(const char *what)
{
    struct msqid_ds d;
    S(msgctl, id, IPC_STAT, &d),
        printf("%s: %ld messages, %ld bytes, last senders %d %d\n", what, (long)d.msg_qnum, (long)d.msg_cbytes, d.msg_lspid == getpid(),
            d.msg_lrpid == getpid());
}

int main(void)
{
    id = (int)S(msgget, IPC_PRIVATE, 0600), number("new");
    fill(), number("five"), get("first", 0, 99, 0), get("type 2", 2, 99, 0), get("type 2 again", 2, 99, IPC_NOWAIT), get("lowest up to 4", -4, 99, 0),
        get("again", -4, 99, 0), get("again", -4, 99, IPC_NOWAIT), get("rest", 0, 99, 0), get("empty", 0, 99, IPC_NOWAIT), number("empty");
    fill(), get("not 3", 3, 99, MSG_EXCEPT), get("too little room", 0, 3, 0), get("too little, cut", 0, 3, MSG_NOERROR),
        get("no room", 2, 0, MSG_NOERROR), get("not 1", 1, 99, MSG_EXCEPT), get("not 1", 1, 99, MSG_EXCEPT | IPC_NOWAIT), get("-1", -1, 99, 0),
        get("empty", 0, 99, IPC_NOWAIT);
    /* Copies stay: by place, and only without waiting. */
    fill(), get("copy of 0", 0, 99, 040000 | IPC_NOWAIT), get("copy of 4", 4, 99, 040000 | IPC_NOWAIT), get("copy of 5", 5, 99, 040000 | IPC_NOWAIT),
        get("copy that waits", 0, 99, 040000), get("copy but not", 0, 99, 040000 | MSG_EXCEPT | IPC_NOWAIT), number("all there");
    while (S(msgrcv, id, &m, 99, 0, IPC_NOWAIT) >= 0)
        ;
    show("type 0", send_(0, "x")), show("type -1", send_(-1, "x")), T(msgsnd, id, BAD, 1, 0), T(msgsnd, id, &m, -1, 0), T(msgrcv, id, &m, -1, 0, 0),
        show("nothing", send_(9, "")), get("nothing", 9, 0, 0), T(msgsnd, -1, &m, 1, 0),
        show("to a bad place", (send_(1, "lost"), S(msgrcv, id, BAD, 9, 0, 0))), number("lost or not");

    /* Who waits gets what it waits for, past others. */
    pid_t a = child(waits_for_4), b = child(waits_below_3), c = child(waits_for_others);
    asleep(a), asleep(b), asleep(c), send_(4, "for the first"), num(reap(a)), send_(5, "for the third"), num(reap(c)), send_(2, "for the second"),
        num(reap(b)), number("none left");
    struct msqid_ds d;
    S(msgctl, id, IPC_STAT, &d), d.msg_qbytes = 250, T(msgctl, id, IPC_SET, &d), m.type = 1, T(msgsnd, id, &m, 100, IPC_NOWAIT),
        T(msgsnd, id, &m, 100, IPC_NOWAIT), T(msgsnd, id, &m, 100, IPC_NOWAIT), T(msgsnd, id, &m, 50, IPC_NOWAIT), T(msgsnd, id, &m, 0, IPC_NOWAIT),
        T(msgsnd, id, &m, 251, IPC_NOWAIT);
    a = child(waits_to_send), asleep(a), get("room again", 0, 100, 0), num(reap(a)), number("full"), a = child(waits_for_the_end), b = child(waits_for_4_to_the_end),
        asleep(a), asleep(b), T(msgctl, id, IPC_RMID, 0), num(reap(a)), num(reap(b)), T(msgctl, id, IPC_STAT, &d), T(msgctl, id, IPC_RMID, 0),
        T(msgget, 0x7fffabce, 0), get("gone", 0, 9, 0);
    return 0;
}
