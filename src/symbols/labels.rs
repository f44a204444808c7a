//! Names for any address of an object, as disassemblers give them: all symbols, and the entries of the procedure linkage table,
//! which have none of their own.

use std::collections::BTreeMap;

use goblin::elf::section_header::{SHT_DYNSYM, SHT_RELA, SHT_SYMTAB, SectionHeader};
use goblin::elf::sym::{STB_GLOBAL, STT_FILE, STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, STT_SECTION, STT_TLS};
use goblin::elf::sym::{st_bind, st_type};
use iced_x86::{Code, Decoder, DecoderOptions, Register};

use crate::symbols::elf::{Elf, string};

/// Size of `Elf64_Sym` and of `Elf64_Rela`, in bytes.
const ENTRY: usize = 24;
/// `R_X86_64_GLOB_DAT` and `R_X86_64_JUMP_SLOT` (x86-64 psABI, 4.4.1).
const SLOTS: [u32; 2] = [6, 7];

/// A named address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// Link-time address.
    pub address: u64,
    /// Name as it stands in the symbol table; `name@plt` for an entry of the procedure linkage table.
    pub name: String,
    /// Names this address alone, and none after it.
    pub exact: bool,
}

/// The label of `vaddr`: the last that is not after it.
pub(crate) fn nearest(labels: &[Label], vaddr: u64) -> Option<&Label> {
    let before = labels.get(..labels.partition_point(|label| label.address <= vaddr))?;
    before.iter().rev().find(|label| !label.exact || label.address == vaddr)
}

/// All labels, by address, one for each.
pub(crate) fn read(main: &Elf<'_>, separate: Option<&Elf<'_>>) -> Vec<Label> {
    let mut ranked = Vec::new();
    let with_symtab = if main.section_of_type(SHT_SYMTAB).is_some() { Some(main) } else { separate };
    for (elf, kind) in with_symtab.map(|elf| (elf, SHT_SYMTAB)).into_iter().chain([(main, SHT_DYNSYM)]) {
        ranked.extend(symbols(elf, kind));
    }
    let slots = slots(main);
    ranked.extend(linkage(main, &slots).into_iter().map(|label| (6, label)));
    ranked.extend(slots.into_iter().map(|(address, name)| (7, Label { address, name, exact: true })));
    // As objdump's compare_symbols: functions, then objects, then others; global ones first.
    ranked.sort_by(|(a_rank, a), (b_rank, b)| {
        a.address.cmp(&b.address).then(a_rank.cmp(b_rank)).then_with(|| a.name.cmp(&b.name))
    });
    let mut labels: Vec<Label> = ranked.into_iter().map(|(_, label)| label).collect();
    labels.dedup_by_key(|label| label.address);
    labels
}

fn symbols(elf: &Elf<'_>, kind: u32) -> Vec<(u8, Label)> {
    let Some(section) = elf.section_of_type(kind) else { return Vec::new() };
    let (entries, strings) = with_strings(elf, section);
    let symbols = entries.chunks_exact(ENTRY).filter_map(|entry| {
        let info = *entry.get(4)?;
        let section = u16::from_le_bytes(entry.get(6..8)?.try_into().ok()?);
        let address = u64::from_le_bytes(entry.get(8..16)?.try_into().ok()?);
        let name = string(&strings, u64::from(word(entry, 0)?))?;
        let rank = match st_type(info) {
            STT_FILE | STT_SECTION | STT_TLS => return None,
            STT_FUNC | STT_GNU_IFUNC => 0,
            STT_OBJECT => 1,
            _ => 2,
        };
        let rank = rank * 2 + u8::from(st_bind(info) != STB_GLOBAL);
        // Section 0 is SHN_UNDEF, those from 0xff00 on are reserved: absolute and common symbols have no place.
        let placed = section != 0 && section < 0xff00 && !name.is_empty();
        placed.then(|| {
            (rank, Label { address, name: String::from_utf8_lossy(name).into_owned(), exact: false })
        })
    });
    symbols.collect()
}

fn with_strings(elf: &Elf<'_>, section: &SectionHeader) -> (Vec<u8>, Vec<u8>) {
    let strings = elf.section_at(section.sh_link).and_then(|section| elf.contents(section));
    (elf.contents(section).unwrap_or_default(), strings.unwrap_or_default())
}

fn word(entry: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(entry.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The entries of the procedure linkage table: each jumps through a slot that a relocation names.
fn linkage(elf: &Elf<'_>, slots: &BTreeMap<u64, String>) -> Vec<Label> {
    let mut labels = Vec::new();
    for (name, size) in [(".plt", 16), (".plt.sec", 16), (".plt.got", 8)] {
        let Some(section) = elf.section(name) else { continue };
        let size = if section.sh_entsize > 0 { section.sh_entsize } else { size };
        let bytes = elf.contents(section).unwrap_or_default();
        for instruction in Decoder::with_ip(64, &bytes, section.sh_addr, DecoderOptions::NONE).iter() {
            if instruction.code() != Code::Jmp_rm64 || instruction.memory_base() != Register::RIP {
                continue;
            }
            let Some(target) = slots.get(&instruction.ip_rel_memory_address()) else { continue };
            let past = instruction.ip().wrapping_sub(section.sh_addr) % size;
            let address = instruction.ip().wrapping_sub(past);
            labels.push(Label { address, name: format!("{target}@plt"), exact: false });
        }
    }
    labels
}

/// The symbols whose addresses the dynamic linker puts into slots, by the slot's address.
fn slots(elf: &Elf<'_>) -> BTreeMap<u64, String> {
    let mut slots = BTreeMap::new();
    let Some(dynsym) = elf.section_of_type(SHT_DYNSYM) else { return slots };
    let (symbols, strings) = with_strings(elf, dynsym);
    for section in elf.sections().iter().filter(|section| section.sh_type == SHT_RELA) {
        for entry in elf.contents(section).unwrap_or_default().chunks_exact(ENTRY) {
            let (Some(kind), Some(symbol)) = (word(entry, 8), word(entry, 12)) else { continue };
            let address = entry.get(..8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
            let at = (symbol as usize).saturating_mul(ENTRY);
            let name = symbols.get(at..).and_then(|symbol| word(symbol, 0));
            let name = name.and_then(|name| string(&strings, u64::from(name)));
            if let (Some(address), Some(name @ [_, ..]), true) = (address, name, SLOTS.contains(&kind)) {
                slots.insert(address, String::from_utf8_lossy(name).into_owned());
            }
        }
    }
    slots
}
