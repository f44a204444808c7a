//! Instructions as text: the layout and, by default, the syntax of objdump(1).

use std::borrow::Cow;

use super::super::Renaming;
use iced_x86::{Formatter, GasFormatter, Instruction, IntelFormatter, MemorySizeOptions, Mnemonic, OpKind};

/// The two ways to write x86 instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// AT&T's: source first, registers with `%`. What GNU tools write if not told otherwise.
    #[default]
    Att,
    /// Intel's: destination first.
    Intel,
}

/// Least width of the mnemonic, as in objdump's lines.
const MNEMONIC_WIDTH: usize = 6;

/// Mnemonics whose size objdump leaves off, since in 64-bit mode there is no other.
const SHORT: [(&str, &str); 6] = [
    ("callq", "call"),
    ("jmpq", "jmp"),
    ("pushq", "push"),
    ("popq", "pop"),
    ("retq", "ret"),
    ("leaveq", "leave"),
];

/// Writes instructions.
pub struct Writer<'r> {
    syntax: Syntax,
    renaming: &'r Renaming,
    formatter: Box<dyn Formatter>,
}

impl<'r> Writer<'r> {
    /// One for `syntax`; names are changed as `renaming` says.
    pub fn new(syntax: Syntax, renaming: &'r Renaming) -> Self {
        let mut formatter: Box<dyn Formatter> = match syntax {
            Syntax::Att => Box::new(GasFormatter::new()),
            Syntax::Intel => Box::new(IntelFormatter::new()),
        };
        let options = formatter.options_mut();
        options.set_uppercase_keywords(true);
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_uppercase_hex(false);
        options.set_small_hex_numbers_in_decimal(false);
        options.set_add_leading_zero_to_hex_numbers(false);
        options.set_branch_leading_zeros(false);
        options.set_displacement_leading_zeros(false);
        options.set_rip_relative_addresses(true);
        options.set_show_branch_size(false);
        options.set_space_after_operand_separator(false);
        options.set_show_zero_displacements(true);
        options.set_memory_size_options(MemorySizeOptions::Always);
        options.set_always_show_scale(true);
        Self { syntax, renaming, formatter }
    }

    /// `instruction`, whose encoding is `bytes`, with the names that `label` gives to the addresses in it: each with the bytes past its start.
    pub fn line<'a>(
        &mut self,
        instruction: &Instruction,
        bytes: &[u8],
        label: impl Fn(u64) -> Option<(Cow<'a, str>, u64)>,
    ) -> String {
        let label = |address| {
            label(address).map(|(name, past)| {
                let name = self.renaming.function(name.as_bytes());
                (String::from_utf8_lossy(&name).into_owned(), past)
            })
        };
        let named = |address: u64| match label(address) {
            Some((name, 0)) => format!("{address:x} <{name}>"),
            Some((name, past)) => format!("{address:x} <{name}+{past:#x}>"),
            None => format!("{address:x}"),
        };
        if instruction.is_invalid() {
            return "(bad)".to_owned();
        }
        let (mut mnemonic, mut operands) = (String::new(), String::new());
        self.formatter.format_mnemonic(instruction, &mut mnemonic);
        let near = [OpKind::NearBranch16, OpKind::NearBranch32, OpKind::NearBranch64];
        if instruction.op_count() > 0 && near.contains(&instruction.op0_kind()) {
            operands = named(instruction.near_branch_target());
        } else {
            self.formatter.format_all_operands(instruction, &mut operands);
            if self.syntax == Syntax::Att {
                operands = att_operands(instruction, operands);
            }
        }
        if let Some(short) = SHORT.iter().find_map(|(long, short)| (mnemonic == *long).then_some(*short)) {
            short.clone_into(&mut mnemonic);
        }
        let mut text = prefixes(instruction, bytes) + &mnemonic;
        if !operands.is_empty() {
            text = format!("{text:<MNEMONIC_WIDTH$} {operands}");
        }
        if instruction.is_ip_rel_memory_operand() {
            text = format!("{text}        # {}", named(instruction.ip_rel_memory_address()));
        }
        text
    }
}

/// Prefixes that change nothing, which the formatter passes over: in the padding between functions.
fn prefixes(instruction: &Instruction, bytes: &[u8]) -> String {
    if instruction.mnemonic() != Mnemonic::Nop {
        return String::new();
    }
    let prefixes = || bytes.iter().take_while(|byte| matches!(byte, 0x66 | 0x2e));
    // One of them is what makes it 16 bits wide.
    let mut spare = prefixes().filter(|byte| **byte == 0x66).count().saturating_sub(1);
    prefixes().fold(String::new(), |text, byte| match byte {
        0x66 if spare > 0 => {
            spare -= 1;
            text + "data16 "
        }
        0x66 => text,
        _ => text + "cs ",
    })
}

/// Operands in AT&T's syntax, as objdump spells them where the formatter is shorter or longer.
fn att_operands(instruction: &Instruction, text: String) -> String {
    let mut text = text.replace(",)", ")");
    if instruction.is_string_instruction() {
        text = text.replace("(%rdi)", "%es:(%rdi)").replace("(%rsi)", "%ds:(%rsi)");
        text = text.replace("s:%ds:", "s:").replace("s:%es:", "s:");
    }
    // Shifts by one have an encoding of their own.
    if format!("{:?}", instruction.code()).ends_with("_1")
        && let Some(rest) = text.strip_prefix("$0x1,")
    {
        text = rest.to_owned();
    }
    if instruction.mnemonic() == Mnemonic::Imul
        && instruction.op_count() == 3
        && text.matches(',').count() == 1
        && let Some((_, register)) = text.clone().rsplit_once(',')
    {
        text = format!("{text},{register}");
    }
    text
}
