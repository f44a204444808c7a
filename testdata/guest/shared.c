// covers: mmap msync munmap ftruncate
#include "guest.h"

static void cat_at(long fd, long at)
{
    char buf[16] = "";
    S(pread64, fd, buf, 10, at);
    printf("file: %s\n", buf);
}

/* A shared mapping and the file are one thing, whoever writes. */
int main(void)
{
    char buf[16] = "";
    long fd = S(open, "f", O_RDWR | O_CREAT, 0644);
    S(ftruncate, fd, 8192);
    char *a = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *b = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 4096);
    char *c = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

    strcpy(a + 4096, "by memory");
    printf("%s\n", b);
    S(pread64, fd, buf, 10, 4096);
    printf("%s\n", buf);
    S(pwrite64, fd, "by write ", 9, 4096);
    printf("%s\n", b);
    /* What a private mapping shows of later changes is not promised; that its own stay in it is. */
    memcpy(c + 4096, "private", 7);
    cat_at(fd, 4096);
    S(pwrite64, fd, "not seen ", 9, 4096);
    printf("%s\n", b);
    long other = S(open, "f", O_RDONLY);
    S(close, fd);
    strcpy(a, "after close");
    S(read, other, buf, 12);
    printf("%s\n", buf);
    T(munmap, a, 8192);
    cat("f");
    S(truncate, "f", 4096);
    fd = S(open, "f", O_RDWR);
    S(ftruncate, fd, 8192);
    printf("after it was cut and grown: %d\n", b[0]);

    /* A private page is the file's until it is written to itself. */
    a = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    c = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    strcpy(c, "mine");
    strcpy(a, "not"), strcpy(a + 4096, "theirs");
    printf("%s %s\n", c, c + 4096);
    strcpy(c + 4096, "mine");
    strcpy(a + 4096, "late");
    printf("%s\n", c + 4096);
    cat_at(fd, 4096);

    /* Of a file of the host, through its own name and another. */
    fd = S(open, "host/other", O_RDWR);
    a = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(a, "ANO", 3);
    cat("host/other");
    S(rename, "host/other", "moved");
    memcpy(a, "XYZ", 3);
    cat("moved");
    S(unlink, "moved");
    printf("%.7s\n", a);

    /* Written at the far end: the rest of the last page is not the file's. */
    put("short", "12345");
    fd = S(open, "short", O_RDWR);
    a = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    a[4] = '!', a[5] = '?';
    cat("short");
    S(pwrite64, fd, "tail", 4, 8);
    printf("%.12s\n", a + 6 + 2);

    /* read(2) and write(2) from and to the mapping of the same file, at places that do not overlap: what an overlapping
       copy leaves depends on the CPU that Linux runs on. */
    S(lseek, fd, 0, SEEK_SET);
    T(read, fd, a + 5, 4);
    cat("short");
    T(pwrite64, fd, a, 6, 6);
    cat("short");
    return 0;
}
