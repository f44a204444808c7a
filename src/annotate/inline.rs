//! `annotate --inline`: costs by the functions of the source, also where the compiler has put one into another. Cachegrind counts
//! inlined code for the function that it ended up in.

use std::collections::BTreeMap;
use std::io::Write;

use super::asm::{Function, Object, choose, columns, functions, head, open, read_side_files};
use super::code::{CodeReport, Head, Inlined, Tree, Written as WrittenRow};
use super::columns::{Counts, Shown, Table};
use super::derive::Metric;
use super::report::{Figures, text};
use super::{AnnotateError, Format, Options, Renaming, heading, warning};
use crate::profile::{Instructions, add_costs};
use crate::symbols::debugger::inline::{Frame, Inlines};
use crate::symbols::valgrind::demangle::display_name;

/// A call that was replaced by the code of the callee: name, file, line.
pub type Call = (String, String, u32);

/// A function, or a call that was inlined, with what was inlined into it in turn.
#[derive(Debug, Default)]
struct Node {
    own: Vec<i64>,
    /// With all that was inlined into it.
    all: Vec<i64>,
    calls: BTreeMap<Call, Node>,
}

/// A function of the source.
#[derive(Debug, Default)]
struct Written {
    costs: Vec<i64>,
    /// Those of `costs` that are in other functions.
    inlined: Vec<i64>,
}

/// By file of the line, and name.
type Name = (Vec<u8>, Vec<u8>);
type ByName = BTreeMap<Name, Written>;

/// How figures are chosen and written.
struct View<'a> {
    shown: &'a Shown,
    sort: &'a [usize],
    /// Count of the first event of `sort` that a line must have.
    least: i64,
}

