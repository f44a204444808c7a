//! Reading commands: from a file, from standard input, or at the prompt with history, completion
//! and hints.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Context, Editor, Helper};

use super::arguments::event_names;
use super::line_reader::read_line;
use super::script::FAILED;
use super::shell::{Commands, Left, Shell, Takes};
use super::signal_keys::SignalKeys;
use crate::console::{self, one_line};
use crate::debugger::program::Names;
use crate::profile::reason;
use crate::session::{Control, PAUSE};

/// Words that can be completed and hinted at. The names of the program are read on first use.
#[derive(Default)]
struct Words {
    commands: Commands,
    names: Names,
    /// The wishes of the user.
    control: Arc<Control>,
    variables: Vec<String>,
    checkpoints: Vec<String>,
    aliases: Vec<String>,
    /// Of the program itself, and of all.
    places: [OnceCell<Vec<String>>; 2],
    expressions: [OnceCell<Vec<String>>; 2],
}

impl Words {
    /// Names of locations that begin as typed: the program's own, or if there are none those of its
    /// libraries.
    fn places(&self, typed: &str) -> Vec<String> {
        let base = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
        self.preferred(&self.places, typed, |names| {
            let mut places = names.functions();
            places.extend(names.files().iter().map(base));
            places
        })
    }

    /// Names in expressions that begin as typed, as [`Words::places`].
    fn expressions(&self, typed: &str) -> Vec<String> {
        self.preferred(&self.expressions, typed, |names| {
            let mut symbols = names.symbols();
            symbols.extend(event_names().map(str::to_owned));
            symbols.extend(crate::debugger::registers::names().map(|name| format!("${name}")));
            symbols.extend(self.variables.iter().map(|name| format!("${name}")));
            symbols
        })
    }

    /// The words that begin as typed, of those that `list` makes of the program's own names, else
    /// of all. The lists are kept.
    fn preferred(
        &self,
        lists: &[OnceCell<Vec<String>>; 2],
        typed: &str,
        list: impl Fn(&Names) -> Vec<String>,
    ) -> Vec<String> {
        let fitting = |cell, names: &Names| {
            let words = names.once(cell, || list(names)).map_or(&[][..], Vec::as_slice);
            matching(words.iter().filter(|word| word.starts_with(typed)).cloned(), typed)
        };
        let [own, all] = lists;
        let found = fitting(own, &self.names.own());
        if found.is_empty() { fitting(all, &self.names) } else { found }
    }

    /// The words that may stand where the cursor is, and where the one that is being typed begins.
    fn candidates(&self, line: &str, pos: usize) -> (usize, Vec<String>) {
        let line = line.get(..pos).unwrap_or(line);
        let begin = line.find(|c: char| !c.is_whitespace()).unwrap_or(line.len());
        let Some(end) = line[begin..].find(char::is_whitespace).map(|at| begin + at) else {
            let names = self.commands.all().map(|command| command.name.to_owned());
            return (begin, matching(names.chain(self.aliases.iter().cloned()), &line[begin..]));
        };
        let Ok(command) = self.commands.find(&line[begin..end]) else { return (pos, Vec::new()) };
        let takes = command.takes;
        let separators: &[char] = match takes {
            Takes::Expression => &[' ', '+', '-', '*', '(', '[', '&', '|', '=', '<', '>', '!', ','],
            _ => &[' '],
        };
        let mut start = line.rfind(separators).map_or(end, |at| at + 1).max(end);
        if takes == Takes::Location && line[end..].contains(" if ") {
            start = line.rfind([' ', '+', '-', '*', '(', '[']).map_or(end, |at| at + 1);
            return (start, self.expressions(&line[start..]));
        }
        let typed = &line[start..];
        let first = line[end..start].trim().is_empty();
        let found = match takes {
            Takes::Location => self.places(typed),
            Takes::Expression => self.expressions(typed),
            Takes::Command if first => {
                matching(self.commands.all().map(|command| command.name.to_owned()), typed)
            }
            Takes::Checkpoint if first => matching(self.checkpoints.iter().cloned(), typed),
            Takes::Words(words) => {
                let after = line[..start].trim_end();
                if after.ends_with(" by") || after.ends_with(" miss") {
                    matching(event_names().map(str::to_owned), typed)
                } else if [" in", " line"].iter().any(|word| after.ends_with(word)) {
                    self.places(typed)
                } else if after.ends_with(" syscall") {
                    matching(crate::syscalls::table::rows().iter().map(|row| row.name.to_owned()), typed)
                } else {
                    matching(words.iter().map(|word| (*word).to_owned()), typed)
                }
            }
            Takes::File => files(typed),
            Takes::Command | Takes::Checkpoint | Takes::Nothing => Vec::new(),
        };
        (start, found)
    }
}

