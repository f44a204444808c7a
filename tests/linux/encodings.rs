//! Every opcode with every prefix, and at the end of a page, ends as on a CPU: the same program
//! runs on both and says what each encoding left. `isa` has the values that instructions compute;
//! this is about which instruction an encoding is, how long it is, and how it faults.
//!
//! Manuals leave much of that open, and CPUs differ. So the CPU is always one of `MEASURED`:
//! `testdata/isa/encodings.txt` holds what it does, and on such a host the file itself is checked.

mod cases;
mod known;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use cgemu::x86::decode::{Refusal, Verdict};

use crate::common::{cgemu, golden, stderr, tool};
use crate::isa::generate::FLAGS as ARITHMETIC;
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

/// SIGILL, however many bytes were fetched.
const ALWAYS_UNDEFINED: Outcome = [UNDEFINED, 0, 0, 0, 0, 0, 0, 0];

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
    ARITHMETIC.iter().filter(|(bit, _)| undefined & bit != 0).fold(!0, |mask, (_, value)| mask & !value)
}

/// Makers and families of the CPUs whose outcomes the record has.
const MEASURED: [(Vendor, &str); 1] = [(Vendor::Amd, "26")];

/// The maker of the measured CPUs.
const MAKER: Vendor = MEASURED[0].0;

/// True on a host with a CPU of `MEASURED`, and with its UMIP, by which Linux answers some
/// instructions in place of the CPU.
fn is_measured() -> bool {
    let info = fs::read_to_string("/proc/cpuinfo").expect("/proc/cpuinfo");
    if !info.lines().any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "umip")) {
        return false;
    }
    let family = info.lines().find_map(|line| line.strip_prefix("cpu family")?.split(": ").nth(1));
    MEASURED.iter().any(|(maker, of)| Some(*of) == family && *maker == vendor())
}

/// An outcome of which only that is left in which two CPUs must agree. The host's may have what
/// ours lacks: that counts as undefined there.
fn comparable(case: &Case, place: usize, outcome: &Outcome, is_host: bool) -> Outcome {
    // How many bytes of an undefined instruction are fetched is the CPU's affair.
    let undefined = outcome[SIGNAL] == UNDEFINED || place > 0 && outcome[SIGNAL] == FETCH;
    let undefined = match case.verdict {
        Verdict::Refuse(Refusal::Undefined) => undefined,
        Verdict::Refuse(Refusal::Unsupported | Refusal::Transfer) => undefined || is_host,
        _ => false,
    };
    let mut left = if undefined { ALWAYS_UNDEFINED } else { *outcome };
    left[FLAGS] &= defined(case);
    for (value, facet) in left.iter_mut().zip(FACETS) {
        if is_known(case, facet, MAKER) {
            *value = 0;
        }
    }
    left
}

/// What is comparable of all outcomes, a place after the other.
fn all_comparable(cases: &[Case], outcomes: &[Outcome], is_host: bool) -> Vec<Outcome> {
    let places = cases.iter().flat_map(|case| (0..case.places()).map(move |place| (case, place)));
    places.zip(outcomes).map(|((case, place), outcome)| comparable(case, place, outcome, is_host)).collect()
}

/// The record: for each opcode the number of places and a digest of the outcomes (FNV-1a).
fn record(cases: &[Case], outcomes: &[Outcome]) -> String {
    let mut groups: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    let places = cases.iter().flat_map(|case| (0..case.places()).map(move |_| case));
    for (case, outcome) in places.zip(outcomes) {
        let group = groups.entry(case.opcode_name()).or_insert((0, 0xcbf2_9ce4_8422_2325));
        group.0 += 1;
        for byte in case.bytes.iter().copied().chain(outcome.iter().flat_map(|word| word.to_le_bytes())) {
            group.1 = (group.1 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    groups.iter().map(|(name, (places, digest))| format!("{name} {places} {digest:016x}\n")).collect()
}

#[test]
fn every_encoding_as_on_the_cpu() {
    let cases = cases();
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    build(directory, &cases);
    let places: usize = cases.iter().map(Case::places).sum();
    println!("{} encodings in {places} places", cases.len());
    let half = cases.len() / 2;
    let halves = [(0, half), (half, cases.len() - half)];
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
    assert_eq!(got.len(), places);
    let got = all_comparable(&cases, &got, false);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/isa/encodings.txt");
    if is_measured() {
        let on_cpu = native(directory);
        assert!(on_cpu.status.success(), "on the CPU: {}", on_cpu.status);
        let expected = all_comparable(&cases, &outcomes(&on_cpu.stdout), true);
        assert_eq!(expected.len(), places);
        let report = report(&cases, &expected, &got);
        assert!(report.is_empty(), "what differs:\n{report}");
        let same = golden::compare(&file, record(&cases, &expected).as_bytes());
        assert!(same.is_ok(), "the record is not what this CPU does: {same:?}");
    } else {
        println!("this host's CPU is not among those measured; compared with the record of one that is");
        let expected = fs::read_to_string(&file).expect("the record");
        let got = record(&cases, &got);
        let differing = got.lines().zip(expected.lines()).filter(|(ours, theirs)| ours != theirs);
        let report: Vec<String> = differing
            .map(|(ours, theirs)| format!("opcode, places, digest: {ours}, recorded {theirs}"))
            .collect();
        assert!(report.is_empty(), "not as recorded:\n{}", report.join("\n"));
        assert_eq!(got.lines().count(), expected.lines().count(), "opcodes");
    }
}

/// By what differs, the instruction and the signals: how often, and the first ones.
fn report(cases: &[Case], expected: &[Outcome], got: &[Outcome]) -> String {
    let mut pairs = expected.iter().zip(got);
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases {
        for place in 0..case.places() {
            let (cpu, engine) = pairs.next().expect("as many as places");
            let facets: Vec<&str> =
                (0..FACETS.len()).filter(|i| cpu[*i] != engine[*i]).map(|i| FACETS[i]).collect();
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
    let text = groups.iter().map(|(key, examples)| {
        let first: String = examples.iter().take(3).map(|text| format!("    {text}\n")).collect();
        format!("{key}: {}\n{first}", examples.len())
    });
    text.collect()
}
