// covers: prefetch nop-mem nop clflush fence pause endbr lea
// Instructions that name memory and do not access it, and those that only wait.
#include "rt.h"
        MEMORY  8192
        START
        lea     mem(%rip), %rbx
        REPEAT  40
        .irp    at, 0, 63, 4095, 0x7000
        prefetcht0 \at(%rbx)
        prefetcht1 \at(%rbx)
        prefetcht2 \at(%rbx)
        prefetchnta \at(%rbx)
        prefetchw \at(%rbx)
        nopw    \at(%rbx)
        nopl    \at(%rbx,%r15,8)
        lea     \at(%rbx,%r15,8), %rax
        lea     \at(%ebx), %ecx
        .endr
        nopw    %cs:0x12345678(%rax,%rax,1)
        clflush (%rbx)
        clflush 63(%rbx)
        mfence
        lfence
        sfence
        pause
        endbr64
        nop
        xchg    %ax, %ax
        xchg    %eax, %eax
        data16 nop
        ENDREPEAT
        EXIT
