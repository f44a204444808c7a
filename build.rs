//! Tells the linker which functions of the engine the tap stands in front of; `src/emu/unicorn/tap.rs` says why.

/// Symbols of the engine's x86-64 build, without the suffix it gives them.
const WRAPPED: &[&str] = &[
    "tcg_gen_qemu_ld_i32",
    "tcg_gen_qemu_ld_i64",
    "tcg_gen_qemu_st_i32",
    "tcg_gen_qemu_st_i64",
    "tcg_gen_callN",
    "tcg_gen_lookup_and_goto_ptr",
    "tcg_gen_goto_tb",
    "tcg_gen_atomic_cmpxchg_i32",
    "tcg_gen_atomic_cmpxchg_i64",
    "tcg_gen_atomic_xchg_i32",
    "tcg_gen_atomic_xchg_i64",
    "tcg_gen_atomic_fetch_add_i32",
    "tcg_gen_atomic_fetch_add_i64",
    "tcg_gen_atomic_fetch_and_i32",
    "tcg_gen_atomic_fetch_and_i64",
    "tcg_gen_atomic_fetch_or_i32",
    "tcg_gen_atomic_fetch_or_i64",
    "tcg_gen_atomic_fetch_xor_i32",
    "tcg_gen_atomic_fetch_xor_i64",
    "tcg_gen_atomic_add_fetch_i32",
    "tcg_gen_atomic_add_fetch_i64",
    "tcg_gen_atomic_and_fetch_i32",
    "tcg_gen_atomic_and_fetch_i64",
    "tcg_gen_atomic_or_fetch_i32",
    "tcg_gen_atomic_or_fetch_i64",
    "tcg_gen_atomic_xor_fetch_i32",
    "tcg_gen_atomic_xor_fetch_i64",
    "translator_loop",
    "tlb_reset_dirty_by_vaddr",
    "helper_check_exit_request",
    "cpu_ldub_code",
    "cpu_loop_exit_noexc",
];

fn main() {
    for symbol in WRAPPED {
        println!("cargo:rustc-link-arg=-Wl,--wrap={symbol}_x86_64");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