/// Candidates shown at most.
const MOST: usize = 500;

fn matching(words: impl Iterator<Item = String>, typed: &str) -> Vec<String> {
    // Lists of words go to the terminal as they are.
    let fit = |word: &String| word.starts_with(typed) && matches!(one_line(word), Cow::Borrowed(_));
    let mut found: Vec<String> = words.filter(fit).take(MOST).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Files whose names begin as typed.
fn files(typed: &str) -> Vec<String> {
    let (directory, _) = typed.rsplit_once('/').map_or(("", typed), |(directory, name)| (directory, name));
    let look_in = match (directory, typed.starts_with('/')) {
        ("", true) => "/",
        ("", false) => ".",
        (directory, _) => directory,
    };
    let Ok(entries) = std::fs::read_dir(look_in) else { return Vec::new() };
    let prefix = typed.rfind('/').map_or("", |at| &typed[..=at]);
    let names = entries.flatten().map(|entry| {
        let end = if entry.path().is_dir() { "/" } else { "" };
        format!("{prefix}{}{end}", entry.file_name().to_string_lossy())
    });
    matching(names, typed)
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let keys = SignalKeys::on();
        let (start, mut found) = self.candidates(line, pos);
        drop(keys);
        if self.names.is_given_up() {
            let _ = self.control.interrupt.compare_exchange(PAUSE, 0, Relaxed, Relaxed);
            found.clear();
        }
        Ok((start, found.into_iter().map(|word| Pair { display: word.clone(), replacement: word }).collect()))
    }
}

impl Hinter for Words {
    type Hint = String;

    /// The arguments of the command, while none is typed.
    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<String> {
        let word = line.strip_suffix(' ')?;
        if pos < line.len() || word.contains(' ') {
            return None;
        }
        let usage = self.commands.find(word).ok()?.usage;
        (!usage.is_empty()).then(|| usage.to_owned())
    }
}

impl Highlighter for Words {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            return Cow::Borrowed(hint);
        }
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }
}

impl Validator for Words {}
impl Helper for Words {}

/// The prompt.
const PROMPT: &str = "cgemu> ";

/// Commands that an empty line repeats.
const AGAIN: [&str; 17] = [
    "step",
    "next",
    "line",
    "until",
    "x",
    "list",
    "continue",
    "finish",
    "up",
    "down",
    "reverse-step",
    "reverse-next",
    "reverse-finish",
    "reverse-continue",
    "advance",
    "disas",
    "display",
];

impl Shell {
    /// Reads commands until there are no more.
    pub fn run(mut self) -> Left {
        self.debugger.keep_signals();
        if let Some(path) = self.setup.commands.clone() {
            let lines = match self.commands_at(&path) {
                Ok(lines) => lines,
                Err(error) => {
                    self.complain(&format!(
                        "{}: {}; name a file with commands",
                        path.display(),
                        reason(&error)
                    ));
                    return Left::Status(FAILED);
                }
            };
            let status = self.script(lines, &path.display().to_string());
            return self.after_script(status);
        }
        if std::io::stdin().is_terminal() {
            let status = self.interactive();
            return Left::Status(if status == 0 { self.status.unwrap_or(0) } else { status });
        }
        let stdin = std::io::stdin().as_fd().try_clone_to_owned().map(File::from);
        let status = match stdin.and_then(|file| self.commands_of(file)) {
            Ok(lines) => self.script(lines, "standard input"),
            Err(error) => {
                self.complain(&format!("standard input: {}", reason(&error)));
                FAILED
            }
        };
        self.after_script(status)
    }

