//! The boxes that `cg_annotate` prints among the source lines. Their text is part of the layout.

/// Characters of a box's edge.
const WIDTH: usize = 79;

/// The source file was changed after the profile `profile` was written.
pub(crate) fn newer(source: &[u8], profile: &[u8], out: &mut Vec<u8>) {
    title(out);
    line(out, &[b"@ Source file '", source, b"' is more recent than input file '", profile, b"'."]);
    line(out, &[b"@ Annotations may not be correct."]);
    edge(out);
    out.push(b'\n');
}

/// There are counts for lines that the source file does not have; `newer` says that it was changed
/// since.
pub(crate) fn past_the_end(source: &[u8], newer: bool, out: &mut Vec<u8>) {
    title(out);
    line(out, &[b"@@"]);
    line(out, &[b"@@ Information recorded about lines past the end of '", source, b"'."]);
    line(out, &[b"@@"]);
    line(out, &[b"@@ Probable cause and solution:"]);
    if newer {
        line(out, &[b"@@ cause:    '", source, b"' has changed since information was gathered."]);
        line(out, &[b"@@           If so, a warning will have already been issued about this."]);
        line(out, &[b"@@ solution: Recompile program and rerun under \"valgrind --cachesim=yes\" to "]);
        line(out, &[b"@@           gather new information."]);
    } else if source.ends_with(b".h") {
        line(out, &[b"@@ cause:    bug in the Valgrind's debug info reader that screws up with .h"]);
        line(out, &[b"@@           files sometimes"]);
        line(out, &[b"@@ solution: none, sorry"]);
    } else {
        line(out, &[b"@@ cause:    not sure, sorry"]);
    }
    line(out, &[b"@@"]);
    edge(out);
}

fn title(out: &mut Vec<u8>) {
    edge(out);
    line(out, &[&b"@@ WARNING ".repeat(7), b"@@"]);
    edge(out);
}

fn edge(out: &mut Vec<u8>) {
    line(out, &[&b"@".repeat(WIDTH)]);
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'\n');
}
