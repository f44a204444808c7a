/* Single instructions that may fault: where each is and where it goes on, and what its handler saw. */
#ifndef FAULTING_H
#define FAULTING_H
#include "guest.h"
#include <ucontext.h>

static volatile int sig, code;
static volatile long trap, error;
static void *volatile addr;
static volatile unsigned long rip;
/* Set in front of the instruction: its address, and where the handler returns to. */
unsigned long resume __attribute__((used)), at __attribute__((used));

/* The first work of a handler. */
static inline ucontext_t *note_fault(int s, siginfo_t *i, void *c)
{
    ucontext_t *u = c;
    sig = s, code = i->si_code, addr = i->si_addr;
    trap = u->uc_mcontext.gregs[REG_TRAPNO];
    error = u->uc_mcontext.gregs[REG_ERR];
    rip = u->uc_mcontext.gregs[REG_RIP];
    u->uc_mcontext.gregs[REG_RIP] = resume;
    return u;
}

/* Takes the signals of all faults on a stack of their own. */
static inline void take_faults(void (*handler)(int, siginfo_t *, void *))
{
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    const int all[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        sigaction(all[i], &sa, NULL);
}

#endif
