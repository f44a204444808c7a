//! `cgemu annotate`: the listing of `cg_annotate` of Valgrind 3.28. Totals, functions by file,
//! files by function, and source files with the counts of their lines.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::error::AnnotateError;
use super::input::{ProfileFile, event_names, read_profiles};
use super::options::{Format, Options};
use super::render::columns::Shown;
use super::render::functions;
use super::render::report::{Report, Subject};
use super::render::source::{not_annotated, shares, source};
use super::render::text::{field, heading, python_float, warning};
use super::render::tree;
use super::sources::{Unreadable, open_same};
use super::tally::{FileCosts, Origin, Tally};
use super::view::groups::{Grouping, functions as function_rows, groups};
use super::view::ranking::{By, Order, Sign, Threshold, rank, tally_rows};
use super::view::source::{annotated, around};
use super::view::tree::tree;
use crate::console::Console;
use crate::profile::{NameId, UNKNOWN, add_costs};

/// Reads the profiles and writes the annotation.
///
/// # Errors
/// If a profile cannot be read or is malformed, if the profiles do not fit together, if there is no
/// such event, or if writing fails. Nothing is written before the profiles are read.
pub(crate) fn annotate(options: &Options, out: &mut Console<impl Write>) -> Result<(), AnnotateError> {
    let (tally, profiles) = read_profiles(&options.input)?;
    let whole = tally.before.as_ref().filter(|_| options.of_old).map_or(&tally.total, |before| &before.total);
    let (shown, sort) = Shown::new(options, &tally.events, whole)?;
    let order = Order { first: None, sort: &sort, sign: Sign::Ignored };
    let threshold = Threshold::new(&order, whole, options.threshold);
    if options.format != Format::Text {
        let subject = Subject {
            tally: &tally,
            profiles: &profiles,
            input: &options.input,
            metrics: &shown.metrics,
            order,
            percent: options.threshold,
            threshold,
        };
        let kinds = [By::Function, By::File, By::Line];
        let kinds = kinds.get(..if options.annotate { 3 } else { 2 }).unwrap_or(&kinds);
        return Report::new(&subject, kinds, usize::MAX).write(options.format, out);
    }
    metadata(options, &tally, &shown, &event_names(&tally.events, &sort), out)?;
    heading(out, b"Summary")?;
    functions::summary(&shown, &tally.total, out)?;
    let chosen = rankings(options, &tally, &shown, &order, threshold, out)?;
    if options.annotate {
        let (tally, shown, profiles, sort) = (&tally, &shown, &profiles, &sort);
        Annotation { options, tally, shown, profiles, sort }.write(&chosen, out)?;
    }
    out.flush()?;
    Ok(())
}

/// Writes the rankings of functions; gives back the files that reach the threshold.
fn rankings(
    options: &Options,
    tally: &Tally,
    shown: &Shown,
    order: &Order<'_>,
    threshold: Threshold,
    out: &mut Console<impl Write>,
) -> io::Result<BTreeSet<NameId>> {
    let inclusive = options.input.inclusive;
    if inclusive || options.input.calls {
        heading(out, if inclusive { b"Function summary, inclusive" } else { b"Function summary" })?;
        let rows = function_rows(tally, inclusive, order, threshold);
        let files = rows.iter().map(|row| row.key.1.0).collect();
        match options.input.calls {
            true => tree::write(&tree(tally, rows, options.tree, order), shown, out)?,
            false => functions::inclusive(&rows, |(name, _)| &name.0, "file:function", shown, out)?,
        }
        return Ok(files);
    }
    heading(out, b"File:function summary")?;
    let files = groups(tally, Grouping::FileFunction, order, threshold);
    functions::groups(&files, Grouping::FileFunction, shown, out)?;
    heading(out, b"Function:file summary")?;
    let by_function = groups(tally, Grouping::FunctionFile, order, threshold);
    functions::groups(&by_function, Grouping::FunctionFile, shown, out)?;
    Ok(files.iter().map(|file| file.id).collect())
}

