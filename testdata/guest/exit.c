// covers: exit exit_group write
// flags: -static -nostdlib -ffreestanding -fno-stack-protector
// exit: 57
static long call(long n, long a, long b, long c)
{
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
}

/* Without a C library: what the kernel gives a program. */
__attribute__((used)) static void start(long *stack)
{
    long argc = stack[0], at = 0, auxv = 0;
    for (at = argc + 2; stack[at]; at++)
        ;
    for (at++; stack[at]; at += 2)
        auxv++;
    call(1, 1, (long)"args ", 5);
    char digit = (char)('0' + argc);
    call(1, 1, (long)&digit, 1);
    call(1, 1, (long)(auxv > 10 ? " auxv\n" : " none\n"), 6);
    call(1, 1, (long)((long)stack % 16 ? "crooked\n" : "aligned\n"), 8);
    /* Only the low byte counts. */
    call(60, 0x12345639, 0, 0);
    for (;;)
        call(231, 1, 0, 0);
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\txor %ebp, %ebp\n\tcall start\n");
