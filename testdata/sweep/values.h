/* The values that an argument takes, and what has to be there for them. */

/* Where memory for the program and its cases is. */
#define RESULTS 0x100000L /* what the cases answered, shared by all processes */
#define RESULTS_GUARD 0x20000L /* what stops madvise(2) before it takes them away */
#define AREA(slot) (0x10000000L + (slot) * 0x1000000L) /* of the pointers of one argument */
#define AREA_PAGES 20
#define BESIDE 0x100000L /* from an area to its page of another protection */
#define PAY 0x18000000L /* what vectors and messages point to */
#define PAY_PAGES 4
#define REGION(kind) (0x20000000L + (kind) * 0x100000L) /* of the calls that are about memory */
#define REGION_PAGES 8
#define PAGE 4096L

/* Where what is pointed to stands in the payload. */
#define PAY_WORD (PAY + 0x1000) /* "exit" */
#define PAY_NAME (PAY + 0x1100) /* the address of a socket */
#define PAY_VECTOR (PAY + 0x1200) /* an iovec of 16 bytes of PAY_OUT */
#define PAY_OUT (PAY + 0x2000)

#define KERNEL_HALF (-0x800000000000L)
#define NOT_CANONICAL 0x800000000000L
#define LAST_PAGE 0x7fffffffe000L

enum kind {
    K_NOTHING, /* no such argument */
    K_FIXED,   /* one value only */
    K_NUMBER,
    K_BITS,
    K_RANGE,
    K_LIST,
    K_SIZE,
    K_OFFSET,
    K_LENGTH, /* of memory */
    K_SIGNAL,
    K_USER,
    K_DESCRIPTOR,
    K_PATH,
    K_NAME,
    K_POINTER,
    K_PROCESS,
    K_MEMORY,
    K_QUEUE, /* an identifier of System V's */
};

struct argument {
    enum kind kind;
    long base, low, high;
    const void *data; /* of a pointer; zeros if null */
    long size;
    int word; /* bytes of what `data` is made of */
    const char *text;
};

enum object {
    O_closed, O_r, O_w, O_rw, O_append, O_dir, O_opath, O_pipe_r, O_pipe_w, O_hungup, O_widowed, O_fifo, O_unix, O_pair,
    O_listening, O_bound, O_dgram, O_dgrams, O_packets, O_tcp, O_tcps, O_tcplisten, O_udp, O_udps, O_netlink, O_event,
    O_timer, O_signal, O_epoll, O_inotify, O_memfd, O_sealed, O_pidfd, O_ptm, O_pts, O_null, O_zero, O_full, O_random, O_mq, O_stat,
    O_procdir, O_namespace, OBJECTS
};
static const char *const object_names[OBJECTS] = {
    "closed", "r", "w", "rw", "append", "dir", "opath", "pipe-r", "pipe-w", "hungup", "widowed", "fifo", "unix", "pair",
    "listening", "bound", "dgram", "dgrams", "packets", "tcp", "tcps", "tcplisten", "udp", "udps", "netlink", "event",
    "timer", "signal", "epoll", "inotify", "memfd", "sealed", "pidfd", "ptm", "pts", "null", "zero", "full", "random", "mq", "stat",
    "procdir", "namespace",
};
/* The descriptor of an object, and of its other end. */
#define DESCRIPTOR(object) (100 + (object))
#define OTHER(object) (200 + (object))

enum process { P_self, P_child, P_zombie, P_gone, P_group, P_init, PROCESSES };
static const char *const process_names[PROCESSES] = {"self", "child", "zombie", "gone", "-self", "init"};

enum memory { M_rw, M_ro, M_none, M_shared, M_file, M_private, M_exec, M_sealed, REGIONS };
static const char *const region_names[REGIONS] = {"rw", "ro", "none", "shared", "file", "private", "exec", "locked"};

enum queue { Q_shm, Q_sem, Q_msg, QUEUES };

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static void must(int good, const char *what)
{
    if (!good) {
        /* Its parent's report shows how the case could not begin. */
        (void)what;
        _exit(99);
    }
}

static void put(int from, int to)
{
    must(from >= 0 && dup2(from, to) == to, "dup2");
    close(from);
}

static void enter_directory(void)
{
    static int entered;
    if (entered++)
        return;
    must(chdir("/w") == 0, "/w");
}

