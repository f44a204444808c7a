// covers: adjtimex clock_adjtime clock_gettime clock_nanosleep
// native: skip nobody should set the clock of the machine that the tests run on
// expect: adjust.out
// user: root
/* adjtimex(2) as root: what is set is told again, and the clocks follow. */
#include "emulated.h"
#include "cases.h"
#include <sys/timex.h>

static void tell(const char *what, struct timex *t, long result)
{
    show(what, result);
    if (result >= 0)
        printf("  status %#x constant %ld error %ld %ld tick %ld freq %ld offset %ld tai %d\n", t->status, t->constant,
               t->maxerror, t->esterror, t->tick, t->freq, t->offset, t->tai);
}
#define ADJUST(...)                                                          \
    do {                                                                     \
        struct timex t_ = {__VA_ARGS__};                                     \
        long r_ = S(clock_adjtime, CLOCK_REALTIME, &t_);                     \
        tell(#__VA_ARGS__, &t_, r_);                                         \
    } while (0)

static long seconds(int clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec;
}

static void status_and_errors(void)
{
    ADJUST(.modes = 0);
    ADJUST(.modes = ADJ_STATUS, .status = 0);
    ADJUST(.modes = ADJ_STATUS, .status = STA_PLL | STA_FREQHOLD | STA_NANO | STA_CLOCKERR);
    ADJUST(.modes = ADJ_NANO);
    ADJUST(.modes = ADJ_MICRO);
    ADJUST(.modes = ADJ_MAXERROR | ADJ_ESTERROR, .maxerror = 5000, .esterror = 77);
    ADJUST(.modes = ADJ_MAXERROR | ADJ_ESTERROR, .maxerror = -1, .esterror = 99999999);
    ADJUST(.modes = ADJ_TIMECONST, .constant = 3);
    ADJUST(.modes = ADJ_TIMECONST, .constant = 30);
    ADJUST(.modes = ADJ_TIMECONST, .constant = -3);
    ADJUST(.modes = ADJ_STATUS, .status = STA_UNSYNC);
    struct timespec hour = {3600, 0};
    ADJUST(.modes = ADJ_STATUS | ADJ_MAXERROR, .status = 0, .maxerror = 0);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
    ADJUST(.modes = 0);
    hour.tv_sec = 36000;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
    ADJUST(.modes = 0);
}
static void the_time_itself(void)
{
    long real = seconds(CLOCK_REALTIME), steady = seconds(CLOCK_MONOTONIC);
    ADJUST(.modes = ADJ_SETOFFSET, .time = {100, 0});
    num(seconds(CLOCK_REALTIME) - real), num(seconds(CLOCK_MONOTONIC) - steady);
    ADJUST(.modes = ADJ_SETOFFSET | ADJ_NANO, .time = {-101, 999999999});
    num(seconds(CLOCK_REALTIME) - real);
    ADJUST(.modes = ADJ_SETOFFSET, .time = {1, 1000000});
    ADJUST(.modes = ADJ_SETOFFSET, .time = {1, -1});
    ADJUST(.modes = ADJ_SETOFFSET | ADJ_NANO, .time = {1, 1000000000});
    ADJUST(.modes = ADJ_SETOFFSET, .time = {-4000000000, 0});
    ADJUST(.modes = ADJ_SETOFFSET, .time = {1L << 62, 0});
}
static void atomic_time(void)
{
    num(seconds(CLOCK_TAI) - seconds(CLOCK_REALTIME));
    ADJUST(.modes = ADJ_TAI, .constant = 37);
    num(seconds(CLOCK_TAI) - seconds(CLOCK_REALTIME));
    ADJUST(.modes = ADJ_TAI, .constant = -1);
    ADJUST(.modes = ADJ_TAI, .constant = 100001);
    num(seconds(CLOCK_TAI) - seconds(CLOCK_REALTIME));
}
static void another_pace_is_refused(void)
{
    ADJUST(.modes = ADJ_TICK, .tick = 10000);
    ADJUST(.modes = ADJ_TICK, .tick = 10001);
    ADJUST(.modes = ADJ_TICK, .tick = 8999);
    ADJUST(.modes = ADJ_TICK, .tick = 11001);
    ADJUST(.modes = ADJ_FREQUENCY, .freq = 0);
    ADJUST(.modes = ADJ_FREQUENCY, .freq = 65536);
    ADJUST(.modes = ADJ_FREQUENCY, .freq = 1L << 60);
    ADJUST(.modes = ADJ_OFFSET, .offset = 1000);
    ADJUST(.modes = ADJ_OFFSET | ADJ_STATUS, .status = STA_PLL, .offset = 1000);
    ADJUST(.modes = ADJ_OFFSET_SINGLESHOT, .offset = 0);
    ADJUST(.modes = ADJ_OFFSET_SINGLESHOT, .offset = 10);
    ADJUST(.modes = ADJ_OFFSET_SS_READ, .offset = 10);
    ADJUST(.modes = ADJ_STATUS, .status = STA_INS);
}
static void others_may_only_ask(void)
{
    S(setresuid, 1000, 1000, 1000);
    ADJUST(.modes = 0);
    ADJUST(.modes = ADJ_OFFSET_SS_READ);
    ADJUST(.modes = ADJ_STATUS);
    ADJUST(.modes = ADJ_OFFSET_SINGLESHOT);
    ADJUST(.modes = ADJ_SETOFFSET);
    T(adjtimex, BAD), T(clock_adjtime, CLOCK_MONOTONIC, &(struct timex){0}), T(clock_adjtime, 77, &(struct timex){0});
}

int main(void)
{
    CASE(status_and_errors);
    CASE(the_time_itself);
    CASE(atomic_time);
    CASE(another_pace_is_refused);
    CASE(others_may_only_ask);
    return 0;
}
