use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use super::*;
use crate::guest::Gpr;
use crate::profile::Event;
use crate::symbols::testkit::Workshop;

/// A task with numbered registers, 256 bytes of memory from 0x1000 on, and a few names.
#[derive(Default)]
struct Task {
    variables: BTreeMap<String, Value>,
}

const BASE: u64 = 0x1000;

fn byte(address: u64) -> Option<u8> {
    let text = b"hello, world\0";
    let at = usize::try_from(address.checked_sub(BASE)?).ok()?;
    match at {
        0..16 => Some(text.get(at).copied().unwrap_or(0)),
        16..24 => 1.5f64.to_le_bytes().get(at - 16).copied(),
        24..28 => (-2.0f32).to_le_bytes().get(at - 24).copied(),
        // The end of memory, without a NUL.
        28..256 => Some(at as u8),
        _ => None,
    }
}

impl Scope for Task {
    fn register(&mut self, register: Register) -> Option<u64> {
        match register {
            Register::Gpr(Gpr::R15) => None,
            Register::Gpr(Gpr::Rax) => Some(u64::MAX),
            Register::Gpr(gpr) => Some(BASE + 0x10 * gpr as u64),
            Register::Rip => Some(0x40_1000),
            Register::Rflags => Some(0x246),
            Register::FsBase | Register::GsBase => Some(0),
        }
    }

    fn vector(&mut self, number: u8) -> Option<[u8; 16]> {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&2.5f64.to_le_bytes());
        bytes[8..12].copy_from_slice(&0x8000_0001u32.to_le_bytes());
        bytes[15] = number;
        Some(bytes)
    }

    fn x87(&mut self, number: u8) -> Option<[u8; 10]> {
        let mut bytes = [0; 10];
        // 1.5 times 2 to the power of the number.
        bytes[..8].copy_from_slice(&0xc000_0000_0000_0000_u64.to_le_bytes());
        bytes[8..].copy_from_slice(&(0x3fff + u16::from(number)).to_le_bytes());
        Some(bytes)
    }

    fn memory(&mut self, address: u64, buf: &mut [u8]) -> Result<(), usize> {
        for (at, to) in buf.iter_mut().enumerate() {
            *to = byte(address.wrapping_add(at as u64)).ok_or(at)?;
        }
        Ok(())
    }

    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        match name {
            "main" => Some(Symbol::code(0x40_1126)),
            "f(int)" => Some(Symbol::code(0x40_2000)),
            "a::b" => Some(Symbol::code(0x40_3000)),
            "text" => Some(Symbol::data(BASE, 13)),
            "half" => Some(Symbol::data(BASE + 22, 2)),
            "minus" => Some(Symbol::data(BASE + 24, 4)),
            "gone" => Some(Symbol::data(0x10, 8)),
            "Ir" => Some(Symbol::code(1)),
            _ => None,
        }
    }

    fn counter(&mut self, counter: Counter) -> Option<u64> {
        match counter {
            Counter::Instructions => Some(5000),
            Counter::Event(Event::D1mr) => Some(12),
            Counter::Event(Event::Ir) => Some(4000),
            Counter::Event(_) => None,
        }
    }

    fn variable(&mut self, name: &str) -> Option<Value> {
        self.variables.get(name).cloned()
    }

    fn symbols(&mut self) -> Vec<String> {
        ["main", "f(int)", "a::b", "text", "Ir"].map(str::to_owned).to_vec()
    }

    fn variables(&mut self) -> Vec<String> {
        self.variables.keys().cloned().collect()
    }
}

fn task() -> Task {
    let variables = BTreeMap::from([
        ("mark".to_owned(), Value::signed(4990)),
        ("v".to_owned(), Value::Vector([7; 16])),
        ("name".to_owned(), Value::Bytes(b"hello".to_vec())),
    ]);
    Task { variables }
}

fn compute(text: &str) -> Result<Value, ExprError> {
    Expression::parse(text).and_then(|expression| expression.evaluate(&mut task()))
}

fn expect(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        let found = compute(text).map_or_else(|error| error.to_string(), |value| value.to_string());
        assert_eq!(&found, expected, "{text}");
    }
}

#[test]
fn names() {
    expect(&[
        ("$rax == -1 && $eax == -1 && $al == -1", "1"),
        ("$rax == 0xffffffffffffffff", "1"),
        ("$rax < 0", "1"),
        ("$rbx", "4144"),
        ("$pc == $rip", "1"),
        ("$sp - 8 == $rsp + -8", "1"),
        ("main", "4198694"),
        ("&main == main", "1"),
        ("'f(int)' - 'a::b' + a::b", "4202496"),
        ("Ir", "4000"),
        ("'Ir'", "1"),
        ("instructions - $mark > 9 && D1mr * 100 / Ir < 1", "1"),
        ("D1mr - 13 < 0", "1"),
        ("$xmm3.f64[0]", "2.5"),
        ("$xmm3.u8[15]", "3"),
        ("$xmm3.u32[2] + $xmm3.i32[2]", "2"),
        ("$xmm1", "0x0100000080000001_4004000000000000".replace('_', "").as_str()),
        ("$xmm1 == $xmm1 && $xmm1 != $xmm2", "1"),
        ("$v.u16[7]", "1799"),
        ("$st0", "1.5"),
        ("$st7 - $st2 / 4", "190.5"),
        ("text - main", "-4194598"),
        ("(text - main) / 2", "-2097299"),
    ]);
}

