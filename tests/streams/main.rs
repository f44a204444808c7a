//! Tests that take the process's own standard output and compare it. libtest prints there whenever
//! it likes (that a test runs for long, that another has ended), so another harness starts them.

#[path = "../common/mod.rs"]
mod common;

mod undisturbed;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let tests = vec![Trial::test("undisturbed::disturbed_runs_cost_the_same", || {
        undisturbed::disturbed_runs_cost_the_same();
        Ok(())
    })];
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
