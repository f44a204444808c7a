// covers: prctl timer_create mprotect mmap shmat
#include "cases.h"
#include <sys/shm.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#endif
#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#define PR_GET_MEMORY_MERGE 68
#endif
#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif
#define RESTORE_IDS 77
#define EXCEPT_ADVISED 2
#define P 4096L

static long auxv_bytes(void)
{
    static char buf[8192];
    long fd = S(open, "/proc/self/auxv", O_RDONLY), n = S(read, fd, buf, sizeof buf);
    S(close, fd);
    return n;
}

static long map[13];
#define NO_FILE (0xffffffffL << 32)
#define SET_MAP T(prctl, PR_SET_MM, PR_SET_MM_MAP, map, 104, 0)
static void fill(void)
{
    static const int fields[] = {26, 27, 45, 46, 47, 0, 28, 48, 49, 50, 51};
    for (int i = 0; i < 11; i++)
        map[i] = fields[i] ? own_stat_field(fields[i]) : S(brk, 0);
    map[11] = 0, map[12] = NO_FILE;
}
static void all_places(void)
{
    fill();
    SET_MAP;
    T(prctl, PR_SET_MM, PR_SET_MM_MAP, map, 103, 0), T(prctl, PR_SET_MM, PR_SET_MM_MAP, map, 0, 0);
    T(prctl, PR_SET_MM, PR_SET_MM_MAP, BAD, 104, 0), T(prctl, PR_SET_MM, PR_SET_MM_MAP, map, 104, 1);
    static const long odd[] = {0, (long)0xffff800000000000, 0x7ffffffff000, 65535, 65536};
    for (int i = 0; i < 11; i++) {
        long was = map[i];
        for (int k = 0; k < 5; k++) {
            printf("%d %#lx ", i, odd[k]);
            map[i] = odd[k], SET_MAP;
        }
        map[i] = was;
    }
    SET_MAP;
    map[0] = map[1], SET_MAP, fill();
    long end = map[5];
    map[5] = map[4], SET_MAP, is(S(brk, 0) == map[4]);
    map[5] = end, SET_MAP, is(S(brk, 0) == end), is(own_stat_field(47) == map[4]);
    map[7] += 3, map[10] -= 3, SET_MAP, is(own_stat_field(48) == map[7]), is(own_stat_field(51) == map[10]);
    struct rlimit small = {4096, 4096};
    S(setrlimit, RLIMIT_DATA, &small), map[2] -= 8192, SET_MAP;
}
static void another_vector(void)
{
    static long vector[200] = {6, 1234, 0, 0}, got[200];
    fill();
    map[12] = NO_FILE | 32, SET_MAP, map[11] = 16, SET_MAP;
    map[11] = (long)vector, SET_MAP, num(auxv_bytes());
    map[12] = NO_FILE | 5, vector[0] = 1, SET_MAP, num(auxv_bytes());
    map[12] = NO_FILE | 1600, SET_MAP;
    for (int i = 0; i < 200; i++)
        vector[i] = i + 1;
    int most = 1;
    while (most < 1600 && (map[12] = NO_FILE | most, S(prctl, PR_SET_MM, PR_SET_MM_MAP, map, 104, 0)) == 0)
        most++;
    most--;
    map[12] = NO_FILE | most, SET_MAP, is(auxv_bytes() == most);
    SINCE(604, most, prctl, PR_GET_AUXV, got, sizeof got, 0, 0);
    SINCE(604, most, prctl, PR_GET_AUXV, got, 16, 0, 0), SINCE(604, most, prctl, PR_GET_AUXV, BAD, 0, 0, 0);
    is(release() < 604 || (got[0] == 1 && got[most / 8 - 3] == most / 8 - 2 && !got[most / 8 - 2] && !got[most / 8 - 1]));
    SINCE(604, -EFAULT, prctl, PR_GET_AUXV, BAD, 16, 0, 0);
    T(prctl, PR_GET_AUXV, got, 16, 1, 0), T(prctl, PR_GET_AUXV, got, 16, 0, 1);
}
/* The program is still mapped, so that it cannot become another one. */
static void another_program(void)
{
    fill();
    const char *what[] = {"no descriptor", "itself", "a directory", "text", "an open path"};
    put("text", "text");
    long files[] = {99, S(open, "/proc/self/exe", O_RDONLY), S(open, "/", O_RDONLY), S(open, "text", O_RDONLY), S(open, "/bin/sh", O_PATH)};
    static const long expected[] = {-EBADF, -EBUSY, -EACCES, -EACCES, -EBADF};
    for (int i = 0; i < 5; i++) {
        map[12] = files[i] << 32;
        long r = S(prctl, PR_SET_MM, PR_SET_MM_MAP, map, 104, 0);
        if (r != expected[i] && r != -EPERM)
            show(what[i], r);
    }
}

