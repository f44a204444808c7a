// covers: bt-mem-imm bt-mem-reg bt-reg-reg bt-reg-imm bit-scan popcnt crc32
/* Bit tests with immediate and register offsets, far away ones and negative ones, on registers and on memory; bit scans. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   8192, 0x36

        START
        lea     mem(%rip), %rbx
        mov     $0x123456789abcdef1, %rax
        REPEAT  40
        lea     (%r15,%r15,8), %rcx
        btw   $5, %dx
        btw   $13, (%rbx)
        btw   $13, 63(%rbx)
        btw   %cx, %dx
        btw   %cx, (%rbx)
        btw   %cx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btw   %cx, 512(%rbx)
        btw   %cx, %cx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btl   $5, %edx
        btl   $13, (%rbx)
        btl   $13, 63(%rbx)
        btl   %ecx, %edx
        btl   %ecx, (%rbx)
        btl   %ecx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btl   %ecx, 512(%rbx)
        btl   %ecx, %ecx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btq   $5, %rdx
        btq   $13, (%rbx)
        btq   $13, 63(%rbx)
        btq   %rcx, %rdx
        btq   %rcx, (%rbx)
        btq   %rcx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btq   %rcx, 512(%rbx)
        btq   %rcx, %rcx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btsw   $5, %dx
        btsw   $13, (%rbx)
        btsw   $13, 63(%rbx)
        btsw   %cx, %dx
        btsw   %cx, (%rbx)
        btsw   %cx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btsw   %cx, 512(%rbx)
        btsw   %cx, %cx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btsl   $5, %edx
        btsl   $13, (%rbx)
        btsl   $13, 63(%rbx)
        btsl   %ecx, %edx
        btsl   %ecx, (%rbx)
        btsl   %ecx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btsl   %ecx, 512(%rbx)
        btsl   %ecx, %ecx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btsq   $5, %rdx
        btsq   $13, (%rbx)
        btsq   $13, 63(%rbx)
        btsq   %rcx, %rdx
        btsq   %rcx, (%rbx)
        btsq   %rcx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btsq   %rcx, 512(%rbx)
        btsq   %rcx, %rcx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btrw   $5, %dx
        btrw   $13, (%rbx)
        btrw   $13, 63(%rbx)
        btrw   %cx, %dx
        btrw   %cx, (%rbx)
        btrw   %cx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btrw   %cx, 512(%rbx)
        btrw   %cx, %cx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btrl   $5, %edx
        btrl   $13, (%rbx)
        btrl   $13, 63(%rbx)
        btrl   %ecx, %edx
        btrl   %ecx, (%rbx)
        btrl   %ecx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btrl   %ecx, 512(%rbx)
        btrl   %ecx, %ecx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btrq   $5, %rdx
        btrq   $13, (%rbx)
        btrq   $13, 63(%rbx)
        btrq   %rcx, %rdx
        btrq   %rcx, (%rbx)
        btrq   %rcx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btrq   %rcx, 512(%rbx)
        btrq   %rcx, %rcx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btcw   $5, %dx
        btcw   $13, (%rbx)
        btcw   $13, 63(%rbx)
        btcw   %cx, %dx
        btcw   %cx, (%rbx)
        btcw   %cx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btcw   %cx, 512(%rbx)
        btcw   %cx, %cx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btcl   $5, %edx
        btcl   $13, (%rbx)
        btcl   $13, 63(%rbx)
        btcl   %ecx, %edx
        btcl   %ecx, (%rbx)
        btcl   %ecx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btcl   %ecx, 512(%rbx)
        btcl   %ecx, %ecx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        btcq   $5, %rdx
        btcq   $13, (%rbx)
        btcq   $13, 63(%rbx)
        btcq   %rcx, %rdx
        btcq   %rcx, (%rbx)
        btcq   %rcx, 4000(%rbx)
        jc      1f
        ror     $3, %rdx
1:
        neg     %rcx
        btcq   %rcx, 512(%rbx)
        btcq   %rcx, %rcx
        neg     %rcx
        lea     (%r15,%r15,8), %rcx
        bsfw  (%rbx), %dx
        bsfw  %dx, %dx
        bsfw  61(%rbx), %dx
        bsfl  (%rbx), %edx
        bsfl  %edx, %edx
        bsfl  61(%rbx), %edx
        bsfq  (%rbx), %rdx
        bsfq  %rdx, %rdx
        bsfq  61(%rbx), %rdx
        bsrw  (%rbx), %dx
        bsrw  %dx, %dx
        bsrw  61(%rbx), %dx
        bsrl  (%rbx), %edx
        bsrl  %edx, %edx
        bsrl  61(%rbx), %edx
        bsrq  (%rbx), %rdx
        bsrq  %rdx, %rdx
        bsrq  61(%rbx), %rdx
        popcntw  (%rbx), %dx
        popcntw  %dx, %dx
        popcntw  61(%rbx), %dx
        popcntl  (%rbx), %edx
        popcntl  %edx, %edx
        popcntl  61(%rbx), %edx
        popcntq  (%rbx), %rdx
        popcntq  %rdx, %rdx
        popcntq  61(%rbx), %rdx
        crc32b  63(%rbx), %ecx
        crc32w  63(%rbx), %ecx
        crc32l  63(%rbx), %ecx
        crc32q  63(%rbx), %rcx
        add     %rdx, %rax
        ENDREPEAT
        EXIT
