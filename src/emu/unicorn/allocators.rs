//! Functions of the engine that allocate, and go on with a null pointer where there is no memory.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::host_memory::given;

/// Defines what stands in for functions of the engine's that allocate; build.rs lists them.
macro_rules! checked {
    ($($symbol:ident($($arg:ident: $type:ty),*) = $size:expr;)*) => { $(
        #[unsafe(export_name = concat!("__wrap_", stringify!($symbol)))]
        unsafe extern "C" fn $symbol($($arg: $type),*) -> *mut c_void {
            unsafe extern "C" {
                #[link_name = concat!("__real_", stringify!($symbol))]
                fn real($($arg: $type),*) -> *mut c_void;
            }
            // SAFETY: the engine's own arguments.
            given(unsafe { real($($arg),*) }, $size)
        }
    )* };
}

checked! {
    g_malloc(size: usize) = size;
    g_malloc0(size: usize) = size;
    g_malloc_n(count: usize, size: usize) = count.saturating_mul(size);
    g_malloc0_n(count: usize, size: usize) = count.saturating_mul(size);
    g_realloc(memory: *mut c_void, size: usize) = size;
    g_realloc_n(memory: *mut c_void, count: usize, size: usize) = count.saturating_mul(size);
}
