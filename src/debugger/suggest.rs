//! The nearest known name to one that is not known.

/// Longest name that is looked at, in bytes; comparing costs the product of both lengths.
const MAX_NAME: usize = 256;

/// The candidate that `name` was most likely meant to be: the one at the smallest edit distance
/// (insertions, deletions, changes and swaps of neighbours), of those the smallest. `None` if all
/// differ in more than a third of their letters.
pub fn nearest<S: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = S>) -> Option<String> {
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let limit = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, S)> = None;
    for candidate in candidates {
        let text = candidate.as_ref();
        // The lengths alone rule most names out.
        if text.len().abs_diff(name.len()) > limit.saturating_mul(4) || text.is_empty() {
            continue;
        }
        let lower = text.eq_ignore_ascii_case(name);
        let distance = if lower { 0 } else { strsim::osa_distance(name, text) };
        let better = best.as_ref().is_none_or(|(least, other)| (distance, text) < (*least, other.as_ref()));
        if distance <= limit && distance < text.chars().count() && better {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name.as_ref().to_owned())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn names() {
        let known = ["main", "malloc", "calloc", "Ir", "step"];
        for (name, meant) in [
            ("mian", Some("main")),
            ("maloc", Some("malloc")),
            ("stpe", Some("step")),
            ("IR", Some("Ir")),
            ("steps", Some("step")),
            ("zebra", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known).as_deref(), meant, "{name}");
        }
    }

    #[test]
    fn ties_go_to_the_smaller_name() {
        assert_eq!(nearest("bat", ["cat", "bar", "bad"]).as_deref(), Some("bad"));
    }
}
