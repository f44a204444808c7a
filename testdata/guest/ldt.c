// covers: modify_ldt
// native: skip modify_ldt(2) is an option of the kernel, CONFIG_MODIFY_LDT_SYSCALL
// expect: ldt.out
#include "emulated.h"
#include <asm/ldt.h>
#include <sys/wait.h>

/* A local descriptor table whose entries are empty. */
static char table[1 << 17];

static void writes(const char *what, int function, struct user_desc entry)
{
    show(what, S(modify_ldt, function, &entry, sizeof entry));
}
static void reads(void)
{
    memset(table, 1, sizeof table);
    long n = S(modify_ldt, 0, table, sizeof table);
    num(n), num(n ? table[0] + table[n - 1] : -1), num(table[n]);
}

int main(void)
{
    struct user_desc empty = {.read_exec_only = 1, .seg_not_present = 1}, all = {.contents = 3, .seg_32bit = 1};
    reads();
    memset(table, 1, sizeof table), T(modify_ldt, 2, table, 8), num(table[7]), num(table[8]);
    T(modify_ldt, 2, table, sizeof table), num(table[127]), num(table[128]);
    T(modify_ldt, 2, BAD, 8), T(modify_ldt, 0, BAD, 8), T(modify_ldt, 3, table, 8), T(modify_ldt, -1, table, 8);
    T(modify_ldt, 1, &empty, 15), T(modify_ldt, 0x11, &empty, 17), T(modify_ldt, 1, BAD, 16), T(modify_ldt, 0x11, BAD, 16);
    writes("contents", 1, all), writes("contents", 0x11, all);
    empty.entry_number = 8192, writes("number", 1, empty), writes("number", 0x11, empty);
    empty.entry_number = 2, writes("clear", 0x11, empty), reads();
    writes("clear", 1, (struct user_desc){.entry_number = 8191, .seg_32bit = 1}), reads(), T(modify_ldt, 0, table, 3), T(modify_ldt, 0, BAD, 8), T(modify_ldt, 0, table, 0);
    fflush(stdout);
    if (!fork()) {
        reads(), fflush(stdout);
        _exit(0);
    }
    wait(0);
    return 0;
}
