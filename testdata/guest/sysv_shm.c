// covers: shmget shmat shmdt shmctl
#include "guest.h"
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>

#define P 4096L

static struct shmid_ds ds;

static void stat_of(const char *what, int id)
{
    long got = S(shmctl, id, IPC_STAT, &ds);
    if (got < 0) {
        show(what, got);
        return;
    }
    printf("%s: size %ld mode %o attached %ld key %s made %d last %d", what, (long)ds.shm_segsz,
           ds.shm_perm.mode, (long)ds.shm_nattch, ds.shm_perm.__key ? "some" : "none", ds.shm_cpid == getpid(),
           ds.shm_lpid == 0 ? 0 : ds.shm_lpid == getpid() ? 1 : 2);
    printf(" times %d%d%d\n", ds.shm_atime != 0, ds.shm_dtime != 0, ds.shm_ctime != 0);
}

/* The mapping that begins at an address. */
static void line_of(void *at, int id)
{
    char buf[65536], want[32], *line, perms[8], name[64] = "";
    unsigned long inode = 0;
    long file = S(open, "/proc/self/maps", O_RDONLY), n = 0, got;
    while ((got = S(read, file, buf + n, sizeof buf - 1 - n)) > 0)
        n += got;
    S(close, file);
    buf[n > 0 ? n : 0] = 0;
    sprintf(want, "%08lx-", (long)at);
    if (!(line = strstr(buf, want))) {
        printf("not mapped\n");
        return;
    }
    sscanf(strchr(line, ' '), "%7s %*s %*s %lu %63[^\n]", perms, &inode, name);
    printf("%s %.5s%s, inode %s\n", perms, name, strstr(name, " (deleted)") ? " (deleted)" : "",
           inode == (unsigned long)id ? "is the id" : "is another");
}

