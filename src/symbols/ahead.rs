//! Objects that a thread of its own reads before anybody asks for them: their symbols, and what of
//! their line tables does not depend on the addresses that are wanted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::symbols::debug_files::DebugFiles;
use crate::symbols::elf::Source;
use crate::symbols::files::{self, Reach};
use crate::symbols::give_up::GiveUp;
use crate::symbols::valgrind::debug_info::Lines;
use crate::symbols::valgrind::symbol_table::{self, SymbolTable};

/// Most bytes of sections that are kept for an object until its lines are asked for.
const MOST_KEPT: u64 = 4 << 20;

/// Time between two looks whether to wait no longer.
const LOOK: Duration = Duration::from_millis(5);

/// Inode and device of an object.
pub(super) type Key = (u64, u64);

/// Parts of an object that have been read; without files for one that is no ELF file.
#[derive(Default)]
pub(super) struct Opened {
    pub(super) files: Option<DebugFiles>,
    pub(super) symbols: Option<Arc<SymbolTable>>,
    pub(super) lines: Option<Lines>,
}

impl Opened {
    /// The object whose bytes are `source`, and none of what is in it.
    pub(super) fn of(source: &Source, path: &Path, reach: &Reach, give_up: &GiveUp) -> Opened {
        let files = files::complete(Arc::clone(source), path, reach, give_up).ok();
        Opened { files, ..Opened::default() }
    }

    /// The symbols of an object.
    pub(super) fn symbols(files: &DebugFiles) -> Arc<SymbolTable> {
        Arc::new(symbol_table::read(files, &files.main().executable()))
    }

    fn read(&mut self) {
        let Some(files) = &self.files else { return };
        self.symbols = Some(Opened::symbols(files));
        let lines = Lines::read(files);
        let sections = [".debug_line", ".debug_line_str", ".debug_str"];
        let size =
            |name: &&str| files.with_dwarf().and_then(|file| file.section(name)).map_or(0, |s| s.sh_size);
        if matches!(lines, Lines::All(_)) || sections.iter().map(size).sum::<u64>() > MOST_KEPT {
            files.release_sections();
        }
        self.lines = Some(lines);
    }
}

struct Job {
    key: Key,
    source: Source,
    path: PathBuf,
}

/// Objects that were asked for ahead, and the thread that reads them in that order.
pub(super) struct Ahead {
    jobs: Sender<Job>,
    /// Objects that have been read; `None` for one that was given up.
    read: Receiver<(Key, Option<Opened>)>,
    /// Those that were asked for and not taken.
    asked: FxHashSet<Key>,
    waiting: FxHashMap<Key, Option<Opened>>,
    /// Nobody wants more.
    ended: Arc<AtomicBool>,
}

impl Ahead {
    /// Starts the thread; `None` if that is not possible.
    pub(super) fn start(give_up: &GiveUp) -> Option<Ahead> {
        let (jobs, jobs_in) = channel::<Job>();
        let (read_out, read) = channel();
        let ended = Arc::new(AtomicBool::new(false));
        let (give_up, over) = (give_up.clone(), Arc::clone(&ended));
        let work = move || {
            for Job { key, source, path } in jobs_in {
                if over.load(Relaxed) || read_out.send((key, read_whole(&source, &path, &give_up))).is_err() {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("symbols".into()).spawn(work).ok()?;
        Some(Ahead { jobs, read, asked: FxHashSet::default(), waiting: FxHashMap::default(), ended })
    }

    /// Has an object read, if that was not asked for before.
    pub(super) fn ask(&mut self, key: Key, source: &Source, path: PathBuf) {
        if !self.asked.contains(&key) && self.jobs.send(Job { key, source: Arc::clone(source), path }).is_ok()
        {
            self.asked.insert(key);
        }
    }

    /// Waits for an object that was asked for; `None` if it was not, or is given up.
    pub(super) fn take(&mut self, key: Key, give_up: &GiveUp) -> Option<Opened> {
        if !self.asked.contains(&key) {
            return None;
        }
        while !self.waiting.contains_key(&key) {
            match self.read.recv_timeout(LOOK) {
                Ok((key, opened)) => {
                    self.waiting.insert(key, opened);
                }
                Err(RecvTimeoutError::Timeout) if !give_up.asked() => {}
                Err(_) => return None,
            }
        }
        self.asked.remove(&key);
        self.waiting.remove(&key)?
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.ended.store(true, Relaxed);
    }
}

/// Reads an object; `None` if it was given up meanwhile, which may leave anything out.
fn read_whole(source: &Source, path: &Path, give_up: &GiveUp) -> Option<Opened> {
    let given_up = Arc::new(AtomicBool::new(false));
    let heeding = {
        let (give_up, given_up) = (give_up.clone(), Arc::clone(&given_up));
        GiveUp::when(move || {
            let asked = give_up.asked();
            given_up.fetch_or(asked, Relaxed);
            asked
        })
    };
    let mut opened = Opened::of(source, path, &Reach::default(), &heeding);
    opened.read();
    (!given_up.load(Relaxed)).then_some(opened)
}
