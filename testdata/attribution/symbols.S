// Functions as assembly makes them: without a size or a type, inside each other, under several names.
        .data
        .balign 8
        .quad   1
        .text
        .globl  main
        .type   main, @function
main:   push    %rbx
        mov     $10, %ebx
1:      call    no_size
        call    no_type
        call    local
        call    outer
        call    alias
        call    indirect
        call    long_one
        call    weak_one
        dec     %ebx
        jnz     1b
        xor     %eax, %eax
        pop     %rbx
        ret
        .size   main, . - main
        .globl  no_size
        .type   no_size, @function
no_size:
        nop
        nop
        ret
no_type:
        nop
        ret
        .type   local, @function
local:  nop
        ret
        .size   local, . - local
        nop
        .globl  outer
        .type   outer, @function
outer:  nop
        nop
        jmp     inner
        nop
        .type   inner, @function
inner:  nop
        ret
        .size   inner, . - inner
        nop
        .size   outer, . - outer
        .globl  alias, al1, al0
        .weak   alias_weak
        .type   alias, @function
        .type   al1, @function
        .type   al0, @function
        .type   alias_weak, @function
al0:
al1:
alias_weak:
alias:  nop
        nop
        ret
        .size   alias, . - alias
        .size   al1, . - al1
        .size   al0, 1
        .size   alias_weak, . - alias_weak
        .type   chosen, @function
chosen: nop
        ret
        .size   chosen, . - chosen
        .globl  indirect
        .type   indirect, @gnu_indirect_function
indirect:
        lea     chosen(%rip), %rax
        ret
        .size   indirect, . - indirect
        .type   an_object, @object
an_object:
weak_one:
        nop
        ret
        .size   an_object, . - an_object
        .weak   weak_one
        .type   long_one, @function
long_one:
        .rept   5000
        nop
        .endr
        ret
        .size   long_one, . - long_one
        .section .note.GNU-stack, "", @progbits