/// Writes the first section: the profiles and the options.
fn metadata(
    options: &Options,
    tally: &Tally,
    shown: &Shown,
    sort: &[Vec<u8>],
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    heading(out, b"Metadata")?;
    field(out, "Invocation:", &options.invocation)?;
    let origins = &tally.origins;
    let one_description = origins.windows(2).all(|pair| pair.first().map(desc) == pair.last().map(desc));
    for (at, origin) in origins.iter().enumerate() {
        let mut lines = origin.desc.iter().map(Vec::as_slice).collect::<Vec<_>>();
        let same = format!("(same as Description {})", 1 + first_like(origins, origin, desc));
        if !one_description {
            if first_like(origins, origin, desc) < at {
                lines = vec![same.as_bytes()];
            }
            writeln!(out, "Description {}:", at + 1)?;
        } else if at > 0 {
            break;
        }
        for line in lines {
            out.write_all(line)?;
            writeln!(out)?;
        }
    }
    for (at, origin) in origins.iter().enumerate() {
        let first = first_like(origins, origin, cmd);
        match origins.len() {
            1 => field(out, "Command:", &origin.cmd)?,
            _ if first < at => {
                let same = format!("(same as Command {})", first + 1);
                field(out, &format!("Command {}:", at + 1), same.as_bytes())?;
            }
            _ => field(out, &format!("Command {}:", at + 1), &origin.cmd)?,
        }
    }
    field(out, "Events recorded:", &tally.events.join(&b' '))?;
    field(out, "Events shown:", &shown.names.join(&b' '))?;
    field(out, "Event sort order:", &sort.join(&b' '))?;
    for metric in &shown.metrics {
        field(out, "Derived:", metric.to_string().as_bytes())?;
    }
    field(out, "Threshold:", format!("{}%", python_float(options.threshold)).as_bytes())?;
    field(out, "Annotation:", if options.annotate { b"on" } else { b"off" })?;
    writeln!(out)
}

fn desc(origin: &Origin) -> &[Vec<u8>] {
    &origin.desc
}

fn cmd(origin: &Origin) -> &[u8] {
    &origin.cmd
}

/// The index of the first profile with the same `part`.
fn first_like<T: PartialEq + ?Sized>(all: &[Origin], one: &Origin, part: fn(&Origin) -> &T) -> usize {
    all.iter().position(|other| part(other) == part(one)).unwrap_or(0)
}

/// The section of annotated source files.
struct Annotation<'a> {
    options: &'a Options,
    tally: &'a Tally,
    shown: &'a Shown,
    profiles: &'a [ProfileFile],
    sort: &'a [usize],
}

/// Sums of the counts that were annotated, and of those that were not, by the reason.
struct Shares {
    known_lines: Vec<i64>,
    unknown_lines: Vec<i64>,
    not_identical: Vec<i64>,
    unreadable: Vec<i64>,
    below_threshold: Vec<i64>,
    unknown_files: Vec<i64>,
}

