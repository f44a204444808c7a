//! Where debug information may be: in compressed sections, in `.gnu_debugdata`, in a dwz(1)
//! alternate, in a package of split DWARF. What is shown is what the same program shows with all of
//! it in its own file.

use std::path::Path;

use crate::common::{output, stderr, stdout, tool};

/// What is shown of a program.
struct Shown {
    /// The profile, without the command.
    profile: String,
    /// `--asm=work`, from the listing on.
    machine_code: String,
    /// `--inline=work`, from the tree on.
    inlined: String,
}

fn run(directory: &Path, words: &[&str]) -> String {
    let (program, rest) = words.split_first().expect("a program");
    let package = match *program {
        "objcopy" | "readelf" | "nm" | "strip" => "binutils",
        "xz" => "xz-utils",
        program => program,
    };
    let done = tool(package, directory, program, rest);
    assert!(done.status.success(), "{words:?}: {}", stderr(&done));
    stdout(&done)
}

/// A directory with the program `hot`, made with these options.
fn built(flags: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    crate::common::copy_hot(at);
    run(at, &[&["gcc", "-O2"], flags, &["-o", "hot", "hot.c"]].concat());
    directory
}

/// What is shown of `hot`, with the directory's name left out.
fn shown(at: &Path) -> Shown {
    let words = ["run", "-q", "--dump-instr=yes", "--cache-sim=no", "--cachegrind-out-file=out", "./hot"];
    let run = output(at, &words);
    assert!(run.status.success(), "{}", stderr(&run));
    let profile = std::fs::read_to_string(at.join("out")).expect("a profile");
    let place = format!("{}/", at.canonicalize().expect("a path").display());
    let annotated = |option: &str, title: &str| {
        let output = output(at, &["annotate", "--threshold=0", option, "out"]);
        assert!(output.status.success(), "{option}: {}", stderr(&output));
        let text = stdout(&output);
        let (_, part) = text.split_once(title).unwrap_or_else(|| panic!("{title} in {text}"));
        part.replace(&place, "")
    };
    let code = annotated("--asm=work", "-- Machine code: ");
    let inlined = annotated("--inline=work", "-- Inlined into ");
    Shown { profile: profile.replace(&place, ""), machine_code: code, inlined }
}

/// Says the first line that differs: profiles are long.
fn assert_same(found: &Shown, expected: &Shown, what: &str) {
    let pairs = [
        (&found.profile, &expected.profile),
        (&found.machine_code, &expected.machine_code),
        (&found.inlined, &expected.inlined),
    ];
    for (found, expected) in pairs {
        let differ = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert_eq!(differ, None, "{what}");
        assert_eq!(found.lines().count(), expected.lines().count(), "{what}");
    }
}

/// The chains must be there at all.
fn full(at: &Path) -> Shown {
    let all = shown(at);
    for call in ["mix, called at hot.c:6", "rot, called at mix.h:2", "rot, called at hot.c:8"] {
        assert!(all.inlined.contains(call), "{call}: {}", all.inlined);
    }
    assert!(all.machine_code.contains("mix.h:2") && all.profile.contains("fn=work"));
    all
}

#[test]
fn compressed_sections() {
    let directory = built(&["-g"]);
    let at = directory.path();
    let plain = full(at);
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        run(at, &["objcopy", &format!("--compress-debug-sections={kind}"), "hot"]);
        let headers = run(at, &["readelf", "-SW", "hot"]);
        let info = headers.lines().find(|line| line.contains("debug_info")).expect("a section");
        assert!(info.contains(" C ") || info.contains(".zdebug_info"), "{kind}: {info}");
        assert_same(&shown(at), &plain, kind);
        run(at, &["objcopy", "--decompress-debug-sections", "hot"]);
    }
}

/// Made as the GDB manual describes it ("MiniDebugInfo").
#[test]
fn function_names_of_a_stripped_program() {
    let directory = built(&["-g"]);
    let at = directory.path();
    let symbols = run(at, &["nm", "--format=posix", "--defined-only", "hot"]);
    let keep: Vec<&str> = symbols
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, rest)| rest.starts_with(['t', 'T']))
        .map(|(name, _)| name)
        .collect();
    std::fs::write(at.join("keep"), keep.join("\n")).expect("a list");
    let functions = |profile: &str| -> Vec<String> {
        let mut names: Vec<String> =
            profile.lines().filter_map(|line| line.strip_prefix("fn=")).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    };
    let whole = shown(at);
    run(at, &["objcopy", "--strip-all", "--keep-symbols=keep", "hot", "mini"]);
    run(at, &["strip", "--strip-all", "hot"]);
    let bare = output(at, &["run", "-q", "--cache-sim=no", "--cachegrind-out-file=bare", "./hot"]);
    assert!(bare.status.success(), "{}", stderr(&bare));
    let bare = std::fs::read_to_string(at.join("bare")).expect("a profile");
    assert!(!functions(&bare).contains(&"work".to_owned()));
    run(at, &["xz", "mini"]);
    run(at, &["objcopy", "--add-section=.gnu_debugdata=mini.xz", "hot"]);
    let named = shown(at);
    assert_eq!(functions(&named.profile), functions(&whole.profile));
    // The listing has the names too, but no lines.
    assert!(named.machine_code.contains("<work+0x"), "{}", named.machine_code);
    assert!(!named.machine_code.contains("hot.c:"), "{}", named.machine_code);
    // Half of it has no symbols.
    let half = std::fs::read(at.join("mini.xz")).expect("a stream");
    std::fs::write(at.join("half"), &half[..half.len() / 2]).expect("a stream");
    run(at, &["objcopy", "--update-section=.gnu_debugdata=half", "hot"]);
    let cut = output(at, &["run", "-q", "--cache-sim=no", "--cachegrind-out-file=cut", "./hot"]);
    assert!(cut.status.success(), "{}", stderr(&cut));
    let cut = std::fs::read_to_string(at.join("cut")).expect("a profile");
    assert_eq!(cut.replace("cmd", ""), bare.replace("cmd", ""));
}

