//! One function for each reader of foreign bytes: it must come back from any input, and what it read must make sense.
//! `fuzz_targets/` runs them under libFuzzer, `tests/readers/fuzz_corpus.rs` over the kept inputs.

use std::sync::Arc;

use cgemu::classic::diff::{FunctionCounts, Renaming};
use cgemu::classic::lenient::LenientReader;
use cgemu::classic::merge::StrictProfile;
use cgemu::debugger::evaluate::{Scope, Symbol};
use cgemu::debugger::expr::{Counter, Expression};
use cgemu::debugger::format::Format;
use cgemu::debugger::registers::Register;
use cgemu::debugger::value::Value;
use cgemu::loader::{self, script};
use cgemu::profile::{
    CallgrindReader, CgReader, Record, is_callgrind, read_instructions, write_instructions,
};
use cgemu::symbols::debug_files::{Companions, DebugFiles};
use cgemu::symbols::debugger::cfi::{Cfi, REGISTERS};
use cgemu::symbols::debugger::inline::Inlines;
use cgemu::symbols::debugger::inlined_sites;
use cgemu::symbols::debugger::symbol_lookup::SymbolLookup;
use cgemu::symbols::debugger::unwind::{Module, unwind};
use cgemu::symbols::debuglink::Links;
use cgemu::symbols::elf::ElfFile;
use cgemu::symbols::object_code::ObjectCode;
use cgemu::symbols::valgrind::debug_info::{DebugInfo, Wanted};

/// Reads input of any kind; must not panic.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: &[(&str, Target)] = &[
    ("cachegrind", cachegrind),
    ("lenient", lenient),
    ("strict", strict),
    ("callgrind", callgrind),
    ("diff", diff),
    ("instr", instr),
    ("elf", elf),
    ("debug", debug),
    ("script", script),
    ("expr", expr),
];

