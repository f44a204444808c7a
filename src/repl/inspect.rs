//! Commands that look at the program.

use super::arguments::{count, number};
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::render::terminal::table;
use crate::annotate::sources::text_lines;
use crate::debugger::evaluate::Scope as _;
use crate::debugger::expr::Expression;
use crate::debugger::format::Format;
use crate::debugger::registers::Register;
use crate::debugger::value::{Kind, Type, Value};
use crate::guest::{Gpr, GuestCpu as _};

/// The letters after a `/`.
#[derive(Clone, Copy)]
struct Shape {
    count: u64,
    format: Option<Format>,
    size: Option<usize>,
}

/// Cuts `/NFS` off the front.
fn shape(text: &str) -> Result<(Shape, &str), Error> {
    let mut shape = Shape { count: 1, format: None, size: None };
    let Some(rest) = text.strip_prefix('/') else { return Ok((shape, text)) };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (letters, rest) = rest.split_at(end);
    let digits = letters.find(|c: char| !c.is_ascii_digit()).unwrap_or(letters.len());
    if digits > 0 {
        shape.count = letters[..digits].parse().map_err(|_| Error::LargeCount(letters.to_owned()))?;
    }
    for letter in letters[digits..].chars() {
        match letter {
            'b' => shape.size = Some(1),
            'h' => shape.size = Some(2),
            'w' => shape.size = Some(4),
            'g' => shape.size = Some(8),
            _ => match Format::from_letter(letter) {
                Some(format) => shape.format = Some(format),
                None => {
                    return Err(Error::NoFormat { letters: letters.to_owned(), letter });
                }
            },
        }
    }
    Ok((shape, rest.trim()))
}

/// Units that `x` shows at most.
const MOST: u64 = 10_000;

impl Shell {
    /// Computes an expression.
    pub(super) fn value(&mut self, text: &str) -> Result<Value, Error> {
        if text.trim().is_empty() {
            return Err("an expression is missing, such as `$rsp + 8`".into());
        }
        Expression::parse(text)
            .and_then(|expression| self.debugger.evaluate(&expression))
            .map_err(|error| Error::Expression { text: text.trim().to_owned(), error })
    }

    /// An address.
    pub(super) fn address(&mut self, text: &str) -> Result<u64, Error> {
        let value = self.value(text)?;
        value.as_u64().ok_or_else(|| Error::NoAddress { text: text.trim().to_owned(), noun: value.noun() })
    }

    pub(super) fn print(&mut self, rest: &str) -> Reply {
        let (shape, text) = shape(rest)?;
        let value = self.value(text)?;
        let shown = match shape.format {
            Some(format) => {
                let program = self.debugger.program();
                format.show(&value, &mut |address| program.symbol_at(address))
            }
            None => value.to_string(),
        };
        self.values += 1;
        let name = self.values.to_string();
        self.debugger.variables.insert(name.clone(), value);
        self.say(&format!("${name} = {shown}"));
        Ok(())
    }

    pub(super) fn examine(&mut self, rest: &str) -> Reply {
        let (shape, text) = shape(rest)?;
        let mut at = if text.is_empty() { self.examined } else { self.address(text)? };
        let format = shape.format.unwrap_or(Format::Hex);
        let count = shape.count.min(MOST);
        match format {
            Format::Instruction => {
                for _ in 0..count {
                    let Some(instruction) = self.debugger.instruction_at(at) else {
                        return Err(Error::NoInstruction(at));
                    };
                    let line = self.instruction_line(at);
                    self.say(&format!("   {line}"));
                    at = instruction.next_ip();
                }
            }
            Format::Text => {
                for _ in 0..count {
                    let text = self.value(&format!("str[{at:#x}]"))?;
                    self.say(&format!("{at:#x}: {text}"));
                    let Value::Bytes(bytes) = text else { break };
                    at = at.wrapping_add(bytes.len() as u64 + 1);
                }
            }
            _ => at = self.units(at, count, format, shape.size)?,
        }
        self.examined = at;
        Ok(())
    }

