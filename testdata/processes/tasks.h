/* Pipes and threads for the programs here. Who has to wait sleeps in a call that is made once, so that no count depends on
   the order in which the kernel lets threads run. */
#include "../exact/rt.h"
        .data
        .balign 8
        .balign 64
ends:   .long   0, 0, 0, 0
byte:   .quad   0
tid:    .quad   0
        .balign 64
        .bss
        .balign 4096
        .skip   4096
second: .skip   4096
/* Makes the pipe with this number, 0 or 1. */
        .macro  PIPE number
        mov     $22, %eax
        lea     ends+8*\number(%rip), %rdi
        syscall
        .endm
/* Reads a byte from a pipe, and writes one. */
        .macro  TAKE pipe
        xor     %eax, %eax
        mov     ends+8*\pipe(%rip), %edi
        lea     byte(%rip), %rsi
        mov     $1, %edx
        syscall
        .endm
        .macro  GIVE pipe
        mov     $1, %eax
        mov     ends+8*\pipe+4(%rip), %edi
        lea     byte(%rip), %rsi
        mov     $1, %edx
        syscall
        .endm
/* Starts a thread: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, PARENT_SETTID and CHILD_CLEARTID. Each side goes on by a return
   from its own stack, which no predictor sees, and the first one waits until the thread has begun. What both touch is in the
   caches before. */
        .macro  THREAD entry
        mov     ends(%rip), %rbx
        lea     \entry(%rip), %rax
        mov     %rax, second-8(%rip)
        lea     6f(%rip), %rax
        push    %rax
        mov     $56, %eax
        mov     $0x350f00, %edi
        lea     second-8(%rip), %rsi
        lea     tid(%rip), %rdx
        lea     tid(%rip), %r10
        xor     %r8d, %r8d
        syscall
        ret
        .balign 64
6:      TAKE    1
        .endm
/* Begins a thread, on a cache line of its own. */
        .macro  BEGIN entry
        .balign 64
\entry:
        GIVE    1
        .balign 64
        .endm