#[test]
fn memory() {
    expect(&[
        ("str[text]", "\"hello, world\""),
        ("str[text + 7] == \"world\"", "1"),
        ("$name < str[text]", "1"),
        ("u8[text] == 'h'", "1"),
        ("*text == u64[text]", "1"),
        ("f64[0x1010] * 2", "3.0"),
        ("f32[0x1018]", "-2.0"),
        ("i8[0x10ff]", "-1"),
        ("u16[0x10fe]", "65534"),
        ("&u32[text + 4] - text", "4"),
        ("&*main == main", "1"),
        ("&(*main) == main", "1"),
        ("**text", "column 1: cannot read 8 bytes of memory at 0x77202c6f6c6c6568"),
        ("0 ? *0 : 3", "3"),
        ("0 && *0", "0"),
        ("1 || *0", "1"),
        ("2 && 3", "1"),
        ("0 || 0.0", "0"),
    ]);
    let place = |text: &str| Expression::parse(text).and_then(|e| e.place(&mut task()));
    assert_eq!(place("u32[text + 4]"), Ok(Some((BASE + 4, 4))));
    assert_eq!(place("*main"), Ok(Some((0x40_1126, 8))));
    assert_eq!(place("(str[text])"), Ok(Some((BASE, 12))));
    assert_eq!(place("u8[1 ? 2 : 3]"), Ok(Some((2, 1))));
    for text in ["main", "*main + 1", "1 ? *main : *text", "1 && *main", "-*main", "$rax"] {
        assert_eq!(place(text), Ok(None), "{text}");
    }
}

#[test]
fn errors() {
    expect(&[
        ("", "column 1: an expression is missing; write for example $rax + 8"),
        ("1 +", "column 4: a value is missing before the end"),
        ("(1", "column 3: `)` is missing before the end"),
        ("1 2", "column 3: `2` cannot follow a complete expression"),
        ("$rax = 3", "column 6: `=` does not compare; write `==`"),
        ("1 ? 2", "column 6: `:` is missing before the end"),
        ("1 / (2 - 2)", "column 3: division by zero"),
        ("5 % 0", "column 3: division by zero"),
        ("mian + 1", "column 1: no symbol mian; did you mean main?"),
        ("1 + D1mrr", "column 5: no symbol D1mrr; did you mean D1mr?"),
        ("zzzzz", "column 1: no symbol zzzzz"),
        ("$rxx", "column 1: no register or variable $rxx; did you mean $rax?"),
        ("$marc", "column 1: no register or variable $marc; did you mean $mark?"),
        ("$r15", "column 1: the value of $r15 is not known here"),
        ("Bc > 1", "column 1: Bc is not counted in this run; start with --branch-sim=yes"),
        ("DLmr > 1", "column 1: DLmr is not counted in this run; start with --cache-sim=yes"),
        ("1 + u32[0x10fd]", "column 5: cannot read 4 bytes of memory at 0x10fd"),
        ("str[0x1080]", "column 1: cannot read 1 byte of memory at 0x1100"),
        ("1.5 % 2", "column 5: `%` does not take a floating-point number"),
        ("~1.5", "column 1: `~` does not take a floating-point number"),
        ("\"a\" + 1", "column 5: `+` does not take a string"),
        ("$xmm0 + 1", "column 7: `+` does not take a vector"),
        ("-$xmm0", "column 1: `-` does not take a vector"),
        ("*1.5", "column 1: an address is an integer, not a floating-point number"),
        ("$xmm0.f32[4]", "column 7: lane 4 does not exist; there are 4, from 0"),
        ("$xmm0.f32[-1]", "column 7: lane -1 does not exist; there are 4, from 0"),
        (
            "$xmm0.f16[0]",
            "column 7: `f16` is no lane type; write u8, i8, u16, i16, u32, i32, u64, i64, f32 or f64",
        ),
        ("$rax.u8[0]", "column 6: only $xmm registers have lanes, not an integer"),
        ("1 << -1", "column 3: a shift by -1 bits; the count may not be negative"),
        ("&1", "column 1: `&` needs a symbol or memory, such as &main or &u32[$rsp]"),
        ("&&main", "column 1: `&` needs a symbol or memory, such as &main or &u32[$rsp]"),
        ("é", "column 1: no symbol é"),
        ("\"é\" == 1 #", "column 10: `#` has no meaning here"),
    ]);
}

