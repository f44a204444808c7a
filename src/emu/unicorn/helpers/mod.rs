//! Helpers of generated code that stand in for the engine's own, where those do not do what the CPU does.
//! `build.rs` names them to the linker; `tests/linux/isa.rs` compares the outcome with the host's CPU.
//!
//! A helper that can fault needs its place in the generated code, which is its return address: such a one is a naked
//! function that hands this address on, or jumps to the engine's helper after its own work.
#![allow(unsafe_code)]
// Each helper is called by generated code, with the arguments of the engine's helper of that name.
#![allow(clippy::missing_safety_doc)]

pub mod state;

mod compare;
mod mmx;
mod sse;
mod status;
mod strings;
mod transcendental;
mod wide;
mod x87;

pub use status::unaligned;

/// Helpers that do `$before` with the state, which must not fault, and then what the engine's helper does.
macro_rules! before {
    ($before:ident: $($wrap:ident => $real:ident;)*) => { $(
        unsafe extern "C" { fn $real(); }

        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $wrap() {
            std::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "call {before}",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp {real}",
                before = sym $before,
                real = sym $real,
            )
        }
    )* };
}
use before;

/// Helpers with two arguments that can fault: `$inner` gets the return address as its third.
macro_rules! faulting {
    ($($wrap:ident => $inner:ident;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $wrap() {
            std::arch::naked_asm!("mov rdx, [rsp]", "jmp {inner}", inner = sym $inner)
        }
    )* };
}
use faulting;
