// covers: mount statfs fstatfs ustat write pwrite64 ftruncate fallocate link symlink mkdir mknod bind unlink rename mmap lseek
// open: skip owners stay in the emulated machine
#include "namespace.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

/* What a tmpfs has room for: pages, and inodes. */
static char buf[1 << 17];

static void room(const char *what)
{
    struct statfs f;
    S(statfs, "m", &f);
    printf("%s: %ld of %ld pages, %ld of %ld inodes\n", what, (long)(f.f_blocks - f.f_bfree), (long)f.f_blocks,
           (long)(f.f_files - f.f_ffree), (long)f.f_files);
    is(f.f_bfree == f.f_bavail);
}

static void blocks(int fd)
{
    struct stat s;
    S(fstat, fd, &s);
    printf("  size %ld blocks %ld\n", (long)s.st_size, (long)s.st_blocks);
}

/* The options of the last mount at m. */
static void shown(const char *what)
{
    static char text[1 << 16];
    int fd = open("/proc/self/mounts", O_RDONLY);
    long n = 0, got;
    while ((got = read(fd, text + n, sizeof text - 1 - n)) > 0)
        n += got;
    text[n] = 0, close(fd);
    char *save, options[512] = "not mounted";
    for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(0, "\n", &save)) {
        char place[512], found[512];
        if (sscanf(l, "%*s %511s %*s %511s", place, found) == 2 && strlen(place) > 2 && !strcmp(place + strlen(place) - 2, "/m"))
            strcpy(options, found);
    }
    printf("%s: %s\n", what, options);
}

static void begin(const char *options)
{
    become_root(), S(mkdir, "m", 0755), S(mount, "none", "/", 0, MS_REC | MS_PRIVATE, 0);
    show(options, S(mount, "none", "m", "tmpfs", 0, options));
}

static void writes(void)
{
    begin("size=16k,nr_inodes=50");
    int fd = open("m/f", O_CREAT | O_RDWR, 0644), other;
    room("empty"), T(write, fd, buf, 10000), room("three"), blocks(fd), T(write, fd, buf, 10000), room("full"), blocks(fd);
    T(write, fd, buf, 1), T(pwrite64, fd, buf, 5000, 0), T(pwrite64, fd, buf, 10, 16380), blocks(fd);
    other = open("m/g", O_CREAT | O_RDWR, 0644), T(write, other, buf, 1), blocks(other), T(ftruncate, other, 1 << 20), blocks(other);
    T(pread64, other, buf, 8192, 0), T(lseek, other, 0, SEEK_DATA);
    printf("== cut\n");
    T(ftruncate, fd, 8192), room("half"), T(pwrite64, other, buf, 1, 500000), room("a page"), blocks(other), T(lseek, other, 0, SEEK_DATA);
    T(pwrite64, other, buf, 10, 8190), room("full"), blocks(other), T(pwrite64, other, buf, 10, 12284), T(pread64, other, buf, 3, 8195);
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100, 8092), room("punched"), blocks(fd);
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192), room("punched"), blocks(fd);
    printf("== gone\n");
    T(unlink, "m/g"), room("unlinked"), T(pwrite64, other, buf, 4096, 0), room("still"), S(close, other), room("closed");
    T(rename, "m/f", "m/h"), T(truncate, "m/h", 0), room("empty"), S(close, fd), T(unlink, "m/h"), room("nothing");
    memset(buf, 'x', 4000), buf[127] = 0, T(symlink, buf, "m/short"), room("short link"), buf[127] = 'x', buf[128] = 0, T(symlink, buf, "m/long"),
        room("long link"), T(symlink, buf, "m/2"), T(symlink, buf, "m/3"), T(symlink, buf, "m/4"), room("links"), T(symlink, buf, "m/5"),
        T(symlink, buf, "m/4"), T(unlink, "m/3"), room("unlinked"), fd = open("m", O_TMPFILE | O_RDWR, 0600), T(write, fd, buf, 5000),
        T(write, fd, buf, 5000), S(close, fd), room("closed");
    put("m/copied", "all of it"), fd = open("m/copied", O_WRONLY | O_APPEND), T(write, fd, buf, 8192);
}

