// Line tables that compilers seldom write: one row for thousands of bytes, neighbours with one line in two files, lines that are
// none, rows without bytes.
        .file   1 "/source/lines.S"
        .file   2 "/source/sub/../other.h"
        .file   3 "relative.h"
        .data
        .quad   1
        .text
        .globl  main
        .type   main, @function
main:
        .loc    1 10
        push    %rbx
        mov     $10, %ebx
1:
        .loc    1 11
        .rept   4094
        nop
        .endr
        .loc    2 11
        nop
        nop
        .loc    3 11
        nop
        .loc    1 12
        nop
        .loc    2 13
        .loc    3 14
        nop
        .loc    1 15
        .rept   4096
        nop
        .endr
        .loc    1 0
        nop
        nop
        .loc    2 0
        nop
        .loc    1 1048575
        nop
        .loc    1 1048576
        nop
        .loc    1 16 5
        nop
        .loc    1 16 9 is_stmt 0
        nop
        .loc    2 16 9 discriminator 2
        nop
        .loc    1 17
        dec     %ebx
        jnz     1b
        xor     %eax, %eax
        pop     %rbx
        ret
        .size   main, . - main
        .section .note.GNU-stack, "", @progbits
