// Two threads that hand over to each other by pipes: each sleeps while the other works, with the same caches and predictors.
#include "tasks.h"
        MEMORY 65536

        START
        PIPE    0
        PIPE    1
        mov     $10, %r14d
        THREAD  thread
round:  REPEAT 60
        mov     %r15, %rax
        shl     $7, %rax
        add     %r14, mem(%rax)
        ENDREPEAT
        GIVE    0
        TAKE    1
        dec     %r14d
        jnz     round
        // The thread sleeps for ever, or is about to.
        jmp     end

        BEGIN   thread
again:  TAKE    0                       // schedule
        REPEAT 90
        mov     %r15, %rax
        shl     $6, %rax
        push    mem(%rax)
        test    $3, %r15d
        jz      1f
        add     %rbx, mem+4096(%rax)
1:      pop     %rbx
        ENDREPEAT
        GIVE    1
        jmp     again                   // schedule

        .balign 64
end:
        EXIT
