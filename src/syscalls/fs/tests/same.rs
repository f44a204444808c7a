//! Random sequences of calls, taken natively and by the emulated kernel.

use std::path::Path;

use rustix::fs::{self, AtFlags, CWD, Mode, OFlags, RenameFlags};

use super::*;

/// One step. Paths are relative to the directory of the side.
#[derive(Clone, Debug)]
enum Step {
    Put(String, u32, u8, usize),
    Mkdir(String),
    Rmdir(String),
    Unlink(String),
    Rename(String, String, u32),
    Link(String, String),
    Symlink(String, String),
    Readlink(String),
    Chmod(String, u32),
    Truncate(String, u64),
    Stat(String),
    Lstat(String),
    Read(String),
}

fn native(root: &Path, step: &Step) -> Answer<String> {
    let at = |path: &String| format!("{}/{path}", root.display());
    let stat = |stat: fs::Stat| {
        let dir = stat.st_mode & S_IFMT == S_IFDIR;
        format!("{:?}", (stat.st_mode, stat.st_nlink, if dir { 0 } else { stat.st_size as u64 }))
    };
    let done = |()| String::new();
    let result = match step {
        Step::Put(path, flags, byte, len) => {
            fs::open(at(path), OFlags::from_bits_retain(*flags | O_WRONLY), Mode::from_raw_mode(0o666))
                .and_then(|fd| rustix::io::write(fd, &vec![*byte; *len]))
                .map(|count| count.to_string())
        }
        Step::Mkdir(path) => fs::mkdir(at(path), Mode::from_raw_mode(0o777)).map(done),
        Step::Rmdir(path) => fs::rmdir(at(path)).map(done),
        Step::Unlink(path) => fs::unlink(at(path)).map(done),
        Step::Rename(from, to, 0) => fs::rename(at(from), at(to)).map(done),
        Step::Rename(from, to, flags) => {
            fs::renameat_with(CWD, at(from), CWD, at(to), RenameFlags::from_bits_retain(*flags)).map(done)
        }
        Step::Link(from, to) => fs::linkat(CWD, at(from), CWD, at(to), AtFlags::empty()).map(done),
        Step::Symlink(target, path) => fs::symlink(target.as_str(), at(path)).map(done),
        Step::Readlink(path) => fs::readlink(at(path), Vec::new()).map(|text| format!("{text:?}")),
        Step::Chmod(path, mode) => fs::chmod(at(path), Mode::from_raw_mode(*mode)).map(done),
        Step::Truncate(path, len) => {
            let file = fs::open(at(path), OFlags::WRONLY, Mode::empty());
            file.and_then(|fd| fs::ftruncate(fd, *len)).map(done)
        }
        Step::Stat(path) => fs::stat(at(path)).map(stat),
        Step::Lstat(path) => fs::lstat(at(path)).map(stat),
        Step::Read(path) => {
            return std::fs::read(at(path))
                .map(|bytes| format!("{bytes:?}"))
                .map_err(|error| error.raw_os_error().unwrap());
        }
    };
    result.map_err(|errno| errno.raw_os_error())
}

fn emulated(guest: &mut Guest, root: &Path, step: &Step) -> Answer<String> {
    let at = |path: &String| format!("{}/{path}", root.display());
    let done = |_| String::new();
    match step {
        Step::Put(path, flags, byte, len) => guest
            .put_file(&at(path), flags | O_WRONLY, 0o666, &vec![*byte; *len])
            .map(|count| count.to_string()),
        Step::Mkdir(path) => guest.on(nr::MKDIR, &at(path), &[0o777]).map(done),
        Step::Rmdir(path) => guest.on(nr::RMDIR, &at(path), &[]).map(done),
        Step::Unlink(path) => guest.on(nr::UNLINK, &at(path), &[]).map(done),
        Step::Rename(from, to, flags) => guest.rename(&at(from), &at(to), *flags).map(done),
        Step::Link(from, to) => guest.on_two(nr::LINK, &at(from), &at(to)).map(done),
        Step::Symlink(target, path) => guest.on_two(nr::SYMLINK, target, &at(path)).map(done),
        Step::Readlink(path) => {
            guest.readlink(&at(path)).map(|text| format!("{:?}", std::ffi::CString::new(text).unwrap()))
        }
        Step::Chmod(path, mode) => guest.on(nr::CHMOD, &at(path), &[u64::from(*mode)]).map(done),
        Step::Truncate(path, len) => {
            let fd = guest.open(&at(path), O_WRONLY, 0)?;
            let result = guest.call(nr::FTRUNCATE, &[fd as u64, *len]).map(done);
            guest.close(fd);
            result
        }
        Step::Stat(path) => guest.stat(nr::STAT, &at(path)).map(|stat| format!("{stat:?}")),
        Step::Lstat(path) => guest.stat(nr::LSTAT, &at(path)).map(|stat| format!("{stat:?}")),
        Step::Read(path) => guest.read_file(&at(path)).map(|bytes| format!("{bytes:?}")),
    }
}

