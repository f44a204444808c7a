//! Programs that are not counted although children are: the patterns of `--trace-children-skip` and
//! `--trace-children-skip-by-arg` (Valgrind, `VG_(should_we_trace_this_child)` and
//! `VG_(string_match)`).

/// Patterns of programs that are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skip {
    names: Vec<Vec<u8>>,
    arguments: Vec<Vec<u8>>,
}

impl Skip {
    /// Patterns of the programs' names and of their arguments, each list separated by commas.
    pub fn new(names: &[u8], arguments: &[u8]) -> Skip {
        let patterns = |list: &[u8]| {
            let fields = list.split(|&byte| byte == b',').filter(|field| !field.is_empty());
            fields.map(<[u8]>::to_vec).collect()
        };
        Skip { names: patterns(names), arguments: patterns(arguments) }
    }

    /// True if the program that execve(2) was asked for is not to be counted. Among its arguments
    /// is the one that is its name.
    pub(super) fn skips(&self, name: &[u8], argv: &[Vec<u8>]) -> bool {
        any_matches(&self.names, name) || argv.iter().any(|argument| any_matches(&self.arguments, argument))
    }
}

/// Tests whether one of the patterns is the whole text.
pub(super) fn any_matches(patterns: &[Vec<u8>], text: &[u8]) -> bool {
    patterns.iter().any(|pattern| matches(pattern, text))
}

/// Tests whether a pattern is the whole text, where `?` stands for any byte and `*` for any number
/// of them.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // The last asterisk, and the text that it has been given.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&byte) if byte == b'?' || Some(&byte) == text.get(from) => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((asterisk, given)) = star else { return false };
                star = Some((asterisk, given + 1));
                (at, from) = (asterisk + 1, given + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Valgrind 3.19 does with programs of these names: it has no escapes and no sets.
    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("./b", "./b", true),
            ("b", "./b", false),
            ("*b", "./b", true),
            ("*/b", "/tmp/b", true),
            ("./?", "./b", true),
            ("./?", "./bb", false),
            ("./\\b", "./b", false),
            ("./[b]", "./b", false),
            ("*a*b?c*", "xaabbcbbc", true),
            ("*a*b?c", "xaabbcbbcd", false),
            ("**", "", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn lists() {
        let argv = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
        let skip = Skip::new(b",,zzz,./?,,", b"y");
        assert!(skip.skips(b"./b", &argv(&["x"])));
        assert!(skip.skips(b"other", &argv(&["x", "y"])));
        assert!(skip.skips(b"other", &argv(&["y"])), "its name is an argument, too");
        assert!(!skip.skips(b"other", &argv(&["./b"])));
        assert!(!Skip::new(b"", b"").skips(b"", &argv(&[""])));
    }
}
