// covers: prctl arch_prctl memfd_create mbind set_mempolicy get_mempolicy brk
#include "guest.h"
#include <asm/prctl.h>
#include <linux/mempolicy.h>
#include <sys/prctl.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#endif

/* Each option with arguments that are good, bad and too many. */
static void option(const char *name, int number, long good)
{
    char what[96];
    long tries[][4] = {{good, 0, 0, 0}, {0, 0, 0, 0},      {1, 0, 0, 0}, {2, 0, 0, 0}, {-1, 0, 0, 0},
                       {99, 0, 0, 0},   {16, 0, 0, 0},     {0, 1, 0, 0}, {1, 1, 0, 0}, {1, 0, 1, 0},
                       {0, 0, 1, 0},    {good, 0, 0, 1},   {0, 0, 0, 1}};
    for (unsigned i = 0; i < sizeof tries / sizeof *tries; i++) {
        sprintf(what, "%s try %u", name, i);
        show(what, S(prctl, number, tries[i][0], tries[i][1], tries[i][2], tries[i][3]));
    }
}

int main(void)
{
    unfiltered();
    long room = 0;
#define O(name, good) option(#name, name, (long)(good))
    O(PR_SET_PDEATHSIG, 15);
    O(PR_GET_PDEATHSIG, &room);
    S(prctl, PR_SET_PDEATHSIG, 64, 0, 0, 0);
    T(prctl, PR_SET_PDEATHSIG, 65, 0, 0, 0);
    S(prctl, PR_GET_PDEATHSIG, &room, 0, 0, 0);
    num((int)room);
    O(PR_SET_DUMPABLE, 1);
    O(PR_GET_DUMPABLE, 0);
    O(PR_SET_TIMING, 0);
    O(PR_GET_TIMING, 0);
    char text[] = "a name that is too long", got[17] = "";
    T(prctl, PR_SET_NAME, text, 1, 1, 1);
    T(prctl, PR_GET_NAME, got, 1, 1, 1);
    printf("%s\n", got);
    T(prctl, PR_SET_NAME, BAD, 0, 0, 0);
    T(prctl, PR_GET_NAME, BAD, 0, 0, 0);
    T(prctl, PR_SET_NAME, "", 0, 0, 0);
    O(PR_GET_TSC, &room);
    T(prctl, PR_SET_TSC, PR_TSC_ENABLE, 1, 1, 1);
    T(prctl, PR_SET_TSC, 0, 0, 0, 0);
    T(prctl, PR_SET_TSC, 3, 0, 0, 0);
    S(prctl, PR_SET_TIMERSLACK, 0, 0, 0, 0);
    T(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    T(prctl, PR_SET_TIMERSLACK, 1234, 0, 0, 0);
    T(prctl, PR_GET_TIMERSLACK, 1, 1, 1, 1);
    T(prctl, PR_SET_TIMERSLACK, 0, 0, 0, 0);
    T(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    O(PR_MCE_KILL_GET, 0);
    O(PR_MCE_KILL, PR_MCE_KILL_CLEAR);
    T(prctl, PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0);
    T(prctl, PR_MCE_KILL_GET, 0, 0, 0, 0);
    T(prctl, PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_LATE, 0, 0);
    T(prctl, PR_MCE_KILL_GET, 0, 0, 0, 0);
    T(prctl, PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_DEFAULT, 0, 0);
    T(prctl, PR_MCE_KILL_GET, 0, 0, 0, 0);
    T(prctl, PR_MCE_KILL, PR_MCE_KILL_SET, 3, 0, 0);
    O(PR_SET_CHILD_SUBREAPER, 1);
    T(prctl, PR_GET_CHILD_SUBREAPER, &room, 0, 0, 0);
    num((int)room);
    T(prctl, PR_GET_CHILD_SUBREAPER, BAD, 0, 0, 0);
    /* Containers may have set it before. */
    S(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    O(PR_GET_NO_NEW_PRIVS, 0);
    O(PR_SET_THP_DISABLE, 1);
    O(PR_GET_THP_DISABLE, 0);
    S(prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
    T(prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0);
    S(prctl, PR_SET_THP_DISABLE, 0, 0, 0, 0);
    O(PR_TASK_PERF_EVENTS_DISABLE, 0);
    O(PR_TASK_PERF_EVENTS_ENABLE, 0);
    O(PR_SET_UNALIGN, 0);
    O(PR_GET_UNALIGN, &room);
    O(PR_SET_FPEMU, 0);
    O(PR_GET_FPEMU, &room);
    O(PR_SET_FPEXC, 0);
    O(PR_GET_FPEXC, &room);
    O(PR_GET_ENDIAN, &room);
    O(PR_SET_ENDIAN, 0);
    O(PR_GET_SECCOMP, 0);
    T(prctl, PR_GET_SPECULATION_CTRL, 99, 0, 0, 0);
    T(prctl, PR_GET_SPECULATION_CTRL, 0, 1, 0, 0);
    T(prctl, PR_SET_SPECULATION_CTRL, 99, PR_SPEC_ENABLE, 0, 0);
    T(prctl, PR_SET_SPECULATION_CTRL, 0, PR_SPEC_ENABLE, 0, 1);
    T(prctl, PR_SET_SPECULATION_CTRL, 1, 99, 0, 0);
    O(PR_GET_TAGGED_ADDR_CTRL, 0);
    O(PR_SVE_GET_VL, 0);
    O(PR_MPX_ENABLE_MANAGEMENT, 0);
    O(PR_PAC_RESET_KEYS, 0);
    T(prctl, 0, 0, 0, 0, 0);
    T(prctl, 12345, 0, 0, 0, 0);
    T(prctl, -1, 0, 0, 0, 0);

    T(arch_prctl, ARCH_GET_FS, &room);
    is(room != 0);
    long fs = room;
    T(arch_prctl, ARCH_GET_FS, BAD);
    T(arch_prctl, ARCH_GET_GS, &room);
    num(room);
    T(arch_prctl, ARCH_SET_GS, 0x1234);
    T(arch_prctl, ARCH_GET_GS, &room);
    num(room);
    T(arch_prctl, ARCH_SET_FS, KERNEL);
    T(arch_prctl, ARCH_SET_FS, fs);
    T(arch_prctl, ARCH_SET_GS, 0);
    T(arch_prctl, 0, 0);
    T(arch_prctl, 0x1005, 0);

    char longest[260];
    memset(longest, 'x', sizeof longest);
    longest[249] = 0;
    OK(memfd_create, longest, 0);
    longest[249] = 'x', longest[250] = 0;
    T(memfd_create, longest, 0);
    T(memfd_create, BAD, 0);
    T(memfd_create, "m", 0x40);
    T(memfd_create, "m", -1);
    OK(memfd_create, "", MFD_CLOEXEC);
    OK(memfd_create, "a/b", MFD_ALLOW_SEALING);

    int mode = 7;
    unsigned long nodes[16] = {0};
    T(get_mempolicy, &mode, nodes, 1024, 0, 0);
    num(mode);
    num(nodes[0]);
    T(get_mempolicy, 0, nodes, 1024, 0, MPOL_F_MEMS_ALLOWED);
    num(nodes[0] & 1);
    T(get_mempolicy, &mode, nodes, 1024, 0, 8);
    T(get_mempolicy, &mode, nodes, 1024, 0, MPOL_F_MEMS_ALLOWED | MPOL_F_NODE);
    T(get_mempolicy, &mode, nodes, 1024, &mode, 0);
    T(get_mempolicy, &mode, nodes, 1024, &mode, MPOL_F_ADDR);
    T(get_mempolicy, &mode, nodes, 1024, BAD, MPOL_F_ADDR);
    T(get_mempolicy, BAD, 0, 0, 0, 0);
    T(set_mempolicy, MPOL_DEFAULT, 0, 0);
    T(set_mempolicy, 99, 0, 0);
    T(set_mempolicy, -1, 0, 0);
    nodes[0] = 1;
    T(set_mempolicy, MPOL_BIND, nodes, 64);
    T(get_mempolicy, &mode, nodes, 1024, 0, 0);
    num(mode);
    num(nodes[0]);
    T(set_mempolicy, MPOL_BIND, 0, 0);
    T(set_mempolicy, MPOL_DEFAULT, nodes, 64);
    T(set_mempolicy, MPOL_PREFERRED, 0, 0);
    T(set_mempolicy, MPOL_LOCAL, 0, 0);
    T(set_mempolicy, MPOL_INTERLEAVE, BAD, 64);
    T(set_mempolicy, MPOL_DEFAULT, 0, 0);
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T(mbind, page, 4096, MPOL_BIND, nodes, 64, 0);
    T(mbind, page, 4096, MPOL_DEFAULT, 0, 0, 0);
    T(mbind, page + 1, 4096, MPOL_DEFAULT, 0, 0, 0);
    T(mbind, page, 4096, 99, 0, 0, 0);
    T(mbind, page, 4096, MPOL_DEFAULT, 0, 0, 8);
    T(mbind, page, 4096, MPOL_BIND, 0, 0, 0);
    T(mbind, page, 0, MPOL_DEFAULT, 0, 0, 0);
    T(mbind, page, -4096, MPOL_DEFAULT, 0, 0, 0);
    S(munmap, page + 4096, 4096);
    T(mbind, page, 4096, MPOL_BIND, BAD, 64, 0);
}
