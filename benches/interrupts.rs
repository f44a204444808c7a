//! The time from Ctrl-C to the prompt, whatever goes on: the program, stops, the way back, names
//! for Tab, a copy inside one system call.
//!
//! `cargo bench --bench interrupts [-- ROUNDS [GIBIBYTES]]` prints medians and maxima. It is a
//! measurement: it judges nothing.

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::pty::Terminal;

/// Functions whose names Tab completes.
const NAMES: usize = 300_000;

/// Counts for ever, or makes one large copy in a system call as often as it is let.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#define SIZE ((long)GIB << 30)
volatile unsigned hot;
unsigned table[1 << 20];
__attribute__((noinline)) void step(unsigned i) { hot += i; table[i * 7919 & 0xfffff]++; }
static void *count(void *arg) { for (unsigned i = 0;; i++) step(i); return arg; }
/* Has a gibibyte of its own, and gives it back in one call. */
static void use(char how)
{
    char *own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (how == 'b') own = sbrk(SIZE);
    for (long at = 0; at < SIZE - 4096; at += 4096) own[at] = 1;
    switch (how) {
    case 'g': madvise(own, SIZE, MADV_DONTNEED); break;
    case 'i': mmap(own, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); break;
    case 'b': sbrk(-SIZE); break;
    case 'v': mremap(own, SIZE, 4096, 0); break;
    case 'e': execl("/bin/true", "true", NULL);
    }
    _exit(0);
}
int main(int argc, char **argv)
{
    if (argv[1][0] == 'c') count(NULL);
    if (argv[1][0] == 't') {
        pthread_t other[3];
        for (int i = 0; i < 3; i++) pthread_create(other + i, NULL, count, NULL);
        count(NULL);
    }
    char *all = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int zero = open("/dev/zero", O_RDONLY), file = memfd_create("file", 0), copy = memfd_create("copy", 0);
    memset(all, 1, 4096);
    static unsigned char seen[SIZE / 4096];
    if (strchr("kmlyh", argv[1][0])) madvise(all, SIZE, MADV_POPULATE_WRITE);
    if (argv[1][0] == 'a') for (long at = 0; at < 130000l * 4096; at += 8192) mprotect(all + at, 4096, PROT_READ);
    if (strchr("ofn", argv[1][0])) ftruncate(file, SIZE);
    for (;;) {
        switch (argv[1][0]) {
        case 'z': read(zero, all, SIZE); break;
        case 'w': lseek(file, 0, SEEK_SET); write(file, all, SIZE); break;
        case 'r': getrandom(all, SIZE, 0); break;
        case 's': lseek(file, 0, SEEK_SET); sendfile(file, zero, NULL, SIZE); break;
        case 'o': pread(file, all, SIZE, 0); break;
        case 'f': {
            loff_t from = 0, to = 0;
            copy_file_range(file, &from, copy, &to, SIZE, 0);
            break;
        }
        case 'n': {
            struct iovec half = { all, SIZE / 2 }, other = { all + SIZE / 2, SIZE / 2 };
            process_vm_readv(getpid(), &half, 1, &other, 1, 0);
            break;
        }
        case 'u':
            munmap(all, SIZE);
            mmap(all, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            memset(all, 1, SIZE);
            break;
        case 'g': case 'x': case 'e': case 'i': case 'b': case 'v':
            if (fork() == 0) use(argv[1][0]);
            wait(NULL);
            break;
        case 'q': {
            char some[512];
            int names = open("names", O_RDONLY | O_DIRECTORY);
            getdents64(names, some, sizeof some);
            close(names);
            break;
        }
        case 'k': if (fork() == 0) _exit(0); wait(NULL); break;
        case 'm': mincore(all, SIZE, seen); break;
        case 'l': mlock(all, SIZE); munlock(all, SIZE); break;
        case 'y': msync(all, SIZE, MS_SYNC); break;
        case 'a': {
            int maps = open("/proc/self/smaps", O_RDONLY);
            while (read(maps, seen, sizeof seen) > 0);
            close(maps);
            break;
        }
        case 'j':
            pwrite(file, all, SIZE / 2, 0);
            fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, SIZE / 4);
            ftruncate(file, 0);
            break;
        case 'h': mprotect(all, SIZE, PROT_READ); mprotect(all, SIZE, PROT_READ | PROT_WRITE); break;
        case 'd': {
            DIR *names = opendir("names");
            while (readdir(names));
            closedir(names);
            break;
        }
        case 'p': madvise(all, SIZE, MADV_DONTNEED); madvise(all, SIZE, MADV_POPULATE_WRITE); break;
        }
    }
}
"#;