    fn units(&mut self, from: u64, count: u64, format: Format, size: Option<usize>) -> Result<u64, Error> {
        let size = size.unwrap_or(match format {
            Format::Character => 1,
            Format::Address | Format::Float => 8,
            _ => 4,
        });
        let signed = format == Format::Decimal;
        let kind = match (format, size) {
            (Format::Float, 4) => Type::F32,
            (Format::Float, 8) => Type::F64,
            (_, 1) => Type::Integer(if signed { Kind::I8 } else { Kind::U8 }),
            (_, 2) => Type::Integer(if signed { Kind::I16 } else { Kind::U16 }),
            (_, 4) => Type::Integer(if signed { Kind::I32 } else { Kind::U32 }),
            _ => Type::Integer(if signed { Kind::I64 } else { Kind::U64 }),
        };
        let per_line = (16 / size).max(1) as u64;
        let mut at = from;
        let mut line = String::new();
        for unit in 0..count {
            let mut bytes = vec![0; size];
            if self.debugger.session().read(at, &mut bytes).is_err() {
                if !line.is_empty() {
                    self.say(&line);
                }
                return Err(Error::NoMemory(at));
            }
            if unit % per_line == 0 {
                if !line.is_empty() {
                    self.say(&line);
                }
                let name =
                    self.debugger.program().symbol_at(at).map_or(String::new(), |name| format!(" <{name}>"));
                line = format!("{at:#x}{name}:");
            }
            let program = self.debugger.program();
            let shown = match format {
                Format::Hex => {
                    format!("0x{}", bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>())
                }
                _ => format.show(&kind.read(&bytes), &mut |address| program.symbol_at(address)),
            };
            line += &format!("\t{shown}");
            at = at.wrapping_add(size as u64);
        }
        self.say(&line);
        Ok(at)
    }

    pub(super) fn regs(&mut self, rest: &str) -> Reply {
        let all = match rest {
            "" => false,
            "-a" => true,
            other => return Err(Error::Regs(other.to_owned())),
        };
        const NAMES: [(&str, Gpr); 16] = [
            ("rax", Gpr::Rax),
            ("rbx", Gpr::Rbx),
            ("rcx", Gpr::Rcx),
            ("rdx", Gpr::Rdx),
            ("rsi", Gpr::Rsi),
            ("rdi", Gpr::Rdi),
            ("rbp", Gpr::Rbp),
            ("rsp", Gpr::Rsp),
            ("r8", Gpr::R8),
            ("r9", Gpr::R9),
            ("r10", Gpr::R10),
            ("r11", Gpr::R11),
            ("r12", Gpr::R12),
            ("r13", Gpr::R13),
            ("r14", Gpr::R14),
            ("r15", Gpr::R15),
        ];
        let mut rows = Vec::new();
        let named = NAMES.into_iter().map(|(name, gpr)| (name, Register::Gpr(gpr)));
        let rest = [
            ("rip", Register::Rip),
            ("rflags", Register::Rflags),
            ("fs_base", Register::FsBase),
            ("gs_base", Register::GsBase),
        ];
        for (name, register) in named.chain(rest) {
            let Some(value) = self.debugger.register(register) else {
                rows.push(vec![name.to_owned(), "not known".to_owned(), String::new()]);
                continue;
            };
            let meaning = match register {
                Register::Rflags => flags(value),
                _ => self
                    .debugger
                    .program()
                    .symbol_at(value)
                    .map_or(value.to_string(), |name| format!("<{name}>")),
            };
            rows.push(vec![name.to_owned(), format!("{value:#x}"), meaning]);
        }
        let text = table(&["register", "value", ""], rows);
        self.say(&text);
        if all {
            self.vector_registers();
        }
        Ok(())
    }

    fn vector_registers(&mut self) {
        let image = self.debugger.session().cpu().fpu();
        let mxcsr = u32::from_le_bytes([image[24], image[25], image[26], image[27]]);
        let control = u16::from_le_bytes([image[0], image[1]]);
        let mut rows = vec![
            vec!["mxcsr".to_owned(), format!("{mxcsr:#x}")],
            vec!["fctrl".to_owned(), format!("{control:#x}")],
        ];
        for number in 0..16 {
            let bytes = &image[160 + 16 * number..][..16];
            let hex: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            rows.push(vec![format!("xmm{number}"), format!("0x{hex}")]);
        }
        let text = table(&["register", "value"], rows);
        self.say(&text);
    }

