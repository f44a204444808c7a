//! The Callgrind output file (Valgrind manual, "Callgrind Format Specification", version 1). Lines
//! of the head come in the order that its readers need, and every zero is written.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::super::call_graph::{CallGraph, CalledFunction, CodePosition, PlaceCosts};
use super::super::event::{Costs, Event};
use super::super::names::NameId;

/// Bytes gathered before they go to the writer.
const CHUNK: usize = 1 << 16;

/// Form of a Callgrind file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallgrindForm {
    /// Positions have the address of the instruction.
    pub instructions: bool,
    /// Positions have the source line.
    pub lines: bool,
    /// A name is written once, and is a number from then on.
    pub compress_names: bool,
    /// Positions are relative to the one before where that is near.
    pub compress_positions: bool,
}

/// Subject of a part of a Callgrind file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallgrindPart {
    /// The process.
    pub pid: i32,
    /// The thread, if it is of one.
    pub thread: Option<u32>,
    /// Its number, from 1 on.
    pub number: u32,
    /// It is the first in its file.
    pub begins: bool,
}

/// Writes a call graph as a part of a file.
///
/// # Errors
/// Those of `out`. Part of the file may have been written.
pub fn write_callgrind(
    graph: &CallGraph,
    form: CallgrindForm,
    part: CallgrindPart,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer =
        Writer { graph, form, text: Vec::with_capacity(2 * CHUNK), numbers: Default::default(), last: None };
    writer.head(part)?;
    for (_, function) in graph.functions() {
        writer.function(function)?;
        if writer.text.len() >= CHUNK {
            out.write_all(&writer.text)?;
            writer.text.clear();
        }
    }
    writer.sums("totals:")?;
    out.write_all(&writer.text)
}

/// The three kinds of names, each with numbers of its own.
#[derive(Clone, Copy)]
enum Kind {
    Object,
    File,
    Function,
}

struct Writer<'a> {
    graph: &'a CallGraph,
    form: CallgrindForm,
    text: Vec<u8>,
    /// Numbers of names, by kind.
    numbers: [FxHashMap<NameId, usize>; 3],
    /// The last position of a cost line in this function.
    last: Option<CodePosition>,
}

