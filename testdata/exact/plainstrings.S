// covers: movs lods stos scas string-down
// String instructions without a prefix, both ways, every width, from and to every place of a line.
#include "rt.h"
        MEMORY  16384
        START
        REPEAT  70
        lea     mem+4096(%rip), %rsi
        sub     %r15, %rsi
        lea     mem+8192(%rip), %rdi
        add     %r15, %rdi
        .irp    direction, cld, std, cld
        \direction
        .irp    width, b, w, l, q
        movs\width
        lods\width
        stos\width
        scas\width
        .endr
        .endr
        ENDREPEAT
        EXIT
