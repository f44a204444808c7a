// covers: io_uring_setup io_uring_enter io_uring_register
// flags: -pthread
/* io_uring: rings, operations of every kind, those that wait, chains, limits of time, what is registered, and what a program
   does to its side of the rings. */
#include "cases.h"
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>

#define FTRUNCATE 55

struct ring {
    long fd;
    struct io_uring_params p;
    char *at;
    struct io_uring_sqe *sqes;
    unsigned *sq_head, *sq_tail, *sq_mask, *sq_array, *sq_flags, *dropped, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_cqe *cqes;
    unsigned filled;
};

static struct ring made(unsigned entries, unsigned flags, unsigned cq)
{
    struct ring r = {.p = {.flags = flags, .cq_entries = cq}};
    r.fd = S(io_uring_setup, entries, &r.p);
    if (r.fd < 0 && !is_emulated() && (errno == ENOSYS || errno == EPERM))
        lacks("io_uring is not to be had here (kernel.io_uring_disabled, or a seccomp filter)");
    if (r.fd < 0) {
        show("io_uring_setup", r.fd);
        S(exit_group, 1);
    }
    size_t size = r.p.sq_off.array + r.p.sq_entries * 4;
    r.at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, IORING_OFF_SQ_RING);
    r.sqes = mmap(NULL, r.p.sq_entries * sizeof *r.sqes, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, IORING_OFF_SQES);
    if (r.at == MAP_FAILED || r.sqes == MAP_FAILED)
        printf("mmap failed\n"), S(exit_group, 1);
#define PART(name, where) r.name = (void *)(r.at + r.p.where)
    PART(sq_head, sq_off.head), PART(sq_tail, sq_off.tail), PART(sq_mask, sq_off.ring_mask), PART(sq_array, sq_off.array);
    PART(sq_flags, sq_off.flags), PART(dropped, sq_off.dropped), PART(cq_head, cq_off.head), PART(cq_tail, cq_off.tail);
    PART(cq_mask, cq_off.ring_mask), PART(cqes, cq_off.cqes);
    return r;
}
static void add(struct ring *r, struct io_uring_sqe sqe)
{
    unsigned tail = *r->sq_tail, place = tail & *r->sq_mask;
    r->sqes[place] = sqe;
    r->sq_array[place] = place;
    __atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
    r->filled++;
}
static long enter(struct ring *r, unsigned least)
{
    unsigned count = r->filled;
    r->filled = 0;
    return S(io_uring_enter, r->fd, count, least, IORING_ENTER_GETEVENTS, NULL, 0);
}
static void reap_all(struct ring *r)
{
    unsigned head = *r->cq_head;
    for (; head != __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE); head++) {
        struct io_uring_cqe *c = &r->cqes[head & *r->cq_mask];
        printf("  %llu: ", c->user_data);
        if (c->res < 0)
            printf("%s", strerrorname_np(-c->res));
        else
            printf("%d", c->res);
        printf("%s\n", c->flags & IORING_CQE_F_MORE ? " and more" : "");
    }
    __atomic_store_n(r->cq_head, head, __ATOMIC_RELEASE);
}
/* Submits what was added, waits for so many results, and shows them. */
static void go(struct ring *r, unsigned least)
{
    show("io_uring_enter", enter(r, least));
    reap_all(r);
}
/* One entry, whose result is shown; its descriptor is returned for those that make one. */
static int one(struct ring *r, const char *what, struct io_uring_sqe sqe)
{
    add(r, sqe);
    long entered = enter(r, 1);
    struct io_uring_cqe c = r->cqes[*r->cq_head & *r->cq_mask];
    __atomic_store_n(r->cq_head, *r->cq_head + 1, __ATOMIC_RELEASE);
    if (entered != 1)
        show("io_uring_enter", entered);
    if (c.res < 0)
        printf("%s: %s\n", what, strerrorname_np(-c.res));
    else
        printf("%s: %d\n", what, c.res);
    return c.res;
}
#define ONE(r, ...) one(r, #__VA_ARGS__, (struct io_uring_sqe){.opcode = IORING_OP_##__VA_ARGS__})
#define SQE(name, ...) ((struct io_uring_sqe){.opcode = IORING_OP_##name, __VA_ARGS__})
#define AT(value) .addr = (unsigned long)(value)
#define AT2(value) .addr2 = (unsigned long)(value)

