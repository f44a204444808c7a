//! Whole objects, built by gcc. What Valgrind 3.19 says about them was found by running Cachegrind
//! on the same sources (`valgrind --tool=cachegrind --cache-sim=no`) and reading the `fl=` and
//! `fn=` lines of its output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::debug_files::{Companions, DebugFiles};
use super::debuglink::Links;
use super::elf::{ElfError, ElfFile};
use super::testkit::{Workshop, alone, elf, with_debug_file};
use super::valgrind::debug_info::{DebugInfo, Wanted};
use super::valgrind::demangle::display_name;

fn info(shop: &Workshop, name: &str) -> DebugInfo {
    DebugInfo::read(&alone(&shop.read(name)), Wanted::All)
}

fn address(info: &DebugInfo, name: &str) -> u64 {
    info.symbols().iter().find(|symbol| &*symbol.name == name).expect("the symbol").start
}

/// Every (file, function, line) of the object's code, functions as shown.
fn keys(info: &DebugInfo) -> BTreeSet<(String, String, u32)> {
    let rows = info.lines().iter().map(|row| row.0);
    let starts: BTreeSet<u64> = rows.chain(info.symbols().iter().map(|symbol| symbol.start)).collect();
    let key = |vaddr: u64| {
        let place = info.locate(vaddr);
        (place.file.to_string(), display_name(&place.function, false, true).into_owned(), place.line)
    };
    starts.into_iter().map(key).collect()
}

const SYMBOLS: &str = "
    .text
    .globl main
    .type main,@function
main:
    jmp run
    .size main,.-main
run:
    .skip 600,0x90
    .macro S name, off, size, type=@function, bind=.globl
    .ifnc \\bind,none
    \\bind \\name
    .endif
    .type \\name,\\type
    .set \\name,run+\\off
    .size \\name,\\size
    .endm
    S outer,0,100
    S inner,10,10
    S same_long,100,50
    S same_short,100,20
    S alias_zz,170,10
    S al2,170,10
    S al1,170,10
    S object,190,10,@object
    S unique,210,10,@gnu_unique_object
    S notype,230,10,@notype
    S sizeless,250,0
    S local,260,10,@function,none
    S indirect,280,10,@gnu_indirect_function
    S weak,300,10,@function,.weak
    S MPI_x,360,10
    S PMPI_x,360,10
    S huge,590,100000
";

#[test]
fn symbols() {
    let shop = Workshop::new();
    shop.assemble("prog", SYMBOLS);
    let info = info(&shop, "prog");
    let run = address(&info, "outer");
    let mut bytes: BTreeMap<String, u32> = BTreeMap::new();
    for vaddr in run..run + 600 {
        *bytes.entry(info.locate(vaddr).function.to_string()).or_default() += 1;
    }
    // `huge` reaches past the pages of code: Valgrind 3.19 stops with a failed assertion there;
    // here it is dropped.
    let expected = [
        ("???", 470),
        ("PMPI_x", 10),
        ("al1", 10),
        ("indirect", 10),
        ("inner", 10),
        ("local", 10),
        ("object", 10),
        ("outer", 10),
        ("same_long", 30),
        ("same_short", 20),
        ("weak", 10),
    ];
    let expected: BTreeMap<_, _> = expected.iter().map(|&(name, count)| (name.to_owned(), count)).collect();

    assert_eq!(bytes, expected);
}

