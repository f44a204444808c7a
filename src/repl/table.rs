//! The commands: their names, their help, and where they are carried out.

use super::info::SUBJECTS;
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
        "run" ["r"] "[ARGUMENT...] [< FILE]", "Lets the program run from its beginning, with these arguments and this input if any are given; one that runs already begins again.", "run", Takes::Nothing, true, Shell::run_program;
        "start" "[ARGUMENT...] [< FILE]", "Runs from the beginning, as `run` does, to the first line of main.", "start", Takes::Nothing, true, Shell::start;
        "continue" ["c"] "[N]", "Goes on to the next stop, or to the N-th from here.", "continue 3", Takes::Nothing, true, Shell::continue_;
        "step" ["s" "si" "stepi"] "[N]", "Executes one instruction, or N.", "step 10", Takes::Nothing, true, Shell::step;
        "next" ["n" "ni" "nexti"] "[N]", "Executes one instruction, or N; a call counts as one.", "next", Takes::Nothing, true, Shell::next;
        "line" ["li"] "[into] [N]", "Goes on to the next source line; calls run through, unless with `into`.", "line into", Takes::Words(&["into"]), true, Shell::line;
        "until" ["u"] "[LOCATION]", "Goes on to a function, FILE:LINE or *ADDRESS; without one to a source line behind this one, out of a loop.", "until prog.c:20", Takes::Location, true, Shell::until;
        "finish" ["fin"] "", "Goes on until the function of the selected frame has returned.", "finish", Takes::Nothing, true, Shell::finish;
        "advance" ["adv"] "N | LOCATION", "Executes N instructions of all threads together (1_000, 10M, 2G), or goes on to a place.", "advance 1M", Takes::Nothing, true, Shell::advance;
        "stop" "after N [instructions]", "Stops when N more instructions have been executed.", "stop after 5M instructions", Takes::Words(&["after"]), false, Shell::stop_after;
    }
    "Stops" {
        "break" ["b"] "LOCATION [thread N] [if EXPR]", "Stops at a function, FILE:LINE or *ADDRESS, in whatever thread and process comes there, or only in one thread; with a condition only if it holds then. Conditions may name counters. A function or line is looked for in every program that a process executes.", "break step if D1mr > 10000", Takes::Location, false, Shell::break_;
        "tbreak" ["tb"] "LOCATION [thread N] [if EXPR]", "Sets a breakpoint that goes when it has stopped the program.", "tbreak main", Takes::Location, false, Shell::tbreak;
        "watch" ["w"] "ADDRESS|SYMBOL|PLACE [r|w|rw] [if EXPR]", "Stops after an instruction that reads (r) or writes (w, if nothing is said) the bytes of a symbol, eight bytes at an address, or a place such as u32[$rsp+8]. It is the memory of the selected process, and of threads and processes that share it.", "watch counter rw", Takes::Expression, false, Shell::watch;
        "catch" "syscall [NAME...] | signal [NAME...] | fork | vfork | exec | miss EVENT [in FUNCTION]", "Stops before a system call and when it has returned, at the start of a signal handler or before a signal ends a process, after a process was made (threads are none), after another program was loaded, or after the instruction that counts an event.", "catch miss D1mr in main", Takes::Words(&["syscall", "signal", "fork", "vfork", "exec", "miss"]), false, Shell::catch;
        "follow" "[parent | child | both]", "Says in which processes stops stop the program: in the selected one alone, in the child that it makes next, then in that one's, or in all, as at the beginning.", "follow child", Takes::Words(&["parent", "child", "both"]), false, Shell::follow;
        "delete" ["d"] "[NUMBER...]", "Takes out stops; all of them if no number is given.", "delete 2", Takes::Nothing, false, Shell::delete;
        "enable" "[NUMBER...]", "Puts stops in force again.", "enable 2", Takes::Nothing, false, Shell::enable;
        "disable" "[NUMBER...]", "Keeps stops in the list and out of force.", "disable 2", Takes::Nothing, false, Shell::disable;
    }
    "Counts" {
        "summary" ["sum"] "[of all|PID]", "Prints Cachegrind's summary so far, of the selected process, of another one, or of all.", "summary of all", Takes::Words(&["of", "all"]), false, Shell::summary;
        "top" ["t"] "[N] [by EVENT] [functions|inclusive|lines|instructions] [of all|PID]", "Lists what has cost most so far in the selected process, in another one, or in all; `inclusive` functions with those that they call, if the run was started with --callgraph=yes.", "top 5 by D1mr lines", Takes::Words(&["by", "functions", "inclusive", "lines", "instructions", "of", "all"]), false, Shell::top;
        "annotate" ["a"] "[FUNCTION | FILE[:FIRST[-LAST]]] [--asm] [of all|PID]", "Shows source lines with their counts so far in the selected process, in another one, or in all, or with --asm the instructions of a function; without a name, of the function of the selected frame. Of a function that was inlined everywhere, its copies are shown, and where they are.", "annotate main --asm", Takes::Location, false, Shell::annotate;
        "callers" "[FUNCTION] [by EVENT] [of all|PID]", "Lists who has called a function so far, or that of the selected frame, how often, and what these calls cost with all that they call. It takes a run that was started with --callgraph=yes.", "callers work", Takes::Location, false, Shell::callers;
        "callees" "[FUNCTION] [by EVENT] [of all|PID]", "Lists what a function has called so far, or that of the selected frame, in the same way.", "callees main by D1mr", Takes::Location, false, Shell::callees;
        "dump" "[FILE] [of all|PID]", "Writes the profile so far of the selected process, of another one, or of all: to a file, or to a numbered part beside the run's own. With --callgraph=yes the call graph so far is beside it, with `.callgrind` behind its name.", "dump before.cgout", Takes::File, false, Shell::dump;
        "zero" "[of all|PID]", "Forgets what was counted in the selected process, in another one, or in all. Caches and predictors stay as they are.", "zero", Takes::Words(&["of", "all"]), false, Shell::zero;
        "mark" "NAME [of all|PID]", "Keeps the counts of this moment, of the selected process, of another one, or of all, under a name, for `since`.", "mark loop", Takes::Nothing, false, Shell::mark;
        "since" "NAME [N] [by EVENT] [functions|lines]", "Shows what was counted since a mark, of the process that the mark is of.", "since loop", Takes::Nothing, false, Shell::since;
        "instr" "on|off", "Says whether what the running process executes from here on is counted and simulated.", "instr off", Takes::Words(&["on", "off"]), false, Shell::instr;
        "cache" "[I1|D1|LL] [symbols|sets]", "Shows the simulated caches of the process that runs: how full they are, which symbols their lines belong to, which sets are contended for.", "cache D1 symbols", Takes::Words(&["I1", "D1", "LL", "symbols", "sets"]), false, Shell::cache;
        "predict" "[N] [of all|PID]", "Lists the worst predicted branches of the selected process, of another one, or of all.", "predict 5", Takes::Words(&["of", "all"]), false, Shell::predict;
    }
    "The program" {
        "where" ["bt" "backtrace"] "[N]", "Shows the calls that led here, the innermost first, with those that were inlined.", "where 5", Takes::Nothing, false, Shell::where_;
        "frame" ["f"] "[N]", "Selects a frame of `where` for print, x, list and regs.", "frame 1", Takes::Nothing, false, Shell::frame;
        "up" "[N]", "Selects the frame that has called the selected one, or the N-th from there.", "up", Takes::Nothing, false, Shell::up;
        "down" ["do"] "[N]", "Selects the frame that the selected one has called, or the N-th from there.", "down", Takes::Nothing, false, Shell::down;
        "list" ["l"] "[LOCATION | FIRST,LAST | -]", "Shows source lines: around here, around a place, the ones after those shown last, or with - the ones before.", "list main", Takes::Location, false, Shell::list;
        "disas" ["dis"] "[LOCATION] [N]", "Shows instructions: from here, or from a place.", "disas main 20", Takes::Location, false, Shell::disas;
        "disassemble" "[FUNCTION | FIRST,LAST | FIRST,+LENGTH]", "Shows the instructions of a whole function: this one, a named one, or that of an address; or those between two addresses.", "disassemble main", Takes::Location, false, Shell::disassemble;
        "regs" "[-a]", "Shows the registers; with -a those of SSE too.", "regs -a", Takes::Words(&["-a"]), false, Shell::regs;
        "print" ["p"] "[/F] EXPR", "Computes an expression over registers ($rax), memory (u32[ADDR]), symbols (counter, &counter) and counters (D1mr). F is one of x d u o t a c f s. Addresses are shown with their symbol, $xmm0 by its lanes, $st0 as a double.", "print /x u32[$rsp]", Takes::Expression, false, Shell::print;
        "x" "[/NFS] ADDRESS", "Shows memory: N units in format F (x d u o t a c f s i) of size S (b h w g).", "x /4xg $rsp", Takes::Expression, false, Shell::examine;
        "display" "[[/NFS] EXPR]", "Shows an expression now and at every stop, as `print`, or with a size or the formats i and s as `x`; alone, shows all of them.", "display /i $pc", Takes::Expression, false, Shell::display;
        "undisplay" "[NUMBER...]", "Takes out displays; all of them if no number is given.", "undisplay 1", Takes::Nothing, false, Shell::undisplay;
        "thread" "[N | apply all|N... COMMAND | name [NAME] | find PATTERN]", "Selects the thread with a number or id: where, print, x, regs, list and info are about it until the program goes on, and steps go on with it. `apply` carries out a command for several, `name` gives the selected one a name, `find` looks for names.", "thread apply all where", Takes::Words(&["apply", "all", "name", "find"]), false, Shell::thread;
        "process" ["inferior"] "[N]", "Selects a thread of the process with a number or id, as `thread` does; alone, shows the process of the selected thread.", "process 1", Takes::Nothing, false, Shell::process;
        "info" ["i"] "breaks|registers [NAME...]|frame|stack|source|line [LOCATION]|symbol ADDRESS|display|threads|processes|maps|files|signals|process|checkpoints|marks|modules", "Shows the stops, the place where the program is, or what it has.", "info line main", Takes::Words(SUBJECTS), false, Shell::info;
    }
    "Time" {
        "checkpoint" ["cp"] "[NAME]", "Keeps this moment, counters, caches and predictors included, to come back to.", "checkpoint before", Takes::Nothing, false, Shell::checkpoint;
        "restore" "NAME", "Goes back to a checkpoint.", "restore before", Takes::Checkpoint, true, Shell::restore;
        "reverse-step" ["rs" "rsi" "reverse-stepi"] "[N]", "Goes back by one instruction of the selected thread, or by N; what others have done since is undone too.", "reverse-step", Takes::Nothing, true, Shell::reverse_step;
        "reverse-next" ["rn" "rni" "reverse-nexti"] "[N]", "Goes back by one instruction of the selected thread, or N; a call counts as one.", "reverse-next", Takes::Nothing, true, Shell::reverse_next;
        "reverse-finish" "", "Goes back to the call of the function of the selected frame.", "reverse-finish", Takes::Nothing, true, Shell::reverse_finish;
        "reverse-continue" ["rc"] "", "Goes back to the stop before this moment.", "reverse-continue", Takes::Nothing, true, Shell::reverse_continue;
    }
    "The shell" {
        "set" "context LINES | disassembly-flavor att|intel | follow-fork-mode parent|child|both | args [ARGUMENT...] | $NAME = EXPR", "Changes an option of the shell, the arguments of the next run, or a variable for expressions.", "set $base = $rsp", Takes::Words(&["args", "context", "disassembly-flavor", "att", "intel", "follow-fork-mode", "parent", "child", "both"]), false, Shell::set;
        "show" "[NAME]", "Shows options.", "show", Takes::Words(&["args", "context", "cache", "command", "disassembly-flavor", "follow-fork-mode", "limits"]), false, Shell::show;
        "source" "FILE", "Runs the commands of a file; stops at the first that fails.", "source setup.cgemu", Takes::File, false, Shell::source;
        "log" "FILE | off", "Copies what the shell prints to a file.", "log session.txt", Takes::File, false, Shell::log;
        "alias" "[NAME [= COMMAND]]", "Gives a command, with its first words, another name.", "alias hot = top 5 by D1mr", Takes::Nothing, false, Shell::alias;
        "help" ["h" "?"] "[COMMAND]", "Lists the commands, or explains one.", "help break", Takes::Command, false, Shell::help;
        "quit" ["q" "exit"] "[STATUS]", "Leaves the shell, with an exit status if one is given. A program that has not ended is given up.", "quit $_exitcode", Takes::Nothing, false, Shell::leave;
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