static void setups(void)
{
    struct io_uring_params p = {0};
    T(io_uring_setup, 4, BAD), T(io_uring_setup, 4, NULL), T(io_uring_setup, 0, &p), T(io_uring_setup, 32769, &p), T(io_uring_setup, -1, &p);
    p.flags = 1u << 31, T(io_uring_setup, 4, &p);
    p.flags = 0, p.resv[1] = 1, T(io_uring_setup, 4, &p);
    p = (struct io_uring_params){.flags = IORING_SETUP_CQSIZE}, T(io_uring_setup, 4, &p);
    p.cq_entries = 2, T(io_uring_setup, 4, &p);
    p.cq_entries = 70000, T(io_uring_setup, 4, &p);
    struct ring r = made(5, 0, 0), s = made(3, IORING_SETUP_CQSIZE, 17), t = made(40000, IORING_SETUP_CLAMP, 0);
    printf("%u %u, %u %u, %u %u\n", r.p.sq_entries, r.p.cq_entries, s.p.sq_entries, s.p.cq_entries, t.p.sq_entries, t.p.cq_entries);
    printf("%u %u %u %u\n", *r.sq_mask, *r.cq_mask, *(unsigned *)(r.at + r.p.sq_off.ring_entries), *(unsigned *)(r.at + r.p.cq_off.ring_entries));
    is(r.p.features & IORING_FEAT_SINGLE_MMAP), is(r.p.features & IORING_FEAT_NODROP), is(r.p.features & IORING_FEAT_EXT_ARG);
    is(fcntl(r.fd, F_GETFD) == FD_CLOEXEC), num(fcntl(r.fd, F_GETFL) & O_ACCMODE);
    /* Both rings are one mapping, and the second offset shows the same. */
    unsigned *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, IORING_OFF_CQ_RING);
    is(other != MAP_FAILED && other[r.p.sq_off.ring_mask / 4] == 7);
    *r.cq_head = 5, is(other[r.p.cq_off.head / 4] == 5), *r.cq_head = 0;
    char c;
    T(read, r.fd, &c, 1), T(write, r.fd, "c", 1), T(lseek, r.fd, 0, SEEK_SET);
    T(io_uring_enter, 0, 0, 0, 0, NULL, 0), T(io_uring_enter, -1, 0, 0, 0, NULL, 0), T(io_uring_enter, r.fd, 0, 0, 1 << 20, NULL, 0);
    T(io_uring_enter, r.fd, 0, 0, 0, NULL, 0), T(io_uring_enter, r.fd, 5, 0, 0, NULL, 0), T(io_uring_enter, r.fd, 0, 0, 1, NULL, 0);
    T(io_uring_enter, r.fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &c, 1);
    T(io_uring_register, 0, 0, NULL, 0), T(io_uring_register, 99, 0, NULL, 0), T(io_uring_register, r.fd, 1000, NULL, 0);
}

