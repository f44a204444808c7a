/* Random system calls, the same for the same seed: calls SEED ROUNDS. Each round is a child that makes calls with
   arguments as they should be and as they should not, two threads of it at a time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 16, CALLS = 300 };
static unsigned char *room; /* what pointers point into; the page behind it is not there */
static int64_t answers[16]; /* what calls gave: descriptors, addresses, numbers of tasks */
static pid_t parent;
static const char *const names[] = { "a", "b", "d", "d/e", ".", "..", "/", "", "/tmp", "/proc/self/fd/3", "/dev/null",
    "/proc/self/mem", "/proc/self/maps", "/dev/ptmx", "/dev/shm/x", "/dev/zero", "a/", "l", "/proc/1/status", "/dev/mqueue/q" };

struct dice {
    uint64_t state;
};

static uint64_t roll(struct dice *dice, uint64_t below)
{
    dice->state ^= dice->state << 13;
    dice->state ^= dice->state >> 7;
    dice->state ^= dice->state << 17;
    return (dice->state * 0x2545f4914f6cdd1dull >> 11) % below;
}

/* A number of the kind that arguments are. */
static uint64_t number(struct dice *dice)
{
    static const uint64_t edges[] = { 0, 1, -1ull, 4096, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 47, 1ull << 63, 0x7fffffffffffffff };
    switch (roll(dice, 6)) {
    case 0:
        return edges[roll(dice, sizeof edges / sizeof *edges)];
    case 1:
        return 1ull << roll(dice, 64);
    case 2:
        return roll(dice, 1 << 12);
    case 3:
        return roll(dice, 1 << 7) << 12;
    default:
        return roll(dice, 16);
    }
}

/* A pointer: to random structures, to the end of memory, or to nothing. */
static uint64_t pointer(struct dice *dice)
{
    uint64_t at = roll(dice, ROOM - 512) & ~7ull;
    switch (roll(dice, 8)) {
    case 0:
        return (uint64_t)(room + ROOM - roll(dice, 64));
    case 1:
        return number(dice);
    case 2:
        return (uint64_t)strcpy((char *)room + at, names[roll(dice, sizeof names / sizeof *names)]);
    default:
        for (int i = 0; i < 16; i++) {
            uint64_t value = roll(dice, 3) ? number(dice) : (uint64_t)(room + (roll(dice, ROOM - 512) & ~7ull));
            memcpy(room + at + 8 * i, &value, 8);
        }
        return (uint64_t)(room + at);
    }
}

static uint64_t argument(struct dice *dice)
{
    switch (roll(dice, 8)) {
    case 0:
    case 1:
        return roll(dice, 12); /* a descriptor */
    case 2:
        return answers[roll(dice, 16)];
    case 3:
        return number(dice);
    case 4:
        return (uint64_t)names[roll(dice, sizeof names / sizeof *names)];
    default:
        return pointer(dice);
    }
}

static void *make_calls(void *seed)
{
    struct dice dice = { (uint64_t)seed };
    for (int i = 0; i < CALLS; i++) {
        uint64_t a[6], n = roll(&dice, 470);
        for (int k = 0; k < 6; k++)
            a[k] = argument(&dice);
        /* What would end the round at once, or its memory; the parent is not to be hit either. */
        if (n == SYS_exit || n == SYS_exit_group || n == SYS_rt_sigreturn || n == SYS_execve || n == SYS_execveat)
            continue;
        if (n == SYS_fork || n == SYS_vfork || n == SYS_clone || n == SYS_clone3) {
            if (roll(&dice, 8) || fork())
                continue;
            i = CALLS / 2;
            continue;
        }
        if ((n == SYS_munmap || n == SYS_mprotect || n == SYS_mremap || n == SYS_mmap || n == SYS_brk) && roll(&dice, 8))
            a[0] = (uint64_t)room + (roll(&dice, 16) << 12), a[1] = roll(&dice, 4) << 12;
        if (n == SYS_ptrace && (pid_t)a[1] == parent)
            a[1] = getpid();
        if (n == SYS_kill || n == SYS_tkill || n == SYS_rt_sigqueueinfo)
            a[0] = getpid(), a[1] = roll(&dice, 8) ? 0 : a[1];
        answers[roll(&dice, 16)] = syscall(n, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    return NULL;
}

static void round_of(uint64_t seed)
{
    pthread_t other;
    setpgid(0, 0);
    room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(room + ROOM, 4096, PROT_NONE);
    pthread_create(&other, NULL, make_calls, (void *)(seed * 3 + 1));
    make_calls((void *)(seed * 5 + 2));
    _exit(0);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, rounds = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    struct timespec while_it_lasts = { 0, 50 * 1000 * 1000 };
    int ended = 0, killed = 0;
    parent = getpid();
    signal(SIGHUP, SIG_IGN);
    for (uint64_t i = 0; i < rounds; i++) {
        int status;
        pid_t pid = fork(), got;
        if (!pid)
            round_of((seed * 0x9e3779b97f4a7c15ull) ^ (i * 0xbf58476d1ce4e5b9ull + 1));
        nanosleep(&while_it_lasts, NULL);
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL);
        /* Threads that had themselves traced end for this process too, and before their own. */
        do
            got = waitpid(-1, &status, __WALL);
        while (got > 0 && (got != pid || WIFSTOPPED(status)));
        *(WIFEXITED(status) ? &ended : &killed) += 1;
    }
    dprintf(2, "%d ended, %d killed\n", ended, killed);
    return 0;
}