static void reserves(void)
{
    begin("size=32k,nr_inodes=50");
    int fd = open("m/f", O_CREAT | O_RDWR, 0644);
    T(fallocate, fd, 0, 0, 10000), room("three"), blocks(fd), T(lseek, fd, 0, SEEK_DATA), T(pread64, fd, buf, 10, 9995);
    T(pwrite64, fd, buf, 10, 4096), room("written"), blocks(fd), T(lseek, fd, 0, SEEK_DATA), T(lseek, fd, 4096, SEEK_HOLE);
    T(fallocate, fd, 0, 0, 33 * 1024), room("too long"), blocks(fd), T(fallocate, fd, 0, 4096, 32768), room("too much"), blocks(fd);
    T(fallocate, fd, FALLOC_FL_KEEP_SIZE, 16384, 8192), room("behind"), blocks(fd), T(pwrite64, fd, buf, 1, 20000), room("into it"), blocks(fd);
    T(ftruncate, fd, 10000), room("cut"), blocks(fd);
    T(fallocate, fd, FALLOC_FL_KEEP_SIZE, 16384, 8192), T(ftruncate, fd, 12000), room("grown"), T(ftruncate, fd, 12000), room("same"), blocks(fd);
    int other = open("m/g", O_CREAT | O_RDWR, 0644);
    T(pwrite64, other, buf, 20000, 0), T(fallocate, fd, 0, 0, 20000), room("undone"), blocks(fd), blocks(other);
    T(fallocate, other, 0, 0, 20000), room("there"), T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20), room("punched"), blocks(fd);
    T(fallocate, fd, 0, 0, 12288), T(unlink, "m/g"), S(close, other), T(fallocate, fd, 0, 0, 32768), room("full"), blocks(fd);
    T(pwrite64, fd, buf, 32768, 0), T(pwrite64, fd, buf, 1, 32768), T(fallocate, fd, 0, 32768, 1), room("full"), blocks(fd);
    int memory = memfd_create("memory", 0);
    T(fallocate, memory, 0, 0, 100000), blocks(memory), T(write, memory, buf, 5000), blocks(memory), T(ftruncate, memory, 4096), blocks(memory);
    struct statfs f;
    T(fstatfs, memory, &f), num(f.f_blocks), num(f.f_files), num(f.f_ffree);
}

static sigjmp_buf back;

static void fault(int sig, siginfo_t *info, void *context)
{
    printf("  signal %d code %d\n", sig, info->si_code);
    siglongjmp(back, 1);
}

static void touch(char *at, int store)
{
    if (sigsetjmp(back, 1) == 0) {
        if (store)
            *(volatile char *)at = 'y';
        else
            printf("  reads %d\n", *(volatile char *)at);
    }
}

static void maps(void)
{
    begin("size=16k,nr_inodes=50");
    struct sigaction act = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &act, 0), sigaction(SIGSEGV, &act, 0);
    int fd = open("m/f", O_CREAT | O_RDWR, 0644), in[2];
    T(ftruncate, fd, 1 << 20), memset(buf, 0, sizeof buf);
    char *p = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *q = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    is(p != MAP_FAILED && q != MAP_FAILED), room("mapped");
    touch(p, 1), room("stored"), touch(p + 8192, 0), room("read"), blocks(fd), touch(q + 40960, 0), room("read privately"), touch(p + 4096, 1), room("full");
    touch(p + 12288, 1), touch(p + 16384, 0), touch(q + 12288, 1), touch(q + 40960, 1), touch(p + 40960, 0), room("full"), blocks(fd);
    printf("== calls\n");
    pipe(in), T(write, in[1], "0123456789", 10), T(read, in[0], p + 12288 - 5, 10), T(read, in[0], p + 16384, 5), T(write, in[1], p + 20480, 5);
    T(madvise, p + 4096, 4096, MADV_REMOVE), room("removed"), touch(p + 16384, 1),
        room("stored"), T(munmap, p, 1 << 20), T(munmap, q, 1 << 20), room("unmapped"), S(close, fd), T(unlink, "m/f"), room("gone");
    fd = open("m/g", O_CREAT | O_RDWR, 0644), T(fallocate, fd, 0, 0, 16384), p = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    touch(p + 12288, 1), room("reserved"), T(munmap, p, 16384), T(unlink, "m/g"), room("held"), S(close, fd), room("gone");
}

