use std::collections::BTreeMap;
use std::process::Command;

use super::*;
use crate::symbols::debugger::inlined_sites;
use crate::symbols::testkit::{Workshop, alone, with_debug_file};

fn places(shop: &Workshop, name: &str) -> SymbolLookup {
    SymbolLookup::read(&alone(&shop.read(name)))
}

fn address(places: &SymbolLookup, name: &str) -> u64 {
    places.functions_named(name).first().expect(name).symbol.vaddr
}

fn names(meant: &[Match<'_>]) -> Vec<String> {
    meant.iter().map(|meant| format!("{:?} {}", meant.fit, meant.symbol.name)).collect()
}

/// Output of a tool of the host.
fn output(shop: &Workshop, tool: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool).args(arguments).current_dir(shop.root()).output();
    let output = output.unwrap_or_else(|error| panic!("{tool}: {error}; these tests need gcc and binutils"));
    String::from_utf8(output.stdout).expect("text")
}

const CPP: &str = "
namespace ns {
template <typename T> struct Box { T v; T get() const { return v; } };
namespace { __attribute__((noinline)) int hidden(int a) { return a + 1; } }
int counter;
static long values[10];
int f(int a) { return hidden(a); }
int f(char a) { return a; }
int main() { return 3; }
}
int f(double d) { return (int)d; }
thread_local int local = 3;
extern const char text[6] = \"hello\";
int main() {
    ns::Box<int> b{3};
    return b.get() + ns::f('c') + f(2.0) + ns::values[1] + ns::counter + local + ns::main();
}
";

#[test]
fn symbols_as_nm_lists_them() {
    let shop = Workshop::new();
    shop.write("c.cc", CPP);
    shop.run("g++", &["-O0", "-g", "-o", "c", "c.cc"]);
    let places = places(&shop, "c");
    let mut kinds = BTreeMap::new();
    for line in output(&shop, "nm", &["--print-size", "c"]).lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [value, size, kind, name] = fields[..] else { continue };
        let number = |text| u64::from_str_radix(text, 16).expect("a number");
        let (value, size) = (number(value), number(size));
        let (named, at) = match kind {
            "T" | "t" | "W" | "w" | "i" => {
                (places.functions_named(name), places.function_at(value + size - 1))
            }
            _ if name == "local" => {
                assert_eq!(places.data_named(name), []);
                continue;
            }
            _ => (places.data_named(name), places.data_at(value + size - 1)),
        };
        let first = named.first().unwrap_or_else(|| panic!("{line}"));
        assert_eq!((first.fit, first.symbol.vaddr, first.symbol.size), (Fit::Exact, value, size), "{line}");
        let at = at.unwrap_or_else(|| panic!("{line}"));
        assert_eq!((at.0.vaddr, at.1), (value, size - 1), "{line}");
        *kinds.entry(kind.to_ascii_uppercase()).or_insert(0) += 1;
    }
    // Six functions of the program's and the C library's start-up code; `counter` and `values`;
    // `text`.
    assert!(kinds["T"] >= 6 && kinds["B"] >= 2 && kinds["R"] >= 1, "{kinds:?}");
    assert_eq!(places.function_at(0), None);
    assert_eq!(places.data_at(u64::MAX), None);
    let value = places.data_named("ns::values")[0].symbol.clone();
    assert_eq!(places.data_at(value.vaddr + 8), Some((&value, 8)));
}

