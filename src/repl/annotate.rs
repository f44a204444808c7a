//! The command `annotate`: source lines and instructions with their counts so far.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use super::arguments::number;
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::render::terminal::{self, AnnotatedLine};
use crate::annotate::view::code::{InstructionRow, ListingLine, Unplaced, listing};
use crate::annotate::view::ranking::Counted;
use crate::annotate::view::share::Hot;
use crate::annotate::view::source::{CountedLine, annotated, around};
use crate::debugger::program::{Function, InlinedCall, Module};
use crate::debugger::suggest::nearest;
use crate::profile::{Event, Instructions, UNKNOWN, add_costs};
use crate::session::Folded;

/// The costs of the inlined copies of a function.
struct Inlined {
    /// By source line.
    lines: Counted<(String, u32)>,
    /// By the call that was inlined.
    calls: BTreeMap<InlinedCall, Vec<i64>>,
}

impl Shell {
    pub(super) fn annotate(&mut self, rest: &str) -> Reply {
        let (rest, whose) = self.whose(rest)?;
        let asm = rest.split_whitespace().any(|word| word == "--asm");
        let name = rest.split_whitespace().filter(|word| *word != "--asm").collect::<Vec<_>>().join(" ");
        let folded = self.folded(whose)?;
        self.say_whose(whose);
        if asm {
            return self.annotate_code(&name, &folded.instructions.unwrap_or_default());
        }
        let name = match name.is_empty() {
            false => name,
            true => match self.debugger.selected().and_then(|frame| frame.function) {
                Some(function) => function,
                None => return Err("no function here; `annotate FUNCTION` or `annotate FILE`".into()),
            },
        };
        self.annotate_source(&name, &folded)
    }

    fn annotate_source(&mut self, name: &str, folded: &Folded) -> Reply {
        let profile = &folded.profile;
        let lines = profile.lines();
        let (file, range) = match name.rsplit_once(':') {
            Some((file, range)) if range.starts_with(|c: char| c.is_ascii_digit()) => {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let (first, last) = (number(first)?, number(last)?);
                if first == 0 || first > last {
                    return Err(Error::EmptyRange { file: file.to_owned(), range: range.to_owned() });
                }
                (file, Some(first..=last))
            }
            _ => (name, None),
        };
        let ends = |path: &[u8]| {
            let path = String::from_utf8_lossy(path);
            path == file || path.ends_with(&format!("/{file}"))
        };
        let is_function = lines.iter().any(|line| line.function == name.as_bytes());
        let counted = Counted::lines(profile, |line| {
            let wanted = if is_function { line.function == name.as_bytes() } else { ends(line.file) };
            wanted.then(|| (String::from_utf8_lossy(line.file).into_owned(), line.line))
        });
        if counted.sums.is_empty() {
            if let Some(instructions) = &folded.instructions
                && let Some(inlined) = self.inlined(name, instructions)
            {
                return self.annotate_inlined(name, &inlined);
            }
            let names = lines.iter().map(|line| String::from_utf8_lossy(line.function).into_owned());
            let nearest = nearest(name, names.collect::<BTreeSet<_>>());
            return Err(Error::NothingCounted { name: name.to_owned(), nearest });
        }
        self.annotated_files(&counted, range.as_ref());
        Ok(())
    }

    /// Prints the counted lines of some files.
    fn annotated_files(&mut self, counted: &Counted<(String, u32)>, range: Option<&RangeInclusive<u64>>) {
        let mut files: BTreeMap<&str, Vec<CountedLine<'_>>> = BTreeMap::new();
        for ((file, line), counts) in &counted.sums {
            files.entry(file).or_default().push((u64::from(*line), counts));
        }
        for (path, lines) in files {
            self.annotated_file(path, &lines, &counted.events, range.cloned());
        }
    }

