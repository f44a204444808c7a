//! What is measured.

/// A Fibonacci number, the slow way.
#[must_use]
pub fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}
