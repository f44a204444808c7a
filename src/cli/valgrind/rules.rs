//! The options of Valgrind 3.19 and of its tools, and what is done with each.

use Rule::{Idle, Only, Run, Translation};

use super::super::options::Files;

/// Treatment of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// `cgemu run` has it by this name.
    Run(&'static str),
    /// It changes nothing here.
    Idle,
    /// It changes nothing here with one of these values, and is refused with others.
    Only(&'static [&'static str]),
    /// It changes what an unmodified Valgrind counts: nothing here, and refused where its counts
    /// are asked for.
    Translation,
}

/// The options of all tools.
pub(super) const CORE: &[(&str, Rule)] = &[
    ("trace-children", Run("trace-children")),
    ("trace-children-skip", Run("trace-children-skip")),
    ("trace-children-skip-by-arg", Run("trace-children-skip-by-arg")),
    ("child-silent-after-fork", Run("child-silent-after-fork")),
    ("log-file", Run("log-file")),
    ("log-fd", Run("log-fd")),
    ("vgdb", Idle),
    ("vgdb-error", Only(&["999999999"])),
    ("vgdb-stop-at", Only(&["none"])),
    ("vgdb-poll", Idle),
    ("vgdb-prefix", Idle),
    ("vgdb-shadow-registers", Idle),
    ("wait-for-gdb", Only(&["no"])),
    ("track-fds", Only(&["no"])),
    ("time-stamp", Only(&["no"])),
    ("log-socket", Only(&[])),
    ("xml", Only(&["no"])),
    ("demangle", Only(&["yes"])),
    ("num-callers", Idle),
    ("error-limit", Idle),
    ("error-exitcode", Idle),
    ("error-markers", Idle),
    ("exit-on-first-error", Idle),
    ("show-error-list", Idle),
    ("default-suppressions", Idle),
    ("suppressions", Idle),
    ("gen-suppressions", Only(&["no"])),
    ("keep-debuginfo", Idle),
    ("show-below-main", Idle),
    ("input-fd", Idle),
    ("dsymutil", Idle),
    ("max-stackframe", Idle),
    ("main-stacksize", Only(&[])),
    ("fullpath-after", Idle),
    ("extra-debuginfo-path", Only(&[])),
    ("debuginfo-server", Only(&[])),
    ("enable-debuginfod", Idle),
    ("allow-mismatched-debuginfo", Only(&["no"])),
    ("smc-check", Idle),
    ("read-inline-info", Idle),
    ("read-var-info", Idle),
    ("run-libc-freeres", Idle),
    ("run-cxx-freeres", Idle),
    ("sim-hints", Idle),
    ("fair-sched", Idle),
    ("kernel-variant", Idle),
    ("merge-recursive-frames", Idle),
    ("num-transtab-sectors", Idle),
    ("avg-transtab-entry-size", Idle),
    ("aspace-minaddr", Idle),
    ("valgrind-stacksize", Idle),
    ("max-threads", Idle),
    ("show-emwarns", Idle),
    ("require-text-symbol", Only(&[])),
    ("soname-synonyms", Idle),
    ("sigill-diagnostics", Idle),
    ("unw-stack-scan-thresh", Idle),
    ("unw-stack-scan-frames", Idle),
    ("resync-filter", Idle),
    ("sanity-level", Idle),
    ("stats", Only(&["no"])),
    ("sym-offsets", Idle),
    ("progress-interval", Idle),
    ("vex-iropt-verbosity", Idle),
    ("vex-iropt-level", Translation),
    ("vex-iropt-unroll-thresh", Translation),
    ("vex-iropt-register-updates", Translation),
    ("vex-guest-max-insns", Translation),
    ("vex-guest-chase", Translation),
    ("vex-regalloc-version", Idle),
    ("px-default", Translation),
    ("px-file-backed", Translation),
];

/// The options of simulators.
pub(super) const SIMULATORS: &[(&str, Rule)] = &[
    ("I1", Run("I1")),
    ("D1", Run("D1")),
    ("LL", Run("LL")),
    ("L2", Run("LL")),
    ("cache-sim", Run("cache-sim")),
    ("branch-sim", Run("branch-sim")),
    ("instr-at-start", Run("instr-at-start")),
    ("instr-atstart", Run("instr-at-start")),
];

/// Those that only Cachegrind has.
pub(super) const CACHEGRIND: &[(&str, Rule)] = &[("cachegrind-out-file", Run("cachegrind-out-file"))];

/// Those that only Callgrind has.
pub(super) const CALLGRIND: &[(&str, Rule)] = &[
    ("callgrind-out-file", Run("callgrind-out-file")),
    ("dump-line", Run("dump-line")),
    ("dump-instr", Run("dump-instr")),
    ("compress-strings", Run("compress-strings")),
    ("compress-pos", Run("compress-pos")),
    ("combine-dumps", Run("combine-dumps")),
    ("separate-threads", Run("separate-threads")),
    ("separate-recs", Run("separate-recs")),
    ("separate-callers", Run("separate-callers")),
    ("skip-plt", Run("skip-plt")),
    ("skip-direct-rec", Only(&["yes"])),
    ("fn-skip", Only(&[])),
    ("dump-every-bb", Only(&["0"])),
    ("dump-before", Run("dump-before")),
    ("dump-after", Run("dump-after")),
    ("zero-before", Run("zero-before")),
    ("toggle-collect", Run("toggle-collect")),
    ("collect-atstart", Run("collect-atstart")),
    ("collect-jumps", Run("collect-jumps")),
    ("collect-bus", Only(&["no"])),
    ("collect-systime", Only(&["no"])),
    ("simulate-wb", Only(&["no"])),
    ("simulate-hwpref", Only(&["no"])),
    ("cacheuse", Only(&["no"])),
];

/// Valgrind's tools that are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// Cachegrind.
    Cachegrind,
    /// Callgrind.
    Callgrind,
    /// Nulgrind, which counts nothing.
    None,
}

impl Tool {
    /// All.
    pub(super) const ALL: [Tool; 3] = [Tool::Cachegrind, Tool::Callgrind, Tool::None];

    /// Its name in `--tool`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Cachegrind => "cachegrind",
            Tool::Callgrind => "callgrind",
            Tool::None => "none",
        }
    }

    /// The files that it writes.
    pub(super) fn files(self) -> Files {
        match self {
            Tool::Cachegrind => Files::Profile,
            Tool::Callgrind => Files::CallGraph,
            Tool::None => Files::None,
        }
    }

    /// Options of `cgemu run` that differ from its defaults.
    pub(super) fn defaults(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Tool::Cachegrind => &[],
            Tool::Callgrind => &[
                ("callgraph", "yes"),
                ("cache-sim", "no"),
                ("compress-strings", "yes"),
                ("compress-pos", "yes"),
            ],
            Tool::None => &[("cache-sim", "no")],
        }
    }

    /// The rule for one of its options, if it has it.
    pub(super) fn rule(self, name: &str) -> Option<Rule> {
        let own: &[&[(&str, Rule)]] = match self {
            Tool::Cachegrind => &[CORE, SIMULATORS, CACHEGRIND],
            Tool::Callgrind => &[CORE, SIMULATORS, CALLGRIND],
            Tool::None => &[CORE],
        };
        own.iter().copied().flatten().find(|(known, _)| *known == name).map(|&(_, rule)| rule)
    }
}
