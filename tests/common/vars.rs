//! The variables of the environment that tests read; CONTRIBUTING.md has the same list for people.

/// Writes golden files anew instead of comparing with them.
pub const BLESS: &str = "BLESS";
/// The cases of `testdata/attribution` to run, by a part of their names.
pub const ATTRIBUTION: &str = "CGEMU_ATTRIBUTION";
/// The corpus entries to run, by a part of their names.
pub const CORPUS: &str = "CGEMU_CORPUS";
/// The modules of CPython's tests to run, by a part of their names.
pub const CPYTHON: &str = "CGEMU_CPYTHON";
/// The programs of `testdata/exact` to compare, by a part of their names.
pub const EXACT: &str = "CGEMU_EXACT";
/// The programs of `testdata/guest` to run, by a part of their names.
pub const GUEST: &str = "CGEMU_GUEST";
/// The number of random programs; 2000 where it is not set.
pub const RANDOM: &str = "CGEMU_RANDOM";
/// How often a run is repeated where its profile must be the same.
pub const REPEAT: &str = "CGEMU_REPEAT";
/// The seed of random programs and of random disturbances.
pub const SEED: &str = "CGEMU_SEED";
/// The calls of `testdata/sweep` to compare, by a part of their names.
pub const SWEEP: &str = "CGEMU_SWEEP";
/// Set by `./test --all`: every tier of the corpus, CPython's tests, a harness,
/// strace, and Chromium.
pub const TEST_ALL: &str = "CGEMU_TEST_ALL";
/// The whole programs to compare, by a part of their names, or `all`.
pub const WHOLE: &str = "CGEMU_WHOLE";