    /// The costs of the inlined copies of the function `name`; `None` if there are no copies.
    fn inlined(&mut self, name: &str, instructions: &Instructions) -> Option<Inlined> {
        let program = self.debugger.program();
        let modules: Vec<&Module> = program.modules().iter().filter(|module| module.inlines(name)).collect();
        if modules.is_empty() {
            return None;
        }
        let events = self.debugger.events();
        let all = Counted::instructions(instructions, events);
        let nothing = || vec![0; all.events.len()];
        let mut lines: BTreeMap<(String, u32), Vec<i64>> = BTreeMap::new();
        let mut calls: BTreeMap<InlinedCall, Vec<i64>> = BTreeMap::new();
        for module in modules {
            for (&pc, counts) in all.sums.range(module.range.clone()) {
                if self.debugger.is_interrupted() {
                    break;
                }
                let Some(call) = module.inlined_call(name, pc) else { continue };
                let place = program.line_at(pc).map(|(place, _)| (place.file.to_string(), place.line));
                add_costs(lines.entry(place.unwrap_or_default()).or_insert_with(nothing), counts);
                add_costs(calls.entry(call).or_insert_with(nothing), counts);
            }
        }
        Some(Inlined { lines: Counted { events: all.events, total: all.total, sums: lines }, calls })
    }

    /// Prints the lines of a function that was inlined everywhere, and the calls.
    fn annotate_inlined(&mut self, name: &str, inlined: &Inlined) -> Reply {
        if inlined.calls.is_empty() {
            return Err(Error::InlinedNotRun(name.to_owned()));
        }
        self.say(&format!("{name} was inlined; the lines of its copies:"));
        self.annotated_files(&inlined.lines, None);
        self.say("inlined into");
        let lines = inlined.calls.iter().map(|(call, counts)| {
            let text = match &call.place {
                Some((Some(file), line)) if *line > 0 => {
                    format!("{} at {file}:{line}", call.caller.as_deref().unwrap_or(UNKNOWN))
                }
                _ => call.caller.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
            };
            AnnotatedLine { counts: Some(counts), mark: String::new(), text }
        });
        let text = terminal::annotated(&inlined.lines.events, lines);
        self.say(&text);
        Ok(())
    }