    /// Reads commands from the terminal until the user leaves; the exit status.
    fn interactive(&mut self) -> u8 {
        // Tab completes as far as the names agree, and then lists them.
        let config = rustyline::Config::builder().completion_type(CompletionType::List).build();
        let mut editor: Editor<Words, FileHistory> = match Editor::with_config(config) {
            Ok(editor) => editor,
            Err(error) => {
                self.complain(&format!("the terminal: {error}"));
                return FAILED;
            }
        };
        if let Some(path) = &self.setup.history {
            // The first session has none.
            let _ = editor.load_history(path);
        }
        let mut again = String::new();
        let mut asked = false;
        while !self.quit {
            if self.heed_signal() {
                break;
            }
            editor.set_helper(Some(self.words()));
            self.begin_line();
            // What was typed while the program ran is taken a line at a time: the program that the
            // first line starts may read the second.
            let typed = &self.setup.printed.typed;
            let line = match typed.take_line() {
                Some(Ok(line)) => {
                    let _ = writeln!(console::output(), "{PROMPT}{}", one_line(&line));
                    Ok(line)
                }
                Some(Err(end)) => Err(end),
                None => {
                    let begun = typed.take_begun();
                    let Some(line) = read_line(&mut editor, PROMPT, &begun, self.debugger.control()) else {
                        continue;
                    };
                    if line.is_ok() {
                        typed.get_back(&mut editor);
                    }
                    line
                }
            };
            match line {
                Ok(lines) => {
                    asked = false;
                    let mut lines = lines.lines().map(|line| line.trim().to_owned());
                    let first = lines.next().unwrap_or_default();
                    // Several lines may be pasted at once.
                    typed.put(lines.collect::<Vec<_>>().into_iter());
                    let line = if first.is_empty() { again.clone() } else { first };
                    if line.is_empty() {
                        continue;
                    }
                    let _ = editor.add_history_entry(&line);
                    self.note(&format!("cgemu> {line}"));
                    again.clear();
                    match self.execute(&line) {
                        Ok(()) if self.repeats(&line) => again = self.repeated(&line),
                        Ok(()) => {}
                        Err(why) => self.complain(&why.to_string()),
                    }
                    if self.interrupted {
                        // A terminal, too, forgets at Ctrl-C what was typed before (termios(3),
                        // NOFLSH).
                        self.setup.printed.typed.forget();
                    }
                }
                Err(ReadlineError::Interrupted) => {
                    asked = false;
                    self.say("`quit` leaves the shell");
                }
                Err(ReadlineError::Eof) if asked || !self.runs() => break,
                Err(ReadlineError::Eof) => {
                    asked = true;
                    self.say("the program has not ended; Ctrl-D again gives it up");
                }
                Err(error) => {
                    self.complain(&format!("the terminal: {error}"));
                    return FAILED;
                }
            }
        }
        if let Some(path) = &self.setup.history {
            if let Some(directory) = path.parent() {
                let _ = std::fs::create_dir_all(directory);
            }
            let _ = editor.save_history(path);
        }
        0
    }

    /// True if the program has begun and not ended.
    fn runs(&mut self) -> bool {
        self.started && self.debugger.session().ending().is_none()
    }

    fn words(&mut self) -> Words {
        Words {
            commands: self.commands,
            names: self.debugger.program().names(),
            control: Arc::clone(self.debugger.control()),
            variables: self.debugger.variables.keys().cloned().collect(),
            checkpoints: self.debugger.checkpoints().map(|(name, _)| name.to_owned()).collect(),
            aliases: self.aliases.keys().cloned().collect(),
            ..Words::default()
        }
    }

    /// True if an empty line after this one means the same again, as in GDB.
    fn repeats(&self, line: &str) -> bool {
        let word = line.split_whitespace().next().unwrap_or_default();
        self.commands.find(word).is_ok_and(|command| AGAIN.contains(&command.name))
    }

    /// The line that an empty one after this stands for: `list` and `x` go on.
    fn repeated(&self, line: &str) -> String {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match self.commands.find(word).map(|command| command.name) {
            Ok("list") if rest.trim() != "-" => word.to_owned(),
            Ok("x") => match rest.trim().strip_prefix('/') {
                Some(shape) => format!("x /{}", shape.split_whitespace().next().unwrap_or_default()),
                None => word.split('/').next().unwrap_or(word).to_owned(),
            },
            _ => line.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::Command;
    use super::*;

    const PRINT: Command = Command {
        name: "print",
        short: &[],
        usage: "EXPR",
        help: "",
        example: "print 1",
        takes: Takes::Expression,
        resumes: false,
        run: |_, _| Ok(()),
    };

    /// Words that are not read whole complete nothing, and are read when Tab is pressed again.
    #[test]
    fn ctrl_c_ends_completion() {
        let control = Arc::new(Control::default());
        let names = Names::none(&control);
        let commands = Commands(&[("", &[PRINT])]);
        let words = Words { commands, names, control: Arc::clone(&control), ..Words::default() };
        let history = FileHistory::new();
        let complete = |line: &str| {
            let (start, found) =
                words.complete(line, line.len(), &Context::new(&history)).expect("candidates");
            (start, found.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>())
        };
        control.interrupt.store(PAUSE, Relaxed);
        assert_eq!(complete("print $rsi"), (6, Vec::new()));
        assert_eq!(control.interrupt.load(Relaxed), 0, "the wish was for this");
        assert_eq!(complete("print $rsi"), (6, vec!["$rsi".to_owned()]));
    }
}
