// covers: cpuid rdtsc fence
// CPUID and the time-stamp counter; what they answer is not counted on.
#include "rt.h"
        MEMORY  4096, 0
        START
        REPEAT  40
        xor     %eax, %eax
        cpuid
        mov     $7, %eax
        xor     %ecx, %ecx
        cpuid
        mov     $0x80000000, %eax
        cpuid
        rdtsc
        lfence
        rdtsc
        rdtscp
        mov     %rax, mem+60(%rip)
        ENDREPEAT
        EXIT
