//! Encoding of Valgrind's client requests: a sequence of instructions that does nothing on hardware
//! and that Valgrind takes for one instruction (`valgrind.h`, "amd64-linux").

use crate::x86::address::Address;
use crate::x86::cost::Cost;
use crate::x86::decode::{Fetch, MAX_LENGTH};

/// Length of the sequence in bytes.
pub(crate) const LENGTH: usize = 19;

/// ROL of RDI by 3, 13, 61 and 51 bits, 128 in all, which restores it.
const PREAMBLE: [u8; 16] =
    [0x48, 0xc1, 0xc7, 3, 0x48, 0xc1, 0xc7, 13, 0x48, 0xc1, 0xc7, 61, 0x48, 0xc1, 0xc7, 51];

/// Kind of request, encoded by the XCHG of a register with itself that ends the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// XCHG RBX: RAX points to the code and its arguments; the answer goes to RDX.
    Client,
    /// XCHG RCX: the address of the wrapped function goes to RAX.
    OriginalAddress,
    /// XCHG RDX: a call of the address in RAX without redirection.
    Call,
    /// XCHG RDI: injection of VEX IR, for tests of Valgrind.
    Injection,
}

/// Decodes a request. A sequence with another ending is ordinary code.
pub(crate) fn decode(bytes: &[u8]) -> Option<Request> {
    let (ending, _) = bytes.strip_prefix(&PREAMBLE)?.split_first_chunk()?;
    match *ending {
        [0x48, 0x87, 0xdb] => Some(Request::Client),
        [0x48, 0x87, 0xc9] => Some(Request::OriginalAddress),
        [0x48, 0x87, 0xd2] => Some(Request::Call),
        [0x48, 0x87, 0xff] => Some(Request::Injection),
        _ => None,
    }
}

/// Tests cheaply whether a sequence may begin with the bytes of this instruction.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    bytes.starts_with(&PREAMBLE[..4])
}

/// Reads the request at `pc`, if there is one.
pub(crate) fn at(fetch: &mut Fetch<'_>, pc: u64) -> Option<Request> {
    let (first, len) = fetch(pc);
    if len < MAX_LENGTH || !may_begin(&first) {
        return None;
    }
    let (rest, len) = fetch(pc.wrapping_add(MAX_LENGTH as u64));
    let bytes = [&first, rest.get(..len)?].concat();
    decode(&bytes)
}

impl Request {
    /// Cost of the request besides its fetch.
    pub(crate) fn cost(self) -> Cost {
        let mut cost = Cost::default();
        if self == Request::Call {
            cost.push_computed(8, Address::Rsp(-8));
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(ending: [u8; 3]) -> Vec<u8> {
        [&PREAMBLE[..], &ending].concat()
    }

    #[test]
    fn four_endings_are_requests() {
        for (register, request) in [
            (0xdb, Some(Request::Client)),
            (0xc9, Some(Request::OriginalAddress)),
            (0xd2, Some(Request::Call)),
            (0xff, Some(Request::Injection)),
            (0xc0, None),
            (0xda, None),
        ] {
            assert_eq!(decode(&sequence([0x48, 0x87, register])), request, "{register:#x}");
        }
        assert_eq!(decode(&sequence([0x48, 0x89, 0xdb])), None);
    }

    #[test]
    fn a_part_is_none() {
        let whole = sequence([0x48, 0x87, 0xdb]);
        for len in 0..LENGTH {
            assert_eq!(decode(&whole[..len]), None, "{len} bytes");
        }
        for from in 1..LENGTH {
            assert_eq!(decode(&whole[from..]), None, "from byte {from}");
        }
    }

    #[test]
    fn the_rest_is_fetched_where_it_begins() {
        let mut code = sequence([0x48, 0x87, 0xdb]);
        code.extend([0x90; 20]);
        let fetch = |end: usize, pc: u64| {
            let mut bytes = [0; MAX_LENGTH];
            let rest = code[..end].get(pc as usize..).unwrap_or_default();
            let len = rest.len().min(MAX_LENGTH);
            bytes[..len].copy_from_slice(&rest[..len]);
            (bytes, len)
        };
        assert_eq!(at(&mut |pc| fetch(39, pc), 0), Some(Request::Client));
        assert_eq!(at(&mut |pc| fetch(LENGTH, pc), 0), Some(Request::Client));
        assert_eq!(at(&mut |pc| fetch(LENGTH - 1, pc), 0), None, "the page ends before it does");
        assert_eq!(at(&mut |pc| fetch(39, pc), 4), None, "a jump into the middle");
    }
}
