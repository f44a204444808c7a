//! The source files with their counts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::columns::Columns;
use super::options::Options;
use super::report::{Order, RULE};
use super::table::Table;
use super::warnings;
use crate::classic::failure::Failure;
use crate::classic::lenient::Count;
use crate::classic::number;
use crate::profile::{Cell as _, UNKNOWN};

/// Annotates the files that the user chose, those of `chosen` if that is wanted, and says what
/// could not be found and how much was shown.
pub(crate) fn annotate(
    options: &Options,
    open_file: &dyn Fn(&Path) -> io::Result<File>,
    order: &Order,
    table: &Table,
    chosen: BTreeSet<Vec<u8>>,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let mut files: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
    if options.auto {
        files.extend(chosen.into_iter().filter(|file| file != UNKNOWN.as_bytes()).map(|file| (file, false)));
    }
    files.extend(options.sources.iter().map(|file| (file.clone(), true)));
    let columns = || Columns::new(&table.head.events, &order.shown, &table.summary, options.percentages);
    let mut printed = vec![Count::UNDEFINED; table.columns()];
    let mut missing = Vec::new();
    let mut any = false;
    for (name, by_user) in files {
        let Some(opened) = open(options, open_file, &name) else {
            if by_user {
                let error = std::io::Error::from(rustix::io::Errno::NOENT);
                return Err(Failure::io(&name, &error));
            }
            missing.push(name);
            continue;
        };
        out.extend_from_slice(RULE);
        let how: &[u8] = if by_user { b"-- User-annotated source: " } else { b"-- Auto-annotated source: " };
        push(out, &[how, &opened.directory]);
        push(out, &[if opened.directory.is_empty() { b"" } else { b" + " }, &name, b"\n", RULE]);
        match table.lines(&name) {
            None => push(out, &[b"  No information has been collected for ", &name, b"\n\n"]),
            Some(lines) => {
                any = true;
                let mut annotation = Annotation {
                    name: &name,
                    profile: &options.file,
                    columns: columns(),
                    printed: &mut printed,
                };
                annotation.file(opened, &lines, options.context, table.time, out);
            }
        }
    }
    if !missing.is_empty() {
        push(out, &[RULE, b"The following files chosen for auto-annotation could not be found:\n", RULE]);
        for name in &missing {
            push(out, &[b"  ", name, b"\n"]);
        }
        out.push(b'\n');
    }
    if any {
        let mut columns = columns();
        columns.fit(&printed);
        out.extend_from_slice(RULE);
        columns.head(out);
        push(out, &[b"\n", RULE]);
        columns.row(&printed, out);
        out.extend_from_slice(b" events annotated\n\n");
    }
    Ok(())
}

fn push(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// A source file that was found.
struct Opened {
    /// Its directory: empty for the file's own name, otherwise one of those of `--include`.
    directory: Vec<u8>,
    file: File,
    /// Time of its last change, in seconds.
    time: i64,
}

/// Opens a source file where it is found first. Perl's `open` drops blanks at either end of a name;
/// `stat` does not, so that such a file is never taken for a newer one.
fn open(options: &Options, open_file: &dyn Fn(&Path) -> io::Result<File>, name: &[u8]) -> Option<Opened> {
    options.include.iter().find_map(|directory| {
        let path = [directory, name].concat();
        let trimmed = path.trim_ascii();
        let kind = std::fs::metadata(OsStr::from_bytes(trimmed)).ok()?.file_type();
        let path_of = Path::new(OsStr::from_bytes(trimmed));
        // Perl opens a directory too, and reads nothing from it.
        let file = if kind.is_dir() { File::open(path_of) } else { open_file(path_of) };
        let file = file.ok()?;
        let time = if trimmed == path { file.metadata().ok()?.mtime() } else { i64::MIN };
        Some(Opened { directory: directory.clone(), file, time })
    })
}

/// Lines of a source file, numbered from 1. One that cannot be read on ends there.
struct Source {
    input: BufReader<File>,
    number: f64,
    text: Vec<u8>,
}

impl Source {
    fn advance(&mut self) -> bool {
        self.text.clear();
        let read = self.input.read_until(b'\n', &mut self.text).unwrap_or(0);
        if read > 0 {
            self.number += 1.0;
        }
        read > 0
    }
}

struct Annotation<'a> {
    name: &'a [u8],
    profile: &'a [u8],
    columns: Columns<'a>,
    printed: &'a mut [Count],
}