/// A program of 200 one-byte instructions whose line table is written by hand: file `i` has the ten
/// bytes from `10 * i` on, at line `2 * i + 3`.
fn table(version: u16, directory: Option<&str>, directories: &[&str], files: &[(&str, u8)]) -> String {
    let mut text = String::from("    .text\n    .globl main\n    .type main,@function\nmain:\n");
    text += "    .skip 200,0x90\n    .size main,.-main\n    .section .debug_abbrev,\"\",@progbits\n";
    text += "    .uleb128 1, 0x11\n    .byte 0\n";
    if directory.is_some() {
        text += "    .uleb128 0x1b, 8\n";
    }
    text += "    .uleb128 0x10, 0x17\n    .byte 0, 0, 0\n    .section .debug_info,\"\",@progbits\n";
    text += "    .long 2f-1f\n1:  .short 4\n    .long 0\n    .byte 8\n    .uleb128 1\n";
    if let Some(directory) = directory {
        text += &format!("    .asciz \"{directory}\"\n");
    }
    text += "    .long 0\n2:\n    .section .debug_line,\"\",@progbits\n";
    text += &format!("    .long 2f-1f\n1:  .short {version}\n");
    text += if version >= 5 { "    .byte 8, 0\n" } else { "" };
    text += "    .long 4f-3f\n3:  .byte 1\n";
    text += if version >= 4 { "    .byte 1\n" } else { "" };
    text += "    .byte 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1\n";
    if version >= 5 {
        text += &format!("    .byte 1\n    .uleb128 1, 8, {}\n", directories.len());
        directories.iter().for_each(|name| text += &format!("    .asciz \"{name}\"\n"));
        text += &format!("    .byte 2\n    .uleb128 1, 8, 2, 0xb, {}\n", files.len());
        files.iter().for_each(|(name, at)| text += &format!("    .asciz \"{name}\"\n    .byte {at}\n"));
    } else {
        directories.iter().for_each(|name| text += &format!("    .asciz \"{name}\"\n"));
        text += "    .byte 0\n";
        files.iter().for_each(|(name, at)| text += &format!("    .asciz \"{name}\"\n    .byte {at}, 0, 0\n"));
        text += "    .byte 0\n";
    }
    text += "4:\n";
    for file in 0..files.len() + 2 {
        text +=
            &format!("    .byte 0, 9, 2\n    .quad main+{}\n    .byte 4\n    .uleb128 {file}\n", file * 10);
        text += "    .byte 3, 2, 1\n";
    }
    text + &format!("    .byte 0, 9, 2\n    .quad main+{}\n    .byte 0, 1, 1\n2:\n", (files.len() + 2) * 10)
}

fn expect_files(text: &str, expected: &[&str]) {
    let shop = Workshop::new();
    shop.assemble("prog", text);
    let info = info(&shop, "prog");
    let main = address(&info, "main");
    let place = |file: usize| info.locate(main + file as u64 * 10 + 5);
    let found: Vec<String> = (0..expected.len()).map(|file| place(file).file.to_string()).collect();
    assert_eq!(found, expected);
    // A file that the table does not have still has its line.
    for file in 0..expected.len() {
        assert_eq!(place(file).line as usize, 2 * file + 3);
    }
    assert_eq!(place(expected.len()).line, 0);
}

#[test]
fn directories_of_dwarf_5() {
    let files =
        [("f0", 0), ("f1", 0), ("f2", 1), ("f3", 2), ("f4", 3), ("/abs/f5", 1), ("/abs/f6", 0), ("f7", 9)];
    expect_files(
        &table(5, Some("/comp"), &["/zero", "one", "/two", "../x"], &files),
        &[
            "/zero/f0",
            "/zero/f1",
            "/comp/one/f2",
            "/two/f3",
            "/comp/../x/f4",
            "/comp/one//abs/f5",
            "/zero//abs/f6",
            "f7",
            "???",
            "???",
        ],
    );
    let files = [("f0", 0), ("f1", 1), ("f2", 2)];
    let directories = ["zero", "one", "/two"];
    expect_files(
        &table(5, Some("/comp"), &directories, &files),
        &["/comp/zero/f0", "/comp/one/f1", "/two/f2", "???", "???"],
    );
    expect_files(&table(5, None, &directories, &files), &["zero/f0", "one/f1", "/two/f2", "???", "???"]);
    let files = [("f0", 0), ("f1", 1), ("f2", 0)];
    expect_files(
        &table(5, Some("/comp/"), &["", "/two/"], &files),
        &["/comp///f0", "/two//f1", "/comp///f2", "???", "???"],
    );
    expect_files(
        &table(5, Some("."), &[".", "./two/"], &files),
        &["././f0", "././two//f1", "././f2", "???", "???"],
    );
}

#[test]
fn directories_of_dwarf_2_to_4() {
    let files = [("f1", 0), ("f2", 1), ("f3", 2), ("f4", 3), ("/abs/f5", 1), ("/abs/f6", 0), ("f7", 9)];
    for version in [2, 3, 4] {
        expect_files(
            &table(version, Some("/comp"), &["one", "/two", "../x"], &files),
            &[
                "???",
                "/comp/f1",
                "/comp/one/f2",
                "/two/f3",
                "/comp/../x/f4",
                "/comp/one//abs/f5",
                "/comp//abs/f6",
                "f7",
                "???",
            ],
        );
    }
    let (directories, files) = (["one", "/two"], [("f1", 0), ("f2", 1), ("f3", 2)]);
    let of = |directory| table(4, directory, &directories, &files);
    expect_files(&of(None), &["???", "./f1", "one/f2", "/two/f3", "???"]);
    expect_files(&of(Some("rel")), &["???", "rel/f1", "rel/one/f2", "/two/f3", "???"]);
    expect_files(&of(Some("")), &["???", "f1", "one/f2", "/two/f3", "???"]);
}

