//! Name compression: `(ID) name` defines, `(ID)` alone refers.

use rustc_hash::FxHashMap;

use super::Problem;

/// The names of one kind of position: objects, files or functions.
#[derive(Debug, Default)]
pub struct Compressed(FxHashMap<u64, Box<[u8]>>);

impl Compressed {
    /// The name that the text after the `=` stands for. An ID may be defined anew; the latest name counts.
    ///
    /// # Errors
    /// [`Problem::UnknownName`] for an ID without a name.
    pub fn resolve<'a>(&'a mut self, text: &'a [u8]) -> Result<&'a [u8], Problem> {
        let text = text.trim_ascii_start();
        let Some((id, name)) = split(text) else { return Ok(text) };
        if name.is_empty() {
            return self.0.get(&id).map(|name| &**name).ok_or(Problem::UnknownName(id));
        }
        self.0.insert(id, name.into());
        Ok(name)
    }
}

/// ID and name of the short form; none of a name that is written out, even one like `(below main)`.
pub fn split(text: &[u8]) -> Option<(u64, &[u8])> {
    let rest = text.strip_prefix(b"(")?;
    let end = rest.iter().position(|c| *c == b')')?;
    let (digits, name) = (rest.get(..end)?, rest.get(end + 1..)?);
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // An ID too large for 64 bits is none that could be told from others.
    let id = str::from_utf8(digits).ok()?.parse().ok()?;
    Some((id, name.trim_ascii_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manual, "Name Compression".
    #[test]
    fn short_forms() {
        let mut names = Compressed::default();
        for (text, expected) in [
            ("main", "main"),
            ("(1) main", "main"),
            ("(1)", "main"),
            ("(2)f(int, (3))", "f(int, (3))"),
            (" (2)", "f(int, (3))"),
            ("(1) other", "other"),
            ("(1)", "other"),
            ("(below main)", "(below main)"),
            ("()", "()"),
            ("(1", "(1"),
            ("", ""),
        ] {
            assert_eq!(names.resolve(text.as_bytes()).expect(text), expected.as_bytes(), "{text}");
        }
        assert!(matches!(names.resolve(b"(3)"), Err(Problem::UnknownName(3))));
    }
}
