//! Reads the side file, and any other file of Callgrind's format with positions of instructions; of those only what
//! instructions cost themselves.

use std::io::BufRead;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::lines::Lines;
use super::super::{Problem, ReadError, words};
use super::{CODE, OBJECT};
use crate::profile::instructions::{CodeObject, InsnCosts, Instructions, add_costs};

/// What stands in for a name before there is one.
const UNKNOWN: &[u8] = b"???";

/// Reads a whole file; `name` is for messages.
///
/// # Errors
/// If the file is of another format or has no addresses, is malformed, or cannot be read.
pub fn read_instructions(input: impl BufRead, name: impl Into<String>) -> Result<Instructions, ReadError> {
    let mut lines = Lines::new(input, name);
    let mut state = State::default();
    while lines.advance()? {
        let result = state.line(lines.line());
        result.map_err(|problem| match problem {
            Problem::Malformed(_) => lines.malformed(),
            problem => lines.error(problem),
        })?;
    }
    if state.out.events.is_empty() {
        return Err(lines.error(Problem::NoEvents));
    }
    if !state.addresses {
        return Err(lines.error(Problem::NoAddresses));
    }
    if state.totals.as_ref().is_some_and(|totals| *totals != state.out.total()) {
        let (recorded, computed) = (state.totals.unwrap_or_default(), state.out.total());
        return Err(lines.error(Problem::WrongTotals { recorded, computed }));
    }
    if state.ours && state.totals.is_none() {
        return Err(lines.error(Problem::NoTotals));
    }
    Ok(state.out)
}

/// Names in the short form: `(1) name`, then `(1)`.
#[derive(Default)]
struct Numbered(FxHashMap<u64, Arc<[u8]>>);

impl Numbered {
    fn resolve(&mut self, text: &[u8]) -> Result<Arc<[u8]>, Problem> {
        let number = text.strip_prefix(b"(").and_then(|rest| {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, rest) = rest.split_at_checked(digits)?;
            Some((std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?, rest.strip_prefix(b")")?))
        });
        let Some((number, rest)) = number else { return Ok(text.into()) };
        let name = rest.trim_ascii();
        if name.is_empty() {
            return self.0.get(&number).cloned().ok_or(Problem::UnknownName(number));
        }
        let name: Arc<[u8]> = name.into();
        self.0.insert(number, Arc::clone(&name));
        Ok(name)
    }
}

#[derive(Default)]
struct State {
    out: Instructions,
    /// The objects by path and identity.
    places: FxHashMap<(Vec<u8>, String), usize>,
    object: Option<usize>,
    /// What comments said of the object that is named next.
    next: CodeObject,
    objects: Numbered,
    files: Numbered,
    functions: Numbered,
    file: Option<Arc<[u8]>>,
    function: Option<Arc<[u8]>>,
    /// Which positions a cost line begins with, and their last values.
    positions: Vec<u64>,
    instr: Option<usize>,
    line: Option<usize>,
    addresses: bool,
    ours: bool,
    /// The next cost line is that of a call.
    call: bool,
    totals: Option<Vec<i64>>,
}

impl State {
    fn line(&mut self, line: &[u8]) -> Result<(), Problem> {
        match line {
            [b'#', ..] => return self.comment(line),
            [b'0'..=b'9' | b'+' | b'-' | b'*', ..] => return self.costs(line),
            _ if line.trim_ascii().is_empty() => return Ok(()),
            _ => {}
        }
        let end = line.iter().position(|byte| matches!(byte, b'=' | b':')).unwrap_or(line.len());
        let (key, rest) = line.split_at_checked(end).unwrap_or((line, b""));
        let Some((mark, text)) = rest.split_first() else { return Err(Problem::Malformed(String::new())) };
        match (mark, key) {
            (b'=', b"ob") => self.begin_object(text)?,
            (b'=', b"fl" | b"fi" | b"fe") => self.file = Some(self.files.resolve(text)?),
            (b'=', b"fn") => self.function = Some(self.functions.resolve(text)?),
            // They may define names that are used later.
            (b'=', b"cob") => drop(self.objects.resolve(text)?),
            (b'=', b"cfi" | b"cfl" | b"jfi") => drop(self.files.resolve(text)?),
            (b'=', b"cfn" | b"jfn") => drop(self.functions.resolve(text)?),
            (b'=', b"calls" | b"jump" | b"jcnd") => self.call = true,
            (b':', b"cmd") => self.out.cmd = text.trim_ascii_start().to_vec(),
            (b':', b"events") => {
                let events: Vec<Vec<u8>> = words(text).map(<[u8]>::to_vec).collect();
                if !self.out.events.is_empty() && self.out.events != events {
                    return Err(Problem::PartsDiffer);
                }
                self.out.events = events;
            }
            (b':', b"positions") => {
                let place = |names: &[&[u8]]| words(text).position(|word| names.contains(&word));
                (self.instr, self.line) = (place(&[b"instr", b"addr"]), place(&[b"line"]));
                self.positions = vec![0; words(text).count()];
            }
            (b':', b"totals") => {
                let counts = words(text).map(|word| number(word).ok_or(Problem::BadCounts));
                // Each part of a file has its own.
                let mut totals = self.full(counts.collect::<Result<_, _>>()?)?;
                add_costs(&mut totals, self.totals.as_deref().unwrap_or_default());
                self.totals = Some(totals);
            }
            // Other keys of the head.
            (b':', _) => {}
            _ => return Err(Problem::Malformed(String::new())),
        }
        Ok(())
    }