static void files(void)
{
    struct ring r = made(8, 0, 0);
    char a[32] = "", b[32] = "";
    struct iovec out[2] = {{"one ", 4}, {"two", 3}}, in[2] = {{a, 2}, {b, 3}};
    int fd = ONE(&r, OPENAT, .fd = AT_FDCWD, AT("made"), .open_flags = O_CREAT | O_RDWR, .len = 0640);
    ONE(&r, OPENAT, .fd = AT_FDCWD, AT("none"), .open_flags = O_RDONLY), ONE(&r, OPENAT, .fd = AT_FDCWD, AT("none"), .buf_index = 1);
    ONE(&r, WRITE, .fd = fd, AT("some bytes"), .len = 10, .off = 0), ONE(&r, WRITE, .fd = fd, AT("more"), .len = 4, .off = -1);
    ONE(&r, WRITEV, .fd = fd, AT(out), .len = 2, .off = 20), cat("made"), num(lseek(fd, 0, SEEK_CUR));
    ONE(&r, READ, .fd = fd, AT(a), .len = 9, .off = 3), printf("%s\n", a);
    ONE(&r, READ, .fd = fd, AT(a), .len = 3, .off = -1), printf("%s\n", a), num(lseek(fd, 0, SEEK_CUR));
    ONE(&r, READV, .fd = fd, AT(in), .len = 2, .off = 0), printf("%.2s %s\n", a, b);
    ONE(&r, READ, .fd = fd, AT(a), .len = 9, .off = 100), ONE(&r, READ, .fd = fd, AT(BAD), .len = 9), ONE(&r, READ, .fd = 99, AT(a), .len = 9);
    ONE(&r, READ, .fd = fd, AT(a), .len = 9, .off = -2), ONE(&r, READV, .fd = fd, AT(in), .len = 2000), ONE(&r, READV, .fd = fd, AT(BAD), .len = 2);
    int path = open("made", O_PATH), only = open("made", O_RDONLY);
    ONE(&r, READ, .fd = path, AT(a), .len = 9), ONE(&r, WRITE, .fd = only, AT(a), .len = 9);
    ONE(&r, FSYNC, .fd = fd), ONE(&r, FSYNC, .fd = fd, .fsync_flags = IORING_FSYNC_DATASYNC), ONE(&r, FSYNC, .fd = fd, .fsync_flags = 2);
    ONE(&r, FSYNC, .fd = fd, AT(1)), ONE(&r, SYNC_FILE_RANGE, .fd = fd, .off = 0, .len = 4);
    ONE(&r, FALLOCATE, .fd = fd, .off = 0, .addr = 50, .len = 0), ONE(&r, FALLOCATE, .fd = fd, .addr = 0), ONE(&r, FALLOCATE, .fd = only, .addr = 9);
    ONE(&r, FADVISE, .fd = fd, .len = 5, .fadvise_advice = POSIX_FADV_NORMAL), ONE(&r, FADVISE, .fd = fd, .fadvise_advice = 77);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = 1, ONE(&r, MADVISE, AT(page), .len = 4096, .fadvise_advice = MADV_DONTNEED), num(page[0]), ONE(&r, MADVISE, AT(1), .len = 1);
    struct statx st = {0};
    ONE(&r, STATX, .fd = AT_FDCWD, AT("made"), .len = STATX_SIZE | STATX_MODE, AT2(&st)), num(st.stx_size), printf("%o\n", st.stx_mode & 0777);
    ONE(&r, STATX, .fd = fd, AT(""), .len = STATX_SIZE, AT2(&st), .statx_flags = AT_EMPTY_PATH), num(st.stx_size), ONE(&r, STATX, .fd = AT_FDCWD, AT("none"), AT2(&st));
    struct open_how { unsigned long flags, mode, resolve; } how = {.flags = O_RDONLY};
    int again = ONE(&r, OPENAT2, .fd = AT_FDCWD, AT("made"), AT2(&how), .len = sizeof how);
    ONE(&r, CLOSE, .fd = again), ONE(&r, CLOSE, .fd = again), ONE(&r, CLOSE, .fd = r.fd), ONE(&r, CLOSE, .fd = fd, .len = 1);
    ONE(&r, MKDIRAT, .fd = AT_FDCWD, AT("dir"), .len = 0750), ONE(&r, MKDIRAT, .fd = AT_FDCWD, AT("dir"), .len = 0750);
    ONE(&r, RENAMEAT, .fd = AT_FDCWD, AT("made"), .len = AT_FDCWD, AT2("dir/moved")), ONE(&r, LINKAT, .fd = AT_FDCWD, AT("dir/moved"), .len = AT_FDCWD, AT2("second"));
    ONE(&r, SYMLINKAT, .fd = AT_FDCWD, AT("second"), AT2("link")), cat("link");
    ONE(&r, UNLINKAT, .fd = AT_FDCWD, AT("link")), ONE(&r, UNLINKAT, .fd = AT_FDCWD, AT("dir"), .unlink_flags = AT_REMOVEDIR), ONE(&r, UNLINKAT, .fd = AT_FDCWD, AT("dir"), .unlink_flags = 1);
    if (release() >= 609)
        one(&r, "ftruncate", (struct io_uring_sqe){.opcode = FTRUNCATE, .fd = fd, .off = 8}), cat("second");
    else
        printf("ftruncate: 0\n"), S(ftruncate, fd, 8), cat("second");
    int dir = open("dir", O_RDONLY);
    ONE(&r, READ, .fd = dir, AT(a), .len = 9), ONE(&r, UNLINKAT, .fd = dir, AT("moved"));
    num(ONE(&r, SETXATTR, AT("user.a"), AT2("value"), .len = 5, .addr3 = (long)"second") == 0 ? ONE(&r, GETXATTR, AT("user.a"), AT2(b), .len = 9, .addr3 = (long)"second") : 5);
    ONE(&r, FGETXATTR, .fd = fd, AT("user.none"), AT2(b), .len = 9);
    int made_socket = ONE(&r, SOCKET, .fd = AF_UNIX, .off = SOCK_STREAM, .len = 0);
    ONE(&r, SHUTDOWN, .fd = made_socket, .len = SHUT_RD), ONE(&r, SHUTDOWN, .fd = fd, .len = SHUT_RD);
}