fn build(directory: &Path, gibibytes: &str) {
    std::fs::create_dir(directory.join("names")).expect("a directory");
    for number in 0..100_000 {
        std::fs::write(directory.join(format!("names/{number}")), "").expect("an empty file");
    }
    std::fs::write(directory.join("busy.c"), PROGRAM).expect("written");
    let names: String = (0..NAMES).map(|number| format!("name_{number}:\n")).collect();
    let names = format!(".text\n{names}.globl main\n.type main, @function\nmain: xor %eax, %eax\nret\n");
    std::fs::write(directory.join("symbols.s"), names).expect("written");
    let size = format!("-DGIB={gibibytes}");
    for words in [&["-O1", "-pthread", &size, "-o", "busy", "busy.c"][..], &["-o", "symbols", "symbols.s"]] {
        let out = common::tool("gcc", directory, "gcc", words);
        assert!(out.status.success(), "{}", common::stderr(&out));
    }
}

/// A shell over a program, in which commands were carried out.
fn shell(directory: &Path, program: &[&str], commands: &[&str]) -> Terminal {
    let mut words = vec!["repl", "--max-memory=20G", "--cachegrind-out-file=/dev/null", "--"];
    words.extend(program);
    let mut terminal = Terminal::cgemu(directory, &words);
    let mut at = terminal.wait_for(0, "cgemu> ");
    for command in commands {
        terminal.type_in(&format!("{command}\r"));
        at = terminal.wait_for(at, "\x1b[?2004l");
        at = terminal.wait_for(at, "cgemu> ");
    }
    terminal
}

