// covers: mmap munmap unlink truncate rename fork msync open mremap
#include "child.h"

/* Mappings of files that are removed, renamed, replaced and written to: what both sides see, private and shared. */
static char *shared, *private_;

static void by_the_child(void)
{
    printf("child: %.4s %.4s\n", shared, private_), memcpy(shared, "kids", 4), memcpy(private_, "kids", 4);
}
static void both(const char *what)
{
    char buf[5] = "";
    long fd = S(open, "f", O_RDONLY);
    if (fd >= 0)
        S(read, fd, buf, 4), S(close, fd);
    printf("%s: shared %.4s private %.4s file %s\n", what, shared, private_, fd < 0 ? "none" : buf);
}

int main(void)
{
    for (int kind = 0; kind < 2; kind++) {
        put("f", "abcdefgh"), S(truncate, "f", 8192);
        long fd = S(open, "f", O_RDWR);
        shared = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0),
            private_ = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, 0), both("mapped"), S(pwrite64, fd, "1234", 4, 0), both("written"),
            memcpy(shared, "SHAR", 4), both("stored in the shared"), memcpy(private_, "priv", 4), both("stored in the private"),
            S(pwrite64, fd, "5678", 4, 0), both("written"), reap(child(by_the_child)), both("by the child"), memcpy(shared + 4096, "next", 4),
            printf("%.4s\n", private_ + 4096), private_[4097] = 'P', memcpy(shared + 4096, "NEXT", 4), printf("%.4s\n", private_ + 4096);
        if (kind == 0) {
            T(unlink, "f"), both("removed"), memcpy(shared, "gone", 4), put("f", "another file"), both("another of its name");
            char buf[5] = "";
            S(pread64, fd, buf, 4, 0), printf("%s\n", buf), S(close, fd), memcpy(shared, "last", 4), both("closed");
        } else {
            put("g", "replacing"), T(rename, "g", "f"), both("replaced"), S(pwrite64, fd, "old.", 4, 0), both("the old one written"),
                T(ftruncate, fd, 0), T(ftruncate, fd, 8192), both("cut and grown"), S(close, fd);
        }
        char *moved = mremap(shared, 8192, 4096, MREMAP_MAYMOVE);
        is(moved == shared), moved = mremap(shared, 4096, 8192, MREMAP_MAYMOVE), is(moved != MAP_FAILED), printf("%.4s\n", moved + 4096),
            munmap(moved, 8192), munmap(private_, 8192);
    }
    /* A store is seen after the mapping has gone, also by another process. */
    put("h", "0000"), shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, (int)S(open, "h", O_RDWR), 0), memcpy(shared, "kept", 4),
        munmap(shared, 4096), cat("h");
    /* Rights of the descriptor decide, not those of later. */
    long ro = S(open, "h", O_RDONLY), wo = S(open, "h", O_WRONLY), ap = S(open, "h", O_RDWR | O_APPEND);
    show("write, shared, read-only", S(mmap, 0, 4096, PROT_WRITE, MAP_SHARED, ro, 0)),
        show("write, private, read-only", S(mmap, 0, 4096, PROT_WRITE, MAP_PRIVATE, ro, 0) < 0),
        show("read of write-only", S(mmap, 0, 4096, PROT_READ, MAP_PRIVATE, wo, 0)),
        show("write of write-only", S(mmap, 0, 4096, PROT_WRITE, MAP_SHARED, wo, 0)),
        show("appending", S(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ap, 0) < 0);
    char *r = mmap(0, 4096, PROT_READ, MAP_SHARED, (int)ro, 0), *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, (int)ro, 0);
    T(mprotect, r, 4096, PROT_READ | PROT_WRITE), T(mprotect, p, 4096, PROT_READ | PROT_WRITE), memcpy(p, "mine", 4), cat("h"), S(chmod, "h", 0),
        T(mprotect, p, 4096, PROT_READ), printf("%.4s %.4s\n", r, p);
    return 0;
}
