//! Whole programs beside Valgrind, with `--layout=valgrind`: how often every function's
//! instructions, loads, stores and branches were done is equal, and the misses of the whole program
//! are within one percent. docs/whole-programs.md has the table of all programs and explains what
//! differs; `CGEMU_WHOLE=all cargo test --release --locked --test valgrind whole:: -- --nocapture`
//! makes it, in some minutes, and `CGEMU_WHOLE=PART` only the rows with that in their names.

mod compare;
pub mod programs;
pub mod run;

use std::fs;
use std::path::Path;

use crate::common::{parallel, stderr, tool, vars};
use crate::exact::setting::MODELS;
use compare::{Compared, Judgement};
use programs::{PROGRAMS, Program, Tier};
use run::Run;

/// The programs that are compared: fast ones when nothing is said.
pub fn chosen() -> Vec<&'static Program> {
    let wish = std::env::var(vars::WHOLE).ok();
    let is_chosen = |program: &&Program| match wish.as_deref() {
        None => program.tier == Tier::Always,
        Some("all") => program.tier != Tier::Large,
        Some(part) => program.name.contains(part),
    };
    PROGRAMS.iter().filter(is_chosen).collect()
}

/// The input files of all programs.
pub fn set_up(directory: &Path) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/whole");
    for program in PROGRAMS.iter().filter(|program| !program.setup.is_empty()) {
        let setup = format!("SOURCES='{}'; {}", sources.display(), program.setup);
        let out = tool("dash", directory, "sh", &["-ec", &setup]);
        assert!(out.status.success(), "{}: {}", program.name, stderr(&out));
    }
}

fn compare(run: &Run) -> Result<Compared, String> {
    let ((ours, printed), (theirs, expected)) = (run.ours()?, run.theirs()?);
    if printed != expected {
        let [printed, expected] = [&printed, &expected].map(|bytes| String::from_utf8_lossy(bytes));
        return Err(format!("it prints\n{printed}\nand not\n{expected}"));
    }
    Ok(Compared::new(run.program, run.model, &theirs, &ours))
}

#[test]
fn functions_count_what_they_count_under_valgrind() {
    if let Err(why) = run::check_host() {
        return crate::common::not_compared(&format!("{why}: Valgrind starts programs otherwise there"));
    }
    let rows: Vec<_> =
        chosen().into_iter().flat_map(|program| MODELS.map(|model| (program, model))).collect();
    assert!(!rows.is_empty(), "no program has that in its name");
    let input = tempfile::tempdir().expect("a directory");
    set_up(input.path());
    let results = parallel(rows, |(program, model)| {
        let out = tempfile::tempdir().expect("a directory");
        let run = Run { program, model, input: input.path(), directory: out.path() };
        (program, model, compare(&run))
    });
    let mut failures = String::new();
    println!("{}", compare::HEAD);
    for (program, model, compared) in results {
        match compared {
            Err(why) => failures += &format!("{} by {}: {why}\n", program.name, model.name),
            Ok(compared) => {
                println!("{}", compared.row());
                if let Judgement::Bad(why) = compared.judge() {
                    failures += &format!("{} by {}: {why}\n", program.name, model.name);
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Each reason for a difference is one that the documentation explains.
#[test]
fn reasons_are_explained() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/whole-programs.md"));
    let text = text.expect("docs/whole-programs.md");
    for program in PROGRAMS {
        for reason in program.reasons {
            assert!(text.contains(&format!("`{}`", reason.name)), "{}: {}", program.name, reason.name);
        }
    }
}
