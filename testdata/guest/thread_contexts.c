// covers: unshare chdir umask clone setresuid setfsuid prctl setpriority close getcwd capset
// flags: -pthread
#include "guest.h"
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

/* What threads have in common and what each may have apart: directories, descriptors, nice values, identities, names. */
static char top[4096];
static pthread_barrier_t step;

static const char *here(void)
{
    static __thread char buf[4096];
    long n = S(getcwd, buf, sizeof buf);
    return n < 0 ? "?" : strlen(buf) == strlen(top) ? "top" : buf + strlen(top) + 1;
}
static void *apart(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&step); /* the directory is still shared */
    printf("thread in %s umask %o\n", here(), umask(077)), S(chdir, "../other"), pthread_barrier_wait(&step), pthread_barrier_wait(&step);
    show("unshare", S(unshare, CLONE_FS)), S(chdir, "/"), umask(0777), pthread_barrier_wait(&step), pthread_barrier_wait(&step);
    printf("thread at / %d, file 20 %s\n", strcmp(here(), "?") != 0, S(fcntl, 20, F_GETFD) < 0 ? "closed" : "open"),
        show("unshare files", S(unshare, CLONE_FILES)), S(close, 20), S(dup2, 1, 21), pthread_barrier_wait(&step), pthread_barrier_wait(&step);
    S(setpriority, PRIO_PROCESS, 0, 9), printf("thread nice %ld\n", 20 - S(getpriority, PRIO_PROCESS, 0)), S(prctl, PR_SET_NAME, "apart"),
        S(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), S(prctl, PR_SET_TIMERSLACK, 12345, 0, 0, 0), S(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0),
        pthread_barrier_wait(&step), pthread_barrier_wait(&step);
    show("a namespace of its own", S(unshare, CLONE_NEWUSER)), show("signal handlers", S(unshare, CLONE_SIGHAND)),
        show("memory", S(unshare, CLONE_VM)), show("threads", S(unshare, CLONE_THREAD)), show("nothing", S(unshare, 0)),
        show("semaphores", S(unshare, CLONE_SYSVSEM));
    return 0;
}

int main(void)
{
    char name[17];
    pthread_t t;
    S(getcwd, top, sizeof top), S(mkdir, "d", 0755), S(mkdir, "other", 0755), umask(022), S(dup2, 1, 20), pthread_barrier_init(&step, 0, 2),
        pthread_create(&t, 0, apart, 0);
    S(chdir, "d"), pthread_barrier_wait(&step), pthread_barrier_wait(&step), printf("main in %s umask %o\n", here(), umask(022)),
        pthread_barrier_wait(&step), pthread_barrier_wait(&step), printf("main in %s umask %o\n", here(), umask(022)), S(chdir, ".."),
        pthread_barrier_wait(&step), pthread_barrier_wait(&step),
        printf("main: file 20 %s, 21 %s\n", S(fcntl, 20, F_GETFD) < 0 ? "closed" : "open", S(fcntl, 21, F_GETFD) < 0 ? "closed" : "open"),
        pthread_barrier_wait(&step), pthread_barrier_wait(&step);
    prctl(PR_GET_NAME, name),
        printf("main nice %ld, other name %d, slack as set there %d, keep %ld\n", 20 - S(getpriority, PRIO_PROCESS, 0), strcmp(name, "apart") != 0,
            S(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0) == 12345, S(prctl, PR_GET_KEEPCAPS)),
        pthread_barrier_wait(&step), pthread_join(t, 0);
    return 0;
}
