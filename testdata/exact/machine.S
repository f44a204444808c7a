// covers: cpuid rdtsc fence segment-base nop-mem syscall
/* Instructions about the machine: cpuid, time stamps, fences, long no-operations, segment bases. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   4096, 0

        START
        lea     mem(%rip), %rbx
        mov     $158, %eax
        mov     $0x1002, %edi
        lea     64(%rbx), %rsi
        syscall
        mov     $158, %eax
        mov     $0x1001, %edi
        lea     128(%rbx), %rsi
        syscall
        lea     mem(%rip), %r14
        REPEAT  30
        xor     %eax, %eax
        cpuid
        mov     $1, %eax
        xor     %ecx, %ecx
        cpuid
        rdtsc
        mov     %eax, (%r14)
        mfence
        lfence
        sfence
        mov     %fs:0, %rax
        mov     %rax, %fs:8
        add     %rax, %fs:60
        mov     %gs:0, %eax
        incl    %gs:4
        mov     %ds, %eax
        mov     %ss, 16(%r14)
        .byte   0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
        .byte   0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
        xchg    %ax, %ax
        nopl    8(%r14,%r15,8)
        mov     $102, %eax
        syscall
        mov     $39, %eax
        syscall
        ENDREPEAT
        EXIT