static void inodes(void)
{
    begin("nr_inodes=5,size=1m");
    room("top"), put("m/f", "x"), T(link, "m/f", "m/g"), T(mkdir, "m/d", 0755), T(symlink, "x", "m/s"), room("full");
    T(open, "m/h", O_CREAT | O_WRONLY, 0644), T(link, "m/f", "m/h"), T(mkdir, "m/h", 0755), T(symlink, "x", "m/h"), T(mknod, "m/h", S_IFIFO | 0644, 0);
    T(open, "m", O_TMPFILE | O_RDWR, 0600), T(mkdir, "m/d", 0755), T(open, "m/f", O_CREAT | O_WRONLY, 0644);
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "m/h"};
    int fd = S(socket, AF_UNIX, SOCK_STREAM, 0);
    T(bind, fd, &at, sizeof at), T(rename, "m/s", "m/t"), T(renameat2, AT_FDCWD, "m/t", AT_FDCWD, "m/u", RENAME_WHITEOUT), T(access, "m/t", F_OK);
    T(unlink, "m/g"), room("one less"), T(bind, fd, &at, sizeof at), room("socket"), T(unlink, "m/h"), room("unlinked"), S(close, fd), room("closed");
    fd = open("m", O_TMPFILE | O_RDWR, 0600), room("nameless"), T(linkat, fd, "", AT_FDCWD, "m/n", AT_EMPTY_PATH), room("named"), T(unlink, "m/n"),
        room("unlinked"), S(close, fd), room("closed"), T(link, "m/f", "m/g"), room("linked"), T(rename, "m/t", "m/g"), room("renamed over"), T(rmdir, "m/d"), room("rmdir");
    T(renameat2, AT_FDCWD, "m/g", AT_FDCWD, "m/w", RENAME_WHITEOUT), room("whiteout");
}

static void remounts(void)
{
    const char *all[] = {"size=8k", "size=12k", "size=11k", "nr_blocks=3", "nr_inodes=2", "nr_inodes=3", "nr_inodes=0", "nr_inodes=100", "size=1m,mode=700,uid=5",
                         "mode=8", "foo", "size=64kk", "noswap", "size=0", "size=1g", "nr_blocks=0", "nr_inodes=0,size=0"};
    begin("size=16k,nr_inodes=4,mode=750");
    shown("mounted"), put("m/f", "x"), put("m/g", "y"), T(truncate, "m/f", 0);
    int fd = open("m/f", O_WRONLY);
    T(write, fd, buf, 8192), room("three");
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        show(all[i], S(mount, "none", "m", 0, MS_REMOUNT, all[i])), shown("  shown"), room("  room");
    T(mount, "none", "m", 0, MS_REMOUNT | MS_BIND, "size=nonsense"), T(write, fd, buf, 100000);
}

static void options(void)
{
    const char *all[] = {"", "size=64k", "size=65537", "size=1", "size=0", "size=1M", "size=0x10000", "size=0200000", "size=0%", "size=10%k", "size=64kb",
        "size=64K,nr_inodes=10", "nr_inodes=0", "nr_inodes=1k", "nr_inodes=0x10", "nr_blocks=16", "nr_blocks=16,size=1m", "size=1m,nr_blocks=16",
        "nr_blocks=0", "size=", "nr_inodes=", "size=-1", "size=+5k", "size= 64k", "mode=755", "mode=01777", "mode=17777", "mode=999", "uid=0,gid=0", "uid=-1",
        "uid=77", "uid=abc", "huge=bogus", "mpol=bogus", "inode32", "inode64=1", "noswap", "size=64k,size=128k", "foo=1", "foo", "size",
        "nr_inodes=1", "size=1e", "size=1t", "size=99999999999999999999999", "nr_inodes=abc",
        "mode=", "mode=0x1ff", "uid=0x0", "ro", "rw", ",,size=4k,"};
    become_root(), S(mkdir, "m", 0755), S(mount, "none", "/", 0, MS_REC | MS_PRIVATE, 0);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (show(all[i], S(mount, "none", "m", "tmpfs", 0, all[i])), S(access, "m/..", F_OK) == 0)
            shown("  shown"), S(umount2, "m", 0);
    /* Linux shows the size if memory has an odd number of pages: half of them is rounded up. */
    S(mount, "none", "m", "tmpfs", 0, "size=50%"), S(umount2, "m", 0);
    const char *ram[] = {"", "foo=1", "mode=700,size=5", "mode=bad", "mode=755", "uid=7"};
    for (unsigned i = 0; i < sizeof ram / sizeof *ram; i++) {
        struct statfs f;
        struct stat s;
        show(ram[i], S(mount, "none", "m", "ramfs", 0, ram[i])), shown("  shown"), S(statfs, "m", &f), S(stat, "m", &s);
        num(f.f_type == 0x858458f6), num(f.f_type == 0x858458f6 ? f.f_blocks : 0), printf("  mode %o\n", s.st_mode), S(umount2, "m", 0);
    }
    struct {
        int free;
        long inodes;
        char names[12];
    } u;
    struct stat s;
    S(mount, "none", "m", "tmpfs", 0, "size=64k,nr_inodes=9"), put("m/f", "x"), S(stat, "m", &s), T(ustat, s.st_dev, &u), num(u.free), num(u.inodes);
}

int main(void)
{
    CASE(writes);
    CASE(reserves);
    CASE(maps);
    CASE(inodes);
    CASE(remounts);
    CASE(options);
    return 0;
}
