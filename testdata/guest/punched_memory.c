// covers: fallocate mmap memfd_create lseek ftruncate pread64 madvise fstat
#include "guest.h"

/* Holes that are made in files in memory: what mappings, private copies, and lseek(2) see of them. */
static char *shared, *private_;
static long fd;

static void pages(const char *what)
{
    struct stat st;
    char c[6];
    S(fstat, fd, &st), printf("%s: size %ld:", what, (long)st.st_size);
    for (int i = 0; i < 6; i++)
        c[i] = 0, printf(" %d/%d/%d", S(pread64, fd, &c[i], 1, i * 4096) == 1 ? c[i] : -1, shared[i * 4096], private_[i * 4096]);
    printf("\n  data:");
    for (long at = 0; (at = S(lseek, fd, at, SEEK_DATA)) >= 0;)
        printf(" %ld-", at / 4096), at = S(lseek, fd, at, SEEK_HOLE), printf("%ld", at / 4096);
    printf("\n");
}

int main(void)
{
    fd = S(memfd_create, "m", 0), S(ftruncate, fd, 6 * 4096), shared = mmap(0, 6 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0),
        private_ = mmap(0, 6 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, 0), pages("empty, and read");
    for (int i = 0; i < 6; i++)
        shared[i * 4096] = (char)(i + 1);
    private_[4096] = 77, private_[3 * 4096] = 78, pages("written");
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192), pages("two pages out"), shared[2 * 4096] = 33, pages("one stored to"),
        T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 3 * 4096 + 100, 4096), pages("parts of two"),
        T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 3 * 4096, 1), pages("a byte"), T(madvise, shared + 5 * 4096, 4096, MADV_REMOVE),
        pages("MADV_REMOVE"), T(fallocate, fd, 0, 0, 4 * 4096), pages("allocated"), T(fallocate, fd, FALLOC_FL_KEEP_SIZE, 6 * 4096, 4096),
        pages("behind the end"), T(ftruncate, fd, 7 * 4096), pages("grown"), T(ftruncate, fd, 6 * 4096), T(fallocate, fd, 0, 5 * 4096, 2 * 4096),
        pages("allocated across the end"), T(ftruncate, fd, 6 * 4096);
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE, 0, 4096), T(fallocate, fd, FALLOC_FL_ZERO_RANGE, 0, 4096),
        T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096), T(fallocate, fd, FALLOC_FL_INSERT_RANGE, 0, 4096), T(fallocate, fd, 0x100, 0, 4096),
        T(fallocate, fd, 0, 0, 0), T(fallocate, fd, 0, -1, 1), T(fallocate, fd, 0, 0, -1), T(fallocate, fd, 0, 0x7fffffffffffffff, 1),
        T(fallocate, S(open, "/dev/null", O_WRONLY), 0, 0, 1), T(fallocate, S(open, "host", O_RDONLY), 0, 0, 1), T(fallocate, 99, 0, 0, 1),
        T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100 * 4096, 4096);
    int p[2];
    S(pipe2, p, 0), T(fallocate, p[1], 0, 0, 1), T(fallocate, p[0], 0, 0, 1), T(madvise, private_, 4096, MADV_REMOVE),
        T(madvise, private_ + 4096, 4096, MADV_DONTNEED), pages("private copy dropped"),
        T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 6 * 4096), pages("all out");
    return 0;
}
