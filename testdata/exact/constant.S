// covers: constant-guard constant-target
// Branches that constants in the same superblock decide: by the model `valgrind` they are none.
#include "rt.h"
        .macro  BARRIER
        jz      7f
7:
        .endm
        MEMORY  4096
        START
        REPEAT  3
        BARRIER
// The first test of RCX.
        lea     mem(%rip), %rsi
        lea     mem+64(%rip), %rdi
        mov     $5, %ecx
        rep movsb
        lea     mem+64(%rip), %rdi
        mov     $0, %ecx
        rep stosb
        lea     mem+64(%rip), %rdi
        xor     %ecx, %ecx
        rep stosq
        lea     mem(%rip), %rsi
        lea     mem(%rip), %rdi
        mov     $4, %ecx
        repe cmpsb
        lea     mem(%rip), %rdi
        mov     $4, %ecx
        mov     $0x5a, %eax
        repne scasb
        mov     %r15, %rcx
        and     $3, %ecx
        lea     mem(%rip), %rdi
        rep stosb
// LOOP and its kin, JRCXZ.
        mov     $2, %ecx
1:      loop    1b
        mov     $1, %ecx
        loop    2f
        nop
2:      mov     $2, %ecx
        cmp     %ecx, %ecx
        loope   3f
        nop
3:      mov     $2, %ecx
        cmp     $3, %ecx
        loopne  4f
        nop
4:      xor     %ecx, %ecx
        jrcxz   5f
        nop
5:      mov     $1, %ecx
        jecxz   5b
        mov     %r15, %rcx
        jrcxz   5b
// Jumps on flags: only behind x87 or MMX code is a second look taken.
        xor     %eax, %eax
        test    %eax, %eax
        jnz     6f
        fld1
        fstp    %st(0)
        xor     %eax, %eax
        test    %eax, %eax
        jnz     6f
        pxor    %mm0, %mm0
        mov     $5, %eax
        cmp     $5, %eax
        jne     6f
        emms
        mov     $5, %eax
        cmp     $4, %eax
        ja      6f
        nop
6:
// Calls and jumps.
        lea     function(%rip), %rax
        call    *%rax
        mov     $function, %rax
        nop
        call    *%rax                   //~arch constant-call Bi 3 Bim 1: the first goes where nothing was foreseen
        lea     8f(%rip), %rdx
        jmp     *%rdx
        ud2
8:      lea     function(%rip), %rax
        jmp     1f
        ud2
1:      call    *%rax
        lea     function(%rip), %rax
        BARRIER
        call    *%rax
        mov     %rax, mem+512(%rip)
        call    *mem+512(%rip)
        dec     %r15d
        jz      1f
        jmp     9b
function:
        nop
        ret
1:      EXIT
