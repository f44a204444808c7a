//! Machine code and inlining as values: what `annotate --asm` and `annotate --inline` write as JSON and as CSV.

use std::io::{self, Write};

use serde::Serialize;

use super::asm::{Function, Row};
use super::derive::Metric;
use super::inline::Call;
use super::report::{Column, Figures, Number, text, texts};
use super::{AnnotateError, Format, Options};
use crate::profile::Instructions;

/// The version of the JSON form. It changes when a field is renamed, removed or given another meaning, not when one is
/// added.
const VERSION: u32 = 1;

/// One document. Every `counts` has a number for each of `events`, every `derived` one for each of `derived`.
#[derive(Clone, Debug, Serialize)]
pub struct CodeReport {
    format: &'static str,
    version: u32,
    profiles: Vec<String>,
    command: String,
    events: Vec<String>,
    derived: Vec<Column>,
    sort: Vec<String>,
    threshold: f64,
    /// What is missing, and why.
    warnings: Vec<String>,
    total: Figures,
    /// Of `--asm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Vec<Listing>>,
    /// Of `--inline`: the functions of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Vec<Written>>,
    /// Of `--inline`: the functions of the machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trees: Option<Vec<Tree>>,
}

/// A function of the machine code.
#[derive(Clone, Debug, Serialize)]
pub struct Listing {
    #[serde(flatten)]
    head: Head,
    instructions: Vec<Instruction>,
}

/// What a function of the machine code is called, where it is, and what it cost.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
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
    inlined: Option<Vec<Site>>,
    #[serde(flatten)]
    figures: Figures,
}

/// A call that was replaced by the code of the callee.
#[derive(Clone, Debug, Serialize)]
struct Site {
    function: String,
    /// Where the call is.
    file: String,
    line: u32,
}

/// A function of the source, wherever its code ended up.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// The file of its lines.
    pub file: String,
    /// Its name.
    pub function: String,
    /// What it cost.
    #[serde(flatten)]
    pub figures: Figures,
    /// What of that is in other functions.
    pub inlined: Figures,
}

/// A function with what was inlined into it.
#[derive(Clone, Debug, Serialize)]
pub struct Tree {
    /// The function; its counts are those of all its code.
    #[serde(flatten)]
    pub head: Head,
    /// What it cost without what was inlined.
    pub own: Figures,
    /// What was inlined.
    pub calls: Vec<Inlined>,
}

/// The same of an inlined call.
#[derive(Clone, Debug, Serialize)]
pub struct Inlined {
    #[serde(flatten)]
    site: Site,
    #[serde(flatten)]
    figures: Figures,
    own: Figures,
    calls: Vec<Inlined>,
}

impl CodeReport {
    /// A document that says what was read and what is wrong with it, and has no rows yet.
    pub fn new(
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

    /// Writes it in the form that is asked for.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, format: Format, out: &mut impl Write) -> Result<(), AnnotateError> {
        match format {
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, self).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            _ => self.csv(out)?,
        }
        out.flush()?;
        Ok(())
    }

    fn csv(&self, out: &mut impl Write) -> io::Result<()> {
        let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        let keys: &[&str] = match &self.code {
            Some(_) => {
                &["kind", "object", "function", "address", "bytes", "instruction", "file", "line", "inlined"]
            }
            None => &["kind", "object", "function", "chain", "file", "line"],
        };
        let names = keys.iter().copied().chain(self.events.iter().map(String::as_str));
        csv.write_record(names.chain(self.derived.iter().map(|column| column.name)))?;
        // The first words of the keys; the rest of the keys stay empty.
        let mut row = |words: &[&str], figures: &Figures| -> io::Result<()> {
            let words = words.iter().copied().chain(std::iter::repeat("")).take(keys.len());
            let counts = figures.counts.iter().map(i64::to_string);
            let derived = figures.derived.iter().map(Number::text);
            Ok(csv.write_record(words.map(str::to_owned).chain(counts).chain(derived))?)
        };
        row(&["total"], &self.total)?;
        for Listing { head, instructions } in self.code.iter().flatten() {
            row(&["function", &head.object, &head.function], &head.figures)?;
            for insn in instructions {
                let calls = insn.inlined.iter().flatten().rev();
                let inlined: Vec<String> = calls
                    .map(|site| format!("{}, called at {}:{}", site.function, site.file, site.line))
                    .collect();
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

/// Writes what was inlined into one place, whose own counts are `own`.
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
    /// That of `function`.
    pub fn new(function: &Function<'_>, metrics: &[Metric]) -> Head {
        Head {
            object: text(&function.object.path),
            build: function.object.identity.clone(),
            function: text(function.name),
            figures: Figures::new(&function.costs, metrics),
        }
    }
}

impl Listing {
    /// The instructions of `function`, with the calls that they are in if `inline` says so.
    pub fn new(function: &Function<'_>, rows: Vec<Row<'_>>, metrics: &[Metric], inline: bool) -> Listing {
        let nothing = vec![0; function.costs.len()];
        let instruction = |row: Row<'_>| {
            let (bytes, words) = row.code.unzip();
            let (file, line) = row.place.unzip();
            Instruction {
                address: format!("{:#x}", row.address),
                bytes: bytes.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
                text: words,
                file: file.map(|file| text(&file)),
                line: line.unwrap_or(0),
                hot: row.hot,
                inlined: inline.then(|| row.calls.iter().map(Site::new).collect()),
                figures: Figures::new(row.costs.unwrap_or(&nothing), metrics),
            }
        };
        Listing {
            head: Head::new(function, metrics),
            instructions: rows.into_iter().map(instruction).collect(),
        }
    }
}

impl Site {
    fn new((function, file, line): &Call) -> Site {
        Site { function: function.clone(), file: file.clone(), line: *line }
    }
}

impl Inlined {
    /// The call with its counts, `all` of them and its `own`.
    pub fn new(
        call: &Call,
        (all, own): (&[i64], &[i64]),
        metrics: &[Metric],
        calls: Vec<Inlined>,
    ) -> Inlined {
        Inlined {
            site: Site::new(call),
            figures: Figures::new(all, metrics),
            own: Figures::new(own, metrics),
            calls,
        }
    }
}
