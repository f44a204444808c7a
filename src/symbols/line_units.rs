//! The units of `.debug_info`: only the root entry of each is read, for its line program and its directory.

use std::cell::OnceCell;
use std::sync::Arc;

use gimli::{
    DebugLineOffset, DwForm, EndianSlice, Format, LittleEndian, Reader, UnitHeader, UnitType, constants,
};
use rustc_hash::FxHashMap;

use crate::symbols::aranges::{self, Program};
use crate::symbols::elf::{Code, Elf, string};
use crate::symbols::line_program::{LineReader, Rows};
use crate::symbols::section;
use crate::symbols::valgrind::line_table::{Builder, LineTable};

/// A debug section, or a piece of one.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Attributes and forms (with the value of `DW_FORM_implicit_const`) of one abbreviation.
type Shape = Vec<(constants::DwAt, DwForm, i64)>;

/// The sections that line tables are made of. Those that only some tables need are read when they are needed.
pub(crate) struct Sections<'a> {
    elf: &'a Elf<'a>,
    /// The file that `.gnu_debugaltlink` names.
    supplement: Option<&'a Elf<'a>>,
    /// `.debug_line`.
    pub line: Vec<u8>,
    strings: OnceCell<Vec<u8>>,
    line_strings: OnceCell<Vec<u8>>,
    string_offsets: OnceCell<Vec<u8>>,
    alternate: OnceCell<Vec<u8>>,
}

/// A string attribute as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Text<'a> {
    /// In place.
    Inline(Slice<'a>),
    /// Offset into `.debug_str`.
    Str(u64),
    /// Offset into `.debug_line_str`.
    LineStr(u64),
    /// Offset into the alternate file's `.debug_str`.
    Alternate(u64),
    /// Index into `.debug_str_offsets`.
    Index(u64),
}

impl<'a> Sections<'a> {
    fn new(elf: &'a Elf<'a>, supplement: Option<&'a Elf<'a>>) -> Self {
        Self {
            elf,
            supplement,
            line: section::load(elf, ".debug_line"),
            strings: OnceCell::new(),
            line_strings: OnceCell::new(),
            string_offsets: OnceCell::new(),
            alternate: OnceCell::new(),
        }
    }

    fn named<'s>(&'s self, cell: &'s OnceCell<Vec<u8>>, name: &str) -> &'s [u8] {
        cell.get_or_init(|| section::load(self.elf, name))
    }

    fn strings(&self) -> &[u8] {
        self.named(&self.strings, ".debug_str")
    }

    /// The bytes of a string; `base` is the unit's `DW_AT_str_offsets_base`. `None` if it points nowhere.
    pub fn text<'s>(&'s self, text: Text<'s>, format: Format, base: u64) -> Option<&'s [u8]> {
        match text {
            Text::Inline(slice) => Some(slice.slice()),
            Text::Str(offset) => string(self.strings(), offset),
            Text::LineStr(offset) => string(self.named(&self.line_strings, ".debug_line_str"), offset),
            Text::Alternate(offset) => {
                let load = || self.supplement.map(|elf| section::load(elf, ".debug_str"));
                string(self.alternate.get_or_init(|| load().unwrap_or_default()), offset)
            }
            Text::Index(index) => {
                let at = index.checked_mul(u64::from(format.word_size()))?.checked_add(base)?;
                let offsets = self.named(&self.string_offsets, ".debug_str_offsets");
                let mut entry = slice(offsets.get(usize::try_from(at).ok()?..)?);
                string(self.strings(), word(&mut entry, format)?)
            }
        }
    }
}

/// Reads the line programs of `elf` that can say something of the addresses `wanted` (all of them if it is `None`);
/// some strings may be in `alternate`.
pub(crate) fn read_lines(
    elf: &Elf<'_>,
    alternate: Option<&Elf<'_>>,
    code: &Code,
    wanted: Option<&[u64]>,
) -> LineTable {
    let sections = Sections::new(elf, alternate);
    let aranges = || section::load(elf, ".debug_aranges");
    let programs = wanted.and_then(|wanted| aranges::programs(&sections.line, &aranges(), wanted));
    let some = programs.and_then(|programs| read_some(&sections, &programs, Builder::new(code)));
    let (rows, files) = some.unwrap_or_else(|| read_all(&sections, Builder::new(code)));
    rows.finish(files)
}

/// Has `rows` take every row of `elf`; some strings may be in `alternate`.
pub(crate) fn read_rows<R: Rows>(elf: &Elf<'_>, alternate: Option<&Elf<'_>>, rows: R) -> (R, Vec<Arc<str>>) {
    read_all(&Sections::new(elf, alternate), rows)
}

/// Runs the programs that are needed; `None` if one says too little of itself.
fn read_some<R: Rows>(sections: &Sections<'_>, programs: &[Program], rows: R) -> Option<(R, Vec<Arc<str>>)> {
    let mut reader = LineReader::new(sections, rows);
    for program in programs {
        if program.needed {
            reader.read_complete(DebugLineOffset(program.offset)).then_some(())?;
        } else {
            reader.skip();
        }
    }
    Some(reader.finish())
}

