//! `cgemu annotate`: the options of `cg_annotate` and its exit statuses: 1 for bad profiles, 2 for
//! bad options.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use super::code::CodeArgs;
use super::switch::Switch;
use super::view::{BAD_USAGE, InputArgs, ViewArgs, failure};
use crate::annotate::{Input, Options, Tree, annotate, annotate_asm, annotate_inline};

/// The options of `cgemu annotate`.
#[derive(Args, Debug)]
pub(super) struct AnnotateArgs {
    /// Show only the counts of these events, in this order [default: all]
    #[arg(long, value_name = "A,B,C")]
    pub(super) show: Option<String>,

    /// Sort functions by these events [default: all, in the order of the columns]
    #[arg(long, value_name = "A,B,C")]
    pub(super) sort: Option<String>,

    /// List only files and functions with at least this share, in percent, of the first sort event
    #[arg(long, value_name = "N:[0,20]", default_value = "0.1", value_parser = threshold)]
    pub(super) threshold: f64,

    /// Show percentages beside counts; on unless --no-show-percs
    #[arg(long, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "yes", overrides_with = "no_show_percs")]
    pub(super) show_percs: Option<Switch>,

    /// Show only counts
    #[arg(long, overrides_with = "show_percs")]
    pub(super) no_show_percs: bool,

    /// With --diff, give percentages, and take --threshold, of the first file's totals instead of
    /// the difference of the totals
    #[arg(long, requires = "diff")]
    pub(super) percs_of_first: bool,

    /// Annotate the source files that reach the threshold; on unless --no-annotate
    #[arg(long, overrides_with_all = ["no_annotate", "auto"])]
    pub(super) annotate: bool,

    /// At the end, list the files below the threshold, which are not annotated
    #[arg(long, conflicts_with_all = ["no_annotate", "asm", "inline"])]
    pub(super) left_out: bool,

    /// List functions only
    #[arg(long, overrides_with_all = ["annotate", "auto"])]
    pub(super) no_annotate: bool,

    /// Older spelling of --annotate and --no-annotate
    #[arg(long, require_equals = true)]
    #[arg(overrides_with_all = ["annotate", "no_annotate"])]
    pub(super) auto: Option<Switch>,

    /// Show N lines before and after each line that has counts
    #[arg(long, value_name = "N", default_value = "8", value_parser = lines)]
    pub(super) context: u64,

    /// Show for each function its callers, what it calls, or both; Callgrind files only
    #[arg(long, value_name = "none|caller|calling|both", default_value = "none")]
    #[arg(hide_possible_values = true, conflicts_with_all = ["asm", "inline", "json", "csv"])]
    pub(super) tree: Relatives,

    /// The options of machine code.
    #[command(flatten)]
    pub(super) code: CodeArgs,

    /// The form of the output.
    #[command(flatten)]
    pub(super) view: ViewArgs,

    /// The profiles.
    #[command(flatten)]
    pub(super) input: InputArgs,
}

/// The functions beside each function, as `callgrind_annotate` calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Relatives {
    /// No others.
    None,
    /// Those that call it.
    Caller,
    /// Those that it calls.
    Calling,
    /// Callers and called ones.
    Both,
}

/// Prints the annotation; returns the exit status. `words` are the arguments as typed, for the
/// `Invocation:` line.
pub(super) fn run(args: &AnnotateArgs, words: &[OsString]) -> u8 {
    if let Err(message) = args.code.check() {
        failure("annotate", &message);
        return BAD_USAGE;
    }
    let tree = Tree {
        callers: matches!(args.tree, Relatives::Caller | Relatives::Both),
        called: matches!(args.tree, Relatives::Calling | Relatives::Both),
    };
    let input = match args.input.input() {
        Ok(input) => Input { calls: tree.callers || tree.called, ..input },
        Err(message) => return failure("annotate", &message),
    };
    let places = match args.code.places() {
        Ok(places) => places,
        Err(message) => return failure("annotate", &message),
    };
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_encoded_bytes()).collect();
    let mut invocation = b"cgemu ".to_vec();
    invocation.extend(words.join(&b' '));
    let list = |text: &String| text.split(',').map(str::to_owned).collect();
    let options = Options {
        input,
        tree,
        show: args.show.as_ref().map(list),
        sort: args.sort.as_ref().map(list),
        threshold: args.threshold,
        percentages: !args.no_show_percs && args.show_percs.is_none_or(Switch::on),
        of_old: args.percs_of_first,
        left_out: args.left_out,
        annotate: !args.no_annotate && args.auto.is_none_or(Switch::on),
        context: args.context,
        derive: args.view.derive.clone(),
        format: args.view.format(),
        colour: args.view.colour(),
        places,
        invocation,
    };
    args.view.show("annotate", |out| match (args.code.asm(), args.code.inline()) {
        (Some(asm), _) => annotate_asm(&options, &asm, out),
        (None, Some(function)) => annotate_inline(&options, function, out),
        (None, None) => annotate(&options, out),
    })
}

fn lines(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "expected a number of lines, from 0".to_owned())
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
        assert_eq!((args.threshold, args.context, args.input.files.len()), (2.0, 3, 2));
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