    pub(super) fn where_(&mut self, rest: &str) -> Reply {
        let limit = if rest.is_empty() { 100 } else { usize::try_from(number(rest)?).unwrap_or(usize::MAX) };
        let selected = self.debugger.frame_number();
        let frames = self.debugger.frames(limit);
        for (at, frame) in frames.iter().enumerate() {
            let mark = if at == selected { '>' } else { ' ' };
            let name = frame.function.clone().unwrap_or_else(|| "???".into());
            let place = match &frame.place {
                Some((file, line)) => format!(" at {file}:{line}"),
                None => match self.debugger.program().module_at(frame.pc) {
                    Some(module) => format!(" in {}", module.path),
                    None => String::new(),
                },
            };
            let inlined = if frame.inlined { " (inlined)" } else { "" };
            self.say(&format!("{mark}#{at:<3} {:#018x} {name}{place}{inlined}", frame.pc));
        }
        Ok(())
    }

    pub(super) fn frame(&mut self, rest: &str) -> Reply {
        if !rest.is_empty() {
            let number = usize::try_from(number(rest)?).unwrap_or(usize::MAX);
            if !self.debugger.select_frame(number) {
                return Err(Error::NoFrame(number));
            }
            self.listed = None;
        }
        let number = self.debugger.frame_number();
        let Some(frame) = self.debugger.frames(number + 1).into_iter().nth(number) else { return Ok(()) };
        let text = format!("#{number} {}", self.named(frame.pc));
        self.say(&text);
        Ok(())
    }

    pub(super) fn list(&mut self, rest: &str) -> Reply {
        /// Lines shown at a time.
        const LINES: u32 = 10;
        let (file, first) = if rest.is_empty() {
            match self.listed.clone().or_else(|| {
                self.current_file().map(|(file, line)| (file, line.saturating_sub(LINES / 2).max(1)))
            }) {
                Some(found) => found,
                None => return Err("no source is known here; `list FUNCTION` or `list FILE:LINE`".into()),
            }
        } else {
            let location = self.locate(rest)?;
            let address = location.addresses.first().copied().unwrap_or(0);
            match self.debugger.program().line_at(address) {
                Some((place, _)) => (place.file.to_string(), place.line.saturating_sub(LINES / 2).max(1)),
                None => return Err(Error::NoSource(location.name)),
            }
        };
        let Some(lines) = text_lines(&file) else { return Err(Error::Unreadable(file)) };
        let here = self.current_file();
        let mut shown = 0;
        for (text, number) in lines.iter().zip(1u32..).skip(first as usize - 1).take(LINES as usize) {
            let mark = if here.as_ref().is_some_and(|(path, line)| *path == file && *line == number) {
                '>'
            } else {
                ' '
            };
            self.say(&format!("{mark}{number:>5}  {text}"));
            shown += 1;
        }
        if shown == 0 {
            return Err(Error::PastEnd { file, lines: lines.len() });
        }
        self.listed = Some((file, first + shown));
        Ok(())
    }

    pub(super) fn disas(&mut self, rest: &str) -> Reply {
        let (place, lines) = match rest.rsplit_once(' ') {
            Some((place, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => {
                (place, number(lines)?)
            }
            _ if rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(':') => ("", number(rest)?),
            _ => (rest, 10),
        };
        let mut at = if place.is_empty() {
            let frame = self.debugger.frame_number();
            let found = self.debugger.frames(frame + 1).into_iter().nth(frame).map(|frame| frame.pc);
            found.unwrap_or_else(|| self.debugger.pc())
        } else {
            // From the first instruction of a function, not from behind its prologue.
            match self.debugger.program().functions(place).into_iter().next() {
                Some(function) => function.range.start,
                None => self.locate(place)?.addresses.first().copied().unwrap_or(0),
            }
        };
        let pc = self.debugger.pc();
        for _ in 0..lines.min(MOST) {
            let Some(instruction) = self.debugger.instruction_at(at) else {
                return Err(Error::NoInstruction(at));
            };
            let mark = if at == pc { "=>" } else { "  " };
            let line = self.instruction_line(at);
            self.say(&format!("{mark} {line}"));
            at = instruction.next_ip();
        }
        Ok(())
    }

    pub(super) fn thread(&mut self, rest: &str) -> Reply {
        match count(rest)? {
            1 => self.info_threads(),
            other => Err(Error::NoThread(other)),
        }
    }
}

/// The flags of RFLAGS that are set.
fn flags(value: u64) -> String {
    const FLAGS: [(u32, &str); 9] =
        [(0, "CF"), (2, "PF"), (4, "AF"), (6, "ZF"), (7, "SF"), (8, "TF"), (9, "IF"), (10, "DF"), (11, "OF")];
    let set: Vec<&str> =
        FLAGS.into_iter().filter(|(bit, _)| value >> bit & 1 != 0).map(|(_, name)| name).collect();
    set.join(" ")
}
