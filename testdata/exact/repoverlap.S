// covers: rep-movs string-many string-down
// REP MOVS whose source and destination overlap, both ways; every width; the second reads what the first wrote.
#include "rt.h"
        MEMORY  8192, 0x20
        .data
count:  .quad   77
        START
        REPEAT  6
        .irp    width, b, w, l, q
        cld
        lea     mem+100(%rip), %rsi
        lea     1(%rsi), %rdi
        mov     count(%rip), %rcx
        rep movs\width
        lea     mem+100(%rip), %rdi
        lea     9(%rdi), %rsi
        mov     count(%rip), %rcx
        rep movs\width
        std
        lea     mem+5000(%rip), %rsi
        lea     -1(%rsi), %rdi
        mov     count(%rip), %rcx
        rep movs\width
        lea     mem+5000(%rip), %rdi
        lea     -13(%rdi), %rsi
        mov     count(%rip), %rcx
        rep movs\width
        cld
        .endr
        ENDREPEAT
        EXIT