/* Operations that wait, and what wakes them. */
static void waits(void)
{
    struct ring r = made(8, 0, 0);
    int ends[2], pair[2];
    char a[32] = "", b[32] = "";
    pipe(ends), socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    add(&r, SQE(READ, .fd = ends[0], AT(a), .len = 9, .user_data = 1)), go(&r, 0);
    write(ends[1], "hello", 5), go(&r, 1), printf("%s\n", a);
    add(&r, SQE(POLL_ADD, .fd = ends[0], .poll32_events = POLLIN, .user_data = 2)), go(&r, 0);
    write(ends[1], "x", 1), go(&r, 1), read(ends[0], a, 1);
    add(&r, SQE(POLL_ADD, .fd = ends[1], .poll32_events = POLLOUT, .user_data = 3)), go(&r, 1);
    add(&r, SQE(RECV, .fd = pair[0], AT(b), .len = 9, .user_data = 4)), go(&r, 0);
    add(&r, SQE(SEND, .fd = pair[1], AT("message"), .len = 7, .user_data = 5)), enter(&r, 2), printf("%s\n", b);
    unsigned seen = 0; /* which of the two comes first is the kernel's affair */
    for (; *r.cq_head != *r.cq_tail; ++*r.cq_head)
        seen += r.cqes[*r.cq_head & *r.cq_mask].user_data * 10 + r.cqes[*r.cq_head & *r.cq_mask].res;
    num(seen);
    struct iovec part = {"by header", 9}, into = {b, 20};
    struct msghdr out = {.msg_iov = &part, .msg_iovlen = 1}, in = {.msg_iov = &into, .msg_iovlen = 1};
    ONE(&r, SENDMSG, .fd = pair[1], AT(&out)), ONE(&r, RECVMSG, .fd = pair[0], AT(&in)), printf("%s\n", b);
    ONE(&r, RECV, .fd = pair[0], AT(b), .len = 9, .msg_flags = MSG_DONTWAIT), ONE(&r, SEND, .fd = ends[1], AT("x"), .len = 1);
    /* O_NONBLOCK does not keep a pipe or a socket from waiting. */
    int nonblocking[2];
    pipe2(nonblocking, O_NONBLOCK), add(&r, SQE(READ, .fd = nonblocking[0], AT(b), .len = 9, .user_data = 20)), go(&r, 0), write(nonblocking[1], "late", 4), go(&r, 1);
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, nonblocking), add(&r, SQE(RECV, .fd = nonblocking[0], AT(b), .len = 9, .user_data = 21)), go(&r, 0), write(nonblocking[1], "late", 4), go(&r, 1);
    ONE(&r, READ, .fd = nonblocking[0], AT(b), .len = 9, .rw_flags = 8);
    /* A level that stays is told once by one that goes on, and again when it comes up again. */
    add(&r, SQE(POLL_ADD, .fd = ends[0], .poll32_events = POLLIN, .len = IORING_POLL_ADD_MULTI, .user_data = 6)), go(&r, 0);
    write(ends[1], "1", 1), go(&r, 1), read(ends[0], a, 9), write(ends[1], "2", 1), go(&r, 1);
    add(&r, SQE(POLL_REMOVE, AT(6), .user_data = 7)), go(&r, 2), ONE(&r, POLL_REMOVE, AT(6));
    /* Closing the descriptor does not end what waits for its file. */
    add(&r, SQE(READ, .fd = pair[0], AT(b), .len = 9, .user_data = 8)), go(&r, 0);
    close(pair[0]), write(pair[1], "late", 4), go(&r, 1), printf("%.4s\n", b);
    /* Connections. */
    struct sockaddr_un name = {AF_UNIX, "socket"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    ONE(&r, CONNECT, .fd = client, AT(&name), .off = sizeof name);
    bind(server, (void *)&name, sizeof name), listen(server, 5);
    add(&r, SQE(ACCEPT, .fd = server, .user_data = 9)), go(&r, 0);
    show("connect", connect(client, (void *)&name, sizeof name)), enter(&r, 1);
    is(r.cqes[*r.cq_head & *r.cq_mask].res > 2), ++*r.cq_head;
    int tcp = socket(AF_INET, SOCK_STREAM, 0), to = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in here = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof here;
    bind(tcp, (void *)&here, size), listen(tcp, 5), getsockname(tcp, (void *)&here, &size);
    ONE(&r, CONNECT, .fd = to, AT(&here), .off = size);
    is(ONE(&r, ACCEPT, .fd = tcp, .accept_flags = SOCK_CLOEXEC | 0x7000) < 0);
    /* Bytes from pipe to file and pipe to pipe. */
    int fd = open("spliced", O_CREAT | O_RDWR, 0600), third[2];
    pipe(third), read(ends[0], a, 9), write(ends[1], "splice", 6);
    ONE(&r, TEE, .fd = third[1], .splice_fd_in = ends[0], .len = 3), ONE(&r, SPLICE, .fd = fd, .off = 2, .splice_fd_in = ends[0], .splice_off_in = -1, .len = 6);
    num(lseek(fd, 0, SEEK_END)), ONE(&r, SPLICE, .fd = third[1], .off = -1, .splice_fd_in = fd, .splice_off_in = 3, .len = 2);
    num(read(third[0], a, 20)), printf("%.5s\n", a), ONE(&r, SPLICE, .fd = third[1], .off = 1, .splice_fd_in = fd, .splice_off_in = 3, .len = 2);
}

