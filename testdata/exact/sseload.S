// covers: sse-load sse-store
// Vector loads and stores at every byte of two lines and over the end of a page.
#include "rt.h"
        MEMORY  12288
        START
        REPEAT  150
        lea     mem+4096-75(%r15), %rbx
        movups  (%rbx), %xmm0
        movdqu  %xmm0, 16(%rbx)
        lddqu   1(%rbx), %xmm1
        movupd  %xmm1, 32(%rbx)
        movsd   (%rbx), %xmm2
        movsd   %xmm2, 8(%rbx)
        movss   3(%rbx), %xmm3
        movss   %xmm3, 5(%rbx)
        movd    (%rbx), %xmm4
        movd    %xmm4, 4(%rbx)
        movq    (%rbx), %xmm5
        movq    %xmm5, 7(%rbx)
        movq    %rax, %xmm6
        mov     %r15, %rbx
        and     $15, %ebx
        shl     $4, %ebx
        lea     mem+4000(%rbx), %rbx
        movaps  (%rbx), %xmm0
        movapd  %xmm0, 16(%rbx)
        movdqa  32(%rbx), %xmm7
        movdqa  %xmm7, (%rbx)
        movaps  %xmm7, 48(%rbx)
        ENDREPEAT
        EXIT
