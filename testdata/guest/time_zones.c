// covers: open read clock_gettime
#include "guest.h"
#include <locale.h>
#include <time.h>

/* Civil time of the C library: zones by rule and by file, the gaps and folds of summer time, formats and their parsing. */
static void zone(const char *tz, long when)
{
    setenv("TZ", tz, 1), tzset();
    time_t t = when;
    struct tm *m = localtime(&t);
    char text[100];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z %Z", m), printf("%s %ld: %s dst %d offset %ld\n", tz, when, text, m->tm_isdst, m->tm_gmtoff);
}
static void back(const char *tz, int year, int month, int day, int hour, int minute, int dst)
{
    setenv("TZ", tz, 1), tzset();
    struct tm m = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour, .tm_min = minute, .tm_isdst = dst};
    long t = mktime(&m);
    printf("%s %d-%d-%d %d:%02d (%d): %ld is %d-%d-%d %d:%02d dst %d weekday %d day %d\n", tz, year, month, day, hour, minute, dst, t,
        m.tm_year + 1900, m.tm_mon + 1, m.tm_mday, m.tm_hour, m.tm_min, m.tm_isdst, m.tm_wday, m.tm_yday);
}
static void parse(const char *format, const char *text)
{
    struct tm m = {0};
    char *end = strptime(text, format, &m);
    printf("%s of %s: %s %d-%d-%d %d:%d:%d weekday %d\n", format, text, end ? *end ? end : "all" : "no", m.tm_year, m.tm_mon, m.tm_mday, m.tm_hour,
        m.tm_min, m.tm_sec, m.tm_wday);
}

int main(void)
{
    static const char *rules[] = {"UTC0", "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0,M10.5.0/3", "NST3:30NDT2:30,M3.2.0,M11.1.0", "<+0545>-5:45",
        "AEST-10AEDT,M10.1.0,M4.1.0/3", "XYZ5", "J0", "", "nonsense", ":/none/file", "EST5EDT,J60/2,J300/2", "EST5EDT4,59,299"};
    const long times[] = {0, 1711846799, 1711846800, 1730595599, 1730595600, 951782400, 4102444800, -86400, -2208988800};
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        for (unsigned j = 0; j < sizeof times / sizeof *times; j++)
            zone(rules[i], times[j]);
    const char *cet = "CET-1CEST,M3.5.0,M10.5.0/3";
    back(cet, 2024, 3, 31, 2, 30, -1), back(cet, 2024, 3, 31, 2, 30, 0), back(cet, 2024, 3, 31, 2, 30, 1), back(cet, 2024, 10, 27, 2, 30, 0),
        back(cet, 2024, 10, 27, 2, 30, 1), back(cet, 2024, 13, 32, 25, 61, -1), back(cet, 2023, 2, 29, 0, 0, -1), back(cet, 2024, 0, 0, 0, 0, -1),
        back("UTC0", 1900, 2, 29, 0, 0, 0), back("UTC0", 1969, 12, 31, 23, 59, 0), back("UTC0", 2038, 1, 19, 3, 14, 0),
        back("UTC0", 9999, 12, 31, 23, 59, 0);
    setenv("TZ", "UTC0", 1), tzset();
    time_t t = 1709210096;
    struct tm *m = gmtime(&t);
    char text[300];
    size_t n = strftime(text, sizeof text,
        "%a %A %b %B %c %C %d %D %e %F %g %G %H %I %j %m %M %n %p %r %R %S %t %T %u %U %V %w %W %x %X %y %Y %z %Z %% %s %k %l %P %h %Oy %-d %_m %010Y %^a %#Z",
        m);
    printf("%zu %s\n", n, text), num(strftime(text, 5, "%Y-%m", m)), printf("%s%s", asctime(m), ctime(&t)), num(timegm(m) == t),
        num(difftime(t, t - 90) == 90), is(gmtime(&(time_t){1l << 60}) == NULL && errno == EOVERFLOW), is(setlocale(LC_TIME, "none_NONE") == NULL),
        printf("%s\n", setlocale(LC_ALL, "C"));
    parse("%Y-%m-%d %H:%M:%S", "2024-02-29 12:34:56"), parse("%d %b %Y", "1 jan 1999"), parse("%A", "wednesday"), parse("%H:%M", "25:00"),
        parse("%j", "366"), parse("%y", "68"), parse("%y", "69"), parse("%D", "12/31/70 rest"), parse("%s", "86400"), parse("%I:%M %p", "12:30 am"),
        parse("%n%t%d", "  \t 7"), parse("x%d", "y7"), parse("%T", "1:2:3"), parse("%", "x");
    return 0;
}