static void times(void)
{
    struct ring r = made(8, 0, 0);
    struct __kernel_timespec soon = {0, 2000000}, never = {1000, 0}, past = {0, 1}, bad = {0, -1};
    int ends[2];
    char a[9];
    pipe(ends);
    ONE(&r, TIMEOUT, AT(&soon), .len = 1), ONE(&r, TIMEOUT, AT(&past), .len = 1, .timeout_flags = IORING_TIMEOUT_ABS), ONE(&r, TIMEOUT, AT(&bad), .len = 1);
    ONE(&r, TIMEOUT, AT(&soon), .len = 2), ONE(&r, TIMEOUT, AT(BAD), .len = 1), ONE(&r, TIMEOUT, AT(&soon), .len = 1, .timeout_flags = 1 << 20);
    /* So many results end it too. */
    add(&r, SQE(TIMEOUT, AT(&never), .len = 1, .off = 2, .user_data = 1)), go(&r, 0);
    add(&r, SQE(NOP, .user_data = 2)), go(&r, 1), add(&r, SQE(NOP, .user_data = 3)), go(&r, 2);
    add(&r, SQE(TIMEOUT, AT(&never), .len = 1, .user_data = 4)), go(&r, 0);
    add(&r, SQE(TIMEOUT_REMOVE, AT(4), .user_data = 5)), go(&r, 2), ONE(&r, TIMEOUT_REMOVE, AT(4));
    add(&r, SQE(READ, .fd = ends[0], AT(a), .len = 9, .user_data = 6)), go(&r, 0);
    add(&r, SQE(ASYNC_CANCEL, AT(6), .user_data = 7)), enter(&r, 2), num(*r.cq_tail - *r.cq_head), *r.cq_head = *r.cq_tail;
    ONE(&r, ASYNC_CANCEL, AT(6));
    /* A limit of the time of what is before it. */
    add(&r, SQE(READ, .fd = ends[0], AT(a), .len = 9, .flags = IOSQE_IO_LINK, .user_data = 8));
    add(&r, SQE(LINK_TIMEOUT, AT(&soon), .len = 1, .user_data = 9)), show("enter", enter(&r, 2));
    for (; *r.cq_head != *r.cq_tail; ++*r.cq_head) {
        struct io_uring_cqe *c = &r.cqes[*r.cq_head & *r.cq_mask];
        is(c->user_data == 8 ? c->res == -ECANCELED || c->res == -EINTR : c->res == -ETIME);
    }
    add(&r, SQE(NOP, .flags = IOSQE_IO_LINK, .user_data = 10)), add(&r, SQE(LINK_TIMEOUT, AT(&never), .len = 1, .user_data = 11)), go(&r, 2);
    /* The wait itself has a limit. */
    struct io_uring_getevents_arg arg = {.ts = (unsigned long)&soon};
    T(io_uring_enter, r.fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof arg);
    arg.ts = 16, T(io_uring_enter, r.fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof arg);
    add(&r, SQE(NOP, .user_data = 12));
    T(io_uring_enter, r.fd, 1, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, BAD, sizeof arg), reap_all(&r);
}

