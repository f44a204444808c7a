/* Maps, shares, protects, faults and unmaps memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static int faults;

static void fault(int number)
{
    (void)number;
    faults++;
    siglongjmp(back, 1);
}

int main(void)
{
    signal(SIGSEGV, fault);
    int file = memfd_create("shared", 0);
    ftruncate(file, 1 << 16);
    char *one = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *two = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    unsigned sum = 0;
    for (int round = 0; round < 60; round++) {
        for (int at = 0; at < 1 << 16; at += 512)
            one[at] = (char)(round + at);
        for (int at = 0; at < 1 << 16; at += 512)
            sum = sum * 3 + (unsigned char)two[at];
        char *area = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(area, round, 1 << 18);
        mprotect(area + 4096, 4096, PROT_READ);
        if (!sigsetjmp(back, 1))
            area[4096 + round] = 1;
        mprotect(area + 4096, 4096, PROT_READ | PROT_WRITE);
        char *moved = mremap(area, 1 << 20, 1 << 21, MREMAP_MAYMOVE);
        sum += (unsigned char)moved[100] + (unsigned char)moved[(1 << 20) + 5];
        munmap(moved + 4096 * 20, 4096 * 7);
        if (!sigsetjmp(back, 1))
            sum += (unsigned char)moved[4096 * 23];
        madvise(moved, 4096 * 4, MADV_DONTNEED);
        sum += (unsigned char)moved[0];
        munmap(moved, 1 << 21);
        char *heap = sbrk(8192);
        heap[round] = 1;
        if (round % 7 == 0) {
            munmap(two, 1 << 16);
            two = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            pwrite(file, &sum, sizeof sum, 4096);
        }
    }
    printf("%u %d\n", sum, faults);
    return faults == 120 ? 0 : 1;
}
