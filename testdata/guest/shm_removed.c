// covers: shmget shmat shmdt shmctl fork execve mmap mprotect munmap
#include "child.h"
#include <sys/shm.h>

/* Segments of shared memory that are removed while they are attached, and mappings as parts of the address space. */
static int id;
static char *p;

static void info(const char *what)
{
    struct shmid_ds d;
    long r = S(shmctl, id, IPC_STAT, &d);
    if (r < 0)
        show(what, r);
    else
        printf("%s: attached %d mode %o size %ld\n", what, (int)d.shm_nattch, d.shm_perm.mode, (long)d.shm_segsz);
}
static void inherits(void)
{
    info("in the child"), p[1] = 'c', show("detach", S(shmdt, p)), info("detached in the child"), p = (char *)S(shmat, id, 0, SHM_RDONLY),
        printf("%c%c\n", p[0], p[1]);
}
static void executes(void)
{
    execl("/bin/true", "true", NULL);
}
static void attaches_removed(void)
{
    char *q = (char *)S(shmat, id, 0, 0);
    is(q != p && (long)q > 0), q[2] = 'r';
}

int main(void)
{
    int key = 0x6367;
    id = (int)S(shmget, IPC_PRIVATE, 5000, 0600), info("new");
    p = (char *)S(shmat, id, 0, 0), is(((long)p & 4095) == 0), p[0] = 'p', p[8191] = 'e', info("attached"), reap(child(inherits)),
        info("child ended"), printf("%c%c\n", p[0], p[1]), reap(child(executes)), info("child executed");
    char *q = (char *)S(shmat, id, 0, SHM_RDONLY);
    info("twice"), printf("%c\n", q[0]), T(mprotect, q, 4096, PROT_READ | PROT_WRITE), T(shmdt, q + 4096), T(shmdt, q + 1), T(shmdt, BAD),
        T(shmdt, q), T(shmdt, q), info("once");

    /* At an address: rounded or not, over something or not. */
    char *room = mmap(0, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    show("not of a page", S(shmat, id, room + 1, 0)), show("over a mapping", S(shmat, id, room, 0)), is(S(shmat, id, room, SHM_REMAP) == (long)room),
        is(room[0] == 'p'), show("SHM_REMAP without a place", S(shmat, id, 0, SHM_REMAP)), munmap(room + 8192, 8192),
        is(S(shmat, id, room + 8192 + 5, SHM_RND) == (long)room + 8192), is(room[8192] == 'p'), info("three"), T(munmap, room + 8192, 4096),
        info("half unmapped"), T(shmdt, room + 8192), info("the rest"), T(shmdt, room), munmap(room, 16 * 4096);
    is(S(shmat, id, 0, SHM_EXEC) > 0), show("flags 0x100000", S(shmat, id, 0, 0x100000) > 0), info("more");

    /* Removed: those that have it keep it, the key is free. */
    T(shmctl, id, IPC_RMID, 0), info("removed"), p[0] = 'k', reap(child(attaches_removed)), printf("%c\n", p[2]), T(shmctl, id, IPC_RMID, 0),
        info("removed again");
    for (char line[200], *e = (char *)p; e; e = 0) {
        FILE *f = fopen("/proc/self/maps", "r");
        int count = 0;
        while (fgets(line, sizeof line, f))
            count += strstr(line, "/SYSV00000000 (deleted)") != 0;
        fclose(f), num(count);
    }
    S(shmdt, p);
    int a = (int)S(shmget, key + getpid() % 100000 * 65536, 4096, IPC_CREAT | IPC_EXCL | 0600), b;
    is(a >= 0), show("exclusive", S(shmget, key + getpid() % 100000 * 65536, 4096, IPC_CREAT | IPC_EXCL | 0600)),
        show("larger", S(shmget, key + getpid() % 100000 * 65536, 8192, 0)), is(S(shmget, key + getpid() % 100000 * 65536, 100, 0) == a),
        is(S(shmget, key + getpid() % 100000 * 65536, 0, 0) == a), p = (char *)S(shmat, a, 0, 0), T(shmctl, a, IPC_RMID, 0),
        show("by the key", S(shmget, key + getpid() % 100000 * 65536, 4096, 0)),
        b = (int)S(shmget, key + getpid() % 100000 * 65536, 4096, IPC_CREAT | 0600), is(b >= 0 && b != a), p[0] = 'a', q = (char *)S(shmat, b, 0, 0),
        is(q[0] == 0), T(shmctl, b, IPC_RMID, 0), T(shmdt, p), id = a, info("first gone"), id = b, info("second marked"), T(shmdt, q),
        info("second gone");
    T(shmget, IPC_PRIVATE, 0, 0600), T(shmget, IPC_PRIVATE, -1, 0600), T(shmget, 0x7fffabcd, 4096, 0), T(shmat, -1, 0, 0), T(shmctl, -1, IPC_RMID, 0),
        T(shmctl, b, IPC_STAT, p), T(shmctl, 0, 99, 0);
    return 0;
}
