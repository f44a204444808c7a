//! The list of the engine's functions that ours replace, and the macros that define a replacement.
//!
//! With `--wrap=f` the linker turns every reference to `f` from another object into one to
//! `__wrap_f`, and `__real_f` is the engine's function. A replacement that the list lacks does not
//! compile; a listed one that is not defined does not link.
#![allow(unsafe_code)]

/// Turns the names of the list into strings.
macro_rules! wrapped {
    ($($symbol:ident)*) => { &[$(stringify!($symbol)),*] };
}

const WRAPPED: &[&str] = include!("wrapped.in");

/// Tests whether the linker is told of a function.
pub(super) const fn is_listed(symbol: &str) -> bool {
    let mut i = 0;
    while i < WRAPPED.len() {
        if equal(WRAPPED[i].as_bytes(), symbol.as_bytes()) {
            return true;
        }
        i += 1;
    }
    false
}

/// `a == b`, which traits cannot say in a constant.
const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Defines functions that stand in for those of the engine with the same name.
macro_rules! replace {
    ($($(#[$attr:meta])* fn $symbol:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => { $(
        const _: () = assert!(
            crate::emu::unicorn::wrapped::is_listed(stringify!($symbol)),
            concat!("wrapped.in lacks ", stringify!($symbol)),
        );
        $(#[$attr])*
        #[unsafe(export_name = concat!("__wrap_", stringify!($symbol), "_x86_64"))]
        #[allow(non_snake_case)]
        unsafe extern "C" fn $symbol($($arg: $type),*) $(-> $result)? $body
    )* };
}

/// Declares `real`, the engine's function of that name.
macro_rules! real {
    ($symbol:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)?) => {
        unsafe extern "C" {
            #[link_name = concat!("__real_", stringify!($symbol), "_x86_64")]
            fn real($($arg: $type),*) $(-> $result)?;
        }
    };
}

/// Defines helpers that can fault. The engine finds the faulting instruction by the helper's return
/// address, so `$inner` gets that in the register of its last argument.
macro_rules! replace_faulting {
    ($($symbol:ident => $inner:ident, return address in $register:literal;)*) => { $(
        const _: () = {
            crate::emu::unicorn::wrapped::replace! {
                #[unsafe(naked)]
                fn $symbol() {
                    std::arch::naked_asm!(
                        concat!("mov ", $register, ", [rsp]"),
                        "jmp {inner}",
                        inner = sym $inner,
                    )
                }
            }
        };
    )* };
}

/// Defines helpers that do `$before` with the state, the first argument and the return address,
/// and then jump to the engine's helper, which finds its own return address on the stack.
macro_rules! replace_after {
    ($before:ident: $($symbol:ident)*) => { $(
        const _: () = {
            crate::emu::unicorn::wrapped::real!($symbol());
            crate::emu::unicorn::wrapped::replace! {
                #[unsafe(naked)]
                fn $symbol() {
                    std::arch::naked_asm!(
                        "push rdi",
                        "push rsi",
                        "push rdx",
                        "mov rdx, [rsp + 24]",
                        "call {before}",
                        "pop rdx",
                        "pop rsi",
                        "pop rdi",
                        "jmp {real}",
                        before = sym $before,
                        real = sym real,
                    )
                }
            }
        };
    )* };
}

pub(super) use {real, replace, replace_after, replace_faulting};

#[cfg(test)]
mod tests {
    use super::*;

    /// Links only if every listed function is defined.
    #[test]
    fn every_listed_function_has_a_replacement() {
        macro_rules! wrapped {
            ($($symbol:ident)*) => {
                [$({
                    unsafe extern "C" {
                        #[link_name = concat!("__wrap_", stringify!($symbol), "_x86_64")]
                        fn replacement();
                    }
                    replacement as *const ()
                }),*]
            };
        }
        // Functions of equal code may have one address.
        let functions = std::hint::black_box(include!("wrapped.in"));
        assert_eq!(functions.len(), WRAPPED.len());
        let names: std::collections::BTreeSet<_> = WRAPPED.iter().collect();
        assert_eq!(names.len(), WRAPPED.len(), "a function is listed twice");
        assert!(!is_listed("helper_add") && !is_listed("helper_addpdx"));
    }
}
