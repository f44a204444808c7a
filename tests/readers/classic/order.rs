//! Takes the order of Perl's hashes out of what its programs print, and nothing else.

use std::collections::VecDeque;

/// Ends a block of the report.
const RULE: &str = "--------------------------------------------------------------------------------";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What `cg_diff` prints, its functions ordered by file and function.
pub fn difference(bytes: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    assert!(lines.len() >= 4, "three lines at the head, one at the end");
    let (head, rest) = lines.split_at(3);
    let (summary, functions) = rest.split_last().expect("a summary");
    let mut functions: Vec<&[&[u8]]> = functions.chunks(3).collect();
    functions.sort_by_key(|lines| {
        [&lines[0][..lines[0].len() - 1], b"###", lines[1].get(3..).expect("fn=")].concat()
    });
    [head, &functions.concat(), &[*summary]].concat().concat()
}

/// What `cg_annotate` prints as blocks: the functions as a sorted list (their order is compared by
/// [`sort_columns`]), the annotated files sorted by their whole text.
pub fn report(bytes: &[u8]) -> Vec<u8> {
    let text = text(bytes);
    let mut lines: VecDeque<&str> = text.split('\n').collect();
    let mut out: Vec<String> = Vec::new();
    let mut files: Vec<String> = Vec::new();
    while let Some(line) = lines.pop_front() {
        let next = lines.front().copied().unwrap_or_default();
        if line == RULE
            && (next.starts_with("-- Auto-annotated source") || next.starts_with("-- User-annotated source"))
        {
            files.push(String::new());
        } else if line == RULE
            && (next.starts_with("The following files")
                || lines.get(2).is_some_and(|line| line.ends_with("events annotated")))
        {
            // The end of the last file's part.
            out.append(&mut sorted(std::mem::take(&mut files)));
        }
        if let Some(file) = files.last_mut() {
            file.push_str(line);
            file.push('\n');
        } else if line.ends_with(" file:function") {
            out.push(line.to_owned());
            out.extend(lines.pop_front().map(str::to_owned));
            out.append(&mut sorted(functions(&mut lines)));
        } else if line.starts_with("User annotated:") {
            let mut names = vec![line.get(18..).unwrap_or_default().to_owned()];
            while let Some(line) = next_if(&mut lines, |line| line.starts_with(&" ".repeat(18))) {
                names.push(line.get(18..).unwrap_or_default().to_owned());
            }
            out.push("User annotated:".to_owned());
            out.append(&mut sorted(names));
        } else {
            out.push(line.to_owned());
        }
    }
    out.append(&mut sorted(files));
    out.join("\n").into_bytes()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// The next line, if it is of this kind.
fn next_if<'a>(lines: &mut VecDeque<&'a str>, kind: impl Fn(&str) -> bool) -> Option<&'a str> {
    if lines.front().is_some_and(|line| kind(line)) { lines.pop_front() } else { None }
}

fn functions(lines: &mut VecDeque<&str>) -> Vec<String> {
    let mut functions = Vec::new();
    while let Some(line) = next_if(lines, |line| !line.is_empty()) {
        functions.push(line.to_owned());
    }
    functions
}

/// The counts of each function, in their order, of the events that decide the order and are shown:
/// what stands above one another must be equal in both, whatever the names.
pub fn sort_columns(bytes: &[u8], sort: Option<&str>) -> Vec<Vec<String>> {
    let text = text(bytes);
    let mut lines: VecDeque<&str> = text.split('\n').collect();
    let Some(head) = lines.iter().position(|line| line.ends_with(" file:function")) else {
        return Vec::new();
    };
    lines.drain(..head);
    let head = lines.pop_front().expect("the head");
    lines.pop_front();
    let names: Vec<&str> = head.split_whitespace().collect();
    let (_, names) = names.split_last().expect("file:function");
    let wanted: Vec<&str> = match sort.filter(|sort| !sort.is_empty()) {
        Some(sort) => sort.split(',').map(|event| event.split(':').next().unwrap_or_default()).collect(),
        None => names.to_vec(),
    };
    functions(&mut lines)
        .iter()
        .map(|line| {
            let mut counts = Vec::new();
            let mut words = line.split_whitespace().peekable();
            for name in names {
                // The order is that of absolute values, and an undefined count is taken for one.
                let count = words.next().unwrap_or_default().trim_start_matches('-');
                let count = if count == "." { "1".to_owned() } else { count.to_owned() };
                // A share may stand apart from its bracket.
                if words.peek().is_some_and(|word| word.starts_with('(')) && words.next() == Some("(") {
                    words.next();
                }
                if wanted.contains(name) {
                    counts.push(count);
                }
            }
            counts
        })
        .collect()
}

/// The first lines that differ.
pub fn first_difference(ours: &[u8], theirs: &[u8]) -> String {
    let (ours, theirs) = (text(ours), text(theirs));
    let mut pairs = ours.lines().zip(theirs.lines()).enumerate();
    match pairs.find(|(_, (a, b))| a != b) {
        Some((at, (a, b))) => format!("line {}: ours `{a}`, theirs `{b}`", at + 1),
        None => format!("{} lines of ours, {} of theirs", ours.lines().count(), theirs.lines().count()),
    }
}
