//! Requests that Valgrind's core serves for every tool.

use crate::requests::host::{Answer, Host};
use crate::requests::print::string;
use crate::requests::state::Requests;

/// Bytes of the buffer of MAP_IP_TO_SRCLOC, and of the file's name in it with its NUL.
const PLACE: usize = 64;
const PLACE_NAME: usize = 50;

/// Longest text of the program that a notice quotes.
const QUOTED: usize = 64;

/// One more than the levels of Valgrind that this one runs in.
pub(super) fn running_on_valgrind(_: &mut Requests, _: &mut dyn Host, _: [u64; 5]) -> Answer {
    Answer::Value(1)
}

/// Requests that need nothing done and answer 0.
pub(super) fn nothing(_: &mut Requests, _: &mut dyn Host, _: [u64; 5]) -> Answer {
    Answer::Value(0)
}

/// Requests that no tool like Cachegrind knows.
pub(super) fn unknown(_: &mut Requests, _: &mut dyn Host, _: [u64; 5]) -> Answer {
    Answer::Untouched
}

/// The core looks at blocks at address 0 only; the others are for tools that know heaps.
pub(super) fn block(_: &mut Requests, _: &mut dyn Host, [addr, ..]: [u64; 5]) -> Answer {
    if addr == 0 { Answer::Value(0) } else { Answer::Untouched }
}

/// Stacks are numbered from 1; the number means nothing to anybody else.
pub(super) fn stack_register(requests: &mut Requests, _: &mut dyn Host, _: [u64; 5]) -> Answer {
    Answer::Value(requests.add_stack())
}

/// The tool's name, which it is to be taken for, into a buffer of so many bytes; answers whether
/// there was room.
pub(super) fn tool_name(_: &mut Requests, host: &mut dyn Host, [buffer, size, ..]: [u64; 5]) -> Answer {
    const NAME: &[u8] = b"cachegrind\0";
    if size < NAME.len() as u64 || host.mem().write(buffer, NAME).is_err() {
        return Answer::Value(1);
    }
    Answer::Value(0)
}

/// `file:line` of an instruction, or an empty text. The buffer is filled up with zeros.
pub(super) fn map_ip_to_srcloc(_: &mut Requests, host: &mut dyn Host, [pc, buffer, ..]: [u64; 5]) -> Answer {
    let mut bytes = [0; PLACE];
    if let Some((file, line)) = host.locate(pc).line {
        let name = file.as_bytes();
        let name = name.get(..PLACE_NAME - 1).unwrap_or(name);
        let text = [name, b":", line.to_string().as_bytes()].concat();
        if let Some(to) = bytes.get_mut(..text.len()) {
            to.copy_from_slice(&text);
        }
    }
    if host.mem().write(buffer, &bytes).is_err() {
        host.notice(format!("MAP_IP_TO_SRCLOC: its buffer at {buffer:#x} cannot be written"));
    }
    Answer::Value(0)
}

/// Answers that the command is not known.
pub(super) fn monitor_command(_: &mut Requests, host: &mut dyn Host, [text, ..]: [u64; 5]) -> Answer {
    let command = quoted(host, text);
    host.notice(format!("the monitor command {command} was ignored: there is no gdbserver"));
    Answer::Value(1)
}

/// Options stay as they are.
pub(super) fn option_change(_: &mut Requests, host: &mut dyn Host, [text, ..]: [u64; 5]) -> Answer {
    let option = quoted(host, text);
    host.notice(format!("CLO_CHANGE {option} was ignored: options do not change while a program runs"));
    Answer::Value(0)
}

fn quoted(host: &mut dyn Host, addr: u64) -> String {
    match string(host.mem(), addr, QUOTED) {
        Some(text) => format!("`{}`", String::from_utf8_lossy(&text).escape_debug()),
        None => format!("at {addr:#x}, which cannot be read,"),
    }
}
