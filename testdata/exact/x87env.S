// covers: x87-environment x87-control
// The x87 environment and the whole state, in, before and across lines.
#include "rt.h"
        MEMORY  8192, 0
        START
        fninit
        REPEAT  30
        fld1
        fldpi
        .irp    at, 0, 40, 60, 4080
        lea     mem+\at(%rip), %rbx
        fnstenv (%rbx)
        fldenv  (%rbx)
        fnsave  (%rbx)
        frstor  (%rbx)
        fnstcw  (%rbx)
        fldcw   (%rbx)
        fnstsw  3(%rbx)
        fnstsw  %ax
        .endr
        fstp    %st(0)
        fstp    %st(0)
        ENDREPEAT
        EXIT
