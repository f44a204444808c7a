//! Passes the linker the functions of the engine that ours replace; `src/emu/unicorn/interpose.rs`
//! says why.

/// Turns the names of the list into strings.
macro_rules! wrapped {
    ($($symbol:ident)*) => { &[$(stringify!($symbol)),*] };
}

/// Functions that the engine has once for all architectures: those that allocate, of which
/// `src/emu/unicorn/allocators.rs` checks what they give, and one of its hash tables.
const SHARED: [&str; 7] =
    ["g_malloc", "g_malloc0", "g_malloc_n", "g_malloc0_n", "g_realloc", "g_realloc_n", "qht_remove"];

const WRAPPED: &[&str] = include!("src/emu/unicorn/wrapped.in");

fn main() {
    for symbol in WRAPPED {
        println!("cargo:rustc-link-arg=-Wl,--wrap={symbol}_x86_64");
    }
    for symbol in SHARED {
        println!("cargo:rustc-link-arg=-Wl,--wrap={symbol}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/emu/unicorn/wrapped.in");
}
