//! The commands: their names, their help, and where they are carried out.

use super::shell::{Command, Commands, Setup, Shell, Takes};
use crate::debugger::Debugger;

macro_rules! commands {
    ($($group:literal { $($name:literal $([$($short:literal)*])? $usage:literal, $help:literal, $example:literal, $takes:expr, $resumes:literal, $run:expr;)* })*) => {
        /// The commands, in groups.
        const GROUPS: &[(&str, &[Command])] = &[$(($group, &[$(Command {
            name: $name,
            short: &[$($($short),*)?],
            usage: $usage,
            help: $help,
            example: $example,
            takes: $takes,
            resumes: $resumes,
            run: $run,
        }),*])),*];
    };
}

commands! {
    "Running" {
        "run" ["r"] "", "Lets the program run from its beginning; one that runs already begins again.", "run", Takes::Nothing, true, Shell::run_program;
        "start" "", "Runs from the beginning to the first line of main.", "start", Takes::Nothing, true, Shell::start;
        "continue" ["c"] "[N]", "Goes on to the next stop, or to the N-th from here.", "continue 3", Takes::Nothing, true, Shell::continue_;
        "step" ["s" "si" "stepi"] "[N]", "Executes one instruction, or N.", "step 10", Takes::Nothing, true, Shell::step;
        "next" ["n" "ni" "nexti"] "[N]", "Executes one instruction, or N; a call counts as one.", "next", Takes::Nothing, true, Shell::next;
        "line" ["li"] "[into] [N]", "Goes on to the next source line; calls run through, unless with `into`.", "line into", Takes::Words(&["into"]), true, Shell::line;
        "until" ["u"] "LOCATION", "Goes on to a function, FILE:LINE or *ADDRESS.", "until prog.c:20", Takes::Location, true, Shell::until;
        "finish" ["fin"] "", "Goes on until the function of the selected frame has returned.", "finish", Takes::Nothing, true, Shell::finish;
        "advance" ["adv"] "N", "Executes N instructions: 1_000, 10M, 2G.", "advance 1M", Takes::Nothing, true, Shell::advance;
        "stop" "after N [instructions]", "Stops when N more instructions have been executed.", "stop after 5M instructions", Takes::Words(&["after"]), false, Shell::stop_after;
    }
    "Stops" {
        "break" ["b"] "LOCATION [if EXPR]", "Stops at a function, FILE:LINE or *ADDRESS; with a condition only if it holds then. Conditions may name counters.", "break step if D1mr > 10000", Takes::Location, false, Shell::break_;
        "tbreak" ["tb"] "LOCATION [if EXPR]", "A breakpoint that goes when it has stopped the program.", "tbreak main", Takes::Location, false, Shell::tbreak;
        "watch" ["w"] "ADDRESS|SYMBOL|PLACE [r|w|rw] [if EXPR]", "Stops after an instruction that reads (r) or writes (w, if nothing is said) the bytes of a symbol, eight bytes at an address, or a place such as u32[$rsp+8].", "watch counter rw", Takes::Expression, false, Shell::watch;
        "catch" "syscall [NAME...] | signal | fork | exec | miss EVENT [in FUNCTION]", "Stops before a system call, at the start of a signal handler, before a new process is made, after another program was loaded, or after the instruction that counts an event.", "catch miss D1mr in main", Takes::Words(&["syscall", "signal", "fork", "exec", "miss"]), false, Shell::catch;
        "delete" ["d"] "[NUMBER...]", "Takes out stops; all of them if no number is given.", "delete 2", Takes::Nothing, false, Shell::delete;
        "enable" "[NUMBER...]", "Puts stops in force again.", "enable 2", Takes::Nothing, false, Shell::enable;
        "disable" "[NUMBER...]", "Keeps stops in the list and out of force.", "disable 2", Takes::Nothing, false, Shell::disable;
    }
    "Counts" {
        "summary" ["sum"] "", "Prints Cachegrind's summary of the run so far.", "summary", Takes::Nothing, false, Shell::summary;
        "top" ["t"] "[N] [by EVENT] [functions|lines|instructions]", "Lists what has cost most so far.", "top 5 by D1mr lines", Takes::Words(&["by", "functions", "lines", "instructions"]), false, Shell::top;
        "annotate" ["a"] "[FUNCTION | FILE[:FIRST[-LAST]]] [--asm]", "Shows source lines with their counts so far, or with --asm the instructions of a function; without a name, of the function of the selected frame.", "annotate main --asm", Takes::Location, false, Shell::annotate;
        "dump" "[FILE]", "Writes the profile of the run so far: to a file, or to a numbered part beside the run's own.", "dump before.cgout", Takes::File, false, Shell::dump;
        "zero" "", "Forgets what was counted. Caches and predictors stay as they are.", "zero", Takes::Nothing, false, Shell::zero;
        "mark" "NAME", "Keeps the counts of this moment under a name, for `since`.", "mark loop", Takes::Nothing, false, Shell::mark;
        "since" "NAME [N] [by EVENT] [functions|lines]", "Shows what was counted since a mark.", "since loop", Takes::Nothing, false, Shell::since;
        "instr" "on|off", "Whether what runs from here on is counted and simulated.", "instr off", Takes::Words(&["on", "off"]), false, Shell::instr;
        "cache" "[I1|D1|LL] [symbols|sets]", "Shows the simulated caches: how full they are, which symbols their lines belong to, which sets are contended for.", "cache D1 symbols", Takes::Words(&["I1", "D1", "LL", "symbols", "sets"]), false, Shell::cache;
        "predict" "[N]", "Lists the worst predicted branches.", "predict 5", Takes::Nothing, false, Shell::predict;
    }
    "The program" {
        "where" ["bt" "backtrace"] "[N]", "Shows the calls that led here, the innermost first, with those that were inlined.", "where 5", Takes::Nothing, false, Shell::where_;
        "frame" ["f"] "[N]", "Selects a frame of `where` for print, x, list and regs.", "frame 1", Takes::Nothing, false, Shell::frame;
        "list" ["l"] "[LOCATION]", "Shows source lines: around here, around a place, or the ones after those shown last.", "list main", Takes::Location, false, Shell::list;
        "disas" ["dis"] "[LOCATION] [N]", "Shows instructions: from here, or from a place.", "disas main 20", Takes::Location, false, Shell::disas;
        "regs" "[-a]", "Shows the registers; with -a those of SSE too.", "regs -a", Takes::Words(&["-a"]), false, Shell::regs;
        "print" ["p"] "[/F] EXPR", "Computes an expression over registers ($rax), memory (u32[ADDR]), symbols (counter, &counter) and counters (D1mr). F is one of x d u o t a c f s.", "print /x u32[$rsp]", Takes::Expression, false, Shell::print;
        "x" "[/NFS] ADDRESS", "Shows memory: N units in format F (x d u o t a c f s i) of size S (b h w g).", "x /4xg $rsp", Takes::Expression, false, Shell::examine;
        "thread" "[N]", "Selects a thread. There is one.", "thread 1", Takes::Nothing, false, Shell::thread;
        "info" ["i"] "breaks|threads|maps|files|signals|process|checkpoints|marks|modules", "Shows the stops, or what the program has.", "info maps", Takes::Words(&["breaks", "threads", "maps", "files", "signals", "process", "checkpoints", "marks", "modules"]), false, Shell::info;
    }
    "Time" {
        "checkpoint" ["cp"] "[NAME]", "Keeps this moment, counters, caches and predictors included, to come back to.", "checkpoint before", Takes::Nothing, false, Shell::checkpoint;
        "restore" "NAME", "Goes back to a checkpoint.", "restore before", Takes::Checkpoint, true, Shell::restore;
        "reverse-step" ["rs"] "[N]", "Goes back by one instruction, or by N.", "reverse-step", Takes::Nothing, true, Shell::reverse_step;
        "reverse-continue" ["rc"] "", "Goes back to the stop before this moment.", "reverse-continue", Takes::Nothing, true, Shell::reverse_continue;
    }
    "The shell" {
        "set" "NAME VALUE | $NAME = EXPR", "Changes an option of the shell, or a variable for expressions.", "set $base = $rsp", Takes::Words(&["context"]), false, Shell::set;
        "show" "[NAME]", "Shows options.", "show", Takes::Words(&["context", "cache", "command", "limits"]), false, Shell::show;
        "source" "FILE", "Runs the commands of a file; stops at the first that fails.", "source setup.cgemu", Takes::File, false, Shell::source;
        "log" "FILE | off", "Copies what the shell prints to a file.", "log session.txt", Takes::File, false, Shell::log;
        "alias" "[NAME [= COMMAND]]", "Gives a command, with its first words, another name.", "alias hot = top 5 by D1mr", Takes::Nothing, false, Shell::alias;
        "help" ["h" "?"] "[COMMAND]", "Lists the commands, or explains one.", "help break", Takes::Command, false, Shell::help;
        "quit" ["q" "exit"] "", "Leaves the shell. A program that has not ended is given up.", "quit", Takes::Nothing, false, Shell::leave;
    }
}

impl Shell {
    /// A shell over a program that has been loaded.
    pub fn new(debugger: Debugger, setup: Setup) -> Shell {
        Shell::with_commands(debugger, setup, Commands(GROUPS))
    }
}

/// The commands in Markdown, as `docs/repl.md` has them.
pub fn reference() -> String {
    let mut text = String::new();
    for (group, commands) in GROUPS {
        text += &format!("## {group}\n\n");
        for command in *commands {
            let usage = format!("{} {}", command.name, command.usage);
            text += &format!("`{}`\n: {}", usage.trim(), command.help);
            if !command.short.is_empty() {
                text += &format!(" Short: `{}`.", command.short.join("`, `"));
            }
            text += &format!(" Example: `{}`\n\n", command.example);
        }
    }
    text
}
