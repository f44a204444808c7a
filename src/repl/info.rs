//! `info`: what the shell and the program have.

use super::arguments::nothing;
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::render::terminal::table;
use crate::debugger::suggest::nearest;
use crate::guest::Prot;

/// Words after `info`.
pub(super) const SUBJECTS: &[&str] = &[
    "breaks",
    "breakpoints",
    "registers",
    "all-registers",
    "frame",
    "stack",
    "source",
    "line",
    "symbol",
    "display",
    "locals",
    "args",
    "threads",
    "processes",
    "maps",
    "files",
    "signals",
    "process",
    "checkpoints",
    "marks",
    "modules",
];

impl Shell {
    pub(super) fn info(&mut self, rest: &str) -> Reply {
        let (subject, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let rest = rest.trim();
        let mut begun = SUBJECTS.iter().filter(|known| !subject.is_empty() && known.starts_with(subject));
        // GDB's words for the same come after ours, and the beginning of a word will do.
        let subject = match (subject, begun.next(), begun.next()) {
            ("b" | "break" | "stops" | "watchpoints" | "breakpoints", ..) => "breaks",
            ("r" | "regs", ..) => "registers",
            ("f", ..) => "frame",
            ("s", ..) => "stack",
            ("mem", ..) => "maps",
            ("handle", ..) => "signals",
            ("program", ..) => "process",
            ("inferiors", ..) => "processes",
            ("sharedlibrary" | "dll", ..) => "modules",
            ("proc", ..) => "proc",
            (_, Some(only), None) => only,
            (other, ..) => other,
        };
        match subject {
            "registers" => return self.info_registers(rest),
            "line" => return self.info_line(rest),
            "symbol" => return self.info_symbol(rest),
            "stack" => return self.where_(rest),
            // `info proc mappings`.
            "proc" if rest == "mappings" => return self.info_maps(),
            "locals" | "args" => return self.info_variables(rest),
            _ => nothing(rest)?,
        }
        match subject {
            "breaks" => self.info_breaks(),
            "all-registers" => self.regs("-a"),
            "frame" => self.info_frame(),
            "source" => self.info_source(),
            "display" => self.info_display(),
            "threads" => self.info_threads(),
            "processes" => self.info_processes(),
            "maps" => self.info_maps(),
            "files" => self.info_files(),
            "signals" => self.info_signals(),
            "process" | "proc" => self.info_process(),
            "checkpoints" => self.info_checkpoints(),
            "marks" => {
                let names: Vec<&str> = self.debugger.mark_names().collect();
                let text = if names.is_empty() { "no marks".to_owned() } else { names.join("\n") };
                self.say(&text);
                Ok(())
            }
            "modules" => self.info_modules(),
            other => {
                let nearest = nearest(other, SUBJECTS);
                Err(Error::Choice { question: "info about", known: SUBJECTS, nearest })
            }
        }
    }

    fn info_maps(&mut self) -> Reply {
        for mapping in self.debugger.session().mappings() {
            let letter = |allowed: Prot, letter| if mapping.prot.allows(allowed) { letter } else { '-' };
            let name = match (&mapping.file, mapping.label) {
                (Some(file), _) => file.path.to_string(),
                (None, Some(label)) => label.to_owned(),
                (None, None) => String::new(),
            };
            let text = format!(
                "{:#014x}-{:#014x} {}{}{}{} {:#x} {name}",
                mapping.start,
                mapping.end,
                letter(Prot::READ, 'r'),
                letter(Prot::WRITE, 'w'),
                letter(Prot::EXEC, 'x'),
                if mapping.shared { 's' } else { 'p' },
                mapping.offset,
            );
            self.say(text.trim_end());
        }
        Ok(())
    }

    fn info_files(&mut self) -> Reply {
        let rows = self.debugger.session().open_files();
        let rows = rows
            .into_iter()
            .map(|file| {
                vec![file.number.to_string(), file.path, file.offset.to_string(), file.kind.to_owned()]
            })
            .collect();
        let text = table(&["fd", "file", "offset", "kind"], rows);
        self.say(&text);
        Ok(())
    }

    fn info_signals(&mut self) -> Reply {
        let lines = self.debugger.session().signals();
        for line in lines {
            self.say(&line);
        }
        Ok(())
    }

    pub(super) fn info_process(&mut self) -> Reply {
        let now = self.debugger.session().instructions();
        let session = self.debugger.session();
        let (process, mm) = (session.process(), session.mm());
        let argv: Vec<String> = mm.argv.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        let lines = [
            format!(
                "process {} of {}, group {}, session {}",
                process.pid, process.ppid, process.pgid, process.sid
            ),
            format!("program {}", mm.exe),
            format!("arguments {}", argv.join(" ")),
            format!("{} environment variables", mm.envp.len()),
            format!("{now} instructions executed"),
        ];
        for line in lines {
            self.say(&line);
        }
        Ok(())
    }

    fn info_checkpoints(&mut self) -> Reply {
        let rows: Vec<Vec<String>> =
            self.debugger.checkpoints().map(|(name, at)| vec![name.to_owned(), at.to_string()]).collect();
        let text = if rows.is_empty() {
            "no checkpoints".to_owned()
        } else {
            table(&["name", "instructions"], rows)
        };
        self.say(&text);
        Ok(())
    }

    fn info_modules(&mut self) -> Reply {
        let lines: Vec<String> = self
            .debugger
            .program()
            .modules()
            .iter()
            .map(|module| format!("{:#x}-{:#x} {}", module.range.start, module.range.end, module.path))
            .collect();
        for line in lines {
            self.say(&line);
        }
        Ok(())
    }
}
