use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};

#[library_benchmark]
#[bench::short(10)]
#[bench::long(15)]
fn bench_fib(n: u64) -> u64 {
    black_box(proj::fib(black_box(n)))
}

library_benchmark_group!(name = group, benchmarks = bench_fib);
main!(library_benchmark_groups = group);
