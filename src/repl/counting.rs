//! Commands about what was counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::run_control::{nothing, number};
use super::show::{source_lines, table};
use super::{Reply, Shell, Target};
use crate::debugger::suggest::nearest;
use crate::profile::{Costs, Event, Instructions, Profile, grouped, summary_lines};

/// What is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Functions,
    Lines,
    Instructions,
}

/// The words of `top`.
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

    fn ranking(&self, rest: &str) -> Result<Ranking, String> {
        let mut ranking = Ranking { count: 10, event: Event::Ir, by: By::Functions };
        let mut words = rest.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "by" => ranking.event = self.event(words.next().ok_or("by which event? `top by D1mr`")?)?,
                "functions" => ranking.by = By::Functions,
                "lines" => ranking.by = By::Lines,
                "instructions" => ranking.by = By::Instructions,
                _ => {
                    let wrong = |why| format!("{why}; `top [N] [by EVENT] [functions|lines|instructions]`");
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
        let mut sums: BTreeMap<String, Costs> = BTreeMap::new();
        for line in profile.lines() {
            let name = match ranking.by {
                By::Functions => String::from_utf8_lossy(line.function).into_owned(),
                _ => format!(
                    "{}:{} ({})",
                    String::from_utf8_lossy(line.file),
                    line.line,
                    String::from_utf8_lossy(line.function)
                ),
            };
            *sums.entry(name).or_default() += line.costs;
        }
        let total = profile.total();
        let events: Vec<Event> = profile.events().iter().collect();
        let mut rows: Vec<(String, Costs)> = sums.into_iter().collect();
        rows.retain(|(_, costs)| costs[ranking.event] > 0);
        rows.sort_by_key(|(_, costs)| std::cmp::Reverse(costs[ranking.event]));
        rows.truncate(ranking.count);
        self.counts(&events, ranking.event, &total, rows);
    }

    fn counts(&mut self, events: &[Event], sort: Event, total: &Costs, rows: Vec<(String, Costs)>) {
        let mut shown = vec![sort];
        shown.extend(events.iter().copied().filter(|event| *event != sort));
        let share = |costs: &Costs| match total[sort] {
            0 => String::new(),
            all => format!("{:.1}%", costs[sort] as f64 * 100.0 / all as f64),
        };
        let mut heads: Vec<&str> = vec![sort.name(), "share"];
        heads.extend(shown.iter().skip(1).map(|event| event.name()));
        heads.push("");
        let row = |name: String, costs: &Costs| {
            let mut cells = vec![grouped(costs[sort]), share(costs)];
            cells.extend(shown.iter().skip(1).map(|event| grouped(costs[*event])));
            cells.push(name);
            cells
        };
        let mut cells: Vec<Vec<String>> = rows.iter().map(|(name, costs)| row(name.clone(), costs)).collect();
        cells.push(row("everything".into(), total));
        let text = table(&heads, cells);
        self.say(&text);
    }

    fn top_instructions(&mut self, instructions: &Instructions, ranking: &Ranking) -> Reply {
        let (rows, total) = instruction_costs(instructions);
        let mut rows: Vec<(u64, Costs)> =
            rows.into_iter().filter(|(_, costs)| costs[ranking.event] > 0).collect();
        rows.sort_by_key(|(pc, costs)| (std::cmp::Reverse(costs[ranking.event]), *pc));
        rows.truncate(ranking.count);
        let named = rows.into_iter().map(|(pc, costs)| (self.instruction_line(pc), costs)).collect();
        let events: Vec<Event> = self.debugger.events().iter().collect();
        self.counts(&events, ranking.event, &total, named);
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
                    return Err(format!("no lines {range}; lines are numbered from 1: `{file}:10-20`"));
                }
                (file, Some(first..=last))
            }
            _ => (name, None),
        };
        let ends = |path: &[u8]| {
            let path = String::from_utf8_lossy(path);
            path == file || path.ends_with(&format!("/{file}"))
        };
        // By file, the sums of its lines.
        let mut found: BTreeMap<String, BTreeMap<u32, Costs>> = BTreeMap::new();
        let is_function = lines.iter().any(|line| line.function == name.as_bytes());
        for line in &lines {
            let wanted = if is_function { line.function == name.as_bytes() } else { ends(line.file) };
            if wanted {
                let sums = found.entry(String::from_utf8_lossy(line.file).into_owned()).or_default();
                *sums.entry(line.line).or_default() += line.costs;
            }
        }
        if found.is_empty() {
            let names = lines.iter().map(|line| String::from_utf8_lossy(line.function).into_owned());
            let near = nearest(name, names.collect::<BTreeSet<_>>());
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(format!("nothing was counted in a function or file `{name}`{hint}"));
        }
        let events: Vec<Event> = profile.events().iter().collect();
        for (path, sums) in found {
            self.annotated(&path, &sums, &events, range.clone());
        }
        Ok(())
    }

    fn annotated(
        &mut self,
        path: &str,
        sums: &BTreeMap<u32, Costs>,
        events: &[Event],
        range: Option<std::ops::RangeInclusive<u64>>,
    ) {
        let source = source_lines(path);
        let missing = if source.is_some() { "" } else { " (cannot be read)" };
        self.say(&format!("{path}{missing}"));
        let known: BTreeSet<u64> =
            sums.keys().map(|line| u64::from(*line)).filter(|line| *line > 0).collect();
        // Without the source there is nothing to show between the lines that were counted.
        let context = if source.is_some() { self.context } else { 0 };
        let source = source.unwrap_or_default();
        let last = known.last().copied().unwrap_or(0).max(source.len() as u64);
        let mut lines: Vec<u64> = Vec::new();
        match range {
            Some(range) if source.is_empty() => lines.extend(known.range(range)),
            Some(range) => lines.extend(*range.start()..=last.min(*range.end())),
            None => {
                for line in &known {
                    let from = lines.last().map_or(1, |line| line + 1).max(line.saturating_sub(context));
                    lines.extend(from..=line.saturating_add(context).min(last));
                }
            }
        }
        let mut rows = Vec::new();
        let mut before = None;
        if let Some(costs) = sums.get(&0) {
            rows.push(annotated_row(events, Some(costs), "", "<unknown line>"));
        }
        for line in lines {
            if !source.is_empty() && before.is_some_and(|before| before + 1 != line) {
                rows.push(annotated_row(events, None, "--", ""));
            }
            before = Some(line);
            let text = source.get(line as usize - 1).map_or("", |text| text.as_str());
            rows.push(annotated_row(events, sums.get(&(line as u32)), &line.to_string(), text));
        }
        let mut heads: Vec<&str> = events.iter().map(|event| event.name()).collect();
        heads.extend(["", ""]);
        let text = table(&heads, rows);
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
            return self.debugger.program().locate(name, None).map(|_| ());
        };
        let (costs, total) = instruction_costs(instructions);
        let events: Vec<Event> = self.debugger.events().iter().collect();
        self.say(&format!("{} ({:#x} to {:#x})", function.name, function.range.start, function.range.end));
        let mut rows = Vec::new();
        let mut pc = function.range.start;
        let mut line = None;
        while pc < function.range.end {
            let here = self.debugger.program().line_at(pc).map(|(place, _)| (place.file, place.line));
            if here != line {
                if let Some((file, number)) = &here {
                    let text = source_lines(file)
                        .and_then(|lines| lines.get(*number as usize - 1).cloned())
                        .unwrap_or_default();
                    rows.push(annotated_row(&events, None, &number.to_string(), text.trim_end()));
                }
                line = here;
            }
            let Some(instruction) = self.debugger.instruction_at(pc) else { break };
            let text = self.disassembled(&instruction);
            let own = costs.get(&pc);
            let hot = own.is_some_and(|own| total[Event::Ir] > 0 && own[Event::Ir] * 20 >= total[Event::Ir]);
            let mark = if hot { "*" } else { "" };
            rows.push(annotated_row(&events, own, mark, &format!("  {pc:#x}  {text}")));
            pc = instruction.next_ip();
        }
        let mut heads: Vec<&str> = events.iter().map(|event| event.name()).collect();
        heads.extend(["", ""]);
        let text = table(&heads, rows);
        self.say(&text);
        Ok(())
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
        let path = self.setup.output.write(&folded, target)?;
        self.say(&format!("profile: {}", path.display()));
        Ok(())
    }

    pub(super) fn zero(&mut self, rest: &str) -> Reply {
        nothing(rest)?;
        self.debugger.turn(|session| session.zero())
    }

    pub(super) fn instr(&mut self, rest: &str) -> Reply {
        let on = match rest {
            "on" => true,
            "off" => false,
            _ => return Err("write `instr on` or `instr off`".into()),
        };
        self.debugger.turn(|session| session.set_counting(on))
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
            let near = nearest(name, self.debugger.mark_names());
            let hint =
                near.map_or("; `mark NAME` makes one".into(), |near| format!("; did you mean `{near}`?"));
            return Err(format!("no mark `{name}`{hint}"));
        };
        let difference = since(&now, then);
        self.rank(&difference, &ranking);
        Ok(())
    }
}

