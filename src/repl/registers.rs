//! Commands about registers.

use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::render::terminal::table;
use crate::debugger::evaluate::Scope as _;
use crate::debugger::registers::Register;
use crate::debugger::value::Value;
use crate::guest::Gpr;

impl Shell {
    pub(super) fn regs(&mut self, rest: &str) -> Reply {
        let all = match rest {
            "" => false,
            "-a" => true,
            other => return Err(Error::Regs(other.to_owned())),
        };
        const NAMES: [(&str, Gpr); 16] = [
            ("rax", Gpr::Rax),
            ("rbx", Gpr::Rbx),
            ("rcx", Gpr::Rcx),
            ("rdx", Gpr::Rdx),
            ("rsi", Gpr::Rsi),
            ("rdi", Gpr::Rdi),
            ("rbp", Gpr::Rbp),
            ("rsp", Gpr::Rsp),
            ("r8", Gpr::R8),
            ("r9", Gpr::R9),
            ("r10", Gpr::R10),
            ("r11", Gpr::R11),
            ("r12", Gpr::R12),
            ("r13", Gpr::R13),
            ("r14", Gpr::R14),
            ("r15", Gpr::R15),
        ];
        let mut rows = Vec::new();
        let named = NAMES.into_iter().map(|(name, gpr)| (name, Register::Gpr(gpr)));
        let rest = [
            ("rip", Register::Rip),
            ("rflags", Register::Rflags),
            ("fs_base", Register::FsBase),
            ("gs_base", Register::GsBase),
        ];
        for (name, register) in named.chain(rest) {
            let Some(value) = self.debugger.register(register) else {
                rows.push(vec![name.to_owned(), "not known".to_owned(), String::new()]);
                continue;
            };
            let meaning = match register {
                Register::Rflags => flags(value),
                _ => self
                    .debugger
                    .program()
                    .symbol_at(value)
                    .map_or(value.to_string(), |name| format!("<{name}>")),
            };
            rows.push(vec![name.to_owned(), format!("{value:#x}"), meaning]);
        }
        let text = table(&["register", "value", ""], rows);
        self.say(&text);
        if all {
            self.vector_registers();
        }
        Ok(())
    }

    fn vector_registers(&mut self) {
        let Ok(image) = self.debugger.session().with_registers(|cpu| cpu.fpu()) else { return };
        let mxcsr = u32::from_le_bytes([image[24], image[25], image[26], image[27]]);
        let control = u16::from_le_bytes([image[0], image[1]]);
        let mut rows = vec![
            vec!["mxcsr".to_owned(), format!("{mxcsr:#x}")],
            vec!["fctrl".to_owned(), format!("{control:#x}")],
        ];
        for number in 0..16 {
            let bytes = &image[160 + 16 * number..][..16];
            let hex: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            rows.push(vec![format!("xmm{number}"), format!("0x{hex}")]);
        }
        let text = table(&["register", "value"], rows);
        self.say(&text);
    }

    /// `info registers`, of all or of the named ones.
    pub(super) fn info_registers(&mut self, rest: &str) -> Reply {
        if rest.is_empty() {
            return self.regs("");
        }
        for name in rest.split_whitespace() {
            let name = name.strip_prefix('$').unwrap_or(name);
            let value = self.value(&format!("${name}"))?;
            let shown = self.shown(&value);
            let text = match &value {
                Value::Integer(integer) => format!("{name}  {:#x}  {shown}", integer.bits()),
                _ => format!("{name}  {shown}"),
            };
            self.say(&text);
        }
        Ok(())
    }
}

/// The flags of RFLAGS that are set.
fn flags(value: u64) -> String {
    const FLAGS: [(u32, &str); 9] =
        [(0, "CF"), (2, "PF"), (4, "AF"), (6, "ZF"), (7, "SF"), (8, "TF"), (9, "IF"), (10, "DF"), (11, "OF")];
    let set: Vec<&str> =
        FLAGS.into_iter().filter(|(bit, _)| value >> bit & 1 != 0).map(|(_, name)| name).collect();
    set.join(" ")
}
