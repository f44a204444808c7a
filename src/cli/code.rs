//! The options of `cgemu annotate` that look into machine code and sources.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::lookup::reason;
use crate::annotate::{AsmOptions, Places, Reach, SourcePath, Syntax};

/// The options of machine code and inlined calls.
#[derive(Args, Debug)]
pub(super) struct CodeArgs {
    /// Show the machine code of this function with the counts of each instruction; without a name,
    /// of all functions that reach the threshold. Needs the side file that `cgemu run
    /// --dump-instr=yes` writes
    #[arg(long, value_name = "FUNCTION", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["diff", "inclusive"])]
    pub(super) asm: Option<String>,

    /// How --asm writes instructions
    #[arg(long, value_name = "att|intel", default_value = "att", value_parser = syntax)]
    pub(super) asm_syntax: Syntax,

    /// Show what was inlined into this function, and functions by their costs wherever they were
    /// inlined; without a name, into all functions that reach the threshold. Needs the same side
    /// file. Beside --asm it takes no name, and shows which instructions were inlined
    #[arg(long, value_name = "FUNCTION", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["diff", "inclusive"])]
    pub(super) inline: Option<String>,

    /// Look for source files that were recorded below FROM below TO; may be repeated
    #[arg(long, value_name = "FROM=TO", action = ArgAction::Append)]
    pub(super) source_path: Vec<SourcePath>,

    /// The files that may be opened.
    #[command(flatten)]
    pub(super) roots: RootArgs,
}

/// The option that limits the files that a view opens.
#[derive(Args, Debug)]
pub(super) struct RootArgs {
    /// Open source files, objects and debug information only below DIR; may be repeated. Without
    /// it, annotating a profile of somebody else shows lines of any file that it names and that you
    /// may read. Links and .. do not lead out
    #[arg(long, value_name = "DIR", action = ArgAction::Append)]
    pub(super) source_root: Vec<PathBuf>,
}

impl RootArgs {
    /// The files that a reader may open.
    ///
    /// # Errors
    /// A directory that cannot be opened.
    pub(super) fn reach(&self) -> Result<Reach, String> {
        reach(&self.source_root)
    }
}

impl CodeArgs {
    /// The options of `--asm`, if it is given.
    pub(super) fn asm(&self) -> Option<AsmOptions> {
        let function = given(self.asm.as_ref()?).map(str::to_owned);
        Some(AsmOptions { function, syntax: self.asm_syntax, inline: self.inline.is_some() })
    }

    /// The places of source files and objects.
    ///
    /// # Errors
    /// A directory that cannot be opened.
    pub(super) fn places(&self) -> Result<Places, String> {
        Ok(Places { moved: self.source_path.clone(), reach: self.roots.reach()? })
    }

    /// Checks the options against each other.
    ///
    /// # Errors
    /// If two functions are named.
    pub(super) fn check(&self) -> Result<(), String> {
        match (&self.asm, self.inline.as_deref().and_then(given)) {
            (Some(_), Some(name)) => {
                Err(format!("--inline={name} beside --asm: name the function there, --asm={name} --inline"))
            }
            _ => Ok(()),
        }
    }

    /// The function that `--inline` asks for, if it is given: `Some(None)` for all.
    pub(super) fn inline(&self) -> Option<Option<&str>> {
        self.inline.as_deref().map(given)
    }
}

/// The files that a reader may open.
///
/// # Errors
/// A directory that cannot be opened.
pub(super) fn reach(roots: &[PathBuf]) -> Result<Reach, String> {
    Reach::below(roots).map_err(|(path, error)| {
        format!("--source-root={}: {}; name a directory", path.display(), reason(&error))
    })
}

fn given(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty())
}

fn syntax(text: &str) -> Result<Syntax, String> {
    match text {
        "att" => Ok(Syntax::Att),
        "intel" => Ok(Syntax::Intel),
        _ => Err("say att or intel".to_owned()),
    }
}