/* Makes what a path begins with, unless it is there. */
static void make_path(const char *path)
{
    enter_directory();
    char first[32];
    size_t length = strcspn(path, "/");
    if (length == 0 || length >= sizeof first)
        return;
    memcpy(first, path, length);
    first[length] = 0;
    struct stat there;
    if (lstat(first, &there) == 0)
        return;
    if (!strcmp(first, "file") || !strcmp(first, "tagged") || !strcmp(first, "noread") || !strcmp(first, "script")) {
        int fd = open(first, O_CREAT | O_RDWR, first[0] == 's' ? 0755 : 0644);
        static char text[8192];
        for (size_t at = 0; at < sizeof text; at++)
            text[at] = at % 64 == 63 ? '\n' : (char)('a' + at % 26);
        if (first[0] == 's')
            memcpy(text, "#!/sweep\n", 9);
        must(write(fd, text, sizeof text) == sizeof text, first);
        if (first[0] == 't')
            must(fsetxattr(fd, "user.tag", "value", 5, 0) == 0, "user.tag");
        close(fd);
        if (first[0] == 'n')
            must(chmod(first, 0) == 0, first);
    } else if (!strcmp(first, "dir") || !strcmp(first, "noaccess")) {
        must(mkdir(first, 0755) == 0, first);
        int at = open(first, O_RDONLY | O_DIRECTORY);
        close(openat(at, "inner", O_CREAT | O_RDWR, 0644));
        must(mkdirat(at, "below", 0755) == 0, first);
        must(fchmod(at, first[0] == 'n' ? 0 : 0755) == 0, first);
        close(at);
    } else if (!strcmp(first, "empty")) {
        must(mkdir(first, 0755) == 0, first);
    } else if (!strcmp(first, "link")) {
        make_path("file");
        must(symlink("file", first) == 0, first);
    } else if (!strcmp(first, "dirlink")) {
        make_path("dir");
        must(symlink("dir", first) == 0, first);
    } else if (!strcmp(first, "dangling")) {
        must(symlink("nowhere", first) == 0, first);
    } else if (!strcmp(first, "loop")) {
        must(symlink("loop", first) == 0, first);
    } else if (!strcmp(first, "fifo")) {
        must(mkfifo(first, 0644) == 0, first);
    } else if (!strcmp(first, "sock")) {
        struct sockaddr_un name = {AF_UNIX, "sock"};
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        must(bind(fd, (void *)&name, sizeof name) == 0, first);
        put(fd, 299);
    }
}

static int inet_socket(int type, int listens)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type, 0);
    must(bind(fd, (void *)&any, sizeof any) == 0, "bind");
    if (listens)
        must(listen(fd, 5) == 0, "listen");
    return fd;
}

static void connect_to(int fd, int other)
{
    struct sockaddr_in name;
    socklen_t size = sizeof name;
    must(getsockname(other, (void *)&name, &size) == 0, "getsockname");
    must(connect(fd, (void *)&name, size) == 0, "connect");
}

static long process(enum process which);

