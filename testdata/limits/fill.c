/* Makes the kernel keep what it can be made to keep: fill WHAT COUNT. Ends with 0 if every call did
   what it should. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char block[1 << 20], text[4001], name[300];
static long bad;

#define IS(word) !strcmp(what, word)
#define EXPECT(condition) (bad += !(condition))

static int make(const char *path) { return open(path, O_CREAT | O_RDWR, 0600); }

int main(int argc, char **argv) {
    const char *what = argv[1];
    long n = atol(argv[2]), i;
    struct rlimit files = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_NOFILE, &files);
    memset(text, 'x', 4000);
    if (chdir("/dev/shm")) return 2;
    for (i = 0; i < n; i++) {
        sprintf(name, "n%ld", i);
        if (IS("pipes")) {
            int end[2];
            EXPECT(!pipe2(end, O_NONBLOCK));
            fcntl(end[1], F_SETPIPE_SZ, 1 << 20);
            while (write(end[1], block, sizeof block) > 0);
        } else if (IS("symlinks")) {
            EXPECT(!symlink(text, name));
        } else if (IS("symlinks in turn")) {
            EXPECT(!symlink(text, "s") && !unlink("s"));
        } else if (IS("files in turn")) {
            int fd = make("f");
            EXPECT(fd >= 0 && !unlink("f") && write(fd, block, 4096) == 4096 && !close(fd));
        } else if (IS("memory files in turn")) {
            int fd = memfd_create("m", 0);
            EXPECT(fd >= 0 && write(fd, block, 4096) == 4096 && !close(fd));
        } else if (IS("directories in turn")) {
            EXPECT(!mkdir("d", 0700) && !rmdir("d"));
        } else if (IS("mappings in turn")) {
            char *at = (char *)0x100000000000 + (i << 30) % (1ul << 45);
            char *page = mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            EXPECT(page != MAP_FAILED && (*page = 1) && !munmap(page, 4096));
        } else if (IS("pages far apart")) {
            char *at = (char *)0x100000000000 + (i << 30) % (1ul << 45);
            char *page = mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            EXPECT(page != MAP_FAILED && (*page = 1));
        } else if (IS("memory files")) {
            EXPECT(write(memfd_create("m", 0), block, 4096) == 4096);
        } else if (IS("a file")) {
            static int fd;
            if (!i) fd = make("f");
            EXPECT(write(fd, block, sizeof block) == sizeof block);
        } else if (IS("a sparse file")) {
            static int fd;
            if (!i) fd = make("f");
            EXPECT(pwrite(fd, "x", 1, i << 20) == 1);
        } else if (IS("links")) {
            if (!i) close(make("f"));
            sprintf(text + 200, "%ld", i);
            EXPECT(!link("f", text));
        } else if (IS("listings")) {
            if (!i) for (long k = 0; k < 1000; k++) { sprintf(name, "f%ld", k); close(make(name)); }
            int fd = open(".", O_RDONLY);
            EXPECT(fd >= 0 && syscall(SYS_getdents64, fd, block, 4096) > 0);
        } else if (IS("watches")) {
            struct epoll_event event = {.events = EPOLLIN};
            int epoll = epoll_create1(0);
            EXPECT(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(0, 0), &event));
        } else if (IS("paths")) {
            static char deep[252];
            memset(deep, 'd', 250);
            if (i < 400) EXPECT(!mkdir(deep, 0700) && !chdir(deep));
            EXPECT(open(".", O_RDONLY) >= 0);
        } else if (IS("code")) {
            unsigned char *at = (unsigned char *)0x100000000000 + (i << 12);
            int all = PROT_READ | PROT_WRITE | PROT_EXEC;
            unsigned char *page = mmap(at, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            EXPECT(page != MAP_FAILED);
            memset(page, 0x90, 4095);
            page[4095] = 0xc3;
            ((void (*)(void))page)();
            EXPECT(!munmap(page, 4096));
        } else if (IS("mappings")) {
            /* vm.max_map_count is 65530; the program has some of its own. */
            static long made, refused;
            char *page = mmap(0, 4096, i & 1 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (page != MAP_FAILED) made++;
            else refused += errno == ENOMEM;
            if (i == n - 1) EXPECT(made > 65400 && made <= 65531 && made + refused == n);
        } else if (IS("holes")) {
            static char *base;
            if (!i) base = mmap(0, n * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            errno = 0;
            int cut = mprotect(base + i / 2 * 8192, 4096, i & 1 ? PROT_READ : PROT_NONE);
            EXPECT(!cut || (errno == ENOMEM && i / 2 > 32000));
        } else {
            return 3;
        }
    }
    return bad != 0;
}