/// Makes the files that the steps begin with.
fn prepare(root: &Path) {
    std::fs::create_dir_all(root.join("a/x")).unwrap();
    std::fs::create_dir(root.join("b")).unwrap();
    std::fs::create_dir(root.join("e")).unwrap();
    std::fs::write(root.join("f"), "file f").unwrap();
    std::fs::write(root.join("a/f"), vec![b'a'; 5000]).unwrap();
    std::fs::write(root.join("a/x/g"), "deep").unwrap();
    std::fs::hard_link(root.join("f"), root.join("b/h")).unwrap();
    std::os::unix::fs::symlink("a", root.join("l")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("d")).unwrap();
    std::os::unix::fs::symlink("../f", root.join("b/l")).unwrap();
    std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
}

/// A linear congruential generator, Knuth's MMIX constants.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }

    fn path(&mut self) -> String {
        const NAMES: [&str; 12] = ["a", "b", "e", "f", "l", "d", "x", "g", "h", "n", "loop", "m"];
        const ODD: [&str; 8] = ["", ".", "..", "a/", "a/.", "e/..", "f/", "n/"];
        if self.roll(12) == 0 {
            // `..` alone would lead out of the directory, whose surroundings differ.
            return format!("a/{}", ODD[self.roll(ODD.len())]);
        }
        let mut path = NAMES[self.roll(NAMES.len())].to_owned();
        for _ in 0..self.roll(3) {
            path = format!("{path}/{}", NAMES[self.roll(NAMES.len())]);
        }
        if self.roll(16) == 0 {
            path.push('/');
        }
        path
    }

    fn step(&mut self) -> Step {
        let path = self.path();
        match self.roll(16) {
            0..3 => {
                const FLAGS: [u32; 6] =
                    [O_CREAT, O_CREAT | O_TRUNC, O_CREAT | O_EXCL, O_APPEND, 0, O_CREAT | O_NOFOLLOW];
                let len = [1, 10, 4097][self.roll(3)];
                Step::Put(path, FLAGS[self.roll(FLAGS.len())], b'0' + self.roll(10) as u8, len)
            }
            3 | 4 => Step::Mkdir(path),
            5 => Step::Rmdir(path),
            6 => Step::Unlink(path),
            7 | 8 => {
                Step::Rename(path, self.path(), [0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE][self.roll(5)])
            }
            9 => Step::Link(path, self.path()),
            10 => Step::Symlink(["a", "../f", "n", "./b/", "x/g"][self.roll(5)].to_owned(), path),
            11 => Step::Readlink(path),
            12 => Step::Chmod(path, [0o755, 0o600, 0o644][self.roll(3)]),
            13 => Step::Truncate(path, [0, 3, 4096, 9999][self.roll(4)]),
            14 => {
                if self.roll(2) == 0 {
                    Step::Stat(path)
                } else {
                    Step::Lstat(path)
                }
            }
            _ => Step::Read(path),
        }
    }
}

fn compare(seed: u64, through: bool) {
    // One level down, since links lead to `..` too.
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [ours, theirs] = dirs.each_ref().map(|dir| dir.path().join("r"));
    let _ = rustix::process::umask(Mode::from_raw_mode(0o022));
    prepare(&ours);
    prepare(&theirs);
    let before = native_tree(&ours);
    let allowed = [dirs[0].path()];
    let mut guest = Guest::new(Path::new("/"), if through { &allowed } else { &[] });
    let mut dice = Dice(seed);
    let mut log = Vec::new();
    for _ in 0..400 {
        let step = dice.step();
        let (expected, got) = (native(&theirs, &step), emulated(&mut guest, &ours, &step));
        let shown = format!("{expected:?}");
        log.push(format!("{step:?} -> {}", &shown[..shown.len().min(60)]));
        if log.len() > 30 {
            log.remove(0);
        }
        let same = got == expected;
        assert!(same, "seed {seed} through {through}: {step:?} gave {got:?} after\n{}", log.join("\n"));
    }
    let root = ours.to_str().unwrap();
    for (got, expected) in guest.tree(root).iter().zip(&native_tree(&theirs)) {
        assert_eq!(got, expected, "seed {seed} through {through}");
    }
    assert_eq!(guest.tree(root).len(), native_tree(&theirs).len(), "seed {seed} through {through}");
    if through {
        assert_eq!(native_tree(&ours), native_tree(&theirs), "seed {seed}: on the host");
        assert_eq!(guest.machine.kernel.fs.dropped(), 0);
    } else {
        assert_eq!(native_tree(&ours), before, "seed {seed}: the host was changed");
    }
}

#[test]
fn the_overlay_answers_as_the_host_does() {
    for seed in 0..150 {
        compare(seed, false);
    }
}

#[test]
fn what_goes_through_answers_as_the_host_does() {
    for seed in 2000..2060 {
        compare(seed, true);
    }
}
