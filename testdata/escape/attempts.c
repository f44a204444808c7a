/* Attempts to leave the box. Each is made in a process of its own; one that sees the text of a planted file says LEAK.
   The harness looks at the host afterwards. Arguments come by the environment, since what is named on the command line
   is open: VAULT is a directory with the file `secret`, HOSTPID a process of the host, PORT a port where the host listens,
   ABSTRACT the name of an abstract socket of the host. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MARK "the planted text"
static const char *vault;
static char secret[4096];
static int host;
static char buf[1 << 16];

static void leak(const char *how) { printf("LEAK by %s\n", how); fflush(stdout); _exit(7); }
static void look(const void *bytes, size_t count, const char *how) { if (memmem(bytes, count, MARK, 16)) leak(how); }
static void drain(int fd, const char *how)
{
    ssize_t count = read(fd, buf, sizeof buf);
    if (count > 0) look(buf, count, how);
    count = pread(fd, buf, sizeof buf, 0);
    if (count > 0) look(buf, count, how);
    (void)!write(fd, "changed", 7);
    (void)!pwrite(fd, "changed", 7, 0);
}

/* Names of the planted file; %s is its directory. */
static const char *const PATHS[] = {
    "%s/secret", "../vault/secret", "./.././vault//secret", "//..//..//%s/secret", "out/secret", "direct", "absolute",
    "chain", "out/../vault/secret", "out/./secret", "deep/up/secret", "/proc/self/root%s/secret", "/proc/self/cwd/../vault/secret",
    "/proc/thread-self/root%s/secret", "/proc/1000/root%s/secret", "/proc/self/task/1000/root%s/secret",
    "/proc/self/cwd/out/secret", "/dev/fd/../../../%s/secret", "/proc/self/fd/9/../vault/secret", "/proc/self/fd/9/out/secret",
    "/proc/self/exe/../../vault/secret", "/proc/1/root%s/secret", "/proc/1/cwd/secret", "/sys/../%s/secret", "/dev/shm/../../%s/secret",
    ".ssh/id", "./.ssh/../.ssh/id", "/proc/self/cwd/.ssh/id", "sshlink", "sshdir/id", "/etc/shadow", "/etc/../etc/shadow",
    "/proc/self/root/etc/shadow", "/usr/../etc/shadow", "/etc/ssl/private/key",
};
enum { PATH_COUNT = sizeof PATHS / sizeof *PATHS };

static const char *name_of(int at) { static char name[8192]; snprintf(name, sizeof name, PATHS[at], vault); return name; }

