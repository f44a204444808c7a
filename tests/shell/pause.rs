//! A run that is paused, stepped, taken back and continued writes, byte for byte, the profile of
//! one that is not.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::common::sessions::{Numbers, config, instructions_only};
use crate::common::{exact, stderr, tool};
use cgemu::profile::Event;
use cgemu::session::{Config, Control, CountModel, PAUSE, Pause, Session, Stop, StopConditions, Whose};

fn start(argv: &[&str], model: CountModel) -> Session {
    start_with(config(argv.iter().map(Into::into).collect(), model))
}

fn start_with(config: Config) -> Session {
    Session::start(config, Arc::new(Control::default())).expect("it starts")
}

fn written(session: Session) -> (Stop, Vec<u8>) {
    let finished = session.finish(&mut |_| ());
    let mut bytes = Vec::new();
    cgemu::profile::write_cachegrind(&finished.counts.profile, &mut bytes).expect("written");
    (finished.stop, bytes)
}

fn at(instructions: u64) -> StopConditions {
    StopConditions { at: Some(instructions), ..StopConditions::default() }
}

/// Faults take back what Cachegrind has queued, wherever the run is paused before them.
#[test]
fn paused_before_faults() {
    let dir = tempfile::tempdir().expect("a directory");
    for program in exact::programs(dir.path()).into_iter().filter(|program| program.name.starts_with("fault"))
    {
        exact::build_one(&program, dir.path());
        let argv = [program.binary.to_str().expect("text")];
        let mut plain = start(&argv, CountModel::Valgrind);
        assert_eq!(plain.resume(StopConditions::default()), Pause::Ended);
        let total = plain.instructions();
        let plain = written(plain);
        let mut session = start(&argv, CountModel::Valgrind);
        let mut numbers = Numbers(7);
        for now in 1..total.min(2000) {
            assert_eq!(session.resume(at(now)), Pause::Reached);
            // To look changes nothing, nor does what is done from here and taken back.
            session.counts(Whose::Selected);
            if numbers.below(4) == 0 {
                let saved = session.save().expect("saved");
                session.resume(at(now + 1 + numbers.below(30)));
                session.restore(&saved).expect("restored");
                session.forget(saved);
                assert_eq!(session.instructions(), now);
            }
        }
        assert_eq!(session.resume(StopConditions::default()), Pause::Ended);
        let again = written(session);
        assert_eq!(plain.0, again.0);
        let lines = |profile: &[u8]| String::from_utf8_lossy(profile).into_owned();
        let (one, other) = (lines(&plain.1), lines(&again.1));
        let odd: Vec<_> = one.lines().zip(other.lines()).filter(|(one, other)| one != other).collect();
        assert!(odd.is_empty(), "the profiles of {} differ: {odd:#?}", program.name);
    }
}

/// What is counted at a pause is what was executed, although it may yet be forgotten.
#[test]
fn looked_at_in_a_superblock() {
    let dir = tempfile::tempdir().expect("a directory");
    let program = exact::programs(dir.path()).into_iter().find(|program| program.name == "faultqueue.S");
    let program = program.expect("a program");
    exact::build_one(&program, dir.path());
    let mut session = start(&[program.binary.to_str().expect("text")], CountModel::Valgrind);
    // There is no fault so early.
    for now in 1..34 {
        assert_eq!(session.resume(at(now)), Pause::Reached);
        assert_eq!(session.counts(Whose::Selected)[Event::Ir], now);
    }
}

#[test]
fn stepped_and_taken_back() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = readme.to_str().expect("a name");
    let sort = ["/usr/bin/sort", "-o", "/dev/null", readme];
    let sum = ["/usr/bin/sha256sum", readme];
    let config = |argv: &[&str], model| config(argv.iter().map(Into::into).collect(), model);
    for (config, seed) in [
        (config(&sort, CountModel::Arch), 42),
        (config(&sort, CountModel::Valgrind), 42),
        (config(&sort, CountModel::Valgrind), 43),
        (instructions_only(config(&sort, CountModel::Arch)), 45),
        (config(&sum, CountModel::Valgrind), 44),
        (config(&sum, CountModel::Arch), 42),
    ] {
        let mut plain = start_with(config.clone());
        assert_eq!(plain.resume(StopConditions::default()), Pause::Ended);
        let total = plain.instructions();
        let plain = written(plain);
        let mut numbers = Numbers(seed);
        let mut session = start_with(config);
        let mut now = 0;
        while now < total {
            let next = (now + 1 + numbers.below(total / 8)).min(total - 1);
            if next <= now {
                break;
            }
            assert_eq!(session.resume(at(next)), Pause::Reached);
            assert_eq!(session.instructions(), next);
            let saved = session.save().expect("saved");
            let ahead = numbers.below(total / 4) + 1;
            session.resume(at(next + ahead));
            session.restore(&saved).expect("restored");
            assert_eq!(session.instructions(), next);
            for step in 1..50 {
                if next + step < total {
                    assert_eq!(session.resume(at(next + step)), Pause::Reached);
                    assert_eq!(session.instructions(), next + step);
                }
            }
            session.restore(&saved).expect("restored");
            session.forget(saved);
            now = next;
        }
        assert_eq!(session.resume(StopConditions::default()), Pause::Ended);
        let again = written(session);
        assert_eq!(plain.0, again.0);
        assert!(plain.1 == again.1, "the profiles differ");
    }
}

