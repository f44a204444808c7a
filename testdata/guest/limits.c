// covers: getrlimit setrlimit prlimit64
#include "guest.h"

int main(void)
{
    struct rlimit l, m;
    T(getrlimit, RLIMIT_STACK, &l);
    is(l.rlim_cur <= l.rlim_max);
    T(getrlimit, 16, &l);
    T(getrlimit, -1, &l);
    T(getrlimit, RLIMIT_STACK, BAD);
    l = (struct rlimit){100, 200};
    T(setrlimit, RLIMIT_NOFILE, &l);
    T(getrlimit, RLIMIT_NOFILE, &m);
    printf("%ld %ld\n", (long)m.rlim_cur, (long)m.rlim_max);
    l = (struct rlimit){300, 200};
    T(setrlimit, RLIMIT_NOFILE, &l);
    T(setrlimit, RLIMIT_NOFILE, BAD);
    T(setrlimit, 16, &m);
    l = (struct rlimit){50, 150};
    T(prlimit64, 0, RLIMIT_NOFILE, &l, &m);
    printf("%ld %ld\n", (long)m.rlim_cur, (long)m.rlim_max);
    is(S(prlimit64, S(getpid), RLIMIT_NOFILE, NULL, &m) == 0);
    printf("%ld %ld\n", (long)m.rlim_cur, (long)m.rlim_max);
    T(prlimit64, 0x7ffffff0, RLIMIT_NOFILE, NULL, &m);
    T(prlimit64, 0, 99, NULL, &m);
    T(prlimit64, 0, RLIMIT_NOFILE, BAD, NULL);
    T(prlimit64, 0, RLIMIT_NOFILE, NULL, BAD);
    T(prlimit64, 0, RLIMIT_NOFILE, NULL, NULL);
    T(dup2, 0, 49);
    T(dup2, 0, 50);
    T(fcntl, 0, F_DUPFD, 50);
    l = (struct rlimit){10, 10};
    T(setrlimit, RLIMIT_FSIZE, &l);
    l = (struct rlimit){20, 20};
    long r = S(setrlimit, RLIMIT_FSIZE, &l);
    is(r == (getuid() == 0 ? 0 : -EPERM) || r == -EPERM);
    return 0;
}
