//! Texts below the options in `--help`: examples and exit statuses. At most 100 columns, where clap
//! breaks lines.

/// Of cgemu itself.
pub(super) const ALL: &str = "\
Examples:
  cgemu run ./prog
  cgemu run --branch-sim=yes -- sort -r words.txt
  cgemu run --cachegrind-out-file=prog.cgout --allow-write=out ./prog --to out/result
  cgemu syscalls

`cgemu help run` has the options of a run, `cgemu man run` prints its manual page.

Exit status: that of the command; 125 for a command or an option that is not there.";

/// Of `cgemu run`.
pub(super) const RUN: &str = "\
Examples:
  cgemu run ./prog one two
  cgemu run --cache-sim=no ./prog                 instructions only; faster
  cgemu run --cache=zen3 --branch-sim=yes ./prog
  cgemu run --count-from=main ./prog              without loader and start-up
  cgemu run --D1=32768,8,64 --LL=1048576,16,64 ./prog
  cgemu run --top=10 --cachegrind-out-file=/dev/null -- sort -r words.txt
  cgemu run --max-instructions=2G --timeout=5m ./prog
  cgemu run --allow-write=results --env TZ --env SEED=7 ./prog

Exit status: the program's own; 128+N if signal N ended it, or from outside the run (130 after
Ctrl-C, 143 after SIGTERM); 124 if a limit did; 125 for a failure of cgemu itself, an instruction
that it cannot run among them; 126 if the program cannot be run; 127 if it is not found. Whatever
ends a run once it has begun, but for SIGKILL, the profile up to there is written.";

/// Of `cgemu control`.
pub(super) const CONTROL: &str = "\
It finds the runs of this user that were started with --control. Orders are obeyed between two
blocks of code, whatever the program does then; what the program sees does not change.

Examples:
  cgemu run --control --callgraph=yes ./server &
  cgemu control                                   how far runs are, and their processes
  cgemu control --back 4711                       where the tasks of one are
  cgemu control --dump 4711                       a part of the call graph ends here
  cgemu control --events --zero 4711              counts so far, which begin anew
  cgemu control --instr=off 4711                  count nothing until --instr=on

Exit status: 0; 1 if a run does not obey; 125 if there is no such run, or for bad options.";

/// Of `cgemu annotate`.
pub(super) const ANNOTATE: &str = "\
With --classic it prints the older layout, of Valgrind 3.19, and takes that program's options; see
`cgemu annotate --classic --help`.

Examples:
  cgemu annotate cachegrind.out.1
  cgemu annotate --show=DLmr,DLmw --sort=DLmr,DLmw cachegrind.out.1
  cgemu annotate --inclusive callgrind.out.1      functions with those they call
  cgemu annotate --tree=both callgrind.out.1      functions with callers and callees
  cgemu annotate --derive=rates,CEst cachegrind.out.1
  cgemu annotate --json cachegrind.out.1 > profile.json
  cgemu annotate --asm=main cachegrind.out.1      machine code; after cgemu run --dump-instr=yes
  cgemu annotate --inline --names=short cachegrind.out.1
  cgemu annotate --source-path=/build=/home/me/src cachegrind.out.1
  cgemu annotate --source-root=. theirs.cgout  open only what is below . for it
  cgemu annotate --diff --mod-filename=s/v[0-9]/vN/ old.cgout new.cgout

Exit status: 0; 1 if a file cannot be read, is malformed or does not fit the others; 2 for bad
options.";

/// Of `cgemu valgrind`.
pub(super) const VALGRIND: &str = "\
TOOL is cachegrind, callgrind or none. Options are Valgrind 3.19's, also from ~/.valgrindrc,
VALGRIND_OPTS and ./.valgrindrc, and those of `cgemu run`, such as --allow-write=DIR. Those that
change nothing here are taken and do nothing; what cannot be honoured is refused by name
(docs/valgrind.md). The program gets the environment of the command.

Examples:
  cgemu valgrind --tool=cachegrind --branch-sim=yes ./prog
  cgemu valgrind --tool=callgrind --callgrind-out-file=callgrind.out.prog ./prog one two

Called through a link named valgrind, cgemu does the same: ln -s \"$(command -v cgemu)\" valgrind

Exit status: the program's own, as of `cgemu run`; 125 for options that are not honoured.";