/* Makes an object, unless it is there; its descriptor. */
static int make_object(enum object object)
{
    int fd = DESCRIPTOR(object), other = OTHER(object), two[2];
    static char made[OBJECTS];
    if (made[object]++)
        return fd;
    switch (object) {
    case O_closed: break;
    case O_r: make_path("file"); put(open("file", O_RDONLY), fd); break;
    case O_w: make_path("file"); put(open("file", O_WRONLY), fd); break;
    case O_rw: make_path("file"); put(open("file", O_RDWR), fd); break;
    case O_append: make_path("file"); put(open("file", O_RDWR | O_APPEND), fd); break;
    case O_dir: make_path("dir"); put(open("dir", O_RDONLY | O_DIRECTORY), fd); break;
    case O_opath: make_path("file"); put(open("file", O_PATH), fd); break;
    case O_pipe_r:
    case O_pipe_w:
        must(pipe(two) == 0 && write(two[1], "abcde", 5) == 5, "pipe");
        put(two[object == O_pipe_w], fd);
        put(two[object == O_pipe_r], other);
        break;
    case O_hungup:
        must(pipe(two) == 0, "pipe");
        put(two[0], fd);
        close(two[1]);
        break;
    case O_widowed:
        must(pipe(two) == 0, "pipe");
        put(two[1], fd);
        close(two[0]);
        break;
    case O_fifo: make_path("fifo"); put(open("fifo", O_RDWR), fd); break;
    case O_unix: put(socket(AF_UNIX, SOCK_STREAM, 0), fd); break;
    case O_dgram: put(socket(AF_UNIX, SOCK_DGRAM, 0), fd); break;
    case O_pair:
    case O_dgrams:
    case O_packets: {
        int type = object == O_pair ? SOCK_STREAM : object == O_dgrams ? SOCK_DGRAM : SOCK_SEQPACKET;
        must(socketpair(AF_UNIX, type, 0, two) == 0 && write(two[1], "abcde", 5) == 5, "socketpair");
        put(two[0], fd);
        put(two[1], other);
        break;
    }
    case O_bound:
    case O_listening: {
        enter_directory();
        struct sockaddr_un name = {AF_UNIX, "bound"};
        name.sun_path[0] = object == O_bound ? 'b' : 'l';
        put(socket(AF_UNIX, SOCK_STREAM, 0), fd);
        must(bind(fd, (void *)&name, sizeof name) == 0, "bind");
        if (object == O_listening)
            must(listen(fd, 5) == 0, "listen");
        break;
    }
    case O_tcp: put(socket(AF_INET, SOCK_STREAM, 0), fd); break;
    case O_tcplisten: put(inet_socket(SOCK_STREAM, 1), fd); break;
    case O_tcps: {
        int listener = inet_socket(SOCK_STREAM, 1);
        put(socket(AF_INET, SOCK_STREAM, 0), fd);
        connect_to(fd, listener);
        put(accept(listener, 0, 0), other);
        close(listener);
        must(write(other, "abcde", 5) == 5, "write");
        break;
    }
    case O_udp: put(socket(AF_INET, SOCK_DGRAM, 0), fd); break;
    case O_udps:
        put(inet_socket(SOCK_DGRAM, 0), fd);
        put(inet_socket(SOCK_DGRAM, 0), other);
        connect_to(fd, other);
        connect_to(other, fd);
        must(write(other, "abcde", 5) == 5, "write");
        break;
    case O_netlink: put(socket(AF_NETLINK, SOCK_RAW, 0), fd); break;
    case O_event: put(eventfd(3, 0), fd); break;
    case O_timer: put(timerfd_create(CLOCK_MONOTONIC, 0), fd); break;
    case O_signal: {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        put(signalfd(-1, &set, 0), fd);
        break;
    }
    case O_epoll: {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7};
        put(epoll_create1(0), fd);
        put(eventfd(1, 0), other);
        must(epoll_ctl(fd, EPOLL_CTL_ADD, other, &event) == 0, "epoll_ctl");
        break;
    }
    case O_inotify:
        make_path("dir");
        put(inotify_init1(0), fd);
        must(inotify_add_watch(fd, "dir", IN_ALL_EVENTS) == 1, "watch");
        break;
    case O_memfd:
    case O_sealed:
        put((int)syscall(SYS_memfd_create, "memory", MFD_ALLOW_SEALING), fd);
        must(ftruncate(fd, 8192) == 0, "ftruncate");
        if (object == O_sealed)
            must(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) == 0, "seals");
        break;
    case O_pidfd: put((int)syscall(SYS_pidfd_open, process(P_child), 0), fd); break;
    case O_ptm:
    case O_pts: {
        int master = open("/dev/ptmx", O_RDWR | O_NOCTTY), number, zero = 0;
        must(ioctl(master, TIOCSPTLCK, &zero) == 0 && ioctl(master, TIOCGPTN, &number) == 0, "ptmx");
        char name[32];
        snprintf(name, sizeof name, "/dev/pts/%d", number);
        put(open(name, O_RDWR | O_NOCTTY), object == O_pts ? fd : other);
        put(master, object == O_pts ? other : fd);
        break;
    }
    case O_null: put(open("/dev/null", O_RDWR), fd); break;
    case O_zero: put(open("/dev/zero", O_RDWR), fd); break;
    case O_full: put(open("/dev/full", O_RDWR), fd); break;
    case O_random: put(open("/dev/urandom", O_RDWR), fd); break;
    case O_mq: {
        struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = 32};
        put((int)syscall(SYS_mq_open, "queue", O_CREAT | O_RDWR, 0600, &attr), fd);
        must(syscall(SYS_mq_timedsend, fd, "abcde", 5, 1, 0) == 0, "mq");
        break;
    }
    case O_stat: put(open("/proc/self/stat", O_RDONLY), fd); break;
    case O_procdir: put(open("/proc/self", O_RDONLY | O_DIRECTORY), fd); break;
    case O_namespace: put(open("/proc/self/ns/uts", O_RDONLY), fd); break;
    case OBJECTS: break;
    }
    return fd;
}