impl Writer<'_> {
    fn head(&mut self, part: CallgrindPart) -> io::Result<()> {
        let (graph, text) = (self.graph, &mut self.text);
        if part.begins {
            writeln!(text, "# callgrind format\nversion: 1\ncreator: cgemu-{}", env!("CARGO_PKG_VERSION"))?;
            write!(text, "pid: {}\ncmd: ", part.pid)?;
            text.extend_from_slice(&graph.cmd);
        }
        write!(text, "\npart: {}\n", part.number)?;
        if let Some(thread) = part.thread {
            writeln!(text, "thread: {thread}")?;
        }
        writeln!(text)?;
        for desc in &graph.desc {
            writeln!(text, "desc: {desc}")?;
        }
        let trigger = graph.trigger.as_deref().unwrap_or("Program termination");
        writeln!(text, "desc: Trigger: {trigger}\n")?;
        let positions = [(self.form.instructions, " instr"), (self.form.lines, " line")];
        let positions: String = positions.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
        writeln!(text, "positions:{positions}")?;
        let events: Vec<&str> = graph.events.in_callgrinds_order().map(Event::name).collect();
        writeln!(text, "events: {}", events.join(" "))?;
        self.sums("summary:")?;
        self.text.extend_from_slice(b"\n\n");
        Ok(())
    }

    fn sums(&mut self, key: &str) -> io::Result<()> {
        self.text.extend_from_slice(key.as_bytes());
        self.costs(&self.graph.total())
    }

    /// The recorded counts, a blank before each, and the end of the line.
    fn costs(&mut self, costs: &Costs) -> io::Result<()> {
        for event in self.graph.events.in_callgrinds_order() {
            write!(self.text, " {}", costs[event])?;
        }
        self.text.push(b'\n');
        Ok(())
    }

    fn name(&mut self, key: &str, kind: Kind, name: NameId) -> io::Result<()> {
        self.text.extend_from_slice(key.as_bytes());
        self.text.push(b'=');
        let mut known = false;
        if self.form.compress_names {
            let numbers = &mut self.numbers[kind as usize];
            let next = numbers.len() + 1;
            let number = *numbers.entry(name).or_insert(next);
            known = number != next;
            write!(self.text, "({number})")?;
            if !known {
                self.text.push(b' ');
            }
        }
        if !known {
            self.text.extend_from_slice(self.graph.text(name));
        }
        self.text.push(b'\n');
        Ok(())
    }

    fn function(&mut self, function: &CalledFunction) -> io::Result<()> {
        if function.places.is_empty() {
            return Ok(());
        }
        self.name("ob", Kind::Object, function.object)?;
        self.name("fl", Kind::File, function.file)?;
        self.name("fn", Kind::Function, function.name)?;
        self.last = None;
        let mut file = function.file;
        // The lines of its own file come first.
        let (own, others): (Vec<_>, Vec<_>) =
            function.places.iter().partition(|(place, _)| place.file == function.file);
        for (place, costs) in own.into_iter().chain(others) {
            if place.file != file {
                self.name("fi", Kind::File, place.file)?;
                file = place.file;
            }
            if !costs.costs.is_zero() {
                self.position(place)?;
                self.costs(&costs.costs)?;
            }
            for (&(callee, target), calls) in &costs.calls {
                let Some(called) = self.graph.get(callee) else { continue };
                let (object, called_file, name) = (called.object, called.file, called.name);
                if object != function.object {
                    self.name("cob", Kind::Object, object)?;
                }
                if called_file != file {
                    self.name("cfi", Kind::File, called_file)?;
                }
                self.name("cfn", Kind::Function, name)?;
                write!(self.text, "calls={}", calls.count)?;
                if self.form.instructions {
                    write!(self.text, " {:#x}", target.address)?;
                }
                if self.form.lines {
                    write!(self.text, " {}", target.line)?;
                }
                self.text.push(b'\n');
                self.position(place)?;
                self.costs(&calls.costs)?;
            }
            self.jumps((function, file), place, costs)?;
        }
        if file != function.file {
            self.name("fe", Kind::File, function.file)?;
        }
        self.text.push(b'\n');
        Ok(())
    }

    /// The jumps of a place, in lines of this file. As Callgrind, the place stands behind each.
    fn jumps(
        &mut self,
        (function, file): (&CalledFunction, NameId),
        place: &CodePosition,
        costs: &PlaceCosts,
    ) -> io::Result<()> {
        for (&(to, target, _), jumps) in &costs.jumps {
            let Some(reached) = self.graph.get(to) else { continue };
            // Without an address or a line it says nothing.
            if !self.form.instructions && target.line == 0 {
                continue;
            }
            if target.file != file {
                self.name("jfi", Kind::File, target.file)?;
            }
            if !std::ptr::eq(reached, function) {
                self.name("jfn", Kind::Function, reached.name)?;
            }
            match jumps.executed {
                Some(executed) => write!(self.text, "jcnd={}/{executed}", jumps.followed)?,
                None => write!(self.text, "jump={}", jumps.followed)?,
            }
            if self.form.instructions {
                write!(self.text, " {:#x}", target.address)?;
            }
            if self.form.lines {
                write!(self.text, " {}", target.line)?;
            }
            self.text.push(b'\n');
            self.position(place)?;
            self.text.push(b'\n');
        }
        Ok(())
    }

    /// The position of a cost line, without a blank at its end.
    fn position(&mut self, place: &CodePosition) -> io::Result<()> {
        let last = self.last.replace(*place).filter(|_| self.form.compress_positions);
        let mut blank = "";
        if self.form.instructions {
            let near = last.and_then(|last| near(last.address, place.address));
            match near {
                Some(near) => write!(self.text, "{near}")?,
                None => write!(self.text, "{:#x}", place.address)?,
            }
            blank = " ";
        }
        if self.form.lines {
            match last.and_then(|last| near(last.line.into(), place.line.into())) {
                Some(near) => write!(self.text, "{blank}{near}")?,
                None => write!(self.text, "{blank}{}", place.line)?,
            }
        }
        Ok(())
    }
}