/* Ways to a file by its name. */
static void way_open(const char *path) { int fd = open(path, O_RDONLY); if (fd >= 0) drain(fd, path); }
static void way_write(const char *path) { int fd = open(path, O_RDWR); if (fd >= 0) drain(fd, path); }
static void way_truncate(const char *path)
{
    (void)!truncate(path, 0); int fd = open(path, O_WRONLY | O_TRUNC); if (fd >= 0) drain(fd, path);
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666); if (fd >= 0) drain(fd, path);
}
static void way_path(const char *path)
{
    int fd = open(path, O_PATH); if (fd < 0) return;
    char name[64]; snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int again = open(name, O_RDWR); if (again >= 0) drain(again, path);
    again = openat(fd, "", O_RDONLY); if (again >= 0) drain(again, path);
}
static void way_openat2(const char *path)
{
    static const uint64_t how[] = { 0, RESOLVE_BENEATH, RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_XDEV,
        RESOLVE_CACHED, RESOLVE_BENEATH | RESOLVE_IN_ROOT, ~0ull };
    int dirs[] = { AT_FDCWD, 9, open("/", O_PATH), open("/proc/self/root", O_PATH), open("/proc", O_RDONLY) };
    for (unsigned d = 0; d < 5; d++) for (unsigned i = 0; i < sizeof how / sizeof *how; i++) {
        struct open_how with = { .flags = O_RDONLY, .resolve = how[i] };
        int fd = syscall(SYS_openat2, dirs[d], path, &with, sizeof with); if (fd >= 0) drain(fd, path);
    }
}
static void way_map(const char *path)
{
    int fd = open(path, O_RDONLY); if (fd < 0) return;
    char *at = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0); if (at != MAP_FAILED) look(at, 4096, path);
}
static void way_names(const char *path)
{
    static const char *const to[] = { "taken", "other/taken" };
    for (int i = 0; i < 2; i++) {
        if (!link(path, to[i])) way_open(to[i]);
        if (!rename(path, to[i])) way_open(to[i]);
        if (!linkat(AT_FDCWD, path, AT_FDCWD, to[i], AT_SYMLINK_FOLLOW)) way_open(to[i]);
        if (!syscall(SYS_renameat2, AT_FDCWD, "mine", AT_FDCWD, path, RENAME_EXCHANGE)) way_open("mine");
    }
    (void)!rename("mine", path); (void)!unlink(path); (void)!rmdir(path);
    (void)!symlink("/", path); (void)!mknod(path, S_IFIFO | 0666, 0);
    (void)!chmod(path, 0); (void)!chown(path, 0, 0); (void)!utimensat(AT_FDCWD, path, 0, 0);
}
static void way_exec(const char *path)
{
    char *argv[] = { (char *)path, 0 }; pid_t child = fork();
    if (!child) { execve(path, argv, argv + 1); _exit(0); }
    waitpid(child, 0, 0);
    child = fork();
    if (!child) { char *cat[] = { "cat", (char *)path, 0 }; execve("/bin/cat", cat, argv + 1); _exit(0); }
    waitpid(child, 0, 0);
}
static void way_attributes(const char *path)
{
    struct stat st; struct statx stx;
    if (!lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size == 4321) leak(path);
    if (!statx(AT_FDCWD, path, 0, STATX_ALL, &stx) && stx.stx_size == 4321) leak(path);
    ssize_t count = syscall(SYS_getxattr, path, "user.mark", buf, sizeof buf); if (count > 0) look(buf, count, path);
    (void)!syscall(SYS_setxattr, path, "user.mark", "x", 1, 0);
    count = readlink(path, buf, sizeof buf); if (count > 0) look(buf, count, path);
}
/* Operations of a ring, which no filter of system calls sees. */
static struct io_uring_params ring; static int ring_fd = -1; static char *ring_at; static struct io_uring_sqe *sqes;
static unsigned *word(unsigned at) { return (unsigned *)(ring_at + at); }
static int ring_made(void)
{
    memset(&ring, 0, sizeof ring); ring_fd = syscall(425, 8, &ring); if (ring_fd < 0) return 0;
    ring_at = mmap(0, ring.sq_off.array + ring.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQ_RING);
    sqes = mmap(0, ring.sq_entries * sizeof *sqes, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQES);
    return ring_at != MAP_FAILED && sqes != MAP_FAILED;
}
static int ring_do(struct io_uring_sqe sqe)
{
    unsigned tail = *word(ring.sq_off.tail), at = tail & (ring.sq_entries - 1), head = *word(ring.cq_off.head);
    sqes[at] = sqe; word(ring.sq_off.array)[at] = at; *word(ring.sq_off.tail) = tail + 1;
    static struct __kernel_timespec soon = { 0, 1000000 }; struct io_uring_getevents_arg wait = { .ts = (uintptr_t)&soon };
    syscall(426, ring_fd, 1, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &wait, sizeof wait);
    if (head == *word(ring.cq_off.tail)) return -1;
    *word(ring.cq_off.head) = head + 1;
    return ((struct io_uring_cqe *)(ring_at + ring.cq_off.cqes))[head & (ring.cq_entries - 1)].res;
}
#define RING(name, ...) ring_do((struct io_uring_sqe){ .opcode = IORING_OP_##name, __VA_ARGS__ })
#define TO(text) .addr = (uintptr_t)(text)
#define AND(text) .addr2 = (uintptr_t)(text)
static void ring_drain(int fd, const char *how)
{
    if (fd < 0) return;
    int ends[2], count = RING(READ, .fd = fd, TO(buf), .len = sizeof buf); if (count > 0) look(buf, count, how);
    pipe(ends); if (RING(SPLICE, .fd = ends[1], .off = -1, .splice_fd_in = fd, .splice_off_in = 0, .len = 4096) > 0) drain(ends[0], how);
    syscall(427, ring_fd, IORING_REGISTER_FILES, &fd, 1);
    count = RING(READ, .flags = IOSQE_FIXED_FILE, TO(buf), .len = sizeof buf); if (count > 0) look(buf, count, how);
    syscall(427, ring_fd, IORING_UNREGISTER_FILES, 0, 0);
    RING(WRITE, .fd = fd, TO("changed"), .len = 7); RING(FALLOCATE, .fd = fd, .addr = 9); drain(fd, how);
}
static void way_uring(const char *path)
{
    if (!ring_made()) return;
    static const unsigned flags[] = { O_RDONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_CREAT, O_RDONLY | O_DIRECTORY }; struct statx stx;
    int dirs[] = { AT_FDCWD, 9, open("/", O_PATH), open("/proc/self/root", O_PATH) };
    for (int d = 0; d < 4; d++) {
        for (int i = 0; i < 5; i++) ring_drain(RING(OPENAT, .fd = dirs[d], TO(path), .open_flags = flags[i], .len = 0666), path);
        for (uint64_t how = 0; how < 64; how = how * 2 + !how) { struct open_how with = { .flags = O_RDONLY, .resolve = how }; ring_drain(RING(OPENAT2, .fd = dirs[d], TO(path), AND(&with), .len = sizeof with), path); }
        stx.stx_size = 0; if (!RING(STATX, .fd = dirs[d], TO(path), AND(&stx), .len = STATX_ALL) && stx.stx_size == 4321) leak(path);
        if (!RING(LINKAT, .fd = dirs[d], TO(path), .len = AT_FDCWD, AND("taken"), .hardlink_flags = AT_SYMLINK_FOLLOW)) way_open("taken");
        if (!RING(RENAMEAT, .fd = dirs[d], TO(path), .len = AT_FDCWD, AND("taken"))) way_open("taken");
        RING(RENAMEAT, .fd = AT_FDCWD, TO("mine"), .len = dirs[d], AND(path)); RING(SYMLINKAT, .fd = dirs[d], TO("/"), AND(path)); RING(MKDIRAT, .fd = dirs[d], TO(path), .len = 0777); RING(UNLINKAT, .fd = dirs[d], TO(path));
    }
    if (RING(GETXATTR, TO("user.mark"), AND(buf), .len = sizeof buf, .addr3 = (uintptr_t)path) > 0) look(buf, sizeof buf, path);
    RING(SETXATTR, TO("user.mark"), AND("x"), .len = 1, .addr3 = (uintptr_t)path);
}
static const struct { const char *name; void (*go)(const char *); } WAYS[] = {
    { "open", way_open }, { "write", way_write }, { "truncate", way_truncate }, { "O_PATH", way_path }, { "openat2", way_openat2 },
    { "mmap", way_map }, { "names", way_names }, { "exec", way_exec }, { "attributes", way_attributes }, { "io_uring", way_uring },
};

