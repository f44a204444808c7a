//! The emulated machine in `/proc` and `/sys`: one, whoever is asked, and nothing of the host's.

use std::process::Output;

use crate::common::{cgemu, stderr, stdout};

fn run(script: &str) -> Output {
    let words = ["run", "-q", "--cachegrind-out-file=/dev/null", "--", "bash", "-c", script];
    let out = cgemu(std::env::temp_dir().as_path(), &words).output().expect("cgemu starts");
    assert!(out.status.success(), "{script}: {}", stderr(&out));
    out
}

#[test]
fn the_cpu_is_one_and_the_same() {
    let shown = stdout(&run("lscpu; nproc; getconf _NPROCESSORS_CONF"));
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.trim_start().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no {name} in\n{shown}"));
        line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    for name in ["CPU(s):", "Thread(s) per core:", "Core(s) per socket:", "Socket(s):", "NUMA node(s):"] {
        assert_eq!(row(name), "1", "{name}");
    }
    assert!(shown.ends_with("\n1\n1\n"));
    // By CPUID as by sysfs: glibc asks the one, lscpu the other.
    let sizes = stdout(&run("cat /sys/devices/system/cpu/cpu0/cache/index*/size; \
         for size in LEVEL1_DCACHE_SIZE LEVEL1_ICACHE_SIZE LEVEL2_CACHE_SIZE LEVEL3_CACHE_SIZE; do \
         echo $(($(getconf $size) / 1024))K; done; \
         grep -c 'sse4_2.*popcnt' /proc/cpuinfo"));
    let (lines, flags): (Vec<&str>, _) = (sizes.lines().take(8).collect(), sizes.lines().last());
    assert_eq!(lines[..4], lines[4..]);
    assert_eq!(flags, Some("1"));
}

#[test]
fn processes_are_those_of_the_run() {
    let shown = stdout(&run("sleep 100 & cd /proc; echo [0-9]*; cat loadavg; kill $!; wait; echo [0-9]*"));
    assert_eq!(shown, "1000 1001\n0.00 0.00 0.00 1/3 1002\n1000\n");
    // Counters go on while files stay open and are read anew from their beginning.
    let script = "exec 3< /proc/uptime; read first idle <&3; sleep 5; \
                  exec 4< /proc/self/fd/3; read second idle <&4; echo $((${second%.*} - ${first%.*}))";
    assert_eq!(stdout(&run(script)), "5\n");
}
