//! Commands about source files and lines.

use super::error::Error;
use super::shell::{Reply, Shell};
use crate::debugger::program::Location;

/// Lines that `list` shows at a time.
const LINES: u32 = 10;

impl Shell {
    pub(super) fn list(&mut self, rest: &str) -> Reply {
        let (file, first, last) = self.listed_range(rest)?;
        let Some(lines) = self.sources.lines(&file) else {
            return Err(Error::Unreadable { file, why: self.sources.why_not() });
        };
        let here = self.current_place();
        let mut next = first;
        let shown = (last.saturating_sub(first) as usize).saturating_add(1);
        for (text, number) in lines.iter().zip(1u32..).skip(first as usize - 1).take(shown) {
            let current = here.as_ref().is_some_and(|(path, line)| *path == file && *line == number);
            let mark = if current { '>' } else { ' ' };
            self.say(&format!("{mark}{number:>5}  {text}"));
            next = number + 1;
        }
        if next == first {
            return Err(Error::PastEnd { file, lines: lines.len() });
        }
        self.listed = Some((file, first, next));
        Ok(())
    }

    /// The file, the first and the last line that `list` is to show.
    fn listed_range(&mut self, rest: &str) -> Result<(String, u32, u32), Error> {
        let from = |first: u32| (first, first.saturating_add(LINES - 1));
        let around = |line: u32| from(line.saturating_sub(LINES / 2).max(1));
        let whole = |file: String, (first, last)| (file, first, last);
        if rest.is_empty() || rest == "-" {
            let nowhere = "no source is known here; `list FUNCTION` or `list FILE:LINE`";
            return match (self.listed.clone(), rest) {
                (Some((_, 1, _)), "-") => Err("these are the first lines".into()),
                (Some((file, first, _)), "-") => {
                    Ok(whole(file, (first.saturating_sub(LINES).max(1), first - 1)))
                }
                (Some((file, _, next)), _) => Ok(whole(file, from(next))),
                (None, _) => {
                    let (file, line) = self.current_place().ok_or(nowhere)?;
                    Ok(whole(file, around(line)))
                }
            };
        }
        // `list 10,20`, `list 10,` and `list ,20`, of this file.
        if let Some((first, last)) = rest.split_once(',') {
            let (file, _) = match &self.listed {
                Some((file, ..)) => (file.clone(), 0),
                None => self.current_place().ok_or("lines of which file? `list FILE:LINE` names one")?,
            };
            let line = |text: &str| match text.trim().parse::<u32>() {
                Ok(line) if line > 0 => Ok(line),
                _ => Err(Error::NoNumber(text.trim().to_owned())),
            };
            let range = match (first.trim(), last.trim()) {
                ("", last) => {
                    let last = line(last)?;
                    (last.saturating_sub(LINES - 1).max(1), last)
                }
                (first, "") => from(line(first)?),
                (first, last) => (line(first)?, line(last)?),
            };
            if range.0 > range.1 {
                return Err(Error::EmptyRange { file, range: format!("{}-{}", range.0, range.1) });
            }
            return Ok(whole(file, range));
        }
        // A line of a file need not have code to be listed.
        let (file, line) = rest.rsplit_once(':').unwrap_or(("", rest));
        if let Ok(line) = line.parse::<u32>()
            && let Some(file) = self.source_file(file)
        {
            return Ok(whole(file, around(line.max(1))));
        }
        let location = self.locate(rest)?;
        let (file, line) = self.place_of(&location)?;
        Ok(whole(file, around(line)))
    }

    /// The path of a source file by the end of its name; without a name, of the current one.
    fn source_file(&mut self, name: &str) -> Option<String> {
        if name.is_empty() {
            let listed = self.listed.as_ref().map(|(file, ..)| file.clone());
            return listed.or_else(|| Some(self.current_place()?.0));
        }
        let files = self.debugger.program().names().files();
        files.into_iter().find(|path| path == name || path.ends_with(&format!("/{name}")))
    }

    /// File and line of the first address of a location.
    fn place_of(&self, location: &Location) -> Result<(String, u32), Error> {
        let address = location.addresses.first().copied().unwrap_or(0);
        match self.debugger.program().line_at(address) {
            Some((place, _)) => Ok((place.file.to_string(), place.line)),
            None => Err(Error::NoSource(location.name.clone())),
        }
    }

    /// `info source`.
    pub(super) fn info_source(&mut self) -> Reply {
        let (file, line) = self.current_place().ok_or("no source is known here")?;
        let read = match self.sources.lines(&file) {
            Some(lines) => format!("{} lines", lines.len()),
            None => format!("it {}", self.sources.why_not()),
        };
        self.say(&format!("{file}, {read}; the frame is at line {line}"));
        Ok(())
    }

    /// `info line [LOCATION]`: the addresses of a line.
    pub(super) fn info_line(&mut self, rest: &str) -> Reply {
        let addresses = match rest {
            "" => {
                let frame = self.debugger.selected().ok_or("there is no frame")?;
                vec![frame.pc]
            }
            _ => self.locate(rest)?.addresses,
        };
        for address in addresses {
            let program = self.debugger.program();
            let text = match program.line_at(address) {
                Some((place, range)) => format!(
                    "line {} of {}: {} to {:#x}",
                    place.line,
                    place.file,
                    self.address_text(range.start),
                    range.end
                ),
                None => format!("no line is known for {}", self.address_text(address)),
            };
            self.say(&text);
        }
        Ok(())
    }

    /// `info symbol ADDRESS`.
    pub(super) fn info_symbol(&mut self, rest: &str) -> Reply {
        let address = self.address(rest)?;
        let program = self.debugger.program();
        let text = match (program.symbol_at(address), program.module_at(address)) {
            (Some(name), Some(module)) => format!("{address:#x} is {name} in {}", module.path),
            (Some(name), None) => format!("{address:#x} is {name}"),
            (None, _) => format!("no symbol is at {address:#x}"),
        };
        self.say(&text);
        Ok(())
    }
}
