//! Whatever is done with a run under the debugger, once it has ended it has cost, printed and
//! returned what an undisturbed run does: byte for byte, over programs of the system and ones with
//! timers, shared memory and code made at run time.

use std::ffi::OsString;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use crate::common::sessions::{Numbers, config};
use crate::common::{stderr, tool, vars};
use cgemu::debugger::Debugger;
use cgemu::debugger::control::Stopped;
use cgemu::debugger::step::Calls;
use cgemu::debugger::stops::{Trigger, WatchAccess};
use cgemu::profile::{CallgrindForm, CallgrindPart, write_cachegrind, write_callgrind};
use cgemu::session::{
    CallRules, Config, Control, CountModel, Positions, Producer, Session, Stop, StopConditions,
};

/// Times that each run is disturbed. CGEMU_SEED chooses other disturbances.
const DISTURBANCES: usize = 24;

struct Program {
    package: &'static str,
    argv: &'static [&'static str],
    producer: Producer,
    model: CountModel,
    /// Calls are followed.
    calls: bool,
}

const fn valgrind(package: &'static str, argv: &'static [&'static str]) -> Program {
    Program { model: CountModel::Valgrind, ..tap(package, argv) }
}

const fn calls(package: &'static str, argv: &'static [&'static str]) -> Program {
    Program { calls: true, ..tap(package, argv) }
}

const fn tap(package: &'static str, argv: &'static [&'static str]) -> Program {
    Program { package, argv, producer: Producer::Tap, model: CountModel::Arch, calls: false }
}

/// Paths without a leading slash are in the directory that [`prepare`] fills, which `@` stands for.
const PROGRAMS: &[Program] = &[
    tap("coreutils", &["/usr/bin/sort", "-k2", "@/words"]),
    tap("coreutils", &["/usr/bin/sort", "-o", "@/sorted", "@/words"]),
    tap("coreutils", &["/usr/bin/sha256sum", "@/words"]),
    tap("coreutils", &["/usr/bin/ls", "-l", "/usr/bin/sort", "/etc/passwd"]),
    tap("gzip", &["/usr/bin/gzip", "-9", "-c", "@/words"]),
    tap(
        "gawk",
        &["/usr/bin/gawk", "{n[$2]+=$1} END{for(k in n)print k,n[k],sqrt(n[k]),srand(),rand()}", "@/words"],
    ),
    tap("sqlite3", &["/usr/bin/sqlite3", ":memory:", ".read @/sql"]),
    tap(
        "jq",
        &[
            "/usr/bin/jq",
            "-c",
            "[range(300)] | map({k: (. % 7 | tostring), v: .}) | group_by(.k) | map(length)",
        ],
    ),
    tap("bc", &["/usr/bin/bc", "-l", "@/bc"]),
    tap("xz-utils", &["/usr/bin/xz", "-T1", "-1", "-c", "@/words"]),
    tap("bzip2", &["/usr/bin/bzip2", "-c", "@/words"]),
    tap("sed", &["/usr/bin/sed", "-E", "s/([a-z]+) ([0-9]+)/\\2 \\1/g", "@/words"]),
    tap("grep", &["/usr/bin/grep", "-cE", "(1|23)4+[^5]*6", "@/words"]),
    valgrind("coreutils", &["/usr/bin/sort", "-k2", "@/words"]),
    valgrind("gcc", &["@/generated"]),
    tap("gcc", &["@/alarm"]),
    tap("gcc", &["@/mappings"]),
    tap("gcc", &["@/generated"]),
    Program {
        package: "coreutils",
        argv: &["/usr/bin/ls", "-l", "/etc/passwd"],
        producer: Producer::Api,
        ..tap("", &[])
    },
    calls("coreutils", &["/usr/bin/sort", "-k2", "@/words"]),
    calls("coreutils", &["/usr/bin/ls", "-l", "/usr/bin/sort", "/etc/passwd"]),
    calls("sqlite3", &["/usr/bin/sqlite3", ":memory:", ".read @/sql"]),
    calls("gcc", &["@/alarm"]),
    calls("gcc", &["@/generated"]),
    Program { calls: true, ..valgrind("coreutils", &["/usr/bin/sort", "-k2", "@/words"]) },
];

/// Fills a directory with programs and what programs read.
fn prepare(dir: &Path) {
    let write = |name: &str, text: String| std::fs::write(dir.join(name), text).expect("written");
    let mut numbers = Numbers(3);
    let words = (0..2500).map(|at| format!("{} word{} {at}\n", numbers.below(5000), numbers.below(300)));
    write("words", words.collect());
    let mut sql = String::from("create table t(a integer, b text);\nbegin;\n");
    for at in 0..300 {
        sql += &format!("insert into t values({}, 'name {at}');\n", numbers.below(100));
    }
    sql += "commit;\ncreate index i on t(b);\nselect a, count(*), max(b) from t group by a order by 2, 1 limit 9;\n";
    sql += "select sum(x.a) from t x join t y on x.b = y.b where random() is not null;\n";
    write("sql", sql);
    write("bc", "scale=60\n4*a(1)\ne(1)\nfor(i=1;i<40;i++) x+=l(i)\nx\nquit\n".into());
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/undisturbed");
    for name in ["alarm", "mappings", "generated"] {
        let source = sources.join(name).with_extension("c");
        let source = source.to_str().expect("a name");
        let out = tool("gcc", dir, "gcc", &["-O0", "-g", "-w", "-o", name, source]);
        assert!(out.status.success(), "{}", stderr(&out));
    }
}

fn config_of(program: &Program, dir: &Path) -> Config {
    assert!(
        program.argv[0].starts_with('@') || Path::new(program.argv[0]).exists(),
        "{} is missing; install it with: apt-get install {}",
        program.argv[0],
        program.package
    );
    let dir = dir.to_str().expect("a name");
    let argv: Vec<OsString> = program.argv.iter().map(|word| word.replace('@', dir).into()).collect();
    let mut config = config(argv, program.model);
    config.counting.producer = program.producer;
    config.counting.calls = program.calls.then_some(CallRules {
        skip_plt: true,
        recursions: 2,
        callers: 0,
        apart: false,
        jumps: false,
        collect_at_start: true,
        dump_every: 0,
    });
    config.recording.positions = Positions { instructions: true, lines: true };
    config
}

/// What a run leaves behind.
#[derive(PartialEq)]
struct Left {
    stop: Stop,
    profile: Vec<u8>,
    /// The call graph, if calls are followed.
    graph: Vec<u8>,
    notices: Vec<String>,
    printed: Vec<u8>,
    instructions: u64,
}

fn left(mut session: Session, printed: Vec<u8>) -> Left {
    let instructions = session.instructions();
    let finished = session.finish(&mut |_| ());
    let (mut profile, mut graph) = (Vec::new(), Vec::new());
    write_cachegrind(&finished.counts.profile, &mut profile).expect("written");
    let form =
        CallgrindForm { instructions: true, lines: true, compress_names: false, compress_positions: false };
    let part = CallgrindPart { pid: 1000, thread: None, number: 1, begins: true };
    if let Some(calls) = &finished.counts.calls {
        write_callgrind(calls, form, part, &mut graph).expect("written");
    }
    Left { stop: finished.stop, profile, graph, notices: finished.notices, printed, instructions }
}

/// The run's result, and what was written to this process's standard output meanwhile. The only
/// test of this file, so nobody else writes there.
fn printing<R>(work: impl FnOnce() -> R) -> (R, Vec<u8>) {
    let mut file = tempfile::tempfile().expect("a file");
    let kept = rustix::io::dup(rustix::stdio::stdout()).expect("a copy");
    rustix::stdio::dup2_stdout(&file).expect("redirected");
    let restore = Restore(kept);
    let result = work();
    drop(restore);
    let mut printed = Vec::new();
    file.seek(SeekFrom::Start(0)).expect("the beginning");
    file.read_to_end(&mut printed).expect("read");
    (result, printed)
}

struct Restore(std::os::fd::OwnedFd);

impl Drop for Restore {
    fn drop(&mut self) {
        rustix::stdio::dup2_stdout(&self.0).expect("directed back");
    }
}

/// One random command; what it was.
fn disturb(debugger: &mut Debugger, numbers: &mut Numbers, total: u64) -> String {
    let now = debugger.session().instructions();
    let mut added = None;
    let (what, said) = match numbers.below(14) {
        0 | 1 => {
            let ahead = 1 + numbers.below(total / 6);
            (format!("advance {ahead}"), debugger.step(ahead).map(|_| ()))
        }
        2 => {
            let steps = numbers.below(40);
            let walk = (0..steps).try_for_each(|_| debugger.step(1).map(|_| ()));
            (format!("{steps} steps"), walk)
        }
        3 => {
            let back = 1 + numbers.below(total / 5);
            (format!("reverse-step {back}"), debugger.step_back(back))
        }
        4 => ("reverse-step 1".into(), debugger.step_back(1)),
        5 => ("checkpoint".into(), debugger.checkpoint(&format!("c{}", numbers.below(3)))),
        6 => ("restore".into(), debugger.restore(&format!("c{}", numbers.below(3))).map(|_| ())),
        7 => {
            let moment = numbers.below(total);
            (format!("travel {moment}"), debugger.travel(moment))
        }
        8 | 9 => {
            let mut names = debugger.program().names().functions();
            names.sort();
            let name = names.get(numbers.below(names.len() as u64) as usize).cloned().unwrap_or_default();
            let added = debugger.program().locate(&name, None).map(|place| {
                debugger.stops.add(&name, Trigger::Code(place.addresses), None, numbers.below(2) == 0);
            });
            (
                format!("break {name}"),
                added.and_then(|()| debugger.go(Some(now + total / 4), &[]).map(|_| ())),
            )
        }
        10 => {
            let stops: Vec<u32> = debugger.stops.iter().map(|stop| stop.number).collect();
            let number = stops.get(numbers.below(stops.len() as u64) as usize).copied().unwrap_or(0);
            debugger.stops.remove(number);
            (format!("delete {number}"), debugger.step_over().map(|_| ()))
        }
        11 => {
            let sp = { cgemu::guest::GuestCpu::gpr(&debugger.session().cpu(), cgemu::guest::Gpr::Rsp) };
            let at = sp.wrapping_sub(numbers.below(512)) & !7;
            let access = if numbers.below(2) == 0 { WatchAccess::Write } else { WatchAccess::Any };
            added = Some(debugger.stops.add("watch", Trigger::Memory(at..at + 8, access), None, false));
            (format!("watch {at:#x}"), debugger.go(Some(now + total / 8), &[]).map(|_| ()))
        }
        12 => ("line".into(), debugger.line(Calls::Into).or_else(|_| debugger.finish()).map(|_| ())),
        _ => {
            let any = debugger.stops.add("any", Trigger::Syscall([0, 1, 9, 12].into()), None, false);
            added = Some(any);
            (format!("catch syscall {any}"), debugger.go(None, &[]).map(|_| ()))
        }
    };
    if let Some(added) = added {
        debugger.stops.remove(added);
    }
    match said {
        Ok(()) => what,
        Err(why) => format!("{what}: {why}"),
    }
}

fn differences(program: &Program, dir: &Path, seed: u64) -> Option<String> {
    let (mut session, printed) = printing(|| {
        let mut session =
            Session::start(config_of(program, dir), Arc::new(Control::default())).expect("it starts");
        session.resume(StopConditions::default());
        session
    });
    let total = session.instructions();
    let plain = left(session, printed);
    let mut numbers = Numbers(seed);
    let mut done = Vec::new();
    let (debugger, printed) = printing(|| {
        let mut debugger =
            Debugger::start(config_of(program, dir), Arc::new(Control::default())).expect("it starts");
        for _ in 0..DISTURBANCES {
            let what = disturb(&mut debugger, &mut numbers, total);
            done.push(format!("{what} -> {}", debugger.session().instructions()));
            if debugger.session().ending().is_some() {
                let moment = numbers.below(total);
                debugger.travel(moment).expect("back");
            }
        }
        debugger.stops.clear();
        if debugger.session().ending().is_none() {
            assert!(matches!(debugger.go(None, &[]), Ok(Stopped::Ended)));
        }
        debugger
    });
    let disturbed = left(debugger.into_session(), printed);
    if plain == disturbed {
        return None;
    }
    let mut text = format!("{:?} with the seed {seed}, disturbed by:\n{}\n", program.argv, done.join("\n"));
    text += &format!("{:?} or {:?}, ", plain.stop, disturbed.stop);
    text += &format!("{} or {} instructions\n", plain.instructions, disturbed.instructions);
    text += &format!("{:?} or {:?}\n", plain.notices, disturbed.notices);
    if plain.printed != disturbed.printed {
        text += &format!("printed {} or {} bytes\n", plain.printed.len(), disturbed.printed.len());
    }
    for (a, b) in [(&plain.profile, &disturbed.profile), (&plain.graph, &disturbed.graph)] {
        let [a, b] = [a, b].map(|bytes| String::from_utf8_lossy(bytes));
        let odd = a.lines().zip(b.lines()).filter(|(a, b)| a != b).take(8);
        odd.for_each(|(a, b)| text += &format!("{a} | {b}\n"));
    }
    Some(text)
}

/// Disturbs every program and compares.
pub fn disturbed_runs_cost_the_same() {
    let dir = tempfile::tempdir().expect("a directory");
    prepare(dir.path());
    let seeds = std::env::var(vars::SEED).ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let mut found = Vec::new();
    for program in PROGRAMS {
        found.extend(differences(program, dir.path(), seeds));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
