//! Expressions that are shown at every stop.

use super::error::Error;
use super::inspect::shape;
use super::shell::{Display, Reply, Shell};

impl Shell {
    pub(super) fn display(&mut self, rest: &str) -> Reply {
        if rest.is_empty() {
            self.show_displays();
            return Ok(());
        }
        // Errors are told now.
        self.shown_as_display(rest)?;
        let number = self.displays.last().map_or(1, |last| last.number + 1);
        self.displays.push(Display { number, text: rest.to_owned() });
        self.show_displays_from(number);
        Ok(())
    }

    pub(super) fn undisplay(&mut self, rest: &str) -> Reply {
        if rest.is_empty() {
            self.displays.clear();
            return Ok(());
        }
        for word in rest.split_whitespace() {
            let number = word.parse().map_err(|_| Error::NoNumber(word.to_owned()))?;
            let at = self.displays.iter().position(|display| display.number == number);
            self.displays.remove(at.ok_or(Error::NoDisplay(number))?);
        }
        Ok(())
    }

    pub(super) fn info_display(&mut self) -> Reply {
        if self.displays.is_empty() {
            self.say("nothing is displayed; `display EXPR` shows EXPR at every stop");
        }
        for Display { number, text } in self.displays.clone() {
            self.say(&format!("{number}: {text}"));
        }
        Ok(())
    }

    /// Shows all of them, at a stop.
    pub(super) fn show_displays(&mut self) {
        self.show_displays_from(0);
    }

    fn show_displays_from(&mut self, first: u32) {
        for Display { number, text } in self.displays.clone() {
            if number < first {
                continue;
            }
            match self.shown_as_display(&text) {
                Ok(shown) => self.say(&format!("{number}: {text} = {shown}")),
                // It may be known again where the program goes.
                Err(why) => self.say(&format!("{number}: {text}: {why}")),
            }
        }
    }

    /// The value, or for the formats of `x` that need memory, what is there.
    fn shown_as_display(&mut self, text: &str) -> Result<String, Error> {
        let (shape, expression) = shape(text)?;
        if shape.is_of_memory() {
            let mut lines = Vec::new();
            let from = self.address(expression)?;
            self.examined_lines(from, &shape, &mut |line| lines.push(line.to_owned()))?;
            return Ok(lines.join("\n"));
        }
        let value = self.value(expression)?;
        Ok(self.formatted(&value, &shape))
    }
}