/// Moves much in single system calls, and ends with the low bits of a sum of it all.
const MOVER: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>
enum { SIZE = 48 << 20 };
int main(void)
{
    char *all = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    int file = memfd_create("file", 0), copy = memfd_create("copy", 0);
    unsigned long sum = getrandom(all, SIZE, 0);
    sum += write(file, all, SIZE);
    fcntl(file, F_SETFL, O_APPEND);
    sum += write(file, all, SIZE);
    lseek(file, 7, SEEK_SET);
    sum += sendfile(copy, file, NULL, 2 * SIZE);
    sum += pread(copy, all, 2 * SIZE, 0);
    struct iovec from = { all, SIZE }, to = { all + SIZE, SIZE };
    sum += process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    sum += lseek(file, 0, SEEK_CUR) + lseek(copy, 0, SEEK_CUR) + lseek(copy, 0, SEEK_END);
    for (long at = 0; at < 2 * SIZE; at += 4099) sum = sum * 31 + (unsigned char) all[at];
    return sum >> 8 & 0x7f;
}
"#;

/// Whoever asks for a pause while a call does much gets it, and nothing is otherwise for it.
#[test]
fn paused_within_calls() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("mover.c"), MOVER).expect("written");
    let built = tool("gcc", dir.path(), "gcc", &["-O1", "-static", "-o", "mover", "mover.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let program = dir.path().join("mover");
    let argv = [program.to_str().expect("text")];
    let mut plain = start(&argv, CountModel::Arch);
    assert_eq!(plain.resume(StopConditions::default()), Pause::Ended);
    let plain = written(plain);

    let control = Arc::new(Control::default());
    let config = config(argv.iter().map(Into::into).collect(), CountModel::Arch);
    let mut session = Session::start(config, Arc::clone(&control)).expect("it starts");
    let (asked, ended) = (Arc::downgrade(&control), Arc::clone(&control.resting));
    let asking = std::thread::spawn(move || {
        // Not for ever, or a slow machine would do nothing else.
        for _ in 0..400 {
            std::thread::sleep(Duration::from_millis(2));
            let (Some(control), false) = (asked.upgrade(), ended.load(Relaxed)) else { break };
            control.interrupt.store(PAUSE, Relaxed);
        }
    });
    let (mut last, mut within) = (u64::MAX, 0);
    while session.resume(StopConditions::default()) == Pause::Asked {
        // At the same instruction as before: a call that has gone on.
        within += u32::from(session.instructions() == last);
        last = session.instructions();
        control.interrupt.store(0, Relaxed);
    }
    control.resting.store(true, Relaxed);
    asking.join().expect("it ends");
    control.interrupt.store(0, Relaxed);
    let again = written(session);
    assert_eq!(plain.0, again.0);
    assert!(plain.1 == again.1, "the profiles differ");
    assert!(within > 0, "no pause was within a call");
}

/// Where much misses D1, a consumer simulates the caches from then on, unless there is one CPU.
/// What was saved before is restored after that.
#[test]
fn saved_before_a_consumer_simulates_the_caches() {
    let dir = tempfile::tempdir().expect("a directory");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hot/thrash.c");
    let out = tool("gcc", dir.path(), "gcc", &["-g", "-O1", "-static", "-o", "thrash", source]);
    assert!(out.status.success(), "{}", stderr(&out));
    let start = |cpus| {
        let mut config = config(vec![dir.path().join("thrash").into()], CountModel::Arch);
        config.counting.cpus = NonZeroUsize::new(cpus);
        start_with(config)
    };
    let mut plain = start(1);
    assert_eq!(plain.resume(StopConditions::default()), Pause::Ended);
    let total = plain.instructions();
    let missed = plain.counts(Whose::Selected)[Event::D1mr];
    assert!(total > 100_000_000 && missed > total / 50, "{missed} of {total}");
    let mut session = start(2);
    assert_eq!(session.resume(at(total / 20)), Pause::Reached);
    let saved = session.save().expect("saved");
    for _ in 0..2 {
        assert_eq!(session.resume(at(total - total / 20)), Pause::Reached);
        let then = session.counts(Whose::Selected)[Event::D1mr];
        assert!(then > missed - missed / 100, "{then} of {missed}");
        session.restore(&saved).expect("restored");
    }
    session.forget(saved);
    assert_eq!(session.resume(StopConditions::default()), Pause::Ended);
    assert_eq!(written(session), written(plain));
}
