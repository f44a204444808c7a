/* Every call with every value of each argument (tests/linux/sweep.rs): a case is a call, run in a process of its own.
 *
 *   sweep list             the cases: a line with call, argument and value each
 *   sweep run FIRST STEP [PART]
 *                          the cases FIRST, FIRST + STEP... of the calls with PART in their names: number and result
 *
 * Root starts it. The cases run as user 65534 in namespaces of their own, below a file system in memory. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/sockios.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "values.h"
#include "calls.h"

#define USER 65534
/* The descriptor of the memory for results, until it is mapped. */
#define RESULTS_FD 3
/* Milliseconds after which a process that sleeps is taken to wait for ever; between numbers that are also times to wait. */
#define PATIENCE 45
/* Pairs of values of two arguments, of each call. */
#define PAIRS 40

/* How a case ended. */
enum how { NOT_RUN, RETURNED, EXITED, KILLED, WAITS, STOPPED, BUSY };
struct result {
    long value;
    enum how how;
};
static struct result *const results = (struct result *)RESULTS;

/* One case: which argument takes which of its values; none if negative. */
struct test {
    const struct call *call;
    int slot[2], value[2];
};

static int arguments_of(const struct call *call)
{
    int count = 0;
    while (count < 6 && call->arguments[count].kind)
        count++;
    return count;
}

/* Numbers that are the same in every run. */
static unsigned random_below(uint64_t *state, int limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*state >> 33) % (unsigned)limit);
}

/* Calls `each` with every case, in their order. */
static void every_case(void (*each)(int number, const struct test *test))
{
    int number = 0;
    for (int at = 0; at < COUNT(calls); at++) {
        const struct call *call = &calls[at];
        int count = arguments_of(call);
        each(number++, &(struct test){call, {-1, -1}, {0, 0}});
        for (int slot = 0; slot < count; slot++)
            for (int value = 0; value < count_of(&call->arguments[slot]); value++)
                each(number++, &(struct test){call, {slot, -1}, {value, 0}});
        /* By its name, so that no other call moves them. */
        uint64_t state = 0;
        for (const char *of = call->name; *of; of++)
            state = state * 31 + (unsigned char)*of;
        for (const char *of = call->label; *of; of++)
            state = state * 31 + (unsigned char)*of;
        int varied[6], several = 0;
        for (int slot = 0; slot < count; slot++)
            if (count_of(&call->arguments[slot]))
                varied[several++] = slot;
        for (int pair = 0; several > 1 && pair < PAIRS; pair++) {
            int first = (int)random_below(&state, several), second = (int)random_below(&state, several - 1);
            second += second >= first;
            int a = varied[first < second ? first : second], b = varied[first < second ? second : first];
            int va = (int)random_below(&state, count_of(&call->arguments[a]));
            int vb = (int)random_below(&state, count_of(&call->arguments[b]));
            each(number++, &(struct test){call, {a, b}, {va, vb}});
        }
    }
}

static void list(int number, const struct test *test)
{
    (void)number;
    const struct call *call = test->call;
    printf("%s%s%s\t", call->name, *call->label ? "/" : "", call->label);
    if (test->slot[0] < 0) {
        printf("-\tbase\n");
        return;
    }
    char name[2][128];
    int several = test->slot[1] >= 0;
    for (int at = 0; at <= several; at++)
        value_of(&call->arguments[test->slot[at]], test->slot[at], test->value[at], name[at], 0);
    if (several)
        printf("%d,%d\t%s, %s\n", test->slot[0], test->slot[1], name[0], name[1]);
    else
        printf("%d\t%s\n", test->slot[0], name[0]);
}

