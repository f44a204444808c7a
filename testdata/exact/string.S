/* String instructions with every prefix, width and direction, for no, one and many rounds. */
#include "rt.h"

        .data
zero:   .quad   0
one:    .quad   1
many:   .quad   45
        .balign 4096
from:   .skip   8192, 0x20
to:     .skip   4096, 0x20
same:   .skip   128, 0x20
other:  .skip   41, 0x20
        .byte   0x7a
        .skip   700, 0x20

        START
        lea     from(%rip), %r12
        lea     to(%rip), %r13
        REPEAT  6
        cld
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep movsb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep stosb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasb
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasb
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasb
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        movsb
        lodsb
        stosb
        scasb
        movsb
        lodsb
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep movsw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep stosw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasw
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasw
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasw
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        movsw
        lodsw
        stosw
        scasw
        movsw
        lodsw
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep movsl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep stosl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasl
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasl
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasl
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        movsl
        lodsl
        stosl
        scasl
        movsl
        lodsl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep movsq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     %r15, %rcx
        rep stosq
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasq
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasq
        jz      1f
        inc     %rbx
1:
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasq
        setz    %bl
        lea     1(%r12), %rsi
        lea     3(%r13), %rdi
        mov     one(%rip), %rcx
        movsq
        lodsq
        stosq
        scasq
        movsq
        lodsq
        std
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep movsb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep stosb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasb
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasb
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasb
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        movsb
        lodsb
        stosb
        scasb
        movsb
        lodsb
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep movsw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep stosw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasw
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasw
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasw
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        movsw
        lodsw
        stosw
        scasw
        movsw
        lodsw
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep movsl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep stosl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasl
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasl
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasl
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        movsl
        lodsl
        stosl
        scasl
        movsl
        lodsl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep movsq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep movsq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep movsq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep movsq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        rep stosq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        rep stosq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        rep stosq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     %r15, %rcx
        rep stosq
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe cmpsq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repe scasq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repe scasq
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     zero(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x2020202020202020, %rax
        repne scasq
        jz      1f
        inc     %rbx
1:
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     many(%rip), %rcx
        mov     $0x3131313131313131, %rax
        repne scasq
        setz    %bl
        lea     2048(%r12), %rsi
        lea     2100(%r13), %rdi
        mov     one(%rip), %rcx
        movsq
        lodsq
        stosq
        scasq
        movsq
        lodsq
        cld
        lea     from(%rip), %rsi
        lea     same(%rip), %rdi
        mov     many(%rip), %rcx
        repe cmpsb
        sete    %bl
        lea     from(%rip), %rsi
        lea     other(%rip), %rdi
        mov     many(%rip), %rcx
        repe cmpsb
        sete    %bl
        lea     other(%rip), %rdi
        mov     many(%rip), %rcx
        mov     $0x7a, %al
        repne scasb
        sete    %bl
        lea     other(%rip), %rdi
        lea     other+61(%rip), %rdi
        lea     from+4090(%rip), %rsi
        mov     many(%rip), %ecx
        rep movsq
        mov     $to, %edi
        mov     $from, %esi
        mov     many(%rip), %ecx
        addr32 rep movsb
        mov     many(%rip), %ecx
        addr32 rep stosl
        ENDREPEAT
        EXIT
