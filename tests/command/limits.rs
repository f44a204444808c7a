//! How runs end: at limits, and what hostile programs cannot do. Whatever ends a run, the profile
//! is complete.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use crate::common::{cgemu, counts, output, stderr, stdout, tool, vars};
use tempfile::TempDir;

pub(crate) fn temporary() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Builds a C program called `p` from this text.
pub(crate) fn build(directory: &Path, text: &str) -> PathBuf {
    let source = directory.join("p.c");
    fs::write(&source, text).expect("write");
    let out = tool("gcc", directory, "gcc", &["-g", "-O0", "-w", "-static", "-o", "p", "p.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    directory.join("p")
}

/// Builds and runs a program with these options and with the profile in `out`.
pub(crate) fn run(directory: &Path, options: &[&str], text: &str) -> Output {
    build(directory, text);
    let mut words = vec!["run", "--cachegrind-out-file=out"];
    words.extend(options);
    // So that what never ends fails here.
    if !options.iter().any(|option| option.starts_with("--timeout")) {
        words.push("--timeout=60s");
    }
    words.extend(["--", "./p"]);
    output(directory, &words)
}

/// Checks the profile in `out`: whole, its summary the sum of its lines, and with instructions in
/// it.
pub(crate) fn profile(directory: &Path) -> counts::Counts {
    let counts = counts::read(&directory.join("out"));
    assert!(counts.rows.values().any(|row| row[0] > 0), "an empty profile");
    counts
}

/// A run that must end with this status, a profile and these words in the log.
pub(crate) fn ends(options: &[&str], text: &str, status: i32, parts: &[&str]) {
    let dir = temporary();
    let out = run(dir.path(), options, text);
    let log = stderr(&out);
    assert_eq!(out.status.code(), Some(status), "{text}: {log}");
    for part in parts {
        assert!(log.contains(part), "{part:?} is not in: {log}");
    }
    assert!(!log.contains("panicked") && !log.contains("internal error"), "{log}");
    profile(dir.path());
}

#[test]
fn instructions_are_limited_exactly() {
    let dir = temporary();
    build(dir.path(), "int main(void) { volatile unsigned long n = 0; for (;;) n++; }");
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for limit in ["1_000_000", "1M", "999_999"] {
        let option = format!("--max-instructions={limit}");
        let out = output(dir.path(), &["run", "--cachegrind-out-file=out", &option, "--", "./p"]);
        assert_eq!(out.status.code(), Some(124), "{}", stderr(&out));
        assert!(stderr(&out).contains("--max-instructions"), "{}", stderr(&out));
        let total: u64 = profile(dir.path()).rows.values().map(|row| row[0]).sum();
        let wanted = if limit == "999_999" { 999_999 } else { 1_000_000 };
        assert_eq!(total, wanted, "{limit}");
        seen.push(fs::read(dir.path().join("out")).expect("a profile"));
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn memory_is_limited() {
    let grow = "#include <stdlib.h>\n#include <string.h>\n\
        int main(void) { for (int i = 0; i < 4096; i++) memset(malloc(1 << 20), 1, 1 << 20); return 0; }";
    ends(&["--max-memory=64M"], grow, 124, &["--max-memory"]);
    // What is reserved and not touched needs no memory.
    let reserve = "#include <sys/mman.h>\nint main(void) { char *p = mmap(0, 64ul << 30, 3, 0x4022, -1, 0);\
        if (p == MAP_FAILED) return 1; for (long i = 0; i < 64; i++) p[i << 30] = 1; return p[5l << 30] - 1; }";
    ends(&["--max-memory=64M"], reserve, 0, &[]);
    ends(
        &["--max-memory=64M"],
        &reserve.replace("i < 64", "i < 64l << 18").replace("p[i << 30]", "p[i << 12]"),
        124,
        &["--max-memory"],
    );
}

/// Programs that make, open or write without end: one message, and a complete profile.
#[test]
fn files_and_output_are_limited() {
    let files = &["--max-files=200", "--timeout=300s"][..];
    let output = &["--max-output=10K", "--timeout=300s"][..];
    let include = "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <sys/stat.h>\n";
    let bombs = [
        (files, "int main(void) { for (;;) open(\"/\", O_RDONLY); }", "--max-files"),
        (files, "int main(void) { int p[2]; while (!pipe(p)); for (;;) pipe(p); }", "--max-files"),
        (
            files,
            "int main(void) { char n[32]; for (int i = 0;; i++) { sprintf(n, \"d%d\", i); mkdir(n, 0777); } }",
            "--max-files",
        ),
        (output, "int main(void) { for (;;) puts(\"a line of a log\"); }", "--max-output"),
        (output, "int main(void) { for (;;) write(2, \"a line of a log\\n\", 16); }", "--max-output"),
    ];
    for (options, text, part) in bombs {
        ends(options, &format!("{include}{text}"), 124, &[part]);
    }
    // What is closed and removed counts no longer.
    let tidy = "int main(void) { for (int i = 0; i < 1000; i++) { int fd = open(\"x\", O_CREAT | O_RDWR, 0666);\
        close(fd); unlink(\"x\"); mkdir(\"y\", 0777); rmdir(\"y\"); } return 0; }";
    ends(&["--max-files=200", "--max-output=1"], &format!("{include}{tidy}"), 0, &[]);
    // A hole before what is written makes a file longer too.
    let hole = "int main(void) { if (lseek(1, 1L << 38, SEEK_SET) != 1L << 38) return 3; write(1, \"x\", 1); return 0; }";
    let dir = temporary();
    let program = build(dir.path(), &format!("{include}{hole}"));
    let stdout = fs::File::create(dir.path().join("stdout")).expect("a file");
    let words = ["run", "--cachegrind-out-file=out", "--max-output=10K"];
    let status = cgemu(dir.path(), &words).arg(&program).stdout(stdout).status().expect("it runs");
    assert_eq!(
        (status.code(), fs::metadata(dir.path().join("stdout")).expect("there").len()),
        (Some(124), 0)
    );
    for call in ["pwrite(fd, \"x\", 1, 1L << 38)", "ftruncate(fd, 1L << 38)"] {
        let text = format!(
            "int main(void) {{ int fd = open(\"big\", O_CREAT | O_WRONLY, 0666); {call}; return 0; }}"
        );
        let out = run(dir.path(), &["--allow-write=.", "--max-output=10K"], &format!("{include}{text}"));
        assert_eq!(out.status.code(), Some(124), "{}", stderr(&out));
        assert_eq!(fs::metadata(dir.path().join("big")).expect("made").len(), 0);
    }
    // Under --allow-write, all that was let is there.
    let dir = temporary();
    let disk = "int main(void) { char b[1000] = {1}; int fd = open(\"big\", O_CREAT | O_WRONLY, 0666);\
        for (;;) write(fd, b, 1000); }";
    let out = run(dir.path(), &["--allow-write=.", "--max-output=2500"], &format!("{include}{disk}"));
    assert_eq!(out.status.code(), Some(124), "{}", stderr(&out));
    assert_eq!(fs::metadata(dir.path().join("big")).expect("written").len(), 2500);
    profile(dir.path());
}

/// The most memory that a process takes until it ends, in KiB.
pub fn peak(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // The mark only rises, and is gone with the process.
    while child.try_wait().expect("it can be waited for").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = mark.and_then(|mark| mark.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(size.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

/// Runs a case of a program of `testdata/limits` with 64 MiB, unless an option says otherwise; its
/// status, its log and the most memory that cgemu took, in KiB.
fn fill(directory: &Path, options: &[&str], what: &str, count: u32) -> (Option<i32>, String, u64) {
    let count = count.to_string();
    let mut words = vec!["run", "--cachegrind-out-file=out", "--timeout=300s"];
    if !options.iter().any(|option| option.starts_with("--max-memory")) {
        words.push("--max-memory=64M");
    }
    words.extend(options);
    words.extend(["--", "./p", what, &count]);
    let mut command = cgemu(directory, &words);
    // A pipe that nobody empties would fill and stop it.
    let told = directory.join("told");
    let log = fs::File::create(&told).expect("a file for the messages");
    let mut child = command.stderr(log).spawn().expect("cgemu starts");
    let peak = peak(&mut child);
    let status = child.wait().expect("it ends");
    (status.code(), fs::read_to_string(told).expect("the messages are text"), peak)
}

/// All that the emulated kernel keeps for a program counts, and what is freed no longer does. With
/// a limit of 64 MiB nothing takes cgemu, which has some 25 MiB of its own, above 128 MiB. The code
/// of a run may take 256 MiB more.
#[test]
fn what_the_kernel_keeps_is_limited() {
    let dir = temporary();
    let source = include_str!("../../testdata/limits/fill.c");
    build(dir.path(), source);
    for (what, count, status, most) in [
        ("pipes", 1500, 124, 128),
        ("symlinks", 40_000, 124, 128),
        ("memory files", 40_000, 124, 128),
        ("a file", 200, 124, 128),
        ("a sparse file", 40_000, 124, 128),
        ("links", 800_000, 124, 128),
        ("listings", 5000, 124, 128),
        ("watches", 400_000, 124, 128),
        ("paths", 3000, 124, 128),
        ("pages far apart", 20_000, 124, 128),
        ("symlinks in turn", 40_000, 0, 64),
        ("files in turn", 40_000, 0, 64),
        ("memory files in turn", 40_000, 0, 64),
        ("directories in turn", 200_000, 0, 64),
        ("mappings in turn", 20_000, 0, 64),
        ("mappings", 70_000, 0, 128),
        ("holes", 70_000, 0, 128),
        ("code", 2000, 124, 384),
    ] {
        let (ended, log, peak) = fill(dir.path(), &[], what, count);
        assert_eq!(ended, Some(status), "{what}: {log}");
        assert_eq!(log.contains("--max-memory"), status == 124, "{what}: {log}");
        assert!(peak > 1024 && peak < most * 1024, "{what}: {peak} KiB");
        profile(dir.path());
    }
}

/// Floods end by the limit that they reach, in one line and with memory to spare, or are only work.
#[test]
fn floods_are_limited() {
    let dir = temporary();
    build(dir.path(), include_str!("../../testdata/limits/flood.c"));
    for (what, count, option, status, most) in [
        ("vforks", 1, Some("--max-processes=1000"), 124, 128),
        ("execs", 1, Some("--max-instructions=5M"), 124, 128),
        ("signals", 16_384, None, 0, 128),
        ("timers", 50, None, 0, 128),
        ("waiters", 1000, None, 0, 128),
        ("leavers", 1000, None, 0, 128),
        ("pipes", 10_000, Some("--max-memory=256M"), 0, 320),
    ] {
        let (ended, log, peak) = fill(dir.path(), option.as_slice(), what, count);
        assert_eq!(ended, Some(status), "{what}: {log}");
        let named = option.filter(|_| status == 124).unwrap_or("--max-memory=");
        let named = named.split('=').next().unwrap_or(named);
        let said = log.lines().filter(|line| line.contains(named)).count();
        assert_eq!(said, usize::from(status == 124), "{what}: {log}");
        assert!(peak > 1024 && peak < most * 1024, "{what}: {peak} KiB");
        profile(dir.path());
    }
}

#[test]
fn time_is_limited() {
    ends(&["--timeout=500ms"], "int main(void) { for (;;); }", 124, &["--timeout"]);
    let sleep =
        "#include <unistd.h>\nint main(void) { int fd[2]; char c; pipe(fd); read(0, &c, 1); return 0; }";
    let dir = temporary();
    build(dir.path(), sleep);
    let mut child = cgemu(dir.path(), &["run", "--timeout=500ms", "--cachegrind-out-file=out", "--", "./p"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cgemu starts");
    let kept_open = child.stdin.take();
    let out = child.wait_with_output().expect("it ends");
    drop(kept_open);
    assert_eq!(out.status.code(), Some(124), "{}", stderr(&out));
    profile(dir.path());
}

#[test]
fn processes_and_threads_are_limited() {
    let forks = "#include <unistd.h>\nint main(void) { for (;;) fork(); }";
    ends(&["--max-processes=20"], forks, 124, &["--max-processes"]);
    let threads = "#include <pthread.h>\n#include <unistd.h>\n\
        static void *wait(void *p) { pause(); return p; }\n\
        int main(void) { pthread_t t; for (;;) pthread_create(&t, 0, wait, 0); }";
    ends(&["--max-processes=20"], threads, 124, &["--max-processes"]);
    // Not a line for each process: what ended the run would be lost among them.
    let dir = temporary();
    let log = stderr(&run(dir.path(), &["--max-processes=120"], forks));
    assert!(log.contains("and 19 more") && log.lines().count() < 140, "{log}");
    let in_turn = "#include <unistd.h>\n#include <sys/wait.h>\n\
        int main(void) { for (int i = 0; i < 100; i++) { if (!fork()) _exit(0); wait(0); } return 5; }";
    ends(&["--max-processes=2"], in_turn, 5, &[]);
}

/// What is counted of processes that have ended, and the simulators of those that wait: 64 MiB in
/// all, beside what cgemu has of its own.
#[test]
fn what_is_kept_of_processes_is_limited() {
    let dir = temporary();
    build(dir.path(), include_str!("../../testdata/limits/processes.c"));
    let (caches, levels) = (["--cache-sim=yes"], ["--callgraph=yes", "--separate-recs=250"]);
    for (what, options) in [("caches", &caches[..]), ("recursion", &levels)] {
        let (ended, log, peak) = fill(dir.path(), options, what, 1000);
        assert_eq!(ended, Some(124), "{what}: {log}");
        assert!(log.contains("simulators of so many processes"), "{what}: {log}");
        assert!(peak > 64 * 1024 && peak < 384 * 1024, "{what}: {peak} KiB");
        profile(dir.path());
    }
}

/// The other limits hold for all processes together.
#[test]
fn processes_share_the_limits() {
    let memory = "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
        int main(void) { for (int i = 0; i < 20; i++) if (!fork()) { memset(malloc(8 << 20), 1, 8 << 20); pause(); }\n\
        pause(); }";
    ends(&["--max-memory=64M"], memory, 124, &["--max-memory"]);
    let endless = "#include <unistd.h>\nint main(void) { fork(); for (;;) ; }";
    ends(&["--max-instructions=1M"], endless, 124, &["--max-instructions"]);
    ends(&["--timeout=300ms"], endless, 124, &["--timeout"]);
}

#[test]
fn a_deadlock_ends_with_all_that_wait() {
    let text = "#include <unistd.h>\n#include <sys/wait.h>\n\
        int main(void) { int p[2]; char c; pipe(p); if (!fork()) read(p[0], &c, 1); else wait(0); return 0; }";
    ends(&[], text, 125, &["deadlock", "task 1000", "task 1001", "read", "wait", "(main, /", "p.c:3)"]);
    // Threads share their memory, processes do not: each has its own stack.
    let text = "#include <pthread.h>\n#include <unistd.h>\nstatic pthread_mutex_t a, b;\n\
        static void *first(void *p) {\npthread_mutex_lock(&a); usleep(10);\npthread_mutex_lock(&b); return p; }\n\
        static void *second(void *p) {\npthread_mutex_lock(&b); usleep(10);\npthread_mutex_lock(&a); return p; }\n\
        int main(void) { pthread_t t, u; pthread_create(&t, 0, first, 0); pthread_create(&u, 0, second, 0);\n\
        pthread_join(t, 0); return 0; }";
    ends(
        &[],
        text,
        125,
        &["deadlock", "by 0x", "(first, /", "p.c:6)", "(second, /", "p.c:9)", "(main, /", "p.c:11)"],
    );
}

/// A tracee whose tracer never lets it go waits for that, and tracers of each other for ever.
#[test]
fn a_deadlock_names_who_is_stopped_for_a_tracer() {
    let begin = "#include <sys/ptrace.h>\n#include <sys/wait.h>\n#include <signal.h>\n#include <unistd.h>\n";
    let text = format!(
        "{begin}int main(void) {{ pid_t p = fork(); if (!p) {{ ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); return 0; }}\n\
         waitpid(p, 0, 0); waitpid(p, 0, 0); return 0; }}"
    );
    let words =
        ["deadlock", "task 1000", "wait", "task 1001 of process 1001", "stopped for its tracer, task 1000"];
    ends(&[], &text, 125, &words);
    let text = format!(
        "{begin}int main(void) {{ pid_t other = getpid(), p = fork(); if (p) other = p;\n\
         while (ptrace(PTRACE_SEIZE, other, 0, 0)) ; usleep(1000);\n\
         for (int i = 0; i < 1000; i++) ptrace(PTRACE_INTERRUPT, other, 0, 0); for (;;) pause(); }}"
    );
    ends(&[], &text, 125, &["deadlock", "task 1001", "stopped for its tracer"]);
}

/// The run ends with the first process's status; the others may finish, but not go on for ever.
#[test]
fn others_outlive_the_first_process() {
    let late = "#include <unistd.h>\nint main(void) { if (fork()) return 3; sleep(100); write(1, \"late\", 4); return 4; }";
    let dir = temporary();
    let out = run(dir.path(), &["-q"], late);
    assert_eq!((out.status.code(), stdout(&out).as_str()), (Some(3), "late"), "{}", stderr(&out));
    let never = "#include <unistd.h>\nint main(void) { if (fork()) return 3; pause(); return 4; }";
    ends(&[], never, 3, &["went on after the first process had ended"]);
}

/// Nothing can end this wait: time passes only with instructions, and there is nobody else.
#[test]
fn a_wait_without_end_is_named() {
    let text = "#include <unistd.h>\nint main(void) {\npause(); return 0; }";
    ends(&[], text, 125, &["pause", "set a timer", "at 0x", "called from 0x", "(main, /", "p.c:3)"]);
}

#[test]
fn the_profile_must_be_writable() {
    let dir = temporary();
    fs::create_dir(dir.path().join("directory")).expect("mkdir");
    build(dir.path(), "#include <unistd.h>\nint main(void) { write(1, \"ran\", 3); return 0; }");
    for name in ["directory", "none/out", "/dev/null/out"] {
        let out = output(dir.path(), &["run", &format!("--cachegrind-out-file={name}"), "--", "./p"]);
        assert_eq!(out.status.code(), Some(125), "{name}: {}", stderr(&out));
        assert!(stderr(&out).contains(name), "{}", stderr(&out));
        assert_eq!(stdout(&out), "");
    }
}

#[test]
fn endless_recursion_ends() {
    ends(
        &[],
        "int f(int n) { volatile char a[512]; a[n % 512] = 1; return f(n + 1) + a[3]; }\
        int main(void) { return f(0); }",
        128 + 11,
        &["SIGSEGV", "(f, "],
    );
}

/// Depth costs nothing but the stack that a program has; a default stack of 8 MiB holds the first.
#[test]
fn deep_recursion_returns_or_overflows() {
    let deep = |depth: &str| {
        "int f(int n) { volatile char a[100]; a[n % 100] = 1; return n ? f(n - 1) + a[n % 100] : 0; }\
        int main(void) { return f(DEPTH) != DEPTH; }"
            .replace("DEPTH", depth)
    };
    ends(&[], &deep("10000"), 0, &[]);
    ends(&[], &deep("1000000"), 128 + 11, &["SIGSEGV", "(f, "]);
}

#[test]
fn allocations_beyond_reason_fail_as_on_linux() {
    let text = "#include <stdlib.h>\n#include <sys/mman.h>\n#include <unistd.h>\n#include <stdint.h>\n\
        int main(void) { if (malloc(SIZE_MAX / 2)) return 1;\
        if (mmap(0, 1ul << 47, 3, 0x4022, -1, 0) != MAP_FAILED) return 2;\
        if (mmap(0, SIZE_MAX - 4096, 3, 0x4022, -1, 0) != MAP_FAILED) return 3;\
        if (mmap((void *)0xffff800000000000, 4096, 3, 0x32, -1, 0) != MAP_FAILED) return 4;\
        if (sbrk(1l << 47) != (void *)-1) return 5;\
        if (sbrk(-(1l << 47)) != (void *)-1) return 6;\
        for (int i = 0; i < 1000; i++) { char *p = sbrk(4096); p[4095] = 1; sbrk(-4096); }\
        for (int i = 0; i < 300; i++) { char *p = mmap(0, 1ul << 30, 0, 0x4022, -1, 0); if (p == MAP_FAILED) return 7; }\
        return 0; }";
    ends(&[], text, 0, &[]);
}

#[test]
fn system_calls_with_garbage_are_errors() {
    let text = "#include <unistd.h>\n#include <sys/syscall.h>\n\
        int main(void) { unsigned long x = 1; for (long i = 0; i < 30000; i++) {\
        unsigned long a[5]; for (int k = 0; k < 5; k++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; a[k] = x >> (x & 63); }\
        long n = x % 460; if (n == SYS_fork || n == SYS_vfork || n == SYS_clone || n == SYS_clone3 || n == SYS_exit || n == SYS_exit_group || n == SYS_execve || n == SYS_execveat\
        || n == SYS_munmap || n == SYS_mmap || n == SYS_mprotect || n == SYS_mremap || n == SYS_brk || n == SYS_kill\
        || n == SYS_tkill || n == SYS_tgkill || n == SYS_rt_sigqueueinfo || n == SYS_rt_tgsigqueueinfo || n == SYS_pause\
        || n == SYS_rt_sigreturn || n == SYS_rt_sigsuspend || n == SYS_rt_sigtimedwait || n == SYS_select || n == SYS_poll\
        || n == SYS_ppoll || n == SYS_pselect6 || n == SYS_alarm || n == SYS_setitimer || n == SYS_close || n == SYS_read\
        || n == SYS_close_range || n == SYS_futex || n == SYS_setrlimit || n == SYS_prlimit64 || n == SYS_madvise\
        || n == SYS_arch_prctl || n == SYS_remap_file_pages || n == SYS_shmat || n == SYS_write || n == SYS_dup2\
        || n == SYS_dup3 || n == SYS_rt_sigaction || n == SYS_rt_sigprocmask || n == SYS_sigaltstack) continue;\
        syscall(n, a[0], a[1], a[2], a[3], a[4]); } return 3; }";
    let dir = temporary();
    let out = run(dir.path(), &["-q"], text);
    let log = stderr(&out);
    assert!(matches!(out.status.code(), Some(3 | 139 | 138 | 124)), "{:?}: {log}", out.status);
    assert!(!log.contains("panicked") && !log.contains("internal error"), "{log}");
    profile(dir.path());
}

/// Random calls of several tasks, structured and hostile: `CGEMU_RANDOM` says in how many rounds,
/// `CGEMU_SEED` which.
#[test]
fn random_calls_end_and_repeat() {
    let dir = temporary();
    build(dir.path(), include_str!("../../testdata/limits/calls.c"));
    let seed = std::env::var(vars::SEED).unwrap_or_else(|_| "7".into());
    let rounds = std::env::var(vars::RANDOM).unwrap_or_else(|_| "3".into());
    let mut profiles = Vec::new();
    for _ in 0..2 {
        // Apart, because the calls write any text of the C library to standard error.
        let options = ["run", "--cachegrind-out-file=out", "--log-file=log", "--max-memory=256M"];
        let words = ["--timeout=3600s", "--", "./p", &seed, &rounds];
        let mut command = cgemu(dir.path(), &[&options[..], &words].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("cgemu starts");
        let peak = peak(&mut child);
        let status = child.wait().expect("it ends");
        let log = fs::read_to_string(dir.path().join("log")).expect("the log is text");
        assert_eq!(status.code(), Some(0), "seed {seed}: {log}");
        // The limit, and what the README says that it does not count.
        assert!(peak < 512 << 10, "seed {seed}: {peak} KiB");
        assert!(!log.contains("panicked") && !log.contains("internal error"), "seed {seed}: {log}");
        profile(dir.path());
        profiles.push(fs::read(dir.path().join("out")).expect("a profile"));
    }
    assert!(profiles[0] == profiles[1], "seed {seed}: two profiles");
}

/// Processes and threads that have ended are not kept: many of them take hardly more than ten.
#[test]
fn what_has_ended_takes_no_memory() {
    let dir = temporary();
    build(
        dir.path(),
        "#include <pthread.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         static void *sleeps(void *p) { for (;;) pause(); }\n\
         int main(int c, char **v) { for (int i = atoi(v[1]); i; i--) { if (!fork()) { pthread_t other;\n\
         pthread_create(&other, 0, sleeps, 0); _exit(0); } wait(0); } return 0; }",
    );
    let peaks = ["10", "1500"].map(|count| {
        let mut command = cgemu(dir.path(), &["run", "-q", "--cachegrind-out-file=out", "./p", count]);
        let mut child = command.spawn().expect("cgemu starts");
        let peak = peak(&mut child);
        assert!(child.wait().expect("it ends").success());
        peak
    });
    assert!(peaks[1] < peaks[0] + (24 << 10), "{peaks:?} KiB");
}

/// `ulimit -t` sets the limit at which Linux kills, so the run ends before it.
#[test]
fn a_limit_on_cpu_time_leaves_a_profile() {
    let dir = temporary();
    let line =
        "ulimit -t 1; exec \"$0\" run --timeout=60s --cachegrind-out-file=out -- sh -c 'while :; do :; done'";
    let out = tool("dash", dir.path(), "sh", &["-c", line, env!("CARGO_BIN_EXE_cgemu")]);
    assert_eq!(out.status.code(), Some(128 + 24), "{}", stderr(&out));
    assert!(stderr(&out).contains("24 (SIGXCPU)"), "{}", stderr(&out));
    profile(dir.path());
    // Set by a thread while the first one is busy too.
    let thread = "#include <pthread.h>\n#include <sys/resource.h>\n\
        static void *other(void *p) { struct rlimit none = {0}; setrlimit(RLIMIT_CPU, &none); for (;;) ; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, other, 0); for (;;) ; }";
    ends(&[], thread, 128 + 9, &["9 (SIGKILL)"]);
}

/// The host's limits on memory, in KiB: a run ends as the program does, or in one line that names
/// the limit. Where not even `--version` can be had, Linux kills in execve(2) or the dynamic linker
/// finds no room, both before the first instruction of cgemu's own.
#[test]
fn limits_on_memory_are_named() {
    let dir = temporary();
    build(dir.path(), "int main(void) { return 7; }");
    let run = |limit: &str, command: &str| {
        let line = format!("ulimit {limit}; exec \"$0\" {command}");
        tool("dash", dir.path(), "sh", &["-c", &line, env!("CARGO_BIN_EXE_cgemu")])
    };
    // Whether smaller ones will do for execve(2) is chance: where the stack begins is random.
    let stacks = vec![32, 48, 64, 100, 128, 160, 200, 256, 400, 512, 1000, 8192];
    let mut sizes: Vec<u64> = (10..21).flat_map(|shift| [1 << shift, 3 << (shift - 1)]).collect();
    sizes.extend([2_200_000, 2_300_000, 2_340_000, 2_350_000, 2_360_000, 2_370_000, 2_380_000, 2_390_000]);
    sizes.extend([2_400_000, 2_450_000, 2_500_000, 3_000_000, 3_300_000, 3_400_000, 3_500_000, 8_000_000]);
    let (mut whole, mut named) = (0, 0);
    for (letter, values) in [("s", &stacks), ("d", &sizes), ("v", &sizes)] {
        for kib in values {
            let limit = format!("-{letter} {kib}");
            let version = run(&limit, "--version");
            let out = run(&limit, "run -q --cachegrind-out-file=out -- ./p");
            let log = stderr(&out);
            match (version.status.code(), out.status.code()) {
                (Some(0), Some(7)) => {
                    assert_eq!(log, "", "{limit}");
                    profile(dir.path());
                    whole += 1;
                }
                (Some(0), Some(125)) => {
                    assert!(log.contains(&format!("ulimit {}", &limit[..2])), "{limit}: {log}");
                    assert_eq!(log.lines().count(), 1, "{limit}: {log}");
                    assert_ne!(letter, "s", "{log}");
                    named += 1;
                }
                (Some(125), Some(125)) => {
                    for out in [&version, &out] {
                        assert!(stderr(out).contains(&format!("ulimit {}", &limit[..2])), "{limit}: {log}");
                        assert_eq!(stderr(out).lines().count(), 1, "{limit}: {log}");
                    }
                    named += 1;
                }
                // Killed, or said by the dynamic linker.
                (None | Some(127), None | Some(127)) => {
                    assert!([None, Some(9), Some(11)].contains(&version.status.signal()), "{limit}: {log}");
                    assert_eq!(version.status.signal(), out.status.signal(), "{limit}: {log}");
                }
                (version, run) => panic!("{limit}: {version:?}, and the run {run:?}: {log}"),
            }
        }
    }
    assert!(whole > 20 && named > 40, "{whole} whole runs, {named} named limits");
}
