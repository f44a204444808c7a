// covers: move_pages migrate_pages
#include "guest.h"
#include <linux/mempolicy.h>
#include <linux/capability.h>
#define PAGE 4096L

static int st[6];
static void statuses(void)
{
    for (int i = 0; i < 6; i++)
        printf(" %d", st[i]);
    printf("\n");
}
#define RUN(...) memset(st, 7, sizeof st), T(move_pages, __VA_ARGS__), statuses()

int main(void)
{
    char online[8] = "";
    long node = S(open, "/sys/devices/system/node/online", O_RDONLY);
    S(read, node, online, 7), S(close, node);
    if (strcmp(online, "0\n") || S(move_pages, 0, 0, 0, 0, 0, 0) < 0)
        lacks("this machine has not one memory node of which it can be asked what it holds");
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct nothing[2] = {{0}};
    S(capset, &head, nothing);
    char *p = mmap(0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p[0] = p[PAGE] = 1;
    long fd = S(open, "f", O_RDWR | O_CREAT, 0644);
    S(ftruncate, fd, 4096), S(pwrite64, fd, "x", 1, 0);
    char *q = mmap(0, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    void *pages[6] = {p, p + PAGE + 7, p + 2 * PAGE, 0, q, (void *)-4096L};
    int nodes[6] = {0}, bad[6] = {0, 5, 0, 0, 0, 0}, neg[6] = {-1};
    munmap(p + 3 * PAGE, PAGE);
    RUN(0, 4, pages, 0, st, 0);
    RUN(0, 6, pages, 0, st, 0), is(*(volatile char *)q == 'x');
    RUN(0, 6, pages, 0, st, MPOL_MF_MOVE);
    RUN(0, 6, pages, nodes, st, MPOL_MF_MOVE);
    RUN(0, 6, pages, nodes, st, 0);
    RUN(0, 6, pages, bad, st, MPOL_MF_MOVE);
    RUN(0, 6, pages, neg, st, MPOL_MF_MOVE);
    RUN(0, 0, pages, nodes, st, MPOL_MF_MOVE);
    RUN(0, 2, pages, nodes, 0, MPOL_MF_MOVE);
    RUN(0, 2, pages, 0, 0, MPOL_MF_MOVE);
    RUN(0, 2, BAD, 0, st, MPOL_MF_MOVE);
    RUN(0, 2, pages, BAD, st, MPOL_MF_MOVE);
    RUN(0, 2, pages, nodes, BAD, MPOL_MF_MOVE);
    RUN(0, 2, pages, nodes, st, 1);
    RUN(0, 2, pages, nodes, st, 8);
    RUN(0, 2, pages, nodes, st, MPOL_MF_MOVE_ALL);
    RUN(-1, 2, pages, nodes, st, 0);
    RUN(99999999, 2, pages, 0, st, 0);
    RUN(getpid(), 2, pages, 0, st, 0);
    unsigned long a = 1, b = 1, two = 2, none = 0;
    T(migrate_pages, 0, 64, &a, &b);
    T(migrate_pages, 0, 64, &two, &b);
    T(migrate_pages, 0, 64, &a, &two);
    T(migrate_pages, 0, 64, &none, &b);
    T(migrate_pages, 0, 64, &a, &none);
    T(migrate_pages, 0, 64, BAD, &b);
    T(migrate_pages, 0, 64, &a, BAD);
    T(migrate_pages, 99999999, 64, &a, &b);
    T(migrate_pages, 0, 0, &a, &b);
    T(migrate_pages, 0, 1, &a, &b);
    T(migrate_pages, -1, 64, &a, &b);
    T(migrate_pages, 0, 1L << 40, &a, &b);
    T(migrate_pages, 0, 64, 0, &b);
    return 0;
}
