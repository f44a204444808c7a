// covers: rep-lods
// REP LODS loads RCX times; Valgrind ignores the prefix and loads once. No branch follows, whose history would differ.
#include "rt.h"
        MEMORY  4096, 7
        .data
nine:   .quad   9
        START
        lea     mem+60(%rip), %rsi
        mov     nine(%rip), %rcx
        rep lodsb       //~valgrind rep-lods Ir 9 Dr 8 Bc 10: so here //~arch rep-lods Ir 9 Dr 8 Bc 10: nine loads and ten tests of RCX
        lea     mem+60(%rip), %rsi
        mov     nine(%rip), %rcx //~valgrind rep-lods Dr 1: without tests of RCX the first load is dead to Valgrind
        rep lodsq       //~valgrind rep-lods Ir 9 Bc 10: this one is dead to both //~arch rep-lods Ir 9 Dr 8 Bc 10: as above
        EXIT
