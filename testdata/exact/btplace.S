// covers: bt-reg-reg
// Where the scratch slot is: with caches that remember nothing of the round before, the bytes of the slot are there after
// the instruction and those around it are not.
#include "rt.h"
        MEMORY  8192
        START
        lea     stack_top(%rip), %rbp
        mov     $0x123456789abcdef, %rdx
        REPEAT  64
        mov     $4096, %ecx
1:      mov     mem-64(%rcx), %r8
        sub     $64, %ecx
        jnz     1b
        lea     (%rbp,%r15), %rsp
        mov     $7, %ecx
        btq     %rcx, %rdx
        adc     $0, %r9
        add     -288(%rsp), %al
        add     -281(%rsp), %al
        add     -289(%rsp), %al
        add     -280(%rsp), %al
        mov     $4096, %ecx
1:      mov     mem-64(%rcx), %r8
        sub     $64, %ecx
        jnz     1b
        mov     $29, %ecx
        btsl    %ecx, %edx
        adc     $0, %r9
        add     -285(%rsp), %al
        add     -284(%rsp), %al
        add     -288(%rsp), %al
        add     -289(%rsp), %al
        ENDREPEAT
        lea     stack_top(%rip), %rsp
        EXIT
