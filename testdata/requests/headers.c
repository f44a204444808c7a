/* Requests by the macros of Valgrind's own headers. Everything printed is the same under Valgrind. */
#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>
#include <valgrind/valgrind.h>

#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-zero-length"
#define P(...) printf("%d\n", VALGRIND_PRINTF(__VA_ARGS__))
#define ASK(code, a) ((long)VALGRIND_DO_CLIENT_REQUEST_EXPR(77, (code), (a), 2, 3, 4, 5))

static long calls;

static long none(int thread)
{
    calls++;
    return 40 + thread;
}

static double half = 0.5;

static long sum(int thread, long a, long b, long c)
{
    /* No library: under Valgrind it would find Valgrind's own thread. Vector registers are used, and must be the caller's
       again. */
    half = half * (double)(a + b + c) - 2.5;
    calls++;
    return a + 10 * b + 100 * c;
}

static __attribute__((noinline)) void deep(int depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        VALGRIND_PRINTF_BACKTRACE("from %s\n", "below");
    __asm__ volatile("");
}

int main(void)
{
    printf("running %d\n", (int)RUNNING_ON_VALGRIND);
    P("hello\n");
    P("");
    P("\n");
    P("one\n\ntwo\nthree\n");
    P("half a line, ");
    P("the rest\n");
    P("%d %d %u %ld %lld %lu %llu\n", -5, 2147483647, 4000000000u, -1l, -2ll, ~0ul, ~0ull);
    P("%x %X %lx %p %p %zu\n", 0xbeef, 0xbeef, ~0ul, (void *)0x1234abcd, (void *)0, (size_t)7);
    P("%5d|%-5d|%05d|%*d|%-8x|%8p|\n", 42, 42, -42, 6, 42, 0xab, (void *)4);
    P("%*d|%.3d|%10.4d|\n", -6, 42, 5, 12);
    P("%s|%8s|%-8s|%2s|%.2s|%.*s|\n", "text", "abc", "abc", "abcdef", "abcdef", 2, "xyz");
    P("%s|%10s|%S|%ps|%pS|\n", (char *)0, (char *)0, "<a&b>", "<a>", "<a&b>");
    P("%c%c%%|%5c|\n", 'a', 'b', 'c');
    P("%'d|%,d|%'u|%,d|\n", 1234567, 123, 1000u, -1234567);
    P("%#x %#X %#lx\n", 255, 255, 255l);
    P("%f %.2f|%10.2f|%-10.1f|%.0f %.20f\n", 3.25, 3.256, 2.25, 3.0, 0.6, 1.0 / 3);
    P("%f %f %f %f\n", -0.001, 1e19, 0.9999999, -2.5);
    P("%i %e %g %hd %+d|% d|%n|%q|%", 1, 2.0, 3.0, 4, 5, 6, &calls, 7);
    P("\ntab\tbell\a escape\033[1m \xc3\xa9 \xff\n");
    P("%d %s %d %s %d %s %d %s %f %f %d\n", 1, "a", 2, "b", 3, "c", 4, "d", 1.5, 2.5, 5);
    P("%f %f %f %f %f %f %f %f %f %d\n", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10);
    P("%5%|%l|\n");
    deep(2);

    printf("errors %d\n", (int)VALGRIND_COUNT_ERRORS);
    printf("calls %ld", (long)VALGRIND_NON_SIMD_CALL0(none));
    printf(" %ld", (long)VALGRIND_NON_SIMD_CALL3(sum, 1, 2, 3));
    printf(" %ld\n", calls);
    printf("no function %ld %ld\n", ASK(0x1101, 0), ASK(0x1104, 0));

    char place[64];
    memset(place, 'x', sizeof place);
    VALGRIND_MAP_IP_TO_SRCLOC((char *)deep + 1, place);
    int zeros = 0;
    for (int i = 0; i < 64; i++)
        zeros += place[i] == 0;
    printf("deep is at %s, %d zeros\n", place, zeros);
    VALGRIND_MAP_IP_TO_SRCLOC((char *)16, place);
    printf("nothing is at '%s'\n", place);

    for (int i = 0; i < 3; i++)
        printf("stack %d\n", (int)VALGRIND_STACK_REGISTER(place, place + 64));
    VALGRIND_STACK_CHANGE(1, place, place + 32);
    VALGRIND_STACK_DEREGISTER(1);
    printf("stack %d\n", (int)VALGRIND_STACK_REGISTER(place, place + 64));
    printf("monitor %d\n", (int)VALGRIND_MONITOR_COMMAND("no such command"));

    VALGRIND_DISCARD_TRANSLATIONS(main, 64);
    VALGRIND_MALLOCLIKE_BLOCK(place, 64, 0, 0);
    VALGRIND_RESIZEINPLACE_BLOCK(place, 64, 32, 0);
    VALGRIND_FREELIKE_BLOCK(place, 0);
    VALGRIND_CREATE_MEMPOOL(place, 0, 0);
    VALGRIND_MEMPOOL_ALLOC(place, place, 8);
    printf("pool %d\n", (int)VALGRIND_MEMPOOL_EXISTS(place));
    VALGRIND_DESTROY_MEMPOOL(place);
    VALGRIND_DISABLE_ERROR_REPORTING;
    VALGRIND_ENABLE_ERROR_REPORTING;
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_ZERO_STATS;
    CALLGRIND_DUMP_STATS_AT("here");

    static const long codes[] = {0x1002, 0x1301, 0x1302, 0x130b, 0x1303, 0x130a, 0x1502, 0x1503,
                                 0x1902, 0x9999, 0x54430000, 0x43540000, 0x43540003, 0x1fff};
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
        printf("%lx answers %ld and %ld\n", codes[i], ASK(codes[i], 0), ASK(codes[i], 16));
    return 0;
}
