//! Reads newly translated code for the recorder.

use super::door::Door;
use crate::emu::memory::space::AddressSpace;
use crate::guest::PAGE_SIZE;
use crate::x86::decode::MAX_LENGTH;

/// Bytes read at once.
const WINDOW: usize = 128;

/// Cache of the code that was read last, within one page.
struct Window {
    start: u64,
    len: usize,
    bytes: [u8; WINDOW],
}

impl Window {
    /// Empty window.
    const EMPTY: Window = Window { start: 0, len: 0, bytes: [0; WINDOW] };

    /// Up to `MAX_LENGTH` bytes of code at an address, and their number.
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
    /// Shows the recorder the code of a block that is translated at `pc`.
    pub(super) fn record_translation(&mut self, pc: u64) {
        self.sync();
        let space = &mut self.space;
        let mut window = Window::EMPTY;
        self.recorder.translated(pc, &mut |pc| window.code(space, pc));
    }
}