    fn comment(&mut self, line: &[u8]) -> Result<(), Problem> {
        let malformed = || Problem::Malformed(String::new());
        let Ok(line) = std::str::from_utf8(line) else { return Ok(()) };
        if let Some(version) = line.strip_prefix("#cgemu-instr: ") {
            self.ours = true;
            return if version == "1" { Ok(()) } else { Err(Problem::Version(version.to_owned())) };
        }
        if let Some(text) = line.strip_prefix(OBJECT) {
            let mut words = text.split_ascii_whitespace();
            words.next().ok_or_else(malformed)?.clone_into(&mut self.next.identity);
            for bias in words.filter_map(|word| word.strip_prefix("bias:")) {
                self.next.biases.push(unsigned(bias.as_bytes()).ok_or_else(malformed)?);
            }
        } else if let Some(text) = line.strip_prefix(CODE) {
            let (address, digits) = text.trim_start().split_once(' ').ok_or_else(malformed)?;
            let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let bytes = digits.as_bytes().chunks(2).map(|pair| match pair {
                [high, low] => Some(digit(high)? << 4 | digit(low)?),
                _ => None,
            });
            let bytes = bytes.collect::<Option<Vec<u8>>>().ok_or_else(malformed)?;
            self.next.code.insert(unsigned(address.as_bytes()).ok_or_else(malformed)?, bytes);
        }
        Ok(())
    }

    fn begin_object(&mut self, text: &[u8]) -> Result<(), Problem> {
        let mut next = std::mem::take(&mut self.next);
        next.path = self.objects.resolve(text)?.to_vec();
        let key = (next.path.clone(), next.identity.clone());
        self.object = Some(*self.places.entry(key).or_insert_with(|| {
            self.out.objects.push(next);
            self.out.objects.len() - 1
        }));
        Ok(())
    }

    fn costs(&mut self, line: &[u8]) -> Result<(), Problem> {
        // Without a line that says otherwise there are lines only.
        if self.positions.is_empty() {
            return Err(Problem::NoAddresses);
        }
        let mut rest = words(line);
        for position in &mut self.positions {
            let word = rest.next().ok_or(Problem::BadPosition)?;
            *position = match word {
                b"*" => Some(*position),
                [b'+', word @ ..] => unsigned(word).and_then(|step| position.checked_add(step)),
                [b'-', word @ ..] => unsigned(word).and_then(|step| position.checked_sub(step)),
                word => unsigned(word),
            }
            .ok_or(Problem::BadPosition)?;
        }
        let counts = rest.map(|word| number(word).ok_or(Problem::BadCounts)).collect::<Result<_, _>>()?;
        let counts = self.full(counts)?;
        if std::mem::take(&mut self.call) {
            return Ok(());
        }
        let at = |place: Option<usize>| place.and_then(|at| self.positions.get(at)).copied();
        let Some(address) = at(self.instr) else { return Err(Problem::NoAddresses) };
        self.addresses = true;
        let line = at(self.line).unwrap_or(0);
        if self.object.is_none() {
            self.begin_object(UNKNOWN)?;
        }
        let name = |name: &Option<Arc<[u8]>>| name.clone().unwrap_or_else(|| UNKNOWN.into());
        let (file, function) = (name(&self.file), name(&self.function));
        let Some(object) = self.object.and_then(|at| self.out.objects.get_mut(at)) else { return Ok(()) };
        let insn = object.instructions.entry(address).or_insert_with(|| InsnCosts {
            file,
            function,
            line,
            costs: vec![0; counts.len()],
        });
        add_costs(&mut insn.costs, &counts);
        Ok(())
    }

    /// Counts of all events: those that are missing at the end are 0.
    fn full(&self, mut counts: Vec<i64>) -> Result<Vec<i64>, Problem> {
        if counts.len() > self.out.events.len() {
            return Err(Problem::BadCounts);
        }
        counts.resize(self.out.events.len(), 0);
        Ok(counts)
    }
}

fn number(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A number, hexadecimal after `0x`.
fn unsigned(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    match text.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok().filter(|_| !text.starts_with('+')),
    }
}
