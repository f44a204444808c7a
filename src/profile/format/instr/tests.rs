use super::*;
use crate::profile::instructions::{CodeObject, InsnCosts, Instructions};

fn insn(function: &str, file: &str, line: u64, costs: [i64; 2]) -> InsnCosts {
    let bytes = |text: &str| text.as_bytes().into();
    InsnCosts { file: bytes(file), function: bytes(function), line, costs: costs.to_vec() }
}

fn sample() -> Instructions {
    let library = CodeObject {
        path: b"/lib/a b.so".to_vec(),
        identity: "build-id:0a1b".into(),
        biases: vec![0x7f00_0000_0000],
        instructions: [
            (0x1000, insn("(below main)", "a.c", 7, [3, 1])),
            (0x1004, insn("(below main)", "inl.h", 2, [3, 0])),
            (0x1008, insn("(below main)", "a.c", 8, [0, 0])),
            (0x2000, insn("g", "inl.h", 0, [i64::MAX - 10, 0])),
        ]
        .into(),
        code: Default::default(),
    };
    let made = CodeObject {
        path: b"???".to_vec(),
        instructions: [(u64::MAX - 1, insn("???", "???", 0, [1, 1]))].into(),
        code: [(u64::MAX - 1, vec![0x90, 0xc3])].into(),
        ..CodeObject::default()
    };
    Instructions {
        cmd: b"./p 1 2".to_vec(),
        events: vec![b"Ir".to_vec(), b"Dr".to_vec()],
        objects: vec![library, made],
    }
}

fn written(instructions: &Instructions) -> Vec<u8> {
    let mut out = Vec::new();
    write_instructions(instructions, &mut out).expect("memory");
    out
}

fn problem(text: &[u8]) -> String {
    read_instructions(text, "x").expect_err("refused").to_string()
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(read_instructions(&written(&sample())[..], "x").expect("ours"), sample());
}

/// The lines of the format's documentation.
#[test]
fn the_file() {
    let text = String::from_utf8(written(&sample())).expect("text");
    let (head, body) = text.split_once("\n\n").expect("a head");
    assert!(head.starts_with("# callgrind format\n#cgemu-instr: 1\nversion: 1\ncreator: cgemu "), "{head}");
    assert!(head.ends_with("\ncmd: ./p 1 2\npositions: instr line\nevents: Ir Dr"), "{head}");
    let expected = "\
#cgemu-object: build-id:0a1b bias:0x7f0000000000
ob=(1) /lib/a b.so
fl=(1) a.c
fn=(1) (below main)
0x1000 7 3 1
fi=(2) inl.h
0x1004 2 3 0
fe=(1)
0x1008 8 0 0
fl=(2)
fn=(2) g
0x2000 0 9223372036854775797 0

#cgemu-code: 0xfffffffffffffffe 90c3
ob=(2) ???
fl=(3) ???
fn=(3) ???
0xfffffffffffffffe 0 1 1

totals: 9223372036854775804 2
";
    assert_eq!(body, expected);
}

/// Every cut is refused or misses something; none is taken for the whole.
#[test]
fn cut_files_are_refused() {
    let whole = written(&sample());
    for length in 0..whole.len() - 3 {
        assert!(read_instructions(&whole[..length], "x").is_err(), "{length}");
    }
}

#[test]
fn callgrinds_own_files() {
    let text =
        b"# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npositions: instr line\nevents: Ir Dr\n\
        ob=(1) /bin/p\nfl=(1) p.c\nfn=(1) main\n0x1149 3 2 1\n+4 +1 5\ncfn=(2) f\ncalls=1 0x1200 9\n* * 70\n\
        +5 -1 1\njump=3 0x1149 3\n* *\ntotals: 8 1\n";
    let read = read_instructions(&text[..], "x").expect("valid");
    let [object] = &read.objects[..] else { panic!("{read:?}") };
    let costs: Vec<_> =
        object.instructions.iter().map(|(at, insn)| (*at, insn.line, insn.costs.clone())).collect();
    assert_eq!(costs, [(0x1149, 3, vec![2, 1]), (0x114d, 4, vec![5, 0]), (0x1152, 3, vec![1, 0])]);
    assert_eq!((object.path.as_slice(), object.identity.as_str()), (&b"/bin/p"[..], ""));
}

/// A symbol may be called anything.
#[test]
fn names_of_blanks() {
    for name in [&b""[..], b" ", b"\t ", b"(1)", b"(below main)", b"="] {
        let mut all = sample();
        for insn in all.objects.iter_mut().flat_map(|object| object.instructions.values_mut()) {
            insn.function = name.into();
        }
        let read = read_instructions(written(&all).as_slice(), "x").expect("our own file");
        assert_eq!(read, all, "{}", name.escape_ascii());
    }
}

/// As Callgrind writes several dumps with --combine-dumps=yes: each has its own head and totals.
#[test]
fn parts_are_summed() {
    let head = "positions: instr line\nevents: Ir\n";
    let text = format!(
        "{head}fn=(1) f\n0x10 1 2\n0x14 1 3\ntotals: 5\n\npart: 2\n{head}fn=(1)\n0x10 1 4\ntotals: 4\n"
    );
    let read = read_instructions(text.as_bytes(), "x").expect("valid");
    let costs: Vec<_> = read.objects[0].instructions.values().map(|insn| insn.costs[0]).collect();
    assert_eq!((costs, read.total()), (vec![6, 3], vec![9]));
    assert!(problem(text.replace("totals: 4", "totals: 9").as_bytes()).contains("total"));
}

#[test]
fn bad_files() {
    for (text, part) in [
        (&b""[..], "events"),
        (b"events: Ir\nfn=f\n5 1\n", "instr"),
        (b"#cgemu-instr: 2\n", "version 2"),
        (b"positions: instr line\nevents: Ir\n0x5\n", "position"),
        (b"positions: instr line\nevents: Ir\n-5 0 1\n", "position"),
        (b"positions: instr line\nevents: Ir\n0x+5 0 1\n", "position"),
        (b"positions: instr line\nevents: Ir\n5 0 1 2\n", "counts"),
        (b"positions: instr line\nevents: Ir\n5 0 x\n", "counts"),
        (b"positions: instr line\nevents: Ir\nfn=(7)\n", "(7)"),
        (b"#cgemu-code: 0x10 9\n", "malformed"),
        (b"#cgemu-object: id bias:x\n", "malformed"),
        (b"bogus\n", "malformed"),
        (b"positions: instr line\nevents: Ir\n5 0 1\ntotals: 2\n", "total"),
        (b"positions: instr line\nevents: Ir\n5 0 1\nevents: Dr\n", "part"),
    ] {
        let message = problem(text);
        assert!(message.contains(part) && message.starts_with("x:"), "{message} for {}", text.escape_ascii());
    }
}