static void chains(void)
{
    struct ring r = made(16, 0, 0);
    char a[32] = "";
    int fd = open("chain", O_CREAT | O_RDWR, 0600), ends[2];
    pipe(ends);
    add(&r, SQE(WRITE, .fd = fd, AT("linked"), .len = 6, .flags = IOSQE_IO_LINK, .user_data = 1));
    add(&r, SQE(READ, .fd = fd, AT(a), .len = 6, .flags = IOSQE_IO_LINK, .user_data = 2));
    add(&r, SQE(NOP, .user_data = 3)), go(&r, 3), printf("%s\n", a);
    add(&r, SQE(READ, .fd = 99, AT(a), .len = 6, .flags = IOSQE_IO_LINK, .user_data = 4));
    add(&r, SQE(NOP, .flags = IOSQE_IO_LINK, .user_data = 5)), add(&r, SQE(NOP, .user_data = 6)), add(&r, SQE(NOP, .user_data = 7)), enter(&r, 4);
    unsigned cancelled = 0, ok = 0, bad = 0;
    for (; *r.cq_head != *r.cq_tail; ++*r.cq_head) {
        int res = r.cqes[*r.cq_head & *r.cq_mask].res;
        cancelled += res == -ECANCELED, ok += res == 0, bad += res == -EBADF;
    }
    printf("%u %u %u\n", cancelled, ok, bad);
    add(&r, SQE(READ, .fd = 99, AT(a), .len = 6, .flags = IOSQE_IO_HARDLINK, .user_data = 8)), add(&r, SQE(NOP, .user_data = 9)), go(&r, 2);
    /* Less than was asked for breaks a chain. */
    add(&r, SQE(READ, .fd = fd, AT(a), .len = 30, .flags = IOSQE_IO_LINK, .user_data = 10)), add(&r, SQE(NOP, .user_data = 11)), go(&r, 2);
    add(&r, SQE(READ, .fd = ends[0], AT(a), .len = 1, .flags = IOSQE_IO_LINK, .user_data = 12)), add(&r, SQE(NOP, .user_data = 13)), go(&r, 0);
    write(ends[1], "x", 1), go(&r, 2);
    /* One waits for all before it, and those behind wait for it. */
    add(&r, SQE(READ, .fd = ends[0], AT(a), .len = 1, .user_data = 14)), add(&r, SQE(NOP, .flags = IOSQE_IO_DRAIN, .user_data = 15)), add(&r, SQE(NOP, .user_data = 16));
    go(&r, 0), write(ends[1], "y", 1), go(&r, 3);
    add(&r, SQE(NOP, .flags = IOSQE_CQE_SKIP_SUCCESS, .user_data = 17)), add(&r, SQE(NOP, .user_data = 18)), go(&r, 1);
    add(&r, SQE(NOP, .flags = IOSQE_ASYNC, .user_data = 19)), go(&r, 1);
    /* What is wrong ends the submission, but not in a ring that says so. */
    add(&r, SQE(NOP, .user_data = 20)), add(&r, (struct io_uring_sqe){.opcode = 200, .user_data = 21}), add(&r, SQE(NOP, .user_data = 22)), go(&r, 1);
    r.filled = 1, go(&r, 1);
    struct ring all = made(8, IORING_SETUP_SUBMIT_ALL, 0);
    add(&all, (struct io_uring_sqe){.opcode = 200, .user_data = 1}), add(&all, SQE(NOP, .flags = 128, .user_data = 2)), add(&all, SQE(NOP, .user_data = 3)), go(&all, 3);
    add(&all, SQE(NOP, .flags = IOSQE_BUFFER_SELECT, .user_data = 4)), add(&all, SQE(NOP, .personality = 7, .user_data = 5)), add(&all, SQE(NOP, .ioprio = 1, .user_data = 6)), go(&all, 3);
}

