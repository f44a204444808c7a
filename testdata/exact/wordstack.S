// covers: pushf-16 pop-mem-16 leave-16
// by hand: Valgrind 3.19 does not decode PUSHFW, POPFW, LEAVEW and POP of 16 bits to memory
// Each moves two bytes (Intel SDM): the same events as with eight.
#include "rt.h"
        MEMORY  4096, 0
        START                           //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        lea     mem+128(%rip), %rsp     //= Ir 10: no memory
        pushfw                          //= Ir 10 Dw 10 D1mw 1 DLmw 1: two bytes, the last of their line
        popfw                           //= Ir 10 Dr 10 D1mr 0 DLmr 0: the same
        lea     mem+190(%rip), %rsp     //= Ir 10: no memory
        popw    mem+254(%rip)           //= Ir 10 Dr 10 D1mr 1 DLmr 1 Dw 10 D1mw 1 DLmw 1: two bytes each, within their lines
        lea     mem+318(%rip), %rbp     //= Ir 10: no memory
        leavew                          //= Ir 10 Dr 10 D1mr 1 DLmr 1: two bytes at RBP, the last of their line
        mov     mem+320(%rip), %rax     //= Ir 10 Dr 10 D1mr 1 DLmr 1: no access above went so far
        mov     mem+256(%rip), %rax     //= Ir 10 Dr 10 D1mr 0 DLmr 0: the line of LEAVEW
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
