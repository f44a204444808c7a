/* What every program here starts with: its own stack, at the same address under any kernel, and the exit call.
   The initialised datum is there because Valgrind 3.19 reads no debug information from a file without a
   writable segment. */
#ifdef __ASSEMBLER__
        .data
        .balign 64
kept:   .quad   1
        .bss
        .balign 4096
        .skip   65536
stack_top:
        .skip   4096
        .macro  START
        .text
        .globl  _start
        .type   _start, @function
_start:
        lea     stack_top(%rip), %rsp
        .endm
        .macro  EXIT
        mov     $231, %eax
        xor     %edi, %edi
        syscall
        ud2
        .size   _start, . - _start
        .section .note.GNU-stack, "", @progbits
        .endm
/* Runs what is up to ENDREPEAT `n` times; r15 counts. */
        .macro  REPEAT n
        mov     $\n, %r15d
9:
        .endm
/* `mem`: so many bytes of data from the start of a page on. */
        .macro  MEMORY bytes, fill=0x5a
        .data
        .balign 4096
mem:    .skip   \bytes, \fill
        .endm
/* A system call with numbers for its arguments. */
        .macro  SYSTEM number, first=0, second=0, third=0
        mov     $\number, %eax
        mov     $\first, %edi
        mov     $\second, %esi
        mov     $\third, %edx
        syscall
        .endm
/* Ends with status 1 unless the condition holds. */
        .macro  CHECK condition
        j\condition 8f
        mov     $231, %eax
        mov     $1, %edi
        syscall
8:
        .endm
/* Makes `handler` what a signal calls; the restorer is a system call and nothing else. The kernel's frame is where
   each kernel wants it, so that a handler whose accesses are to be compared moves to a stack of its own first, with
   KEEP and then BACK. */
        .macro  HANDLER signal, handler, flags=0x04000000
        .data
        .balign 64
7:      .quad   \handler, \flags, restorer, 0
        .text
        mov     $13, %eax
        mov     $\signal, %edi
        lea     7b(%rip), %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        syscall
        .endm
        .macro  KEEP
        mov     %rsp, %rbp
        lea     stack_top-32768(%rip), %rsp
        .endm
        .macro  BACK
        lea     8(%rbp), %rsp
        jmp     restorer
        .endm
        .macro  RESTORER
restorer:
        mov     $15, %eax
        syscall
        .endm
/* Valgrind's sequence; RAX points to six words for the ending 0xdb. */
        .macro  REQUEST ending=0xdb
        rol     $3, %rdi
        rol     $13, %rdi
        rol     $61, %rdi
        rol     $51, %rdi
        .byte   0x48, 0x87, \ending
        .endm
/* Maps memory at a fixed place. */
        .macro  MAP at, bytes, permissions
        mov     $9, %eax
        mov     $\at, %edi
        mov     $\bytes, %esi
        mov     $\permissions, %edx
        mov     $0x32, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        .endm
/* Code that faults, from the start of a superblock on, which is behind a system call. The handler goes on behind it, by
   registers from before that: under Valgrind only RSP is right there. */
        .macro  FAULTS code
        lea     5f(%rip), %r12
        mov     %rsp, %r9
        SYSTEM  39
        \code
5:      nop
        .endm
        .macro  ELSEWHERE
        .type   elsewhere, @function
elsewhere:
        mov     %r9, %rsp
        jmp     *%r12
        .size   elsewhere, . - elsewhere
        .endm
/* Before and behind all of these: at AT, in RBP, a page that cannot be accessed, and behind it, in R13, one that can be
   read; `elsewhere` handles what they do. */
        .macro  PAGES
        HANDLER 11, elsewhere, 0x44000000
        MAP     AT, 65536, 0
        MAP     AT+4096, 4096, 1
        mov     $AT, %ebp
        mov     $AT+4096, %r13d
        .endm
        .macro  FAULTED
        jmp     done
        ELSEWHERE
        RESTORER
done:
        EXIT
        .endm
        .macro  ENDREPEAT
        dec     %r15d
        jnz     9b
        .endm
#else
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

static u64 kept __attribute__((used)) = 1;
static u8 stack[1 << 20] __attribute__((aligned(4096), used));

static int run(void);

__attribute__((noreturn, used)) static void begin(void)
{
    long status = run() == 0x5eed ? 1 : 0;
    __asm__ volatile("syscall" : : "a"(231L), "D"(status) : "rcx", "r11", "memory");
    __builtin_unreachable();
}

__asm__(".globl _start\n.type _start, @function\n_start:\n"
        "lea stack+1048576-64(%rip), %rsp\n"
        "xor %ebp, %ebp\n"
        "call begin\n"
        ".size _start, . - _start\n");

/* A value that the compiler cannot know. */
static inline u64 opaque(u64 value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

static u64 seed = 88172645463325252ul;

static inline u64 rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    kept += seed;
    return seed;
}

/* The compiler may call these. */
__attribute__((used)) void *memset(void *to, int value, u64 size)
{
    u8 *p = to;
    while (size--) {
        *p++ = (u8)value;
        __asm__ volatile("" : "+r"(p));
    }
    return to;
}

__attribute__((used)) void *memcpy(void *to, const void *from, u64 size)
{
    u8 *p = to;
    const u8 *q = from;
    while (size--) {
        *p++ = *q++;
        __asm__ volatile("" : "+r"(p));
    }
    return to;
}
#endif
