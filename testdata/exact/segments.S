// covers: segment-register segment-base
// by hand: Valgrind 3.19 does not decode PUSH and POP of FS and GS
// A push is a write and a pop a read, of eight bytes, or two with the prefix (Intel SDM, PUSH, POP).
#include "rt.h"
        MEMORY  4096, 0
        START                           //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        lea     mem+128(%rip), %rsp     //= Ir 10: no memory
        push    %fs                     //= Ir 10 Dw 10 D1mw 1 DLmw 1: the last eight bytes of the second line
        pop     %fs                     //= Ir 10 Dr 10 D1mr 0 DLmr 0: the same
        push    %gs                     //= Ir 10 Dw 10 D1mw 0 DLmw 0: the same
        pop     %gs                     //= Ir 10 Dr 10 D1mr 0 DLmr 0: the same
        mov     %fs, mem+256(%rip)      //= Ir 10 Dw 10 D1mw 1 DLmw 1: two bytes
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