/// Of `cgemu top`.
pub(super) const TOP: &str = "\
Computed columns of --derive: miss rates in percent (rates: I1-miss, LLi-miss, D1r-miss, D1w-miss,
D1-miss, LLd-miss, LL-miss; branches: Bc-miss, Bi-miss, B-miss), misses per 1000 instructions
(mpki: L1-MPKI, LL-MPKI, B-MPKI), and KCachegrind's estimate of cycles (cycles: CEst). Their
formulas are printed with them. CEst is a guess: nothing here knows how long an instruction or a
miss takes on a real CPU.

Examples:
  cgemu top cachegrind.out.1
  cgemu top -n 5 --by=line --sort=D1mr cachegrind.out.1
  cgemu top --show=Ir,Dr --derive=D1r-miss,LL-MPKI cachegrind.out.1
  cgemu top --inclusive callgrind.out.1
  cgemu top -n 0 --csv --derive=all cachegrind.out.1 > functions.csv

Exit status: 0; 1 if a file cannot be read, is malformed or does not fit the others; 2 for bad
options.";

/// Of `cgemu flame`.
pub(super) const FLAME: &str = "\
Widths are costs with those of calls. Click a frame to see it alone, press / to search. Callgrind
files know calls by pairs, not by stacks: where a function has several callers, what it costs is
shared by what their calls cost (docs/callgraph.md).

Examples:
  cgemu flame callgrind.out.1 > flame.svg
  cgemu flame --event=D1mr callgrind.out.1 > misses.svg
  cgemu flame --diff=old.callgrind new.callgrind > change.svg
  cgemu flame --folded callgrind.out.1 > stacks.txt      for speedscope and others

Exit status: 0; 1 if a file cannot be read, is malformed or has no calls; 2 for bad options.";

/// Of `cgemu repl`.
pub(super) const REPL: &str = "\
Examples:
  cgemu repl ./prog one two
  cgemu repl --branch-sim=yes -- sort -r words.txt
  cgemu repl --commands=session.cgemu ./prog        no prompt: the commands of a file
  printf 'break main\\nrun\\nwhere\\n' | cgemu repl ./prog
  cgemu run -i ./prog

`help` at the prompt lists the commands. Ctrl-C pauses a program that runs. Commands that come from
a file or a pipe end at the first that fails, with exit status 1; the program then has no standard
input, unless --stdin names a file.

Exit status: 0; 1 if a command of a script failed; 125 to 127 as for cgemu run.";

/// Of `cgemu merge`.
pub(super) const MERGE: &str = "\
Examples:
  cgemu merge -o sum.cgout first.cgout second.cgout
  cgemu merge cachegrind.out.1 cachegrind.out.2 > sum.cgout
  cgemu merge callgrind.out.1 callgrind.out.2 > sum.callgrind

Exit status: 0; 1 if a file cannot be read, is malformed or has other events, or for bad options.";

/// Of `cgemu diff`.
pub(super) const DIFF: &str = "\
Examples:
  cgemu diff old.cgout new.cgout > change.cgout
  cgemu annotate change.cgout                       what became more, and what less
  cgemu diff --mod-filename=s/v[0-9]/vN/ old.cgout new.cgout
  cgemu diff old.callgrind new.callgrind            with calls

Exit status, as of cg_diff: 0; 255 for bad options; 1 or more if a file cannot be read, is malformed
or has other events.";

/// Of `cgemu syscalls`.
pub(super) const SYSCALLS: &str = "\
Examples:
  cgemu syscalls
  cgemu syscalls | grep -w mmap

Exit status: 0; 125 if it cannot be written.";

/// Of `cgemu presets`.
pub(super) const PRESETS: &str = "\
Examples:
  cgemu presets
  cgemu run --cache=zen3 ./prog                     one of them

Exit status: 0; 125 if it cannot be written.";

/// Of `cgemu completions`.
pub(super) const COMPLETIONS: &str = "\
Examples:
  cgemu completions bash > ~/.local/share/bash-completion/completions/cgemu
  cgemu completions fish > ~/.config/fish/completions/cgemu.fish
  cgemu completions zsh > ~/.zfunc/_cgemu            with ~/.zfunc in $fpath

Exit status: 0; 125 for a shell that it does not know.";

/// Of `cgemu man`.
pub(super) const MAN: &str = "\
Examples:
  cgemu man | man -l -
  cgemu man run > ~/.local/share/man/man1/cgemu-run.1

Exit status: 0; 125 for a command that is not there.";
