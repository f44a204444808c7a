//! Flame graphs: SVG with a script for search and zoom, and folded stacks for other tools.

use std::io::{self, Write};

use crate::annotate::view::stacks::{Frame, Stacks, Subject};
use crate::console::one_line;

/// Searches, zooms; without it the picture stands still.
const SCRIPT: &str = include_str!("flame.js");
/// Width of the picture, of its margins, of a character; height of a frame and of the title.
const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const LETTER: f64 = 7.3;
const FRAME: usize = 17;
const TITLE: usize = 76;

/// The words of a picture.
pub(crate) struct Labels<'a> {
    /// File and name of a function.
    pub(crate) functions: &'a dyn Fn(usize) -> (&'a [u8], &'a [u8]),
    /// The event.
    pub(crate) event: &'a str,
    /// The command that was profiled.
    pub(crate) command: &'a [u8],
    /// There is a profile before this one.
    pub(crate) compared: bool,
}

impl Labels<'_> {
    fn name(&self, subject: Subject) -> String {
        match subject {
            Subject::All => "all".to_owned(),
            Subject::Function(function) => {
                one_line(&String::from_utf8_lossy((self.functions)(function).1)).into_owned()
            }
            Subject::Cycle(number, functions) => format!("<cycle {number}: {functions} functions>"),
        }
    }
}

/// Writes a line for each stack: names from the outermost, separated by `;`, and its own costs; of
/// a comparison the costs before, then those now.
///
/// # Errors
/// Those of `out`.
pub(crate) fn folded(stacks: &Stacks, labels: &Labels<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut open = ordered(stacks, labels, 0);
    let mut path: Vec<String> = Vec::new();
    while let Some(frame) = open.pop().and_then(|at| Some((at, stacks.frames.get(at)?))) {
        let (at, frame) = frame;
        path.truncate(frame.level.saturating_sub(1));
        path.push(labels.name(frame.subject).replace(';', ":"));
        open.extend(ordered(stacks, labels, at));
        match frame.own {
            [0, 0] => {}
            [now, before] if labels.compared => writeln!(out, "{} {before} {now}", path.join(";"))?,
            [now, _] => writeln!(out, "{} {now}", path.join(";"))?,
        }
    }
    let rest = stacks.frames.first().map_or([0; 2], |all| all.own);
    match rest {
        [0, 0] => Ok(()),
        [now, before] if labels.compared => writeln!(out, "all {before} {now}"),
        [now, _] => writeln!(out, "all {now}"),
    }
}

/// The callees of a frame, the last in the order of names first.
fn ordered(stacks: &Stacks, labels: &Labels<'_>, at: usize) -> Vec<usize> {
    let mut callees = stacks.frames.get(at).map(|frame| frame.callees.clone()).unwrap_or_default();
    callees.sort_by_cached_key(|at| {
        let subject = stacks.frames.get(*at).map_or(Subject::All, |frame| frame.subject);
        (labels.name(subject), *at)
    });
    callees.reverse();
    callees
}

