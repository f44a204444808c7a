// covers: code-line code-page
/* Code across cache lines and pages, code that exceeds the smaller caches, jumps over pages. */
#include "rt.h"

        START
        mov     $0, %eax
        REPEAT  300
        jmp     s0
        .balign 4096
        .skip   191, 0x90
s0:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s1
        .balign 4096
        .skip   4084, 0x90
s1:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s2
        .balign 4096
        .skip   317, 0x90
s2:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s3
        .balign 4096
        .skip   4086, 0x90
s3:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s4
        .balign 4096
        .skip   443, 0x90
s4:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s5
        .balign 4096
        .skip   4088, 0x90
s5:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s6
        .balign 4096
        .skip   569, 0x90
s6:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s7
        .balign 4096
        .skip   4090, 0x90
s7:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s8
        .balign 4096
        .skip   695, 0x90
s8:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s9
        .balign 4096
        .skip   4092, 0x90
s9:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s10
        .balign 4096
        .skip   821, 0x90
s10:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s11
        .balign 4096
        .skip   4094, 0x90
s11:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s12
        .balign 4096
        .skip   958, 0x90
s12:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s13
        .balign 4096
        .skip   4083, 0x90
s13:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s14
        .balign 4096
        .skip   1084, 0x90
s14:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s15
        .balign 4096
        .skip   4085, 0x90
s15:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s16
        .balign 4096
        .skip   1210, 0x90
s16:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s17
        .balign 4096
        .skip   4087, 0x90
s17:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s18
        .balign 4096
        .skip   1336, 0x90
s18:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s19
        .balign 4096
        .skip   4089, 0x90
s19:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s20
        .balign 4096
        .skip   1462, 0x90
s20:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s21
        .balign 4096
        .skip   4091, 0x90
s21:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s22
        .balign 4096
        .skip   1599, 0x90
s22:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        jmp     s23
        .balign 4096
        .skip   4093, 0x90
s23:
        movabs  $0x1122334455667788, %rdx
        add     $0x11223344, %ecx
        lea     0x1000(%rax,%rdx,4), %rsi
        cmp     $5, %r15
        ja      1f
        inc     %rax
1:
        ENDREPEAT
        mov     $5000, %r15d
        jmp     around
        .balign 64
        .skip   62, 0x90
around:
        dec     %r15d
        jnz     around
        .balign 64
        .skip   1, 0x90
        mov     $400, %r15d
lines:
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        dec     %r15
        jnz     lines
        EXIT