fn sources(shop: &Workshop) {
    shop.write("sub/h.h", "\n\nstatic inline int hh(int x) { return x * 3 + 1; }\n");
    shop.write("inc/i.h", "\n\n\n\nstatic int ii(int x) { return x * 5 + 1; }\n");
    shop.write("sub/deep/d.h", "\n\n\n\n\n\nstatic int dd(int x) { return x * 7 + 1; }\n");
    shop.write(
        "sub/p.c",
        "#include \"h.h\"\n#include \"i.h\"\n#include \"../sub/deep/d.h\"\nint g = 3;\n\
         int main(void) { return (hh(g) + ii(g) + dd(g)) & 0; }\n",
    );
}

/// The file of each function of the program.
fn files_of(info: &DebugInfo) -> Vec<(String, String)> {
    ["main", "hh", "ii", "dd"]
        .iter()
        .map(|name| ((*name).to_owned(), info.locate(address(info, name)).file.to_string()))
        .collect()
}

fn expect_source_files(shop: &Workshop, at: &str, flags: &[&str], expected: [&str; 4]) {
    let program = shop.path("prog").to_string_lossy().into_owned();
    let arguments = [&["-nostdlib", "-static", "-Wl,-e,main", "-o", &program], flags].concat();
    shop.run_in(at, "gcc", &arguments);
    let names = ["main", "hh", "ii", "dd"];
    let expected: Vec<_> = names.iter().zip(expected).map(|(n, f)| ((*n).to_owned(), f.to_owned())).collect();
    assert_eq!(files_of(&info(shop, "prog")), expected, "in {at} with {flags:?}");
}

#[test]
fn files_as_gcc_writes_them() {
    let shop = Workshop::new();
    sources(&shop);
    let root = shop.root().to_string_lossy().into_owned();
    let below = |prefix: &str| {
        ["sub/p.c", "sub/h.h", "inc/i.h", "sub/../sub/deep/d.h"].map(|name| format!("{prefix}{name}"))
    };
    let plain = below(&format!("{root}/"));
    let plain = [&*plain[0], &*plain[1], &*plain[2], &*plain[3]];
    for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        expect_source_files(&shop, ".", &[version, "-Iinc", "sub/p.c"], plain);
        let absolute = format!("{root}/sub/p.c");
        expect_source_files(&shop, ".", &[version, "-Iinc", &absolute], plain);
        for (to, prefix) in [(".", "./"), ("/build", "/build/"), ("", "")] {
            let map = format!("-fdebug-prefix-map={root}={to}");
            let mapped = below(prefix);
            let mapped = [&*mapped[0], &*mapped[1], &*mapped[2], &*mapped[3]];
            expect_source_files(&shop, ".", &[version, &map, "-Iinc", "sub/p.c"], mapped);
        }
    }
    let inner = ["p.c", "h.h", "../inc/i.h", "../sub/deep/d.h"].map(|name| format!("{root}/sub/{name}"));
    let inner = [&*inner[0], &*inner[1], &*inner[2], &*inner[3]];
    expect_source_files(&shop, "sub", &["-gdwarf-5", "-I../inc", "p.c"], inner);
    let dotted =
        ["./p.c", "./h.h", "../inc/i.h", "./../sub/deep/d.h"].map(|name| format!("{root}/sub/{name}"));
    let dotted = [&*dotted[0], &*dotted[1], &*dotted[2], &*dotted[3]];
    expect_source_files(&shop, "sub", &["-gdwarf-4", "-I../inc", "./p.c"], dotted);
}

