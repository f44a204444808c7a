//! The origins of two profiles that are compared: a difference of counts means little if the caches
//! or the programs were others.

/// Names the differences between two profiles beside their counts, one line each: of their caches
/// by their `desc:` lines, of their programs by their `cmd:` lines. Where the program lies does not
/// matter.
pub(crate) fn unlike(first: (&[Vec<u8>], &[u8]), second: (&[Vec<u8>], &[u8])) -> Vec<String> {
    let caches = |desc: &[Vec<u8>]| {
        let lines = desc.iter().map(|line| String::from_utf8_lossy(line).trim().to_owned());
        let caches = lines.filter(|line| line.split(':').next().is_some_and(|key| key.ends_with(" cache")));
        let words = |line: String| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut caches: Vec<String> = caches.map(words).collect();
        caches.sort();
        caches
    };
    let command = |cmd: &[u8]| {
        let cmd = String::from_utf8_lossy(cmd).into_owned();
        let (program, words) = cmd.split_once(' ').unwrap_or((&cmd, ""));
        (program.rsplit('/').next().unwrap_or(program).to_owned(), words.trim().to_owned())
    };
    let mut lines = Vec::new();
    let list = |caches: &[String]| match caches {
        [] => "none".to_owned(),
        caches => caches.join("; "),
    };
    let of = [caches(first.0), caches(second.0)];
    if let [a, b] = &of
        && a != b
    {
        lines.push(format!("the caches differ: {}, and {}", list(a), list(b)));
    }
    if command(first.1) != command(second.1) {
        let text = |cmd| String::from_utf8_lossy(cmd);
        lines.push(format!("the programs differ: `{}`, and `{}`", text(first.1), text(second.1)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_and_programs() {
        let desc = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>();
        let a = desc(&["I1 cache:         32768 B", "Timerange: 1", "LL cache: 1 B"]);
        let b = desc(&["LL cache: 1 B", "I1 cache: 32768 B\n", "Timerange: 2"]);
        assert!(unlike((&a, b"v1/prog  x"), (&b, b"/v2/prog x")).is_empty());
        let other = desc(&["I1 cache: 65536 B"]);
        assert_eq!(
            unlike((&a, b"prog"), (&other, b"prog y")),
            [
                "the caches differ: I1 cache: 32768 B; LL cache: 1 B, and I1 cache: 65536 B",
                "the programs differ: `prog`, and `prog y`"
            ]
        );
        assert_eq!(unlike((&[], b"a"), (&other, b"a")), ["the caches differ: none, and I1 cache: 65536 B"]);
    }
}
