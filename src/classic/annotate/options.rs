//! The options of `cg_annotate`, read one by one as it does: an `--include` works for the source
//! files after it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{Access, access};

use crate::classic::failure::{Failure, shown};
use crate::classic::number::leading_decimal;

/// The help of the classic layout.
pub(crate) const USAGE: &str = "\
Usage: cgemu annotate --classic [OPTIONS] FILE [SOURCE]...

Prints a profile in the layout of cg_annotate of Valgrind 3.19.

Options:
  --show=A,B         Show only these events, in this order
  --sort=A,B         Sort functions by these events; with A:5,B:10 show those with 5 % of A or 10 % of B
  --threshold=X      Show functions with X % or more of the first sort event, 0 to 20 [0.1]
  --show-percs=yes|no
                     Show a percentage beside each count [yes]
  --auto=yes|no      Annotate the source files of the functions that are shown [yes]
  --context=N        Lines around each annotated line [8]
  -IDIR, --include=DIR
                     Look for source files there, too
  --source-root=DIR  Open only source files below DIR; may be repeated
  -h, --help         Print this
";

/// The command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// The profile.
    pub file: Vec<u8>,
    /// Source files to annotate, whatever their counts; each once.
    pub sources: Vec<Vec<u8>>,
    /// Directories for source files, each with its slash; the first is the empty one.
    pub include: Vec<Vec<u8>>,
    /// Events to show; none means all.
    pub show: Vec<Vec<u8>>,
    /// Events to sort by; none means all.
    pub sort: Vec<Vec<u8>>,
    /// The thresholds of `--sort`, in percent; empty if it has none.
    pub thresholds: Vec<Threshold>,
    /// `--threshold`, in percent.
    pub threshold: Threshold,
    /// Show percentages.
    pub percentages: bool,
    /// Choose source files by their counts.
    pub auto: bool,
    /// Lines of context.
    pub context: f64,
}

/// A threshold in percent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// As it was typed, and is shown.
    pub text: String,
    /// Its value.
    pub value: f64,
}

impl Threshold {
    /// Reads digits and points, with or without a percent sign.
    fn parse(text: &str, largest: f64) -> Option<Threshold> {
        let text = text.strip_suffix('%').unwrap_or(text);
        let value = decimal(text)?;
        (0.0..=largest).contains(&value).then(|| Threshold { text: text.to_owned(), value })
    }

    /// One that shows everything.
    pub(crate) fn of(text: &str) -> Threshold {
        Threshold { text: text.to_owned(), value: leading_decimal(text) }
    }
}

/// The value of a text of nothing but digits and points.
fn decimal(text: &str) -> Option<f64> {
    let only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    only.then(|| leading_decimal(text))
}

impl Options {
    /// Reads the words after `--classic`. `None` means that help is asked for.
    ///
    /// # Errors
    /// An unknown option or a wrong value, no profile, a source file that is nowhere.
    pub(crate) fn parse<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> Result<Option<Options>, Failure> {
        let mut file = None;
        let mut options = Options {
            file: Vec::new(),
            sources: Vec::new(),
            include: vec![Vec::new()],
            show: Vec::new(),
            sort: Vec::new(),
            thresholds: Vec::new(),
            threshold: Threshold::of("0.1"),
            percentages: true,
            auto: true,
            context: 8.0,
        };
        for word in words {
            let word = word.as_bytes();
            if word.starts_with(b"-") {
                if matches!(word, b"-h" | b"--help") {
                    return Ok(None);
                }
                if options.option(word).is_none() {
                    let word = shown(word);
                    return Err(Failure::new(format!(
                        "`{word}` is no option of annotate --classic, or its value is wrong; see \
                         cgemu annotate --classic --help"
                    )));
                }
            } else if file.is_none() {
                file = Some(word.to_vec());
            } else {
                options.source(word)?;
            }
        }
        options.file =
            file.ok_or_else(|| Failure::new("which profile? Give its name: cgemu annotate --classic FILE"))?;
        Ok(Some(options))
    }

    /// One option; `None` if it is wrong.
    fn option(&mut self, word: &[u8]) -> Option<()> {
        for key in [&b"-I="[..], b"-I", b"--include="] {
            if word != b"-I"
                && let Some(directory) = word.strip_prefix(key)
            {
                let directory = directory.strip_suffix(b"/").unwrap_or(directory);
                self.include.push([directory, b"/"].concat());
                return Some(());
            }
        }
        if let Some(events) = word.strip_prefix(b"--show=") {
            self.show = names(events);
            return Some(());
        }
        if let Some(events) = word.strip_prefix(b"--sort=") {
            return self.sort_by(names(events));
        }
        let word = str::from_utf8(word).ok()?;
        if let Some(value) = word.strip_prefix("--threshold=") {
            self.threshold = Threshold::parse(value, 20.0)?;
        } else if let Some(value) = word.strip_prefix("--context=") {
            self.context = decimal(value)?;
        } else if let Some(value) = word.strip_prefix("--show-percs=") {
            self.percentages = yes_or_no(value)?;
        } else if let Some(value) = word.strip_prefix("--auto=") {
            self.auto = yes_or_no(value)?;
        } else {
            return None;
        }
        Some(())
    }