#[test]
fn lines_are_the_innermost_and_functions_the_outermost() {
    let shop = Workshop::new();
    shop.write(
        "in.h",
        "static inline __attribute__((always_inline)) int twice(int x)\n{\n    int y = x;\n    return y + x;\n}\n",
    );
    shop.write(
        "in.c",
        "#include \"in.h\"\n\nint seen = 3;\n\nstatic int helper(int x)\n{\n    if (x > 2)\n\
         \x20       return twice(x);\n    return x;\n}\n\nint fold(int n)\n{\n    int sum = 0;\n\
         \x20   for (int i = 0; i < n; i++)\n        sum += helper(i);\n    return sum;\n}\n\
         asm(\".text\\n.type quiet,@function\\nquiet: ret\\n.size quiet,.-quiet\\nlabel: ret\\n\");\n\n\
         int main(void)\n{\n    asm volatile(\"call quiet\\n call label\" ::: \"memory\");\n\
         \x20   return fold(seen + twice(1)) & 0;\n}\n",
    );
    // The keys of Valgrind 3.19's profile of this program (gcc 12, -O0, DWARF 4 and 5), which
    // executes every line: (file, function, lines). Code from `asm` takes the line before it.
    let profile: [(&str, &str, &[u32]); 7] = [
        ("in.c", "???", &[18]),
        ("in.c", "quiet", &[18]),
        ("in.c", "fold", &[13, 14, 15, 16, 17, 18]),
        ("in.c", "helper", &[6, 7, 8, 9, 10]),
        ("in.c", "main", &[22, 23, 24, 25]),
        ("in.h", "helper", &[3, 4]),
        ("in.h", "main", &[3, 4]),
    ];
    let root = shop.root().to_string_lossy().into_owned();
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        shop.run("gcc", &["-O0", version, "-o", "prog", "in.c"]);
        let info = info(&shop, "prog");
        // Every byte of the program's own code, as the C library's start-up code may have lines of
        // its own.
        let mut found = BTreeSet::new();
        for (start, end, file, _) in info.lines().iter().filter(|row| row.2.starts_with(&root)) {
            for place in (start..end).map(|vaddr| info.locate(vaddr)) {
                assert_eq!(&place.file, file);
                found.insert((file.to_string(), place.function.to_string(), place.line));
            }
        }
        let expected: BTreeSet<_> = profile
            .iter()
            .flat_map(|&(file, function, lines)| {
                lines
                    .iter()
                    .map(|&line| (format!("{root}/{file}"), function.to_owned(), line))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(found, expected, "{version}");
    }
}

#[test]
fn separate_and_compressed_files_say_the_same() {
    let shop = Workshop::new();
    sources(&shop);
    let link = ["-nostdlib", "-static", "-Wl,-e,main", "-Wl,--build-id", "-g", "-Iinc", "sub/p.c", "-o"];
    shop.run("gcc", &[&link[..], &["whole"]].concat());
    let whole = keys(&info(&shop, "whole"));
    assert!(whole.iter().any(|key| key.1 == "dd" && key.2 == 7));
    shop.run("objcopy", &["--only-keep-debug", "whole", "prog.debug"]);
    shop.run("objcopy", &["--remove-section=.note.gnu.build-id", "whole", "other"]);
    shop.run("objcopy", &["--strip-all", "--add-gnu-debuglink=prog.debug", "whole", "bare"]);
    let (bare, debug) = (shop.read("bare"), shop.read("prog.debug"));
    let links = Links::of(&elf(&bare));
    assert!(links.needs_debug_file() && !Links::of(&elf(&shop.read("whole"))).needs_debug_file());
    assert_eq!(links.debuglink, Some(("prog.debug".into(), zlib_rs::crc32::crc32(0, &debug))));
    assert_eq!(links.build_id.as_ref().map(Vec::len), Some(20));
    assert!(links.is_debug_file(&elf(&debug)) && !links.is_debug_file(&elf(&shop.read("other"))));
    let alone = DebugInfo::read(&alone(&bare), Wanted::All);
    assert_eq!((alone.symbols().iter().count(), alone.lines().iter().count()), (0, 0));
    assert_eq!(keys(&DebugInfo::read(&with_debug_file(&bare, &debug), Wanted::All)), whole);
    // Only the DWARF is missing, or only the symbols.
    shop.run("objcopy", &["--strip-debug", "whole", "symbols"]);
    assert_eq!(keys(&DebugInfo::read(&with_debug_file(&shop.read("symbols"), &debug), Wanted::All)), whole);
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        let flag = format!("--compress-debug-sections={kind}");
        shop.run("objcopy", &[&flag, "whole", kind]);
        assert_ne!(shop.read(kind), shop.read("whole"));
        assert_eq!(keys(&info(&shop, kind)), whole, "{kind}");
    }
    // A wrong checksum matters only without a build-id, as in Valgrind 3.19.
    let mut wrong = links.clone();
    wrong.debuglink = Some(("prog.debug".into(), 0));
    assert!(wrong.is_debug_file(&elf(&debug)));
    wrong.build_id = None;
    assert!(!wrong.is_debug_file(&elf(&debug)));
}

#[test]
fn file_offsets() {
    let shop = Workshop::new();
    shop.assemble("prog", SYMBOLS);
    let info = info(&shop, "prog");
    let main = address(&info, "main");
    let bytes = shop.read("prog");
    let files = alone(&bytes);
    let code = [0x90u8; 590];
    let at = bytes.windows(code.len()).position(|window| window == code).expect("the instructions");
    assert_eq!(files.vaddr_of_file_offset(at as u64), Some(address(&info, "outer")));
    assert!(main < address(&info, "outer"));
    assert_eq!(files.vaddr_of_file_offset(u64::MAX), None);
    assert_eq!(files.vaddr_of_file_offset(bytes.len() as u64 + 8192), None);
}