impl Annotation<'_> {
    fn file(
        &mut self,
        opened: Opened,
        lines: &[(i64, &[Count])],
        context: f64,
        time: i64,
        out: &mut Vec<u8>,
    ) {
        let newer = opened.time > time;
        if newer {
            warnings::newer(self.name, self.profile, out);
        }
        for (_, counts) in lines {
            self.columns.fit(counts);
        }
        self.columns.head(out);
        out.extend_from_slice(b"\n\n");
        // Line 0 comes last; a negative number before it keeps it here, as in `cg_annotate`.
        let skip = usize::from(lines.first().is_some_and(|&(number, _)| number == 0));
        let mut left: VecDeque<_> = lines.iter().skip(skip).copied().collect();
        let mut source = Source { input: BufReader::new(opened.file), number: 0.0, text: Vec::new() };
        for (at, (low, high)) in ranges(&left, context).into_iter().enumerate() {
            let low = if at == 0 { low.max(1.0) } else { low };
            if !self.range(&mut source, (low, high), &mut left, out) {
                break;
            }
        }
        if !left.is_empty() {
            for &(number, counts) in &left {
                self.columns.row(counts, out);
                push(out, &[b" <bogus line ", number.to_string().as_bytes(), b">\n"]);
            }
            out.push(b'\n');
            warnings::past_the_end(self.name, newer, out);
        }
        out.push(b'\n');
        if let Some((_, counts)) = lines.iter().find(|&&(number, _)| number == 0) {
            self.columns.row(counts, out);
            push(out, &[b" <counts for unidentified lines in ", self.name, b">\n\n"]);
        }
    }

    /// The source from line `low` to line `high`; false if the file ends before that.
    fn range(
        &mut self,
        source: &mut Source,
        (low, high): (f64, f64),
        left: &mut VecDeque<(i64, &[Count])>,
        out: &mut Vec<u8>,
    ) -> bool {
        while source.number < low - 1.0 && source.advance() {}
        if low != 1.0 {
            marker(low, out);
        }
        let mut more = false;
        while source.number < high {
            // A last line of just `0` without its newline is false for Perl, and so not there.
            more = source.advance() && source.text != b"0";
            if !more {
                break;
            }
            match left.front() {
                #[allow(clippy::cast_precision_loss)]
                Some(&(number, counts)) if number as f64 == source.number => {
                    self.columns.row(counts, out);
                    for (sum, &count) in self.printed.iter_mut().zip(counts) {
                        // Counts with undefined ones always fit.
                        let _: Result<(), _> = sum.add(&count);
                    }
                    left.pop_front();
                }
                _ => self.columns.row(&[], out),
            }
            out.push(b' ');
            out.extend_from_slice(&source.text);
        }
        if more {
            marker(high, out);
        }
        more
    }
}

fn marker(number: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("-- line {} {}\n", number::double(number), "-".repeat(40)).as_bytes());
}

/// The ranges of lines to show: those with counts, and `context` lines around each; two that meet
/// are one.
#[allow(clippy::cast_precision_loss)]
fn ranges(lines: &VecDeque<(i64, &[Count])>, context: f64) -> Vec<(f64, f64)> {
    let mut ranges: Vec<(f64, f64)> = Vec::new();
    let mut last = None;
    for &(number, _) in lines {
        let number = number as f64;
        match (last, ranges.last_mut()) {
            (Some(last), Some(range)) if last + 2.0 * context >= number => range.1 = number + context,
            _ => ranges.push((number - context, number + context)),
        }
        last = Some(number);
    }
    ranges
}
