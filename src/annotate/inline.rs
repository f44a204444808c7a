//! `annotate --inline`: costs by the functions of the source, also where the compiler inlined one
//! into another. Cachegrind counts inlined code for the function that it ended up in.

use std::collections::BTreeMap;
use std::io::Write;

use super::error::AnnotateError;
use super::options::{Format, Options};
use super::render::code::inline_tree;
use super::render::code_report::{CodeReport, Tree, Written};
use super::render::columns::Shown;
use super::render::functions::sources;
use super::render::text::{heading, warning};
use super::side::{choose, head, inlined_calls, open_object, read_side_files};
use super::view::code::{Function, functions};
use super::view::inlined::{InlineTree, SourceFunctions};
use super::view::ranking::{Order, Sign, Threshold};
use crate::console::Console;

/// Reads the side files and writes the functions of the source by their costs, then the trees of
/// calls inlined into functions of the machine code: into the function `name`, or into all that
/// reach the threshold.
///
/// # Errors
/// As those of [`super::annotate_asm`].
pub(crate) fn annotate_inline(
    options: &Options,
    name: Option<&str>,
    out: &mut Console<impl Write>,
) -> Result<(), AnnotateError> {
    let instructions = read_side_files(&options.input)?;
    let total = instructions.total();
    let (shown, sort) = Shown::new(options, &instructions.events, &total)?;
    let order = Order { first: None, sort: &sort, sign: Sign::Kept };
    let functions = functions(&instructions, &order);
    let threshold = Threshold::new(&order, &total, options.threshold);
    let chosen = choose(&functions, name, threshold)?;
    let mut written = SourceFunctions::default();
    let mut trees = Vec::new();
    let mut problems = Vec::new();
    // Each object is opened once: its functions are put together.
    let mut by_object: BTreeMap<(&[u8], &str), Vec<&Function<'_>>> = BTreeMap::new();
    for function in &functions {
        by_object.entry((&function.object.path, &function.object.identity)).or_default().push(function);
    }
    for functions in by_object.values() {
        let Some(first) = functions.first() else { continue };
        let object =
            open_object(first.object, &options.places.reach).map_err(|problem| problems.extend(problem)).ok();
        let calls = |address| match &object {
            Some(object) => inlined_calls(object, address, &options.input.renaming),
            None => Vec::new(),
        };
        for function in functions {
            trees.push((*function, written.add(function, calls, &order, threshold)));
        }
    }
    // A tree without calls is shown only if it is asked for by name.
    let trees: Vec<(&Function<'_>, &InlineTree)> = chosen
        .into_iter()
        .filter_map(|function| trees.iter().find(|(other, _)| std::ptr::eq(*other, function)))
        .filter(|(_, tree)| name.is_some() || !tree.calls.is_empty())
        .map(|(function, tree)| (*function, tree))
        .collect();
    let rows = written.ranking(&order, threshold);
    if options.format != Format::Text {
        let metrics = &shown.metrics;
        let mut report = CodeReport::new(options, &instructions, (metrics, &sort), problems);
        report.written = Some(rows.iter().map(|row| Written::new(row, metrics)).collect());
        report.trees =
            Some(trees.into_iter().map(|(function, tree)| Tree::new(function, tree, metrics)).collect());
        return report.write(options.format, out);
    }
    head(options, &instructions, &shown, &sort, out)?;
    for problem in problems {
        warning(out, format!("@@ {problem}\n").as_bytes())?;
        writeln!(out)?;
    }
    heading(out, b"File:function summary, inlined code where it was written")?;
    sources(&rows, sort.first().copied().unwrap_or(usize::MAX), &shown, out)?;
    for (function, tree) in trees {
        heading(out, &[b"Inlined into ", &*function.object.path, b":", function.name].concat())?;
        inline_tree(function.name, tree, threshold, &shown, out)?;
    }
    out.flush()?;
    Ok(())
}
