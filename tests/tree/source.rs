//! The crate's sources, and what each names of the others.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A source file of the crate.
pub struct Source {
    /// Its place on disk.
    pub path: PathBuf,
    /// Its module, from the crate's root: `["kernel", "vfs", "node"]`; a `mod.rs` is its folder's
    /// module.
    pub module: Vec<String>,
    /// Its words, as [`tokens`] gives them.
    pub tokens: Vec<String>,
}

impl Source {
    /// The module as a path.
    pub fn name(&self) -> String {
        self.module.join("::")
    }

    /// The words before the first inline module of tests; those come last in a file.
    pub fn without_tests(&self) -> &[String] {
        let end = test_modules(&self.tokens).into_iter().find_map(|(_, inline)| inline);
        &self.tokens[..end.unwrap_or(self.tokens.len())]
    }
}

/// Every source file below `src`, by path.
pub fn sources() -> Vec<Source> {
    fn walk(directory: &Path, module: &[String], out: &mut Vec<Source>) {
        let mut entries: Vec<_> =
            fs::read_dir(directory).expect("a directory").map(|e| e.expect("entry").path()).collect();
        entries.sort();
        for path in entries {
            let mut module = module.to_vec();
            let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                module.push(stem);
                walk(&path, &module, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                if stem != "mod" {
                    module.push(stem);
                }
                let tokens = tokens(&fs::read_to_string(&path).expect("source"));
                out.push(Source { path, module, tokens });
            }
        }
    }
    let mut out = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut out);
    out
}

/// The modules, by name, that exist for tests only, in files of their own.
pub fn test_files(sources: &[Source]) -> Vec<String> {
    let declared = sources.iter().flat_map(|source| {
        test_modules(&source.tokens).into_iter().map(|(name, _)| format!("{}::{name}", source.name()))
    });
    declared.collect()
}

/// Whether `path` is `target` or inside it.
pub fn within(path: &str, target: &str) -> bool {
    path.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The words of a Rust source: names, `::`, brackets and other signs. Comments are gone, a literal
/// is `""`.
pub fn tokens(source: &str) -> Vec<String> {
    fn walk(stream: TokenStream, out: &mut Vec<String>) {
        let mut colon = false;
        for token in stream {
            let joined = std::mem::take(&mut colon);
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    out.push(open.to_owned());
                    walk(group.stream(), out);
                    out.push(close.to_owned());
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' && joined => {
                    out.pop();
                    out.push("::".to_owned());
                }
                TokenTree::Punct(sign) => {
                    colon = sign.as_char() == ':' && sign.spacing() == Spacing::Joint;
                    out.push(sign.as_char().to_string());
                }
                TokenTree::Ident(name) => out.push(name.to_string()),
                TokenTree::Literal(_) => out.push("\"\"".to_owned()),
            }
        }
    }
    let mut out = Vec::new();
    walk(source.parse().expect("Rust source"), &mut out);
    out
}

/// The modules that a source has for tests only: each with its name, and where it begins if it is
/// inline.
fn test_modules(tokens: &[String]) -> Vec<(String, Option<usize>)> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let starts = (0..tokens.len()).filter(|&i| tokens[i..].iter().take(mark.len()).eq(mark.iter()));
    starts
        .filter_map(|i| {
            // Past `pub(crate)`.
            let at =
                (i + mark.len()..i + mark.len() + 5).find(|&k| tokens.get(k).is_some_and(|t| t == "mod"))?;
            Some((tokens.get(at + 1)?.clone(), (tokens.get(at + 2)? == "{").then_some(i)))
        })
        .collect()
}

/// Follows a path or a tree of paths from `at`, and collects each with its beginning.
fn tree(tokens: &[String], at: &mut usize, prefix: &str, found: &mut Vec<String>) {
    let token = tokens.get(*at).map_or("", String::as_str);
    if token == "{" {
        *at += 1;
        while tokens.get(*at).is_some_and(|t| t != "}") {
            let before = *at;
            tree(tokens, at, prefix, found);
            // A renaming, a comma.
            while tokens.get(*at).is_some_and(|t| t != "," && t != "}") {
                *at += 1;
            }
            if tokens.get(*at).is_some_and(|t| t == ",") {
                *at += 1;
            }
            assert!(*at > before, "no way on in a use tree");
        }
        *at += 1;
        return;
    }
    let path = if prefix.is_empty() { token.to_owned() } else { format!("{prefix}::{token}") };
    *at += 1;
    let next = tokens.get(*at + 1).and_then(|t| t.chars().next());
    let goes_on = next.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '{' | '*'));
    if tokens.get(*at).is_some_and(|t| t == "::") && goes_on {
        *at += 1;
        tree(tokens, at, &path, found);
    } else {
        found.push(path);
    }
}

/// The paths that a source names, from the crate's root: through `crate`, through the crate's name,
/// through `super` and `self`, and through the name of a module that it declares.
pub fn imports(tokens: &[String], module: &[String]) -> Vec<String> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|t| t == text);
    let children: Vec<&String> = (0..tokens.len())
        .filter(|&i| is(i, "mod") && is(i + 2, ";"))
        .filter_map(|i| tokens.get(i + 1))
        .collect();
    let mut found = Vec::new();
    // The module at this place: the file's, and the inline modules around it with the depth of
    // their braces.
    let mut place = module.to_vec();
    let (mut depth, mut inline) = (0, Vec::new());
    for (i, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => {
                depth += 1;
                if i >= 2 && is(i - 2, "mod") {
                    place.push(tokens[i - 1].clone());
                    inline.push(depth);
                }
            }
            "}" => {
                if inline.last() == Some(&depth) {
                    inline.pop();
                    place.pop();
                }
                depth -= 1;
            }
            // Not the first word of a path, or the path of a visibility.
            _ if i > 0 && (is(i - 1, "::") || is(i - 1, "in") && is(i.wrapping_sub(2), "(")) => {}
            "crate" | "cgemu" if is(i + 1, "::") => tree(tokens, &mut (i + 2), "", &mut found),
            "crate" if !is(i + 1, ")") => {
                found.push(format!("crate {}", tokens.get(i + 1).map_or("", |t| t)));
            }
            "super" | "self" if is(i + 1, "::") => {
                let mut at = i;
                let mut base = place.len();
                while is(at, "super") || is(at, "self") {
                    base = base.saturating_sub(usize::from(is(at, "super")));
                    at += 2;
                }
                tree(tokens, &mut at, &place[..base].join("::"), &mut found);
            }
            _ if is(i + 1, "::") && inline.is_empty() && children.contains(&token) => {
                tree(tokens, &mut i.clone(), &module.join("::"), &mut found);
            }
            _ => {}
        }
    }
    found
}