/// Runs the programs of every unit.
fn read_all<R: Rows>(sections: &Sections<'_>, rows: R) -> (R, Vec<Arc<str>>) {
    let load = |name| section::load(sections.elf, name);
    let (info, abbrev) = (load(".debug_info"), load(".debug_abbrev"));
    let roots = roots(sections, &info, &abbrev);
    // Units may share a program (dwz makes them); reading it again would only repeat its rows.
    let last: FxHashMap<u64, usize> =
        roots.iter().enumerate().map(|(index, root)| (root.program, index)).collect();
    let mut reader = LineReader::new(sections, rows);
    for (index, root) in roots.iter().enumerate() {
        if last.get(&root.program) == Some(&index)
            && let Ok(offset) = usize::try_from(root.program)
        {
            reader.read(DebugLineOffset(offset), root.address_size, root.directory);
        }
    }
    reader.finish()
}

/// What a unit's root entry says about its lines.
#[derive(Debug)]
struct Root<'s> {
    /// `DW_AT_stmt_list`.
    program: u64,
    /// `DW_AT_comp_dir`.
    directory: Option<&'s [u8]>,
    address_size: u8,
}

fn roots<'s>(sections: &'s Sections<'_>, info: &'s [u8], abbrev: &'s [u8]) -> Vec<Root<'s>> {
    let mut shapes = Shapes::new(abbrev);
    let mut roots = Vec::new();
    let info = gimli::DebugInfo::new(info, LittleEndian);
    let mut units = info.units();
    while let Ok(Some(header)) = units.next() {
        if !matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }) {
            roots.extend(root(sections, &mut shapes, &header));
        }
    }
    roots
}

fn root<'s>(
    sections: &'s Sections<'_>,
    shapes: &mut Shapes<'s>,
    header: &UnitHeader<Slice<'s>>,
) -> Option<Root<'s>> {
    let encoding = header.encoding();
    let mut entry = header.range_from(header.root_offset()..).ok()?;
    let shape = shapes.find(header.debug_abbrev_offset().0, entry.read_uleb128().ok()?)?;
    let (mut program, mut directory) = (None, None);
    // The default is what follows a DWARF 5 section header (DWARF 5, 7.26).
    let mut base =
        if encoding.version >= 5 { u64::from(encoding.format.initial_length_size()) + 4 } else { 0 };
    for &(name, form, implicit) in shape {
        let value = read_value(&mut entry, form, implicit, encoding)?;
        match (name, value) {
            (constants::DW_AT_stmt_list, Value::Number(offset)) => program = Some(offset),
            (constants::DW_AT_str_offsets_base, Value::Number(offset)) => base = offset,
            (constants::DW_AT_comp_dir, Value::Text(text)) => directory = Some(text),
            _ => {}
        }
    }
    let directory = directory.and_then(|text| sections.text(text, encoding.format, base));
    Some(Root { program: program?, directory, address_size: encoding.address_size })
}

/// Abbreviations of root entries, found by scanning `.debug_abbrev` and remembered.
#[derive(Debug)]
struct Shapes<'s> {
    abbrev: &'s [u8],
    found: FxHashMap<(usize, u64), Option<Shape>>,
    /// Bytes that may still be scanned; damaged tables can overlap, and then scanning would be quadratic.
    budget: usize,
}

impl<'s> Shapes<'s> {
    fn new(abbrev: &'s [u8]) -> Self {
        Self { abbrev, found: FxHashMap::default(), budget: abbrev.len().saturating_mul(32) }
    }

    fn find(&mut self, table: usize, code: u64) -> Option<&Shape> {
        let (abbrev, budget) = (self.abbrev, &mut self.budget);
        let scanned = self.found.entry((table, code)).or_insert_with(|| {
            let mut rest = slice(abbrev.get(table..)?);
            rest.truncate(rest.len().min(*budget)).ok()?;
            let before = rest.len();
            let shape = scan(&mut rest, code);
            *budget = budget.saturating_sub(before.saturating_sub(rest.len()));
            shape
        });
        scanned.as_ref()
    }
}

/// The abbreviation `wanted` of the table that `rest` begins with (DWARF 5, 7.5.3).
fn scan(rest: &mut Slice<'_>, wanted: u64) -> Option<Shape> {
    loop {
        let code = rest.read_uleb128().ok()?;
        if code == 0 {
            return None;
        }
        rest.read_uleb128().ok()?;
        rest.read_u8().ok()?;
        let mut shape = Shape::new();
        loop {
            let (name, form) = (rest.read_uleb128_u16().ok()?, rest.read_uleb128_u16().ok()?);
            let (name, form) = (constants::DwAt(name), DwForm(form));
            let implicit =
                if form == constants::DW_FORM_implicit_const { rest.read_sleb128().ok()? } else { 0 };
            if name.0 == 0 && form.0 == 0 {
                break;
            }
            if code == wanted {
                shape.push((name, form, implicit));
            }
        }
        if code == wanted {
            return Some(shape);
        }
    }
}