/* Everything else, one function for each. */
static void list(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY); if (fd < 0) return;
    ssize_t count; while ((count = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0)
        if (memmem(buf, count, "secret", 7) || memmem(buf, count, ".ssh", 5) || memmem(buf, count, "vault", 6)) leak(path);
}
static void lists(void) { list(vault); list(".."); list("."); list("out"); list("/proc/self/cwd"); list("/proc/self/cwd/.."); list("deep/up"); }
static void handles(void)
{
    struct { struct file_handle head; char bytes[128]; } handle; int mount;
    handle.head.handle_bytes = 128;
    name_to_handle_at(AT_FDCWD, secret, &handle.head, &mount, 0);
    for (int i = 0; i < 100; i++) {
        handle.head.handle_bytes = 8; handle.head.handle_type = 1; memset(handle.bytes, i, 8);
        int fd = open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY); if (fd >= 0) drain(fd, "handle");
    }
}
static void fds(void)
{
    for (int fd = 0; fd < 70000; fd += fd < 1100 ? 1 : 997) {
        if (fd > 2 && fd != 9) { ssize_t count = pread(fd, buf, sizeof buf, 0); if (count > 0) leak("a descriptor of the host"); }
        char name[64]; snprintf(name, sizeof name, "/proc/self/fd/%d/secret", fd); way_open(name);
    }
}
static void cwd_outside(void) { if (!chdir(vault)) way_open("secret"); if (!chdir("..")) { list("."); way_open("vault/secret"); } }
static void fchdir_outside(void) { int fd = open("..", O_PATH); if (!fchdir(fd)) way_open("vault/secret"); fd = open("/proc/self/cwd", O_PATH); if (!fchdir(fd)) way_open("../vault/secret"); }
static void chroot_out(void)
{
    int up = open(".", O_RDONLY); mkdir("jail", 0777); if (chroot("jail")) return;
    fchdir(up); for (int i = 0; i < 64; i++) (void)!chdir("..");
    (void)!chroot("."); way_open(secret); list(vault);
}
static void chroot_vault(void) { if (!chroot(vault)) way_open("/secret"); }
static void bind_mount(void) { mkdir("here", 0777); if (!mount(vault, "here", "none", MS_BIND, 0)) way_open("here/secret"); }
static void mounts(void)
{
    static const char *const kinds[] = { "proc", "sysfs", "tmpfs", "devtmpfs", "overlay", "ext4", "fuse", "bpf", "9p", "nfs", "binfmt_misc" };
    mkdir("mnt", 0777);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) if (!mount("none", "mnt", kinds[i], 0, "lowerdir=/,upperdir=.,workdir=.")) { char name[8192]; snprintf(name, sizeof name, "mnt%s", secret); way_open(name); }
}
static void mount_calls(void)
{
    int tree = syscall(428 /* open_tree */, AT_FDCWD, vault, 1); if (tree >= 0) { int fd = openat(tree, "secret", O_RDONLY); if (fd >= 0) drain(fd, "open_tree"); }
    syscall(429, AT_FDCWD, vault, AT_FDCWD, "here", 0); int fs = syscall(430, "proc", 0); syscall(431, fs, 6, 0, 0, 0); syscall(432, fs, 0, 0);
    syscall(433, AT_FDCWD, vault, 0); syscall(442, AT_FDCWD, vault, 0, 0, 0); syscall(SYS_pivot_root, ".", "."); umount2("/", MNT_DETACH); way_open(secret);
}
static void namespaces(void)
{
    if (!unshare(CLONE_NEWUSER | CLONE_NEWNS)) { bind_mount(); chroot_out(); }
    unshare(CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | 0x02000000); way_open(secret);
}
static void enter_namespace(void)
{
    char name[64]; static const char *const kinds[] = { "mnt", "pid", "net", "user", "ipc", "uts", "cgroup", "time" };
    for (int i = 0; i < 8; i++) for (int p = 0; p < 2; p++) {
        snprintf(name, sizeof name, "/proc/%d/ns/%s", p ? host : 1, kinds[i]);
        int fd = open(name, O_RDONLY); if (fd >= 0) { setns(fd, 0); way_open(secret); }
    }
}
static void host_proc(void)
{
    static const char *const names[] = { "environ", "mem", "maps", "cmdline", "exe", "cwd/secret", "root/etc/shadow", "fd/0", "fd/1", "task" };
    char name[128]; for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "/proc/%d/%s", host, names[i]);
        if (open(name, O_RDONLY) >= 0) leak(name);
    }
}
static void host_trace(void)
{
    if (!ptrace(PTRACE_ATTACH, host, 0, 0) || !ptrace(PTRACE_SEIZE, host, 0, 0)) leak("ptrace");
    struct iovec here = { buf, 64 }, there = { (void *)0x400000, 64 };
    if (process_vm_readv(host, &here, 1, &there, 1, 0) > 0 || process_vm_writev(host, &here, 1, &there, 1, 0) > 0) leak("process_vm_readv");
}
/* A tracee makes the calls that its tracer puts in the place of others, and its memory is all that can be seen and set. */
static void by_tracee(void)
{
    pid_t pid = fork();
    if (!pid) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); for (int i = 0; i < 40; i++) syscall(SYS_getppid); _exit(0); }
    int status; waitpid(pid, &status, 0);
    static const unsigned long nowhere[] = { 0, 0x1000, 0x7ffffffff000, 0x7fffffffffff, 0x800000000000, 0xffff800000000000, 0xffffffffff600000, ~7ul };
    for (unsigned i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        errno = 0; ptrace(PTRACE_PEEKDATA, pid, nowhere[i], 0); if (!errno) leak("PTRACE_PEEKDATA");
        if (!ptrace(PTRACE_POKEDATA, pid, nowhere[i], 0)) leak("PTRACE_POKEDATA");
    }
    static long names[2][64]; snprintf((char *)names[0], 512, "%s/secret", vault);
    struct user_regs_struct regs;
    for (int call = 0; call < 30; call++) {
        if (ptrace(PTRACE_SYSCALL, pid, 0, 0) || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) break;
        ptrace(PTRACE_GETREGS, pid, 0, &regs);
        if (call % 2) { if (call % 6 == 1 && (long)regs.rax >= 0) leak("a call of a tracee"); continue; }
        unsigned long at = (regs.rsp - 4096) & ~7ul;
        for (int i = 0; i < 64; i++) ptrace(PTRACE_POKEDATA, pid, at + 8 * i, names[0][i]);
        switch (call % 6) {
        case 0: regs.orig_rax = SYS_open; regs.rdi = at; regs.rsi = O_RDONLY; break;
        case 2: regs.orig_rax = SYS_kill; regs.rdi = host; regs.rsi = SIGKILL; break;
        case 4: regs.orig_rax = 0x7000 + call; break;
        }
        ptrace(PTRACE_SETREGS, pid, 0, &regs);
    }
    kill(pid, SIGKILL); waitpid(pid, &status, 0);
}
static void host_kill(void)
{
    for (int s = 1; s < 65; s++) if (!kill(host, s) || !kill(-host, s) || !syscall(SYS_tkill, host, s) || !syscall(SYS_tgkill, host, host, s)) leak("kill");
    union sigval value = { 0 }; if (!sigqueue(host, 9, value)) leak("sigqueue");
}
static void host_pidfd(void)
{
    int fd = syscall(SYS_pidfd_open, host, 0); if (fd >= 0) { syscall(SYS_pidfd_send_signal, fd, 9, 0, 0); leak("pidfd_open"); }
    for (int pid = 1; pid < 70000; pid += pid < 100 ? 1 : 499) { fd = syscall(SYS_pidfd_open, pid, 0); if (fd >= 0 && pid > 2 && pid < 1000) leak("pidfd_open"); if (fd >= 0) { int got = syscall(SYS_pidfd_getfd, fd, 3, 0); if (got >= 0) drain(got, "pidfd_getfd"); } }
}
static void host_limits(void) { struct { uint64_t a, b; } limit = { 1, 1 }; if (!syscall(SYS_prlimit64, host, 9, &limit, 0)) leak("prlimit"); (void)!syscall(SYS_setpriority, 0, host, 19); }
static void host_schedule(void) { cpu_set_t set; CPU_ZERO(&set); CPU_SET(0, &set); if (!sched_setaffinity(host, sizeof set, &set)) leak("sched_setaffinity"); if (getpgid(host) >= 0 || getsid(host) >= 0) leak("getpgid"); }
static void try_connect(int kind, int type, struct sockaddr *to, socklen_t len, const char *how)
{
    int fd = socket(kind, type | SOCK_NONBLOCK, 0); if (fd < 0) return;
    if (!connect(fd, to, len)) { (void)!write(fd, "hello", 5); if (type == SOCK_STREAM) leak(how); }
    sendto(fd, "hello", 5, MSG_DONTWAIT, to, len);
}
static void tcp(void)
{
    int port = atoi(getenv("PORT")); static const uint32_t hosts[] = { 0x7f000001, 0, 0x7f000101, 0x0a000001, 0xa9fea9fe, 0x08080808, 0xffffffff };
    for (int i = 0; i < 7; i++) { struct sockaddr_in to = { AF_INET, htons(port), { htonl(hosts[i]) } }; try_connect(AF_INET, SOCK_STREAM, (void *)&to, sizeof to, "tcp"); try_connect(AF_INET, SOCK_DGRAM, (void *)&to, sizeof to, "udp"); }
}
static void tcp6(void)
{
    int port = atoi(getenv("PORT")); struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    try_connect(AF_INET6, SOCK_STREAM, (void *)&to, sizeof to, "tcp6"); memset(&to.sin6_addr, 0, 16); to.sin6_addr.s6_addr[10] = to.sin6_addr.s6_addr[11] = 0xff; to.sin6_addr.s6_addr[12] = 127; to.sin6_addr.s6_addr[15] = 1;
    try_connect(AF_INET6, SOCK_STREAM, (void *)&to, sizeof to, "mapped tcp6");
}
static void abstract_socket(void)
{
    struct sockaddr_un to = { AF_UNIX, "" }; const char *name = getenv("ABSTRACT"); strcpy(to.sun_path + 1, name);
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
    try_connect(AF_UNIX, SOCK_STREAM, (void *)&to, len, "abstract socket"); try_connect(AF_UNIX, SOCK_SEQPACKET, (void *)&to, len, "abstract socket");
}
static void path_socket(void)
{
    static const char *const names[] = { "sock", "/proc/self/cwd/sock", "/run/systemd/notify", "/run/dbus/system_bus_socket", "/var/run/docker.sock", "/run/docker.sock", "/tmp/.X11-unix/X0" };
    for (int i = 0; i < 7; i++) { struct sockaddr_un to = { AF_UNIX, "" }; strcpy(to.sun_path, names[i]); try_connect(AF_UNIX, SOCK_STREAM, (void *)&to, sizeof to, names[i]); try_connect(AF_UNIX, SOCK_DGRAM, (void *)&to, sizeof to, names[i]); }
    way_open("sock"); way_open("pipe");
}
static void odd_sockets(void)
{
    static const int kinds[] = { AF_PACKET, AF_VSOCK, AF_ALG, AF_XDP, AF_KEY, AF_BLUETOOTH, AF_TIPC, AF_RDS, AF_CAN, AF_NETLINK };
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) for (int type = 1; type < 11; type++) { int fd = socket(kinds[i], type, 0); if (fd >= 0 && kinds[i] != AF_NETLINK) leak("socket"); if (fd >= 0) close(fd); }
    if (socket(AF_INET, SOCK_RAW, 1) >= 0 && kill(0, 0) < 0) leak("raw socket");
}
static void pass_descriptor(void)
{
    int pair[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, pair); char control[64] = { 0 }; struct iovec one = { "x", 1 };
    for (int fd = 3; fd < 40; fd++) { struct msghdr message = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(4) }; struct cmsghdr *head = CMSG_FIRSTHDR(&message); head->cmsg_level = SOL_SOCKET; head->cmsg_type = SCM_RIGHTS; head->cmsg_len = CMSG_LEN(4); memcpy(CMSG_DATA(head), &fd, 4);
        if (fd != 9 && fd != pair[0] && fd != pair[1] && sendmsg(pair[0], &message, MSG_DONTWAIT) >= 0) leak("a descriptor of the host was passed"); }
}
static void ring_connect(struct sockaddr *to, socklen_t len, const char *how)
{
    for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++) {
        int fd = RING(SOCKET, .fd = to->sa_family, .off = type); if (fd < 0) fd = socket(to->sa_family, type, 0); if (fd < 0) continue;
        if (!RING(CONNECT, .fd = fd, TO(to), .off = len) && type != SOCK_DGRAM) leak(how);
        RING(SEND, .fd = fd, TO("hello"), .len = 5); struct iovec one = { "hello", 5 }; struct msghdr message = { to, len, &one, 1 }; RING(SENDMSG, .fd = fd, TO(&message)); close(fd);
    }
}
static void uring(void)
{
    if (!ring_made()) return;
    struct sockaddr_in in = { AF_INET, htons(atoi(getenv("PORT"))), { htonl(INADDR_LOOPBACK) } }; struct sockaddr_un un = { AF_UNIX, "sock" }, name = { AF_UNIX };
    strcpy(name.sun_path + 1, getenv("ABSTRACT")); socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name.sun_path + 1);
    ring_connect((void *)&in, sizeof in, "tcp by a ring"); ring_connect((void *)&un, sizeof un, "a socket's name by a ring"); ring_connect((void *)&name, len, "an abstract socket by a ring");
    for (int fd = 3; fd < 40; fd++) if (fd != 9 && fd != ring_fd && RING(FSYNC, .fd = fd) != -EBADF) leak("a descriptor of the host was in a ring");
    for (int bit = 12; bit < 40; bit++) { char *at = mmap(0, 1 << 16, PROT_READ, MAP_SHARED, ring_fd, 1ull << bit); if (at != MAP_FAILED) munmap(at, 1 << 16); }
    /* Entries and indices of every kind; what they do is done by the call of their name. */
    uint64_t state = 1;
    for (int round = 0; round < 3000; round++) {
        struct io_uring_sqe sqe; unsigned char *byte = (void *)&sqe;
        for (unsigned i = 0; i < sizeof sqe; i++) { state = state * 6364136223846793005u + 1442695040888963407u; byte[i] = round % 3 && i > 1 ? 0 : state >> 56; }
        sqe.opcode = round % 64; sqe.flags = round % 7 ? 0 : sqe.flags; if (round % 2) sqe.addr = (uintptr_t)(round % 4 == 1 ? secret : buf), sqe.fd = AT_FDCWD;
        if (sqe.opcode == IORING_OP_CLOSE) sqe.fd = -1;
        ring_do(sqe);
        if (round % 50 == 0) { *word(ring.sq_off.tail) += round; *word(ring.cq_off.head) -= round; word(ring.sq_off.array)[round % 8] = state; *word(ring.sq_off.ring_mask) = state; }
    }
}
static void old_aio(void) { unsigned long context = 0; if (!syscall(SYS_io_setup, 8, &context)) { int fd = open(secret, O_RDONLY); (void)fd; } syscall(SYS_io_submit, context, 1, (void *)-1); syscall(SYS_io_destroy, context); }
static void privileged(void)
{
    static const int calls[] = { SYS_bpf, SYS_perf_event_open, SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_iopl, SYS_ioperm, SYS_reboot, SYS_swapon, SYS_swapoff,
        SYS_acct, SYS_quotactl, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_vhangup, SYS_lookup_dcookie, SYS_nfsservctl, SYS_uselib, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_fanotify_init, SYS_userfaultfd, SYS_kcmp, 444, 445, 446, 447, 448 };
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) for (int a = -1; a < 4; a++) syscall(calls[i], a, secret, 8, secret, 0, 0);
}
static void unknown_numbers(void)
{
    for (long n = 335; n < 1100; n++) if (n < 424 || n > 470) syscall(n, 1, 2, 3, 4, 5, 6);
    for (int bit = 9; bit < 63; bit++) syscall((1l << bit) | 1, 1, buf, 0, 0, 0, 0);
    syscall(-1, 0, 0, 0); syscall(0x40000000 | SYS_open, secret, 0); syscall(INT64_MIN, 0); syscall(0x80000000l, 0);
}
static void bad_pointers(void)
{
    static const uint64_t bad[] = { 0, 1, 0xfff, 0x7ffffffff000, 0x7fffffffffff, 0x800000000000, 0xffff800000000000, 0xffffffffff600000, 0xfffffffffffff000, ~0ull };
    for (long n = 0; n < 463; n++) {
        switch (n) { case 37: case 38: case 103: case 15: case 34: case 56: case 57: case 58: case 59: case 60: case 61: case 62: case 200: case 231: case 234: case 247: case 322: case 435: case 130: case 23: case 7: case 270: case 271: case 35: case 230: case 202: case 0: case 3: case 436: continue; }
        for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) { syscall(n, bad[i], bad[i], bad[i], bad[i], bad[i], bad[i]); if (n != 33 && n != 292) syscall(n, 9, bad[i], 4096, bad[i], 8, bad[i]); }
    }
}
static void addresses(void)
{
    struct iovec here = { buf, 4096 };
    for (uint64_t at = 0; at < 1ull << 47; at += 1ull << 36) for (int k = 0; k < 4; k++) { struct iovec there = { (void *)(at + k * 0x1000000), 4096 }; ssize_t count = process_vm_readv(getpid(), &here, 1, &there, 1, 0); if (count > 0) look(buf, count, "memory"); }
    int fd = open("/proc/self/mem", O_RDWR); for (int bit = 12; bit < 64; bit++) { ssize_t count = pread(fd, buf, 4096, 1ull << bit); if (count > 0) look(buf, count, "mem"); (void)!pwrite(fd, buf, 8, 1ull << bit); }
}
static void map_everywhere(void) { for (int bit = 12; bit < 64; bit++) { char *at = mmap((void *)(1ull << bit), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0); if (at != MAP_FAILED) at[0] = 1; } mmap((void *)0x7fff00000000, 1ull << 46, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0); munmap(0, ~0ull & ~4095ull); mremap((void *)0x400000, 4096, 1ull << 46, 1, 0); }
/* Other gates into the kernel, `int $0x80` and far calls, end the run by their names. */
static void old_gates(void)
{
    pid_t child = fork(); if (!child) { ((void (*)(void))0xffffffffff600000)(); _exit(0); } waitpid(child, 0, 0);
}
static void system_instructions(void)
{
#define ALONE(text) do { pid_t child = fork(); if (!child) { __asm__ volatile(text : : "a"(0), "c"(0), "d"(0) : "memory"); _exit(0); } waitpid(child, 0, 0); } while (0)
    ALONE("hlt"); ALONE("cli"); ALONE("in $0x64, %%al"); ALONE("out %%al, $0x64"); ALONE("rdmsr"); ALONE("wrmsr"); ALONE("mov %%cr0, %%rax"); ALONE("mov %%rax, %%cr3"); ALONE("invlpg (%%rax)"); ALONE("wbinvd"); ALONE("mov %%rax, %%dr7"); ALONE("swapgs"); ALONE("ltr %%ax"); ALONE("vmcall"); ALONE("insb");
}
static void terminals(void)
{
    for (int fd = 0; fd < 3; fd++) { if (!ioctl(fd, TIOCSTI, "x")) leak("TIOCSTI"); char code = 2; if (!ioctl(fd, TIOCLINUX, &code)) leak("TIOCLINUX"); ioctl(fd, TIOCSCTTY, 1); ioctl(fd, TIOCSETD, &code); ioctl(fd, TIOCCONS, 0); }
    int fd = open("/dev/tty", O_RDWR); if (fd >= 0) ioctl(fd, TIOCSTI, "x");
}
static void ioctls(void)
{
    int fd = open("mine", O_RDWR | O_CREAT, 0666); static const unsigned long calls[] = { 0x40049409, 0x4020940d, 0xc0189436, 0xc020660b, 0x1, 0x5331, 0x5413, 0x541b, 0x8912, 0x89a2, 0xae01, 0xc0045877, 0x40086602, 0x40106601, 0xc0c0583b, 0x125f, 0x5301, 0x2285, 0xffffffff };
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) for (int d = -1; d < 12; d++) ioctl(d < 3 ? d : d == 9 ? 9 : fd, calls[i], buf);
}
static void devices(void)
{
    static const char *const names[] = { "/dev/mem", "/dev/kmem", "/dev/port", "/dev/sda", "/dev/vda", "/dev/nvme0", "/dev/kvm", "/dev/fuse", "/dev/loop-control", "/dev/kmsg", "/dev/net/tun", "/dev/vhost-net", "/dev/console", "/dev/tty0", "/dev/input/event0", "/dev/dri/card0", "/dev/pts/0", "/dev/shm/host" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) if (open(names[i], O_RDWR) >= 0) leak(names[i]);
    for (int major = 0; major < 20; major++) { unlink("node"); if (!mknod("node", S_IFBLK | 0666, major << 8)) { if (open("node", O_RDONLY) >= 0) leak("a block device"); } unlink("node"); if (!mknod("node", S_IFCHR | 0666, (major << 8) + 1)) { if (major == 1 && open("node", O_RDONLY) >= 0) leak("/dev/mem"); } }
}
static void sysctls(void)
{
    static const char *const names[] = { "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/sys/kernel/uevent_helper", "/sys/power/state", "/proc/kcore", "/proc/kallsyms", "/proc/self/attr/exec", "/sys/fs/cgroup/cgroup.procs", "/sys/kernel/debug", "/proc/self/oom_score_adj", "/proc/self/uid_map", "/proc/timer_list", "/proc/keys" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) { int fd = open(names[i], O_WRONLY); if (fd >= 0) (void)!write(fd, "|/bin/sh", 8); fd = open(names[i], O_RDONLY); if (fd >= 0) drain(fd, names[i]); }
}
static void moves(void)
{
    int in = open(secret, O_RDONLY), out = open("copy", O_RDWR | O_CREAT, 0666), pipes[2]; (void)!pipe(pipes);
    sendfile(out, in, 0, 4096); copy_file_range(in, 0, out, 0, 4096, 0); splice(in, 0, pipes[1], 0, 4096, SPLICE_F_NONBLOCK); tee(pipes[0], pipes[1], 4096, SPLICE_F_NONBLOCK); drain(out, "sendfile"); fcntl(pipes[0], F_SETFL, O_NONBLOCK); drain(pipes[0], "splice");
}
static void become_root(void)
{
    (void)!setuid(0); (void)!setgid(0); (void)!setresuid(0, 0, 0); (void)!setfsuid(0); prctl(PR_SET_KEEPCAPS, 1); way_open(secret); way_write("/etc/passwd");
    int fd = open("suid", O_RDWR | O_CREAT, 06777); fchmod(fd, 06777); fchown(fd, 0, 0); way_exec("/usr/bin/su"); way_exec("/usr/bin/sudo");
}
static void loader_variables(void)
{
    pid_t child = fork(); if (!child) { char *argv[] = { "true", 0 }, *envp[] = { "LD_PRELOAD=../vault/secret", "LD_LIBRARY_PATH=../vault", "LD_DEBUG_OUTPUT=../vault/log", "LD_DEBUG=all", "LD_AUDIT=../vault/secret", 0 }; execve("/bin/true", argv, envp); _exit(0); } waitpid(child, 0, 0);
}
static void scripts(void)
{
    char text[9000]; int fd = open("script", O_WRONLY | O_CREAT | O_TRUNC, 0777); int count = snprintf(text, sizeof text, "#!%s x\n", secret); (void)!write(fd, text, count); close(fd); way_exec("./script");
    fd = open("loop", O_WRONLY | O_CREAT | O_TRUNC, 0777); (void)!write(fd, "#!./loop\n", 9); close(fd); way_exec("./loop");
    fd = open("elf", O_WRONLY | O_CREAT | O_TRUNC, 0777); (void)!write(fd, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\76\0\1\0\0\0", 24); close(fd); way_exec("./elf");
}
static void watches(void) { int fd = syscall(SYS_inotify_init1, 04000); syscall(SYS_inotify_add_watch, fd, vault, 0xfff); syscall(SYS_inotify_add_watch, fd, "..", 0xfff); ssize_t count = read(fd, buf, sizeof buf); if (count > 0 && memmem(buf, count, "secret", 6)) leak("inotify"); syscall(SYS_fanotify_init, 0, 0); }
static void tmpfile_link(void) { int fd = open("..", O_TMPFILE | O_RDWR, 0666); char name[64]; snprintf(name, sizeof name, "/proc/self/fd/%d", fd); linkat(AT_FDCWD, name, AT_FDCWD, "../vault/new", AT_SYMLINK_FOLLOW); linkat(fd, "", AT_FDCWD, "../vault/new", AT_EMPTY_PATH); fd = open("../vault/new", O_CREAT | O_RDWR, 0666); mkdir("../vault/dir", 0777); symlink("x", "../vault/link"); mkdir("out/dir", 0777); open("out/new", O_CREAT | O_RDWR, 0666); }
static void move_up(void) { (void)!rename("deep", "../deep"); (void)!rename("../vault", "vault"); way_open("vault/secret"); (void)!syscall(SYS_renameat2, AT_FDCWD, "deep", AT_FDCWD, "../vault", RENAME_EXCHANGE); way_open("deep/secret"); (void)!rename(".ssh", "plain"); way_open("plain/id"); (void)!rename(".", "x"); }
static void long_paths(void) { static char path[70000]; memset(path, 'a', 69999); way_open(path); for (int i = 0; i + 3 < 69999; i += 3) memcpy(path + i, "../", 3); way_open(path); memcpy(path + 4000, "vault/secret", 13); way_open(path); memset(path, '/', 4090); strcpy(path + 4080, "etc/shadow"); way_open(path); }
static void odd_names(void) { static const char *const names[] = { "\xff\xfe", "a\nb", "..\0x", "...", " ", "\\", "%n%s", "CON", ".\x7f", "\xc0\xae\xc0\xae/vault/secret" }; for (int i = 0; i < 10; i++) { way_open(names[i]); mkdir(names[i], 0777); way_names(names[i]); } }
static void seccomp_self(void) { struct { unsigned short len; void *filter; } program = { 65535, buf }; syscall(SYS_seccomp, 1, 0, &program); prctl(PR_SET_SECCOMP, 2, &program); syscall(SYS_seccomp, 1, 8, &program); }
static void stack_end(void) { pid_t child = fork(); if (!child) { __asm__ volatile("xor %%esp, %%esp\n push %%rax" : : : "memory"); _exit(0); } waitpid(child, 0, 0); child = fork(); if (!child) { stack_t bad = { (void *)0x10, 0, 1 << 20 }; sigaltstack(&bad, 0); struct sigaction act = { .sa_handler = (void *)8, .sa_flags = SA_ONSTACK }; sigaction(SIGSEGV, &act, 0); *(volatile int *)0 = 1; } waitpid(child, 0, 0); }
static void bad_sigreturn(void) { pid_t child = fork(); if (!child) { memset(buf, 0xff, sizeof buf); __asm__ volatile("mov %0, %%rsp\n mov $15, %%eax\n syscall" : : "r"(buf + 4096)); _exit(0); } waitpid(child, 0, 0); }

/* Threads that exchange what a name leads to while another opens it. */
static volatile int racing = 1;
static void *swap(void *unused) { (void)unused; while (racing) { unlink("race"); (void)!symlink("../vault", "race"); unlink("race"); mkdir("race", 0777); rmdir("race"); (void)!rename("one", "race"); (void)!rename("race", "one"); } return 0; }
static void race(void)
{
    mkdir("one", 0777); pthread_t thread; if (pthread_create(&thread, 0, swap, 0)) return;
    for (int i = 0; i < 300; i++) { way_open("race/secret"); way_write("race/../vault/secret"); struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH }; int fd = syscall(SYS_openat2, AT_FDCWD, "race/secret", &how, sizeof how); if (fd >= 0) drain(fd, "race"); }
    racing = 0; pthread_join(thread, 0);
}
static void *swap_dirs(void *unused) { (void)unused; while (racing) { (void)!syscall(SYS_renameat2, AT_FDCWD, "deep", AT_FDCWD, "other", RENAME_EXCHANGE); (void)!rename("deep/a", "a"); (void)!rename("a", "deep/a"); } return 0; }
static void race_dots(void) { mkdir("deep/a", 0777); mkdir("deep/a/b", 0777); pthread_t thread; if (pthread_create(&thread, 0, swap_dirs, 0)) return; for (int i = 0; i < 300; i++) { way_open("deep/a/b/../../../../vault/secret"); way_open("deep/a/b/../../../vault/secret"); way_open("a/b/../../vault/secret"); } racing = 0; pthread_join(thread, 0); }
static void *flip_path(void *path) { while (racing) { memcpy(path, "mine\0\0\0\0\0\0\0\0\0\0\0", 15); memcpy(path, "../vault/secret", 16); } return 0; }
static void race_argument(void) { char *path = mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0); pthread_t thread; if (pthread_create(&thread, 0, flip_path, path)) return; for (int i = 0; i < 500; i++) { int fd = open(path, O_RDONLY); if (fd >= 0) { drain(fd, "a path that changes"); close(fd); } } racing = 0; pthread_join(thread, 0); }

