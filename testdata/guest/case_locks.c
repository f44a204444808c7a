// covers: futex set_robust_list get_robust_list fcntl flock mknod open read write clone exit
// flags: -pthread
/* Locks and meetings between threads and processes: futexes, robust lists, locks and leases of files, named pipes. */
#include "cases.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sys/file.h>

static void *shared_page(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}
static struct flock lock(int type, long start, long length)
{
    return (struct flock){.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

static void futexes_that_are_refused(void)
{
    uint32_t word = 0;
    char *odd = (char *)&word + 1;
    T(futex, odd, FUTEX_WAIT, 0, NULL, NULL, 0);
    T(futex, odd, FUTEX_WAKE, 1, NULL, NULL, 0);
    T(futex, BAD, FUTEX_WAIT, 0, NULL, NULL, 0);
    T(futex, NULL, FUTEX_WAKE, 1, NULL, NULL, 0);
    T(futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0);
    T(futex, &word, FUTEX_WAIT, 0, BAD, NULL, 0);
    T(futex, &word, FUTEX_WAIT, 0, &((struct timespec){0, 1000000000}), NULL, 0);
    T(futex, &word, FUTEX_WAIT, 0, &((struct timespec){0, 1000}), NULL, 0);
    T(futex, &word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0);
    T(futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0);
    T(futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &word, 1);
    T(futex, &word, FUTEX_CMP_REQUEUE, -1, 1, &word, 0);
    T(futex, &word, FUTEX_CMP_REQUEUE, 1, -1, &word, 0);
    T(futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
    T(futex, &word, FUTEX_CMP_REQUEUE_PI, 2, 1, &word, 0);
    T(futex, &word, FUTEX_CMP_REQUEUE_PI, 1, 1, &word, 0);
    T(futex, &word, FUTEX_WAIT_REQUEUE_PI, 0, NULL, &word, 0);
    T(futex, &word, FUTEX_LOCK_PI | FUTEX_CLOCK_REALTIME, 0, NULL, NULL, 0);
    T(futex, &word, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 0, NULL, NULL, 0);
}
static void a_lock_with_an_owner(void)
{
    uint32_t word = 0;
    T(futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
    is(word == (uint32_t)S(gettid));
    T(futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
    T(futex, &word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0);
    T(futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
    num(word);
    T(futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
    word = 0x3ffffe;
    T(futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
    T(futex, &word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0);
}

struct meeting {
    uint32_t condition, mutex;
    int ready;
};
static struct meeting meeting;
static long results[4];
static void *waits_to_be_requeued(void *arg)
{
    __atomic_add_fetch(&meeting.ready, 1, __ATOMIC_SEQ_CST);
    long result = S(futex, &meeting.condition, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0, NULL, &meeting.mutex, 0);
    results[(long)arg] = result;
    if (result == 0)
        S(futex, &meeting.mutex, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
    return NULL;
}
static void requeueing_to_a_lock_with_an_owner(void)
{
    pthread_t threads[3];
    check(S(futex, &meeting.mutex, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, waits_to_be_requeued, (void *)i);
    while (__atomic_load_n(&meeting.ready, __ATOMIC_SEQ_CST) < 3)
        usleep(1000);
    usleep(50000);
    check(S(futex, &meeting.condition, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, 0, &meeting.mutex, 1));
    check(S(futex, &meeting.condition, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, 100, &meeting.mutex, 0));
    is(meeting.mutex == ((uint32_t)S(gettid) | FUTEX_WAITERS));
    check(S(futex, &meeting.mutex, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("results %ld %ld %ld, word %u\n", results[0], results[1], results[2], meeting.mutex);
}
static void requeueing_gives_a_free_lock(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waits_to_be_requeued, (void *)3);
    while (__atomic_load_n(&meeting.ready, __ATOMIC_SEQ_CST) < 1)
        usleep(1000);
    usleep(50000);
    check(S(futex, &meeting.condition, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, 0, &meeting.mutex, 0));
    pthread_join(thread, NULL);
    printf("result %ld, word %u\n", results[3], meeting.mutex);
}

static void a_dead_owner_in_another_process(void)
{
    pthread_mutex_t *mutex = shared_page();
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &kind);
    pid_t pid = fork();
    if (!pid) {
        pthread_mutex_lock(mutex);
        _exit(0);
    }
    reap("owner", pid, 0);
    puts(strerrorname_np(pthread_mutex_lock(mutex)));
    num(pthread_mutex_consistent(mutex));
    num(pthread_mutex_unlock(mutex));
    pid = fork();
    if (!pid) {
        pthread_mutex_lock(mutex);
        raise(SIGKILL);
    }
    reap("killed owner", pid, 0);
    puts(strerrorname_np(pthread_mutex_lock(mutex)));
    num(pthread_mutex_unlock(mutex));
    puts(strerrorname_np(pthread_mutex_lock(mutex)));
}
static void a_waiter_for_a_dead_owner(void)
{
    pthread_mutex_t *mutex = shared_page();
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
        pthread_mutexattr_setprotocol(&kind, protocol);
        memset(mutex, 0, sizeof *mutex);
        pthread_mutex_init(mutex, &kind);
        int ends[2];
        char c;
        pipe(ends);
        pid_t pid = fork();
        if (!pid) {
            pthread_mutex_lock(mutex);
            write(ends[1], "x", 1);
            usleep(50000);
            _exit(0);
        }
        read(ends[0], &c, 1);
        puts(strerrorname_np(pthread_mutex_lock(mutex)));
        num(pthread_mutex_consistent(mutex));
        num(pthread_mutex_unlock(mutex));
        reap("owner", pid, 0);
    }
}
static void robust_lists(void)
{
    void *head = NULL;
    size_t length = 0;
    T(set_robust_list, NULL, 23);
    T(set_robust_list, NULL, 24);
    T(get_robust_list, 0, &head, &length);
    printf("%d %zu\n", head == NULL, length);
    T(get_robust_list, 0x3ffffe, &head, &length);
    T(get_robust_list, 0, BAD, &length);
    T(get_robust_list, 0, &head, BAD);
    T(set_robust_list, BAD, 24);
}

static void locks_between_processes(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0600);
    struct flock mine = lock(F_WRLCK, 0, 10), ask;
    check(fcntl(fd, F_SETLK, &mine));
    pid_t self = getpid(), pid = fork();
    if (!pid) {
        const struct { int type; long start, length; } asked[] = {{F_RDLCK, 0, 1}, {F_WRLCK, 9, 5}, {F_WRLCK, 10, 1}, {F_WRLCK, 0, 0}};
        for (int i = 0; i < 4; i++) {
            ask = lock(asked[i].type, asked[i].start, asked[i].length);
            fcntl(fd, F_GETLK, &ask);
            printf("%d: type %d start %ld length %ld pid %s\n", i, ask.l_type, (long)ask.l_start, (long)ask.l_len,
                   ask.l_pid == self ? "parent" : ask.l_pid ? "other" : "none");
            ask = lock(asked[i].type, asked[i].start, asked[i].length);
            check(fcntl(fd, F_SETLK, &ask));
        }
        fflush(stdout);
        _exit(0);
    }
    reap("child", pid, 0);
    /* Closing any descriptor of the file drops the locks of the process. */
    close(open("file", O_RDONLY));
    pid = fork();
    if (!pid) {
        ask = lock(F_WRLCK, 0, 0);
        _exit(fcntl(fd, F_SETLK, &ask) ? errno : 0);
    }
    reap("after a close", pid, 0);
    unlink("file");
}
static void a_circle_of_locks(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0600), ends[2], back[2];
    char c;
    pipe(ends), pipe(back);
    struct flock first = lock(F_WRLCK, 0, 1), second = lock(F_WRLCK, 1, 1);
    check(fcntl(fd, F_SETLKW, &first));
    pid_t pid = fork();
    if (!pid) {
        fcntl(fd, F_SETLKW, &second);
        write(ends[1], "x", 1);
        int result = fcntl(fd, F_SETLKW, &first);
        _exit(result ? errno : 0);
    }
    read(ends[0], &c, 1);
    usleep(50000);
    check(fcntl(fd, F_SETLKW, &second));
    first.l_type = F_UNLCK;
    check(fcntl(fd, F_SETLK, &first));
    reap("the other", pid, 0);
    unlink("file");
}
static void no_circle_with_locks_of_descriptions(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0600), other = open("file", O_RDWR);
    struct flock all = lock(F_WRLCK, 0, 0);
    check(fcntl(fd, F_OFD_SETLK, &all));
    check(fcntl(other, F_OFD_SETLK, &all));
    all.l_pid = 5;
    check(fcntl(other, F_OFD_SETLK, &all));
    all.l_pid = 0;
    check(fcntl(other, F_OFD_GETLK, &all));
    printf("type %d pid %d\n", all.l_type, all.l_pid);
    pid_t pid = fork();
    if (!pid) {
        /* The same description: no conflict. */
        all = lock(F_RDLCK, 0, 0);
        _exit(fcntl(fd, F_OFD_SETLK, &all) ? errno : 0);
    }
    reap("child", pid, 0);
    all = lock(F_RDLCK, 0, 0);
    check(fcntl(other, F_OFD_SETLK, &all));
    unlink("file");
}
static void flock_over_fork(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0600), other = open("file", O_RDWR);
    check(flock(fd, LOCK_EX));
    check(flock(other, LOCK_SH | LOCK_NB));
    pid_t pid = fork();
    if (!pid)
        _exit(flock(fd, LOCK_SH | LOCK_NB) ? errno : 0);
    reap("the same description", pid, 0);
    check(flock(other, LOCK_SH | LOCK_NB));
    check(flock(other, LOCK_EX | LOCK_NB));
    pid = fork();
    if (!pid)
        _exit(flock(fd, LOCK_UN) ? errno : 0);
    reap("unlocked by a child", pid, 0);
    check(flock(other, LOCK_EX | LOCK_NB));
    check(flock(fd, LOCK_SH | LOCK_EX));
    check(flock(fd, 0));
    check(flock(-1, LOCK_SH));
    unlink("file");
}
static void flock_waits(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0600);
    flock(fd, LOCK_EX);
    pid_t pid = fork();
    if (!pid) {
        int own = open("file", O_RDWR);
        close(fd);
        _exit(flock(own, LOCK_EX) ? errno : 33);
    }
    close(fd);
    usleep(20000);
    int again = open("file", O_RDWR);
    (void)again;
    reap("child", pid, 0);
    unlink("file");
}
static volatile int broken;
static void on_break(int signo)
{
    (void)signo;
    broken++;
}
static void a_lease_is_broken(void)
{
    signal(SIGIO, on_break);
    int fd = open("file", O_RDONLY | O_CREAT, 0600);
    check(fcntl(fd, F_SETLEASE, F_RDLCK));
    num(fcntl(fd, F_GETLEASE));
    pid_t pid = fork();
    if (!pid) {
        int writer = open("file", O_WRONLY | O_NONBLOCK);
        int nonblocking = writer < 0 ? errno : 0;
        writer = open("file", O_WRONLY);
        _exit(nonblocking == EWOULDBLOCK && writer >= 0 ? 21 : 22);
    }
    while (!broken)
        usleep(1000);
    num(fcntl(fd, F_GETLEASE));
    usleep(20000);
    check(fcntl(fd, F_SETLEASE, F_UNLCK));
    reap("writer", pid, 0);
    unlink("file");
}
static void leases_that_are_refused(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0600), directory = open(".", O_RDONLY);
    check(fcntl(fd, F_SETLEASE, F_RDLCK));
    check(fcntl(fd, F_SETLEASE, 77));
    check(fcntl(directory, F_SETLEASE, F_RDLCK));
    int reader = open("file", O_RDONLY);
    check(fcntl(reader, F_SETLEASE, F_WRLCK));
    check(fcntl(fd, F_SETLEASE, F_UNLCK));
    unlink("file");
}
static void a_named_pipe_brings_together(void)
{
    check(mkfifo("fifo", 0600));
    check(open("fifo", O_WRONLY | O_NONBLOCK));
    pid_t pid = fork();
    if (!pid) {
        usleep(20000);
        int out = open("fifo", O_WRONLY);
        _exit(write(out, "meet", 4) == 4 ? 12 : 13);
    }
    char text[8] = "";
    int in = open("fifo", O_RDONLY);
    num(read(in, text, sizeof text));
    puts(text);
    reap("writer", pid, 0);
    num(read(in, text, sizeof text));
    /* Both ends in one process: open does not wait. */
    int both = open("fifo", O_RDWR);
    check(write(both, "x", 1));
    num(read(in, text, 1));
    unlink("fifo");
}
static void a_pipe_without_readers(void)
{
    int ends[2];
    pipe(ends);
    close(ends[0]);
    pid_t pid = fork();
    if (!pid) {
        write(ends[1], "x", 1);
        _exit(0);
    }
    reap("writer", pid, 0);
    signal(SIGPIPE, SIG_IGN);
    check(write(ends[1], "x", 1));
}
static void *ends_itself(void *arg)
{
    (void)arg;
    S(exit, 5);
    return NULL;
}
static void *ends_all(void *arg)
{
    (void)arg;
    S(exit_group, 6);
    return NULL;
}
static void a_thread_that_exits(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, ends_itself, NULL);
    num(pthread_join(thread, NULL));
}
static void a_thread_that_ends_the_process(void)
{
    pid_t pid = fork();
    if (!pid) {
        pthread_t thread;
        pthread_create(&thread, NULL, ends_all, NULL);
        for (;;)
            pause();
    }
    reap("child", pid, 0);
}
static void *after_the_leader(void *arg)
{
    (void)arg;
    usleep(20000);
    S(exit, 8);
    return NULL;
}
static void a_leader_that_exits_first(void)
{
    pid_t pid = fork();
    if (!pid) {
        pthread_t thread;
        pthread_create(&thread, NULL, after_the_leader, NULL);
        S(exit, 7);
    }
    /* The last one's status is that of the process since Linux 5.19. */
    int status = 0;
    waitpid(pid, &status, 0);
    told("child", release() < 519 ? 8 << 8 : status);
}
static void *waits_in_a_call(void *arg)
{
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
    pthread_cleanup_push((void (*)(void *))on_break, NULL);
    read(*(int *)arg, &old, 1);
    pthread_cleanup_pop(0);
    return NULL;
}
static void cancelling_a_call(void)
{
    int ends[2];
    void *result;
    pthread_t thread;
    pipe(ends);
    broken = 0;
    pthread_create(&thread, NULL, waits_in_a_call, &ends[0]);
    usleep(20000);
    num(pthread_cancel(thread));
    num(pthread_join(thread, &result));
    printf("cancelled %d, cleaned up %d\n", result == PTHREAD_CANCELED, broken);
}
static void threads_that_are_refused(void)
{
    char stack[64];
    T(clone, CLONE_THREAD | SIGCHLD, stack, 0, 0, 0);
    T(clone, CLONE_THREAD | CLONE_SIGHAND, stack, 0, 0, 0);
    struct rlimit one = {1, 1};
    pthread_t thread;
    if (geteuid() == 0)
        puts("limits of users do not hold for root");
    else {
        setrlimit(RLIMIT_NPROC, &one);
        int result = pthread_create(&thread, NULL, ends_itself, NULL);
        puts(result == EAGAIN ? "limits of users do not hold for root" : "made");
    }
}
static void *cpu(void *arg)
{
    clockid_t *clock = arg;
    for (volatile int i = 0; i < 3000000; i++)
        ;
    pthread_getcpuclockid(pthread_self(), clock);
    pause();
    return NULL;
}
static void clocks_of_threads(void)
{
    volatile clockid_t clock = 0;
    struct timespec time;
    pthread_t thread;
    pthread_create(&thread, NULL, cpu, (void *)&clock);
    while (!clock)
        usleep(1000);
    usleep(10000);
    check(clock_gettime(clock, &time));
    is(time.tv_nsec > 0);
    check(clock_gettime(clock - 8 * 100000, &time));
    pid_t pid = fork();
    if (!pid)
        _exit(clock_gettime(clock, &time) ? errno : 0);
    reap("a thread of another process", pid, 0);
}

int main(void)
{
    CASE(futexes_that_are_refused);
    CASE(a_lock_with_an_owner);
    CASE(requeueing_to_a_lock_with_an_owner);
    CASE(requeueing_gives_a_free_lock);
    CASE(a_dead_owner_in_another_process);
    CASE(a_waiter_for_a_dead_owner);
    CASE(robust_lists);
    CASE(locks_between_processes);
    CASE(a_circle_of_locks);
    CASE(no_circle_with_locks_of_descriptions);
    CASE(flock_over_fork);
    CASE(flock_waits);
    CASE(a_lease_is_broken);
    CASE(leases_that_are_refused);
    CASE(a_named_pipe_brings_together);
    CASE(a_pipe_without_readers);
    CASE(a_thread_that_exits);
    CASE(a_thread_that_ends_the_process);
    CASE(a_leader_that_exits_first);
    CASE(cancelling_a_call);
    CASE(threads_that_are_refused);
    CASE(clocks_of_threads);
    return 0;
}