/// An attribute's value, as far as a root entry's attributes matter.
#[derive(Debug)]
enum Value<'a> {
    Number(u64),
    Text(Text<'a>),
    Other,
}

/// Reads one attribute (DWARF 5, 7.5.5 and 7.5.6, and the GNU forms); `None` at the end of the bytes or for an
/// unknown form, whose length cannot be known.
#[allow(non_upper_case_globals, reason = "the forms keep DWARF's spelling")]
fn read_value<'a>(
    entry: &mut Slice<'a>,
    form: DwForm,
    implicit: i64,
    encoding: gimli::Encoding,
) -> Option<Value<'a>> {
    use constants::*;
    let format = encoding.format;
    let number = |value: Option<u64>| value.map(Value::Number);
    let skip = |entry: &mut Slice<'a>, count: Option<u64>| {
        entry.skip(usize::try_from(count?).ok()?).ok().map(|()| Value::Other)
    };
    match form {
        DW_FORM_string => Some(Value::Text(Text::Inline(entry.read_null_terminated_slice().ok()?))),
        DW_FORM_strp => Some(Value::Text(Text::Str(word(entry, format)?))),
        DW_FORM_line_strp => Some(Value::Text(Text::LineStr(word(entry, format)?))),
        DW_FORM_strp_sup | DW_FORM_GNU_strp_alt => Some(Value::Text(Text::Alternate(word(entry, format)?))),
        DW_FORM_strx | DW_FORM_GNU_str_index => Some(Value::Text(Text::Index(entry.read_uleb128().ok()?))),
        DW_FORM_strx1 => Some(Value::Text(Text::Index(little(entry, 1)?))),
        DW_FORM_strx2 => Some(Value::Text(Text::Index(little(entry, 2)?))),
        DW_FORM_strx3 => Some(Value::Text(Text::Index(little(entry, 3)?))),
        DW_FORM_strx4 => Some(Value::Text(Text::Index(little(entry, 4)?))),
        DW_FORM_data1 | DW_FORM_ref1 | DW_FORM_addrx1 | DW_FORM_flag => number(little(entry, 1)),
        DW_FORM_data2 | DW_FORM_ref2 | DW_FORM_addrx2 => number(little(entry, 2)),
        DW_FORM_addrx3 => number(little(entry, 3)),
        DW_FORM_data4 | DW_FORM_ref4 | DW_FORM_addrx4 | DW_FORM_ref_sup4 => number(little(entry, 4)),
        DW_FORM_data8 | DW_FORM_ref8 | DW_FORM_ref_sig8 | DW_FORM_ref_sup8 => number(little(entry, 8)),
        DW_FORM_data16 => skip(entry, Some(16)),
        DW_FORM_sec_offset | DW_FORM_GNU_ref_alt => number(word(entry, format)),
        DW_FORM_ref_addr if encoding.version > 2 => number(word(entry, format)),
        DW_FORM_ref_addr | DW_FORM_addr => number(little(entry, usize::from(encoding.address_size))),
        DW_FORM_udata
        | DW_FORM_ref_udata
        | DW_FORM_addrx
        | DW_FORM_loclistx
        | DW_FORM_rnglistx
        | DW_FORM_GNU_addr_index => number(entry.read_uleb128().ok()),
        DW_FORM_sdata => entry.read_sleb128().ok().map(|_| Value::Other),
        DW_FORM_flag_present => Some(Value::Other),
        DW_FORM_implicit_const => number(u64::try_from(implicit).ok()).or(Some(Value::Other)),
        DW_FORM_block1 => {
            let count = little(entry, 1);
            skip(entry, count)
        }
        DW_FORM_block2 => {
            let count = little(entry, 2);
            skip(entry, count)
        }
        DW_FORM_block4 => {
            let count = little(entry, 4);
            skip(entry, count)
        }
        DW_FORM_block | DW_FORM_exprloc => {
            let count = entry.read_uleb128().ok();
            skip(entry, count)
        }
        // An indirect form may not be indirect again, nor implicit: its value would have no bytes to bound it.
        DW_FORM_indirect => match DwForm(entry.read_uleb128_u16().ok()?) {
            DW_FORM_indirect | DW_FORM_implicit_const => None,
            form => read_value(entry, form, 0, encoding),
        },
        _ => None,
    }
}

/// An offset of the unit's format, 4 or 8 bytes.
fn word(entry: &mut Slice<'_>, format: Format) -> Option<u64> {
    little(entry, usize::from(format.word_size()))
}

/// A little-endian number of up to 8 bytes.
fn little(entry: &mut Slice<'_>, size: usize) -> Option<u64> {
    let bytes = entry.split(size).ok()?;
    let mut wide = [0; 8];
    wide.get_mut(..size)?.copy_from_slice(bytes.slice());
    Some(u64::from_le_bytes(wide))
}

/// `bytes` as the DWARF reader takes them.
pub(crate) fn slice(bytes: &[u8]) -> Slice<'_> {
    EndianSlice::new(bytes, LittleEndian)
}