/// What was counted after `then`; what the run has gone back before is nothing.
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

/// Counts by run-time address, and their sum.
pub(super) fn instruction_costs(instructions: &Instructions) -> (BTreeMap<u64, Costs>, Costs) {
    let events: Vec<Option<Event>> = instructions
        .events
        .iter()
        .map(|name| Event::ALL.into_iter().find(|event| event.name().as_bytes() == name.as_slice()))
        .collect();
    let mut all = BTreeMap::new();
    let mut total = Costs::ZERO;
    for object in &instructions.objects {
        let bias = object.biases.first().copied().unwrap_or(0);
        for (address, insn) in &object.instructions {
            let mut costs = Costs::ZERO;
            for (event, count) in events.iter().zip(&insn.costs) {
                if let Some(event) = event {
                    costs[*event] = u64::try_from(*count).unwrap_or(0);
                }
            }
            total += &costs;
            *all.entry(address.wrapping_add(bias)).or_insert(Costs::ZERO) += &costs;
        }
    }
    (all, total)
}

fn annotated_row(events: &[Event], costs: Option<&Costs>, line: &str, text: &str) -> Vec<String> {
    let mut row: Vec<String> = events
        .iter()
        .map(|event| match costs {
            Some(costs) => grouped(costs[*event]),
            None if line == "--" => "--".into(),
            None => ".".into(),
        })
        .collect();
    row.push(line.to_owned());
    row.push(text.replace('\t', "    "));
    row
}
