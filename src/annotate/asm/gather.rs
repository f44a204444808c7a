//! Reads side files, and sums their counts up by function of an object.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::{AnnotateError, Input};
use crate::profile::{CodeObject, InsnCosts, Instructions, SIDE_SUFFIX, add_costs, read_instructions};

/// How files of Callgrind's format begin, and side files with them.
const START: &[u8] = b"# callgrind format";

/// Reads the side files of the profiles and adds them up, with the names of functions changed as asked for. The name of a
/// profile may be that of the side file itself.
///
/// # Errors
/// If one cannot be read, is malformed, or has other events than the first.
pub fn read_side_files(input: &Input) -> Result<Instructions, AnnotateError> {
    let profiles = &input.profiles;
    let mut sum: Option<Instructions> = None;
    for profile in profiles {
        let (file, name) = open(profile)?;
        let next = read_instructions(BufReader::with_capacity(1 << 18, file), name.clone())?;
        let Some(sum) = &mut sum else {
            sum = Some(next);
            continue;
        };
        let readable = |events: &[Vec<u8>]| String::from_utf8_lossy(&events.join(&b' ')).into_owned();
        if sum.events != next.events {
            return Err(AnnotateError::EventsDiffer {
                first: profiles.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
                first_events: readable(&sum.events),
                other: name,
                other_events: readable(&next.events),
            });
        }
        next.objects.into_iter().for_each(|object| add_object(sum, object));
    }
    let mut sum = sum.unwrap_or_default();
    // Names are shared by many instructions.
    let mut renamed: FxHashMap<Arc<[u8]>, Arc<[u8]>> = FxHashMap::default();
    for insn in sum.objects.iter_mut().flat_map(|object| object.instructions.values_mut()) {
        let rename = || Arc::from(&*input.renaming.function(&insn.function));
        let name = Arc::clone(renamed.entry(Arc::clone(&insn.function)).or_insert_with(rename));
        insn.function = name;
    }
    Ok(sum)
}

/// What was looked at of a file, then the rest of it.
type Whole = io::Chain<io::Cursor<Vec<u8>>, File>;

/// The side file of a profile, or the file itself if it is one. That may be a pipe, which is opened once only.
fn open(profile: &OsStr) -> Result<(Whole, String), AnnotateError> {
    let mut side = profile.to_owned();
    side.push(SIDE_SUFFIX);
    let fail = |reason: io::Error| AnnotateError::NoSideFile {
        file: profile.to_string_lossy().into_owned(),
        side: side.to_string_lossy().into_owned(),
        reason,
    };
    match File::open(&side) {
        Ok(file) => Ok((io::Cursor::new(Vec::new()).chain(file), side.to_string_lossy().into_owned())),
        Err(error) => {
            let mut start = Vec::new();
            let mut file = File::open(profile).map_err(fail)?;
            let looked = file.by_ref().take(START.len() as u64).read_to_end(&mut start);
            if looked.is_ok() && start == START {
                return Ok((io::Cursor::new(start).chain(file), profile.to_string_lossy().into_owned()));
            }
            Err(fail(error))
        }
    }
}

fn add_object(sum: &mut Instructions, object: CodeObject) {
    let same = |other: &&mut CodeObject| other.path == object.path && other.identity == object.identity;
    let Some(known) = sum.objects.iter_mut().find(same) else {
        sum.objects.push(object);
        return;
    };
    for (address, insn) in object.instructions {
        match known.instructions.get_mut(&address) {
            Some(known) => add_costs(&mut known.costs, &insn.costs),
            None => drop(known.instructions.insert(address, insn)),
        }
    }
    known.code.extend(object.code);
}

/// The counted instructions of one function of one object.
#[derive(Debug)]
pub struct Function<'a> {
    /// The object.
    pub object: &'a CodeObject,
    /// The name, as in the profile.
    pub name: &'a [u8],
    /// By address.
    pub instructions: BTreeMap<u64, &'a InsnCosts>,
    /// The sum of their counts.
    pub costs: Vec<i64>,
}

/// All functions, with the most of `sort` first; those that have as much by object and name.
pub fn functions<'a>(instructions: &'a Instructions, sort: &[usize]) -> Vec<Function<'a>> {
    let mut functions: BTreeMap<(usize, &[u8]), Function<'a>> = BTreeMap::new();
    for (at, object) in instructions.objects.iter().enumerate() {
        for (&address, insn) in &object.instructions {
            let function = functions.entry((at, &insn.function)).or_insert_with(|| Function {
                object,
                name: &insn.function,
                instructions: BTreeMap::new(),
                costs: vec![0; instructions.events.len()],
            });
            add_costs(&mut function.costs, &insn.costs);
            function.instructions.insert(address, insn);
        }
    }
    let mut functions: Vec<Function<'a>> = functions.into_values().collect();
    let key =
        |costs: &[i64]| -> Vec<i64> { sort.iter().map(|at| costs.get(*at).copied().unwrap_or(0)).collect() };
    functions.sort_by_key(|function| std::cmp::Reverse(key(&function.costs)));
    functions
}
