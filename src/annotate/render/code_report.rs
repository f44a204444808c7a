//! Machine code and inlined calls as JSON and as CSV; `docs/json.md` describes the documents.

use std::io::{self, Write};

use serde::Serialize;

use super::report::{Column, Csv, Figures, text, texts, write_json};
use crate::annotate::error::AnnotateError;
use crate::annotate::options::{Format, Options};
use crate::annotate::view::code::{Function, InlinedCall, InstructionRow};
use crate::annotate::view::inlined::{InlineTree, SourceRow};
use crate::annotate::view::metric::Metric;
use crate::console::Console;
use crate::profile::Instructions;

/// The version of the JSON form. It changes when a field is renamed, removed or given another
/// meaning, not when one is added.
const VERSION: u32 = 1;

/// A document. Every `counts` has a number for each of `events`, every `derived` one for each of
/// `derived`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CodeReport {
    format: &'static str,
    version: u32,
    profiles: Vec<String>,
    command: String,
    events: Vec<String>,
    derived: Vec<Column>,
    sort: Vec<String>,
    threshold: f64,
    /// Objects that are missing, with the reason.
    warnings: Vec<String>,
    total: Figures,
    /// The listings of `--asm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<Vec<Listing>>,
    /// Of `--inline`: the functions of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) written: Option<Vec<Written>>,
    /// Of `--inline`: the functions of the machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trees: Option<Vec<Tree>>,
}

/// A function of the machine code.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Listing {
    #[serde(flatten)]
    head: Head,
    instructions: Vec<Instruction>,
}

/// Name and place of a function of the machine code, and its counts.
#[derive(Clone, Debug, Serialize)]
struct Head {
    object: String,
    build: String,
    function: String,
    #[serde(flatten)]
    figures: Figures,
}

/// An instruction; all counts are 0 if it did not run.
#[derive(Clone, Debug, Serialize)]
struct Instruction {
    address: String,
    bytes: Option<String>,
    text: Option<String>,
    file: Option<String>,
    line: u64,
    hot: bool,
    /// The calls that it is in, outermost first, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    inlined: Option<Vec<InlinedCall>>,
    #[serde(flatten)]
    figures: Figures,
}

/// A function of the source.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Written {
    /// The file of its lines.
    file: String,
    /// Its name.
    function: String,
    /// Counts of all its code.
    #[serde(flatten)]
    figures: Figures,
    /// Counts of the code that was inlined into other functions.
    inlined: Figures,
}

/// A function with the calls that were inlined into it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tree {
    /// The function; its counts are those of all its code.
    #[serde(flatten)]
    head: Head,
    /// Counts without those of the calls.
    own: Figures,
    /// The calls.
    calls: Vec<Inlined>,
}

/// An inlined call with those inlined into it.
#[derive(Clone, Debug, Serialize)]
struct Inlined {
    #[serde(flatten)]
    site: InlinedCall,
    #[serde(flatten)]
    figures: Figures,
    own: Figures,
    calls: Vec<Inlined>,
}

impl CodeReport {
    /// A document without rows.
    pub(crate) fn new(
        options: &Options,
        instructions: &Instructions,
        (metrics, sort): (&[Metric], &[usize]),
        warnings: Vec<String>,
    ) -> CodeReport {
        let profiles = options.input.profiles.iter();
        CodeReport {
            format: "cgemu-code",
            version: VERSION,
            profiles: profiles.map(|name| name.to_string_lossy().into_owned()).collect(),
            command: text(&instructions.cmd),
            events: instructions.events.iter().map(|event| text(event)).collect(),
            derived: metrics.iter().map(Column::new).collect(),
            sort: texts(&instructions.events, sort),
            threshold: options.threshold,
            warnings,
            total: Figures::new(&instructions.total(), metrics),
            code: None,
            written: None,
            trees: None,
        }
    }