#[test]
fn functions_by_the_names_that_people_use() {
    let shop = Workshop::new();
    shop.write("c.cc", CPP);
    shop.run("g++", &["-O0", "-g", "-o", "c", "c.cc"]);
    let places = places(&shop, "c");
    let found = |name: &str| names(&places.functions_named(name));
    assert_eq!(found("main"), ["Exact main", "Tail _ZN2ns4mainEv"]);
    assert_eq!(found("ns::main"), ["Whole _ZN2ns4mainEv"]);
    assert_eq!(found("f"), ["Whole _Z1fd", "Tail _ZN2ns1fEi", "Tail _ZN2ns1fEc"]);
    assert_eq!(found("f(char)"), ["Tail _ZN2ns1fEc"]);
    assert_eq!(found("ns::f"), ["Whole _ZN2ns1fEi", "Whole _ZN2ns1fEc"]);
    assert_eq!(found("ns::f(int)"), ["Whole _ZN2ns1fEi"]);
    assert_eq!(found("hidden"), ["Tail _ZN2ns12_GLOBAL__N_16hiddenEi"]);
    assert_eq!(found("Box::get"), ["Tail _ZNK2ns3BoxIiE3getEv"]);
    assert_eq!(found("ns::Box<int>::get() const"), ["Whole _ZNK2ns3BoxIiE3getEv"]);
    assert_eq!(found("Box<char>::get"), [""; 0]);
    assert_eq!(found("_ZN2ns1fEi"), ["Exact _ZN2ns1fEi"]);
    assert_eq!(found("mai"), [""; 0]);
    assert_eq!(found(""), [""; 0]);
    assert_eq!(names(&places.data_named("counter")), ["Tail _ZN2ns7counterE"]);
    let all = places.function_names();
    assert!(all.is_sorted());
    for name in ["main", "ns::f(char)", "ns::(anonymous namespace)::hidden(int)", "ns::Box<int>::get() const"]
    {
        assert!(all.iter().any(|other| other == name), "{name}");
    }
    assert!(places.data_names().contains(&"ns::counter".to_owned()));
}

const LINES: &str = "#include \"sq.h\"

/* no code */
int table[8];

int two(int a)
{
    int b = a + 1;
    return sq(a) + sq(b);
}

int loop(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i];
    return sum;
}
int main(int argc, char **argv)
{
    return two(argc) + sq(argc) + loop(3);
}
";

const SQ: &str = "static inline __attribute__((always_inline)) int sq(int x)
{
    int y = x * x;
    return y - 3;
}
";

#[test]
fn lines() {
    let shop = Workshop::new();
    shop.write("src/l.c", LINES);
    shop.write("src/sq.h", SQ);
    for flags in [["-O0", "-gdwarf-5"], ["-O0", "-gdwarf-4"]] {
        shop.run("gcc", &[&flags[..], &["-o", "l", "src/l.c"]].concat());
        let places = places(&shop, "l");
        let files = alone(&shop.read("l"));
        let line = |file_name: &str, line| places.line_code(&files, file_name, line);
        // What addr2line says of an address: the innermost function and its place, the outermost
        // and its place.
        struct Told {
            function: String,
            place: String,
            outer: String,
            last: String,
        }
        let told = |address: &u64| {
            let text = output(&shop, "addr2line", &["-f", "-i", "-s", "-e", "l", &format!("{address:#x}")]);
            let lines: Vec<&str> =
                text.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
            let [function, place, ..] = lines[..] else { panic!("{text}") };
            let [.., outer, last] = lines[..] else { panic!("{text}") };
            let [function, place, outer, last] = [function, place, outer, last].map(str::to_owned);
            Told { function, place, outer, last }
        };
        // (line asked for, line found, how many addresses)
        for (asked, found, count) in [
            (1, 7, 1),
            (7, 7, 1),
            (8, 8, 1),
            (9, 9, 1),
            (11, 13, 1),
            (14, 14, 1),
            (15, 15, 1),
            (16, 16, 1),
            (17, 17, 1),
            (21, 21, 1),
        ] {
            let code = line("l.c", asked).expect("code");
            assert_eq!((code.line, code.addresses.len()), (found, count), "{flags:?} line {asked}");
            let begins = [7, 13].contains(&found);
            for address in &code.addresses {
                // A breakpoint at a function's first line is behind its prologue, where the next
                // line may begin with inlined code.
                let expected = if begins { found + 1 } else { found };
                assert_eq!(told(address).last, format!("l.c:{expected}"), "{flags:?} line {asked}");
            }
        }
        assert_eq!(line("l.c", 23), None);
        assert_eq!(line("none.c", 1), None);
        // Three copies of the inlined function.
        let copies = line("sq.h", 3).expect("code");
        let outer: Vec<_> = copies.addresses.iter().map(told).collect();
        assert_eq!(outer.iter().map(|told| told.outer.as_str()).collect::<Vec<_>>(), ["two", "two", "main"]);
        assert!(outer.iter().all(|told| told.function == "sq" && told.place == "sq.h:3"));
        // Any end of the path that begins with a directory will do.
        let whole = shop.path("src/l.c").to_string_lossy().into_owned();
        for name in ["src/l.c", "./src/l.c", "src/../src/l.c", &whole] {
            assert_eq!(line(name, 9), line("l.c", 9), "{name}");
        }
        assert_eq!(line("rc/l.c", 9), None);
        assert_eq!(line("/src/l.c", 9), None);
        assert_eq!(line("", 9), None);
        let files = places.files();
        assert!(files.contains(&whole) && files.iter().any(|file| file.ends_with("/src/sq.h")), "{files:?}");
    }
}

