// covers: bt-mem-reg lock-bits
// Bit tests in memory by a register, near and far, before and behind; locked too.
#include "rt.h"
        MEMORY  16384
        START
        lea     mem+8190(%rip), %rbx
        REPEAT  60
        imul    $521, %r15, %rcx
        .irp    operation, bt, bts, btr, btc
        \operation\()w  %cx, (%rbx)
        \operation\()l  %ecx, 1(%rbx)
        \operation\()q  %rcx, 2(%rbx)
        neg     %rcx
        \operation\()w  %cx, (%rbx)
        \operation\()l  %ecx, 1(%rbx)
        \operation\()q  %rcx, 2(%rbx)
        .endr
        .irp    operation, bts, btr, btc
        lock \operation\()w  %cx, (%rbx)
        lock \operation\()l  %ecx, 1(%rbx)
        lock \operation\()q  %rcx, 2(%rbx)
        lock \operation\()q  $61, 2(%rbx)
        lock \operation\()l  $17, 61(%rbx)
        .endr
        ENDREPEAT
        EXIT
