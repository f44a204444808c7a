// covers: uname sysinfo getrusage times getcpu kcmp
#include "guest.h"
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>

int main(void)
{
    static const long whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD, 2, -2, 1000};
    struct rusage usage;
    for (unsigned i = 0; i < sizeof whose / sizeof *whose; i++) {
        printf("%ld: ", whose[i]);
        T(getrusage, whose[i], &usage);
        T(getrusage, whose[i], BAD);
        T(getrusage, whose[i], KERNEL);
    }
    struct utsname name;
    T(uname, &name);
    is(strcmp(name.sysname, "Linux") == 0 && strcmp(name.machine, "x86_64") == 0);
    T(uname, BAD);
    T(uname, (char *)KERNEL);
    struct sysinfo info;
    T(sysinfo, &info);
    is(info.totalram >= info.freeram && info.mem_unit >= 1 && info.procs >= 1);
    T(sysinfo, BAD);
    struct tms spent;
    OK(times, &spent);
    OK(times, NULL);
    T(times, BAD);
    unsigned cpu = 9999, node = 9999;
    T(getcpu, &cpu, &node, NULL);
    is(cpu != 9999 && node != 9999);
    T(getcpu, NULL, NULL, NULL);
    T(getcpu, NULL, NULL, BAD); /* not looked at */
    T(getcpu, BAD, NULL, NULL);
    T(getcpu, NULL, BAD, NULL);
    T(kcmp, getpid(), getpid(), 0, 0, 0);
    T(kcmp, getpid(), getpid(), 0, 77, 0);
    T(kcmp, getpid(), getpid(), 1, 0, 0);
    T(kcmp, getpid(), getpid(), 99, 0, 0);
    struct { unsigned efd, tfd, toff; } slot = {S(epoll_create1, 0), 40, 0};
    int pipe[2];
    struct { unsigned events; char data[8]; } __attribute__((packed)) event = {1};
    S(pipe2, pipe, 0), S(dup2, pipe[0], 40), S(epoll_ctl, slot.efd, 1, 40, &event);
    T(kcmp, getpid(), getpid(), 7, pipe[0], &slot), T(kcmp, getpid(), getpid(), 7, 40, &slot);
    is(S(kcmp, getpid(), getpid(), 7, pipe[1], &slot) > 0);
    T(kcmp, getpid(), getpid(), 7, 99, &slot), T(kcmp, getpid(), getpid(), 7, 40, BAD);
    slot.toff = 1, T(kcmp, getpid(), getpid(), 7, 40, &slot), slot.toff = 0, slot.tfd = 41;
    T(kcmp, getpid(), getpid(), 7, 40, &slot), slot.efd = 40, T(kcmp, getpid(), getpid(), 7, 40, &slot);
    slot.efd = 99, T(kcmp, getpid(), getpid(), 7, 40, &slot);
    T(kcmp, 0x7ffffff0, getpid(), 0, 0, 0);
    return 0;
}