/// Rows that `.loc` makes of one-byte instructions, in a program of two functions.
const ROWS: &str = "
    .file 1 \"/d/a.c\"
    .file 2 \"/d/b.h\"
    .text
    .globl main
    .type main,@function
main:
    .loc 1 10
    endbr64
    push %rbp
    mov %rsp,%rbp
    sub $16,%rsp
    .loc 1 12
    nop
    nop
    .loc 1 12
    nop
    .loc 2 5 0 is_stmt 0
    nop
    .loc 2 5 0 is_stmt 1
    nop
    .loc 1 12
    nop
    .loc 1 13
    .loc 1 14
    nop
    ret
    .size main,.-main
    .type llvm,@function
llvm:
    .loc 1 20
    push %rbp
    .loc 1 21 0 prologue_end
    nop
    .loc 1 22
    ret
    .size llvm,.-llvm
    .type leaf,@function
leaf:
    .loc 1 30
    nop
    .loc 1 31
    ret
    .size leaf,.-leaf
    .section .debug_abbrev,\"\",@progbits
    .uleb128 1, 0x11
    .byte 0
    .uleb128 0x10, 0x17
    .byte 0, 0, 0
    .section .debug_info,\"\",@progbits
    .long 2f-1f
1:  .short 4
    .long 0
    .byte 8
    .uleb128 1
    .long 0
2:
    .section .debug_line,\"\",@progbits
";

#[test]
fn rows() {
    let shop = Workshop::new();
    shop.assemble("rows", ROWS);
    let places = places(&shop, "rows");
    let main = address(&places, "main");
    let files = alone(&shop.read("rows"));
    let place = |past: u64| {
        let place = places.source_line(main + past).expect("a line");
        (place.file.to_string(), place.line, place.start - main, place.end - main, place.is_stmt)
    };
    let (a, b) = ("/d/a.c".to_owned(), "/d/b.h".to_owned());
    // endbr64 4, push 1, mov 3, sub 4
    assert_eq!(place(0), (a.clone(), 10, 0, 12, true));
    assert_eq!(place(4), (a.clone(), 10, 0, 12, false));
    assert_eq!(place(12), (a.clone(), 12, 12, 15, true));
    assert_eq!(place(13), (a.clone(), 12, 12, 15, false));
    assert_eq!(place(14), (a.clone(), 12, 12, 15, true));
    assert_eq!(place(15), (b.clone(), 5, 15, 17, false));
    assert_eq!(place(16), (b.clone(), 5, 15, 17, true));
    assert_eq!(place(17), (a.clone(), 12, 17, 18, true));
    assert_eq!(place(18), (a, 14, 18, 20, true));
    let starts = |file: &str, line| {
        let code = places.line_code(&files, file, line).expect("code");
        (code.line, code.addresses.iter().map(|address| address - main).collect::<Vec<_>>())
    };
    // Without blocks there is one in each function.
    assert_eq!(starts("a.c", 12), (12, vec![12]));
    assert_eq!(starts("b.h", 1), (5, vec![16]));
    assert_eq!(starts("a.c", 13), (13, vec![18]));
    assert_eq!(starts("a.c", 1), (10, vec![12]));
    let behind = |name: &str| {
        let symbol = places.functions_named(name)[0].symbol;
        places.after_prologue(&files, symbol) - symbol.vaddr
    };
    assert_eq!((behind("main"), behind("llvm"), behind("leaf")), (12, 1, 0));
    let end = address(&places, "leaf") + 2;
    assert_eq!(
        (places.source_line(end), places.source_line(main - 1), places.source_line(u64::MAX)),
        (None, None, None)
    );
}

