//! `cgemu top`: where most of the counts are.

use clap::{Args, ValueEnum};

use super::view::{InputArgs, ViewArgs, failure};
use crate::annotate::{By, Look, TopOptions, top};
use crate::console;

/// The options of `cgemu top`.
#[derive(Args, Debug)]
pub(super) struct TopArgs {
    /// How many rows to show; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value = "20")]
    pub(super) count: usize,

    /// What to rank
    #[arg(long, value_name = "function|file|line", default_value = "function", hide_possible_values = true)]
    pub(super) by: Kind,

    /// The event, or computed column, to sort by [default: the first event]
    #[arg(long, value_name = "EVENT")]
    pub(super) sort: Option<String>,

    /// Show the counts of these events, in this order [default: that of --sort]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(super) show: Option<Vec<String>>,

    /// The form of the output.
    #[command(flatten)]
    pub(super) view: ViewArgs,

    /// The profiles.
    #[command(flatten)]
    pub(super) input: InputArgs,
}

/// The subject of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Functions.
    Function,
    /// Source files.
    File,
    /// Source lines.
    Line,
}

/// Prints the ranking; returns the exit status.
pub(super) fn run(args: &TopArgs) -> u8 {
    let input = match args.input.input() {
        Ok(input) => input,
        Err(message) => return failure("top", &message),
    };
    let options = TopOptions {
        input,
        by: match args.by {
            Kind::Function => By::Function,
            Kind::File => By::File,
            Kind::Line => By::Line,
        },
        count: if args.count == 0 { usize::MAX } else { args.count },
        sort: args.sort.clone(),
        show: args.show.clone(),
        derive: args.view.derive.clone(),
        format: args.view.format(),
        look: Look { colour: args.view.colour(), width: console::output_width() },
    };
    args.view.show("top", |out| top(&options, out))
}
