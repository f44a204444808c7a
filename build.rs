//! Passes the linker the functions of the engine that ours replace; `src/emu/unicorn/interpose.rs`
//! says why.

/// Turns the names of the list into strings.
macro_rules! wrapped {
    ($($symbol:ident)*) => { &[$(stringify!($symbol)),*] };
}

/// Functions of the engine's that allocate; `src/emu/unicorn/allocators.rs` checks what they give.
const ALLOCATORS: [&str; 6] =
    ["g_malloc", "g_malloc0", "g_malloc_n", "g_malloc0_n", "g_realloc", "g_realloc_n"];

const WRAPPED: &[&str] = include!("src/emu/unicorn/wrapped.in");

fn main() {
    for symbol in WRAPPED {
        println!("cargo:rustc-link-arg=-Wl,--wrap={symbol}_x86_64");
    }
    for symbol in ALLOCATORS {
        println!("cargo:rustc-link-arg=-Wl,--wrap={symbol}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/emu/unicorn/wrapped.in");
}