    /// Writes it as JSON or as CSV.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(&self, format: Format, out: &mut Console<impl Write>) -> Result<(), AnnotateError> {
        match format {
            Format::Json => write_json(self, out)?,
            _ => self.csv(out)?,
        }
        out.flush()?;
        Ok(())
    }

    fn csv(&self, out: &mut Console<impl Write>) -> io::Result<()> {
        let words: &[&str] = match &self.code {
            Some(_) => {
                &["kind", "object", "function", "address", "bytes", "instruction", "file", "line", "inlined"]
            }
            None => &["kind", "object", "function", "chain", "file", "line"],
        };
        let mut csv = Csv::new(out, words, &self.events, &self.derived, false)?;
        let mut row = |words: &[&str], figures: &Figures| csv.row(words, figures);
        row(&["total"], &self.total)?;
        for Listing { head, instructions } in self.code.iter().flatten() {
            row(&["function", &head.object, &head.function], &head.figures)?;
            for insn in instructions {
                let calls = insn.inlined.iter().flatten().rev();
                let inlined: Vec<String> = calls.map(ToString::to_string).collect();
                let words = [
                    "instruction",
                    &head.object,
                    &head.function,
                    &insn.address,
                    insn.bytes.as_deref().unwrap_or_default(),
                    insn.text.as_deref().unwrap_or_default(),
                    insn.file.as_deref().unwrap_or_default(),
                    &insn.line.to_string(),
                    &inlined.join("; "),
                ];
                row(&words, &insn.figures)?;
            }
        }
        for function in self.written.iter().flatten() {
            row(&["written", "", &function.function, "", &function.file], &function.figures)?;
        }
        for Tree { head, own, calls } in self.trees.iter().flatten() {
            row(&["function", &head.object, &head.function], &head.figures)?;
            tree_rows(head, "", own, calls, &mut row)?;
        }
        csv.flush()
    }
}

/// Writes the calls that were inlined into one place, whose own counts are `own`.
fn tree_rows(
    head: &Head,
    chain: &str,
    own: &Figures,
    calls: &[Inlined],
    row: &mut dyn FnMut(&[&str], &Figures) -> io::Result<()>,
) -> io::Result<()> {
    if !calls.is_empty() {
        row(&["itself", &head.object, &head.function, chain], own)?;
    }
    for Inlined { site, figures, own, calls } in calls {
        let link = if chain.is_empty() { "" } else { ";" };
        let chain = format!("{chain}{link}{}", site.function);
        let line = site.line.to_string();
        row(&["call", &head.object, &head.function, &chain, &site.file, &line], figures)?;
        tree_rows(head, &chain, own, calls, row)?;
    }
    Ok(())
}

impl Head {
    fn new(function: &Function<'_>, metrics: &[Metric]) -> Head {
        Head {
            object: text(&function.object.path),
            build: function.object.identity.clone(),
            function: text(function.name),
            figures: Figures::new(&function.costs, metrics),
        }
    }
}

impl Listing {
    /// The instructions of `function`, with their inlined calls if `inline` is set.
    pub(crate) fn new(
        function: &Function<'_>,
        rows: Vec<InstructionRow<'_>>,
        metrics: &[Metric],
        inline: bool,
    ) -> Listing {
        let nothing = vec![0; function.costs.len()];
        let instruction = |row: InstructionRow<'_>| {
            let (bytes, words) = row.code.unzip();
            let (file, line) = row.place.unzip();
            Instruction {
                address: format!("{:#x}", row.address),
                bytes: bytes.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
                text: words,
                file: file.map(|file| text(&file)),
                line: line.unwrap_or(0),
                hot: row.hot,
                inlined: inline.then_some(row.calls),
                figures: Figures::new(row.counts.unwrap_or(&nothing), metrics),
            }
        };
        Listing {
            head: Head::new(function, metrics),
            instructions: rows.into_iter().map(instruction).collect(),
        }
    }
}

impl Written {
    /// The row of a function of the source.
    pub(crate) fn new(row: &SourceRow<'_>, metrics: &[Metric]) -> Written {
        Written {
            file: text(row.file),
            function: text(row.function),
            figures: Figures::new(row.costs, metrics),
            inlined: Figures::new(row.inlined, metrics),
        }
    }
}

impl Tree {
    /// The tree of a function.
    pub(crate) fn new(function: &Function<'_>, tree: &InlineTree, metrics: &[Metric]) -> Tree {
        Tree {
            head: Head::new(function, metrics),
            own: Figures::new(&tree.own, metrics),
            calls: Inlined::all(tree, metrics),
        }
    }
}

impl Inlined {
    /// The calls that were inlined into one place.
    fn all(tree: &InlineTree, metrics: &[Metric]) -> Vec<Inlined> {
        let calls = tree.calls.iter().map(|(call, tree)| Inlined {
            site: call.clone(),
            figures: Figures::new(&tree.all, metrics),
            own: Figures::new(&tree.own, metrics),
            calls: Inlined::all(tree, metrics),
        });
        calls.collect()
    }
}
