//! Instructions as text: the layout and, by default, the syntax of objdump(1).

use std::borrow::Cow;

use crate::annotate::tally::Renaming;
use iced_x86::{
    Code, Formatter, GasFormatter, Instruction, IntelFormatter, MemorySizeOptions, Mnemonic, OpKind,
};

/// The syntax of x86 instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// AT&T's: source first, registers with `%`. The default of GNU tools.
    #[default]
    Att,
    /// Intel's: destination first.
    Intel,
}

/// Least width of the mnemonic, as in objdump's lines.
const MNEMONIC_WIDTH: usize = 6;

/// Mnemonics whose size objdump leaves off, since in 64-bit mode there is no other.
const SHORT: [(&str, &str); 10] = [
    ("callq", "call"),
    ("jmpq", "jmp"),
    ("pushq", "push"),
    ("popq", "pop"),
    ("retq", "ret"),
    ("leaveq", "leave"),
    ("lretl", "lret"),
    ("iretl", "iret"),
    ("lcalll", "lcall"),
    ("ljmpl", "ljmp"),
];

/// Writes instructions.
pub(crate) struct Writer<'r> {
    syntax: Syntax,
    renaming: &'r Renaming,
    formatter: Box<dyn Formatter>,
    addresses: Addresses,
}

/// The layout of the addresses that instructions name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Addresses {
    /// objdump's: `401136 <main+0x10>`.
    #[default]
    Objdump,
    /// GDB's: `0x401136 <main+16>`.
    Gdb,
}

impl<'r> Writer<'r> {
    /// A writer for `syntax`; `renaming` changes the names of functions.
    pub(crate) fn new(syntax: Syntax, renaming: &'r Renaming) -> Self {
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
        Self { syntax, renaming, formatter, addresses: Addresses::default() }
    }

    /// Names addresses in another layout.
    pub(crate) fn naming(self, addresses: Addresses) -> Self {
        Self { addresses, ..self }
    }

