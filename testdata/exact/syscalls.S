// covers: syscall
// System calls that read and write memory: neither is counted, nor seen by the caches.
#include "rt.h"
        MEMORY  8192, 0
        .data
path:   .asciz  "/nonexistent/name"
        .set    AT, 0x20000000
        START
        REPEAT  20
        mov     $63, %eax                       // uname
        lea     mem+100(%rip), %rdi
        syscall
        mov     mem+100(%rip), %rax
        mov     $2, %eax                        // open
        lea     path(%rip), %rdi
        xor     %esi, %esi
        syscall
        cmp     $-2, %rax
        CHECK   e
        mov     $9, %eax                        // mmap, private, anonymous, fixed
        mov     $AT, %edi
        mov     $16384, %esi
        mov     $3, %edx
        mov     $0x32, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        cmp     $AT, %rax
        CHECK   e
        movl    $5, AT+4094
        mov     AT+8192, %rax
        SYSTEM  10, AT, 4096, 1                 // mprotect
        mov     AT, %rax
        SYSTEM  11, AT, 16384                   // munmap
        SYSTEM  3, 99                           // close
        SYSTEM  24                              // sched_yield
        ENDREPEAT
        EXIT
