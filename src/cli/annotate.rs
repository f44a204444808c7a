//! `cgemu annotate`: the options of `cg_annotate` and its exit statuses: 1 for bad profiles, 2 for bad options.

use std::ffi::OsString;
use std::io::{BufWriter, Write as _};

use clap::Args;

use super::args::Switch;
use super::lookup;
use crate::annotate::{AnnotateError, Options, Renaming, Replace, annotate};

/// Exit status if the profiles cannot be read or do not fit together.
const BAD_INPUT: u8 = 1;

/// Exit status if the command line is wrong.
pub const BAD_USAGE: u8 = 2;

/// The options of `cgemu annotate`.
#[derive(Args, Debug)]
pub struct AnnotateArgs {
    /// Show the second of two files less the first
    #[arg(long)]
    pub diff: bool,

    /// Search and replace in the names of source files: s/OLD/NEW/, then g for all matches, i for either case
    #[arg(long, value_name = "REGEX")]
    pub mod_filename: Option<Replace>,

    /// The same for the names of functions
    #[arg(long, value_name = "REGEX")]
    pub mod_funcname: Option<Replace>,

    /// Show only the counts of these events, in this order [default: all]
    #[arg(long, value_name = "A,B,C")]
    pub show: Option<String>,

    /// Sort functions by these events [default: all, in the order of the columns]
    #[arg(long, value_name = "A,B,C")]
    pub sort: Option<String>,

    /// List only files and functions with at least this share, in percent, of the first sort event
    #[arg(long, value_name = "N:[0,20]", default_value = "0.1", value_parser = threshold)]
    pub threshold: f64,

    /// List functions with the costs of those they call; Callgrind files only
    #[arg(long)]
    pub inclusive: bool,

    /// Show percentages beside counts; on unless --no-show-percs
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "yes", hide_possible_values = true, overrides_with = "no_show_percs")]
    pub show_percs: Option<Switch>,

    /// Show only counts
    #[arg(long, overrides_with = "show_percs")]
    pub no_show_percs: bool,

    /// Annotate the source files that reach the threshold; on unless --no-annotate
    #[arg(long, overrides_with_all = ["no_annotate", "auto"])]
    pub annotate: bool,

    /// List functions only
    #[arg(long, overrides_with_all = ["annotate", "auto"])]
    pub no_annotate: bool,

    /// Older spelling of --annotate and --no-annotate
    #[arg(long, value_name = "yes|no", require_equals = true, hide_possible_values = true)]
    #[arg(overrides_with_all = ["annotate", "no_annotate"])]
    pub auto: Option<Switch>,

    /// Show N lines before and after each line that has counts
    #[arg(long, value_name = "N", default_value = "8")]
    pub context: u64,

    /// Files of Cachegrind or Callgrind; several are added up
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<OsString>,
}

/// Does it; returns the exit status. `words` are the arguments as typed, for the `Invocation:` line.
pub fn run(args: &AnnotateArgs, words: &[OsString]) -> u8 {
    if args.diff && args.files.len() != 2 {
        return complain(&format!("--diff takes exactly two files, not {}", args.files.len()));
    }
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_encoded_bytes()).collect();
    let mut invocation = b"cgemu ".to_vec();
    invocation.extend(words.join(&b' '));
    let list = |text: &String| text.split(',').map(str::to_owned).collect();
    let options = Options {
        profiles: args.files.clone(),
        diff: args.diff,
        renaming: Renaming { files: args.mod_filename.clone(), functions: args.mod_funcname.clone() },
        show: args.show.as_ref().map(list),
        sort: args.sort.as_ref().map(list),
        threshold: args.threshold,
        percentages: !args.no_show_percs && args.show_percs.is_none_or(Switch::on),
        inclusive: args.inclusive,
        annotate: !args.no_annotate && args.auto.is_none_or(Switch::on),
        context: args.context,
        invocation,
    };
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let failed = annotate(&options, &mut out);
    // What cannot be written is no longer of use to anyone.
    let _ = out.into_parts();
    match failed {
        Ok(()) => 0,
        Err(AnnotateError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
        Err(AnnotateError::Output(error)) => {
            complain(&format!("standard output: {}", lookup::reason(&error)))
        }
        Err(AnnotateError::Open { file, reason }) => complain(&format!(
            "{file}: {}; give the name of a Cachegrind or Callgrind file",
            lookup::reason(&reason)
        )),
        Err(error) => complain(&error.to_string()),
    }
}

fn complain(message: &str) -> u8 {
    // Nothing is left to tell it to if standard error is closed.
    let _ = writeln!(std::io::stderr(), "cgemu annotate: {message}");
    BAD_INPUT
}

fn threshold(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if (0.0..=20.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 20, in percent".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Cli, Command};
    use super::*;
    use clap::Parser as _;

    fn parse(words: &[&str]) -> Result<AnnotateArgs, String> {
        let words = ["cgemu", "annotate"].iter().chain(words);
        match Cli::try_parse_from(words).map_err(|e| e.to_string())?.command {
            Command::Annotate(options) => Ok(*options),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn switches_in_all_their_spellings() {
        for (words, percentages, annotated) in [
            (&["f"][..], true, true),
            (&["--no-show-percs", "--no-annotate", "f"], false, false),
            (&["--show-percs=no", "--auto=no", "f"], false, false),
            (&["--show-percs=yes", "--auto=yes", "f"], true, true),
            (&["--no-show-percs", "--show-percs", "--no-annotate", "--annotate", "f"], true, true),
            (&["--auto=no", "--annotate", "--show-percs=yes", "--no-show-percs", "f"], false, true),
            (&["--annotate", "--auto=no", "f"], true, false),
            (&["--auto=yes", "--no-annotate", "f"], true, false),
        ] {
            let args = parse(words).expect("valid");
            assert_eq!(
                !args.no_show_percs && args.show_percs.is_none_or(Switch::on),
                percentages,
                "{words:?}"
            );
            assert_eq!(!args.no_annotate && args.auto.is_none_or(Switch::on), annotated, "{words:?}");
        }
    }

    #[test]
    fn the_last_of_an_option_counts() {
        let args =
            parse(&["--show=A", "f", "--show", "B,C", "--thresh=2", "--context=3", "g"]).expect("valid");
        assert_eq!(args.show.as_deref(), Some("B,C"));
        assert_eq!((args.threshold, args.context, args.files.len()), (2.0, 3, 2));
    }

    #[test]
    fn bad_options_are_named() {
        for (words, part) in [
            (&[][..], "FILE"),
            (&["--threshold=21", "f"], "--threshold"),
            (&["--threshold=-1", "f"], "--threshold"),
            (&["--threshold=nan", "f"], "--threshold"),
            (&["--context=x", "f"], "--context"),
            (&["--mod-filename=x/y/z/", "f"], "--mod-filename"),
            (&["--show-percs=maybe", "f"], "--show-percs"),
            (&["--auto", "f"], "--auto"),
            (&["--bogus", "f"], "--bogus"),
        ] {
            let error = parse(words).err().unwrap_or_default();
            assert!(error.contains(part), "{words:?}: {error}");
        }
    }
}