/// The reader of `cgemu annotate`: its total is the sum of what it reports.
pub fn cachegrind(bytes: &[u8]) {
    let Ok(mut reader) = CgReader::new(bytes, "input") else { return };
    let mut sum = vec![0_i64; reader.head().events.len()];
    loop {
        match reader.next_record() {
            Ok(Some(Record::Counts { counts, .. })) => {
                assert_eq!(counts.len(), sum.len());
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            Ok(Some(_)) => {}
            Ok(None) => return assert_eq!(reader.total(), sum),
            Err(_) => return,
        }
    }
}

/// The reader of `--classic`.
pub fn lenient(bytes: &[u8]) {
    let Ok(mut reader) = LenientReader::new(bytes, "input") else { return };
    while let Ok(Some(_)) = reader.next_record() {}
}

/// The reader of `cgemu merge`: what it writes it reads again, to the same.
pub fn strict(bytes: &[u8]) {
    let Ok(profile) = StrictProfile::read(bytes, "input") else { return };
    let written = |profile: &StrictProfile| {
        let mut text = Vec::new();
        profile.write(&mut text).expect("memory takes it");
        text
    };
    let first = written(&profile);
    if let Ok(again) = StrictProfile::read(first.as_slice(), "written") {
        assert_eq!(written(&again), first);
    }
}

/// The reader of the Callgrind format: counts have a number for each event, and the whole is at least the lines' sum.
pub fn callgrind(bytes: &[u8]) {
    let _ = is_callgrind(bytes);
    let Ok(mut reader) = CallgrindReader::new(bytes, "input") else { return };
    let width = reader.head().events.len();
    let mut sum = vec![0_i64; width];
    loop {
        match reader.next_record() {
            Ok(Some(Record::Counts { counts, .. })) => {
                assert_eq!(counts.len(), width);
                for (sum, count) in sum.iter_mut().zip(counts) {
                    // Parts are checked one by one; only their sum may be too large here.
                    let Some(next) = sum.checked_add(*count) else { return };
                    *sum = next;
                }
            }
            Ok(Some(Record::Call { counts, .. })) => assert_eq!(counts.len(), width),
            Ok(Some(_)) => {}
            Ok(None) => return assert!(reader.total().iter().zip(&sum).all(|(all, sum)| all >= sum)),
            Err(_) => return,
        }
    }
}

/// The reader of side files: what it read can be written and read again, with the same counts.
pub fn instr(bytes: &[u8]) {
    let Ok(read) = read_instructions(bytes, "input") else { return };
    let mut text = Vec::new();
    write_instructions(&read, &mut text).expect("memory takes it");
    let again = read_instructions(text.as_slice(), "written").expect("our own file");
    assert_eq!((again.total(), &again.events), (read.total(), &read.events));
}

/// `cgemu diff` of a file and itself.
pub fn diff(bytes: &[u8]) {
    let read = || FunctionCounts::read(b"input", bytes, &Renaming::default(), &mut |_, _| {});
    if let (Ok(first), Ok(mut second)) = (read(), read()) {
        second.subtract(&first).expect("the same events");
        second.write(&first, [b"a", b"b"], &mut Vec::new());
    }
}

/// The headers of a program that is to run.
pub fn elf(bytes: &[u8]) {
    if let Ok(image) = loader::parse(bytes) {
        let _ = (image.span_len(), image.bias_at(0x5555_5555_4000));
    }
}

/// Symbols, line tables and inlined calls; the input is also its own debug file, package and split unit.
pub fn debug(bytes: &[u8]) {
    let file = || ElfFile::parse(Arc::new(bytes.to_vec())).ok();
    let Some(main) = file() else { return };
    let _ = Links::of(&main);
    let alone = DebugFiles::new(main, Companions::default());
    let Some(main) = file() else { return };
    let companions = Companions { separate: file(), alternate: file(), package: file() };
    let complete = DebugFiles::new(main, companions);
    for files in [&alone, &complete] {
        let code = ObjectCode::read(files);
        let inlines = Inlines::read(files);
        for vaddr in [0, 0x1000, 0x1010, 0x40_1000, u64::MAX] {
            let _ = (code.label(vaddr), code.function(vaddr), code.bytes(vaddr, 16));
            if let Some(inlines) = &inlines {
                let _ = inlines.chain(vaddr, &|_| file().into_iter().collect());
            }
        }
    }
    lookup(&alone);
    frames(&complete);
    for (files, wanted) in [(&alone, Wanted::All), (&complete, Wanted::Offsets(&[0x1000]))] {
        let info = DebugInfo::read(files, wanted);
        for offset in [0, 0x1000, 0x1010, u64::MAX] {
            if let Some(address) = files.vaddr_of_file_offset(offset) {
                let _ = info.locate(address);
            }
        }
    }
}

/// Names and lines for the debugger: the line of an address has a start and an end around it.
fn lookup(files: &DebugFiles) {
    let lookup = SymbolLookup::read(files);
    let _ = (lookup.function_names(), lookup.data_names(), lookup.functions_named("main"));
    let _ = inlined_sites::addresses(files, "f");
    for file in lookup.files() {
        if let Some(code) = lookup.line_code(files, &file, 1) {
            assert!(!code.addresses.is_empty() && code.line > 0);
            for address in code.addresses {
                let line = lookup.source_line(address).expect("a line");
                assert!(line.start <= address && address < line.end);
            }
        }
    }
}

/// Call frame information: stacks end, whatever is on them.
fn frames(files: &DebugFiles) {
    let cfi = Arc::new(Cfi::read(files));
    for pc in [0x1000, 0x1010, 0x40_1000, 0x40_1001] {
        let mut find = |_| Some(Module { cfi: Some(Arc::clone(&cfi)), bias: 0, function: Some(0x1000) });
        let mut memory = |address: u64| (address < 1 << 32).then_some(address ^ pc);
        let stack = unwind(&[Some(pc); REGISTERS], 10, &mut find, &mut memory);
        assert!((1..=10).contains(&stack.frames.len()));
    }
}

/// `#!` lines.
pub fn script(bytes: &[u8]) {
    if let Ok(script) = script::parse(bytes) {
        let _ = script.argv(b"/script", &[b"script".to_vec(), b"one".to_vec()]);
    }
}

/// Every name has a value, and memory is its own address.
struct Everything;

impl Scope for Everything {
    fn register(&mut self, register: Register) -> Option<u64> {
        (register != Register::GsBase).then_some(u64::MAX)
    }

    fn vector(&mut self, number: u8) -> Option<[u8; 16]> {
        Some([number; 16])
    }

    fn x87(&mut self, number: u8) -> Option<[u8; 10]> {
        Some([number; 10])
    }

    fn memory(&mut self, address: u64, buf: &mut [u8]) -> Result<(), usize> {
        for (at, byte) in buf.iter_mut().enumerate() {
            let address = address.wrapping_add(at as u64);
            *byte = (address < 1 << 47).then_some(address as u8).ok_or(at)?;
        }
        Ok(())
    }

    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        let len = name.len() as u64;
        (len < 8).then_some(Symbol::data(len, len))
    }

    fn counter(&mut self, _: Counter) -> Option<u64> {
        Some(u64::MAX)
    }

    fn variable(&mut self, name: &str) -> Option<Value> {
        (name.len() < 8).then_some(Value::Float(0.5))
    }

    fn symbols(&mut self) -> Vec<String> {
        vec!["main".to_owned(), String::new()]
    }

    fn variables(&mut self) -> Vec<String> {
        vec!["mark".to_owned()]
    }
}

/// Expressions of the debugger: they have a value or an error of one line, and binding symbols changes neither.
pub fn expr(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let columns = text.chars().count() + 1;
    let expression = match Expression::parse(&text) {
        Ok(expression) => expression,
        Err(error) => return assert!((1..=columns).contains(&error.column), "{error}"),
    };
    let value = expression.evaluate(&mut Everything);
    match &value {
        Ok(value) => {
            for letter in "xduotacfsi".chars() {
                let format = Format::from_letter(letter).expect("a format");
                let shown = format.show(value, &mut |_| Some("symbol".to_owned()));
                assert!(!shown.contains('\n'), "{shown}");
            }
        }
        Err(error) => assert!((1..=columns).contains(&error.column), "{error}"),
    }
    let _ = expression.place(&mut Everything);
    if let Ok(bound) = expression.bind(&mut Everything) {
        // NaN is not equal to itself.
        assert_eq!(format!("{:?}", bound.evaluate(&mut Everything)), format!("{value:?}"));
    }
}
