// covers: rep-lods
// REP LODS loads RCX times; Valgrind ignores the prefix and loads once. No branch follows, whose history would differ.
#include "rt.h"
        MEMORY  4096, 7
        .data
nine:   .quad   9
        START
        lea     mem+60(%rip), %rsi
        mov     nine(%rip), %rcx
        rep lodsb       //~arch rep-lods Ir 9 Dr 8 Bc 10: nine loads and ten tests of RCX instead of one load
        lea     mem+60(%rip), %rsi
        mov     nine(%rip), %rcx
        rep lodsq       //~arch rep-lods Ir 9 Dr 8 Bc 10: nine loads and ten tests of RCX instead of one load
        EXIT
