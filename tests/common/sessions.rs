//! Runs that a test drives itself.

use std::ffi::OsString;
use std::path::PathBuf;

use cgemu::session::{
    Caches, Children, Config, CountConfig, CountModel, Layout, Limits, MachineConfig, Policy, Producer,
    Recording, Schedule, User,
};

/// A run with all counters and a journal, so that there is a way back.
pub fn config(argv: Vec<OsString>, model: CountModel) -> Config {
    Config {
        machine: MachineConfig {
            program: PathBuf::from(&argv[0]),
            argv,
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("LC_ALL".into(), "C.UTF-8".into())],
            stdin: None,
            user: User::default(),
            layout: Layout::LINUX,
            limits: Limits::default(),
            schedule: Schedule::default(),
            policy: Policy::everything(),
            outside: Vec::new(),
            allow_write: Vec::new(),
            seed: 7,
        },
        counting: CountConfig {
            calls: None,
            functions: Default::default(),
            caches: Some(Caches::default()),
            branch_sim: true,
            model,
            at_start: true,
            producer: Producer::Tap,
            cpus: None,
            children: Children::default(),
            skip: Default::default(),
        },
        recording: Recording { journal: true, ..Recording::default() },
    }
}

/// The same run, counting nothing but instructions.
pub fn instructions_only(mut config: Config) -> Config {
    (config.counting.caches, config.counting.branch_sim) = (None, false);
    config
}

/// Numbers that are the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next, below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit.max(1)
    }
}