/// Writes a picture that needs nothing beside it.
///
/// # Errors
/// Those of `out`.
pub(crate) fn svg(stacks: &Stacks, labels: &Labels<'_>, out: &mut impl Write) -> io::Result<()> {
    let Some(all) = stacks.frames.first() else { return Ok(()) };
    let deepest = stacks.frames.iter().map(|frame| frame.level).max().unwrap_or_default();
    let height = TITLE + (deepest + 1) * FRAME + 10;
    let change = |frame: &Frame| i128::from(frame.costs[0]) - i128::from(frame.costs[1]);
    let most = stacks.frames.iter().map(|frame| change(frame).unsigned_abs()).max().unwrap_or_default();
    let (event, command) = (escaped(labels.event), escaped(&String::from_utf8_lossy(labels.command)));
    writeln!(
        out,
        r##"<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="12">
<title>{event}: {command}</title>
<rect width="100%" height="100%" fill="#fffdf8"/>
<text x="600" y="20" text-anchor="middle" font-size="15">{event}: {command}</text>
<text x="600" y="38" text-anchor="middle" fill="#666">Calls are known by pairs: a function's costs are shared by what its callers' calls cost{}</text>
<text id="reset" x="10" y="58" cursor="pointer" fill="#06c">Reset zoom (Esc)</text>
<text id="search" x="150" y="58" cursor="pointer" fill="#06c">Search (/)</text>
<text id="found" x="260" y="58"></text>"##,
        if labels.compared { "; red: more than before, blue: less" } else { "" }
    )?;
    let mut open = vec![(0, 0)];
    while let Some((at, start)) = open.pop() {
        let Some(frame) = stacks.frames.get(at) else { continue };
        let mut next = start;
        for callee in ordered(stacks, labels, at).into_iter().rev() {
            open.push((callee, next));
            next += stacks.frames.get(callee).map_or(0, |frame| frame.costs[0]);
        }
        // What is gone has no width; folded stacks have it.
        if frame.costs[0] == 0 && at != 0 {
            continue;
        }
        let share = |cost: u64| if all.costs[0] == 0 { 1.0 } else { cost as f64 / all.costs[0] as f64 };
        let (left, wide) = (share(start), share(frame.costs[0]));
        let span = WIDTH - 2.0 * MARGIN;
        let (x, width) = (MARGIN + left * span, wide * span);
        let y = TITLE + (deepest - frame.level) * FRAME;
        let name = labels.name(frame.subject);
        let file = match frame.subject {
            Subject::Function(function) => {
                let file = String::from_utf8_lossy((labels.functions)(function).0).into_owned();
                format!(" ({})", one_line(&file))
            }
            _ => String::new(),
        };
        let changed = match labels.compared {
            true => format!(", {:+} since {}", change(frame), frame.costs[1]),
            false => String::new(),
        };
        let colour = if labels.compared { difference(change(frame), most) } else { warm(&name) };
        writeln!(
            out,
            r#"<g class="frame" data-x="{left:.9}" data-w="{wide:.9}" data-l="{}" data-n="{}"><title>{}{}: {} {event} ({:.2}%), own {}{changed}</title><rect x="{x:.2}" y="{y}" width="{width:.2}" height="16" rx="1" fill="{colour}"/><text x="{:.2}" y="{}">{}</text></g>"#,
            frame.level,
            escaped(&name),
            escaped(&name),
            escaped(&file),
            frame.costs[0],
            100.0 * wide,
            frame.own[0],
            x + 3.0,
            y + 12,
            escaped(&fitting(&name, width)),
        )?;
    }
    writeln!(out, "<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>")
}

/// The beginning of a name that fits into a width.
fn fitting(name: &str, width: f64) -> String {
    let room = ((width - 6.0) / LETTER).max(0.0) as usize;
    match name.chars().count() {
        count if count <= room => name.to_owned(),
        _ if room < 3 => String::new(),
        _ => name.chars().take(room - 2).chain("..".chars()).collect(),
    }
}

/// A colour between red and yellow that depends on the name alone.
fn warm(name: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("hsl({},{}%,{}%)", 5 + hash % 45, 75 + (hash >> 8) % 20, 60 + (hash >> 16) % 12)
}

/// Red for more, blue for less, white for none.
fn difference(change: i128, most: u128) -> String {
    let share = change.unsigned_abs() as f64 / most.max(1) as f64;
    let light = 97.0 - 42.0 * share.sqrt();
    format!("hsl({},90%,{light:.0}%)", if change < 0 { 215 } else { 5 })
}

/// Text for XML 1.0, in one line, without the characters that it excludes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("a<b>&\"c\"\x1b\n"), "a&lt;b&gt;&amp;&quot;c&quot;^[^J");
        assert_eq!(escaped("]]>\u{ffff}"), "]]&gt;\u{fffd}");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(fitting("function", 100.0), "function");
        assert_eq!(fitting("function", 6.0 + 5.5 * LETTER), "fun..");
        assert_eq!(fitting("function", 10.0), "");
    }
}