    /// `--sort`. One event with a threshold gives those without one of 0. A later `--sort` replaces
    /// only as many thresholds as it has events; `cg_annotate` does so too and then finds that the
    /// numbers differ.
    fn sort_by(&mut self, events: Vec<Vec<u8>>) -> Option<()> {
        self.sort.clear();
        let mut any = false;
        for (at, event) in events.into_iter().enumerate() {
            let typed = event.iter().rposition(|&byte| byte == b':').and_then(|colon| {
                let text = str::from_utf8(event.get(colon + 1..)?).ok()?;
                decimal(text.strip_suffix('%').unwrap_or(text)).map(|_| text)
            });
            let (name, threshold) = match typed {
                Some(text) => {
                    any = true;
                    let name = event.split(|&byte| byte == b':').next().unwrap_or_default().to_vec();
                    (name, Threshold::parse(text, 100.0)?)
                }
                None => (event, Threshold::of("0")),
            };
            match self.thresholds.get_mut(at) {
                Some(place) => *place = threshold,
                None => self.thresholds.push(threshold),
            }
            self.sort.push(name);
        }
        if !any {
            self.thresholds.clear();
        }
        Some(())
    }

    /// A source file, which must be readable in one of the directories named so far.
    fn source(&mut self, name: &[u8]) -> Result<(), Failure> {
        let mut last = rustix::io::Errno::NOENT;
        let mut found = false;
        for directory in &self.include {
            match access(OsStr::from_bytes(&[directory, name].concat()), Access::READ_OK) {
                Ok(()) => found = true,
                Err(error) => last = error,
            }
        }
        if !found {
            let mut failure = Failure::io(name, &last.into());
            failure.message.push_str("; name its directory with --include before it");
            return Err(failure);
        }
        if !self.sources.iter().any(|source| source == name) {
            self.sources.push(name.to_vec());
        }
        Ok(())
    }
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// Names between commas; empty ones at the end do not count.
fn names(text: &[u8]) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = text.split(|&byte| byte == b',').map(<[u8]>::to_vec).collect();
    while names.last().is_some_and(Vec::is_empty) {
        names.pop();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options, Failure> {
        Options::parse(words.iter().map(OsStr::new)).map(|options| options.expect("no help"))
    }

    fn texts(thresholds: &[Threshold]) -> Vec<&str> {
        thresholds.iter().map(|threshold| threshold.text.as_str()).collect()
    }

    #[test]
    fn sort_and_thresholds() {
        let options = parse(&["--sort=Dr:5,Dw,Ir:7.5%", "p"]).expect("reads");
        assert_eq!(options.sort, [b"Dr", b"Dw", b"Ir"]);
        assert_eq!(texts(&options.thresholds), ["5", "0", "7.5"]);
        let options = parse(&["--sort=Dr:5", "p", "--sort=Dw,"]).expect("reads");
        assert_eq!((options.sort, options.thresholds), (vec![b"Dw".to_vec()], vec![]));
        let options = parse(&["--sort=a:x", "p"]).expect("reads");
        assert_eq!(options.sort, [b"a:x"]);
    }

    #[test]
    fn directories() {
        let options = parse(&["-Ia/", "-I=b", "--include=c//", "p"]).expect("reads");
        assert_eq!(options.include, [&b""[..], b"a/", b"b/", b"c//"]);
    }

    #[test]
    fn wrong_ones() {
        for word in [
            "-x",
            "--",
            "-",
            "-I",
            "--threshold=21",
            "--threshold=-1",
            "--threshold=",
            "--context=x",
            "--auto=on",
            "--sort=Ir:101",
        ] {
            let failure = parse(&["p", word]).expect_err(word);
            assert_eq!(failure.status, 255);
            assert!(failure.message.contains(word) && !failure.message.contains('\n'));
        }
        assert_eq!(parse(&[]).expect_err("no profile").status, 255);
        assert_eq!(
            parse(&["p", concat!(env!("CARGO_MANIFEST_DIR"), "/no-source")]).expect_err("no source").status,
            2
        );
        assert_eq!(Options::parse([OsStr::new("-h")]), Ok(None));
    }
}
