//! Commands about counts: the summary, rankings, annotated sources and code, marks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use super::arguments::{nothing, number};
use super::error::Error;
use super::shell::{Reply, Shell, Target};
use crate::annotate::render::terminal::{self, AnnotatedLine};
use crate::annotate::sources::{Sources, text_lines};
use crate::annotate::view::code::{InstructionRow, ListingLine, Unplaced, listing};
use crate::annotate::view::ranking::Counted;
use crate::annotate::view::share::Hot;
use crate::annotate::view::source::{CountedLine, annotated, around};
use crate::debugger::suggest::nearest;
use crate::profile::{Costs, Event, Instructions, Profile, summary_lines};

/// The subject of a ranking.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Functions,
    Lines,
    Instructions,
}

/// The arguments of `top`.
struct Ranking {
    count: usize,
    event: Event,
    by: By,
}

impl Shell {
    pub(super) fn summary(&mut self, rest: &str) -> Reply {
        nothing(rest)?;
        let folded = self.debugger.session().profile();
        for line in summary_lines(&folded.profile) {
            self.say(&line);
        }
        Ok(())
    }

    fn ranking(&self, rest: &str) -> Result<Ranking, Error> {
        let mut ranking = Ranking { count: 10, event: Event::Ir, by: By::Functions };
        let mut words = rest.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "by" => ranking.event = self.event(words.next().ok_or("by which event? `top by D1mr`")?)?,
                "functions" => ranking.by = By::Functions,
                "lines" => ranking.by = By::Lines,
                "instructions" => ranking.by = By::Instructions,
                _ => {
                    let wrong = |why| {
                        let usage = "`top [N] [by EVENT] [functions|lines|instructions]`";
                        Error::WithUsage(Box::new(why), usage)
                    };
                    ranking.count = usize::try_from(number(word).map_err(wrong)?).unwrap_or(usize::MAX);
                    if ranking.count == 0 {
                        return Err("at least one has to be listed: `top 5`".into());
                    }
                }
            }
        }
        Ok(ranking)
    }

    pub(super) fn top(&mut self, rest: &str) -> Reply {
        let ranking = self.ranking(rest)?;
        let folded = self.debugger.session().profile();
        if ranking.by == By::Instructions {
            let instructions = folded.instructions.unwrap_or_default();
            return self.top_instructions(&instructions, &ranking);
        }
        self.rank(&folded.profile, &ranking);
        Ok(())
    }

    fn rank(&mut self, profile: &Profile, ranking: &Ranking) {
        let text = String::from_utf8_lossy;
        let counted = Counted::lines(profile, |line| {
            Some(match ranking.by {
                By::Functions => text(line.function).into_owned(),
                _ => format!("{}:{} ({})", text(line.file), line.line, text(line.function)),
            })
        });
        let top = counted.top(ranking.event, ranking.count, false);
        let rows = top.rows.iter().map(|row| (row.key.clone(), &*row.counts));
        let text = terminal::ranking(&counted, ranking.event, rows);
        self.say(&text);
    }

    fn top_instructions(&mut self, instructions: &Instructions, ranking: &Ranking) -> Reply {
        let counted = Counted::instructions(instructions, self.debugger.events());
        let top = counted.top(ranking.event, ranking.count, false);
        let named: Vec<(String, &[i64])> =
            top.rows.iter().map(|row| (self.instruction_line(*row.key), &*row.counts)).collect();
        let text = terminal::ranking(&counted, ranking.event, named);
        self.say(&text);
        Ok(())
    }

    /// `0x401136 <main+4>  mov eax,1`.
    pub(super) fn instruction_line(&mut self, pc: u64) -> String {
        let name = self.debugger.program().symbol_at(pc).map_or(String::new(), |name| format!(" <{name}>"));
        let text = match self.debugger.instruction_at(pc) {
            Some(instruction) => self.disassembled(&instruction),
            None => "(no longer there)".to_owned(),
        };
        format!("{pc:#x}{name}  {text}")
    }

    pub(super) fn annotate(&mut self, rest: &str) -> Reply {
        let asm = rest.split_whitespace().any(|word| word == "--asm");
        let name = rest.split_whitespace().filter(|word| *word != "--asm").collect::<Vec<_>>().join(" ");
        let folded = self.debugger.session().profile();
        if asm {
            return self.annotate_code(&name, &folded.instructions.unwrap_or_default());
        }
        let name = match (name.is_empty(), self.current_function()) {
            (false, _) => name,
            (true, Some(function)) => function,
            (true, None) => return Err("no function here; `annotate FUNCTION` or `annotate FILE`".into()),
        };
        self.annotate_source(&name, &folded.profile)
    }

    fn current_function(&mut self) -> Option<String> {
        let number = self.debugger.frame_number();
        self.debugger.frames(number + 1).into_iter().nth(number)?.function
    }

    fn annotate_source(&mut self, name: &str, profile: &Profile) -> Reply {
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
            let names = lines.iter().map(|line| String::from_utf8_lossy(line.function).into_owned());
            let nearest = nearest(name, names.collect::<BTreeSet<_>>());
            return Err(Error::NothingCounted { name: name.to_owned(), nearest });
        }
        let mut files: BTreeMap<&str, Vec<CountedLine<'_>>> = BTreeMap::new();
        for ((file, line), counts) in &counted.sums {
            files.entry(file).or_default().push((u64::from(*line), counts));
        }
        for (path, lines) in files {
            self.annotated_file(path, &lines, &counted.events, range.clone());
        }
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
        let source = text_lines(path);
        let missing = if source.is_some() { "" } else { " (cannot be read)" };
        self.say(&format!("{path}{missing}"));
        // Without the source there is nothing to show between the lines that were counted.
        let context = if source.is_some() { self.context } else { 0 };
        let source = source.unwrap_or_default();
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
        let function = if name.is_empty() {
            let pc = self.debugger.pc();
            self.debugger.program().function_at(pc).map(|(function, _)| function)
        } else {
            self.debugger.program().functions(name).into_iter().next()
        };
        let Some(function) = function else {
            return Ok(self.debugger.program().locate(name, None).map(|_| ())?);
        };
        let counted = Counted::instructions(instructions, self.debugger.events());
        self.say(&format!("{} ({:#x} to {:#x})", function.name, function.range.start, function.range.end));
        let rows = self.instruction_rows(function.range, &counted);
        let mut sources = Sources::new(&[]);
        let lines = listing(rows, Unplaced::Interrupt).into_iter().filter_map(|line| match line {
            ListingLine::Place(file, number) => {
                let text = String::from_utf8_lossy(sources.line(&file, number).unwrap_or_default());
                let text = text.trim_end().to_owned();
                Some(AnnotatedLine { counts: None, mark: number.to_string(), text })
            }
            ListingLine::Instruction(row) => {
                let text = row.code.map(|(_, text)| text).unwrap_or_default();
                let text = format!("  {:#x}  {text}", row.address);
                let mark = if row.hot { "*" } else { "" }.to_owned();
                Some(AnnotatedLine { counts: row.counts, mark, text })
            }
            // The range of a function has no gaps, and inlined calls are not looked up.
            ListingLine::Gap | ListingLine::Inlined(_) => None,
        });
        let text = terminal::annotated(&counted.events, lines.collect::<Vec<_>>());
        self.say(&text);
        Ok(())
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
        while pc < range.end {
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

    pub(super) fn dump(&mut self, rest: &str) -> Reply {
        if self.setup.sandboxed && !rest.is_empty() {
            return Err(
                "a file of that name is not written in the sandbox; `dump` writes a numbered part".into()
            );
        }
        let folded = self.debugger.session().profile();
        let target = if rest.is_empty() {
            self.dumps += 1;
            Target::Part(self.dumps)
        } else {
            Target::Named(Path::new(rest))
        };
        let path = self.setup.output.write(&folded, target).map_err(Error::Profile)?;
        self.say(&format!("profile: {}", path.display()));
        Ok(())
    }

    pub(super) fn zero(&mut self, rest: &str) -> Reply {
        nothing(rest)?;
        Ok(self.debugger.turn(|session| session.zero())?)
    }

    pub(super) fn instr(&mut self, rest: &str) -> Reply {
        let on = match rest {
            "on" => true,
            "off" => false,
            _ => return Err("write `instr on` or `instr off`".into()),
        };
        Ok(self.debugger.turn(|session| session.set_counting(on))?)
    }

    pub(super) fn mark(&mut self, rest: &str) -> Reply {
        if rest.is_empty() || rest.contains(' ') {
            return Err("a mark has a name of one word: `mark loop`".into());
        }
        self.debugger.mark(rest);
        Ok(())
    }

    pub(super) fn since(&mut self, rest: &str) -> Reply {
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let ranking = self.ranking(rest)?;
        if ranking.by == By::Instructions {
            return Err(
                "a mark keeps the counts of lines: `since NAME [N] [by EVENT] [functions|lines]`".into()
            );
        }
        let now = self.debugger.session().profile().profile;
        let Some(then) = self.debugger.marked(name) else {
            return Err(Error::Unknown {
                kind: "mark",
                name: name.to_owned(),
                nearest: nearest(name, self.debugger.mark_names()),
                hint: "`mark NAME` makes one".to_owned(),
            });
        };
        let difference = since(&now, then);
        self.rank(&difference, &ranking);
        Ok(())
    }
}

/// The counts since `then`; 0 for lines whose counts were higher then, which is so after the run
/// went back.
fn since(now: &Profile, then: &Profile) -> Profile {
    let mut before: BTreeMap<(&[u8], &[u8], u32), &Costs> = BTreeMap::new();
    let old = then.lines();
    for line in &old {
        before.insert((line.file, line.function, line.line), line.costs);
    }
    let mut difference = Profile::new(now.cmd(), now.events());
    for line in now.lines() {
        let mut costs = *line.costs;
        if let Some(before) = before.get(&(line.file, line.function, line.line)) {
            for event in Event::ALL {
                costs[event] = costs[event].saturating_sub(before[event]);
            }
        }
        difference.add(line.file, line.function, line.line, &costs);
    }
    difference
}
