// covers: lea-16 integer-extend
// by hand: Valgrind 3.19 does not decode LEA of 16 bits, MOVSXD without REX.W and FNOP, and loses its way in RORX with RIP
// The manuals' accesses: LEA has none, MOVSXD of 32 bits loads four bytes, RORX loads its operand.
#include "rt.h"
        MEMORY  4096, 5
        START                           //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        lea     mem(%r15), %dx          //= Ir 10: no memory
        movsxd  mem+60(%rip), %eax      //= Ir 10 Dr 10 D1mr 1 DLmr 1: four bytes
        rorx    $7, mem+128(%rip), %rax //= Ir 10 Dr 10 D1mr 1 DLmr 1: eight bytes
        mov     mem+64(%rip), %rax      //= Ir 10 Dr 10 D1mr 1 DLmr 1: not touched before
        fnop                            //= Ir 10: nothing
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