#[test]
fn frames_are_set_up() {
    for (code, length) in [
        (&[0x55, 0x48, 0x89, 0xe5, 0x90][..], Some(4)),
        (&[0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x8b, 0xec], Some(8)),
        (&[0x55, 0x53], None),
        (&[0x55, 0x48, 0x89], None),
        (&[], None),
    ] {
        assert_eq!(frame_setup(code), length, "{code:x?}");
    }
}

#[test]
fn paths() {
    for (path, parts) in [
        ("/a/b.c", &["", "a", "b.c"][..]),
        ("/a/./x/../b.c", &["", "a", "b.c"]),
        ("../b.c", &["..", "b.c"]),
        ("/../b.c", &["", "..", "b.c"]),
        ("b.c", &["b.c"]),
        ("", &[""]),
    ] {
        assert_eq!(normalised(path), parts, "{path}");
    }
}

#[test]
fn a_separate_file_says_the_same() {
    let shop = Workshop::new();
    shop.write("src/l.c", LINES);
    shop.write("src/sq.h", SQ);
    shop.run("gcc", &["-O0", "-g", "-o", "l", "src/l.c"]);
    shop.run("objcopy", &["--only-keep-debug", "l", "l.debug"]);
    shop.run("objcopy", &["--strip-all", "l", "bare"]);
    let (whole, bare, debug) = (shop.read("l"), shop.read("bare"), shop.read("l.debug"));
    let (whole, separate, bare) = (alone(&whole), with_debug_file(&bare, &debug), alone(&bare));
    let one = SymbolLookup::read(&whole);
    let two = SymbolLookup::read(&separate);
    assert_eq!(one.function_names(), two.function_names());
    assert_eq!(one.data_names(), two.data_names());
    for (file, line) in [("l.c", 1), ("sq.h", 3), ("l.c", 15)] {
        let code = one.line_code(&whole, file, line);
        assert!(code.is_some());
        assert_eq!(code, two.line_code(&separate, file, line));
    }
    let alone = SymbolLookup::read(&bare);
    assert!(alone.files().is_empty() && alone.line_code(&bare, "l.c", 1).is_none());
}

#[test]
fn inlined_copies() {
    let shop = Workshop::new();
    shop.write("src/l.c", LINES);
    shop.write("src/sq.h", SQ);
    for flags in [["-O0", "-gdwarf-5"], ["-O0", "-gdwarf-4"]] {
        shop.run("gcc", &[&flags[..], &["-o", "l", "src/l.c"]].concat());
        let files = alone(&shop.read("l"));
        let copies = inlined_sites::addresses(&files, "sq");
        // addr2line: the function that a copy is in, outermost last.
        let outer = |address: &u64| {
            let text = output(&shop, "addr2line", &["-f", "-i", "-s", "-e", "l", &format!("{address:#x}")]);
            text.lines().step_by(2).map(str::to_owned).collect::<Vec<_>>()
        };
        let chains: Vec<_> = copies.iter().map(outer).collect();
        assert_eq!(chains, [["sq", "two"], ["sq", "two"], ["sq", "main"]], "{flags:?}");
        assert!(inlined_sites::addresses(&files, "two").is_empty());
        assert!(inlined_sites::addresses(&files, "s").is_empty());
        assert!(inlined_sites::addresses(&files, "").is_empty());
    }
}

#[test]
fn inlined_copies_of_members_and_templates() {
    let shop = Workshop::new();
    shop.write(
        "c.cc",
        "namespace ns {
#define INLINE __attribute__((always_inline)) inline
struct A { int v; INLINE int get(int by) const { return v + by; } };
template <typename T> INLINE T twice(T a) { return a + a; }
}
INLINE int get(int a) { return a - 1; }
int main(int argc, char **) { ns::A a{argc}; return a.get(2) + ns::twice(argc) + ns::twice('a') + get(argc); }
",
    );
    shop.run("g++", &["-O0", "-g", "-o", "c", "c.cc"]);
    let files = alone(&shop.read("c"));
    let count = |name: &str| inlined_sites::addresses(&files, name).len();
    for (name, expected) in [
        ("get", 2),
        ("A::get", 1),
        ("ns::A::get(int) const", 1),
        ("get(int)", 2),
        ("twice", 2),
        ("twice<char>", 1),
        ("ns::twice<int>(int)", 1),
        ("B::get", 0),
    ] {
        assert_eq!(count(name), expected, "{name}");
    }
}