static long process(enum process which)
{
    static long child, zombie, gone;
    siginfo_t info;
    switch (which) {
    case P_child:
        if (!child && !(child = fork()))
            for (;;)
                pause();
        return child;
    case P_zombie:
        if (!zombie && !(zombie = fork()))
            _exit(3);
        must(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT) == 0, "zombie");
        return zombie;
    case P_gone:
        if (!gone && !(gone = fork()))
            _exit(3);
        waitid(P_PID, (id_t)gone, &info, WEXITED);
        return gone;
    case P_group: return -getpid();
    case P_init: return 1;
    default: return getpid();
    }
}

static long region(enum memory which)
{
    static char made[REGIONS];
    void *at = (void *)REGION(which);
    if (made[which]++)
        return (long)at;
    size_t size = REGION_PAGES * PAGE;
    int flags = MAP_FIXED, fd = -1, prot = PROT_READ | PROT_WRITE;
    if (which == M_file || which == M_private)
        fd = make_object(O_rw);
    else
        flags |= MAP_ANONYMOUS;
    flags |= which == M_shared || which == M_file ? MAP_SHARED : MAP_PRIVATE;
    if (which == M_ro)
        prot = PROT_READ;
    if (which == M_none)
        prot = PROT_NONE;
    if (which == M_exec)
        prot = PROT_READ | PROT_EXEC;
    must(mmap(at, size, prot, flags, fd, 0) == at, "mmap");
    if (which == M_sealed)
        must(mlock(at, size) == 0, "mlock");
    if (which == M_rw)
        memset(at, 'm', size);
    return (long)at;
}

static long queue(enum queue which)
{
    static long made[QUEUES];
    if (made[which])
        return made[which] - 1;
    long id = -1;
    switch (which) {
    case Q_shm: id = shmget(IPC_PRIVATE, 8192, 0600); break;
    case Q_sem: id = semget(IPC_PRIVATE, 3, 0600); break;
    case Q_msg: {
        struct { long type; char text[8]; } message = {1, "abcde"};
        id = msgget(IPC_PRIVATE, 0600);
        must(msgsnd((int)id, &message, 5, 0) == 0, "msgsnd");
        break;
    }
    case QUEUES: break;
    }
    must(id >= 0, "IPC");
    made[which] = id + 1;
    return id;
}

struct named {
    const char *name;
    long value;
};

