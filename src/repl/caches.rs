//! Commands that look into the simulators.

use std::collections::BTreeMap;

use super::arguments::number;
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::render::terminal::table;
use crate::annotate::view::ranking::Counted;
use crate::annotate::view::share::{percent, thousands};
use crate::debugger::suggest::nearest;
use crate::profile::{Event, grouped};
use crate::sim::{Geometry, Hierarchy};

/// A level with the addresses of the blocks it holds, by set.
struct Level {
    name: &'static str,
    geometry: Geometry,
    held: Vec<(u64, u64)>,
}

fn levels(caches: &Hierarchy) -> [Level; 3] {
    let level = |name, geometry: Geometry, blocks: Vec<u64>| {
        let held = blocks
            .into_iter()
            .map(|block| (block % geometry.sets(), block << geometry.line_shift()))
            .collect();
        Level { name, geometry, held }
    };
    [
        level("I1", caches.i1.geometry(), caches.i1.held_blocks().collect()),
        level("D1", caches.d1.geometry(), caches.d1.held_blocks().collect()),
        level("LL", caches.ll.geometry(), caches.ll.held_blocks().collect()),
    ]
}

impl Shell {
    pub(super) fn cache(&mut self, rest: &str) -> Reply {
        let Some(caches) = self.debugger.session().caches() else {
            return Err("no caches are simulated in this run (--cache-sim=no)".into());
        };
        let (mut wanted, mut what) = (None, "");
        for word in rest.split_whitespace() {
            match word {
                "I1" | "D1" | "LL" | "i1" | "d1" | "ll" => wanted = Some(word.to_uppercase()),
                "symbols" | "sets" => what = word,
                _ => {
                    let nearest = nearest(word, ["I1", "D1", "LL", "symbols", "sets"]);
                    return Err(Error::NoCache { word: word.to_owned(), nearest });
                }
            }
        }
        for level in levels(&caches) {
            if wanted.as_deref().is_some_and(|wanted| wanted != level.name) {
                continue;
            }
            self.level(&level);
            match what {
                "symbols" => self.symbols_in(&level),
                "sets" => self.sets_of(&level),
                _ => {}
            }
        }
        Ok(())
    }

    fn level(&mut self, level: &Level) {
        let Level { name, geometry, held } = level;
        let lines = geometry.size() / u64::from(geometry.line());
        let share = held.len() as f64 * 100.0 / lines as f64;
        let text = format!(
            "{name}: {} bytes, {}-way, lines of {} bytes, {} sets; holds {} of {} lines ({share:.1}%)",
            grouped(geometry.size()),
            geometry.assoc(),
            geometry.line(),
            grouped(geometry.sets()),
            grouped(held.len() as u64),
            grouped(lines),
        );
        self.say(&text);
    }

    /// Owner of the bytes of a line: a symbol, a file or a mapping.
    fn owner(&mut self, addr: u64, line: u64) -> String {
        let program = self.debugger.program();
        let found = program
            .function_at(addr)
            .map(|(function, _)| function.name)
            .or_else(|| (addr..addr.saturating_add(line)).step_by(8).find_map(|at| program.data_at(at)));
        if let Some(name) = found {
            return name;
        }
        let mapping =
            self.debugger.session().mappings().into_iter().find(|m| (m.start..m.end).contains(&addr));
        match mapping {
            Some(mapping) => match (mapping.file, mapping.label) {
                (Some(file), _) => file.path.to_string(),
                (None, Some(label)) => label.to_owned(),
                (None, None) => "[anonymous]".to_owned(),
            },
            None => "[no longer mapped]".to_owned(),
        }
    }

    fn symbols_in(&mut self, level: &Level) {
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for &(_, addr) in &level.held {
            *lines.entry(self.owner(addr, level.geometry.line().into())).or_default() += 1;
        }
        let mut rows: Vec<(String, u64)> = lines.into_iter().collect();
        rows.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        rows.truncate(20);
        let rows = rows.into_iter().map(|(name, lines)| vec![grouped(lines), name]).collect();
        let text = table(&["lines", "of"], rows);
        self.say(&text);
    }

    /// The sets that are full, those with the most different owners first.
    fn sets_of(&mut self, level: &Level) {
        let mut sets: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for &(set, addr) in &level.held {
            sets.entry(set).or_default().push(addr);
        }
        let full =
            sets.iter().filter(|(_, held)| held.len() as u64 >= u64::from(level.geometry.assoc())).count();
        let text = format!("{} of {} sets are full", grouped(full as u64), grouped(level.geometry.sets()));
        self.say(&text);
        let mut rows: Vec<(usize, u64, Vec<String>)> = Vec::new();
        for (set, held) in sets {
            if (held.len() as u64) < u64::from(level.geometry.assoc()) {
                continue;
            }
            let mut owners: Vec<String> =
                held.iter().map(|&addr| self.owner(addr, level.geometry.line().into())).collect();
            owners.sort_unstable();
            owners.dedup();
            rows.push((owners.len(), set, owners));
        }
        rows.sort_by_key(|(owners, set, _)| (std::cmp::Reverse(*owners), *set));
        rows.truncate(10);
        if rows.is_empty() {
            return;
        }
        let rows =
            rows.into_iter().map(|(_, set, owners)| vec![set.to_string(), owners.join(", ")]).collect();
        let text = table(&["set", "shared by"], rows);
        self.say(&text);
    }

    pub(super) fn predict(&mut self, rest: &str) -> Reply {
        if !self.debugger.events().branch {
            return Err("no branches are simulated in this run; start it with --branch-sim=yes".into());
        }
        let (rest, whose) = self.whose(rest)?;
        let wanted = if rest.is_empty() { 10 } else { number(rest)? };
        let instructions = self.folded(whose)?.instructions.unwrap_or_default();
        let counted = Counted::instructions(&instructions, self.debugger.events());
        let sum = |counts: &[i64], events: [Event; 2]| -> i64 {
            let columns = events.into_iter().filter_map(|event| counted.column(event));
            columns.filter_map(|at| counts.get(at)).sum()
        };
        let mut rows: Vec<(i64, i64, u64)> = counted
            .sums
            .iter()
            .map(|(pc, counts)| {
                (sum(counts, [Event::Bcm, Event::Bim]), sum(counts, [Event::Bc, Event::Bi]), *pc)
            })
            .filter(|(missed, ..)| *missed > 0)
            .collect();
        rows.sort_by_key(|&(missed, _, pc)| (std::cmp::Reverse(missed), pc));
        rows.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
        let mut cells = Vec::new();
        for (missed, executed, pc) in rows {
            let rate = percent(missed, executed.max(1));
            let line = self.instruction_line(pc);
            cells.push(vec![thousands(missed), thousands(executed), rate, line]);
        }
        self.say_whose(whose);
        let text = table(&["mispredicted", "executed", "rate", "branch"], cells);
        self.say(&text);
        Ok(())
    }
}
