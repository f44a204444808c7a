// covers: rt_sigaction
// native: skip under some hypervisors INT1 leaves RIP where it was, and the handler returns to it for ever
// expect: icebp.out
/* INT1 (ICEBP): #DB behind the instruction, without a single step. */
#include "emulated.h"
#include <ucontext.h>

extern char behind[];

static void handler(int sig, siginfo_t *info, void *context)
{
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    printf("signal %d code %d trap %lld error %lld behind %d %d\n", sig, info->si_code,
           (long long)machine->gregs[REG_TRAPNO], (long long)machine->gregs[REG_ERR], info->si_addr == behind,
           machine->gregs[REG_RIP] == (greg_t)behind);
}

int main(void)
{
    struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &act, NULL);
    __asm__ volatile(".byte 0xf1\nbehind:");
    printf("went on\n");
    return 0;
}
