//! `cgemu completions` and `cgemu man`, made from the definition of the command line.

use anyhow::{Context as _, Error, bail};
use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Cli;

/// The completion script of a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cgemu", &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The manual page of cgemu, or that of one of its commands.
///
/// # Errors
/// A command that is not there.
pub(super) fn man(command: Option<&str>) -> Result<String, Error> {
    let mut root = Cli::command();
    root.build();
    let page = match command {
        None => root,
        Some(name) => {
            let Some(found) = root.find_subcommand(name) else {
                bail!("there is no command '{name}'; cgemu --help lists them");
            };
            // `build` has named it cgemu-run, as git names its pages.
            found.clone()
        }
    };
    let mut out = Vec::new();
    clap_mangen::Man::new(page).render(&mut out).context("manual page")?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_gets_the_options() {
        use clap::ValueEnum as _;
        for shell in Shell::value_variants() {
            assert!(completions(*shell).contains("cachegrind-out-file"), "{shell}");
        }
    }

    #[test]
    fn pages() {
        assert!(man(None).expect("page").contains(".TH cgemu 1"));
        let run = man(Some("run")).expect("page");
        assert!(run.contains(".TH cgemu-run 1") && run.contains("branch\\-sim"), "{run}");
        assert!(man(Some("nonsense")).is_err());
    }
}
