// covers: merged-jumps
// Two conditional jumps that share a destination: where the second block only computes, the model `valgrind` executes
// it always and has one branch for both.
#include "rt.h"
        MEMORY  4096
        .macro  FLAGS
        test    $1, %r15d
        .endm
        START
        lea     mem(%rip), %rbx
        REPEAT  8
// As `a && b` is compiled, the first decided either way.
        test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        nop
1:
// As `a || b`.
        test    $1, %r15d
        jne     2f
        mov     %r15d, %eax
        test    $2, %eax
        je      1f
2:      nop
        nop
1:
// Always, and never.
        cmp     %r15d, %r15d
        je      1f
        test    %eax, %eax
        jne     1f
        nop
1:      cmp     %r15d, %r15d
        jne     1f
        test    $4, %r15d
        jne     1f
        nop
1:
// The second block has three instructions, or four.
        test    $1, %r15d
        jne     1f
        lea     1(%r15), %eax
        test    $2, %eax
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        lea     1(%r15), %eax
        lea     1(%rax), %eax
        test    $2, %eax
        jne     1f
        nop
1:
// It loads, stores, pushes, divides, tests a bit, moves if, sets, computes a vector.
        test    $1, %r15d
        jne     1f
        cmp     (%rbx), %r15d
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        mov     %r15d, (%rbx)
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        push    %r15
        jne     1f
        nop
1:      lea     stack_top(%rip), %rsp
        mov     $7, %eax
        xor     %edx, %edx
        test    $1, %r15d
        jne     1f
        div     %r15d
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        bt      $2, %r15d
        jc      1f
        nop
1:      test    $1, %r15d
        jne     1f
        bt      %rax, %r15
        jc      1f
        nop
1:      test    $1, %r15d
        jne     1f
        cmovs   %r15d, %eax
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        setne   %al
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        pxor    %xmm0, %xmm0
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        popcnt  %r15d, %eax
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        mul     %r15d
        jne     1f
        nop
1:      test    $1, %r15d
        jne     1f
        xadd    %eax, %ecx
        jne     1f
        nop
1:
// What the shared block ends with.
        test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        jmp     2f
1:      jmp     2f
        nop
2:      test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        nop
        call    leaf
        nop
        jmp     2f
1:      call    leaf
2:      test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        nop
        jmp     2f
1:      lea     2f(%rip), %rax
        jmp     *%rax
2:      mov     $0, %ecx
        test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        nop
        jmp     2f
1:      lea     64(%rbx), %rdi
        rep stosb
2:      test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        nop
        jmp     2f
1:      nop
        nop
        loop    2f
2:      test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        nop
1:      test    $4, %r15d
        jne     1f
        nop
1:
// Three jumps in a row: two are merged.
        test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     1f
        test    $4, %r15d
        jne     1f
        nop
1:
// Entered at the second one.
        test    $1, %r15d
        je      2f
        test    $2, %r15d
        jne     3f
2:      test    $4, %r15d
        jne     3f
        nop
3:
// Both destinations are one; the second jump leads to itself.
        test    $1, %r15d
        jne     1f
        test    $2, %r15d
        jne     2f
1:      nop
2:      test    $1, %r15d
        jne     1f
1:      test    $2, %r15d
        jne     1f
1:      dec     %r15d
        jz      1f
        jmp     9b
leaf:   ret
1:      EXIT
