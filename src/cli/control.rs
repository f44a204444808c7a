//! `cgemu control`: orders to runs that were started with `--control`, as callgrind_control gives
//! them to Callgrind.

mod place;
mod server;

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use anyhow::{Context as _, Error, anyhow, bail};
use clap::Args;

use super::lookup::reason;
use crate::console;
use place::Place;
pub(super) use place::directories;
use server::Order;
pub(super) use server::Server;

/// Exit status where an order was not obeyed, or there is no run.
const NOT_OBEYED: u8 = 1;

/// Most bytes of an answer.
const LONGEST_ANSWER: u64 = 64 << 20;

/// The options of `cgemu control`.
#[derive(Args, Debug)]
pub(super) struct ControlArgs {
    /// Print how far the run is, and its processes; so without any order
    #[arg(short, long, visible_alias = "status")]
    stat: bool,

    /// Print the calls that each task is in
    #[arg(short, long, visible_alias = "stack")]
    back: bool,

    /// Print the counts of each process so far
    #[arg(short, long)]
    events: bool,

    /// End a part of the call graph here, as --dump-every does; its file is written when the run
    /// ends
    #[arg(short, long)]
    dump: bool,

    /// Set all counts to zero; caches and predictors keep what they hold
    #[arg(short, long)]
    zero: bool,

    /// Count from here on, or count and simulate nothing
    #[arg(short, long, value_name = "on|off", hide_possible_values = true)]
    instr: Option<OnOff>,

    /// End the run as SIGTERM does, with its profile up to here
    #[arg(short, long)]
    kill: bool,

    /// The process IDs of runs, as the log and the names of files have them; all of the user's
    /// runs that were started with --control if none is given
    #[arg(value_name = "PID")]
    runs: Vec<u32>,
}

/// Counting on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OnOff {
    On,
    Off,
}

impl ControlArgs {
    /// The orders, in which what looks comes before what changes.
    fn orders(&self) -> Vec<Order> {
        let all = [
            (self.stat, Order::Status),
            (self.back, Order::Stacks),
            (self.events, Order::Events),
            (self.dump, Order::Dump),
            (self.zero, Order::Zero),
            (self.instr == Some(OnOff::Off), Order::Count(false)),
            (self.instr == Some(OnOff::On), Order::Count(true)),
            (self.kill, Order::Kill),
        ];
        let wanted: Vec<Order> = all.iter().filter(|(wanted, _)| *wanted).map(|(_, order)| *order).collect();
        if wanted.is_empty() { vec![Order::Status] } else { wanted }
    }
}

/// Gives orders to runs, and prints their answers; the exit status.
///
/// # Errors
/// A directory of sockets to which others have access.
pub(super) fn run(args: &ControlArgs) -> Result<u8, Error> {
    let places = Place::all().map_err(Error::msg)?;
    let mut out = console::output();
    let (mut status, mut found) = (0, Vec::new());
    for order in args.orders() {
        for (pid, connection) in places.iter().flat_map(Place::runs) {
            if !args.runs.is_empty() && !args.runs.contains(&pid) {
                continue;
            }
            found.push(pid);
            let (head, text) = match ask(connection, order) {
                Ok(text) => ("", text),
                Err(why) => {
                    status = NOT_OBEYED;
                    ("not obeyed: ", why)
                }
            };
            for line in text.lines() {
                writeln!(out, "{pid}: {head}{line}").map_err(|error| anyhow!(reason(&error)))?;
            }
        }
    }
    out.flush().map_err(|error| anyhow!(reason(&error))).context("standard output")?;
    if let Some(missing) = args.runs.iter().find(|pid| !found.contains(pid)) {
        bail!("{missing}: no run of this user that was started with --control");
    }
    if found.is_empty() {
        bail!("there is no run to control; start one with cgemu run --control");
    }
    Ok(status)
}

/// Gives an order to a run; its answer, or the reason why it does not obey.
fn ask(mut connection: UnixStream, order: Order) -> Result<String, String> {
    let fail = |error: std::io::Error| reason(&error);
    connection.write_all(format!("{}\n", order.word()).as_bytes()).map_err(fail)?;
    let mut answer = Vec::new();
    connection.take(LONGEST_ANSWER).read_to_end(&mut answer).map_err(fail)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    match answer.split_once('\n') {
        Some(("ok", text)) => Ok(text.to_owned()),
        Some((_, why)) if !why.is_empty() => Err(why.trim_end().to_owned()),
        _ => Err("the run has ended".to_owned()),
    }
}
