//! The files of the host that the program may see: those that options and the command line name,
//! with the program's own and the working directory.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use goblin::elf::Elf;

use super::control;
use super::lookup::reason;
use crate::session::{Policy, StartError, View};

/// Links that are followed on the way to a file; the kernel's limit (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Interpreters of interpreters that are followed; the kernel's limit for `#!`.
const MAX_INTERPRETERS: usize = 5;

/// Largest program whose libraries are looked for, in bytes.
const LARGEST_PROGRAM: u64 = 256 << 20;

/// Neighbours of a directory `bin` that belong to the programs there.
const BESIDE_BIN: [&str; 5] = ["lib", "lib32", "lib64", "libexec", "pyvenv.cfg"];

/// The options that open and close.
pub(super) struct Options<'a> {
    /// `--root`, without links.
    pub root: Option<&'a Path>,
    /// `--allow-read`.
    pub read: &'a [PathBuf],
    /// `--allow-write`, without links.
    pub write: &'a [PathBuf],
    /// `--deny`.
    pub deny: &'a [PathBuf],
}

/// A directory that an option names, without links, so that the kernel compares like with like.
///
/// # Errors
/// None is there.
pub(super) fn directory(option: &str, name: &Path) -> Result<PathBuf, StartError> {
    let fail = |why: &str| {
        StartError::Other(format!("--{option}={}: {why}; name a directory that exists", name.display()))
    };
    let path = fs::canonicalize(name).map_err(|error| fail(&reason(&error)))?;
    if path.is_dir() { Ok(path) } else { Err(fail("is no directory")) }
}

/// The policy of a run of `program` with the command and the environment that it gets.
///
/// # Errors
/// Paths of options that are not there or outside of the root, and a program that is closed.
pub(super) fn build(
    options: &Options<'_>,
    program: &Path,
    command: &[OsString],
    env: &[(OsString, OsString)],
) -> Result<Policy, StartError> {
    let mut policy = match options.root {
        Some(root) => Policy::of_root(bytes(root)),
        None => Policy::default(),
    };
    for (option, paths) in
        [("allow-read", options.read), ("allow-write", options.write), ("deny", options.deny)]
    {
        for named in paths {
            let fail = |why: String| StartError::Other(format!("--{option}={}: {why}", named.display()));
            let way =
                trace(named).ok_or_else(|| fail("no such file or directory; name one that exists".into()))?;
            if let Some(root) = options.root.filter(|root| !way.end.starts_with(root)) {
                return Err(fail(format!("is not in --root={}, where the program is", root.display())));
            }
            let paths = way.links.iter().chain([&way.end]);
            paths.for_each(|path| {
                if option == "deny" { policy.deny(bytes(path)) } else { policy.open(bytes(path)) }
            });
        }
    }
    // Through them runs are controlled, this one or another.
    for directory in control::directories() {
        let above = directory.parent().and_then(|above| fs::canonicalize(above).ok());
        if let (Some(above), Some(name)) = (above, directory.file_name()) {
            policy.deny(bytes(&above.join(name)));
        }
    }
    if options.root.is_none() {
        name_working_directory(&mut policy);
        name_program(&mut policy, program, 0);
        command.iter().skip(1).for_each(|word| name_word(&mut policy, word));
        for (variable, value) in env {
            let each = || value.as_bytes().split(|byte| matches!(byte, b':' | b' ')).map(as_path);
            match variable.as_bytes() {
                b"LD_LIBRARY_PATH" => each().for_each(|dir| name_libraries(&mut policy, dir)),
                b"LD_PRELOAD" => each().for_each(|file| name(&mut policy, file)),
                _ => {}
            }
        }
        let end = trace(program).map(|way| way.end);
        if end.is_some_and(|end| policy.view(bytes(&end)) == View::Hidden) {
            let why = "hidden from itself by --deny; deny something else";
            return Err(StartError::NotExecutable(format!("{}: {why}", program.display())));
        }
    }
    Ok(policy)
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The way to a file.
struct Way {
    /// The symbolic links on it, each by a path without links before it.
    links: Vec<PathBuf>,
    /// The file, without links.
    end: PathBuf,
}

/// The way to an existing file.
fn trace(path: &Path) -> Option<Way> {
    let mut way = Way { links: Vec::new(), end: PathBuf::from("/") };
    let mut rest = Vec::new();
    let push = |rest: &mut Vec<OsString>, path: &Path| {
        let names = path.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        });
        let names: Vec<OsString> = names.collect();
        rest.extend(names.into_iter().rev());
    };
    push(&mut rest, &std::env::current_dir().ok()?.join(path));
    while let Some(name) = rest.pop() {
        if name == ".." {
            way.end.pop();
            continue;
        }
        way.end.push(name);
        if !fs::symlink_metadata(&way.end).ok()?.is_symlink() {
            continue;
        }
        if way.links.len() == MAX_LINKS {
            return None;
        }
        let target = fs::read_link(&way.end).ok()?;
        let link = way.end.clone();
        way.end.pop();
        if target.is_absolute() {
            way.end = PathBuf::from("/");
        }
        way.links.push(link);
        push(&mut rest, &target);
    }
    Some(way)
}