/// Reads the side files and writes the functions of the source by their costs, then what was inlined into each function of the machine code:
/// the function `name` alone, or all that reach the threshold.
///
/// # Errors
/// As those of [`super::annotate_asm`].
pub fn annotate_inline(
    options: &Options,
    name: Option<&str>,
    out: &mut impl Write,
) -> Result<(), AnnotateError> {
    let instructions = read_side_files(&options.input)?;
    let (shown, sort) = columns(options, &instructions)?;
    let functions = functions(&instructions, &sort);
    let chosen = choose(&functions, options, name, (&instructions, &sort))?;
    let view = View { shown: &shown, sort: &sort, least: least(options, &instructions, &sort) };
    let mut written = ByName::new();
    let mut trees = Vec::new();
    let mut problems = Vec::new();
    // Each object is read once: its functions are put together.
    let mut by_object: BTreeMap<(&[u8], &str), Vec<&Function<'_>>> = BTreeMap::new();
    for function in &functions {
        by_object.entry((&function.object.path, &function.object.identity)).or_default().push(function);
    }
    for functions in by_object.values() {
        let Some(first) = functions.first() else { continue };
        let object = open(first.object).map_err(|problem| problems.push(problem)).ok();
        let inlines = object.as_ref().and_then(Object::inlines);
        for function in functions {
            let known = object.as_ref().zip(inlines.as_ref());
            let tree = tree(function, known, (&instructions, &options.input.renaming), &mut written);
            trees.push((*function, tree));
        }
    }
    problems.retain(|problem| !problem.is_empty());
    // Those with nothing inlined say nothing, unless one is asked for by name.
    let trees: Vec<(&Function<'_>, &Node)> = chosen
        .into_iter()
        .filter_map(|function| trees.iter().find(|(other, _)| std::ptr::eq(*other, function)))
        .filter(|(_, tree)| name.is_some() || tree.calls.values().any(|call| view.reaches(&call.all)))
        .map(|(function, tree)| (*function, tree))
        .collect();
    if options.format != Format::Text {
        let metrics = &shown.metrics;
        let mut report = CodeReport::new(options, &instructions, (metrics, &sort), problems);
        report.written = Some(view.functions(&written).into_iter().map(|row| row_of(row, metrics)).collect());
        report.trees = Some(trees.into_iter().map(|(f, tree)| view.tree_of(f, tree, metrics)).collect());
        return report.write(options.format, out);
    }
    head(options, &instructions, &shown, &sort, out)?;
    for problem in problems {
        warning(out, format!("@@ {problem}\n").as_bytes())?;
        writeln!(out)?;
    }
    heading(out, b"File:function summary, inlined code where it was written")?;
    view.written(&written, out)?;
    for (function, tree) in trees {
        let mut title = b"Inlined into ".to_vec();
        title.extend_from_slice(&function.object.path);
        title.push(b':');
        title.extend_from_slice(function.name);
        heading(out, &title)?;
        view.tree(function, tree, out)?;
    }
    out.flush()?;
    Ok(())
}

fn row_of(((file, name), row): (&Name, &Written), metrics: &[Metric]) -> WrittenRow {
    WrittenRow {
        file: text(file),
        function: text(name),
        figures: Figures::new(&row.costs, metrics),
        inlined: Figures::new(&row.inlined, metrics),
    }
}

/// The count that a line must have to reach the threshold.
fn least(options: &Options, instructions: &Instructions, sort: &[usize]) -> i64 {
    let at = sort.first().copied().unwrap_or(0);
    let total = instructions.total().get(at).copied().unwrap_or(0);
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    let least = (total as f64 * options.threshold / 100.0).ceil() as i64;
    least.max(1)
}

/// Puts a function's instructions where they belong.
fn tree(
    function: &Function<'_>,
    known: Option<(&Object, &Inlines)>,
    (instructions, renaming): (&Instructions, &Renaming),
    written: &mut ByName,
) -> Node {
    let events = instructions.events.len();
    let zero = || Node { own: vec![0; events], all: vec![0; events], calls: BTreeMap::new() };
    let mut root = zero();
    for (&address, insn) in &function.instructions {
        let chain = known.map(|(object, inlines)| inlines.chain(address, &|unit| object.split(unit)));
        let chain = chain.unwrap_or_default();
        let mut node = &mut root;
        add_costs(&mut node.all, &insn.costs);
        let mut name = function.name.to_vec();
        let mut inlined = false;
        for call in calls(chain, renaming) {
            (name, inlined) = (call.0.clone().into_bytes(), true);
            node = node.calls.entry(call).or_insert_with(zero);
            add_costs(&mut node.all, &insn.costs);
        }
        add_costs(&mut node.own, &insn.costs);
        let entry = written
            .entry((insn.file.to_vec(), name))
            .or_insert_with(|| Written { costs: vec![0; events], inlined: vec![0; events] });
        add_costs(&mut entry.costs, &insn.costs);
        if inlined {
            add_costs(&mut entry.inlined, &insn.costs);
        }
    }
    root
}

/// The calls of a chain that were inlined, outermost first.
pub fn calls(chain: Vec<Frame>, renaming: &Renaming) -> impl Iterator<Item = Call> {
    chain.into_iter().filter_map(|Frame { function, call }| {
        let (file, line) = call?;
        let name = function.map_or("???".to_owned(), |raw| {
            let name = display_name(&raw, false, true);
            String::from_utf8_lossy(&renaming.function(name.as_bytes())).into_owned()
        });
        Some((name, file.unwrap_or_else(|| "???".to_owned()), line))
    })
}

impl View<'_> {
    fn key(&self, costs: &[i64]) -> std::cmp::Reverse<Vec<i64>> {
        std::cmp::Reverse(self.sort.iter().map(|at| costs.get(*at).copied().unwrap_or(0)).collect())
    }

    fn reaches(&self, costs: &[i64]) -> bool {
        let first = self.sort.first().and_then(|at| costs.get(*at)).copied().unwrap_or(0);
        first >= self.least
    }

    /// The functions of the source that are shown, those with the most first.
    fn functions<'w>(&self, written: &'w ByName) -> Vec<(&'w Name, &'w Written)> {
        let mut rows: Vec<_> = written.iter().filter(|(_, row)| self.reaches(&row.costs)).collect();
        rows.sort_by_key(|(_, row)| self.key(&row.costs));
        rows
    }

    /// The same of what was inlined into one place.
    fn inlined<'n>(&self, node: &'n Node) -> Vec<(&'n Call, &'n Node)> {
        let mut calls: Vec<_> = node.calls.iter().filter(|(_, call)| self.reaches(&call.all)).collect();
        calls.sort_by_key(|(_, call)| self.key(&call.all));
        calls
    }

    fn tree_of(&self, function: &Function<'_>, tree: &Node, metrics: &[Metric]) -> Tree {
        let head = Head::new(function, metrics);
        Tree { head, own: Figures::new(&tree.own, metrics), calls: self.calls_of(tree, metrics) }
    }

    fn calls_of(&self, node: &Node, metrics: &[Metric]) -> Vec<Inlined> {
        let inlined = self.inlined(node).into_iter();
        inlined
            .map(|(call, node)| {
                Inlined::new(call, (&node.all, &node.own), metrics, self.calls_of(node, metrics))
            })
            .collect()
    }

    fn written(&self, written: &ByName, out: &mut impl Write) -> std::io::Result<()> {
        let rows = self.functions(written);
        let table = self.shown.table(rows.iter().map(|(_, row)| Counts { own: &row.costs, running: None }));
        table.head(out)?;
        write!(out, " file:function\n\n")?;
        for ((file, name), row) in rows {
            table.line(out, Counts { own: &row.costs, running: None })?;
            write!(out, " ")?;
            out.write_all(file)?;
            write!(out, ":")?;
            out.write_all(name)?;
            let first = |costs: &[i64]| self.sort.first().and_then(|at| costs.get(*at)).copied().unwrap_or(0);
            let (inlined, all) = (first(&row.inlined), first(&row.costs));
            let share = if all > 0 { super::columns::share(inlined, all) } else { 0.0 };
            if share >= 0.05 {
                write!(out, "  [{share:.1}% inlined]")?;
            }
            writeln!(out)?;
        }
        writeln!(out)
    }

    fn tree(&self, function: &Function<'_>, tree: &Node, out: &mut impl Write) -> std::io::Result<()> {
        let total = Counts { own: &tree.all, running: None };
        let table = self.shown.table([total]);
        table.title(out, total, &[b" ", function.name].concat())?;
        self.calls(tree, 1, &table, out)?;
        writeln!(out)
    }

    fn calls(
        &self,
        node: &Node,
        depth: usize,
        table: &Table<'_>,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let indent = "  ".repeat(depth);
        if node.own != node.all && self.reaches(&node.own) {
            table.line(out, Counts { own: &node.own, running: None })?;
            writeln!(out, " {indent}(itself)")?;
        }
        for ((name, file, line), call) in self.inlined(node) {
            table.line(out, Counts { own: &call.all, running: None })?;
            writeln!(out, " {indent}{name}, called at {file}:{line}")?;
            if call.calls.values().any(|call| self.reaches(&call.all)) {
                self.calls(call, depth + 1, table, out)?;
            }
        }
        Ok(())
    }
}
