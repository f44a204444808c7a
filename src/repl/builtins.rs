//! Commands of the shell itself.

use std::path::Path;
use std::process;

use super::arguments::number;
use super::error::Error;
use super::shell::{Command, DEEPEST, Reply, Shell};
use crate::annotate::Syntax;
use crate::console;
use crate::profile::reason;

/// Options that `show` shows.
const OPTIONS: &[&str] = &[
    "args",
    "context",
    "command",
    "follow-fork-mode",
    "cache",
    "branch-sim",
    "disassembly-flavor",
    "limits",
];

/// Width of help texts in columns, where there is no terminal.
const WIDTH: usize = 100;

/// Words in lines of at most `width` columns, each behind `indent`.
fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { break };
        let begins = line.len() == indent.len();
        if !begins && line.len() + 1 + word.len() > width {
            lines.push(format!("{indent}{word}"));
            continue;
        }
        if !begins {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n")
}

impl Shell {
    pub(super) fn help(&mut self, rest: &str) -> Reply {
        let width = console::output_width().map_or(WIDTH, usize::from).max(60);
        if !rest.is_empty() {
            let command = self.commands.find(rest)?;
            let usage = format!("{} {}", command.name, command.usage);
            self.say(usage.trim());
            self.say(&wrapped(command.help, "", width));
            if !command.short.is_empty() {
                self.say(&format!("Short: {}", command.short.join(", ")));
            }
            self.say(&format!("Example: {}", command.example));
            return Ok(());
        }
        let title = |command: &Command| match command.short.first() {
            Some(short) => format!("  {} ({short})", command.name),
            None => format!("  {}", command.name),
        };
        let column = self.commands.all().map(|command| title(command).len()).max().unwrap_or(0) + 2;
        for (group, commands) in self.commands.0 {
            self.say(&format!("{group}:"));
            for command in *commands {
                // The first sentence, with all its parts.
                let first = command.help.split_inclusive(". ").next().unwrap_or_default().trim_end();
                let text = wrapped(first, &" ".repeat(column), width);
                let text = text.get(column..).unwrap_or_default();
                self.say(&format!("{:<column$}{text}", title(command)));
            }
        }
        self.say("`help COMMAND` explains one. The beginning of a name will do where it is enough.");
        Ok(())
    }

    pub(super) fn leave(&mut self, rest: &str) -> Reply {
        if !rest.is_empty() {
            // What wait(2) keeps of it.
            self.status = Some(self.address(rest)?.to_le_bytes()[0]);
        }
        self.quit = true;
        Ok(())
    }

    pub(super) fn source(&mut self, rest: &str) -> Reply {
        if rest.is_empty() {
            return Err("which file? `source setup.cgemu`".into());
        }
        if self.depth >= DEEPEST {
            return Err(Error::SourceLoop(rest.to_owned()));
        }
        if self.started && self.setup.output.is_guest_writable(Path::new(rest)) {
            return Err(Error::File {
                path: rest.to_owned(),
                reason: "the program may change its directory, so the commands could be the program's".into(),
                hint: "move it elsewhere",
            });
        }
        let lines = self.commands_at(Path::new(rest)).map_err(|error| Error::File {
            path: rest.to_owned(),
            reason: reason(&error),
            hint: "name a file with commands",
        })?;
        self.depth += 1;
        let status = self.script(lines, rest);
        self.depth -= 1;
        if status == 0 { Ok(()) } else { Err(Error::Aborted(rest.to_owned())) }
    }

    pub(super) fn log(&mut self, rest: &str) -> Reply {
        match rest {
            "" => Err("where to? `log FILE`, or `log off`".into()),
            "off" => {
                self.log = None;
                Ok(())
            }
            _ if self.setup.sandboxed => Err("no files are written in the sandbox but profiles".into()),
            path => {
                self.log = Some(self.setup.output.open(Path::new(path)).map_err(|error| Error::File {
                    path: path.to_owned(),
                    reason: error.to_string(),
                    hint: "name a file that can be written",
                })?);
                Ok(())
            }
        }
    }

