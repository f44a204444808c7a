//! The options of the call graph, which are Callgrind's.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use anyhow::{Error, bail};
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{ArgAction, Args};

use super::switch::Switch;
use crate::profile::CallgrindForm;
use crate::session::{CallRules, FunctionPatterns, Positions};

/// Options of the call graph.
#[derive(Args, Debug)]
pub(super) struct CallArgs {
    /// Follow calls, and write a call graph in Callgrind's format beside the profile
    #[arg(long, default_value = "no", display_order = 40)]
    pub callgraph: Switch,

    /// Where the call graph goes; the same % patterns
    #[arg(long, value_name = "FILE", default_value = "callgrind.out.%p", display_order = 41)]
    #[arg(hide_short_help = true)]
    #[arg(help_heading = "Callgrind's options")]
    pub callgrind_out_file: OsString,

    /// Count entries of the procedure linkage table to their callers
    #[arg(long, default_value = "yes", hide_short_help = true, display_order = 42)]
    #[arg(help_heading = "Callgrind's options")]
    pub skip_plt: Switch,

    /// Levels of recursion of a function that are told apart, as functions with '2 and so on behind
    /// their names; --separate-recs5=FUNCTION says so of the functions of one name, with ? and *
    #[arg(long, value_name = "N", default_value = "2", hide_short_help = true, display_order = 42)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    #[arg(help_heading = "Callgrind's options")]
    pub separate_recs: u32,

    /// Callers by which functions are told apart, as functions with the callers' names behind
    /// theirs; --separate-callers2=FUNCTION says so of the functions of one name, with ? and *
    #[arg(long, value_name = "N", default_value = "0", hide_short_help = true, display_order = 42)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    #[arg(help_heading = "Callgrind's options")]
    pub separate_callers: u32,

    /// What [`of_one_function`] makes of --separate-callersN=FUNCTION
    #[arg(long, hide = true, value_name = "N:FUNCTION", action = ArgAction::Append)]
    #[arg(value_parser = OsStringValueParser::new().try_map(|text| numbered(&text, 0..=100)))]
    pub separate_callers_of: Vec<(u32, Vec<u8>)>,

    /// What it makes of --separate-recsN=FUNCTION
    #[arg(long, hide = true, value_name = "N:FUNCTION", action = ArgAction::Append)]
    #[arg(value_parser = OsStringValueParser::new().try_map(|text| numbered(&text, 1..=1000)))]
    pub separate_recs_of: Vec<(u32, Vec<u8>)>,

    /// Count jumps within functions, as jump= and jcnd= lines
    #[arg(long, default_value = "no", hide_short_help = true, display_order = 42)]
    #[arg(help_heading = "Callgrind's options")]
    pub collect_jumps: Switch,

    /// Collect costs only within functions of this name, with all that they call; ? and * stand for
    /// any character and any text. May be repeated: each switches collection when it is entered and
    /// back when it is left. Simulation goes on in any case
    #[arg(long, value_name = "FUNCTION", action = ArgAction::Append, display_order = 42)]
    #[arg(hide_short_help = true)]
    #[arg(help_heading = "Callgrind's options")]
    pub toggle_collect: Vec<OsString>,

    /// Collect costs from the beginning; no if functions switch it
    #[arg(long, hide_short_help = true, display_order = 42)]
    #[arg(help_heading = "Callgrind's options")]
    pub collect_atstart: Option<Switch>,

    /// Write the costs so far to a file of their own, with .1 and so on behind its name, whenever a
    /// function of this name is entered; ? and * as above. May be repeated
    #[arg(long, value_name = "FUNCTION", action = ArgAction::Append, display_order = 42)]
    #[arg(hide_short_help = true)]
    #[arg(help_heading = "Callgrind's options")]
    pub dump_before: Vec<OsString>,

    /// Write them whenever such a function is left
    #[arg(long, value_name = "FUNCTION", action = ArgAction::Append, display_order = 42)]
    #[arg(hide_short_help = true)]
    #[arg(help_heading = "Callgrind's options")]
    pub dump_after: Vec<OsString>,

    /// Set the costs to zero whenever such a function is entered
    #[arg(long, value_name = "FUNCTION", action = ArgAction::Append, display_order = 42)]
    #[arg(hide_short_help = true)]
    #[arg(help_heading = "Callgrind's options")]
    pub zero_before: Vec<OsString>,

    /// Write the costs so far at the first block after every N instructions
    #[arg(long, value_name = "N", hide_short_help = true, display_order = 42)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub dump_every: Option<u64>,

    /// Write the source line of each cost
    #[arg(long, default_value = "yes", hide_short_help = true, display_order = 43)]
    #[arg(help_heading = "Callgrind's options")]
    pub dump_line: Switch,

    /// Write each name once, and then its number; not all readers take that
    #[arg(long, default_value = "no", hide_short_help = true, display_order = 44)]
    #[arg(help_heading = "Callgrind's options")]
    pub compress_strings: Switch,