/// A position relative to one that is near.
fn near(last: u64, next: u64) -> Option<String> {
    match i64::try_from(i128::from(next) - i128::from(last)).ok()? {
        _ if last == 0 => None,
        0 => Some("*".to_owned()),
        more @ 1..100 => Some(format!("+{more}")),
        less @ -99..0 => Some(format!("{less}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::call_graph::{Calls, Jumps};
    use crate::profile::{CallgrindReader, EventSet, Record};

    fn ir(count: u64) -> Costs {
        let mut costs = Costs::ZERO;
        costs[Event::Ir] = count;
        costs
    }

    fn graph() -> CallGraph {
        let mut graph = CallGraph::new(b"./a b", &["I1 cache: none".to_owned()], EventSet::default());
        let [object, library, file, header, main, inner] =
            ["/bin/a", "/lib/b.so", "a.c", "a.h", "main", "inner"].map(|name| graph.name(name));
        let (main, inner) = (graph.function(object, file, main), graph.function(library, header, inner));
        let at = |file, address, line| CodePosition { file, address, line };
        graph.spend(main, at(file, 0x1000, 3), &ir(7));
        graph.spend(main, at(header, 0x1004, 1), &ir(2));
        graph.spend(inner, at(header, 0x20, 9), &ir(5));
        let target = (inner, at(header, 0x20, 9));
        let here = (main, at(file, 0x1000, 3));
        graph.jump(here, (main, at(file, 0x1010, 4)), &Jumps { followed: 2, executed: Some(6) });
        graph.jump(here, (main, at(file, 0x1010, 4)), &Jumps { followed: 1, executed: Some(0) });
        graph.jump(here, (inner, at(header, 0x30, 8)), &Jumps { followed: 5, executed: None });
        graph.jump(here, (inner, at(header, 0x38, 0)), &Jumps { followed: 1, executed: None });
        graph.call((main, at(file, 0x1000, 3)), target, &Calls { count: 4, costs: ir(5) });
        graph
    }

    fn written(form: CallgrindForm) -> String {
        let mut text = Vec::new();
        let part = CallgrindPart { pid: 7, thread: None, number: 1, begins: true };
        write_callgrind(&graph(), form, part, &mut text).expect("memory");
        String::from_utf8(text).expect("text")
    }

    const PLAIN: CallgrindForm =
        CallgrindForm { instructions: false, lines: true, compress_names: false, compress_positions: false };

    #[test]
    fn a_file_in_full() {
        let text = written(PLAIN);
        let body = text.split_once("summary: 14\n\n\n").expect("a summary").1;
        assert_eq!(
            body,
            "ob=/bin/a\nfl=a.c\nfn=main\n3 7\ncob=/lib/b.so\ncfi=a.h\ncfn=inner\ncalls=4 9\n3 5\n\
             jcnd=3/6 4\n3\njfi=a.h\njfn=inner\njump=5 8\n3\nfi=a.h\n1 2\nfe=a.c\n\nob=/lib/b.so\nfl=a.h\nfn=inner\n9 5\n\ntotals: 14\n"
        );
        assert!(text.starts_with("# callgrind format\nversion: 1\ncreator: cgemu-"), "{text}");
        assert!(text.contains("\npid: 7\ncmd: ./a b\npart: 1\n\ndesc: I1 cache: none\n"), "{text}");
    }

    /// Every form says the same to a reader.
    #[test]
    fn forms_are_read_back_alike() {
        let read = |form: CallgrindForm| {
            let text = written(form);
            let mut reader = CallgrindReader::new(text.as_bytes(), "t").expect("a head");
            let mut all = Vec::new();
            while let Some(record) = reader.next_record().expect("valid") {
                all.push(match record {
                    Record::Call { function, calls, counts, .. } => {
                        format!("call {} {calls} {counts:?}", String::from_utf8_lossy(function))
                    }
                    Record::Counts { counts, .. } => format!("{counts:?}"),
                    Record::File(name) | Record::Function(name) => String::from_utf8_lossy(name).into(),
                });
            }
            all
        };
        let plain = read(PLAIN);
        assert!(plain.contains(&"call inner 4 [5]".to_owned()), "{plain:?}");
        for form in 0..16 {
            let on = |bit: u32| form >> bit & 1 == 1;
            let form = CallgrindForm {
                instructions: on(0),
                lines: on(1),
                compress_names: on(2),
                compress_positions: on(3),
            };
            if form.lines || form.instructions {
                assert_eq!(read(form), plain, "{form:?}");
            }
        }
    }
}
