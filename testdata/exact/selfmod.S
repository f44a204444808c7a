// covers: self-modifying
// Code in memory that no file backs, written, run, written over and run again; and a block that changes what follows.
#include "rt.h"
        .set    AT, 0x20000000
        START
        mov     $9, %eax                        // mmap, readable, writable and executable
        mov     $AT, %edi
        mov     $8192, %esi
        mov     $7, %edx
        mov     $0x32, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        mov     $AT, %ebx
        REPEAT  20
        movb    $0xb8, (%rbx)                   // mov $N, %eax
        mov     %r15d, 1(%rbx)
        movb    $0xc3, 5(%rbx)                  // ret
        call    *%rbx
        cmp     %r15d, %eax
        CHECK   e
        movl    $0xc3c0ff48, 5(%rbx)            // inc %rax; ret
        call    *%rbx
        movl    $0x41c3c3c3, 4092(%rbx)         // over the end of a page
        movl    $0xc3c3c3c3, 4096(%rbx)
        movw    $0xff49, 4094(%rbx)             // inc %r9
        movb    $0xc1, 4096(%rbx)
        lea     4094(%rbx), %rax
        call    *%rax
        movl    $0xc04643c6, 64(%rbx)           // movb $0xc0, 70(%rbx): it makes what follows inc %rax
        movl    $0xc3c9ff48, 68(%rbx)           // dec %rcx; ret
        lea     64(%rbx), %rax
        call    *%rax
        ENDREPEAT
        EXIT
