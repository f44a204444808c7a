//! Commands about counts: the summary, rankings, marks.

use std::collections::BTreeMap;
use std::path::Path;

use super::arguments::{nothing, number};
use super::error::Error;
use super::shell::{Reply, Shell, Target, Written};
use crate::annotate::render::terminal;
use crate::annotate::view::ranking::Counted;
use crate::debugger::suggest::nearest;
use crate::profile::{Costs, Event, Instructions, Profile, summary_lines};
use crate::session::PID;

/// The subject of a ranking.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Functions,
    /// Functions with those that they call.
    Inclusive,
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
        let (rest, whose) = self.whose(rest)?;
        nothing(rest)?;
        let folded = self.folded(whose)?;
        self.say_whose(whose);
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
                "inclusive" => ranking.by = By::Inclusive,
                "lines" => ranking.by = By::Lines,
                "instructions" => ranking.by = By::Instructions,
                _ => {
                    let wrong = |why| {
                        let usage =
                            "`top [N] [by EVENT] [functions|inclusive|lines|instructions] [of all|PID]`";
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
        let (rest, whose) = self.whose(rest)?;
        let ranking = self.ranking(rest)?;
        if ranking.by == By::Inclusive {
            return self.top_inclusive(whose, ranking.event, ranking.count);
        }
        let folded = self.folded(whose)?;
        self.say_whose(whose);
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

    pub(super) fn dump(&mut self, rest: &str) -> Reply {
        let (rest, whose) = self.whose(rest)?;
        if self.setup.sandboxed && !rest.is_empty() {
            return Err(
                "a file of that name is not written in the sandbox; `dump` writes a numbered part".into()
            );
        }
        let folded = self.debugger.profile_with_calls(whose)?;
        let pid = self.debugger.session().meant(whose).unwrap_or(PID);
        let target = if rest.is_empty() {
            self.dumps += 1;
            Target::Part(self.dumps)
        } else {
            Target::Named(Path::new(rest))
        };
        let written = self.setup.output.write(&folded, pid, target).map_err(Error::Profile)?;
        self.say_whose(whose);
        self.say_written(&written);
        Ok(())
    }

    /// Says where a profile is, and its call graph.
    pub(super) fn say_written(&mut self, written: &Written) {
        self.say(&format!("profile: {}", written.profile.display()));
        if let Some(graph) = &written.graph {
            self.say(&format!("call graph: {}", graph.display()));
        }
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
        let (rest, whose) = self.whose(rest)?;
        if rest.is_empty() || rest.contains(' ') {
            return Err("a mark has a name of one word: `mark loop`".into());
        }
        self.debugger.mark(rest, whose)?;
        self.say_whose(whose);
        Ok(())
    }

    pub(super) fn since(&mut self, rest: &str) -> Reply {
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let ranking = self.ranking(rest)?;
        if matches!(ranking.by, By::Instructions | By::Inclusive) {
            return Err(
                "a mark keeps the counts of lines: `since NAME [N] [by EVENT] [functions|lines]`".into()
            );
        }
        let Some((whose, _)) = self.debugger.marked(name) else {
            return Err(Error::Unknown {
                kind: "mark",
                name: name.to_owned(),
                nearest: nearest(name, self.debugger.mark_names()),
                hint: "`mark NAME` makes one".to_owned(),
            });
        };
        let now = self.folded(whose)?.profile;
        let difference = self.debugger.marked(name).map(|(_, then)| since(&now, then));
        self.say_whose(whose);
        if let Some(difference) = difference {
            self.rank(&difference, &ranking);
        }
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