/// Shows what a path leads to, with the links on the way; `false` if it leads nowhere.
fn name(policy: &mut Policy, path: &Path) {
    if let Some(way) = trace(path) {
        way.links.iter().for_each(|link| policy.name(bytes(link), false));
        policy.name(bytes(&way.end), way.end.is_dir());
    }
}

/// Shows the working directory, and the directory of the repository that it is in: what is worked
/// on there is all of that.
fn name_working_directory(policy: &mut Policy) {
    name(policy, Path::new("."));
    let Some(here) = trace(Path::new(".")).map(|way| way.end) else { return };
    let home = std::env::var_os("HOME").and_then(|home| fs::canonicalize(home).ok());
    if let Some(above) = here.ancestors().find(|dir| dir.join(".git").exists())
        && above.parent().is_some()
        && home.is_none_or(|home| !home.starts_with(above))
    {
        name(policy, above);
    }
}

/// Shows a program, its interpreter, and the libraries that it says where to find.
fn name_program(policy: &mut Policy, program: &Path, depth: usize) {
    name(policy, program);
    let Some(way) = trace(program).filter(|_| depth < MAX_INTERPRETERS) else { return };
    if policy.view(bytes(&way.end)) == View::Public {
        return; // of the system, as its libraries are
    }
    for file in way.links.iter().chain([&way.end]) {
        if let Some(bin) = file.parent().filter(|dir| dir.ends_with("bin")) {
            BESIDE_BIN.iter().for_each(|beside| name(policy, &bin.with_file_name(beside)));
        }
    }
    if !fs::metadata(&way.end).is_ok_and(|data| data.is_file() && data.len() <= LARGEST_PROGRAM) {
        return;
    }
    let Ok(file) = fs::read(&way.end) else { return };
    if let Some(line) = file.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
        let words = line.split(|byte| byte.is_ascii_whitespace());
        if let Some(interpreter) = words.into_iter().next().filter(|word| !word.is_empty()) {
            name_program(policy, as_path(interpreter), depth + 1);
        }
        return;
    }
    let Ok(elf) = Elf::parse(&file) else { return };
    if let Some(interpreter) = elf.interpreter {
        name(policy, Path::new(interpreter));
    }
    let origin = way.end.parent().unwrap_or(Path::new("/")).display().to_string();
    for dirs in elf.runpaths.iter().chain(&elf.rpaths) {
        for dir in dirs.split(':') {
            let dir = dir.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin);
            name_libraries(policy, Path::new(&dir));
        }
    }
}

/// Shows the shared objects in a directory, and nothing else there.
fn name_libraries(policy: &mut Policy, dir: &Path) {
    if !dir.is_absolute() {
        return;
    }
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let libraries =
        entries.filter(|entry| entry.file_name().as_bytes().windows(3).any(|part| part == b".so"));
    libraries.for_each(|library| name(policy, &library.path()));
}

/// Shows the files that an argument names: by itself, behind `=`, `@` or the letter of an option,
/// or in a list with colons or commas. Of a file that is not there yet, its directory.
fn name_word(policy: &mut Policy, word: &OsStr) {
    let word = word.as_bytes();
    let after = |at: usize| word.get(at..).unwrap_or_default();
    let equals = word.iter().position(|byte| *byte == b'=').map(|at| after(at + 1));
    let letter = (word.first() == Some(&b'-')).then(|| after(2));
    let at = (word.first() == Some(&b'@')).then(|| after(1));
    for text in [Some(word), equals, letter, at].into_iter().flatten() {
        if name_text(policy, text) {
            continue;
        }
        for part in text.split(|byte| matches!(byte, b':' | b',')) {
            name_text(policy, part);
        }
    }
}

