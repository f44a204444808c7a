// covers: cmpxchg lock-cmpxchg cmpxchg8b cmpxchg16b
// Compare and exchange that succeeds and that fails, of every width, locked and not; a loop that retries.
#include "rt.h"
        MEMORY  8192
        .macro  BOTH name, register, value, at
        mov     \at(%rbx), %rax
        \name   \register, \at(%rbx)
        setz    %r8b
        \name   \register, \at(%rbx)
        lock \name \register, \at(%rbx)
        mov     \at(%rbx), %rax
        lock \name \register, \at(%rbx)
        CHECK   z
        .endm
        START
        lea     mem(%rip), %rbx
        REPEAT  30
        mov     %r15, %rcx
        cmpxchg %rcx, %r9
        cmpxchg %cl, %r9b
        .irp    at, 0, 57, 63, 4090
        BOTH    cmpxchgb, %cl, %al, \at
        BOTH    cmpxchgw, %cx, %ax, \at
        BOTH    cmpxchgl, %ecx, %eax, \at
        BOTH    cmpxchgq, %rcx, %rax, \at
        .endr
        .irp    at, 0, 60, 4092
        mov     \at(%rbx), %eax
        mov     \at+4(%rbx), %edx
        cmpxchg8b \at(%rbx)
        lock cmpxchg8b \at(%rbx)
        inc     %eax
        cmpxchg8b \at(%rbx)
        lock cmpxchg8b \at(%rbx)
        .endr
        .irp    at, 0, 48, 4080
        mov     \at(%rbx), %rax
        mov     \at+8(%rbx), %rdx
        mov     %r15, %rcx
        cmpxchg16b \at(%rbx)
        inc     %rax
        cmpxchg16b \at(%rbx)
        lock cmpxchg16b \at(%rbx)
        lock cmpxchg16b \at(%rbx)
        .endr
        mov     128(%rbx), %rax
1:      lea     3(%rax), %rcx
        lock cmpxchg %rcx, 128(%rbx)
        jne     1b
        /* All flags but ZF are kept. */
        .irp    insn, "cmpxchg8b 256(%rbx)", "lock cmpxchg16b 256(%rbx)"
        sub     $0x12345677, %r13d
        pushfq
        pop     %r14
        add     $0x12345677, %r13d
        sub     $0x12345677, %r13d
        \insn
        pushfq
        pop     %r12
        xor     %r14, %r12
        test    $~0x40, %r12d
        CHECK   z
        jc      1f
        inc     %r12
1:
        .endr
        ENDREPEAT
        EXIT
