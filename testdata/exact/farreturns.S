// covers: far-return iret
// by hand: Valgrind 3.19 does not decode IRET and far RET in 64-bit code
// As in VEX's front end for 32-bit code (guest_x86_toIR.c, case 0xCF) each value is a load, and the end is a return:
// no indirect branch. RIP and CS, for IRET RFLAGS, RSP and SS too (Intel SDM, IRET), of which the first three are in
// another line than the others here.
#include "rt.h"
        START                           //= Ir 1: LEA
        and     $-64, %rsp              //= Ir 1: no memory
        mov     %ss, %r8d               //= Ir 1: no memory
        mov     %cs, %r9d               //= Ir 1: no memory
        sub     $4096, %rsp             //= Ir 1: no memory
        REPEAT  10                      //= Ir 1: MOV
        mov     %rsp, %r10              //= Ir 10: no memory
        lea     16(%rsp), %rsp          //= Ir 10: no memory
        push    %r8                     //= Ir 10 Dw 10 D1mw 1 DLmw 1: SS, into one line
        push    %r10                    //= Ir 10 Dw 10: RSP, into the same
        pushfq                          //= Ir 10 Dw 10 D1mw 1 DLmw 1: RFLAGS, into the next
        push    %r9                     //= Ir 10 Dw 10: CS, into that
        lea     1f(%rip), %rax          //= Ir 10: no memory
        push    %rax                    //= Ir 10 Dw 10: RIP, into that
        iretq                           //= Ir 10 Dr 50 D1mr 0 DLmr 0: five values
1:      push    %r9                     //= Ir 10 Dw 10 D1mw 0 DLmw 0: CS, into the line of RFLAGS
        lea     2f(%rip), %rax          //= Ir 10: no memory
        push    %rax                    //= Ir 10 Dw 10 D1mw 0 DLmw 0: RIP, into that
        lretq                           //= Ir 10 Dr 20 D1mr 0 DLmr 0: two values
2:      ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
