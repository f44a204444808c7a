//! The machine code of an object, with the names that a disassembler shows: functions, and the
//! nearest symbol before an address.

use std::borrow::Cow;
use std::collections::BTreeMap;

use goblin::elf::reloc::{R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT};
use goblin::elf::section_header::{SHT_DYNSYM, SHT_RELA};
use goblin::elf::sym::{STB_GLOBAL, STT_FILE, STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, STT_SECTION, STT_TLS};
use goblin::elf::sym::{st_bind, st_type};
use iced_x86::{Code, Decoder, DecoderOptions, Register};

use crate::symbols::debug_files::DebugFiles;
use crate::symbols::elf::ElfFile;
use crate::symbols::valgrind::demangle::display_name;
use crate::symbols::valgrind::symbol_table::{self, Symbol, SymbolTable};

/// The code of one object. Addresses are link-time addresses.
pub struct ObjectCode<'f> {
    files: &'f DebugFiles,
    functions: SymbolTable,
    labels: Vec<Label>,
}

impl<'f> ObjectCode<'f> {
    /// Reads the symbols.
    pub fn read(files: &'f DebugFiles) -> Self {
        let functions = symbol_table::read(files, &files.main().executable());
        Self { files, functions, labels: labels(files) }
    }

    /// The function whose range holds `vaddr`, as Cachegrind would name it before it is made
    /// readable.
    pub fn function(&self, vaddr: u64) -> Option<&Symbol> {
        self.functions.find(vaddr)
    }

    /// Up to `size` bytes from `vaddr` on, as the file has them; none outside of what is loaded
    /// from it.
    pub fn bytes(&self, vaddr: u64, size: u64) -> Vec<u8> {
        self.files.main().bytes_at(vaddr, size)
    }

    /// The name to show for an address, and how many bytes it is past the symbol's start: the
    /// nearest symbol before it, as objdump(1) chooses it. Entries of the procedure linkage table
    /// are `name@plt`.
    pub fn label(&self, vaddr: u64) -> Option<(Cow<'_, str>, u64)> {
        let before = self.labels.get(..self.labels.partition_point(|label| label.address <= vaddr))?;
        let label = before.iter().rev().find(|label| !label.exact || label.address == vaddr)?;
        let past = vaddr.checked_sub(label.address)?;
        let name = match label.name.strip_suffix("@plt") {
            Some(target) => Cow::Owned(format!("{}@plt", display_name(target, true, true))),
            None => display_name(&label.name, true, true),
        };
        Some((name, past))
    }
}

/// A named address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    /// Link-time address.
    address: u64,
    /// Name as it stands in the symbol table; `name@plt` for an entry of the procedure linkage
    /// table.
    name: String,
    /// True for a slot, which names its own address alone.
    exact: bool,
}

/// All symbols, and the entries of the procedure linkage table, which have none of their own: by
/// address, one for each.
fn labels(files: &DebugFiles) -> Vec<Label> {
    let mut ranked = Vec::new();
    for (file, kind) in files.symbol_tables() {
        ranked.extend(symbols(file, kind));
    }
    let slots = slots(files.main());
    ranked.extend(linkage(files.main(), &slots).into_iter().map(|label| (6, label)));
    ranked.extend(slots.into_iter().map(|(address, name)| (7, Label { address, name, exact: true })));
    // As objdump's compare_symbols: functions, then objects, then others; global ones first.
    ranked.sort_by(|(a_rank, a), (b_rank, b)| {
        a.address.cmp(&b.address).then(a_rank.cmp(b_rank)).then_with(|| a.name.cmp(&b.name))
    });
    let mut labels: Vec<Label> = ranked.into_iter().map(|(_, label)| label).collect();
    labels.dedup_by_key(|label| label.address);
    labels
}

fn symbols(file: &ElfFile, kind: u32) -> Vec<(u8, Label)> {
    let table = file.symbols(kind);
    let symbols = table.iter().filter(|symbol| symbol.is_placed()).filter_map(|symbol| {
        let rank = match st_type(symbol.info) {
            STT_FILE | STT_SECTION | STT_TLS => return None,
            STT_FUNC | STT_GNU_IFUNC => 0,
            STT_OBJECT => 1,
            _ => 2,
        };
        let rank = rank * 2 + u8::from(st_bind(symbol.info) != STB_GLOBAL);
        let name = String::from_utf8_lossy(symbol.name).into_owned();
        Some((rank, Label { address: symbol.value, name, exact: false }))
    });
    symbols.collect()
}

/// The entries of the procedure linkage table: each jumps through a slot that a relocation names.
fn linkage(file: &ElfFile, slots: &BTreeMap<u64, String>) -> Vec<Label> {
    let mut labels = Vec::new();
    for (name, size) in [(".plt", 16), (".plt.sec", 16), (".plt.got", 8)] {
        let Some(section) = file.section(name) else { continue };
        let size = if section.sh_entsize > 0 { section.sh_entsize } else { size };
        let bytes = file.contents(section).unwrap_or_default();
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
fn slots(file: &ElfFile) -> BTreeMap<u64, String> {
    let symbols = file.symbols(SHT_DYNSYM);
    let mut slots = BTreeMap::new();
    for section in file.sections().iter().filter(|section| section.sh_type == SHT_RELA) {
        for (address, symbol, kind) in file.relocations(section) {
            let Some(name) = symbols.name(symbol) else { continue };
            if matches!(kind, R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT) {
                slots.insert(address, String::from_utf8_lossy(name).into_owned());
            }
        }
    }
    slots
}
