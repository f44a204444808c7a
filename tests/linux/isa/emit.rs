//! The forms as the tables and the assembly that the harness is built with.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::generate::{FLAG_NAMES, FORMS_ADDRESS, Form, MEM_OPERAND, SORTS, SPECIALS, STUB_SIZE, TAKEN};

/// `forms.h`: the constants and the tables.
pub fn header(forms: &BTreeMap<String, Form>, order: &[String]) -> String {
    let mut text = String::new();
    let _ =
        writeln!(text, "#define FORMS_ADDRESS {FORMS_ADDRESS:#x}ul\n#define MEM_OPERAND {MEM_OPERAND:#x}ul");
    let _ = writeln!(text, "#define STUB_SIZE {STUB_SIZE}\n#define FORM_COUNT {}", order.len());
    for (i, name) in FLAG_NAMES.iter().enumerate() {
        let _ = writeln!(text, "#define FORM_{name} {:#x}", 1 << i);
    }
    let list = |prefix: &str, names: &[&str]| {
        names.iter().map(|n| format!("{prefix}_{n}")).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(text, "enum {{ {}, SORT_ANY = 100 }};", list("SORT", &SORTS));
    let _ = writeln!(text, "enum {{ {} }};", list("SPECIAL", &SPECIALS));
    text.push_str(
        "struct form { const char *name; unsigned first, count, trials, flags, sort, special; };\n",
    );
    text.push_str("static const struct form forms[] = {\n");
    let mut first = 0;
    for name in order {
        let form = &forms[name];
        let floating = form.flags.contains("SSE_FLOAT") || form.flags.contains("X87");
        let count = form.stubs.len();
        let trials = match (form.thorough, floating) {
            (true, _) if count >= 64 => count * 2,
            (true, true) => 600,
            (true, false) => 100,
            (false, true) => 64.max(count),
            (false, false) => 20.max(count),
        };
        let flags: Vec<String> = form.flags.iter().map(|f| format!("FORM_{f}")).collect();
        let flags = if flags.is_empty() { "0".to_owned() } else { flags.join("|") };
        let _ = writeln!(
            text,
            "{{\"{name}\",{first},{count},{trials},{flags},SORT_{},SPECIAL_{}}},",
            form.sort, form.special
        );
        first += count;
    }
    text.push_str("};\n");
    for (table, of) in [("stub_flags", 0), ("stub_codes", 1)] {
        let _ = writeln!(text, "static const unsigned short {table}[] = {{");
        for name in order {
            for stub in &forms[name].stubs {
                let _ = write!(text, "{},", if of == 0 { stub.flags } else { stub.codes });
            }
            text.push('\n');
        }
        text.push_str("};\n");
    }
    text
}

/// `forms.S`: the instructions, each in a stub of its own.
pub fn assembly(forms: &BTreeMap<String, Form>, order: &[String]) -> String {
    let mut text = String::from(".section .forms,\"ax\",@progbits\n");
    for name in order {
        let _ = writeln!(text, "# {name}");
        for stub in &forms[name].stubs {
            let bytes: Vec<String> = stub.bytes.iter().map(|b| format!("{b:#x}")).collect();
            let padding = TAKEN - stub.bytes.len() as u64 - 5;
            let _ = writeln!(
                text,
                ".byte {}\njmp form_return\n.fill {padding},1,0xcc\njmp form_return_taken\n.balign {STUB_SIZE},0xcc",
                bytes.join(",")
            );
        }
    }
    text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    text
}
