//! Passes the linker the functions of the engine that ours replace; `src/emu/unicorn/interpose.rs`
//! says why.

/// Turns the names of the list into strings.
macro_rules! wrapped {
    ($($symbol:ident)*) => { &[$(stringify!($symbol)),*] };
}

const WRAPPED: &[&str] = include!("src/emu/unicorn/wrapped.in");

fn main() {
    for symbol in WRAPPED {
        println!("cargo:rustc-link-arg=-Wl,--wrap={symbol}_x86_64");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/emu/unicorn/wrapped.in");
}
