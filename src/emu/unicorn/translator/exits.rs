//! Ways on and exits of a superblock: they are chosen while it is translated, and emitted.

use std::mem::offset_of;

use iced_x86::FlowControl;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::jump_cache::{CLOSE_BITS, TARGET_BITS, TARGETS, Target};
use crate::emu::unicorn::layout::ENV_EIP;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::host_code::{Memory, R11, RAX, RCX, RDX};
use crate::emu::unicorn::translator::patches::Later;
use crate::emu::unicorn::translator::prologue::{ADD, CMP, INC, LEA, MOV};
use crate::emu::unicorn::translator::superblock::{Exit, Way};
use crate::hooks::record::NOTED;
use crate::x86::cost;

/// Opcodes of `dec` of memory, and of `jmp` to an address in memory.
const DEC: (u8, u8) = (0xff, 1);
const JMP: (&[u8], u8) = (&[0xff], 4);
/// `mov eax, ecx; and eax, i; shl eax, i`: the place in bytes of the target in RCX in the table of
/// jumps.
const PLACE_OF_TARGET: [u8; 10] = {
    let [a, b, c, d] = (((TARGETS - 1) << CLOSE_BITS) as u32).to_le_bytes();
    [0x89, 0xc8, 0x25, a, b, c, d, 0xc1, 0xe0, (TARGET_BITS - CLOSE_BITS) as u8]
};
/// Condition of a jump.
const EQUAL: u8 = 4;
/// Keep in the header in RCX what was noted in that in RDX: `shr rdx, i; shl rdx, i; or rcx, rdx`.
const KEEP_NOTED: [u8; 11] = [0x48, 0xc1, 0xea, NOTED as u8, 0x48, 0xc1, 0xe2, NOTED as u8, 0x48, 0x09, 0xd1];

impl Translator {
    /// Chooses where the superblock goes on after the instruction at hand, if that ends a block.
    /// `usual` returns where control usually goes from the block at an address, of two, and
    /// `may_join` tests whether a jump to an address may stay inside.
    pub(crate) fn choose_way(
        &mut self,
        usual: impl FnOnce(u64, [u64; 2]) -> Option<u64>,
        may_join: impl FnOnce(u64) -> bool,
    ) {
        let instruction = &self.instruction;
        self.superblock.end = self.superblock.end.max(instruction.next_ip());
        if self.superblock.page.is_none() || self.trapped || !self.records && !self.counts {
            return;
        }
        let target = instruction.near_branch_target();
        let way = match instruction.flow_control() {
            FlowControl::Call if self.builder.place().is_some() => return,
            FlowControl::UnconditionalBranch | FlowControl::Call => {
                Way { target, exit: 0, exits: 1, is_inside: false }
            }
            FlowControl::ConditionalBranch
                if instruction.is_jcc_short_or_near() && !cost::jumps_to_next(instruction) =>
            {
                match usual(self.superblock.start, [target, instruction.next_ip()]) {
                    Some(next) if next == target => Way { target, exit: 1, exits: 2, is_inside: false },
                    Some(next) => Way { target: next, exit: 0, exits: 2, is_inside: false },
                    None => return,
                }
            }
            _ => return,
        };
        let has_room = way.exits == 1 || self.builder.has_room_inside(1);
        let is_inside = has_room && self.superblock.has_room_for(way.target) && may_join(way.target);
        self.superblock.way = Some(Way { is_inside, ..way });
    }

    /// Forgets the way of the instruction before.
    pub(super) fn no_way(&mut self) {
        (self.superblock.way, self.superblock.exits, self.superblock.goes_on) = (None, 0, false);
    }

    /// Tests whether the branch of the instruction at hand is inside of a superblock.
    pub(super) fn is_inside(&self) -> bool {
        self.superblock.way.is_some_and(|way| way.is_inside)
    }

    /// Begins an exit of the instruction at hand, of which the engine is about to emit the
    /// operations; it `may_chain` with the next block. Returns the exit if it is one of a
    /// superblock.
    pub(crate) fn begin_exit(&mut self, may_chain: bool) -> Option<Exit> {
        self.original?;
        let number = self.superblock.exits;
        self.superblock.exits += 1;
        let exit = match self.superblock.way {
            Some(way) if way.is_inside && number == way.exit => {
                // Another exit comes between.
                let apart = number + 1 < way.exits;
                self.superblock.label = apart.then(|| Emit(self.context).new_label());
                self.superblock.goes_on = true;
                Exit::Inside(self.superblock.label)
            }
            Some(way) if way.is_inside => {
                self.shorten_record();
                // One is kept for the end.
                self.exit_by(may_chain && self.exits == 0)
            }
            // Jumps to other pages know themselves if they can chain.
            _ if !self.superblock.is_joined() || !may_chain => return None,
            Some(way) if number != way.exit && self.exits != 0 => Exit::Table,
            _ => self.exit_by(true),
        };
        self.superblock.begun = Some(exit);
        Some(exit)
    }