#[test]
fn an_alternate_of_dwz() {
    for (version, kind, section) in [
        ("-gdwarf-4", "--quiet", ".gnu_debugaltlink"),
        ("-gdwarf-5", "--quiet", ".gnu_debugaltlink"),
        ("-gdwarf-5", "--dwarf-5", ".debug_sup"),
    ] {
        let directory = built(&[version]);
        let at = directory.path();
        run(at, &["gcc", "-O2", version, "-Dwork=other", "-o", "second", "hot.c"]);
        let plain = full(at);
        run(at, &["dwz", kind, "-m", "common.dwz", "hot", "second"]);
        assert!(run(at, &["readelf", "-SW", "hot"]).contains(section), "{version}");
        assert_same(&shown(at), &plain, version);
        std::fs::remove_file(at.join("common.dwz")).expect("the alternate file");
        let alone = shown(at);
        assert!(!alone.inlined.contains("mix, "), "{version}: {}", alone.inlined);
    }
}

/// The package of one `.dwo` (DWARF 5, 7.3.5), each contribution after some bytes that belong to
/// nobody: `dwp` of binutils 2.40 cannot make one of DWARF 5.
fn package(at: &Path, split: &str) {
    // Table 7.1: the sections of the index. `.debug_str.dwo` is shared by all units.
    let kinds = [
        (1u32, ".debug_info.dwo"),
        (3, ".debug_abbrev.dwo"),
        (4, ".debug_line.dwo"),
        (5, ".debug_loclists.dwo"),
        (6, ".debug_str_offsets.dwo"),
        (8, ".debug_rnglists.dwo"),
    ];
    std::fs::copy(at.join(split), at.join("hot.dwp")).expect("a package");
    let mut columns = Vec::new();
    let mut signature = [0; 8];
    for (kind, name) in kinds {
        run(at, &["objcopy", "-O", "binary", &format!("--dump-section={name}=part"), split, "null"]);
        let part = std::fs::read(at.join("part")).expect("a section");
        if kind == 1 {
            // 7.5.1.2: length, version, type, address size, offset of abbreviations, then the
            // number of the unit.
            signature.copy_from_slice(&part[12..20]);
        }
        let before = vec![0xff; 4 * kind as usize];
        std::fs::write(at.join("part"), [&before[..], &part].concat()).expect("a section");
        run(at, &["objcopy", &format!("--update-section={name}=part"), "hot.dwp"]);
        columns.push((kind, before.len() as u32, part.len() as u32));
    }
    // 7.3.5.3: version, padding, counts of sections, units and slots; signatures, rows; names,
    // offsets, sizes.
    let mut index = vec![5, 0, 0, 0];
    for number in [columns.len() as u32, 1, 2] {
        index.extend(number.to_le_bytes());
    }
    let slot = usize::from(signature[0] & 1);
    let (mut hashes, mut rows) = ([[0; 8]; 2], [0u32; 2]);
    (hashes[slot], rows[slot]) = (signature, 1);
    index.extend(hashes.concat());
    let columns = |pick: fn(&(u32, u32, u32)) -> u32| columns.iter().map(pick).collect::<Vec<_>>();
    for number in rows.into_iter().chain(columns(|c| c.0)).chain(columns(|c| c.1)).chain(columns(|c| c.2)) {
        index.extend(number.to_le_bytes());
    }
    std::fs::write(at.join("index"), index).expect("an index");
    run(at, &["objcopy", "--add-section=.debug_cu_index=index", "hot.dwp"]);
}

#[test]
fn a_package_of_dwarf_5() {
    let directory = built(&["-gdwarf-5", "-gsplit-dwarf"]);
    let at = directory.path();
    let plain = full(at);
    let files = std::fs::read_dir(at).expect("files").flatten();
    let split = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let split = split.filter(|name| name.ends_with(".dwo")).collect::<Vec<_>>();
    let [split] = &split[..] else { panic!("{split:?}") };
    package(at, split);
    std::fs::rename(at.join(split), at.join("away")).expect("a file");
    assert_same(&shown(at), &plain, "a package");
    // A package of another build has not the unit.
    run(at, &["gcc", "-O1", "-gdwarf-5", "-gsplit-dwarf", "-o", "second", "hot.c"]);
    let other = std::fs::read_dir(at).expect("files").flatten().map(|file| file.file_name());
    let other = other.map(|name| name.to_string_lossy().into_owned()).find(|name| name.ends_with(".dwo"));
    let other = other.expect("a split file");
    package(at, &other);
    std::fs::remove_file(at.join(other)).expect("a file");
    assert!(!shown(at).inlined.contains("mix, "));
}
