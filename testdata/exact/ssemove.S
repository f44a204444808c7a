// covers: sse-load sse-store sse-half sse-element non-temporal prefetch
/* Vector loads and stores of every width, aligned and not, in a line, across lines and across pages; non-temporal stores, prefetches, masks. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   12288, 0xc3

        START
        lea     mem(%rip), %rbx
        REPEAT  12
        movups  (%rbx), %xmm1
        movups  %xmm1, (%rbx)
        movupd  (%rbx), %xmm1
        movupd  %xmm1, (%rbx)
        movdqu  (%rbx), %xmm1
        movdqu  %xmm1, (%rbx)
        lddqu  (%rbx), %xmm1
        movss  (%rbx), %xmm1
        movss  %xmm1, (%rbx)
        movsd  (%rbx), %xmm1
        movsd  %xmm1, (%rbx)
        movd  (%rbx), %xmm1
        movd  %xmm1, (%rbx)
        movq  (%rbx), %xmm1
        movq  %xmm1, (%rbx)
        movlps  (%rbx), %xmm1
        movlps  %xmm1, (%rbx)
        movhps  (%rbx), %xmm1
        movhps  %xmm1, (%rbx)
        movlpd  (%rbx), %xmm1
        movlpd  %xmm1, (%rbx)
        movhpd  (%rbx), %xmm1
        movhpd  %xmm1, (%rbx)
        movq    (%rbx), %mm1
        movd    (%rbx), %mm2
        movq    %mm1, (%rbx)
        movd    %mm2, (%rbx)
        movnti  %rax, (%rbx)
        movnti  %eax, (%rbx)
        movntq  %mm1, (%rbx)
        movddup (%rbx), %xmm3
        pinsrb  $3, (%rbx), %xmm1
        pinsrw  $3, (%rbx), %xmm1
        pinsrd  $1, (%rbx), %xmm1
        pinsrq  $1, (%rbx), %xmm1
        pextrb  $3, %xmm1, (%rbx)
        pextrw  $3, %xmm1, (%rbx)
        pextrd  $1, %xmm1, (%rbx)
        pextrq  $1, %xmm1, (%rbx)
        insertps $0x10, (%rbx), %xmm1
        extractps $2, %xmm1, (%rbx)
        pmovzxbw (%rbx), %xmm2
        pmovsxbw (%rbx), %xmm2
        pmovzxbd (%rbx), %xmm2
        pmovsxbd (%rbx), %xmm2
        pmovzxbq (%rbx), %xmm2
        pmovsxbq (%rbx), %xmm2
        pmovzxwd (%rbx), %xmm2
        pmovsxwd (%rbx), %xmm2
        pmovzxwq (%rbx), %xmm2
        pmovsxwq (%rbx), %xmm2
        pmovzxdq (%rbx), %xmm2
        pmovsxdq (%rbx), %xmm2
        movups  1(%rbx), %xmm1
        movups  %xmm1, 1(%rbx)
        movupd  1(%rbx), %xmm1
        movupd  %xmm1, 1(%rbx)
        movdqu  1(%rbx), %xmm1
        movdqu  %xmm1, 1(%rbx)
        lddqu  1(%rbx), %xmm1
        movss  1(%rbx), %xmm1
        movss  %xmm1, 1(%rbx)
        movsd  1(%rbx), %xmm1
        movsd  %xmm1, 1(%rbx)
        movd  1(%rbx), %xmm1
        movd  %xmm1, 1(%rbx)
        movq  1(%rbx), %xmm1
        movq  %xmm1, 1(%rbx)
        movlps  1(%rbx), %xmm1
        movlps  %xmm1, 1(%rbx)
        movhps  1(%rbx), %xmm1
        movhps  %xmm1, 1(%rbx)
        movlpd  1(%rbx), %xmm1
        movlpd  %xmm1, 1(%rbx)
        movhpd  1(%rbx), %xmm1
        movhpd  %xmm1, 1(%rbx)
        movq    1(%rbx), %mm1
        movd    1(%rbx), %mm2
        movq    %mm1, 1(%rbx)
        movd    %mm2, 1(%rbx)
        movnti  %rax, 1(%rbx)
        movnti  %eax, 1(%rbx)
        movntq  %mm1, 1(%rbx)
        movddup 1(%rbx), %xmm3
        pinsrb  $3, 1(%rbx), %xmm1
        pinsrw  $3, 1(%rbx), %xmm1
        pinsrd  $1, 1(%rbx), %xmm1
        pinsrq  $1, 1(%rbx), %xmm1
        pextrb  $3, %xmm1, 1(%rbx)
        pextrw  $3, %xmm1, 1(%rbx)
        pextrd  $1, %xmm1, 1(%rbx)
        pextrq  $1, %xmm1, 1(%rbx)
        insertps $0x10, 1(%rbx), %xmm1
        extractps $2, %xmm1, 1(%rbx)
        pmovzxbw 1(%rbx), %xmm2
        pmovsxbw 1(%rbx), %xmm2
        pmovzxbd 1(%rbx), %xmm2
        pmovsxbd 1(%rbx), %xmm2
        pmovzxbq 1(%rbx), %xmm2
        pmovsxbq 1(%rbx), %xmm2
        pmovzxwd 1(%rbx), %xmm2
        pmovsxwd 1(%rbx), %xmm2
        pmovzxwq 1(%rbx), %xmm2
        pmovsxwq 1(%rbx), %xmm2
        pmovzxdq 1(%rbx), %xmm2
        pmovsxdq 1(%rbx), %xmm2
        movups  56(%rbx), %xmm1
        movups  %xmm1, 56(%rbx)
        movupd  56(%rbx), %xmm1
        movupd  %xmm1, 56(%rbx)
        movdqu  56(%rbx), %xmm1
        movdqu  %xmm1, 56(%rbx)
        lddqu  56(%rbx), %xmm1
        movss  56(%rbx), %xmm1
        movss  %xmm1, 56(%rbx)
        movsd  56(%rbx), %xmm1
        movsd  %xmm1, 56(%rbx)
        movd  56(%rbx), %xmm1
        movd  %xmm1, 56(%rbx)
        movq  56(%rbx), %xmm1
        movq  %xmm1, 56(%rbx)
        movlps  56(%rbx), %xmm1
        movlps  %xmm1, 56(%rbx)
        movhps  56(%rbx), %xmm1
        movhps  %xmm1, 56(%rbx)
        movlpd  56(%rbx), %xmm1
        movlpd  %xmm1, 56(%rbx)
        movhpd  56(%rbx), %xmm1
        movhpd  %xmm1, 56(%rbx)
        movq    56(%rbx), %mm1
        movd    56(%rbx), %mm2
        movq    %mm1, 56(%rbx)
        movd    %mm2, 56(%rbx)
        movnti  %rax, 56(%rbx)
        movnti  %eax, 56(%rbx)
        movntq  %mm1, 56(%rbx)
        movddup 56(%rbx), %xmm3
        pinsrb  $3, 56(%rbx), %xmm1
        pinsrw  $3, 56(%rbx), %xmm1
        pinsrd  $1, 56(%rbx), %xmm1
        pinsrq  $1, 56(%rbx), %xmm1
        pextrb  $3, %xmm1, 56(%rbx)
        pextrw  $3, %xmm1, 56(%rbx)
        pextrd  $1, %xmm1, 56(%rbx)
        pextrq  $1, %xmm1, 56(%rbx)
        insertps $0x10, 56(%rbx), %xmm1
        extractps $2, %xmm1, 56(%rbx)
        pmovzxbw 56(%rbx), %xmm2
        pmovsxbw 56(%rbx), %xmm2
        pmovzxbd 56(%rbx), %xmm2
        pmovsxbd 56(%rbx), %xmm2
        pmovzxbq 56(%rbx), %xmm2
        pmovsxbq 56(%rbx), %xmm2
        pmovzxwd 56(%rbx), %xmm2
        pmovsxwd 56(%rbx), %xmm2
        pmovzxwq 56(%rbx), %xmm2
        pmovsxwq 56(%rbx), %xmm2
        pmovzxdq 56(%rbx), %xmm2
        pmovsxdq 56(%rbx), %xmm2
        movups  60(%rbx), %xmm1
        movups  %xmm1, 60(%rbx)
        movupd  60(%rbx), %xmm1
        movupd  %xmm1, 60(%rbx)
        movdqu  60(%rbx), %xmm1
        movdqu  %xmm1, 60(%rbx)
        lddqu  60(%rbx), %xmm1
        movss  60(%rbx), %xmm1
        movss  %xmm1, 60(%rbx)
        movsd  60(%rbx), %xmm1
        movsd  %xmm1, 60(%rbx)
        movd  60(%rbx), %xmm1
        movd  %xmm1, 60(%rbx)
        movq  60(%rbx), %xmm1
        movq  %xmm1, 60(%rbx)
        movlps  60(%rbx), %xmm1
        movlps  %xmm1, 60(%rbx)
        movhps  60(%rbx), %xmm1
        movhps  %xmm1, 60(%rbx)
        movlpd  60(%rbx), %xmm1
        movlpd  %xmm1, 60(%rbx)
        movhpd  60(%rbx), %xmm1
        movhpd  %xmm1, 60(%rbx)
        movq    60(%rbx), %mm1
        movd    60(%rbx), %mm2
        movq    %mm1, 60(%rbx)
        movd    %mm2, 60(%rbx)
        movnti  %rax, 60(%rbx)
        movnti  %eax, 60(%rbx)
        movntq  %mm1, 60(%rbx)
        movddup 60(%rbx), %xmm3
        pinsrb  $3, 60(%rbx), %xmm1
        pinsrw  $3, 60(%rbx), %xmm1
        pinsrd  $1, 60(%rbx), %xmm1
        pinsrq  $1, 60(%rbx), %xmm1
        pextrb  $3, %xmm1, 60(%rbx)
        pextrw  $3, %xmm1, 60(%rbx)
        pextrd  $1, %xmm1, 60(%rbx)
        pextrq  $1, %xmm1, 60(%rbx)
        insertps $0x10, 60(%rbx), %xmm1
        extractps $2, %xmm1, 60(%rbx)
        pmovzxbw 60(%rbx), %xmm2
        pmovsxbw 60(%rbx), %xmm2
        pmovzxbd 60(%rbx), %xmm2
        pmovsxbd 60(%rbx), %xmm2
        pmovzxbq 60(%rbx), %xmm2
        pmovsxbq 60(%rbx), %xmm2
        pmovzxwd 60(%rbx), %xmm2
        pmovsxwd 60(%rbx), %xmm2
        pmovzxwq 60(%rbx), %xmm2
        pmovsxwq 60(%rbx), %xmm2
        pmovzxdq 60(%rbx), %xmm2
        pmovsxdq 60(%rbx), %xmm2
        movups  63(%rbx), %xmm1
        movups  %xmm1, 63(%rbx)
        movupd  63(%rbx), %xmm1
        movupd  %xmm1, 63(%rbx)
        movdqu  63(%rbx), %xmm1
        movdqu  %xmm1, 63(%rbx)
        lddqu  63(%rbx), %xmm1
        movss  63(%rbx), %xmm1
        movss  %xmm1, 63(%rbx)
        movsd  63(%rbx), %xmm1
        movsd  %xmm1, 63(%rbx)
        movd  63(%rbx), %xmm1
        movd  %xmm1, 63(%rbx)
        movq  63(%rbx), %xmm1
        movq  %xmm1, 63(%rbx)
        movlps  63(%rbx), %xmm1
        movlps  %xmm1, 63(%rbx)
        movhps  63(%rbx), %xmm1
        movhps  %xmm1, 63(%rbx)
        movlpd  63(%rbx), %xmm1
        movlpd  %xmm1, 63(%rbx)
        movhpd  63(%rbx), %xmm1
        movhpd  %xmm1, 63(%rbx)
        movq    63(%rbx), %mm1
        movd    63(%rbx), %mm2
        movq    %mm1, 63(%rbx)
        movd    %mm2, 63(%rbx)
        movnti  %rax, 63(%rbx)
        movnti  %eax, 63(%rbx)
        movntq  %mm1, 63(%rbx)
        movddup 63(%rbx), %xmm3
        pinsrb  $3, 63(%rbx), %xmm1
        pinsrw  $3, 63(%rbx), %xmm1
        pinsrd  $1, 63(%rbx), %xmm1
        pinsrq  $1, 63(%rbx), %xmm1
        pextrb  $3, %xmm1, 63(%rbx)
        pextrw  $3, %xmm1, 63(%rbx)
        pextrd  $1, %xmm1, 63(%rbx)
        pextrq  $1, %xmm1, 63(%rbx)
        insertps $0x10, 63(%rbx), %xmm1
        extractps $2, %xmm1, 63(%rbx)
        pmovzxbw 63(%rbx), %xmm2
        pmovsxbw 63(%rbx), %xmm2
        pmovzxbd 63(%rbx), %xmm2
        pmovsxbd 63(%rbx), %xmm2
        pmovzxbq 63(%rbx), %xmm2
        pmovsxbq 63(%rbx), %xmm2
        pmovzxwd 63(%rbx), %xmm2
        pmovsxwd 63(%rbx), %xmm2
        pmovzxwq 63(%rbx), %xmm2
        pmovsxwq 63(%rbx), %xmm2
        pmovzxdq 63(%rbx), %xmm2
        pmovsxdq 63(%rbx), %xmm2
        movups  4088(%rbx), %xmm1
        movups  %xmm1, 4088(%rbx)
        movupd  4088(%rbx), %xmm1
        movupd  %xmm1, 4088(%rbx)
        movdqu  4088(%rbx), %xmm1
        movdqu  %xmm1, 4088(%rbx)
        lddqu  4088(%rbx), %xmm1
        movss  4088(%rbx), %xmm1
        movss  %xmm1, 4088(%rbx)
        movsd  4088(%rbx), %xmm1
        movsd  %xmm1, 4088(%rbx)
        movd  4088(%rbx), %xmm1
        movd  %xmm1, 4088(%rbx)
        movq  4088(%rbx), %xmm1
        movq  %xmm1, 4088(%rbx)
        movlps  4088(%rbx), %xmm1
        movlps  %xmm1, 4088(%rbx)
        movhps  4088(%rbx), %xmm1
        movhps  %xmm1, 4088(%rbx)
        movlpd  4088(%rbx), %xmm1
        movlpd  %xmm1, 4088(%rbx)
        movhpd  4088(%rbx), %xmm1
        movhpd  %xmm1, 4088(%rbx)
        movq    4088(%rbx), %mm1
        movd    4088(%rbx), %mm2
        movq    %mm1, 4088(%rbx)
        movd    %mm2, 4088(%rbx)
        movnti  %rax, 4088(%rbx)
        movnti  %eax, 4088(%rbx)
        movntq  %mm1, 4088(%rbx)
        movddup 4088(%rbx), %xmm3
        pinsrb  $3, 4088(%rbx), %xmm1
        pinsrw  $3, 4088(%rbx), %xmm1
        pinsrd  $1, 4088(%rbx), %xmm1
        pinsrq  $1, 4088(%rbx), %xmm1
        pextrb  $3, %xmm1, 4088(%rbx)
        pextrw  $3, %xmm1, 4088(%rbx)
        pextrd  $1, %xmm1, 4088(%rbx)
        pextrq  $1, %xmm1, 4088(%rbx)
        insertps $0x10, 4088(%rbx), %xmm1
        extractps $2, %xmm1, 4088(%rbx)
        pmovzxbw 4088(%rbx), %xmm2
        pmovsxbw 4088(%rbx), %xmm2
        pmovzxbd 4088(%rbx), %xmm2
        pmovsxbd 4088(%rbx), %xmm2
        pmovzxbq 4088(%rbx), %xmm2
        pmovsxbq 4088(%rbx), %xmm2
        pmovzxwd 4088(%rbx), %xmm2
        pmovsxwd 4088(%rbx), %xmm2
        pmovzxwq 4088(%rbx), %xmm2
        pmovsxwq 4088(%rbx), %xmm2
        pmovzxdq 4088(%rbx), %xmm2
        pmovsxdq 4088(%rbx), %xmm2
        movups  4095(%rbx), %xmm1
        movups  %xmm1, 4095(%rbx)
        movupd  4095(%rbx), %xmm1
        movupd  %xmm1, 4095(%rbx)
        movdqu  4095(%rbx), %xmm1
        movdqu  %xmm1, 4095(%rbx)
        lddqu  4095(%rbx), %xmm1
        movss  4095(%rbx), %xmm1
        movss  %xmm1, 4095(%rbx)
        movsd  4095(%rbx), %xmm1
        movsd  %xmm1, 4095(%rbx)
        movd  4095(%rbx), %xmm1
        movd  %xmm1, 4095(%rbx)
        movq  4095(%rbx), %xmm1
        movq  %xmm1, 4095(%rbx)
        movlps  4095(%rbx), %xmm1
        movlps  %xmm1, 4095(%rbx)
        movhps  4095(%rbx), %xmm1
        movhps  %xmm1, 4095(%rbx)
        movlpd  4095(%rbx), %xmm1
        movlpd  %xmm1, 4095(%rbx)
        movhpd  4095(%rbx), %xmm1
        movhpd  %xmm1, 4095(%rbx)
        movq    4095(%rbx), %mm1
        movd    4095(%rbx), %mm2
        movq    %mm1, 4095(%rbx)
        movd    %mm2, 4095(%rbx)
        movnti  %rax, 4095(%rbx)
        movnti  %eax, 4095(%rbx)
        movntq  %mm1, 4095(%rbx)
        movddup 4095(%rbx), %xmm3
        pinsrb  $3, 4095(%rbx), %xmm1
        pinsrw  $3, 4095(%rbx), %xmm1
        pinsrd  $1, 4095(%rbx), %xmm1
        pinsrq  $1, 4095(%rbx), %xmm1
        pextrb  $3, %xmm1, 4095(%rbx)
        pextrw  $3, %xmm1, 4095(%rbx)
        pextrd  $1, %xmm1, 4095(%rbx)
        pextrq  $1, %xmm1, 4095(%rbx)
        insertps $0x10, 4095(%rbx), %xmm1
        extractps $2, %xmm1, 4095(%rbx)
        pmovzxbw 4095(%rbx), %xmm2
        pmovsxbw 4095(%rbx), %xmm2
        pmovzxbd 4095(%rbx), %xmm2
        pmovsxbd 4095(%rbx), %xmm2
        pmovzxbq 4095(%rbx), %xmm2
        pmovsxbq 4095(%rbx), %xmm2
        pmovzxwd 4095(%rbx), %xmm2
        pmovsxwd 4095(%rbx), %xmm2
        pmovzxwq 4095(%rbx), %xmm2
        pmovsxwq 4095(%rbx), %xmm2
        pmovzxdq 4095(%rbx), %xmm2
        pmovsxdq 4095(%rbx), %xmm2
        movaps  (%rbx), %xmm1
        movaps  %xmm1, (%rbx)
        movapd  (%rbx), %xmm1
        movapd  %xmm1, (%rbx)
        movdqa  (%rbx), %xmm1
        movdqa  %xmm1, (%rbx)
        movntps %xmm1, (%rbx)
        movntpd %xmm1, (%rbx)
        movntdq %xmm1, (%rbx)
        movntdqa (%rbx), %xmm4
        movshdup (%rbx), %xmm4
        movsldup (%rbx), %xmm4
        movaps  16(%rbx), %xmm1
        movaps  %xmm1, 16(%rbx)
        movapd  16(%rbx), %xmm1
        movapd  %xmm1, 16(%rbx)
        movdqa  16(%rbx), %xmm1
        movdqa  %xmm1, 16(%rbx)
        movntps %xmm1, 16(%rbx)
        movntpd %xmm1, 16(%rbx)
        movntdq %xmm1, 16(%rbx)
        movntdqa 16(%rbx), %xmm4
        movshdup 16(%rbx), %xmm4
        movsldup 16(%rbx), %xmm4
        movaps  48(%rbx), %xmm1
        movaps  %xmm1, 48(%rbx)
        movapd  48(%rbx), %xmm1
        movapd  %xmm1, 48(%rbx)
        movdqa  48(%rbx), %xmm1
        movdqa  %xmm1, 48(%rbx)
        movntps %xmm1, 48(%rbx)
        movntpd %xmm1, 48(%rbx)
        movntdq %xmm1, 48(%rbx)
        movntdqa 48(%rbx), %xmm4
        movshdup 48(%rbx), %xmm4
        movsldup 48(%rbx), %xmm4
        movaps  4080(%rbx), %xmm1
        movaps  %xmm1, 4080(%rbx)
        movapd  4080(%rbx), %xmm1
        movapd  %xmm1, 4080(%rbx)
        movdqa  4080(%rbx), %xmm1
        movdqa  %xmm1, 4080(%rbx)
        movntps %xmm1, 4080(%rbx)
        movntpd %xmm1, 4080(%rbx)
        movntdq %xmm1, 4080(%rbx)
        movntdqa 4080(%rbx), %xmm4
        movshdup 4080(%rbx), %xmm4
        movsldup 4080(%rbx), %xmm4
        movaps  4096(%rbx), %xmm1
        movaps  %xmm1, 4096(%rbx)
        movapd  4096(%rbx), %xmm1
        movapd  %xmm1, 4096(%rbx)
        movdqa  4096(%rbx), %xmm1
        movdqa  %xmm1, 4096(%rbx)
        movntps %xmm1, 4096(%rbx)
        movntpd %xmm1, 4096(%rbx)
        movntdq %xmm1, 4096(%rbx)
        movntdqa 4096(%rbx), %xmm4
        movshdup 4096(%rbx), %xmm4
        movsldup 4096(%rbx), %xmm4
        prefetchnta 64(%rbx)
        prefetcht0 64(%rbx)
        prefetcht1 64(%rbx)
        prefetcht2 64(%rbx)
        prefetchw 64(%rbx)
        lea     63(%rbx), %rdi
        movdqa  (%rbx), %xmm5
        maskmovdqu %xmm5, %xmm1
        maskmovq %mm1, %mm2
        pxor    %xmm5, %xmm5
        maskmovdqu %xmm5, %xmm1
        movq2dq %mm1, %xmm0
        movdq2q %xmm0, %mm3
        emms
        clflush (%rbx)
        ENDREPEAT
        EXIT