static const struct named numbers[] = {
    {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {"4", 4}, {"5", 5}, {"7", 7}, {"8", 8}, {"9", 9}, {"15", 15}, {"16", 16}, {"17", 17},
    {"31", 31}, {"32", 32}, {"33", 33}, {"63", 63}, {"64", 64}, {"65", 65}, {"127", 127}, {"128", 128}, {"255", 255}, {"256", 256},
    {"1000", 1000}, {"1023", 1023}, {"1024", 1024}, {"1025", 1025}, {"4095", 4095}, {"4096", 4096}, {"4097", 4097}, {"32767", 32767},
    {"32768", 32768}, {"65535", 65535}, {"65536", 65536}, {"65537", 65537}, {"2^20", 1 << 20}, {"2^20+1", (1 << 20) + 1},
    {"2^31-1", 0x7fffffff}, {"2^31", 0x80000000}, {"2^32-1", 0xffffffff}, {"2^32", 0x100000000}, {"2^32+1", 0x100000001},
    {"2^63-1", INT64_MAX}, {"-2^63", INT64_MIN}, {"-1", -1}, {"-2", -2}, {"-3", -3}, {"-4096", -4096}, {"-2^31", -0x80000000L},
};
static const struct named sizes[] = {
    {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {"4", 4}, {"7", 7}, {"8", 8}, {"9", 9}, {"12", 12}, {"15", 15}, {"16", 16}, {"17", 17},
    {"24", 24}, {"31", 31}, {"32", 32}, {"33", 33}, {"40", 40}, {"48", 48}, {"56", 56}, {"63", 63}, {"64", 64}, {"65", 65}, {"88", 88},
    {"110", 110}, {"111", 111}, {"127", 127}, {"128", 128}, {"129", 129}, {"255", 255}, {"256", 256}, {"257", 257}, {"1023", 1023},
    {"1024", 1024}, {"1025", 1025}, {"4095", 4095}, {"4096", 4096}, {"4097", 4097}, {"8191", 8191}, {"8192", 8192}, {"8193", 8193},
    {"65535", 65535}, {"65536", 65536}, {"65537", 65537}, {"2^20", 1 << 20}, {"2^31-4096", 0x7ffff000}, {"2^31-1", 0x7fffffff},
    {"2^31", 0x80000000}, {"2^32-1", 0xffffffff}, {"2^32", 0x100000000}, {"2^32+8", 0x100000008}, {"2^47", 1L << 47},
    {"2^63-1", INT64_MAX}, {"-2^63", INT64_MIN}, {"-1", -1}, {"-4096", -4096},
};
static const struct named offsets[] = {
    {"0", 0}, {"1", 1}, {"511", 511}, {"512", 512}, {"4095", 4095}, {"4096", 4096}, {"4097", 4097}, {"8191", 8191}, {"8192", 8192},
    {"8193", 8193}, {"2^20", 1 << 20}, {"2^31-1", 0x7fffffff}, {"2^31", 0x80000000}, {"2^32-1", 0xffffffff}, {"2^32", 0x100000000},
    {"2^63-1", INT64_MAX}, {"2^63-4096", INT64_MAX - 4095}, {"2^63-8192", INT64_MAX - 8191}, {"-2^63", INT64_MIN}, {"-1", -1}, {"-2", -2},
    {"-4096", -4096},
};
static const struct named lengths[] = {
    {"0", 0}, {"1", 1}, {"2", 2}, {"4095", 4095}, {"4096", 4096}, {"4097", 4097}, {"8192", 8192}, {"7 pages", 7 * 4096},
    {"8 pages-1", 8 * 4096 - 1}, {"8 pages", 8 * 4096}, {"8 pages+1", 8 * 4096 + 1}, {"9 pages", 9 * 4096}, {"2^20", 1 << 20},
    {"2^21", 1 << 21}, {"2^24", 1 << 24}, {"2^32", 0x100000000}, {"2^44", 1L << 44}, {"2^47-4096", LAST_PAGE + 4096},
    {"2^47", 1L << 47}, {"2^63-1", INT64_MAX}, {"2^63", INT64_MIN}, {"-1", -1}, {"-4095", -4095}, {"-4096", -4096}, {"-8192", -8192},
};
static const struct named users[] = {
    {"0", 0}, {"1", 1}, {"1000", 1000}, {"65533", 65533}, {"65534", 65534}, {"65535", 65535}, {"65536", 65536}, {"2^31-1", 0x7fffffff},
    {"2^31", 0x80000000}, {"2^32-2", 0xfffffffe}, {"2^32-1", 0xffffffff}, {"2^32", 0x100000000}, {"2^32+65534", 0x10000fffe}, {"-1", -1},
    {"-2", -2},
};
static const struct named pointers[] = {
    {"null", 0}, {"low", 1}, {"16", 16}, {"kernel", KERNEL_HALF}, {"not canonical", NOT_CANONICAL}, {"last page", LAST_PAGE},
    {"end", LAST_PAGE + PAGE}, {"end-8", LAST_PAGE + PAGE - 8}, {"-1", -1}, {"-8", -8}, {"-4096", -4096}, {"2^63", INT64_MIN},
};
enum place { AT_good, AT_odd, AT_four, AT_fit, AT_cut, AT_cut8, AT_far, AT_unmapped, AT_readonly, AT_forbidden, AT_zeros, AT_ones, PLACES };
static const char *const place_names[PLACES] = {
    "good", "odd", "by four", "to the edge", "over the edge", "8 before the edge", "1 before the edge", "unmapped", "read-only", "forbidden", "zeros", "ones",
};
static const struct named addresses[] = {
    {"null", 0}, {"1", 1}, {"4096", 4096}, {"65536", 65536}, {"rw+1", REGION(M_rw) + 1}, {"rw+8", REGION(M_rw) + 8},
    {"rw+1 page", REGION(M_rw) + PAGE}, {"rw+7 pages", REGION(M_rw) + 7 * PAGE}, {"rw+8 pages", REGION(M_rw) + 8 * PAGE},
    {"rw-1 page", REGION(M_rw) - PAGE}, {"unmapped", REGION(REGIONS)}, {"2^32", 0x100000000}, {"kernel", KERNEL_HALF},
    {"not canonical", NOT_CANONICAL}, {"last page", LAST_PAGE}, {"end", LAST_PAGE + PAGE}, {"-1", -1}, {"-4096", -4096},
    {"2^63", INT64_MIN},
};
static const struct named descriptors[] = {
    {"-1", -1}, {"-2", -2}, {"cwd", AT_FDCWD}, {"1023", 1023}, {"1024", 1024}, {"65536", 65536}, {"2^30", 1 << 30}, {"-2^31", -0x80000000L},
    {"2^31-1", 0x7fffffff}, {"2^63-1", INT64_MAX},
};
static const struct named processes[] = {
    {"0", 0}, {"-1", -1}, {"-2", -2}, {"-1000000", -1000000}, {"1000000", 1000000}, {"2^22", 1 << 22}, {"2^31-1", 0x7fffffff},
    {"-2^31", -0x80000000L}, {"2^32", 0x100000000}, {"2^63-1", INT64_MAX},
};
static const struct named queues[] = {
    {"-1", -1}, {"-2", -2}, {"30000", 30000}, {"32768", 32768}, {"2^31-1", 0x7fffffff}, {"-2^31", -0x80000000L}, {"2^32", 0x100000000},
};
static const char *const paths[] = {
    "", ".", "..", "/", "//", "file", "file/", "file/x", "file/.", "dir", "dir/", "dir/.", "dir/..", "dir/inner", "dir/below", "dir/missing", "empty",
    "empty/", "link", "link/", "link/x", "dirlink", "dirlink/", "dirlink/inner", "dangling", "dangling/", "loop", "loop/x", "missing",
    "missing/", "missing/x", "fifo", "sock", "noaccess", "noaccess/inner", "noread", "tagged", "script", "/dev/null", "/dev/zero", "/proc/self/exe",
    "/proc/self/fd/103", "/proc/self/fd/105", "/proc/self", "/proc/self/stat", "/sweep", "/rootdir", "/rootdir/x",
};
/* Names whose length is the point, by length. */
static const int long_names[] = {1, 14, 15, 16, 64, 107, 108, 246, 249, 250, 255, 256, 4094, 4095, 4096, 5000};
static const char *const names[] = {
    "", ".", "..", "a", "/", "/a", "a/b", "queue", "user.tag", "user.new", "user.", "user", "trusted.a", "security.a", "security.capability",
    "system.a", "system.posix_acl_access", "other.a", "\x80", "user.tag/x",
};
static const long word_values[] = {0, 1, 2, 3, 7, -1, -2, 4096, 0x7fffffff, -0x80000000L, 0x100000000, INT64_MAX, INT64_MIN, KERNEL_HALF, NOT_CANONICAL};
static const int half_values[] = {0, 1, 2, 3, 7, -1, -2, 4096, 0x7fffffff, -0x7fffffff - 1};
#define MOST_WORDS 16

static int words_of(const struct argument *argument)
{
    if (!argument->data || !argument->word)
        return 0;
    long count = argument->size / argument->word;
    return count < MOST_WORDS ? (int)count : MOST_WORDS;
}

static int values_of_word(const struct argument *argument)
{
    /* Besides those: all bits of the first words singly, since flags stand there. */
    return (argument->word == 8 ? COUNT(word_values) : COUNT(half_values)) + 2;
}

/* How many values an argument takes besides its base. */
static int count_of(const struct argument *argument)
{
    switch (argument->kind) {
    case K_NUMBER: return COUNT(numbers) + 2;
    case K_BITS: return 6 + (argument->base ? 64 : 32);
    case K_RANGE: return (int)(argument->high - argument->low) + 3 + 8;
    case K_LIST: return (int)argument->size / 8;
    case K_SIZE: return COUNT(sizes) + 2;
    case K_OFFSET: return COUNT(offsets);
    case K_LENGTH: return COUNT(lengths);
    case K_SIGNAL: return 70;
    case K_USER: return COUNT(users);
    case K_DESCRIPTOR: return OBJECTS + COUNT(descriptors) + 1;
    case K_PATH: return COUNT(paths) + 2 * COUNT(long_names) + COUNT(pointers) + 3;
    case K_NAME: return COUNT(names) + COUNT(long_names) + COUNT(pointers) + 3;
    case K_POINTER: return PLACES + COUNT(pointers) + words_of(argument) * values_of_word(argument);
    case K_PROCESS: return PROCESSES + COUNT(processes);
    case K_MEMORY: return REGIONS + COUNT(addresses);
    case K_QUEUE: return 2 + COUNT(queues);
    default: return 0;
    }
}

/* A pointer to bytes in a place; the argument has the number `slot`. */
static long pointer_to(int slot, enum place place, const void *data, long size)
{
    char *area = (char *)AREA(slot), *edge = area + AREA_PAGES * PAGE, *at = area + 64, *beside = area + BESIDE;
    long fits = size;
    switch (place) {
    case AT_odd: at += 1; break;
    case AT_four: at += 4; break;
    case AT_fit: at = edge - size; break;
    case AT_cut: at = edge - size + 1; fits = size - 1; break;
    case AT_cut8: at = edge - 8; fits = size < 8 ? size : 8; break;
    case AT_far: at = edge - 1; fits = size < 1 ? size : 1; break;
    case AT_unmapped: return (long)edge;
    case AT_readonly:
    case AT_forbidden:
        at = beside;
        must(mmap(at, AREA_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at, "mmap");
        break;
    default: break;
    }
    if (place == AT_ones)
        memset(at, 0xff, (size_t)size);
    else if (data && place != AT_zeros)
        memcpy(at, data, (size_t)fits);
    if (place == AT_readonly || place == AT_forbidden)
        must(mprotect(at, AREA_PAGES * PAGE, place == AT_readonly ? PROT_READ : PROT_NONE) == 0, "mprotect");
    return (long)at;
}

/* The value of a list, and its name. */
static long listed(const struct named *list, int index, char *name)
{
    strcpy(name, list[index].name);
    return list[index].value;
}

static long in_hex(long value, char *name)
{
    sprintf(name, value < 0 && value > -100000 ? "%ld" : "%#lx", value);
    return value;
}

static long path_at(int slot, enum place place, const char *path, int make)
{
    if (!make)
        return 0;
    make_path(path);
    return pointer_to(slot, place, path, (long)strlen(path) + 1);
}

/* A name of a length; with slashes, a path of short components that leads to a file. */
static long long_name(int slot, int length, int slashes, char *name, int make)
{
    static char text[8192];
    sprintf(name, "%s%d long", slashes ? "path " : "", length);
    if (!make)
        return 0;
    memset(text, 'n', (size_t)length);
    for (int at = 0; slashes && at + 1 < length; at += 2)
        memcpy(text + at, "./", 2);
    text[length] = 0;
    enter_directory();
    return pointer_to(slot, AT_good, text, length + 1);
}

/* The base of an argument. */
static long base_of(const struct argument *argument, int slot, int make)
{
    if (!make)
        return 0;
    switch (argument->kind) {
    case K_DESCRIPTOR: return argument->base < 0 ? argument->base : make_object((enum object)argument->base);
    case K_PATH: return path_at(slot, AT_good, argument->text, 1);
    case K_NAME: return pointer_to(slot, AT_good, argument->text, (long)strlen(argument->text) + 1);
    case K_POINTER: return pointer_to(slot, AT_good, argument->data, argument->size);
    case K_PROCESS: return process((enum process)argument->base);
    case K_MEMORY: return argument->base < 0 ? 0 : region((enum memory)argument->base);
    case K_QUEUE: return queue((enum queue)argument->base);
    default: return argument->base;
    }
}

/* The value with this number of an argument, and its name; with `make`, what it needs is there afterwards. */
static long value_of(const struct argument *argument, int slot, int index, char *name, int make)
{
    long base = argument->base;
    switch (argument->kind) {
    case K_NUMBER:
    case K_SIZE: {
        const struct named *list = argument->kind == K_NUMBER ? numbers : sizes;
        int count = argument->kind == K_NUMBER ? COUNT(numbers) : COUNT(sizes);
        if (index < count)
            return listed(list, index, name);
        strcpy(name, index == count ? "base-1" : "base+1");
        return base + (index == count ? -1 : 1);
    }
    case K_BITS:
        switch (index) {
        case 0: strcpy(name, "0"); return 0;
        case 1: strcpy(name, "-1"); return -1;
        case 2: strcpy(name, "also 2^32"); return base | 1L << 32;
        case 3: strcpy(name, "also 2^63"); return base | INT64_MIN;
        case 4: strcpy(name, "2^32-1"); return 0xffffffff;
        case 5: strcpy(name, "3"); return 3;
        }
        index -= 6;
        sprintf(name, "%s%#lx", index < 32 ? "only " : "also ", 1L << (index % 32));
        return (index < 32 ? 0 : base) ^ 1L << (index % 32);
    case K_RANGE: {
        static const struct named ends[] = {
            {"2^31-1", 0x7fffffff}, {"-2^31", -0x80000000L}, {"2^32-1", 0xffffffff}, {"-1000", -1000}, {"1000", 1000}, {"65536", 65536},
        };
        long span = argument->high - argument->low + 3;
        if (index < span) {
            sprintf(name, "%ld", argument->low - 1 + index);
            return argument->low - 1 + index;
        }
        if (index < span + COUNT(ends))
            return listed(ends, (int)(index - span), name);
        strcpy(name, index == span + COUNT(ends) ? "base+2^32" : "base+2^63");
        return base + (index == span + COUNT(ends) ? 1L << 32 : INT64_MIN);
    }
    case K_LIST: return in_hex(((const long *)argument->data)[index], name);
    case K_OFFSET: return listed(offsets, index, name);
    case K_LENGTH: return listed(lengths, index, name);
    case K_SIGNAL: {
        static const long others[] = {-1, 0x7fffffff, 0x100000000};
        long signal = index < 67 ? index : others[index - 67];
        return in_hex(signal, name);
    }
    case K_USER: return listed(users, index, name);
    case K_DESCRIPTOR:
        if (index < OBJECTS) {
            strcpy(name, object_names[index]);
            return make ? make_object((enum object)index) : 0;
        }
        if (index < OBJECTS + COUNT(descriptors))
            return listed(descriptors, index - OBJECTS, name);
        strcpy(name, "base+2^32");
        return base_of(argument, slot, make) + (1L << 32);
    case K_PATH:
    case K_NAME: {
        const char *const *list = argument->kind == K_PATH ? paths : names;
        int count = argument->kind == K_PATH ? COUNT(paths) : COUNT(names);
        if (index < count) {
            sprintf(name, "\"%s\"", *list[index] == '\x80' ? "\\x80" : list[index]);
            if (argument->kind == K_PATH)
                return path_at(slot, AT_good, list[index], make);
            return make ? pointer_to(slot, AT_good, list[index], (long)strlen(list[index]) + 1) : 0;
        }
        index -= count;
        if (index < COUNT(long_names))
            return long_name(slot, long_names[index], 0, name, make);
        index -= COUNT(long_names);
        if (argument->kind == K_PATH) {
            if (index < COUNT(long_names))
                return long_name(slot, long_names[index], 1, name, make);
            index -= COUNT(long_names);
        }
        if (index < COUNT(pointers))
            return listed(pointers, index, name);
        enum place place = index == COUNT(pointers) ? AT_fit : index == COUNT(pointers) + 1 ? AT_cut : AT_readonly;
        strcpy(name, place_names[place]);
        if (make && argument->kind == K_PATH)
            make_path(argument->text);
        return make ? pointer_to(slot, place, argument->text, (long)strlen(argument->text) + 1) : 0;
    }
    case K_POINTER: {
        if (index < PLACES) {
            strcpy(name, place_names[index]);
            return make ? pointer_to(slot, (enum place)index, argument->data, argument->size) : 0;
        }
        index -= PLACES;
        if (index < COUNT(pointers))
            return listed(pointers, index, name);
        index -= COUNT(pointers);
        int each = values_of_word(argument), word = index / each, which = index % each, wide = argument->word == 8;
        int plain = each - 2;
        long was = wide ? ((const long *)argument->data)[word] : ((const int *)argument->data)[word];
        long value = which < plain ? (wide ? word_values[which] : half_values[which]) : which == plain ? was + 1 : was - 1;
        sprintf(name, "[%d] ", word);
        if (which < plain)
            in_hex(wide ? value : (int)value, name + strlen(name));
        else
            strcat(name, which == plain ? "base+1" : "base-1");
        if (!make)
            return 0;
        char *at = (char *)pointer_to(slot, AT_good, argument->data, argument->size);
        memcpy(at + word * argument->word, &value, (size_t)argument->word);
        return (long)at;
    }
    case K_PROCESS:
        if (index < PROCESSES) {
            strcpy(name, process_names[index]);
            return make ? process((enum process)index) : 0;
        }
        return listed(processes, index - PROCESSES, name);
    case K_MEMORY:
        if (index < REGIONS) {
            strcpy(name, region_names[index]);
            return make ? region((enum memory)index) : 0;
        }
        if (make)
            region(M_rw);
        return listed(addresses, index - REGIONS, name);
    case K_QUEUE:
        if (index < 2) {
            strcpy(name, index ? "base+1" : "base+2^32");
            return make ? queue((enum queue)base) + (index ? 1 : 1L << 32) : 0;
        }
        return listed(queues, index - 2, name);
    default: return base;
    }
}
