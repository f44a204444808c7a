// covers: x87-bcd
// by hand: Valgrind 3.19 does not decode FBLD and FBSTP
// Their operand has ten bytes (Intel SDM, FBLD): one access, like that of FLD and FSTP with ten bytes.
#include "rt.h"
        MEMORY  4096, 0
        START                           //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        fbld    mem+54(%rip)            //= Ir 10 Dr 10 D1mr 1 DLmr 1: the last ten bytes of the first line
        fbstp   mem+119(%rip)           //= Ir 10 Dw 10 D1mw 1 DLmw 1: nine bytes of the second line and one of the third
        mov     mem+64(%rip), %rax      //= Ir 10 Dr 10 D1mr 0 DLmr 0: the second line
        mov     mem+128(%rip), %rax     //= Ir 10 Dr 10 D1mr 0 DLmr 0: the third line
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
