// A thread ends its process while the first one sleeps, which has worked before.
#include "tasks.h"
        MEMORY 65536

        START
        PIPE    0
        PIPE    1
        THREAD  thread
        REPEAT 60
        mov     %r15, %rax
        shl     $7, %rax
        add     %r15, mem(%rax)
        ENDREPEAT
        GIVE    0
        TAKE    1                       // schedule
        ud2

        BEGIN   thread
        TAKE    0
        REPEAT 90
        mov     %r15, %rax
        shl     $6, %rax
        push    mem(%rax)
        pop     %rbx
        ENDREPEAT
#ifdef KILLED
        // kill(getpid(), SIGTERM)
        SYSTEM  39
        mov     %eax, %edi
        mov     $62, %eax
        mov     $15, %esi
        syscall
        TAKE    1                       // schedule
        ud2
#elif defined EXECUTED
        mov     $59, %eax
        lea     path(%rip), %rdi
        lea     argv(%rip), %rsi
        lea     envp(%rip), %rdx
        syscall
        ud2
        .data
path:   .asciz  "./other"
        .balign 8
argv:   .quad   path, 0
envp:   .quad   0
        .text
#endif
        EXIT