/* The call itself. A child that it makes, which may share the stack, ends at once. */
static long make_call(long number, const long *a)
{
    long result;
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static long make_child(long number, const long *a)
{
    long result;
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    __asm__ volatile("syscall\n"
                     "testq %%rax, %%rax\n"
                     "jnz 1f\n"
                     "xorl %%edi, %%edi\n"
                     "movl $60, %%eax\n"
                     "syscall\n"
                     "1:"
                     : "=a"(result) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

/* Becomes a user without rights. */
static void drop_rights(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
    must(syscall(SYS_setgroups, 0, 0) == 0 && syscall(SYS_setresgid, USER, USER, USER) == 0 &&
             syscall(SYS_setresuid, USER, USER, USER) == 0,
         "setresuid");
    must(syscall(SYS_capget, &header, data) == 0 && !data[0].permitted && !data[1].permitted && getuid() == USER, "rights");
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static void run_case(int number, const struct test *test)
{
    const struct call *call = test->call;
    drop_rights();
    long a[6] = {0};
    char name[128];
    for (int slot = 0; slot < 6; slot++) {
        const struct argument *argument = &call->arguments[slot];
        int varied = test->slot[0] == slot ? 0 : test->slot[1] == slot ? 1 : -1;
        a[slot] = varied < 0 ? base_of(argument, slot, 1) : value_of(argument, slot, test->value[varied], name, 1);
    }
    if (call->before)
        call->before();
    struct result *result = &results[number];
    result->value = call->makes_child ? make_child(call->number, a) : make_call(call->number, a);
    result->how = RETURNED;
    /* Not by the library, whose memory may be gone. */
    __asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
}

static int first, step, cases;
static const char *part = "";

/* The state of a child in /proc, or nothing. */
static char state_of(pid_t pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    char *end = strrchr(text, ')');
    return end && end[1] ? end[2] : 0;
}

/* Removes everything below a directory. */
static void remove_all(int in, const char *name)
{
    if (unlinkat(in, name, 0) == 0 || errno == ENOENT)
        return;
    int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd >= 0) {
        DIR *list = fdopendir(fd);
        for (struct dirent *entry; (entry = readdir(list));)
            if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
                remove_all(fd, entry->d_name);
        closedir(list);
    }
    unlinkat(in, name, AT_REMOVEDIR);
}

/* Removes what outlives processes. */
static void tidy(void)
{
    remove_all(AT_FDCWD, "/w");
    if (mkdir("/w", 0755) || chown("/w", USER, USER))
        _exit(97);
    struct shmid_ds segment;
    struct shm_info segments;
    for (int index = shmctl(0, SHM_INFO, (struct shmid_ds *)&segments); index >= 0; index--) {
        int id = shmctl(index, SHM_STAT, &segment);
        if (id >= 0)
            shmctl(id, IPC_RMID, 0);
    }
    struct semid_ds set;
    struct seminfo sets;
    for (int index = semctl(0, 0, SEM_INFO, &sets); index >= 0; index--) {
        int id = semctl(index, 0, SEM_STAT, &set);
        if (id >= 0)
            semctl(id, 0, IPC_RMID);
    }
    struct msqid_ds queue_;
    struct msginfo queues_;
    for (int index = msgctl(0, MSG_INFO, (struct msqid_ds *)&queues_); index >= 0; index--) {
        int id = msgctl(index, MSG_STAT, &queue_);
        if (id >= 0)
            msgctl(id, IPC_RMID, 0);
    }
    syscall(SYS_mq_unlink, "queue");
}

/* Removes queues with any of the names. */
static void tidy_queues(void)
{
    static char text[256];
    for (int at = 0; at < COUNT(names); at++)
        syscall(SYS_mq_unlink, names[at]);
    for (int at = 0; at < COUNT(long_names) && long_names[at] < 256; at++) {
        memset(text, 'n', (size_t)long_names[at]);
        text[long_names[at]] = 0;
        syscall(SYS_mq_unlink, text);
    }
}

/* Runs a case as a child, and clears up after it. */
static void try_case(int number, const struct test *test)
{
    if (!strstr(test->call->name, part) || number % step != first)
        return;
    results[cases].value = number;
    pid_t pid = fork();
    if (pid == 0) {
        run_case(number, test);
        _exit(98);
    }
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    enum how how = BUSY;
    for (int round = 0; round < 60; round++) {
        if (poll(&ended, 1, PATIENCE) == 1) {
            how = EXITED;
            break;
        }
        char state = state_of(pid);
        if (state == 'S' || state == 'T' || state == 't') {
            how = state == 'S' ? WAITS : STOPPED;
            break;
        }
    }
    close(ended.fd);
    kill(-1, SIGKILL);
    int status;
    for (pid_t child; (child = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;)
        if (child == pid && how == EXITED && results[number].how == NOT_RUN) {
            int killed = WIFSIGNALED(status);
            results[number] = (struct result){killed ? WTERMSIG(status) : WEXITSTATUS(status), killed ? KILLED : EXITED};
        }
    if (results[number].how == NOT_RUN)
        results[number].how = how;
    tidy();
    if (!strcmp(test->call->name, "mq_open"))
        tidy_queues();
}

static void print(int number, const struct test *test)
{
    struct result *result = &results[number];
    char text[64];
    const char *error;
    switch (result->how) {
    case NOT_RUN: return;
    case RETURNED:
        error = result->value < 0 && result->value >= -4095 ? strerrorname_np((int)-result->value) : 0;
        if (error)
            snprintf(text, sizeof text, "%s", error);
        else if (test->call->answer == ANY && !(result->value < 0 && result->value >= -4095))
            strcpy(text, "ok");
        else
            snprintf(text, sizeof text, "%ld", result->value);
        break;
    case EXITED: snprintf(text, sizeof text, "exit-%ld", result->value); break;
    case KILLED: snprintf(text, sizeof text, "SIG%s", sigabbrev_np((int)result->value) ?: "RT"); break;
    case WAITS: strcpy(text, "waits"); break;
    case STOPPED: strcpy(text, "stops"); break;
    case BUSY: strcpy(text, "busy"); break;
    }
    printf("%d %s\n", number, text);
}

static void count(int number, const struct test *test)
{
    (void)test;
    cases = number + 1;
}

static void say(const char *what)
{
    fprintf(stderr, "sweep: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void device(const char *path, unsigned major_, unsigned minor_)
{
    if (mknod(path, S_IFCHR | 0666, makedev(major_, minor_)) || chmod(path, 0666))
        say(path);
}

static void limit(int which, rlim_t soft, rlim_t hard)
{
    struct rlimit limits = {soft, hard};
    if (setrlimit((__rlimit_resource_t)which, &limits))
        say("setrlimit");
}

/* Makes the tree of files that the cases see, the root of the first process of the namespaces. */
static void make_tree(void)
{
    char where[4096];
    if (mount("none", "/", 0, MS_REC | MS_PRIVATE, 0) || !getcwd(where, sizeof where))
        say("private mounts");
    int from = open("/proc/self/exe", O_RDONLY);
    if (mount("tmpfs", where, "tmpfs", 0, "size=16m,nr_inodes=2000,mode=755") || chdir(where))
        say("tmpfs");
    int to = open("sweep", O_CREAT | O_WRONLY, 0755);
    static char buffer[65536];
    for (ssize_t length; (length = read(from, buffer, sizeof buffer)) > 0;)
        if (write(to, buffer, (size_t)length) != length)
            say("a copy of the program");
    close(from);
    close(to);
    umask(0);
    mkdir("proc", 0755);
    mkdir("dev", 0755);
    mkdir("dev/pts", 0755);
    mkdir("rootdir", 0755);
    if (mount("proc", "proc", "proc", 0, 0) || mount("devpts", "dev/pts", "devpts", 0, "newinstance,mode=0620"))
        say("proc and devpts");
    device("dev/null", 1, 3);
    device("dev/zero", 1, 5);
    device("dev/full", 1, 7);
    device("dev/urandom", 1, 9);
    device("dev/ptmx", 5, 2);
    if (chroot(".") || chdir("/"))
        say("chroot");
    umask(022);
}

static void map(long at, size_t size, int prot, int flags, int fd)
{
    if (mmap((void *)at, size, prot, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
        say("mmap");
}

/* The first process of the namespaces, in its tree: runs the cases. */
static void run_all(void)
{
    personality(0);
    map(RESULTS, (size_t)(cases + 1) * sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED, RESULTS_FD);
    map(RESULTS_GUARD, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    for (int slot = 0; slot < 6; slot++)
        map(AREA(slot), AREA_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    map(PAY, PAY_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset((void *)PAY, 'p', PAGE);
    strcpy((char *)PAY_WORD, "exit");
    *(struct sockaddr_un *)PAY_NAME = (struct sockaddr_un){AF_UNIX, "l"};
    *(struct iovec *)PAY_VECTOR = (struct iovec){(void *)PAY_OUT, 16};

    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (ioctl(fd, SIOCSIFFLAGS, &loopback))
        say("loopback");
    if (sethostname("sweep", 5) || setdomainname("(none)", 6))
        say("names");
    limit(RLIMIT_NOFILE, 1024, 4096);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_STACK, 8 << 20, 8 << 20);
    limit(RLIMIT_MEMLOCK, 1 << 20, 1 << 20);
    limit(RLIMIT_MSGQUEUE, 819200, 819200);
    limit(RLIMIT_SIGPENDING, 1000, 1000);
    limit(RLIMIT_NPROC, 2000, 2000);
    limit(RLIMIT_NICE, 0, 0);
    limit(RLIMIT_RTPRIO, 0, 0);
    fd = open("/dev/null", O_RDWR);
    for (int standard = 0; standard < 3; standard++)
        dup2(fd, standard);
    syscall(SYS_close_range, 3, ~0u, 0);
    setsid();
    tidy();
    every_case(try_case);
}

int main(int argc, char **argv)
{
    /* As what execve(2) is asked for. */
    if (argc < 2 || !strncmp(argv[0], "exit", 4))
        return 7;
    if (!strcmp(argv[1], "list")) {
        every_case(list);
        return 0;
    }
    int inner = !strcmp(argv[1], "inner");
    if (argc < 4 || (!inner && strcmp(argv[1], "run")))
        return 2;
    first = atoi(argv[2]), step = atoi(argv[3]);
    if (argc > 4)
        part = argv[4];
    every_case(count);
    if (inner) {
        run_all();
        return 0;
    }
    size_t size = (size_t)(cases + 1) * sizeof *results;
    int fd = (int)syscall(SYS_memfd_create, "results", 0);
    if (fd < 0 || dup2(fd, RESULTS_FD) != RESULTS_FD || ftruncate(RESULTS_FD, (off_t)size))
        say("memory");
    map(RESULTS, size, PROT_READ, MAP_SHARED, RESULTS_FD);
    if (unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS))
        say("namespaces");
    pid_t init = fork();
    if (init == 0) {
        make_tree();
        /* The same addresses in every run, and the same bytes in the last pages. */
        static char room[3 * PAGE] = "ROOM=";
        memset(room + 5, 'r', sizeof room - 6);
        personality(ADDR_NO_RANDOMIZE);
        execve("/sweep", (char *[]){"sweep", "inner", argv[2], argv[3], (char *)part, 0}, (char *[]){room, 0});
        say("/sweep");
    }
    int status;
    if (waitpid(init, &status, 0) != init || status != 0) {
        fprintf(stderr, "sweep: the first process ended with %#x in case %ld\n", status, results[cases].value);
        return 1;
    }
    every_case(print);
    return 0;
}