    /// The text of `instruction`, encoded as `bytes`. `label` names the symbol of an address and
    /// the offset in it.
    pub(crate) fn line<'a>(
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
        let addresses = self.addresses;
        let named = |address: u64| match (addresses, label(address)) {
            (Addresses::Objdump, Some((name, 0))) => format!("{address:x} <{name}>"),
            (Addresses::Objdump, Some((name, past))) => format!("{address:x} <{name}+{past:#x}>"),
            (Addresses::Objdump, None) => format!("{address:x}"),
            (Addresses::Gdb, Some((name, 0))) => format!("{address:#x} <{name}>"),
            (Addresses::Gdb, Some((name, past))) => format!("{address:#x} <{name}+{past}>"),
            (Addresses::Gdb, None) => format!("{address:#x}"),
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
        if self.syntax == Syntax::Att {
            // Two encodings, one operation.
            if instruction.mnemonic() == Mnemonic::Sal {
                mnemonic = mnemonic.replacen("sal", "shl", 1);
            }
        }
        for (long, short) in [("rep ret", "repz ret"), ("repe ", "repz "), ("repne ", "repnz ")] {
            if let Some(rest) = mnemonic.strip_prefix(long) {
                mnemonic = short.to_owned() + rest;
            }
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

/// Prefixes that change nothing, which the formatter passes over: in the padding between functions,
/// in calls that the linker may relax (the thread-local storage of the x86-64 psABI), and before
/// `ret`.
fn prefixes(instruction: &Instruction, bytes: &[u8]) -> String {
    let wide = |byte: &u8| *byte == 0x66;
    match instruction.code() {
        Code::Call_rel32_64 | Code::Jmp_rel32_64 | Code::Lea_r64_m => {
            let count = bytes.iter().take_while(|byte| wide(byte)).count();
            let rex = bytes.get(count) == Some(&0x48) && instruction.code() != Code::Lea_r64_m;
            return "data16 ".repeat(count) + if rex { "rex.W " } else { "" };
        }
        _ if instruction.mnemonic() != Mnemonic::Nop => return String::new(),
        _ => {}
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
    if matches!(
        instruction.mnemonic(),
        Mnemonic::In | Mnemonic::Out | Mnemonic::Insb | Mnemonic::Insd | Mnemonic::Insw
    ) || matches!(instruction.mnemonic(), Mnemonic::Outsb | Mnemonic::Outsd | Mnemonic::Outsw)
    {
        text = text.replace("%dx", "(%dx)");
    }
    if instruction.mnemonic() == Mnemonic::Xlatb {
        text = text.replace("(%rbx)", "%ds:(%rbx)");
    }
    // The x87's operand is the register after the top if none is named.
    if text.is_empty() && instruction.op_count() == 2 && instruction.op0_register().is_st() {
        let one = [Mnemonic::Fxch, Mnemonic::Fcom, Mnemonic::Fcomp, Mnemonic::Fucom, Mnemonic::Fucomp]
            .contains(&instruction.mnemonic());
        text = if one { "%st(1)".to_owned() } else { "%st,%st(1)".to_owned() };
    }
    // Shifts by one have a separate encoding.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::testkit::Workshop;
    use iced_x86::{Decoder, DecoderOptions};

    /// Instructions of compilers and of C libraries, beside the plain ones that
    /// tests/readers/asm.rs compares.
    const ODD: &str = r#"
        .text
main:
        fxch; fxch %st(3); faddp; fmulp; fsubp; fsubrp; fdivp; fdivrp; faddp %st, %st(2); fcom; fcomp; fcompp; fucom
        fucomip; fcomi %st(4); fld %st(0); fstp %st(1); fldt (%rax); fistpll 8(%rsp); fnstcw (%rsp); fnstsw %ax; fld1; fchs
        rep stosq; rep movsb; repe cmpsb; repne scasb; lodsl; rep ret; ret; ret $8; lretl; iretq; leave; enter $16, $0
        in %dx, %al; in $5, %eax; out %al, %dx; insb; outsl; xlat; cpuid; rdtsc; ud2; hlt; syscall; int3; int $0x80
        .byte 0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0
        .byte 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0
        .byte 0x66, 0x48, 0xe8, 0, 0, 0, 0
        .byte 0xd1, 0x77, 0x10, 0xc1, 0xf2, 3
        mov %fs:0x28, %rax; xor %fs:40, %rdx; mov %fs:(%rcx), %rax; mov %gs:0, %eax; lea 0(,%rax,8), %rcx; lea -8(%rsp,%r12,4), %rdx
        movabs $0x1122334455667788, %rax; movabs 0x1122334455667788, %eax; mov $-1, %rax; mov $0xffffffff, %eax
        lock cmpxchg %rcx, (%rdi); lock xadd %eax, 4(%rsi); lock incl (%rax); xchg %rax, %rbx; xchg %ax, %ax; pause; mfence
        cmpxchg16b (%rdi); bswap %r9; bt $3, %rax; bts %ecx, (%rdx); shld $5, %rax, %rbx; shrd %cl, %rax, (%rbx)
        movsbl (%rax), %ecx; movzwl %ax, %ecx; movslq %eax, %rcx; movzbl 1(%rdi), %r8d; cltq; cqto; cltd; cwtl; cbtw; cqo
        imul $8, %rax, %rcx; imul $1000, (%rax), %ecx; imul $-5, %rdx, %rdx; mul %rcx; idivl (%rsp); neg %rax; notb (%rax)
        shl %eax; sar $1, %rax; shr $31, %eax; rol %cl, %rdx; rorl (%rax); sete %al; setnbe (%rax); cmovl %eax, %ecx
        movd %eax, %xmm0; movq %xmm0, %rax; movq (%rax), %xmm3; movaps %xmm1, %xmm2; movdqu (%rax), %xmm9; movlps (%rax), %xmm1
        cvtsi2sd %eax, %xmm0; cvtsi2sdq %rax, %xmm1; cvtsi2sdl (%rax), %xmm2; cvttsd2si %xmm0, %eax; cvttsd2si %xmm0, %rax
        cmpltsd %xmm1, %xmm2; cmpps $4, (%rax), %xmm1; pshufd $0x1b, %xmm1, %xmm2; palignr $3, %xmm1, %xmm2; pextrw $2, %xmm1, %eax
        ucomisd (%rax), %xmm1; psrldq $8, %xmm1; pmovmskb %xmm1, %eax; pinsrd $1, %eax, %xmm1; aesenc %xmm1, %xmm2; crc32b %al, %ecx
        pclmulqdq $0x11, %xmm1, %xmm2; ldmxcsr (%rsp); prefetcht0 (%rax); clflush (%rax); movnti %eax, (%rcx); fxsave (%rsp)
        push $5; push $0x12345678; pushq (%rax); popq 8(%rbx); pushf; popf; call *%rax; call *8(%rax); jmp *(,%rax,8); notrack jmp *%rdx
        endbr64; rdsspq %rax; nopw 0(%rax,%rax,1); nopl (%rax); nop
        .byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
1:      jecxz 1b; jrcxz 1b; loop 1b; loopne 1b; jmp main; jne main; call main; bnd jmp main; rdrand %rax; popcnt %rax, %rcx; tzcnt %eax, %eax
        vaddpd %ymm1, %ymm2, %ymm3; vmovdqu (%rax), %ymm1; vpbroadcastb %xmm1, %ymm1; vzeroupper; andn %rax, %rbx, %rcx
"#;

    #[test]
    fn instructions_are_written_as_objdump_writes_them() {
        let workshop = Workshop::new();
        workshop.assemble("odd", ODD);
        let objdump = std::process::Command::new("objdump");
        let mut objdump = objdump;
        let shown = objdump.args(["-d", "--insn-width=16"]).arg(workshop.path("odd")).output();
        let shown = shown.unwrap_or_else(|error| panic!("objdump: {error}; this test needs binutils"));
        let renaming = Renaming::default();
        let mut writer = Writer::new(Syntax::Att, &renaming);
        let without_names = |text: &str| {
            let parts = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, rest)| rest));
            parts.collect::<String>().trim_end().to_owned()
        };
        let mut count = 0;
        let mut bad = Vec::new();
        for line in String::from_utf8_lossy(&shown.stdout).lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [address, bytes, theirs] = parts[..] else { continue };
            let address = u64::from_str_radix(address.trim().trim_end_matches(':'), 16).expect("an address");
            let bytes = bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("a byte"));
            let bytes: Vec<u8> = bytes.collect();
            let instruction = Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE).decode();
            let ours = without_names(&writer.line(&instruction, &bytes, |_| None));
            if ours != without_names(theirs) {
                bad.push((ours, theirs.to_owned()));
            }
            count += 1;
        }
        assert!(count > 150, "{count}");
        assert!(bad.is_empty(), "{bad:#?}");
    }
}
