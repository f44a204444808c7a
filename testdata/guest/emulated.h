/* For programs with `native: skip`, included first: outside of the emulated machine they end before they do anything,
 * so that nobody who tries one by hand sets the clock of their machine. */
#ifndef EMULATED_H
#define EMULATED_H
#include "guest.h"

/* Before any other constructor: priorities up to 100 are the C library's. */
__attribute__((constructor(101))) static void only_in_the_emulated_machine(void)
{
    if (!is_emulated())
        lacks("this program runs in the emulated machine alone: cgemu run");
}
#endif