#[test]
fn small_data_is_its_value() {
    // The upper bytes of 1.5 are 0x3ff8; -2.0 as f32 is 0xc0000000, whose sign is that of an int.
    expect(&[
        ("half", "16376"),
        ("half == 0x3ff8 && minus < 0", "1"),
        ("minus", "-1073741824"),
        ("&minus == 0x1018", "1"),
        ("u32[&minus] == 0xc0000000", "1"),
        ("&(half) - &text", "22"),
        ("text == 0x1000 && &text == text", "1"),
        ("gone", "column 1: cannot read 8 bytes of memory at 0x10"),
    ]);
    let place = |text: &str| {
        let bound = Expression::parse(text).and_then(|expression| expression.bind(&mut task()));
        let bound = bound.and_then(|bound| bound.place(&mut task())).expect("it can be computed");
        let free = Expression::parse(text).and_then(|expression| expression.place(&mut task()));
        assert_eq!(free, Ok(bound), "{text}");
        bound
    };
    assert_eq!(place("(half)"), Some((BASE + 22, 2)));
    assert_eq!(place("&half"), None);
    assert_eq!(place("text"), None);
    assert_eq!(place("1 ? half : half"), None);
    let bound = Expression::parse("half + 1").and_then(|expression| expression.bind(&mut task()));
    assert_eq!(bound.and_then(|bound| bound.evaluate(&mut task())), compute("16377"));
}

#[test]
fn binding_finds_unknown_symbols() {
    let parse = |text: &str| Expression::parse(text).expect("an expression");
    let bound = parse("main + (0 && text)").bind(&mut task()).expect("known symbols");
    assert_eq!(bound.evaluate(&mut Task::default()), compute("main + 0"));
    let error = parse("1 || mian").bind(&mut task()).expect_err("an unknown symbol");
    assert_eq!(error.to_string(), "column 6: no symbol mian; did you mean main?");
    let counters: Vec<&str> = parse("Ir > 3 && D1mr").counters().map(Counter::name).collect();
    assert_eq!(counters, ["Ir", "D1mr"]);
}

#[test]
fn nothing_is_too_long_or_too_deep() {
    let many = 100_000;
    let deep = format!("{}1{}", "(".repeat(many), ")".repeat(many));
    assert_eq!(compute(&deep).map_err(|error| error.problem), Err(Problem::TooDeep));
    assert!(compute(&"u8[".repeat(many)).is_err());
    assert!(compute(&"1?".repeat(many)).is_err());
    assert!(compute(&"1?1:".repeat(many)).is_err());
    assert_eq!(compute(&format!("{}1", "-".repeat(many))), Ok(Value::signed(1)));
    assert_eq!(compute(&format!("1{}", "+1".repeat(many))), Ok(Value::signed(many as i64 + 1)));
    assert_eq!(compute(&format!("1{}", "||1".repeat(many))), Ok(Value::signed(1)));
    assert!(compute(&"*".repeat(many)).is_err());
    let (open, close) = ("(1||1&&1|1^1&1==1<1<<1+1*".repeat(99), ")".repeat(99));
    assert!(compute(&format!("{open}1{close}")).is_ok());
}

/// Random expressions over numbers, beside what gcc makes of them.
#[test]
fn as_c_computes() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let texts: Vec<String> = (0..400).map(|_| random(&mut next, 4)).collect();
    let mut program = String::from("#include <stdio.h>\nint main(void) {\n");
    for text in &texts {
        // `int` is `long` here.
        writeln!(program, "printf(\"%lu\\n\", (unsigned long)({}));", text.replace('_', "L"))
            .expect("a string");
    }
    program.push_str("return 0; }\n");
    let shop = Workshop::new();
    shop.write("c.c", &program);
    shop.run("gcc", &["-w", "-O0", "-fwrapv", "-o", "c", "c.c"]);
    let output = Command::new(shop.path("c")).output().expect("a program");
    let output = String::from_utf8(output.stdout).expect("numbers");
    assert_eq!(output.lines().count(), texts.len());
    for (text, line) in texts.iter().zip(output.lines()) {
        let value = compute(text).expect(text).as_u64().expect("an integer");
        assert_eq!(value.to_string(), line, "{text}");
    }
}

/// An expression as C has it, with `_` behind each number and `long` for every truth value.
fn random(next: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
    const NUMBERS: [&str; 8] = [
        "0_",
        "1_",
        "7_",
        "255_",
        "0x7fffffffffffffff_",
        "0x8000000000000000_",
        "0xffffffffffffffff_",
        "0xdeadbeef_",
    ];
    if depth == 0 || next(8) == 0 {
        return NUMBERS[next(NUMBERS.len())].to_owned();
    }
    let left = random(next, depth - 1);
    let right = random(next, depth - 1);
    match next(12) {
        0 => format!("- {left}"),
        1 => format!("~{left}"),
        2 => format!("!{left}"),
        3 => format!("({left})"),
        4 => format!("(({left}) {} (({right}) & 255_ | 1_))", ["/", "%"][next(2)]),
        5 => format!("((({left}) + 0_) {} (({right}) & 63_))", ["<<", ">>"][next(2)]),
        _ => {
            const SIGNS: [&str; 14] =
                ["+", "-", "*", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "&&", "||"];
            format!("{left} {} {right}", SIGNS[next(SIGNS.len())])
        }
    }
}