impl Annotation<'_> {
    /// Writes each file of `chosen`, in the order of their names, and the share of all counts that
    /// was annotated.
    fn write(&self, chosen: &BTreeSet<NameId>, out: &mut Console<impl Write>) -> io::Result<()> {
        let zero = vec![0; self.tally.events.len()];
        let mut shares = Shares {
            known_lines: zero.clone(),
            unknown_lines: zero.clone(),
            not_identical: zero.clone(),
            unreadable: zero.clone(),
            below_threshold: zero.clone(),
            unknown_files: zero,
        };
        let mut files: Vec<(&[u8], NameId)> = self.tally.files.iter().map(|(id, name)| (name, id)).collect();
        files.sort_unstable();
        for (name, id) in files {
            let Some(costs) = self.tally.by_file.get(&id) else { continue };
            if name == UNKNOWN.as_bytes() {
                self.add_lines(&mut shares.unknown_files, costs);
            } else if !chosen.contains(&id) {
                self.add_lines(&mut shares.below_threshold, costs);
            } else {
                heading(out, &[b"Annotated source file: ", name].concat())?;
                self.file(costs, &mut shares, out)?;
            }
        }
        shares.write(self.shown, out)?;
        if self.options.left_out { self.left_out(chosen, out) } else { Ok(()) }
    }

    /// Writes the files that are not in `chosen`, those with the highest counts first.
    fn left_out(&self, chosen: &BTreeSet<NameId>, out: &mut Console<impl Write>) -> io::Result<()> {
        heading(out, b"Files below the threshold")?;
        let rows = tally_rows(self.tally, By::File, false).into_iter();
        let is_left_out = |name: &[u8]| {
            name != UNKNOWN.as_bytes() && self.tally.files.find(name).is_some_and(|id| !chosen.contains(&id))
        };
        let rows = rows.filter(|row| is_left_out(row.key.file));
        let order = Order { first: None, sort: self.sort, sign: Sign::Ignored };
        let ranking = rank(rows, &order, |_| true, usize::MAX);
        functions::inclusive(&ranking.rows, |key| key.file, "file", self.shown, out)
    }

    fn file(&self, costs: &FileCosts, shares: &mut Shares, out: &mut Console<impl Write>) -> io::Result<()> {
        let opened = match open_same(&costs.originals, &self.options.places) {
            Ok(Some(opened)) => opened,
            Ok(None) => return writeln!(out),
            Err(Unreadable::Differ) => {
                self.add_lines(&mut shares.not_identical, costs);
                let reason = "two or more of these original files are not identical";
                not_annotated(out, reason, &costs.originals)?;
                return writeln!(out);
            }
            Err(Unreadable::Missing) => {
                self.add_lines(&mut shares.unreadable, costs);
                let reason = match self.options.places.reach.is_limited() {
                    false => "one or more of these original files are unreadable",
                    true => "one or more of these original files are unreadable or outside of --source-root",
                };
                not_annotated(out, reason, &costs.originals)?;
                return writeln!(out);
            }
        };
        for profile in self.profiles {
            if opened.modified.zip(profile.modified).is_some_and(|(source, profile)| source > profile) {
                let mut text = b"@ Original source files are all newer than data file '".to_vec();
                text.extend_from_slice(&profile.name);
                text.extend_from_slice(b"':\n");
                for name in &costs.originals {
                    text.extend([b"@ - ", name.as_slice(), b"\n"].concat());
                }
                text.extend_from_slice(b"@ Annotations may not be correct.\n");
                warning(out, &text)?;
                writeln!(out)?;
            }
        }
        let lines = costs.lines.iter().map(|(line, row)| (*line, self.tally.costs(*row)));
        let mut lines: Vec<(u64, &[i64])> = lines.collect();
        lines.sort_unstable();
        for (line, counts) in &lines {
            add_costs(if *line == 0 { &mut shares.unknown_lines } else { &mut shares.known_lines }, counts);
        }
        let numbers = lines.iter().map(|(line, _)| *line).filter(|line| *line > 0);
        let ranges = around(numbers, self.options.context);
        let placed = !ranges.is_empty();
        let view = annotated(lines.iter().copied(), ranges, opened.lines);
        source(&view, lines.iter().map(|(_, counts)| *counts), opened.name, self.shown, out)?;
        // Counts without lines end in an empty line already.
        if placed { writeln!(out) } else { Ok(()) }
    }

    fn add_lines(&self, sum: &mut [i64], costs: &FileCosts) {
        costs.lines.values().for_each(|row| add_costs(sum, self.tally.costs(*row)));
    }
}

impl Shares {
    fn write(&self, shown: &Shown, out: &mut Console<impl Write>) -> io::Result<()> {
        let rows: [(&[i64], &str); 6] = [
            (&self.known_lines, "  annotated: files known & above threshold & readable, line numbers known"),
            (
                &self.unknown_lines,
                "  annotated: files known & above threshold & readable, line numbers unknown",
            ),
            (&self.not_identical, "unannotated: files known & above threshold & two or more non-identical"),
            // The blank at the end is cg_annotate's.
            (&self.unreadable, "unannotated: files known & above threshold & unreadable "),
            (&self.below_threshold, "unannotated: files known & below threshold"),
            (&self.unknown_files, "unannotated: files unknown"),
        ];
        shares(&rows, shown, out)
    }
}