/// Shows the file of this name; `false` if there is none.
fn name_text(policy: &mut Policy, text: &[u8]) -> bool {
    if text.is_empty() || text.contains(&0) {
        return false;
    }
    let path = as_path(text);
    if fs::symlink_metadata(path).is_ok() && trace(path).is_some() {
        name(policy, path);
        return true;
    }
    let parent = path.parent().filter(|parent| text.contains(&b'/') && *parent != Path::new(""));
    if let Some(way) = parent.and_then(trace).filter(|way| way.end.is_dir()) {
        way.links.iter().for_each(|link| policy.name(bytes(link), false));
        policy.name_bare(bytes(&way.end));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn temporary() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("dir");
        let real = dir.path().canonicalize().expect("real");
        (dir, real)
    }

    fn view(policy: &Policy, path: &Path) -> View {
        policy.view(bytes(path))
    }

    #[test]
    fn directories_of_options_must_be_there() {
        let (dir, real) = temporary();
        symlink(&real, dir.path().join("link")).expect("symlink");
        fs::write(dir.path().join("file"), b"").expect("write");
        assert_eq!(directory("allow-write", &dir.path().join("link")).expect("there"), real);
        for name in ["none", "file"] {
            let error = directory("allow-write", &dir.path().join(name)).expect_err(name).to_string();
            assert!(error.contains("--allow-write="), "{error}");
        }
    }

    #[test]
    fn words_name_files() {
        let (_dir, at) = temporary();
        for name in ["a", "b", "c", "d", "e", "f", "private", "target"] {
            fs::write(at.join(name), b"").expect("write");
        }
        fs::create_dir(at.join("out")).expect("mkdir");
        symlink("target", at.join("link")).expect("symlink");
        let mut policy = Policy::default();
        let text = at.display();
        for word in [
            format!("{text}/a"),
            format!("--opt={text}/b"),
            format!("-I{text}/c"),
            format!("@{text}/d"),
            format!("{text}/none:{text}/e,{text}/f"),
            format!("{text}/link"),
            format!("--output={text}/out/new"),
            "\0".to_owned(),
            String::new(),
            "-".to_owned(),
        ] {
            name_word(&mut policy, OsStr::new(&word));
        }
        for shown in ["a", "b", "c", "d", "e", "f", "link", "target"] {
            assert_eq!(view(&policy, &at.join(shown)), View::Open, "{shown}");
        }
        assert_eq!(view(&policy, &at.join("private")), View::Hidden);
        assert_eq!(view(&policy, &at.join("out")), View::Bare);
    }

    #[test]
    fn a_program_has_what_is_beside_its_bin() {
        let (_dir, at) = temporary();
        for name in ["x/bin", "x/lib", "x/mail"] {
            fs::create_dir_all(at.join(name)).expect("mkdir");
        }
        fs::write(at.join("x/bin/p"), b"#! /bin/sh\n").expect("write");
        symlink("x/bin/p", at.join("p")).expect("symlink");
        let mut policy = Policy::default();
        name_program(&mut policy, &at.join("p"), 0);
        for (path, expected) in
            [("p", View::Open), ("x/bin/p", View::Open), ("x/lib/l.so", View::Open), ("x/mail", View::Hidden)]
        {
            assert_eq!(view(&policy, &at.join(path)), expected, "{path}");
        }
    }

    #[test]
    fn options_name_what_is_there_and_inside() {
        let (_dir, at) = temporary();
        fs::create_dir(at.join("root")).expect("mkdir");
        let none = [at.join("none")];
        let outside = [at.clone()];
        let root = at.join("root");
        let options = Options { root: None, read: &none, write: &[], deny: &[] };
        let program = Path::new("/bin/sh");
        let error = build(&options, program, &[], &[]).expect_err("not there").to_string();
        assert!(error.contains("--allow-read=") && error.contains("no such"), "{error}");
        let options = Options { root: Some(&root), read: &[], write: &[], deny: &outside };
        let error = build(&options, program, &[], &[]).expect_err("outside").to_string();
        assert!(error.contains("--deny=") && error.contains("--root="), "{error}");
        let deny = [PathBuf::from("/bin"), PathBuf::from("/usr")];
        let options = Options { root: None, read: &[], write: &[], deny: &deny };
        let error = build(&options, program, &[], &[]).expect_err("closed").to_string();
        assert!(error.contains("--deny"), "{error}");
    }
}
