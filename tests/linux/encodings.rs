//! Every opcode with every prefix, and at the end of a page, ends as on the host's CPU: the same
//! program runs on both and says what each encoding left. `isa` has the values that instructions
//! compute; this is about which instruction an encoding is, how long it is, and how it faults.

mod cases;
mod known;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use cgemu::x86::decode::{Refusal, Verdict};
use iced_x86::RflagsBits;

use crate::common::{cgemu, stderr, tool};
use crate::isa::known::{Vendor, vendor};
use cases::{Case, cases};
use known::is_known;

/// What the harness tells of an encoding, each in a word.
const FACETS: [&str; 8] = ["signal", "addr", "rip", "gpr", "flags", "x87", "xmm", "mem"];
const SIGNAL: usize = 0;
const FLAGS: usize = 4;

/// Signal, code, trap number and error code in a byte each: SIGILL, ILL_ILLOPN, #UD.
const UNDEFINED: u32 = 0x0006_0204;
/// SIGSEGV, SEGV_MAPERR, #PF by a fetch in user mode.
const FETCH: u32 = 0x140e_010b;

type Outcome = [u32; 8];

fn outcomes(bytes: &[u8]) -> Vec<Outcome> {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four"))).collect();
    words.chunks_exact(8).map(|outcome| outcome.try_into().expect("eight")).collect()
}

fn build(directory: &Path, cases: &[Case]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/isa/encodings.c");
    fs::copy(&source, directory.join("encodings.c")).expect("the harness");
    let records: Vec<u8> = cases.iter().flat_map(Case::record).collect();
    fs::write(directory.join("cases.bin"), records).expect("the cases");
    let words = "-O2 -static -no-pie -nostdlib -ffreestanding -fno-stack-protector -mgeneral-regs-only \
                 -fcf-protection=none -o encodings encodings.c";
    let words: Vec<&str> = words.split_whitespace().collect();
    let built = tool("gcc", directory, "gcc", &words);
    assert!(built.status.success(), "gcc: {}", stderr(&built));
}

fn native(directory: &Path) -> Output {
    let mut command = Command::new("./encodings");
    command.current_dir(directory).stdin(Stdio::null()).output().expect("it runs")
}

/// Runs a part of the cases.
fn emulated(directory: &Path, first: usize, count: usize) -> Output {
    let (first, count) = (first.to_string(), count.to_string());
    let words =
        ["run", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--", "./encodings", &first, &count];
    cgemu(directory, &words).output().expect("cgemu starts")
}

/// Which flags are defined after the instruction.
fn defined(case: &Case) -> u32 {
    let undefined = case.instruction.rflags_undefined();
    let bits: [(u32, u32); 6] = [
        (RflagsBits::OF, 0x800),
        (RflagsBits::SF, 0x80),
        (RflagsBits::ZF, 0x40),
        (RflagsBits::AF, 0x10),
        (RflagsBits::PF, 4),
        (RflagsBits::CF, 1),
    ];
    bits.iter().filter(|(bit, _)| undefined & bit != 0).fold(!0, |mask, (_, value)| mask & !value)
}

/// The facets in which the outcomes differ and should not.
fn differences(
    case: &Case,
    place: usize,
    cpu: &Outcome,
    engine: &Outcome,
    vendor: Vendor,
) -> Vec<&'static str> {
    let is_undefined =
        |outcome: &Outcome| outcome[SIGNAL] == UNDEFINED || place > 0 && outcome[SIGNAL] == FETCH;
    match case.verdict {
        // How many bytes of an undefined instruction are fetched is the CPU's affair.
        Verdict::Refuse(Refusal::Undefined) if is_undefined(cpu) && is_undefined(engine) => {
            return Vec::new();
        }
        // The host may have it.
        Verdict::Refuse(Refusal::Unsupported) if is_undefined(engine) => return Vec::new(),
        _ => {}
    }
    let mask = defined(case);
    let differs = |i: usize| {
        let keep = if i == FLAGS { mask } else { !0 };
        cpu[i] & keep != engine[i] & keep
    };
    let facets = (0..FACETS.len()).filter(|i| differs(*i)).map(|i| FACETS[i]);
    facets.filter(|facet| !is_known(case, facet, vendor)).collect()
}

#[test]
fn every_encoding_as_on_the_cpu() {
    let vendor = vendor();
    let cases = cases();
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    build(directory, &cases);
    let places: usize = cases.iter().map(Case::places).sum();
    println!("{} encodings in {places} places", cases.len());
    let half = cases.len() / 2;
    let halves = [(0, half), (half, cases.len() - half)];
    let on_cpu = native(directory);
    assert!(on_cpu.status.success(), "on the CPU: {}", on_cpu.status);
    let parts = thread::scope(|scope| {
        let threads = halves.map(|(first, count)| scope.spawn(move || emulated(directory, first, count)));
        threads.map(|thread| thread.join().expect("a thread"))
    });
    let mut got = Vec::new();
    for (part, (first, _)) in parts.iter().zip(halves) {
        let said = stderr(part);
        assert!(part.status.success(), "from {first} on: {} {said}", part.status);
        // The notice of `translator.rs`.
        assert!(!said.contains("in another way than the rules of counting"), "from {first} on: {said}");
        got.extend(outcomes(&part.stdout));
    }
    let expected = outcomes(&on_cpu.stdout);
    assert_eq!((expected.len(), got.len()), (places, places));
    let mut pairs = expected.iter().zip(&got);
    // By what differs, the instruction and the signals: how often, and the first ones.
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in &cases {
        for place in 0..case.places() {
            let (cpu, engine) = pairs.next().expect("as many as places");
            let facets = differences(case, place, cpu, engine, vendor);
            if facets.is_empty() {
                continue;
            }
            let of = |outcome: &Outcome| format!("{:08x} at {:#x}", outcome[SIGNAL], outcome[2]);
            let key = format!("{:?} ({:?}) {}", case.instruction.mnemonic(), case.verdict, facets.join(" "));
            let bytes: String = case.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let text = format!("{bytes} in place {place}: CPU {}, cgemu {}", of(cpu), of(engine));
            groups.entry(key).or_default().push(text);
        }
    }
    let mut report = String::new();
    for (key, examples) in &groups {
        let first = examples.iter().take(3).map(|text| format!("    {text}\n"));
        report.push_str(&format!("{key}: {}\n{}", examples.len(), first.collect::<String>()));
    }
    assert!(report.is_empty(), "what differs:\n{report}");
}
