//! Commands about the stack: its frames, and the one that is looked at.

use super::arguments::{count, nothing, number};
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::debugger::stack::Frame;
use crate::profile::UNKNOWN;

/// Frames that `where` shows if no number is given.
const MOST: usize = 100;

impl Shell {
    pub(super) fn where_(&mut self, rest: &str) -> Reply {
        let limit = if rest.is_empty() { MOST } else { usize::try_from(number(rest)?).unwrap_or(usize::MAX) };
        let selected = self.debugger.frame_number();
        self.say_call();
        let frames = self.debugger.frames(limit);
        for (at, frame) in frames.iter().enumerate() {
            if self.debugger.is_interrupted() {
                break;
            }
            let mark = if at == selected { '>' } else { ' ' };
            let text = format!("{mark}{}", self.frame_text(at, frame));
            self.say(&text);
        }
        Ok(())
    }

    /// `#1   0x000000000040116b main at prog.c:9`.
    pub(super) fn frame_text(&self, number: usize, frame: &Frame) -> String {
        let name = frame.function.as_deref().unwrap_or(UNKNOWN);
        let place = match &frame.place {
            Some((file, line)) => format!(" at {file}:{line}"),
            None => match self.debugger.program().module_at(frame.pc) {
                Some(module) => format!(" in {}", module.path),
                None => String::new(),
            },
        };
        let inlined = if frame.inlined { " (inlined)" } else { "" };
        format!("#{number:<3} {:#018x} {name}{place}{inlined}", frame.pc)
    }

    pub(super) fn frame(&mut self, rest: &str) -> Reply {
        if !rest.is_empty() {
            let number = usize::try_from(number(rest)?).unwrap_or(usize::MAX);
            if !self.debugger.select_frame(number) {
                return Err(Error::NoFrame(number));
            }
            self.listed = None;
        }
        self.show_frame();
        Ok(())
    }

    pub(super) fn up(&mut self, rest: &str) -> Reply {
        let steps = usize::try_from(count(rest)?).unwrap_or(usize::MAX);
        let wanted = self.debugger.frame_number().saturating_add(steps);
        let outermost = self.debugger.frames(wanted.saturating_add(1)).len().saturating_sub(1);
        if self.debugger.frame_number() >= outermost {
            return Err("this is the outermost frame; `down` goes to the one that it calls".into());
        }
        self.select(wanted.min(outermost))
    }

    pub(super) fn down(&mut self, rest: &str) -> Reply {
        let steps = usize::try_from(count(rest)?).unwrap_or(usize::MAX);
        if self.debugger.frame_number() == 0 {
            return Err("this is the innermost frame; `up` goes to the one that has called it".into());
        }
        let wanted = self.debugger.frame_number().saturating_sub(steps);
        self.select(wanted)
    }

    fn select(&mut self, number: usize) -> Reply {
        self.debugger.select_frame(number);
        self.listed = None;
        self.show_frame();
        Ok(())
    }

    /// Prints the selected frame, and its source line.
    pub(super) fn show_frame(&mut self) {
        let Some(frame) = self.debugger.selected() else { return };
        let text = self.frame_text(self.debugger.frame_number(), &frame);
        self.say(&text);
        if let Some((file, line)) = &frame.place
            && let Some(text) = self.sources.line(file, u64::from(*line))
        {
            self.say(&format!("{line:>6}  {text}"));
        }
    }

    pub(super) fn info_frame(&mut self) -> Reply {
        let number = self.debugger.frame_number();
        let frames = self.debugger.frames(number + 2);
        let Some(frame) = frames.get(number) else { return Err("there is no frame".into()) };
        let mut lines = vec![self.frame_text(number, frame)];
        let hex = |value: Option<u64>| value.map_or("not known".to_owned(), |value| format!("{value:#x}"));
        lines.push(format!("stack pointer {}", hex(frame.sp())));
        match frames.get(number + 1) {
            Some(caller) if frame.inlined => {
                lines.push(format!("inlined into frame {}", number + 1));
                lines.push(format!("which is {}", self.frame_text(number + 1, caller)));
            }
            Some(caller) => {
                lines.push(format!(
                    "returns to {:#x}, with the stack pointer {}",
                    caller.pc,
                    hex(caller.sp())
                ));
                lines.push(format!("called by {}", self.frame_text(number + 1, caller)));
            }
            None => lines.push("the outermost frame".to_owned()),
        }
        for line in lines {
            self.say(&line);
        }
        Ok(())
    }

    /// `info locals` and `info args`.
    pub(super) fn info_variables(&mut self, rest: &str) -> Reply {
        nothing(rest)?;
        Err("local variables are not shown: the types of DWARF are not read; `print NAME` shows global \
             data, `info registers` and `x` the rest"
            .into())
    }
}
