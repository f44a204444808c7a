// covers: movs movs-same rep-movs
// MOVS from a place to itself: a load and a store. Valgrind sees one modify where RSI was copied to RDI, or both from
// one register, in the superblock at hand; not where the registers merely happen to be equal.
#include "rt.h"
        MEMORY  8192
        .data
count:  .quad   33
here:   .quad   mem+60
        START
        REPEAT  30
        mov     here(%rip), %rsi
        mov     here(%rip), %rdi
        .irp    width, b, w, l, q
        movs\width
        .endr
        lea     mem+60(%rip), %rsi
        mov     %rsi, %rdi
        movsq           //~arch movs-same Dw 30: RDI is a copy of RSI in the same superblock
        mov     %rdi, %rsi
        movsb           //~arch movs-same Dw 30: RSI is a copy of RDI in the same superblock
        lea     mem+4000(%rip), %rdi
        mov     %rdi, %rsi
        mov     count(%rip), %rcx
        rep movsl       //~arch movs-same Dw 30: the first round is in the superblock of the copy, the others are not
        ENDREPEAT
        EXIT