    /// Write positions relative to the one before; not all readers take that
    #[arg(long, default_value = "no", hide_short_help = true, display_order = 45)]
    #[arg(help_heading = "Callgrind's options")]
    pub compress_pos: Switch,

    /// Write the threads that are counted apart, and what is dumped, as parts of one file
    #[arg(long, default_value = "no", hide_short_help = true, display_order = 46)]
    #[arg(help_heading = "Callgrind's options")]
    pub combine_dumps: Switch,
}

impl CallArgs {
    /// The rules for the call graph; none if it is not asked for.
    pub(super) fn rules(&self) -> Option<CallRules> {
        let rules = || CallRules {
            skip_plt: self.skip_plt.on(),
            recursions: self.separate_recs,
            callers: self.separate_callers,
            apart: self.separate_callers > 0 || self.separates_some(),
            jumps: self.collect_jumps.on(),
            dump_every: self.dump_every.unwrap_or(0),
            collect_at_start: self.collect_atstart.map_or(self.toggle_collect.is_empty(), Switch::on),
        };
        self.callgraph.on().then(rules)
    }

    /// Patterns of the functions that control what is collected.
    pub(super) fn functions(&self) -> FunctionPatterns {
        FunctionPatterns {
            toggle: patterns(&self.toggle_collect),
            dump_before: patterns(&self.dump_before),
            dump_after: patterns(&self.dump_after),
            zero_before: patterns(&self.zero_before),
            callers: self.separate_callers_of.clone(),
            recursions: self.separate_recs_of.clone(),
            count_from: Vec::new(),
        }
    }

    /// True if some functions are told apart in a way of their own.
    fn separates_some(&self) -> bool {
        !(self.separate_callers_of.is_empty() && self.separate_recs_of.is_empty())
    }

    /// True if costs may be dumped or set to zero on the way.
    fn has_parts(&self) -> bool {
        let functions = [&self.dump_before, &self.dump_after, &self.zero_before];
        self.dump_every.is_some() || functions.iter().any(|functions| !functions.is_empty())
    }

    /// The positions of the call graph; those of instructions with `--dump-instr`.
    pub(super) fn positions(&self, instructions: bool) -> Positions {
        Positions { instructions, lines: self.dump_line.on() }
    }

    /// The form of the file.
    pub(super) fn form(&self, instructions: bool) -> CallgrindForm {
        CallgrindForm {
            instructions,
            lines: self.dump_line.on(),
            compress_names: self.compress_strings.on(),
            compress_positions: self.compress_pos.on(),
        }
    }
}

/// The word for `cgemu run` in place of `--NAMEN=FUNCTION`, an option with a number in its name;
/// `None` if it is none of those.
pub(super) fn of_one_function(word: &OsStr) -> Option<OsString> {
    let at = word.as_bytes().iter().position(|&byte| byte == b'=')?;
    let (name, function) = (&word.as_bytes()[..at], &word.as_bytes()[at + 1..]);
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (name, number) = name.split_at(name.len() - digits);
    let is_one = digits > 0 && matches!(name, b"--separate-callers" | b"--separate-recs");
    is_one.then(|| OsString::from_vec([name, b"-of=", number, b":", function].concat()))
}

/// The number and the pattern in the word that [`of_one_function`] makes.
fn numbered(text: &OsStr, numbers: RangeInclusive<u32>) -> Result<(u32, Vec<u8>), String> {
    let text = text.as_bytes();
    let at = text.iter().position(|&byte| byte == b':').ok_or("write N:FUNCTION")?;
    let (number, function) = (&text[..at], text[at + 1..].to_vec());
    let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
    match number.filter(|number| numbers.contains(number)) {
        Some(_) if function.is_empty() => Err("a function is missing".to_owned()),
        Some(number) => Ok((number, function)),
        None => Err(format!("the number is not in {}..={}", numbers.start(), numbers.end())),
    }
}

/// The bytes of patterns.
pub(super) fn patterns(all: &[OsString]) -> Vec<Vec<u8>> {
    all.iter().map(|pattern| pattern.as_bytes().to_vec()).collect()
}

/// Checks what the call graph is asked for together with.
///
/// # Errors
/// What cannot be together.
pub(super) fn check(options: &CallArgs, threads: bool) -> Result<(), Error> {
    if !options.callgraph.on() {
        if options.separates_some() {
            bail!("--separate-callersN and --separate-recsN are about calls; add --callgraph=yes");
        }
        if options.collect_atstart.is_some() || !options.toggle_collect.is_empty() {
            bail!("--toggle-collect and --collect-atstart are about calls; add --callgraph=yes");
        }
        if options.has_parts() {
            bail!(
                "--dump-before, --dump-after, --dump-every and --zero-before are about calls; add --callgraph=yes"
            );
        }
        return Ok(());
    }
    if threads && options.has_parts() {
        bail!("--separate-threads=yes: threads are not dumped or set to zero on the way; leave it out");
    }
    Ok(())
}