#[test]
fn damage_is_survived() {
    let shop = Workshop::new();
    sources(&shop);
    for version in ["-gdwarf-3", "-gdwarf-5"] {
        shop.run("gcc", &["-nostdlib", "-static", "-Wl,-e,main", version, "-Iinc", "sub/p.c", "-o", "prog"]);
        let good = shop.read("prog");
        let look = |bytes: &[u8]| {
            let file = || ElfFile::parse(Arc::new(bytes.to_vec())).ok();
            if let (Some(main), Some(alone)) = (file(), file()) {
                let _ = Links::of(&main);
                let companions = Companions { separate: file(), alternate: file(), package: None };
                let info = DebugInfo::read(&DebugFiles::new(main, companions), Wanted::All);
                for (start, end, ..) in info.lines().iter() {
                    assert!(start < end);
                    let _ = info.locate(end);
                }
                let files = DebugFiles::new(alone, Companions::default());
                let _ = DebugInfo::read(&files, Wanted::Offsets(&[0, 0x1000, 0x1010, 0x1020]));
            }
        };
        for length in (0..good.len()).step_by(61) {
            look(&good[..length]);
        }
        // A fixed linear congruential generator (Knuth's MMIX) chooses what to spoil.
        let mut seed = 1u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..4000 {
            let mut bad = good.clone();
            for _ in 0..1 + next(8) {
                let at = next(bad.len());
                bad[at] = [0, 0xff, 0x7f, 0x80, 1][next(5)];
            }
            look(&bad);
        }
    }
}

#[test]
fn other_files_are_refused() {
    let refusal = |bytes: &[u8]| ElfFile::parse(Arc::new(bytes.to_vec())).err();
    assert_eq!(refusal(&b""[..]), Some(ElfError::NotElf));
    assert_eq!(refusal(b"#!/bin/sh\n"), Some(ElfError::NotElf));
    assert_eq!(refusal(b"\x7fELF\x02\x01\x01"), Some(ElfError::NotElf));
    assert_eq!(refusal(b"\x7fELF\x01\x01\x01"), Some(ElfError::WrongClass { class: 1, data: 1 }));
    let mut header = [0; 64];
    header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    header[0x20] = 64;
    header[0x38] = 1;
    assert_eq!(refusal(&header), Some(ElfError::ProgramHeaders { offset: 64, count: 1 }));
}

/// Lines that are read for some addresses are those of the whole table.
#[test]
fn lines_read_in_part() {
    let shop = Workshop::new();
    sources(&shop);
    for unit in ["a", "b", "c"] {
        let text = format!("#include \"h.h\"\nint {unit}(int x) {{\n  return hh(x) * 3;\n}}\n");
        shop.write(&format!("sub/{unit}.c"), &text);
    }
    for flags in [
        &["-gdwarf-5", "-O2", "-gz=zlib"][..],
        &["-gdwarf-5", "-Os", "-falign-functions=1"],
        &["-gdwarf-5", "-O2", "-ffunction-sections", "-Wl,--gc-sections,--undefined=b"],
        &["-gdwarf-4", "-O2"],
        &["-gdwarf-5", "-gno-as-loc-support", "-fdebug-prefix-map=/=./"],
    ] {
        let common = ["-nostdlib", "-static", "-Wl,-e,main", "-Iinc", "-o", "prog"];
        let units = ["sub/p.c", "sub/a.c", "sub/b.c", "sub/c.c"];
        shop.run("gcc", &[&common[..], flags, &units].concat());
        let bytes = shop.read("prog");
        let files = alone(&bytes);
        let whole = info(&shop, "prog");
        let known: BTreeSet<u64> =
            whole.lines().iter().flat_map(|(start, end, ..)| [start, end - 1, end]).collect();
        assert!(known.len() > 4, "{flags:?}");
        let mut rows = BTreeSet::new();
        for offset in 0..bytes.len() as u64 {
            let Some(vaddr) = files.vaddr_of_file_offset(offset).filter(|vaddr| known.contains(vaddr)) else {
                continue;
            };
            let part = DebugInfo::read(&files, Wanted::Offsets(&[offset]));
            assert_eq!(part.locate(vaddr), whole.locate(vaddr), "{flags:?}: {vaddr:#x}");
            rows.insert(part.lines().iter().count());
        }
        if flags.contains(&"-gz=zlib") {
            // Something was left out, or this would show nothing.
            assert!(rows.last() < Some(&whole.lines().iter().count()), "{rows:?}");
        }
    }
}