static void registered(void)
{
    struct ring r = made(8, 0, 0);
    char a[64] = "", bytes[64] = "bytes in a buffer";
    struct iovec buffers[2] = {{a, sizeof a}, {bytes, sizeof bytes}}, wrong[1] = {{BAD, 4096}};
    int ends[2], fd = open("fixed", O_CREAT | O_RDWR, 0600), counter = eventfd(0, 0);
    pipe(ends);
    T(io_uring_register, r.fd, IORING_UNREGISTER_BUFFERS, NULL, 0), T(io_uring_register, r.fd, IORING_REGISTER_BUFFERS, buffers, 0);
    T(io_uring_register, r.fd, IORING_REGISTER_BUFFERS, BAD, 1), T(io_uring_register, r.fd, IORING_REGISTER_BUFFERS, wrong, 1), T(io_uring_register, r.fd, IORING_REGISTER_BUFFERS, buffers, 2), T(io_uring_register, r.fd, IORING_REGISTER_BUFFERS, buffers, 2);
    ONE(&r, WRITE_FIXED, .fd = fd, AT(bytes + 6), .len = 11, .buf_index = 1), cat("fixed");
    ONE(&r, READ_FIXED, .fd = fd, AT(a), .len = 20, .buf_index = 0), printf("%s\n", a);
    ONE(&r, READ_FIXED, .fd = fd, AT(a), .len = 65), ONE(&r, READ_FIXED, .fd = fd, AT(a - 1), .len = 5), ONE(&r, READ_FIXED, .fd = fd, AT(a), .len = 5, .buf_index = 2);
    T(io_uring_register, r.fd, IORING_UNREGISTER_BUFFERS, NULL, 0), ONE(&r, READ_FIXED, .fd = fd, AT(a), .len = 5);
    int fds[3] = {fd, -1, ends[0]}, none[1] = {99}, own[1] = {r.fd};
    T(io_uring_register, r.fd, IORING_UNREGISTER_FILES, NULL, 0), T(io_uring_register, r.fd, IORING_REGISTER_FILES, none, 1), T(io_uring_register, r.fd, IORING_REGISTER_FILES, own, 1), T(io_uring_register, r.fd, IORING_REGISTER_FILES, BAD, 1);
    T(io_uring_register, r.fd, IORING_REGISTER_FILES, fds, 3), T(io_uring_register, r.fd, IORING_REGISTER_FILES, fds, 3);
    close(fd);
    ONE(&r, READ, .fd = 0, .flags = IOSQE_FIXED_FILE, AT(a), .len = 5), ONE(&r, READ, .fd = 1, .flags = IOSQE_FIXED_FILE, AT(a), .len = 5), ONE(&r, READ, .fd = 3, .flags = IOSQE_FIXED_FILE, AT(a), .len = 5), ONE(&r, READ, .fd = -1, .flags = IOSQE_FIXED_FILE, AT(a), .len = 5);
    ONE(&r, FSYNC, .fd = 0, .flags = IOSQE_FIXED_FILE), ONE(&r, OPENAT, .fd = 0, .flags = IOSQE_FIXED_FILE, AT("fixed")), ONE(&r, FALLOCATE, .fd = 0, .flags = IOSQE_FIXED_FILE, .addr = 20);
    /* What waits keeps its file. */
    add(&r, SQE(READ, .fd = 2, .flags = IOSQE_FIXED_FILE, AT(a), .len = 5, .user_data = 1)), go(&r, 0);
    struct io_uring_files_update update = {.offset = 1, .fds = (unsigned long)(int[]){ends[1], -1}};
    T(io_uring_register, r.fd, IORING_REGISTER_FILES_UPDATE, &update, 2), update.offset = 2, T(io_uring_register, r.fd, IORING_REGISTER_FILES_UPDATE, &update, 2);
    close(ends[0]), ONE(&r, WRITE, .fd = 1, .flags = IOSQE_FIXED_FILE, AT("kept"), .len = 4, .user_data = 2), go(&r, 1), printf("%.4s\n", a);
    T(io_uring_register, r.fd, IORING_UNREGISTER_FILES, NULL, 0), ONE(&r, FSYNC, .fd = 0, .flags = IOSQE_FIXED_FILE);
    /* A counter of results. */
    T(io_uring_register, r.fd, IORING_UNREGISTER_EVENTFD, NULL, 0), T(io_uring_register, r.fd, IORING_REGISTER_EVENTFD, none, 1), T(io_uring_register, r.fd, IORING_REGISTER_EVENTFD, ends + 1, 1);
    T(io_uring_register, r.fd, IORING_REGISTER_EVENTFD, &counter, 1), T(io_uring_register, r.fd, IORING_REGISTER_EVENTFD, &counter, 1);
    for (int i = 0; i < 3; i++)
        ONE(&r, NOP);
    unsigned long counted = 0;
    read(counter, &counted, 8), num(counted), T(io_uring_register, r.fd, IORING_UNREGISTER_EVENTFD, NULL, 0), ONE(&r, NOP);
    struct pollfd polled = {counter, POLLIN, 0};
    num(poll(&polled, 1, 0));
    struct { struct io_uring_probe head; struct io_uring_probe_op ops[256]; } probe = {0};
    T(io_uring_register, r.fd, IORING_REGISTER_PROBE, &probe, 257), OK(io_uring_register, r.fd, IORING_REGISTER_PROBE, &probe, 256), T(io_uring_register, r.fd, IORING_REGISTER_PROBE, &probe, 256);
    int there = 0;
    for (int i = 0; i <= IORING_OP_LINKAT; i++)
        there += i != IORING_OP_FILES_UPDATE && i != IORING_OP_PROVIDE_BUFFERS && i != IORING_OP_REMOVE_BUFFERS && probe.ops[i].flags & IO_URING_OP_SUPPORTED;
    num(there), is(probe.head.last_op >= IORING_OP_SOCKET && probe.head.ops_len > IORING_OP_SOCKET), num(probe.ops[255].flags);
}

