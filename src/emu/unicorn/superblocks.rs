//! What Valgrind makes of new code, for its count model: the door reads the code for it.

use super::door::Door;
use crate::emu::memory::space::AddressSpace;
use crate::guest::PAGE_SIZE;
use crate::x86::decode::MAX_LENGTH;

/// Bytes that are read at once.
const WINDOW: usize = 128;

/// Code that was read last, of one page: most of what is looked at is near what was looked at before.
struct Window {
    start: u64,
    len: usize,
    bytes: [u8; WINDOW],
}

impl Window {
    /// Nothing yet.
    const EMPTY: Window = Window { start: 0, len: 0, bytes: [0; WINDOW] };

    /// Up to `MAX_LENGTH` bytes of code at an address, and how many there are.
    fn code(&mut self, space: &mut AddressSpace, pc: u64) -> ([u8; MAX_LENGTH], usize) {
        if let Some(code) = self.seen(pc) {
            return (code, MAX_LENGTH);
        }
        let in_page = (PAGE_SIZE - pc % PAGE_SIZE) as usize;
        if in_page >= MAX_LENGTH {
            self.start = pc;
            self.len = space.fetch(pc, &mut self.bytes[..in_page.min(WINDOW)]).len();
        }
        self.seen(pc).map_or_else(
            || {
                let mut code = [0; MAX_LENGTH];
                let len = space.fetch(pc, &mut code).len();
                (code, len)
            },
            |code| (code, MAX_LENGTH),
        )
    }

    fn seen(&self, pc: u64) -> Option<[u8; MAX_LENGTH]> {
        let at = usize::try_from(pc.wrapping_sub(self.start)).ok()?;
        self.bytes[..self.len].get(at..)?.first_chunk().copied()
    }
}

impl Door {
    /// Finds out what Valgrind makes of the code at an address.
    pub(super) fn form(&mut self, pc: u64) {
        let space = &mut self.space;
        let Some(regroup) = &mut self.recorder.regroup else { return };
        let mut window = Window::EMPTY;
        let formed = regroup.form(pc, &mut |pc| window.code(space, pc));
        for formed in formed {
            if self.recorder.regroup.as_ref().is_none_or(|regroup| regroup.knows(&formed)) {
                continue;
            }
            self.sync();
            self.recorder.form(formed);
        }
    }
}
