//! The shell: every command in a script and on a terminal, what bad input gets, and that looking changes nothing.

#[test]
fn the_reference_lists_the_commands() {
    let reference = cgemu::repl::reference();
    let text = include_str!("../docs/repl.md");
    assert!(text.trim_end().ends_with(reference.trim_end()), "docs/repl.md is to end with:\n{reference}");
}
