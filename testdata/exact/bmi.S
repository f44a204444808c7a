// covers: bmi movbe bit-scan popcnt crc32
// The newer bit instructions with operands in memory.
#include "rt.h"
        MEMORY  8192
        START
        REPEAT  30
        .irp    at, 0, 57, 61, 63, 4093
        lea     mem+\at(%rip), %rbx
        tzcnt   (%rbx), %ax
        tzcnt   (%rbx), %eax
        tzcnt   (%rbx), %rax
        lzcnt   (%rbx), %cx
        lzcnt   (%rbx), %ecx
        lzcnt   (%rbx), %rcx
        popcnt  (%rbx), %ax
        popcnt  (%rbx), %eax
        popcnt  (%rbx), %rax
        bsf     (%rbx), %ax
        bsr     (%rbx), %eax
        bsf     (%rbx), %rax
        crc32b  (%rbx), %eax
        crc32w  (%rbx), %eax
        crc32l  (%rbx), %eax
        crc32q  (%rbx), %rax
        movbe   (%rbx), %ax
        movbe   (%rbx), %eax
        movbe   (%rbx), %rax
        movbe   %ax, (%rbx)
        movbe   %eax, (%rbx)
        movbe   %rax, (%rbx)
        .endr
        andn    mem(%rip), %rax, %rcx
        andn    mem+61(%rip), %eax, %ecx
        blsr    mem+61(%rip), %rax
        blsmsk  mem+61(%rip), %eax
        mulx    mem+61(%rip), %rax, %rcx
        mulx    mem+61(%rip), %eax, %ecx
        pext    mem+61(%rip), %rax, %rcx
        rorx    $7, (%rbx), %rax
        sarx    %rax, mem+61(%rip), %rcx
        shlx    %eax, mem+61(%rip), %ecx
        shrx    %rax, mem+61(%rip), %rcx
        ENDREPEAT
        EXIT
