// covers: fault signal
// What a fault makes Valgrind forget: events that are queued. The queue is flushed when another event finds sixteen in it.
#include "rt.h"
        MEMORY  8192, 0
        .set    AT, 0x20000000
        START
        HANDLER 11, elsewhere, 0x44000000
        MAP     AT, 65536, 0
        MAP     AT+4096, 4096, 1
        mov     $AT, %ebp
        mov     $AT+4096, %r13d
        REPEAT  10
        FAULTS  ".rept 0; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 1; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 13; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 14; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 15; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 16; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 17; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 30; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 31; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 32; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 33; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 47; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 59; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 60; nop; .endr; add (%rbp), %r14"
        FAULTS  ".rept 14; nop; .endr; mov %r14, (%rbp)"
        FAULTS  ".rept 15; nop; .endr; mov %r14, (%rbp)"
        FAULTS  ".rept 16; nop; .endr; mov %r14, (%rbp)"
        FAULTS  ".rept 14; nop; .endr; add %r14, (%rbp)"
        FAULTS  ".rept 15; nop; .endr; add %r14, (%rbp)"
        FAULTS  ".rept 16; nop; .endr; add %r14, (%rbp)"
        FAULTS  ".rept 14; nop; .endr; mov %r14, (%r13)"
        FAULTS  ".rept 15; nop; .endr; mov %r14, (%r13)"
        FAULTS  ".rept 16; nop; .endr; mov %r14, (%r13)"
        FAULTS  ".rept 13; nop; .endr; add %r14, (%r13)"
        FAULTS  ".rept 14; nop; .endr; add %r14, (%r13)"
        FAULTS  ".rept 15; nop; .endr; add %r14, (%r13)"
        FAULTS  ".rept 16; nop; .endr; add %r14, (%r13)"
        FAULTS  ".rept 13; nop; .endr; pushq (%rbp)"
        FAULTS  ".rept 14; nop; .endr; pushq (%rbp)"
        FAULTS  ".rept 15; nop; .endr; pushq (%rbp)"
        FAULTS  ".rept 16; nop; .endr; pushq (%rbp)"
        FAULTS  ".rept 12; nop; .endr; popq (%rbp)"
        FAULTS  ".rept 13; nop; .endr; popq (%rbp)"
        FAULTS  ".rept 14; nop; .endr; popq (%rbp)"
        FAULTS  ".rept 15; nop; .endr; popq (%rbp)"
        FAULTS  ".rept 16; nop; .endr; popq (%rbp)"
        FAULTS  ".rept 13; nop; .endr; popq (%r13)"
        FAULTS  ".rept 14; nop; .endr; popq (%r13)"
        FAULTS  ".rept 15; nop; .endr; popq (%r13)"
        FAULTS  ".rept 12; nop; .endr; lock incl (%rbp)"
        FAULTS  ".rept 13; nop; .endr; lock incl (%rbp)"
        FAULTS  ".rept 14; nop; .endr; lock incl (%rbp)"
        FAULTS  ".rept 15; nop; .endr; lock incl (%rbp)"
        FAULTS  ".rept 16; nop; .endr; lock incl (%rbp)"
        FAULTS  ".rept 12; nop; .endr; lock incl (%r13)"
        FAULTS  ".rept 13; nop; .endr; lock incl (%r13)"
        FAULTS  ".rept 14; nop; .endr; lock incl (%r13)"
        FAULTS  ".rept 15; nop; .endr; lock incl (%r13)"
        FAULTS  ".rept 16; nop; .endr; lock incl (%r13)"
        FAULTS  ".rept 13; nop; .endr; lock cmpxchg %r14, (%r13)"
        FAULTS  ".rept 14; nop; .endr; lock cmpxchg %r14, (%r13)"
        FAULTS  ".rept 15; nop; .endr; lock cmpxchg %r14, (%r13)"
        FAULTS  ".rept 14; nop; .endr; call *(%rbp)"
        FAULTS  ".rept 15; nop; .endr; call *(%rbp)"
        FAULTS  ".rept 14; nop; .endr; jmp *(%rbp)"
        FAULTS  ".rept 15; nop; .endr; jmp *(%rbp)"
        FAULTS  ".rept 13; nop; .endr; fnsave (%rbp)"
        FAULTS  ".rept 14; nop; .endr; fnsave (%rbp)"
        FAULTS  ".rept 15; nop; .endr; fnsave (%rbp)"
        FAULTS  ".rept 1; nop; .endr; fxsave 4080-160(%r13)"
        FAULTS  ".rept 3; nop; .endr; fxsave 4080-160(%r13)"
        ENDREPEAT
        jmp     done
        ELSEWHERE
        RESTORER
done:
        EXIT
