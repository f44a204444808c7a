// covers: futex futex_waitv
// flags: -pthread
/* The operations of futex(2) between threads: who is woken, in which order, and how many. */
#include "guest.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static uint32_t words[8];
static int order[8], woken;

struct wait {
    uint32_t *word;
    int op;
    uint32_t value, bitset;
    struct timespec *timeout;
    long result;
    int place;
    pthread_t thread;
    volatile int tid;
};

static void *wait_(void *arg)
{
    struct wait *wait = arg;
    wait->tid = (int)S(gettid);
    wait->result = S(futex, wait->word, wait->op, wait->value, wait->timeout, 0, wait->bitset);
    wait->place = __atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Lets a thread run until it sleeps in a call. */
static void until_asleep(volatile int *tid)
{
    char path[64], state = 0;
    while (!*tid)
        usleep(1000);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", *tid);
    for (int i = 0; i < 2000 && state != 'S'; i++) {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (file)
            fclose(file);
        if (state != 'S')
            usleep(1000);
    }
}

static void start(struct wait *wait)
{
    wait->tid = 0;
    pthread_create(&wait->thread, NULL, wait_, wait);
    until_asleep(&wait->tid);
}

static void join(const char *what, struct wait *wait)
{
    pthread_join(wait->thread, NULL);
    show(what, wait->result);
}

#define WAIT(word_) {.word = (word_), .op = FUTEX_WAIT | FUTEX_PRIVATE_FLAG}

static void *waitv(void *arg)
{
    struct wait *wait = arg;
    struct futex_waitv list[3];
    memset(list, 0, sizeof list);
    for (int i = 0; i < 3; i++) {
        list[i].uaddr = (uintptr_t)&words[4 + i];
        list[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
    }
    wait->tid = (int)S(gettid);
    wait->result = S(futex_waitv, list, 3, 0, 0, 0);
    return NULL;
}

int main(void)
{
    int private = FUTEX_PRIVATE_FLAG;
    show("wake nobody", S(futex, words, FUTEX_WAKE | private, 1));

    struct wait three[3] = {WAIT(words), WAIT(words), WAIT(words)};
    for (int i = 0; i < 3; i++)
        start(&three[i]);
    show("wake without the flag", S(futex, words, FUTEX_WAKE, 9));
    show("wake another word", S(futex, words + 1, FUTEX_WAKE | private, 9));
    show("wake one", S(futex, words, FUTEX_WAKE | private, 1));
    join("first", &three[0]);
    show("wake 0, which is one", S(futex, words, FUTEX_WAKE | private, 0));
    join("second", &three[1]);
    show("wake many", S(futex, words, FUTEX_WAKE | private, 9));
    join("third", &three[2]);
    printf("in order: %d %d %d\n", three[0].place, three[1].place, three[2].place);

    struct wait bits[3];
    for (int i = 0; i < 3; i++) {
        bits[i] = (struct wait){.word = words, .op = FUTEX_WAIT_BITSET | private, .bitset = 1u << i};
        start(&bits[i]);
    }
    show("no bits", S(futex, words, FUTEX_WAKE_BITSET | private, 9, 0, 0, 0));
    show("other bits", S(futex, words, FUTEX_WAKE_BITSET | private, 9, 0, 0, 8));
    show("bit 1", S(futex, words, FUTEX_WAKE_BITSET | private, 9, 0, 0, 2));
    join("waits for bit 1", &bits[1]);
    show("all bits", S(futex, words, FUTEX_WAKE | private, 9));
    join("waits for bit 0", &bits[0]);
    join("waits for bit 2", &bits[2]);

    struct wait moved[4] = {WAIT(words), WAIT(words), WAIT(words), WAIT(words)};
    for (int i = 0; i < 4; i++)
        start(&moved[i]);
    show("requeue with another value", S(futex, words, FUTEX_CMP_REQUEUE | private, 1, 2, words + 1, 7));
    show("requeue", S(futex, words, FUTEX_CMP_REQUEUE | private, 1, 2, words + 1, 0));
    join("woken", &moved[0]);
    show("those that were moved", S(futex, words + 1, FUTEX_WAKE | private, 1));
    join("moved first", &moved[1]);
    show("requeue back", S(futex, words + 1, FUTEX_REQUEUE | private, 0, 9, words, 0));
    show("both", S(futex, words, FUTEX_WAKE | private, 9));
    join("stayed", &moved[3]);
    join("came back", &moved[2]);

    struct wait pair[2] = {WAIT(words), WAIT(words + 1)};
    for (int i = 0; i < 2; i++)
        start(&pair[i]);
    words[1] = 5;
    show("wake op that is false",
         S(futex, words + 2, FUTEX_WAKE_OP | private, 1, 1, words + 1, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 6)));
    show("wake op that is true",
         S(futex, words, FUTEX_WAKE_OP | private, 1, 1, words + 1, FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_GT, 5)));
    join("first word", &pair[0]);
    join("second word", &pair[1]);
    show("its value", words[1]);

    struct timespec time = {0, 30 * 1000000};
    struct wait timed = {.word = words, .op = FUTEX_WAIT | private, .timeout = &time};
    start(&timed);
    join("timed", &timed);
    show("wake after the time", S(futex, words, FUTEX_WAKE | private, 1));

    struct wait many = {0};
    pthread_create(&many.thread, NULL, waitv, &many);
    until_asleep(&many.tid);
    show("wake the last of three", S(futex, words + 6, FUTEX_WAKE | private, 1));
    join("futex_waitv", &many);
    words[5] = 1;
    waitv(&many);
    show("futex_waitv of another value", many.result);
    show("futex_waitv of none", S(futex_waitv, 0, 0, 0, 0, 0));
    (void)order;
    return 0;
}