    /// Prints the lines of a file: those of `range`, or those around the counted ones.
    fn annotated_file(
        &mut self,
        path: &str,
        counted: &[CountedLine<'_>],
        events: &[Event],
        range: Option<RangeInclusive<u64>>,
    ) {
        let source = self.sources.lines(path);
        match source.is_some() {
            true => self.say(path),
            false => self.say(&format!("{path} ({})", self.sources.why_not())),
        }
        // Without the source there is nothing to show between the lines that were counted.
        let context = if source.is_some() { self.context } else { 0 };
        let source = source.as_deref().map_or(&[][..], |lines| lines);
        let known = counted.iter().map(|(line, _)| *line).filter(|line| *line > 0);
        let last = known.clone().next_back().unwrap_or(0).max(source.len() as u64);
        let ranges = match range {
            Some(range) if source.is_empty() => around(known.filter(|line| range.contains(line)), 0),
            Some(range) => vec![*range.start()..=last.min(*range.end())],
            None => around(known, context),
        };
        // Lines that were counted past the end of the file are empty.
        let past_end = usize::try_from(last).unwrap_or(usize::MAX).saturating_sub(source.len());
        let texts = source.iter().map(String::as_str).chain(std::iter::repeat_n("", past_end));
        let view = annotated(counted.iter().copied(), ranges, texts);
        let mut lines = Vec::new();
        if let Some(counts) = view.unplaced {
            let text = "<unknown line>".to_owned();
            lines.push(AnnotatedLine { counts: Some(counts), mark: String::new(), text });
        }
        let mut before = None;
        for line in view.pieces.iter().flat_map(|piece| &piece.lines) {
            if !source.is_empty() && before.is_some_and(|before| before + 1 != line.number) {
                lines.push(AnnotatedLine { counts: None, mark: "--".to_owned(), text: String::new() });
            }
            before = Some(line.number);
            let (mark, text) = (line.number.to_string(), line.text.to_owned());
            lines.push(AnnotatedLine { counts: line.counts, mark, text });
        }
        let text = terminal::annotated(events, lines);
        self.say(&text);
    }

    fn annotate_code(&mut self, name: &str, instructions: &Instructions) -> Reply {
        let program = self.debugger.program();
        let functions = if name.is_empty() {
            let pc = self.debugger.pc();
            self.debugger.program().function_at(pc).map(|(function, _)| function).into_iter().collect()
        } else {
            program.functions(name).into_iter().take(1).collect::<Vec<_>>()
        };
        let counted = Counted::instructions(instructions, self.debugger.events());
        if let Some(function) = functions.into_iter().next() {
            let Function { name, range } = function;
            self.say(&format!("{name} ({:#x} to {:#x})", range.start, range.end));
            let rows = self.instruction_rows(range, &counted);
            self.listed_code(rows, &counted.events);
            return Ok(());
        }
        // Says what is near, if there are no inlined copies either.
        let copies = self.debugger.program().locate(name, None)?.addresses;
        let program = self.debugger.program();
        let mut holders: Vec<Function> =
            copies.iter().filter_map(|&pc| Some(program.function_at(pc)?.0)).collect();
        holders.sort_by_key(|function| function.range.start);
        holders.dedup();
        for Function { name: holder, range } in holders {
            self.say(&format!("{name}, inlined into {holder} ({:#x} to {:#x})", range.start, range.end));
            let mut rows = self.instruction_rows(range, &counted);
            let program = self.debugger.program();
            rows.retain(|row| {
                let module = program.module_at(row.address);
                module.is_some_and(|module| module.inlined_call(name, row.address).is_some())
            });
            self.listed_code(rows, &counted.events);
        }
        Ok(())
    }

    /// Prints instructions with their counts and source lines.
    fn listed_code(&mut self, rows: Vec<InstructionRow<'_>>, events: &[Event]) {
        let mut lines = Vec::new();
        for line in listing(rows, Unplaced::Interrupt) {
            lines.push(match line {
                ListingLine::Place(file, number) => {
                    let file = String::from_utf8_lossy(&file);
                    // Without its text, its file says most.
                    let text = self.sources.line(&file, number).unwrap_or_else(|| file.into_owned());
                    AnnotatedLine { counts: None, mark: number.to_string(), text: text.trim_end().to_owned() }
                }
                ListingLine::Instruction(row) => {
                    let text = row.code.map(|(_, text)| text).unwrap_or_default();
                    let text = format!("  {:#x}  {text}", row.address);
                    let mark = if row.hot { "*" } else { "" }.to_owned();
                    AnnotatedLine { counts: row.counts, mark, text }
                }
                ListingLine::Gap => {
                    AnnotatedLine { counts: None, mark: "--".to_owned(), text: String::new() }
                }
                // The calls are not looked up.
                ListingLine::Inlined(_) => continue,
            });
        }
        let text = terminal::annotated(events, lines);
        self.say(&text);
    }

    /// The instructions in memory, up to the first that cannot be decoded.
    fn instruction_rows<'c>(
        &mut self,
        range: Range<u64>,
        counted: &'c Counted<u64>,
    ) -> Vec<InstructionRow<'c>> {
        let ir = counted.column(Event::Ir);
        let instructions = |counts: &[i64]| ir.and_then(|at| counts.get(at)).copied().unwrap_or(0);
        let hot = Hot::in_run(instructions(&counted.total));
        let mut rows = Vec::new();
        let mut pc = range.start;
        while pc < range.end && !self.debugger.is_interrupted() {
            let Some(instruction) = self.debugger.instruction_at(pc) else { break };
            let place = self.debugger.program().line_at(pc).map(|(place, _)| place);
            let mut bytes = vec![0; instruction.len()];
            // It was just decoded from there.
            let _ = self.debugger.session().read(pc, &mut bytes);
            let counts = counted.sums.get(&pc).map(Vec::as_slice);
            rows.push(InstructionRow {
                address: pc,
                code: Some((bytes.into(), self.disassembled(&instruction))),
                counts,
                hot: counts.is_some_and(|counts| hot.is_hot(instructions(counts))),
                place: place.map(|place| (place.file.as_bytes().to_vec(), u64::from(place.line))),
                calls: Vec::new(),
            });
            pc = instruction.next_ip();
        }
        rows
    }
}