#define A(name) { #name, name }
static const struct { const char *name; void (*go)(void); } ATTEMPTS[] = {
    A(lists), A(handles), A(fds), A(cwd_outside), A(fchdir_outside), A(chroot_out), A(chroot_vault), A(bind_mount), A(mounts), A(mount_calls), A(namespaces), A(enter_namespace), A(host_proc), A(host_trace), A(by_tracee), A(host_kill),
    A(host_pidfd), A(host_limits), A(host_schedule), A(tcp), A(tcp6), A(abstract_socket), A(path_socket), A(odd_sockets), A(pass_descriptor), A(uring), A(old_aio), A(privileged), A(unknown_numbers), A(bad_pointers),
    A(addresses), A(map_everywhere), A(old_gates), A(system_instructions), A(terminals), A(ioctls), A(devices), A(sysctls), A(moves), A(become_root), A(loader_variables), A(scripts), A(watches), A(tmpfile_link),
    A(move_up), A(long_paths), A(odd_names), A(seccomp_self), A(stack_end), A(bad_sigreturn), A(race), A(race_dots), A(race_argument),
};

static int attempts;
static void made(const char *name, const char *of, pid_t child)
{
    int status; waitpid(child, &status, 0); attempts++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 7) printf("LEAK: %s %s\n", name, of);
    fflush(stdout);
}

