//! `cgemu completions` and `cgemu man`, made from the definition of the command line.

use anyhow::{Context as _, Error, bail};
use clap::Command;
use clap::builder::StyledStr;
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::definition;
use super::environment::GUEST_PATH;

/// Commands whose last words are a program and its arguments.
const PROGRAM_COMMANDS: [&str; 2] = ["run", "repl"];

/// The completion script of a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut root = definition();
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut root, "cgemu", &mut out);
    let mut script = String::from_utf8_lossy(&out).into_owned();
    // Zsh knows what a program and its arguments are; for these two clap_complete has nothing.
    match shell {
        Shell::Bash => script.push_str(&bash_programs(&root)),
        Shell::Fish => script.push_str(&format!(
            "complete -c cgemu -n \"__fish_seen_subcommand_from {}\" -x -a \"(__fish_complete_subcommand --fcs-skip=2)\"\n",
            PROGRAM_COMMANDS.join(" ")
        )),
        _ => {}
    }
    script
}

/// Completion of the program and its arguments for bash, around the generated function.
fn bash_programs(root: &Command) -> String {
    let mut valued: Vec<String> = Vec::new();
    for command in PROGRAM_COMMANDS.iter().filter_map(|name| root.find_subcommand(name)) {
        let options =
            command.get_opts().filter(|option| option.get_num_args().is_none_or(|n| n.takes_values()));
        valued.extend(options.filter_map(|option| option.get_long()).map(|name| format!("--{name}")));
    }
    valued.sort();
    valued.dedup();
    let directories = GUEST_PATH.replace(':', " ");
    format!(
        r#"
# The program of `cgemu run` and its arguments: commands where the guest looks for them, then files.
_cgemu_programs() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} i=2 file directory
    case ${{COMP_WORDS[1]}} in
    {commands}) ;;
    *) _cgemu "$@"; return ;;
    esac
    while ((i < COMP_CWORD)); do
        case ${{COMP_WORDS[i]}} in
        --) ((i += 1)); break ;;
        {valued}) [[ ${{COMP_WORDS[i + 1]}} == = ]] && ((i += 1)); ((i += 2)) ;;
        -*) ((i += 1)) ;;
        *) break ;;
        esac
    done
    # Still in an option, or at the beginning of one.
    if ((i > COMP_CWORD)) || {{ ((i == COMP_CWORD)) && [[ $cur == -* && ${{COMP_WORDS[i - 1]}} != -- ]]; }}; then
        _cgemu "$@"
        return
    fi
    compopt -o filenames
    COMPREPLY=($(compgen -f -- "$cur"))
    if ((i == COMP_CWORD)) && [[ $cur != */* ]]; then
        for directory in {directories}; do
            for file in "$directory/$cur"*; do
                [[ -f $file && -x $file ]] && COMPREPLY+=("${{file##*/}}")
            done
        done
    fi
}}
complete -F _cgemu_programs -o bashdefault -o default cgemu
"#,
        commands = PROGRAM_COMMANDS.join(" | "),
        valued = valued.join(" | "),
    )
}

/// The manual page of cgemu, or that of one of its commands.
///
/// # Errors
/// A command that is not there.
pub(super) fn man(command: Option<&str>) -> Result<String, Error> {
    let mut root = definition();
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
    let below = page.get_after_long_help().map(StyledStr::to_string).unwrap_or_default();
    let has_version = page.get_version().is_some();
    let has_commands = page.get_subcommands().next().is_some();
    let mut out = Vec::new();
    let man = Man::new(page);
    man.render_title(&mut out)
        .and_then(|()| man.render_name_section(&mut out))
        .and_then(|()| man.render_synopsis_section(&mut out))
        .and_then(|()| man.render_description_section(&mut out))
        .and_then(|()| man.render_options_section(&mut out))
        .and_then(|()| if has_commands { man.render_subcommands_section(&mut out) } else { Ok(()) })
        .and_then(|()| {
            out.extend(sections(&below).into_bytes());
            if has_version { man.render_version_section(&mut out) } else { Ok(()) }
        })
        .context("manual page")?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The text below the options as sections of a manual page (man-pages(7)).
fn sections(below: &str) -> String {
    let (mut notes, mut status, mut examples) = (String::new(), String::new(), String::new());
    for paragraph in below.split("\n\n") {
        if let Some(lines) = paragraph.strip_prefix("Examples:\n") {
            examples = format!(".SH EXAMPLES\n.nf\n{}.fi\n", escaped(lines));
        } else if let Some(text) = paragraph.strip_prefix("Exit status: ") {
            status = format!(".SH \"EXIT STATUS\"\n{}", escaped(&sentence(text)));
        } else if let Some(text) = paragraph.strip_prefix("Exit status, ") {
            status = format!(".SH \"EXIT STATUS\"\n{}", escaped(&sentence(text)));
        } else if !paragraph.is_empty() {
            let before = if notes.is_empty() { ".SH NOTES\n" } else { ".PP\n" };
            notes.push_str(&format!("{before}{}", escaped(paragraph)));
        }
    }
    notes + &status + &examples
}

/// Text with a capital at its beginning.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// Lines that roff prints as they are.
fn escaped(text: &str) -> String {
    text.lines()
        .map(|line| {
            let line = line.replace('\\', "\\e").replace('-', "\\-");
            let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
            format!("{guard}{line}\n")
        })
        .collect()
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

    #[test]
    fn every_page_has_examples_and_statuses() {
        for command in definition().get_subcommands() {
            let page = man(Some(command.get_name())).expect("page");
            for section in [".SH EXAMPLES\n.nf\n  cgemu", ".SH \"EXIT STATUS\"\n", ".SH DESCRIPTION"] {
                assert_eq!(page.matches(section).count(), 1, "{}: {section}", command.get_name());
            }
        }
        assert_eq!(escaped("a \\ b\n.c\n--d"), "a \\e b\n\\&.c\n\\-\\-d\n");
    }
}
