//! The file of a call graph.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use anyhow::Error;

use super::options::{Files, RunArgs};
use super::outputs::{OutFile, Outputs};
use crate::profile::{CallGraph, CallgrindForm, CallgrindPart, write_callgrind};
use crate::session::{DumpedPart, Folded, Thread};

/// The file, and the form of what is in it.
pub(super) struct CallFile {
    file: OutFile,
    form: CallgrindForm,
    /// Threads that are counted apart are parts of it.
    combine: bool,
    /// Only threads have files, as with Callgrind.
    only_threads: bool,
}

/// End of the name of a call graph that is written beside a profile.
const BESIDE: &str = ".callgrind";

impl CallFile {
    /// Checks that the call graph can be written to `path`, which is absolute.
    ///
    /// # Errors
    /// Those of [`Outputs::file`].
    pub(super) fn prepare(outputs: &Outputs, options: &RunArgs, path: &Path) -> Result<CallFile, Error> {
        let RunArgs { calls, counting, profile, .. } = options;
        let combine = calls.combine_dumps.on();
        Ok(CallFile {
            file: outputs.file(path).map_err(Error::msg)?,
            form: calls.form(profile.dump_instr.on()),
            combine,
            only_threads: options.files == Files::CallGraph && counting.separate_threads.on() && !combine,
        })
    }

    /// Writes a call graph that is complete for itself beside `profile`, in the form of this one.
    /// Returns its path, if it is a regular file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_beside(
        &self,
        profile: &OutFile,
        graph: &CallGraph,
        pid: i32,
    ) -> Result<Option<PathBuf>, String> {
        let file = profile.replacing_beside_it(BESIDE)?;
        let part = CallgrindPart { pid, thread: None, number: 1, begins: true };
        file.write(|w| write_callgrind(graph, self.form, part, w))?;
        Ok(file.path())
    }

    /// Its path, if it is a regular file and that of a process.
    pub(super) fn path(&self) -> Option<PathBuf> {
        self.file.path().filter(|_| !self.only_threads)
    }

    /// The descriptor of its place, which stays writable until it is written.
    pub(super) fn held(&self) -> Option<BorrowedFd<'_>> {
        self.file.held()
    }

    /// A file beside this one, with this at the end of its name.
    ///
    /// # Errors
    /// Those of [`OutFile::replacing_beside_it`].
    pub(super) fn beside(&self, end: &str) -> Result<CallFile, String> {
        Ok(CallFile { file: self.file.replacing_beside_it(end)?, ..*self })
    }

    /// Writes the call graph of a process, or those of its threads as parts.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_process(&self, counts: &Folded, threads: &[Thread], pid: i32) -> Result<(), String> {
        if self.combine && !threads.is_empty() {
            let parts = threads.iter().zip(1..).filter_map(|(thread, number)| {
                let part = CallgrindPart { pid, thread: Some(thread.number), number, begins: number == 1 };
                Some((thread.counts.calls.as_ref()?, part))
            });
            return self.write(&parts.collect::<Vec<_>>());
        }
        if self.only_threads && !threads.is_empty() {
            return Ok(());
        }
        let graphs: Vec<&CallGraph> = counts.dumps.iter().chain(&counts.calls).collect();
        let part = |number| CallgrindPart { pid, thread: None, number, begins: !self.combine || number == 1 };
        if self.combine {
            return self.write(&graphs.into_iter().zip((1..).map(part)).collect::<Vec<_>>());
        }
        let (last, dumps) = graphs.split_last().map_or((None, &[][..]), |(last, dumps)| (Some(last), dumps));
        let mut written = Ok(());
        for (&graph, number) in dumps.iter().zip(1..) {
            let file = self.beside(&format!(".{number}"));
            written = written.and(file.and_then(|file| file.write(&[(graph, part(number))])));
        }
        let last = last.map(|&graph| (graph, part(graphs.len() as u32)));
        written.and(last.map_or(Ok(()), |last| self.write(&[last])))
    }

    /// Writes a part that was dumped on the way, if it has a file of its own. Returns its path if
    /// it is a regular file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_dump(&self, dump: &DumpedPart) -> Result<Option<PathBuf>, String> {
        if self.combine {
            return Ok(None);
        }
        let file = self.beside(&format!(".{}", dump.number))?;
        let part = CallgrindPart { pid: dump.pid, thread: None, number: dump.number, begins: true };
        file.write(&[(&dump.graph, part)])?;
        Ok(file.file.path())
    }

    /// Writes the call graph of a thread.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_thread(&self, counts: &Folded, part: CallgrindPart) -> Result<(), String> {
        match &counts.calls {
            Some(graph) if !(self.combine && part.thread.is_some()) => self.write(&[(graph, part)]),
            _ => Ok(()),
        }
    }

    fn write(&self, parts: &[(&CallGraph, CallgrindPart)]) -> Result<(), String> {
        self.file
            .write(|w| parts.iter().try_for_each(|(graph, part)| write_callgrind(graph, self.form, *part, w)))
    }
}
