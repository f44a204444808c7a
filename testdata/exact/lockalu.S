// covers: lock-modify
// Locked arithmetic on memory in, before and across lines and pages, among plain branches.
#include "rt.h"
        MEMORY  8192
        START
        lea     mem(%rip), %rbx
        REPEAT  30
        .irp    operation, add, or, adc, sbb, and, sub, xor
        .irp    at, 0, 61, 4093
        lock \operation\()b $5, \at(%rbx)
        lock \operation\()w %ax, \at(%rbx)
        lock \operation\()l $0x12345, \at(%rbx)
        lock \operation\()q %rax, \at(%rbx)
        .endr
        jc      1f
        inc     %rax
1:
        .endr
        .irp    operation, inc, dec, not, neg
        .irp    at, 0, 61, 4093
        lock \operation\()b \at(%rbx)
        lock \operation\()w \at(%rbx)
        lock \operation\()l \at(%rbx)
        lock \operation\()q \at(%rbx)
        .endr
        .endr
        ENDREPEAT
        EXIT
