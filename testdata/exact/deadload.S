// covers: dead-load
// Loads that nothing needs: by the model `valgrind` they do not count. A jump to the next instruction begins a superblock
// only where it is conditional; each case ends with one, so that registers are needed there.
#include "rt.h"
        .macro  BARRIER
        jz      7f
7:
        .endm
        MEMORY  8192
        START
        lea     mem(%rip), %rbx
        REPEAT  3
// Written again with the same width, and with another one.
        mov     (%rbx), %rax
        mov     $1, %eax
        BARRIER
        mov     (%rbx), %al
        mov     $1, %eax
        BARRIER
        mov     (%rbx), %ax
        mov     $1, %ax
        BARRIER
        mov     (%rbx), %eax
        movzbl  1(%rbx), %eax
        mov     (%rbx), %ah
        mov     $2, %ah
        BARRIER
        mov     (%rbx), %ax
        mov     $2, %ah
        BARRIER
// Read before it is written.
        mov     (%rbx), %rax
        mov     %rax, %rcx
        mov     $1, %eax
        BARRIER
// A chain that ends nowhere.
        mov     (%rbx), %rax
        add     8(%rbx), %rax
        imul    16(%rbx), %rax
        mov     %rax, %rcx
        mov     $1, %eax
        mov     $1, %ecx
        cmp     %rax, %rbx
        BARRIER
// Flags: the next one that writes all of them kills the load, one that keeps the carry does not.
        cmp     (%rbx), %rcx
        cmp     %rax, %rcx
        BARRIER
        test    %rax, (%rbx)
        test    %rax, %rcx
        BARRIER
        cmp     (%rbx), %rcx
        inc     %rcx
        cmp     %rax, %rcx
        BARRIER
        cmp     (%rbx), %rcx
        dec     %rcx
        BARRIER
// Values that do not matter.
        mov     (%rbx), %rcx
        and     $0, %rcx
        BARRIER
        mov     (%rbx), %rcx
        or      $-1, %rcx
        BARRIER
        mov     (%rbx), %rcx
        xor     %rcx, %rcx
        BARRIER
        mov     (%rbx), %ecx
        sub     %ecx, %ecx
        BARRIER
        mov     (%rbx), %rcx
        imul    $0, %rcx, %rcx
        BARRIER
        andq    $0, (%rbx)
        orq     $-1, 8(%rbx)
        orq     $0, 16(%rbx)
        BARRIER
// RSP is needed where memory is accessed; RBP and the others are not.
        mov     %rsp, %r12
        mov     %rsp, 64(%rbx)
        mov     64(%rbx), %rsp
        mov     %r12, %rsp
        BARRIER
        mov     64(%rbx), %rsp
        mov     64(%rbx), %rcx
        mov     %r12, %rsp
        BARRIER
        push    %r12
        push    %r12
        pop     %rbp
        movb    $0, 128(%rbx)
        mov     (%rbx), %rcx
        pop     %rbp
        BARRIER
        push    %rcx
        pop     %rdx
        mov     $3, %edx
        BARRIER
// Vectors: a slice that is written again with the same bytes.
        movups  (%rbx), %xmm0
        xorps   %xmm0, %xmm0
        BARRIER
        movss   (%rbx), %xmm0
        movss   4(%rbx), %xmm0
        BARRIER
        movsd   (%rbx), %xmm0
        xorps   %xmm0, %xmm0
        BARRIER
        movhps  (%rbx), %xmm1
        movhps  8(%rbx), %xmm1
        BARRIER
        movlps  (%rbx), %xmm1
        movhps  8(%rbx), %xmm1
        movups  16(%rbx), %xmm1
        BARRIER
        movdqu  (%rbx), %xmm2
        pcmpeqd %xmm2, %xmm2
        BARRIER
// What must happen stays between: a fence, CPUID, a locked operation, a check of alignment.
        mov     (%rbx), %rcx
        mfence
        mov     $1, %ecx
        BARRIER
        mov     (%rbx), %rcx
        lock addl $1, 256(%rbx)
        mov     $1, %ecx
        BARRIER
        mov     (%rbx), %rsi
        xor     %eax, %eax
        mov     %rbx, %r13
        cpuid
        mov     %r13, %rbx
        mov     $1, %esi
        BARRIER
        mov     (%rbx), %rcx
        movaps  (%rbx), %xmm3
        mov     $1, %ecx
        BARRIER
        mov     (%rbx), %rcx
        jrcxz   1f
1:      mov     $1, %ecx
        BARRIER
// Over a jump, a call and its return.
        mov     (%rbx), %rcx
        jmp     2f
        ud2
2:      mov     $1, %ecx
        BARRIER
        mov     (%rbx), %rcx
        call    4f
        mov     $1, %ecx
        BARRIER
        dec     %r15d
        jz      3f
        jmp     9b
4:      mov     $2, %ecx
        mov     (%rbx), %rdx
        ret
3:      EXIT