static void child(const char *what, void (*run)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        run(), fflush(stdout), _exit(0);
    reap(what, pid, 0);
}

static char *a;
static void gained(void)
{
    SINCE(603, -EACCES, mprotect, a, P, PROT_READ | PROT_EXEC);
    SINCE(603, -EACCES, mprotect, a, P, PROT_READ | PROT_WRITE | PROT_EXEC);
    SINCE(603, -EACCES, mprotect, a + 2 * P, P, PROT_READ | PROT_WRITE | PROT_EXEC);
    SINCE(603, 0, mprotect, a + 2 * P, P, PROT_READ | PROT_EXEC), SINCE(603, 0, mprotect, a + 2 * P, P, PROT_EXEC);
    SINCE(603, -EACCES, mprotect, a + 3 * P, P, PROT_READ | PROT_WRITE | PROT_EXEC);
    SINCE(603, 0, mprotect, a + 3 * P, P, PROT_READ | PROT_EXEC);
    SINCE(603, -EACCES, mprotect, a + 2 * P, 3 * P, PROT_EXEC), SINCE(603, 0, mprotect, a + 3 * P, P, PROT_READ);
    SINCE(603, -EACCES, mprotect, a + 3 * P, P, PROT_READ | PROT_EXEC);
    SINCE(603, -EACCES, mmap, 0, P, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SINCE(603, -EACCES, mmap, 0, P, PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    is(S(mmap, 0, P, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) > 0);
    long id = S(shmget, IPC_PRIVATE, P, IPC_CREAT | 0700);
    SINCE(603, -EACCES, shmat, id, 0, SHM_EXEC);
    is(S(shmat, id, 0, SHM_EXEC | SHM_RDONLY) > 0), S(shmctl, id, IPC_RMID, 0);
}
static void ungained(void)
{
    T(mprotect, a, P, PROT_READ | PROT_EXEC);
}
static void execute_nothing_new(void)
{
    a = (char *)S(mmap, 0, 8 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    S(mprotect, a + 2 * P, P, PROT_READ | PROT_EXEC), S(mprotect, a + 3 * P, P, PROT_READ | PROT_WRITE | PROT_EXEC);
    SINCE(603, 0, prctl, PR_GET_MDWE, 0, 0, 0, 0), T(prctl, PR_GET_MDWE, 1, 0, 0, 0), T(prctl, PR_GET_MDWE, 0, 0, 0, 1);
    T(prctl, PR_SET_MDWE, 2, 0, 0, 0), T(prctl, PR_SET_MDWE, 4, 0, 0, 0), T(prctl, PR_SET_MDWE, 1, 1, 0, 0), T(prctl, PR_SET_MDWE, 1, 0, 0, 1);
    SINCE(603, 0, prctl, PR_SET_MDWE, 0, 0, 0, 0), SINCE(603, 0, prctl, PR_SET_MDWE, 1, 0, 0, 0);
    SINCE(603, -EPERM, prctl, PR_SET_MDWE, 0, 0, 0, 0), SINCE(606, -EPERM, prctl, PR_SET_MDWE, 3, 0, 0, 0);
    SINCE(603, 0, prctl, PR_SET_MDWE, 1, 0, 0, 0), SINCE(603, 1, prctl, PR_GET_MDWE, 0, 0, 0, 0);
    child("its child", gained);
    gained();
}
static void execute_nothing_new_alone(void)
{
    a = (char *)S(mmap, 0, 8 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SINCE(606, 0, prctl, PR_SET_MDWE, 3, 0, 0, 0), SINCE(606, 3, prctl, PR_GET_MDWE, 0, 0, 0, 0);
    SINCE(606, -EPERM, prctl, PR_SET_MDWE, 1, 0, 0, 0), SINCE(606, -EACCES, mprotect, a, P, PROT_READ | PROT_EXEC);
    child("its child", ungained);
}
static void small_and_large_pages(void)
{
    SINCE(618, 0, prctl, PR_SET_THP_DISABLE, 1, EXCEPT_ADVISED, 0, 0), SINCE(618, 3, prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0);
    T(prctl, PR_SET_THP_DISABLE, 5, 0, 0, 0), T(prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0);
    T(prctl, PR_SET_THP_DISABLE, 0, EXCEPT_ADVISED, 0, 0), T(prctl, PR_SET_THP_DISABLE, 1, 1, 0, 0);
    T(prctl, PR_SET_THP_DISABLE, 1, 3, 0, 0), T(prctl, PR_SET_THP_DISABLE, 1, EXCEPT_ADVISED, 1, 0);
    T(prctl, PR_SET_THP_DISABLE, 0, 0, 0, 0), T(prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0);
    /* A kernel may be without CONFIG_KSM. */
    long r = S(prctl, PR_SET_MEMORY_MERGE, 7, 0, 0, 0), there = r == 0;
    is(there || r == -EINVAL), is(S(prctl, PR_GET_MEMORY_MERGE, 0, 0, 0, 0) == (there ? 1 : -EINVAL));
    T(prctl, PR_GET_MEMORY_MERGE, 1, 0, 0, 0), T(prctl, PR_SET_MEMORY_MERGE, 1, 1, 0, 0), T(prctl, PR_SET_MEMORY_MERGE, 1, 0, 0, 1);
    is(S(prctl, PR_SET_MEMORY_MERGE, 0, 0, 0, 0) == r), is(S(prctl, PR_GET_MEMORY_MERGE, 0, 0, 0, 0) == (there ? 0 : -EINVAL));
}

static void slack_of_the_child(void)
{
    T(prctl, PR_GET_TIMERSLACK), T(prctl, PR_SET_TIMERSLACK, 5), T(prctl, PR_GET_TIMERSLACK);
    T(prctl, PR_SET_TIMERSLACK, 0), T(prctl, PR_GET_TIMERSLACK);
}
static void slack(void)
{
    T(prctl, PR_SET_TIMERSLACK, 777);
    child("slack of the child", slack_of_the_child);
    struct sched_param first = {5}, none = {0};
    if (release() >= 613 && S(sched_setscheduler, 0, SCHED_FIFO, &first) == 0) {
        /* No word if it is right, as not everyone gets here. */
        long r[5] = {S(prctl, PR_GET_TIMERSLACK), S(prctl, PR_SET_TIMERSLACK, 55), S(prctl, PR_GET_TIMERSLACK)};
        r[3] = S(sched_setscheduler, 0, SCHED_OTHER, &none), r[4] = S(prctl, PR_GET_TIMERSLACK);
        long own = (S(prctl, PR_SET_TIMERSLACK, 0), S(prctl, PR_GET_TIMERSLACK));
        if (r[0] || r[1] || r[2] || r[3] || r[4] != own)
            printf("%ld %ld %ld %ld %ld\n", r[0], r[1], r[2], r[3], r[4]);
    }
}

static void ids_of_timers(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    int id = 5;
    T(timer_create, 99, BAD, BAD), T(timer_create, 99, &event, BAD), T(timer_create, 1, &event, BAD);
    T(prctl, RESTORE_IDS, 3, 0, 0, 0), T(prctl, RESTORE_IDS, 1, 1, 0, 0), T(prctl, RESTORE_IDS, 2, 0, 0, 1);
    SINCE(616, 0, prctl, RESTORE_IDS, 2, 0, 0, 0), SINCE(616, 0, prctl, RESTORE_IDS, 1, 0, 0, 0), SINCE(616, 1, prctl, RESTORE_IDS, 2, 0, 0, 0);
    SINCE(616, 0, timer_create, 1, &event, &id), is(release() < 616 || id == 5);
    id = 5, SINCE(616, -EBUSY, timer_create, 1, &event, &id), SINCE(616, -EFAULT, timer_create, 1, BAD, &id);
    id = -1, SINCE(616, -EINVAL, timer_create, 1, &event, &id), SINCE(616, -EFAULT, timer_create, 1, &event, BAD);
    id = 0x7fffffff, SINCE(616, 0, timer_create, 1, &event, &id), SINCE(616, -EBUSY, timer_create, 1, &event, &id);
    id = 9, event.sigev_notify = 77, SINCE(616, -EINVAL, timer_create, 1, &event, &id), event.sigev_notify = SIGEV_NONE;
    SINCE(616, 0, prctl, RESTORE_IDS, 0, 0, 0, 0), SINCE(616, 0, timer_create, 1, &event, &id);
    is(release() < 616 || id == 10);
}

static volatile char selector;
static void dispatch(long mode, long start, long len, long select)
{
    fflush(stdout);
    pid_t pid = fork();
    int status = 0;
    if (!pid) {
        long r = S(prctl, PR_SET_SYSCALL_USER_DISPATCH, mode, start, len, select);
        selector = 0, S(exit, r ? -r : 99);
    }
    waitpid(pid, &status, 0);
    char what[96], *at = select == (long)&selector ? " with a selector" : select ? " with a bad one" : "";
    snprintf(what, sizeof what, "mode %ld from %ld, %ld bytes%s", mode, start, len, at);
    told(what, status);
}
static void own_dispatch(void)
{
    long s = (long)&selector;
    long tries[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {P, P, s}, {1, -1, s}, {1, P, (long)KERNEL}, {-1, P, s}, {5, -5, s}, {5, -6, s}, {0, -1, 0}, {0, -1, s}};
    for (int mode = 0; mode < 4; mode++)
        for (int i = 0; i < 11; i++)
            if (mode != 2)
                dispatch(mode, tries[i][0], tries[i][1], tries[i][2]);
    static const long only[] = {22, 22, 50, 50, 22, 14, 22, 22, 50, -SIGSYS, 50};
    /* Later kernels have one that dispatches what is in the range. */
    for (int i = 0; i < 11 && release() >= 617; i++) {
        fflush(stdout);
        pid_t pid = fork();
        int status = 0;
        if (!pid) {
            long r = S(prctl, PR_SET_SYSCALL_USER_DISPATCH, 2, tries[i][0], tries[i][1], tries[i][2]);
            selector = 0, S(exit, r ? -r : 50);
        }
        waitpid(pid, &status, 0);
        if (WIFSIGNALED(status) ? WTERMSIG(status) != -only[i] : WEXITSTATUS(status) != only[i])
            printf("%d: ", i), told("only the range", status);
    }
}

int main(void)
{
    unfiltered();
    CASE(all_places);
    CASE(another_vector);
    CASE(another_program);
    CASE(execute_nothing_new);
    CASE(execute_nothing_new_alone);
    CASE(small_and_large_pages);
    CASE(slack);
    CASE(ids_of_timers);
    CASE(own_dispatch);
    return 0;
}
