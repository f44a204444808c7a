// covers: kill tgkill rt_sigtimedwait rt_sigprocmask
// flags: -pthread
/* Threads of a process that a signal is sent to, and which of them takes it. */
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>

static volatile int taker;
static sem_t go, done;

static void handler(int signo)
{
    (void)signo;
    taker = (int)S(gettid);
}

static void *other(void *arg)
{
    int pid = getpid();
    sem_wait(&go);
    usleep(200000); /* the first thread pauses */
    show("kill", S(kill, pid, SIGUSR1));
    usleep(200000);
    show("another thread's signal is taken here", taker == gettid());
    sem_post(&done);

    sem_wait(&go);
    taker = 0;
    show("kill while the first thread blocks it", S(kill, pid, SIGUSR1));
    show("taken here", taker == gettid());
    sem_post(&done);

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_wait(&go);
    usleep(200000); /* the first thread waits for it */
    S(kill, pid, SIGUSR1);
    sem_post(&done);
    return arg;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    sem_post(&go);
    long paused = S(pause);
    int taken = taker == getpid();
    while (sem_wait(&done))
        ;
    show("pause", paused);
    show("taken by the first thread", taken);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_post(&go);
    sem_wait(&done);
    sem_post(&go);
    int signo = 0;
    show("sigwait", sigwait(&set, &signo));
    show("its signal", signo);
    sem_wait(&done);
    pthread_join(thread, NULL);
    return 0;
}
