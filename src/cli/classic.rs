//! `cgemu annotate --classic`: the report of `cg_annotate` of Valgrind 3.19, with that program's options.

use std::ffi::OsString;

use super::complain;
use super::merge::to_stdout;
use crate::annotate::classic::{Options, USAGE, annotate};
use crate::annotate::failure::Failure;

/// The words after `annotate` if `--classic` is among them, without it. They are not for clap: the order of
/// `--include` and source files matters, and `-Idir` has its own forms.
pub fn words(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let (command, words) = arguments.get(1..)?.split_first()?;
    let classic = command == "annotate" && words.iter().any(|word| word == "--classic");
    classic.then(|| words.iter().filter(|word| *word != "--classic").cloned().collect())
}

/// Prints the report; returns the exit status.
pub fn classic(words: &[OsString]) -> u8 {
    let mut text = Vec::new();
    let result = Options::parse(words.iter().map(OsString::as_os_str)).and_then(|options| match options {
        Some(options) => annotate(&options, &mut text, &mut |warning| {
            complain(&warning);
        }),
        None => {
            text.extend_from_slice(USAGE.as_bytes());
            Ok(())
        }
    });
    // What was done before a failure is shown, as cg_annotate does.
    let written = to_stdout(|out| out.write_all(&text)).map_err(Failure::new);
    match result.and(written) {
        Ok(()) => 0,
        Err(failure) => {
            complain(&failure.message);
            failure.status
        }
    }
}