/// Times from Ctrl-C, a while after a command, to the next prompt.
fn interrupt(terminal: &mut Terminal, rounds: u32, command: &str) -> Vec<Duration> {
    let mut times = Vec::new();
    for round in 0..rounds {
        let at = terminal.printed().len();
        terminal.type_in(&format!("{command}\r"));
        let at = terminal.wait_for(at, "\x1b[?2004l");
        // At another point of a long call every time.
        std::thread::sleep(Duration::from_millis(300 + 37 * u64::from(round)));
        let begin = Instant::now();
        terminal.type_in("\x03");
        let told = terminal.wait_for(at, "interrupted");
        terminal.wait_for(told, "cgemu> ");
        times.push(begin.elapsed());
    }
    times
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let most = times.last().copied().unwrap_or_default();
    println!(
        "{what:40} {:>8.1} ms, at most {:>8.1} ms",
        median.as_secs_f64() * 1e3,
        most.as_secs_f64() * 1e3
    );
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let rounds = args.next().map_or(5, |arg| arg.parse().expect("the argument is a number of rounds"));
    let gibibytes = args.next().unwrap_or_else(|| "1".to_owned());
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let directory = scratch.path();
    build(directory, &gibibytes);
    for (what, program, commands, command) in [
        ("one thread", "count", &["break main", "run"][..], "continue"),
        ("four threads", "threads", &["break main", "run"], "continue"),
        ("stops at a watched access", "count", &["break main", "run", "watch hot"], "continue 100000000"),
        ("stops at a miss", "count", &["break main", "run", "catch miss D1mr"], "continue 100000000"),
        ("stops at a breakpoint", "threads", &["tbreak main", "run", "break step"], "continue 100000000"),
        (
            "the way back",
            "threads",
            &["tbreak main", "run", "advance 100M", "break step if 0"],
            "reverse-continue",
        ),
        ("a read of 1 GiB of zeros", "zeros", &["break main", "run"], "continue"),
        ("a write of 1 GiB", "write", &["break main", "run"], "continue"),
        ("1 GiB of random bytes", "random", &["break main", "run"], "continue"),
        ("sendfile of 1 GiB", "sendfile", &["break main", "run"], "continue"),
        ("pread of 1 GiB", "offset", &["break main", "run"], "continue"),
        ("copy_file_range of 1 GiB", "files", &["break main", "run"], "continue"),
        ("process_vm_readv of half of 1 GiB", "neighbour", &["break main", "run"], "continue"),
        ("1 GiB of pages at once", "populate", &["break main", "run"], "continue"),
        ("munmap of 1 GiB in use", "unmap", &["break main", "run"], "continue"),
        ("fork of 1 GiB", "kin", &["break main", "run"], "continue"),
        ("mincore of 1 GiB", "mincore", &["break main", "run"], "continue"),
        ("mlock of 1 GiB", "lock", &["break main", "run"], "continue"),
        ("msync of 1 GiB", "y", &["break main", "run"], "continue"),
        ("smaps of 65,000 mappings", "areas", &["break main", "run"], "continue"),
        ("MADV_DONTNEED of 1 GiB in use", "give", &["break main", "run"], "continue"),
        ("MAP_FIXED over 1 GiB in use", "instead", &["break main", "run"], "continue"),
        ("mremap from 1 GiB to a page", "v", &["break main", "run"], "continue"),
        ("brk from 1 GiB to nothing", "brk", &["break main", "run"], "continue"),
        ("exit with 1 GiB", "x", &["break main", "run"], "continue"),
        ("execve with 1 GiB", "exec", &["break main", "run"], "continue"),
        ("mprotect of 1 GiB in use", "h", &["break main", "run"], "continue"),
        ("a hole in a file, and its end", "j", &["break main", "run"], "continue"),
        ("a part of 100,000 names", "q", &["break main", "run"], "continue"),
        ("getdents of 100,000 names", "directory", &["break main", "run"], "continue"),
    ] {
        let mut terminal = shell(directory, &["./busy", program], commands);
        let what = what.replace("1 GiB", &format!("{gibibytes} GiB"));
        print(&what, interrupt(&mut terminal, rounds, command));
        terminal.type_in("quit\r");
        terminal.finish();
    }

    let mut completed = Vec::new();
    let mut given_up = Vec::new();
    for round in 0..rounds {
        for (interrupted, times) in [(false, &mut completed), (true, &mut given_up)] {
            let mut terminal = shell(directory, &["./symbols"], &[]);
            let at = terminal.printed().len();
            terminal.type_in("break name_29999");
            // The editor writes the line again when its hint goes, so it is not there in one piece.
            let at = terminal.wait_for(at, "ame_29999");
            let begin = Instant::now();
            terminal.type_in("\t");
            if interrupted {
                std::thread::sleep(Duration::from_millis(3 + 2 * u64::from(round)));
                let begin = Instant::now();
                terminal.type_in("\x03");
                // What is typed next is shown when the editor is back.
                terminal.type_in("@");
                terminal.wait_for(at, "@");
                times.push(begin.elapsed());
            } else {
                // It is the beginning of others too.
                terminal.type_in("@");
                terminal.wait_for(at, "@");
                times.push(begin.elapsed());
            }
            terminal.type_in("\x15quit\r");
            terminal.finish();
        }
    }
    print("Tab over 300,000 names, to its end", completed);
    print("Tab over 300,000 names, until Ctrl-C", given_up);
}