static void restricted(void)
{
    struct ring r = made(8, IORING_SETUP_R_DISABLED, 0), open_ring = made(8, 0, 0);
    struct io_uring_restriction only[] = {{.opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_NOP}, {.opcode = IORING_RESTRICTION_REGISTER_OP, .register_op = IORING_REGISTER_PROBE}, {.opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED, .sqe_flags = IOSQE_IO_LINK}};
    T(io_uring_register, open_ring.fd, IORING_REGISTER_RESTRICTIONS, only, 3), T(io_uring_register, open_ring.fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    add(&r, SQE(NOP)), show("enter", enter(&r, 0)), r.filled = 1;
    T(io_uring_register, r.fd, IORING_REGISTER_RESTRICTIONS, only, 3), T(io_uring_register, r.fd, IORING_REGISTER_RESTRICTIONS, only, 3), T(io_uring_register, r.fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    go(&r, 1), ONE(&r, FSYNC, .fd = 1), ONE(&r, NOP, .flags = IOSQE_ASYNC), T(io_uring_register, r.fd, IORING_REGISTER_BUFFERS, NULL, 0);
    T(io_uring_register, r.fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}

/* The program's side of the rings. */
static void hostile(void)
{
    struct ring r = made(4, 0, 0);
    for (int i = 0; i < 3; i++)
        add(&r, SQE(NOP, .user_data = i));
    r.sq_array[1] = 77, show("enter", enter(&r, 0)), reap_all(&r), num(*r.dropped), num(*r.sq_head);
    S(io_uring_enter, r.fd, 4, 0, 0, NULL, 0), reap_all(&r);
    *r.sq_tail += 1000, *r.sq_mask = 12345, show("enter", S(io_uring_enter, r.fd, 2000, 0, 0, NULL, 0));
    *r.sq_tail = *r.sq_head, *r.sq_mask = 3, *r.cq_head = *r.cq_tail;
    /* More results than there is room for. */
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++)
            add(&r, SQE(NOP, .user_data = round * 10 + i));
        num(S(io_uring_enter, r.fd, 3, 0, 0, NULL, 0));
    }
    r.filled = 0, num(*r.cq_tail - *r.cq_head), is(*r.sq_flags & IORING_SQ_CQ_OVERFLOW), reap_all(&r);
    go(&r, 0), is(!(*r.sq_flags & IORING_SQ_CQ_OVERFLOW)), num(*(unsigned *)(r.at + r.p.cq_off.overflow));
    /* Both mappings gone, the ring works on. */
    add(&r, SQE(NOP, .user_data = 5)), munmap(r.sqes, 4096);
    num(S(io_uring_enter, r.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0)), reap_all(&r);
}

static struct ring shared;
static int to_thread[2];
static void *writer(void *unused)
{
    usleep(3000);
    return (void *)write(to_thread[1], "t", 1);
}
static void others(void)
{
    shared = made(8, 0, 0);
    char a[9];
    pthread_t thread;
    pipe(to_thread);
    /* One thread waits while another writes. */
    add(&shared, SQE(READ, .fd = to_thread[0], AT(a), .len = 9, .user_data = 1));
    pthread_create(&thread, NULL, writer, NULL), go(&shared, 1), pthread_join(thread, NULL);
    /* The ring becomes readable to those that watch it. */
    int epoll = epoll_create1(0);
    struct epoll_event event = {EPOLLIN, {.u32 = 5}}, got = {0};
    struct pollfd polled = {shared.fd, POLLIN | POLLOUT, 0};
    show("epoll_ctl", epoll_ctl(epoll, EPOLL_CTL_ADD, shared.fd, &event)), num(epoll_wait(epoll, &got, 1, 0)), num(poll(&polled, 1, 0)), num(polled.revents);
    add(&shared, SQE(READ, .fd = to_thread[0], AT(a), .len = 9, .user_data = 2)), go(&shared, 0);
    pthread_create(&thread, NULL, writer, NULL);
    while (epoll_wait(epoll, &got, 1, 5000) < 0) /* what went on in the kernel may interrupt it */
        ;
    num(got.data.u32), pthread_join(thread, NULL), reap_all(&shared);
    /* Nothing is called: the result comes into memory by itself. */
    add(&shared, SQE(READ, .fd = to_thread[0], AT(a), .len = 9, .user_data = 3)), go(&shared, 0);
    pthread_create(&thread, NULL, writer, NULL);
    while (__atomic_load_n(shared.cq_tail, __ATOMIC_ACQUIRE) == *shared.cq_head)
        ;
    pthread_join(thread, NULL), reap_all(&shared);
    ONE(&shared, EPOLL_CTL, .fd = epoll, .len = EPOLL_CTL_ADD, .off = to_thread[0], AT(&event)), ONE(&shared, EPOLL_CTL, .fd = epoll, .len = EPOLL_CTL_ADD, .off = to_thread[0], AT(&event));
    /* A child has the same ring; what it left waiting ends with it. */
    pid_t child = fork();
    if (!child) {
        int own[2];
        pipe(own);
        add(&shared, SQE(NOP, .user_data = 4)), add(&shared, SQE(READ, .fd = own[0], AT(a), .len = 9, .user_data = 5));
        show("enter", enter(&shared, 1)), fflush(stdout), _exit(0);
    }
    reap("child", child, 0);
    S(io_uring_enter, shared.fd, 0, 2, IORING_ENTER_GETEVENTS, NULL, 0), reap_all(&shared);
    /* One task's ring. */
    struct ring alone = made(4, IORING_SETUP_SINGLE_ISSUER, 0);
    ONE(&alone, NOP);
    child = fork();
    if (!child) {
        add(&alone, SQE(NOP)), show("enter", enter(&alone, 0)), fflush(stdout), _exit(0);
    }
    reap("child", child, 0);
    close(shared.fd), num(S(io_uring_enter, shared.fd, 0, 0, 0, NULL, 0)), is(*shared.cq_mask == 15);
}

int main(void)
{
    unfiltered();
    if (!is_emulated() && release() < 601)
        lacks("operations of io_uring are missing in Linux before 6.1");
    CASE(setups), CASE(files), CASE(waits), CASE(times), CASE(chains), CASE(registered), CASE(restricted), CASE(hostile), CASE(others);
    return 0;
}
