// covers: mul div
/* Multiplication and division of every width, from registers and memory. */
#include "rt.h"

        .data
        .balign 4096
mem:    .rept   1024
        .quad   0x0909090909090909
        .endr

        START
        lea     mem(%rip), %rbx
        REPEAT  30
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        mulb   %sil
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        mulb   (%rbx)
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        mulb   60(%rbx)
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        imulb   %sil
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        imulb   (%rbx)
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        imulb   60(%rbx)
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        divb   %sil
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        divb   (%rbx)
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        divb   60(%rbx)
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        idivb   %sil
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        idivb   (%rbx)
        mov     $77, %esi
        mov     $100, %eax
        xor     %edx, %edx
        idivb   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mulw   %si
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mulw   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mulw   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imulw   %si
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imulw   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imulw   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divw   %si
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divw   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divw   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivw   %si
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivw   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivw   60(%rbx)
        imulw   %si, %dx
        imulw   61(%rbx), %dx
        imulw   $-77, %si, %dx
        imulw   $1000, (%rbx), %dx
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mull   %esi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mull   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mull   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imull   %esi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imull   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imull   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divl   %esi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divl   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divl   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivl   %esi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivl   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivl   60(%rbx)
        imull   %esi, %edx
        imull   61(%rbx), %edx
        imull   $-77, %esi, %edx
        imull   $1000, (%rbx), %edx
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mulq   %rsi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mulq   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        mulq   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imulq   %rsi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imulq   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        imulq   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divq   %rsi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divq   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        divq   60(%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivq   %rsi
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivq   (%rbx)
        mov     $77, %esi
        mov     $1000, %eax
        xor     %edx, %edx
        idivq   60(%rbx)
        imulq   %rsi, %rdx
        imulq   61(%rbx), %rdx
        imulq   $-77, %rsi, %rdx
        imulq   $1000, (%rbx), %rdx
        mov     $-1000, %rax
        cqto
        mov     $-7, %rcx
        idiv    %rcx
        xor     %ecx, %ecx
        rol     $11, %rax
        add     %rax, %rdi
        test    $5, %dil
        jz      1f
        mulq    4092(%rbx)
1:
        ENDREPEAT
        EXIT