int main(void)
{
    vault = getenv("VAULT"); host = atoi(getenv("HOSTPID")); const char *only = getenv("ONLY");
    snprintf(secret, sizeof secret, "%s/secret", vault);
    dup2(open(".", O_RDONLY), 9); for (int fd = 3; fd < 9; fd++) close(fd);
    mkdir("other", 0777); mkdir("deep", 0777); (void)!symlink("../../vault", "deep/up"); close(open("mine", O_CREAT | O_RDWR, 0666));
    for (unsigned w = 0; w < sizeof WAYS / sizeof *WAYS; w++) for (int p = 0; p < PATH_COUNT; p++) {
        if (only && strcmp(only, WAYS[w].name)) continue;
        pid_t child = fork(); if (!child) { alarm(20); WAYS[w].go(name_of(p)); _exit(0); }
        made(WAYS[w].name, name_of(p), child);
    }
    for (unsigned i = 0; i < sizeof ATTEMPTS / sizeof *ATTEMPTS; i++) {
        if (only && strcmp(only, ATTEMPTS[i].name)) continue;
        pid_t child = fork(); if (!child) { setsid(); alarm(20); ATTEMPTS[i].go(); _exit(0); }
        made(ATTEMPTS[i].name, "", child);
    }
    printf("\n%d attempts\n", attempts);
    return 0;
}