    /// An exit that is chained if it may be and there is one.
    fn exit_by(&mut self, may_chain: bool) -> Exit {
        if !may_chain || self.exits == 3 {
            return Exit::Table;
        }
        let index = u32::from(self.exits & 1 != 0);
        self.exits |= 1 << index;
        Exit::Chained(index)
    }

    /// Takes the exit that has begun.
    pub(crate) fn take_exit(&mut self) -> Option<Exit> {
        self.superblock.begun.take()
    }

    /// Emits the header of the record as it is when the superblock is left after the instruction at
    /// hand, and moves the cursor back to its end; or the count of an execution that ends here in
    /// place of one of the whole.
    fn shorten_record(&mut self) {
        let complete = self.builder.instructions() as u16 + 1;
        let exit = Some(complete);
        let keeps_noted = self.inline.in_records || self.inline.caches.is_some();
        let words = self.words();
        let last = words.plus(offset_of!(Cursor, last));
        let Translator { host, patches, .. } = self;
        if self.counts {
            let left = words.plus(offset_of!(Cursor, left));
            host.constant_later(true, ADD, left, (patches, Later::InstructionsBack(complete), None));
            host.load(true, RAX, words.plus(offset_of!(Cursor, executions)));
            host.with_later(false, DEC, RAX, (patches, Later::Count, None));
            host.with_later(false, INC, RAX, (patches, Later::Count, exit));
            host.constant_later(true, MOV, last, (patches, Later::Plan, exit));
        } else {
            host.load(true, RAX, last);
            host.load_later(RCX, (patches, Later::Header, exit));
            if keeps_noted {
                host.load(true, RDX, Memory::at(RAX));
                host.push(&KEEP_NOTED);
            }
            host.store(true, Memory::at(RAX), RCX);
            host.with_later(true, LEA, RAX, (patches, Later::Size, exit));
            host.store(true, words.plus(offset_of!(Cursor, next)), RCX);
        }
        let emit = Emit(self.context);
        emit.end_basic_block();
        self.host.emit(emit);
    }

    /// Emits a jump to the block at RIP by the table of jumps.
    pub(crate) fn jump_by_table(&mut self, emit: Emit, table: *const Target) {
        emit.end_basic_block();
        let Translator { host, env, .. } = self;
        host.load(true, RCX, Memory::of_state(ENV_EIP as i32));
        host.push(&PLACE_OF_TARGET);
        let cells = host.at(table as u64, *env, R11);
        let cell = cells.indexed(RAX);
        host.with_memory(true, CMP, RCX, cell.plus(offset_of!(Target, pc)));
        let found = host.jump_if(EQUAL);
        let nowhere = cells.plus(TARGETS << TARGET_BITS);
        host.with_memory(false, JMP.0, JMP.1, nowhere.plus(offset_of!(Target, code)));
        host.bind(found);
        host.with_memory(false, JMP.0, JMP.1, cell.plus(offset_of!(Target, code)));
        host.emit(emit);
    }

    /// Goes on with the next block of a superblock after the instruction at hand, if it has one.
    /// Returns its address.
    pub(crate) fn go_on(&mut self) -> Option<u64> {
        let way = self.superblock.way.filter(|way| way.is_inside && self.superblock.goes_on)?;
        if let Some(label) = self.superblock.label.take() {
            Emit(self.context).place(label);
        }
        let block = self.superblock.start..self.instruction.next_ip();
        self.superblock.before.push(block);
        self.superblock.start = way.target;
        self.no_way();
        Some(way.target)
    }

    /// Prepares for the end of a block that no instruction ends. Its exit takes the table of jumps
    /// if it is of a superblock, unless the next block is for another mode.
    pub(crate) fn stop(&mut self) {
        self.no_way();
        let stays = self.superblock.is_joined() && !self.guard.ends_block();
        self.superblock.begun = stays.then_some(Exit::Table);
    }

    /// Drops the exit that [`Translator::stop`] has prepared, and returns the end of all code.
    pub(crate) fn stopped(&mut self) -> Option<u64> {
        self.superblock.begun = None;
        self.superblock.is_joined().then_some(self.superblock.end)
    }
}
