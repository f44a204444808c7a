/* Threads with policies of sched(7) on one processor: each case prints in which order they get on. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURNS 3 /* default quanta of work */

static char line[4096];
static pthread_mutex_t lock;
static volatile int stop, held;
static volatile unsigned long count[4];

static void say(const char *what)
{
    strcat(line, what), strcat(line, " ");
}

static void spin(int turns)
{
    for (volatile int i = 0; i < turns * 25000; i++)
        ;
}

static void policy(int number, int priority)
{
    struct sched_param param = {priority};
    if (sched_setscheduler(0, number, &param))
        perror("sched_setscheduler"), exit(1);
}

static pthread_t start(void *(*f)(void *), void *arg, int number, int priority)
{
    pthread_attr_t attr;
    struct sched_param param = {priority};
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, number);
    pthread_attr_setschedparam(&attr, &param);
    if (pthread_create(&thread, &attr, f, arg))
        printf("pthread_create failed\n"), exit(1);
    return thread;
}

static void *work(void *name)
{
    for (int i = 0; i < 2; i++) {
        say(name);
        spin(TURNS);
    }
    return NULL;
}

static void *yields(void *name)
{
    for (int i = 0; i < 2; i++) {
        say(name);
        sched_yield();
    }
    return NULL;
}

static void *naps(void *name)
{
    nanosleep(&(struct timespec){0, 100000}, NULL);
    say(name);
    return NULL;
}

static void *holds(void *name)
{
    (void)name;
    pthread_mutex_lock(&lock);
    say("low-has-it");
    held = 1;
    while (held == 1)
        ; /* until the others are there */
    spin(TURNS);
    say("low-gives-it");
    pthread_mutex_unlock(&lock);
    say("low");
    return NULL;
}

static void *wants(void *name)
{
    pthread_mutex_lock(&lock);
    say(name);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void inversion(int protocol)
{
    pthread_mutexattr_t attr;
    pthread_t threads[3];
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, protocol);
    pthread_mutex_init(&lock, &attr);
    policy(SCHED_FIFO, 50);
    threads[0] = start(holds, NULL, SCHED_FIFO, 1);
    while (!held)
        nanosleep(&(struct timespec){0, 1000}, NULL);
    threads[1] = start(wants, "high", SCHED_FIFO, 30);
    threads[2] = start(work, "middle", SCHED_FIFO, 20);
    held = 2;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void *counts(void *arg)
{
    long which = (long)arg;
    if (which == 1 && setpriority(PRIO_PROCESS, syscall(SYS_gettid), 5))
        perror("setpriority");
    if (which == 2)
        policy(SCHED_BATCH, 0);
    if (which == 3)
        policy(SCHED_IDLE, 0);
    while (!stop)
        count[which]++;
    return NULL;
}

int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    pthread_t threads[4];
    int n = 0;
    if (!strcmp(what, "fifo")) {
        policy(SCHED_FIFO, 10);
        threads[n++] = start(work, "other", SCHED_OTHER, 0);
        threads[n++] = start(work, "a5", SCHED_FIFO, 5);
        threads[n++] = start(work, "b5", SCHED_FIFO, 5);
        say("main");
        threads[n++] = start(work, "c20", SCHED_FIFO, 20);
        say("main");
    } else if (!strcmp(what, "rr")) {
        policy(SCHED_FIFO, 10);
        threads[n++] = start(work, "a", SCHED_RR, 5);
        threads[n++] = start(work, "b", SCHED_RR, 5);
    } else if (!strcmp(what, "yield")) {
        policy(SCHED_FIFO, 10);
        threads[n++] = start(work, "low", SCHED_FIFO, 4);
        threads[n++] = start(yields, "a", SCHED_FIFO, 5);
        threads[n++] = start(yields, "b", SCHED_FIFO, 5);
    } else if (!strcmp(what, "timer")) {
        policy(SCHED_FIFO, 10);
        threads[n++] = start(naps, "woken", SCHED_FIFO, 6);
        threads[n++] = start(work, "a5", SCHED_FIFO, 5);
    } else if (!strcmp(what, "inherit")) {
        inversion(PTHREAD_PRIO_INHERIT);
    } else if (!strcmp(what, "none")) {
        inversion(PTHREAD_PRIO_NONE);
    } else if (!strcmp(what, "lowered")) {
        policy(SCHED_FIFO, 10);
        threads[n++] = start(work, "a5", SCHED_FIFO, 5);
        threads[n++] = start(work, "b7", SCHED_FIFO, 7);
        struct sched_param param = {5};
        pthread_setschedparam(threads[1], SCHED_FIFO, &param);
    } else if (!strcmp(what, "shares")) {
        for (long i = 0; i < 4; i++)
            pthread_create(&threads[n++], NULL, counts, (void *)i);
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        stop = 1;
        printf("%lu %lu %lu\n", count[1] * 1000 / count[0], count[2] * 1000 / count[0], count[3] * 1000 / count[0]);
    }
    while (n > 0)
        pthread_join(threads[--n], NULL);
    puts(line);
    return 0;
}