    pub(super) fn host_command(&mut self, command: &str) -> Reply {
        if self.setup.sandboxed {
            return Err("no other programs are started in the sandbox".into());
        }
        let command = command.trim();
        if command.is_empty() {
            return Err("which command? `!ls`".into());
        }
        let status = process::Command::new("/bin/sh").arg("-c").arg(command).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Error::HostCommand { command: command.to_owned(), status }),
            Err(error) => Err(Error::HostShell(error)),
        }
    }

    pub(super) fn alias(&mut self, rest: &str) -> Reply {
        let Some((name, meaning)) = rest.split_once('=') else {
            let lines: Vec<String> = self
                .aliases
                .iter()
                .filter(|(name, _)| rest.is_empty() || *name == rest)
                .map(|(name, meaning)| format!("{name} = {meaning}"))
                .collect();
            if lines.is_empty() {
                return Err(if rest.is_empty() {
                    "no aliases; `alias hot = top 5 by D1mr`".into()
                } else {
                    Error::NoAlias(rest.to_owned())
                });
            }
            for line in lines {
                self.say(&line);
            }
            return Ok(());
        };
        let (name, meaning) = (name.trim(), meaning.trim());
        let word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(word) || meaning.is_empty() {
            return Err("write `alias NAME = COMMAND`, NAME of letters, digits, - and _".into());
        }
        if self.commands.all().any(|command| command.name == name || command.short.contains(&name)) {
            return Err(Error::IsCommand(name.to_owned()));
        }
        self.aliases.insert(name.to_owned(), meaning.to_owned());
        Ok(())
    }

    pub(super) fn set(&mut self, rest: &str) -> Reply {
        if let Some(variable) = rest.strip_prefix('$') {
            let (name, text) = variable.split_once('=').ok_or("write `set $NAME = EXPR`")?;
            let name = name.trim();
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Err(Error::NoVariable(name.to_owned()));
            }
            if crate::debugger::registers::named(name).is_some() {
                return Err(Error::IsRegister(name.to_owned()));
            }
            let value = self.value(text)?;
            self.debugger.variables.insert(name.to_owned(), value);
            return Ok(());
        }
        let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name == "args" {
            return self.set_arguments(value.trim());
        }
        match rest.split_once(char::is_whitespace) {
            Some(("disassembly-flavor", flavor)) => {
                self.flavor = match flavor.trim() {
                    "att" => Syntax::Att,
                    "intel" => Syntax::Intel,
                    _ => return Err("write `set disassembly-flavor att` or `set disassembly-flavor intel`".into()),
                };
                Ok(())
            }
            Some(("follow-fork-mode", mode)) => self.follow(mode.trim()),
            Some(("context", lines)) => {
                self.context = number(lines.trim())?;
                Ok(())
            }
            Some(("cache" | "command" | "limits", _)) => {
                Err("that is decided when cgemu starts; leave and start it with other options".into())
            }
            _ => Err("set what? `set context LINES`, `set disassembly-flavor intel`, `set args`, `set $NAME = EXPR`".into()),
        }
    }

    pub(super) fn show(&mut self, rest: &str) -> Reply {
        let context = format!("context {}: lines around those with counts", self.context);
        let flavor = match self.flavor {
            Syntax::Att => "disassembly-flavor att",
            Syntax::Intel => "disassembly-flavor intel",
        };
        let arguments: Vec<String> =
            self.debugger.arguments().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let arguments = format!("args {}", arguments.join(" ")).trim_end().to_owned();
        let config = self.debugger.session().config();
        let command = format!(
            "command {}",
            config.machine.argv.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        );
        let cache = match &config.counting.caches {
            Some(caches) => format!("cache I1 {}, D1 {}, LL {}", caches.i1, caches.d1, caches.ll),
            None => "cache none: --cache-sim=no".to_owned(),
        };
        let branch = format!("branch-sim {}", if config.counting.branch_sim { "yes" } else { "no" });
        let limits = format!(
            "limits instructions {}, memory {}",
            config.machine.limits.instructions.map_or("none".into(), |limit| limit.to_string()),
            config.machine.limits.memory.map_or("as the machine has".into(), |limit| limit.to_string()),
        );
        let all = [
            ("args", arguments),
            ("context", context),
            ("disassembly-flavor", flavor.to_owned()),
            ("command", command),
            ("follow-fork-mode", format!("follow-fork-mode {}", self.debugger.follow().word())),
            ("cache", cache),
            ("branch-sim", branch),
            ("limits", limits),
        ];
        let wanted: Vec<String> = all
            .iter()
            .filter(|(name, _)| rest.is_empty() || *name == rest)
            .map(|(_, text)| text.clone())
            .collect();
        if wanted.is_empty() {
            return Err(Error::Choice { question: "show", known: OPTIONS, nearest: None });
        }
        for line in wanted {
            self.say(&line);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_of_words() {
        assert_eq!(wrapped("one two three", "", 7), "one two\nthree");
        assert_eq!(wrapped("one two three", "  ", 7), "  one\n  two\n  three");
        assert_eq!(wrapped("indivisible", "", 4), "indivisible");
        assert_eq!(wrapped("", "  ", 4), "  ");
    }
}
