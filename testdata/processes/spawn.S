// Children as posix_spawn(3) makes them, with the memory of the parent, which waits for them: one executes another program, one
// ends.
#include "tasks.h"
        MEMORY 65536
        .data
path:   .asciz  "./other"
        .balign 8
argv:   .quad   path, 0
envp:   .quad   0

        START
        REPEAT 200
        mov     %r15, %rax
        shl     $7, %rax
        add     %r15, mem(%rax)
        ENDREPEAT
        lea     exec(%rip), %r12
        call    spawn
        REPEAT 100
        mov     %r15, %rax
        shl     $8, %rax
        mov     mem(%rax), %rbx
        ENDREPEAT
        lea     quick(%rip), %r12
        call    spawn
        REPEAT 50
        mov     %r15, %rax
        shl     $9, %rax
        mov     %rbx, mem(%rax)
        ENDREPEAT
        jmp     end

// CLONE_VM, CLONE_VFORK and SIGCHLD; then wait4(-1, 0, 0, 0).
spawn:  mov     $56, %eax
        mov     $0x4111, %edi
        lea     second(%rip), %rsi
        xor     %edx, %edx
        xor     %r10d, %r10d
        xor     %r8d, %r8d
        syscall
        test    %eax, %eax
        jnz     1f
        jmp     *%r12
1:      mov     $61, %eax
        mov     $-1, %rdi
        xor     %esi, %esi
        xor     %edx, %edx
        xor     %r10d, %r10d
        syscall
        ret

exec:   mov     %rbx, mem(%rip)
        mov     $59, %eax
        lea     path(%rip), %rdi
        lea     argv(%rip), %rsi
        lea     envp(%rip), %rdx
        syscall
        ud2

quick:  REPEAT 70
        mov     %r15, %rax
        shl     $6, %rax
        mov     mem(%rax), %rbx
        ENDREPEAT
end:
        EXIT
