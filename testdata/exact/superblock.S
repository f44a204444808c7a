// covers: superblock
// Which instructions are together: a load is dead only if what writes its register again is in the same superblock.
#include "rt.h"
        MEMORY  4096
        .macro  NOPS n
        .rept   \n
        nop
        .endr
        .endm
        START
        lea     mem(%rip), %rbx
        REPEAT  4
        test    %rbx, %rbx
        jz      1f
// Sixty instructions: the last is in it, and the next is not.
1:      mov     (%rbx), %rax
        NOPS    58
        mov     $1, %eax
        test    %rbx, %rbx
        jz      1f
1:      mov     (%rbx), %rax
        NOPS    59
        mov     $1, %eax
        test    %rbx, %rbx
        jz      1f
// Behind a jump with three instructions left, and with two.
1:      mov     (%rbx), %rax
        NOPS    55
        jmp     1f
        ud2
1:      nop
        nop
        mov     $1, %eax
        test    %rbx, %rbx
        jz      1f
1:      mov     (%rbx), %rax
        NOPS    56
        jmp     1f
        ud2
1:      mov     $1, %eax
        test    %rbx, %rbx
        jz      1f
1:      mov     (%rbx), %rax
        NOPS    57
        jmp     1f
        ud2
1:      mov     $1, %eax
        test    %rbx, %rbx
        jz      1f
// Only one jump is followed.
1:      mov     (%rbx), %rax
        jmp     1f
        ud2
1:      jmp     1f
        ud2
1:      mov     $1, %eax
        test    %rbx, %rbx
        jz      1f
// What ends one: PAUSE, CLFLUSH, a repeated string instruction, a system call.
1:      mov     (%rbx), %rax
        pause
        mov     $1, %eax
        mov     (%rbx), %rax
        clflush (%rbx)
        mov     $1, %eax
        mov     (%rbx), %rax
        xor     %ecx, %ecx
        mov     %rbx, %rdi
        rep stosb
        mov     $1, %eax
        mov     (%rbx), %rsi
        mov     $39, %eax
        syscall
        mov     $1, %esi
        test    %rbx, %rbx
        jz      1f
// What does not: an unrepeated one, a shift by CL, SETcc, CMOV.
1:      mov     (%rbx), %rax
        mov     %rbx, %rdi
        stosb
        mov     $1, %eax
        mov     (%rbx), %rdx
        shl     %cl, %rsi
        setc    %cl
        cmovc   %rsi, %rcx
        mov     $1, %edx
        test    %rbx, %rbx
        jz      1f
// A jump with the merge behind it has to fit too: 57 instructions and the jump, or fewer.
1:      NOPS    54
        test    $1, %r15d
        jne     2f
        test    $2, %r15d
        jne     2f
        nop
2:      test    %rbx, %rbx
        jz      1f
1:      NOPS    55
        test    $1, %r15d
        jne     2f
        test    $2, %r15d
        jne     2f
        nop
2:      test    %rbx, %rbx
        jz      1f
1:      NOPS    56
        test    $1, %r15d
        jne     2f
        test    $2, %r15d
        jne     2f
        nop
2:      test    %rbx, %rbx
        jz      1f
1:      NOPS    57
        test    $1, %r15d
        jne     2f
        test    $2, %r15d
        jne     2f
        nop
2:
// A loop that VEX unrolls.
        mov     $10, %ecx
3:      mov     (%rbx), %rax
        mov     %ecx, %eax
        dec     %ecx
        jnz     3b
        mov     $10, %ecx
4:      mov     (%rbx), %rax
        dec     %ecx
        jnz     4b
        mov     $1, %eax
        dec     %r15d
        jz      1f
        jmp     9b
1:      EXIT
