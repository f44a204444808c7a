//! Faults, which name their place and leave a complete profile, and code that changes or moves.

use crate::limits::ends;

#[test]
fn faults_name_the_place() {
    let place = &["(broken, ", "p.c:2)"];
    let with = |body: &str| -> String {
        format!(
            "#include <stdlib.h>\nvoid broken(void) {{ {body} }}\nint main(void) {{ broken(); return 0; }}"
        )
    };
    for (body, signal, name) in [
        ("*(volatile int *)8 = 1;", 11, "SIGSEGV"),
        ("((volatile char *)broken)[0] = 1;", 11, "SIGSEGV"),
        ("volatile int z = 0; z = 10 / z;", 8, "SIGFPE"),
        ("__asm__ volatile(\"ud2\");", 4, "SIGILL"),
        ("__asm__ volatile(\"int3\");", 5, "SIGTRAP"),
        ("__asm__ volatile(\"hlt\");", 11, "SIGSEGV"),
        ("__asm__ volatile(\"cli\");", 11, "SIGSEGV"),
        ("__asm__ volatile(\"mov %%cr0, %%rax\" ::: \"rax\");", 11, "SIGSEGV"),
        ("__asm__ volatile(\"in $0x80, %%al\" ::: \"rax\");", 11, "SIGSEGV"),
        ("__asm__ volatile(\"wrmsr\");", 11, "SIGSEGV"),
        (
            "__asm__ volatile(\"mov %0, %%rax; mov (%%rax), %%rax\" :: \"i\"(0x8000000000000000) : \"rax\");",
            11,
            "SIGSEGV",
        ),
    ] {
        let mut parts = place.to_vec();
        parts.push(name);
        ends(&[], &with(body), 128 + signal, &parts);
    }
    ends(&[], &with("abort();"), 128 + 6, &["SIGABRT"]);
}

#[test]
fn a_jump_to_garbage_is_the_programs_fault() {
    for target in ["8", "0x7fffffffe000", "0xdeadbeefdeadbeef"] {
        let text = format!("int main(void) {{ ((void (*)(void)){target})(); return 0; }}");
        ends(&[], &text, 128 + 11, &["SIGSEGV"]);
    }
    // Data is not code.
    ends(
        &[],
        "static char c[64] = {0xc3}; int main(void) { ((void (*)(void))c)(); }",
        128 + 11,
        &["SIGSEGV"],
    );
    let undecodable = "__attribute__((section(\".text#\"))) static const unsigned char c[] = {6, 6, 6, 6};\
        int main(void) { ((void (*)(void))c)(); }";
    ends(&[], undecodable, 128 + 4, &["SIGILL"]);
}

/// Code that the program writes, and writes again, in one mapping and through two permissions in
/// turn: what runs is what is there.
#[test]
fn code_that_changes_is_run_as_it_is() {
    let each_time = "#include <sys/mman.h>\n#include <string.h>\n\
        static const unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};\
        int main(void) { unsigned char *p = mmap(0, 4096, PROTECTION, 0x22, -1, 0); memcpy(p, code, 6);\
        for (int i = 0; i < 2000; i++) { BEFORE p[1] = i & 127; AFTER if (((int (*)(void))p)() != (i & 127)) return 1; }\
        return 0; }";
    let both = each_time.replace("PROTECTION", "7").replace("BEFORE", "").replace("AFTER", "");
    ends(&[], &both, 0, &[]);
    let in_turn = each_time
        .replace("PROTECTION", "3")
        .replace("BEFORE", "mprotect(p, 4096, 3);")
        .replace("AFTER", "mprotect(p, 4096, 5);");
    ends(&[], &in_turn, 0, &[]);
    // An instruction that changes the next one, in the same block.
    let next = "#include <sys/mman.h>\n#include <string.h>\n\
        static const unsigned char code[] = {0xc6, 0x05, 1, 0, 0, 0, 42, 0xb8, 1, 0, 0, 0, 0xc3};\
        int main(void) { unsigned char *p = mmap(0, 4096, 7, 0x22, -1, 0); memcpy(p, code, 13);\
        return ((int (*)(void))p)() != 42; }";
    ends(&[], next, 0, &[]);
    let through_read = "#include <sys/mman.h>\n#include <string.h>\n#include <unistd.h>\n\
        int main(void) { int fd[2]; pipe(fd); unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};\
        unsigned char *p = mmap(0, 4096, 7, 0x22, -1, 0);\
        for (int i = 0; i < 200; i++) { code[1] = i & 127; write(fd[1], code, 6); read(fd[0], p, 6);\
        if (((int (*)(void))p)() != (i & 127)) return 1; } return 0; }";
    ends(&[], through_read, 0, &[]);
}

#[test]
fn moved_mappings_keep_their_code_and_data() {
    let text = "#define _GNU_SOURCE\n#include <sys/mman.h>\n#include <string.h>\n\
        static const unsigned char code[] = {0xb8, 9, 0, 0, 0, 0xc3};\
        int main(void) { unsigned char *p = mmap(0, 8192, 7, 0x22, -1, 0); memcpy(p, code, 6);\
        if (((int (*)(void))p)() != 9) return 1;\
        for (int i = 1; i < 50; i++) { unsigned char *q = mmap(0, 8192, 0, 0x22, -1, 0);\
        if (mremap(p, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, q) != q) return 2;\
        q[1] = i; if (((int (*)(void))q)() != i) return 3; p = q; }\
        if (mremap(p, 8192, 1ul << 47, MREMAP_MAYMOVE) != MAP_FAILED) return 4;\
        if (mremap(p, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, p) != MAP_FAILED) return 5;\
        if (mremap(p + 1, 4096, 8192, MREMAP_MAYMOVE) != MAP_FAILED) return 6;\
        p = mremap(p, 8192, 64 << 20, MREMAP_MAYMOVE); if (p == MAP_FAILED) return 7; p[(64 << 20) - 1] = 1;\
        if (((int (*)(void))p)() != 49) return 8; munmap(p, 64 << 20);\
        return ((int (*)(void))p)(); }";
    ends(&[], text, 128 + 11, &["SIGSEGV"]);
}
