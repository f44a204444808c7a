//! Ways on and exits of a superblock: they are chosen while it is translated, and emitted.

use std::mem::offset_of;

use iced_x86::FlowControl;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::patches::Later;
use crate::emu::unicorn::translator::prologue::Words;
use crate::emu::unicorn::translator::superblock::{Exit, Way};
use crate::hooks::record::NOTED;
use crate::x86::cost;

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
        if self.superblock.page.is_none() || self.trapped || self.pointer.is_null() && !self.counts {
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
    pub(crate) fn begin_exit(&mut self, may_chain: bool, cursor: *const Cursor) -> Option<Exit> {
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
                self.shorten_record(cursor);
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
    /// hand, and moves the cursor back to its end.
    fn shorten_record(&mut self, cursor: *const Cursor) {
        let emit = Emit(self.context);
        let words = self.words(emit, cursor);
        let complete = self.builder.instructions() as u16 + 1;
        if self.counts {
            return self.count_exit(emit, words, complete);
        }
        let (header, header_op) = emit.later();
        if self.inline.in_records || self.inline.caches.is_some() {
            // What was noted stays.
            let noted = emit.new_temp(false);
            emit.load(noted, self.pointer as usize, 0);
            emit.shift_right(noted, noted, NOTED.into());
            emit.shift_left(noted, noted, NOTED.into());
            emit.or(header, header, noted);
            emit.free(noted);
        }
        emit.store(header, self.pointer as usize, 0);
        let (bytes, bytes_op) = emit.later();
        let next = emit.new_temp(false);
        emit.add(next, self.pointer as usize, bytes);
        words.store(next, offset_of!(Cursor, next));
        words.free();
        for temp in [header, bytes, next] {
            emit.free(temp);
        }
        self.patches.add_exit(header_op, 1, Later::Header, complete);
        self.patches.add_exit(bytes_op, 1, Later::Size, complete);
    }

    /// Emits the count of an execution that ends here in place of one of the whole.
    fn count_exit(&mut self, emit: Emit, words: Words, complete: u16) {
        let (back, back_op) = emit.later();
        let left = emit.new_temp(false);
        words.load(left, offset_of!(Cursor, left));
        emit.add(left, left, back);
        words.store(left, offset_of!(Cursor, left));
        let (counts, one, minus_one) = (emit.new_temp(false), emit.constant(1), emit.constant(u64::MAX));
        words.load(counts, offset_of!(Cursor, executions));
        let whole = emit.add_later(counts, minus_one);
        let exit = emit.add_later(counts, one);
        let (plan, plan_op) = emit.later();
        words.store(plan, offset_of!(Cursor, last));
        words.free();
        for temp in [back, left, counts, one, minus_one, plan] {
            emit.free(temp);
        }
        self.patches.add(back_op, 1, Later::InstructionsBack(complete));
        whole.into_iter().for_each(|op| self.patches.add(op, 2, Later::Count));
        exit.into_iter().for_each(|op| self.patches.add_exit(op, 2, Later::Count, complete));
        self.patches.add_exit(plan_op, 1, Later::Plan, complete);
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
