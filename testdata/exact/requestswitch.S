// covers: request-switch
// by hand: Valgrind 3.19 does not know Cachegrind's requests
// Each load has a register of its own, so that none is dead. What is between STOP and START is not counted, and the caches do not see it; STOP itself is counted, START is not.
#include "rt.h"
        MEMORY  8192
        .data
        .balign 64
start:  .quad   0x43470000, 0, 0, 0, 0, 0
        .balign 64
stop:   .quad   0x43470001, 0, 0, 0, 0, 0
        START                                   //= Ir 1: LEA
        mov     mem(%rip), %r8                  //= Ir 1 Dr 1 D1mr 1 DLmr 1: it is new
        lea     stop(%rip), %rax                //= Ir 1: LEA
        REQUEST                                 //= Ir 1: the last instruction that is counted
back:   mov     mem+4096(%rip), %r9             //= Ir 1 Dr 1 D1mr 1 DLmr 1: after START only, where it is new
        lea     start(%rip), %rax               //= Ir 1: once, while counting was on
        cmp     $0, %r14                        //= Ir 1: and so are these
        jne     3f                              //= Ir 1 Bc 1: taken
        mov     mem+4096+64(%rip), %rcx
        REPEAT  10
        mov     mem+4096+128(%rip), %rcx
        ENDREPEAT
        lea     start(%rip), %rax
        REQUEST
        inc     %r14                            //= Ir 1: the first that is counted
        mov     mem(%rip), %r10                 //= Ir 1 Dr 1 D1mr 0 DLmr 0: still in the cache
        mov     mem+4096+64(%rip), %r11         //= Ir 1 Dr 1 D1mr 1 DLmr 1: was not counted, so it is not
        jmp     back                            //= Ir 1: a jump back
3:      EXIT                                    //= Ir 3: MOV, XOR, SYSCALL