static int in_table(int id)
{
    char line[512];
    int found = 0, other;
    FILE *file = fopen("/proc/sysvipc/shm", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%*d %d", &other) == 1 && other == id)
            found++;
    if (file)
        fclose(file);
    return found;
}

int main(void)
{
    int key = 0x5a000000 + getpid(), status;
    struct shminfo info;
    struct shm_info used;

    T(shmget, IPC_PRIVATE, 0, 0600);
    T(shmget, IPC_PRIVATE, -1L, 0600);
    T(shmget, IPC_PRIVATE, -1L << 12, 0600);
    long none = S(shmget, key, 100, 0600);
    show("no such key", none);
    long id = S(shmget, key, 5000, IPC_CREAT | IPC_EXCL | 0640);
    is(id >= 0);
    stat_of("new", id);
    is(S(shmget, key, 0, 0) == id);
    is(S(shmget, key, 5000, IPC_CREAT | 0600) == id);
    is(S(shmget, key, 100, 0) == id);
    show("larger", S(shmget, key, 5001, 0));
    show("exclusive", S(shmget, key, 100, IPC_CREAT | IPC_EXCL));
    is(in_table(id) == 1);

    T(shmat, -1, 0, 0), T(shmat, id + (1 << 30), 0, 0), T(shmat, id, 1, 0), T(shmat, id, P + 1, 0);
    show("0 with REMAP", S(shmat, id, 0, SHM_REMAP));
    show("1 with RND and REMAP", S(shmat, id, 1, SHM_RND | SHM_REMAP));
    show("kernel", S(shmat, id, 0x7ffffffff000, 0));
    show("far", S(shmat, id, -P, 0));
    char *a = (char *)S(shmat, id, 0, 0), *b = (char *)S(shmat, id, 0, SHM_RDONLY);
    line_of(a, id), line_of(b, id);
    stat_of("attached twice", id);
    a[0] = 'x', a[2 * P - 1] = 'y';
    is(b[0] == 'x' && b[2 * P - 1] == 'y' && b[1] == 0);
    show("mprotect of what is only read", S(mprotect, b, P, PROT_READ | PROT_WRITE));
    show("over another", S(shmat, id, a, 0));
    show("over a part of another", S(shmat, id, a + P, 0));
    char *place = mmap(NULL, 8 * P, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    show("over a mapping", S(shmat, id, place, 0));
    is(S(shmat, id, place + 2 * P, SHM_REMAP) == (long)place + 2 * P);
    S(munmap, place, 8 * P);
    stat_of("unmapped", id);
    is(S(shmat, id, place + 5, SHM_RND) == (long)place);
    is(S(shmat, id, place + 4 * P, SHM_EXEC) == (long)place + 4 * P);
    line_of(place + 4 * P, id);
    stat_of("attached four times", id);
    show("detach in the middle", S(shmdt, a + P)), show("detach nothing", S(shmdt, 16 * P)), show("odd", S(shmdt, a + 1));
    show("detach", S(shmdt, place)), show("again", S(shmdt, place));
    show("detach the other", S(shmdt, place + 4 * P));
    /* Without its first page it is still found by where it was attached. */
    S(munmap, a, P), show("detach the rest", S(shmdt, a));
    stat_of("one is left", id);
    /* A change in the middle makes it two mappings, each of which counts. */
    a = (char *)S(shmat, id, 0, 0), S(mprotect, a, P, PROT_READ);
    stat_of("three with a cut", id);
    S(shmdt, a), S(shmdt, b);
    stat_of("none", id);

    /* Children have it too, until they end, and do not have it after execve. */
    a = (char *)S(shmat, id, 0, 0);
    if (fork() == 0) {
        S(shmctl, id, IPC_STAT, &ds);
        a[5] = (char)('0' + ds.shm_nattch);
        _exit(0);
    }
    wait(&status);
    printf("%c\n", a[5]);
    stat_of("after a child", id);

    show("stat into nothing", S(shmctl, id, IPC_STAT, BAD)), show("set from nothing", S(shmctl, id, IPC_SET, BAD));
    T(shmctl, -1, IPC_STAT, &ds), T(shmctl, 1 << 30, IPC_STAT, &ds), show("command", S(shmctl, id, 99, &ds)), show("minus", S(shmctl, id, -1, &ds));
    S(shmctl, id, IPC_STAT, &ds);
    ds.shm_perm.mode = 0777600;
    show("set", S(shmctl, id, IPC_SET, &ds));
    stat_of("set", id);
    ds.shm_perm.uid = -1;
    show("no user", S(shmctl, id, IPC_SET, &ds));
    show("lock", S(shmctl, id, SHM_LOCK, 0));
    stat_of("locked", id);
    show("unlock", S(shmctl, id, SHM_UNLOCK, 0));
    stat_of("unlocked", id);
    is(S(shmctl, 0, IPC_INFO, &info) >= 0 && info.shmmin == 1 && info.shmmni == 4096);
    is(S(shmctl, 0, SHM_INFO, &used) >= 0 && used.used_ids >= 1 && used.shm_tot >= 2 && used.shm_rss >= 1);
    show("info into nothing", S(shmctl, 0, IPC_INFO, BAD)), show("info of minus one", S(shmctl, -1, IPC_INFO, &info));
    long highest = S(shmctl, 0, SHM_INFO, &used), found = 0;
    for (long at = 0; at <= highest; at++)
        found += S(shmctl, at, SHM_STAT, &ds) == id;
    num(found);
    show("place", S(shmctl, highest + 1, SHM_STAT, &ds));

    /* What is removed stays until the last one gives it up, without its key. */
    show("remove", S(shmctl, id, IPC_RMID, 0));
    stat_of("removed", id);
    show("key", S(shmget, key, 0, 0));
    b = (char *)S(shmat, id, 0, 0);
    is(b[5] == a[5]);
    stat_of("removed and attached", id);
    line_of(b, id);
    S(munmap, a, 2 * P);
    show("remove again", S(shmctl, id, IPC_RMID, 0));
    S(shmdt, b);
    show("gone", S(shmctl, id, IPC_STAT, &ds)), show("gone", S(shmat, id, 0, 0)), show("gone", S(shmctl, id, IPC_RMID, 0));
    is(in_table(id) == 0);
    long fresh = S(shmget, key, 100, IPC_CREAT | 0);
    is(fresh >= 0 && fresh != id);
    a = (char *)S(shmat, fresh, 0, 0);
    /* A child that is killed gives it up too. */
    if (fork() == 0) {
        S(shmctl, fresh, IPC_RMID, 0);
        S(munmap, a, P);
        raise(SIGKILL);
    }
    wait(&status);
    stat_of("by a child", fresh);
    S(shmdt, a);
    show("gone", S(shmctl, fresh, IPC_STAT, &ds));

    /* Another user. */
    id = S(shmget, IPC_PRIVATE, P, 0600);
    if (getuid() == 0) {
        fflush(stdout);
        if (fork() == 0) {
            S(setresuid, 12345, 12345, 12345), S(setresgid, 12345, 12345, 12345);
            show("attach of another's", S(shmat, id, 0, 0)), show("look", S(shmctl, id, IPC_STAT, &ds));
            show("set", S(shmctl, id, IPC_SET, &ds)), show("remove", S(shmctl, id, IPC_RMID, 0)), show("lock", S(shmctl, id, SHM_LOCK, 0));
            fflush(stdout);
            _exit(0);
        }
        wait(&status);
    } else {
        show("attach of another's", -EACCES), show("look", -EACCES), show("set", -EPERM), show("remove", -EPERM), show("lock", -EPERM);
    }
    show("remove", S(shmctl, id, IPC_RMID, 0));
    return 0;
}
