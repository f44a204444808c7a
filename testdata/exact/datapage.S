// covers: data-line data-page modify
// Loads, stores and modifies of every width over the ends of lines and pages, from every byte.
#include "rt.h"
        MEMORY  16384
        START
        movdqu  mem(%rip), %xmm0
        REPEAT  90
        .irp    page, 4016, 8112
        lea     mem+\page(%r15), %rbx
        addw    %ax, (%rbx)
        addl    %eax, (%rbx)
        addq    %rax, (%rbx)
        mov     (%rbx), %rdx
        mov     %rdx, (%rbx)
        movdqu  (%rbx), %xmm1
        movdqu  %xmm1, (%rbx)
        fildll  (%rbx)
        fistpll (%rbx)
        notb    (%rbx)
        shlq    (%rbx)
        .endr
        ENDREPEAT
        EXIT
