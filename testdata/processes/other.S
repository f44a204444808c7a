// The program that forks.S executes.
#include "../exact/rt.h"
        MEMORY 32768
        START
        REPEAT 150
        mov     %r15, %rax
        shl     $7, %rax
        mov     mem(%rax), %rbx
        ENDREPEAT
        EXIT
