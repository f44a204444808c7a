// covers: setrlimit write pwrite64 writev truncate ftruncate fallocate sendfile splice copy_file_range io_submit
#include "child.h"
#include <sys/sendfile.h>
#include <sys/uio.h>

/* RLIMIT_FSIZE: what is written up to it, what fails beyond with EFBIG, and SIGXFSZ. */
static volatile int got;
static void count(int signo)
{
    got += signo == SIGXFSZ;
}
static void told(const char *what, long result)
{
    show(what, result);
    if (got)
        printf("  signals %d\n", got);
    got = 0;
}

static void killed(void)
{
    signal(SIGXFSZ, SIG_DFL);
    long fd = S(open, "f", O_WRONLY);
    S(pwrite64, fd, "x", 1, 1000);
}

int main(void)
{
    char page[300];
    struct rlimit limit = {100, 1000};
    struct stat st;
    memset(page, 'p', sizeof page), page[sizeof page - 1] = 0;
    put("big", ""), S(truncate, "big", 500), put("from", page);
    signal(SIGXFSZ, count);
    S(setrlimit, RLIMIT_FSIZE, &limit);

    long fd = S(open, "f", O_RDWR | O_CREAT, 0644), from = S(open, "big", O_RDWR);
    told("60", S(write, fd, page, 60)), told("60 more", S(write, fd, page, 60)), told("at the limit", S(write, fd, page, 1)),
        told("nothing there", S(write, fd, page, 0));
    told("before", S(pwrite64, fd, page, 10, 95)), told("behind", S(pwrite64, fd, page, 1, 100)), told("far", S(pwrite64, fd, page, 1, 1l << 40)),
        told("inside", S(pwrite64, fd, page, 10, 0));
    struct iovec v[2] = {{page, 10}, {page, 10}};
    S(lseek, fd, 85, SEEK_SET), told("vector", S(writev, fd, v, 2)), S(lseek, fd, 100, SEEK_SET), told("vector at the limit", S(writev, fd, v, 2));
    told("ftruncate to", S(ftruncate, fd, 100)), told("ftruncate over", S(ftruncate, fd, 101)), told("truncate over", S(truncate, "f", 5000)),
        told("to less", S(ftruncate, fd, 50));
    told("fallocate to", S(fallocate, fd, 0, 0, 100)), told("fallocate over", S(fallocate, fd, 0, 0, 101)),
        told("keeping the size", S(fallocate, fd, 1, 0, 200)), told("far", S(fallocate, fd, 0, 1000, 1));
    S(fstat, fd, &st), num(st.st_size);

    /* One that is larger already may be written below, and shrunk, but not to a size above. */
    told("larger, below", S(pwrite64, from, page, 10, 0)), told("larger, above", S(pwrite64, from, page, 10, 200)),
        told("shrunk to 300", S(ftruncate, from, 300)), told("to its size", S(ftruncate, from, 300)), told("shrunk to 90", S(ftruncate, from, 90)),
        told("grown to 100", S(ftruncate, from, 100)), told("grown to 101", S(ftruncate, from, 101));

    /* Copies within the kernel. */
    long out = S(open, "out", O_RDWR | O_CREAT, 0644), off = 0;
    S(ftruncate, out, 95), S(lseek, out, 95, SEEK_SET), told("sendfile", S(sendfile, out, from, &off, 50)),
        told("sendfile at the limit", S(sendfile, out, from, &off, 50));
    long in_off = 0, out_off = 90;
    told("copy_file_range", S(copy_file_range, from, &in_off, out, &out_off, 50, 0)), out_off = 100,
        told("at the limit", S(copy_file_range, from, &in_off, out, &out_off, 50, 0));
    int p[2];
    S(pipe2, p, 0), told("pipe", S(write, p[1], page, 200)), out_off = 95, told("splice", S(splice, p[0], 0, out, &out_off, 50, 0)), out_off = 100,
        told("splice at the limit", S(splice, p[0], 0, out, &out_off, 50, 0));
    /* Of appending too; not of what has no size. */
    long app = S(open, "app", O_WRONLY | O_CREAT | O_APPEND, 0644);
    told("append", S(write, app, page, 99)), told("append", S(write, app, page, 99)), told("append", S(write, app, page, 99)),
        told("null", S(write, S(open, "/dev/null", O_WRONLY), page, 300));
    long mem = S(memfd_create, "m", 0);
    told("memfd", S(write, mem, page, 300)), told("memfd grown", S(ftruncate, mem, 4096));
    signal(SIGXFSZ, SIG_IGN), told("ignored", S(pwrite64, fd, page, 1, 100));
    num(reap(child(killed)));
    limit.rlim_cur = 0, S(setrlimit, RLIMIT_FSIZE, &limit), told("limit 0", S(pwrite64, fd, page, 1, 0)),
        told("new", S(open, "new", O_CREAT | O_WRONLY, 0644)), told("mkdir", S(mkdir, "dir", 0755));
    return 0;
}
