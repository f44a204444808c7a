// covers: client-request
// Client requests: each is one instruction of 19 bytes and ends a superblock, over the ends of lines and pages too. From its
// middle on the sequence is ordinary code.
#include "rt.h"
        .data
        .balign 64
running:
        .quad   0x1001, 0, 0, 0, 0, 0
unknown:
        .quad   0x9999, 1, 2, 3, 4, 5
        START
        mov     $0x1234567890abcdef, %rdi
        REPEAT  20
        lea     running(%rip), %rax
        mov     $77, %edx
        REQUEST
        cmp     $1, %rdx
        CHECK   e
        lea     unknown(%rip), %rax
        mov     $77, %edx
        REQUEST
        cmp     $77, %rdx
        CHECK   e
        lea     running(%rip), %rax
        REQUEST 0xc9
        test    %rax, %rax
        CHECK   e
        lea     running(%rip), %rax
        jmp     1f
        .balign 64
        .skip   50
1:      REQUEST
        jmp     1f
        .balign 4096
        .skip   4096-17
1:      nop
        REQUEST
        inc     %ecx
        ENDREPEAT
        mov     $0x1234567890abcdef, %rax
        cmp     %rax, %rdi
        CHECK   e

        // Into the middle: 125 bits of rotation, then 112 and 51, and none.
        REPEAT  5
        jmp     1f
        rol     $3, %rdi
1:      rol     $13, %rdi
2:      rol     $61, %rdi
3:      rol     $51, %rdi
4:      xchg    %rbx, %rbx
        ENDREPEAT
        REPEAT  7
        mov     %r15d, %eax
        and     $3, %eax
        lea     table(%rip), %rcx
        movslq  (%rcx,%rax,4), %rax
        add     %rcx, %rax
        jmp     *%rax
        .balign 64
10:     rol     $3, %rdi
11:     rol     $13, %rdi
12:     rol     $61, %rdi
13:     rol     $51, %rdi
        xchg    %rbx, %rbx
        ENDREPEAT

        // Behind conditional jumps: a request is no part of a second condition, and none of its way out.
        lea     running(%rip), %rax
        REPEAT  100
        test    $1, %r15d
        jne     3f
        test    $2, %r15d
        jne     3f
        inc     %ecx
3:      REQUEST
        test    $4, %r15d
        jne     4f
        REQUEST
        test    $8, %r15d
        jne     4f
        inc     %ecx
4:      dec     %ecx
        test    $1, %r15d
        jne     5f
        test    $2, %r15d
        jne     5f
        inc     %ecx
5:      dec     %ecx
        inc     %esi
        REQUEST
        ENDREPEAT

        // Behind direct jumps and in long rows of instructions.
        REPEAT  9
        jmp     6f
6:      REQUEST
        call    7f
        jmp     8f
7:      REQUEST
        ret
8:      .rept   58
        inc     %ecx
        .endr
        REQUEST
        .rept   59
        inc     %ecx
        .endr
        REQUEST
        .rept   60
        inc     %ecx
        .endr
        REQUEST
        REQUEST
        ENDREPEAT
        EXIT
        .section .rodata
table:  .long   11b - table, 12b - table, 13b - table, 11b - table
