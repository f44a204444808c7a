//! Translation of a block with the tap in it: which instructions may run, which plan the block
//! gets, and the operations that make generated code write the trace.
//!
//! Each counted access stores its address into its slot of the record. The header and the number of
//! slots are known only when the block is done, so they are patched into what `prologue`
//! has written then.
#![allow(unsafe_code)]

mod accesses;
mod alignment;
pub(super) mod branch;
mod cache_block;
mod exits;
pub(super) mod guard;
mod host_code;
pub(super) mod lines;
mod patches;
mod predictors;
mod prologue;
pub(super) mod superblock;
pub(super) mod tell;

use std::ffi::c_void;

use iced_x86::{FlowControl, Instruction, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::emu::memory::space::AddressSpace;
use crate::emu::unicorn::engine_state::EngineState;
use crate::emu::unicorn::errata::{self, Erratum};
use crate::emu::unicorn::ffi::{Context, TranslatorOps};
use crate::emu::unicorn::line_lookups::Unknown;
use crate::emu::unicorn::matcher::Matcher;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::branch::Inline;
use crate::emu::unicorn::translator::guard::Guard;
use crate::emu::unicorn::translator::host_code::{HostCode, Jump, Place};
use crate::emu::unicorn::translator::patches::Patches;
use crate::emu::unicorn::translator::superblock::Superblock;
use crate::guest::PAGE_SIZE;
use crate::hooks::callgraph::facts::CodePlace;
use crate::hooks::inline_caches::InlineCaches;
use crate::hooks::plan::{Builder, MappingId, Plan};
use crate::hooks::plan_table::PlanTable;
use crate::hooks::record::PlanId;
use crate::x86::cost::{Cost, repeat};
use crate::x86::decode::{self, MAX_LENGTH, Trap, Verdict};
use crate::x86::request::{self, Request};

/// Decision about the next instruction of a block.
pub(super) enum Decision {
    /// The block ends before it.
    EndBlock,
    /// It is translated, with what the user should be told about it.
    Translate(Option<&'static str>),
}

/// Answer that the engine has generated other accesses than expected. The block must not run; when
/// it is translated again, those that the engine makes are traced.
#[derive(Debug)]
pub(super) struct Unexpected;

/// Tells the user of an instruction whose accesses are traced as the engine makes them.
pub(super) const OBSERVED: &str =
    "an instruction accesses memory in another way than the rules of counting say, and is counted as it does";

/// The client request that the code at `pc` is, if any.
pub(super) fn request_at(space: &mut AddressSpace, pc: u64) -> Option<Request> {
    let mut buf = [0; request::LENGTH];
    request::decode(space.fetch(pc, &mut buf))
}

/// State of the translation at hand.
pub(super) struct Translator {
    /// The reference producer writes the trace, so generated code must not.
    reference: bool,
    /// The engine's `CPUX86State`.
    env: *const u64,
    /// The engine's `float_status` for SSE.
    sse_status: *const u8,
    /// Client requests that were translated, by address.
    requests: FxHashMap<u64, Request>,
    /// Code in whose place the engine was shown [`UNDEFINED`], by address.
    trapped_code: FxHashMap<u64, Code>,
    /// Instructions with other accesses than expected, by address.
    observed: FxHashMap<u64, Code>,
    /// Copy of a source operand for a helper, which generated code makes; as large as the engine's
    /// registers.
    operand: [u64; 8],
    builder: Builder,
    /// The engine's operations; set while a block is translated.
    original: Option<TranslatorOps>,
    context: Context,
    verified: bool,
    tb: *mut c_void,
    /// Start of the block.
    pc: u64,
    /// The next exit check is the one at the start of the block.
    at_start: bool,
    /// The jump to its call behind the block, and where that comes back to.
    asks: Option<(Jump, Place)>,
    /// The words that generated code accesses.
    cursor: *const Cursor,
    /// Generated code stores a record of the block.
    records: bool,
    /// Generated code counts executions in place of the trace.
    counts: bool,
    /// Parts that wait for the plan.
    patches: Patches,
    /// Code in place of operations.
    host: HostCode,
    /// Chained exits of the block that are in use (bits by `goto_tb` index).
    exits: u32,
    instruction: Instruction,
    matcher: Matcher,
    in_atomic: bool,
    /// Address, bytes and length of the code that the engine is shown in place of the real one.
    shown: Option<(u64, [u8; MAX_LENGTH], usize)>,
    /// The engine is shown [`UNDEFINED`] because the machine answers the instruction or it faults.
    trapped: bool,
    /// Start of an instruction that cannot be fetched as a whole, and the first byte that cannot.
    truncated: Option<(u64, u64)>,
    /// The client request that the instruction begins.
    request: Option<Request>,
    erratum: Erratum,
    pub(super) guard: Guard,
    /// The engine's state as an argument of calls, the same for all blocks, once one was seen.
    engine_state: Option<*mut c_void>,
    /// The block is for a mode with EFLAGS.AC.
    aligns: bool,
    /// The target of a call that was loaded from memory.
    target: Option<usize>,
    /// Accesses of the instruction so far.
    accesses: u32,
    /// Labels that the engine places before the target label of the jump; `None` if nothing waits
    /// for it.
    labels_before_jump: Option<u32>,
    /// Argument of a turn to MMX that waits for the access, which may fault.
    turns_to_mmx: Option<*mut c_void>,
    /// The predictors and caches that the block drives.
    inline: Inline,
    /// The blocks that the block consists of.
    superblock: Superblock,
}

/// An undefined opcode of one byte, which the engine is shown where it is not to translate. UD2 has
/// two, of which the second may be in a page that is not there.
const UNDEFINED: [u8; MAX_LENGTH] = [0x06, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Bits of the CPU mode in which blocks do not chain, or are left by more than a jump: EFLAGS.TF,
/// EFLAGS.RF and `HF_INHIBIT_IRQ_MASK`.
const UNUSUAL: u32 = 0x1_0108;

/// The bytes of an instruction, and their number.
type Code = ([u8; MAX_LENGTH], usize);

/// The code that an instruction was decoded from.
fn code_of(instruction: &Instruction, bytes: &[u8]) -> Code {
    let mut code = [0; MAX_LENGTH];
    let len = instruction.len().min(bytes.len());
    code[..len].copy_from_slice(&bytes[..len]);
    (code, len)
}

impl Translator {
    /// A translator for generated code that writes the trace, or with `reference` leaves it alone.
    pub(super) fn new(reference: bool, env: *const u64, sse_status: *const u8) -> Translator {
        Translator {
            reference,
            env,
            sse_status,
            requests: FxHashMap::default(),
            trapped_code: FxHashMap::default(),
            observed: FxHashMap::default(),
            operand: [0; 8],
            builder: Builder::default(),
            original: None,
            context: std::ptr::null_mut(),
            verified: false,
            tb: std::ptr::null_mut(),
            pc: 0,
            at_start: false,
            asks: None,
            cursor: std::ptr::null(),
            records: false,
            counts: false,
            patches: Patches::default(),
            host: HostCode::default(),
            exits: 0,
            instruction: Instruction::default(),
            matcher: Matcher::default(),
            in_atomic: false,
            shown: None,
            trapped: false,
            truncated: None,
            request: None,
            erratum: Erratum::None,
            guard: Guard::default(),
            engine_state: None,
            aligns: false,
            target: None,
            accesses: 0,
            labels_before_jump: None,
            turns_to_mmx: None,
            inline: Inline::default(),
            superblock: Superblock::default(),
        }
    }

    /// Begins a block at `pc` for a mode of the CPU, which the engine translates with the
    /// operations `original`. With `counts` it counts executions in place of the trace; it drives
    /// the predictors of `inline`. With `may_grow` it becomes a superblock if it can.
    pub(super) fn begin(
        &mut self,
        original: TranslatorOps,
        tb: *mut c_void,
        (pc, mode): (u64, u32),
        (mapping, cursor): (MappingId, *const Cursor),
        (counts, inline, may_grow): (bool, Inline, bool),
    ) {
        self.superblock.begin(pc, may_grow && !self.reference && mode & UNUSUAL == 0);
        self.cursor = cursor;
        self.counts = counts;
        self.inline = inline;
        self.patches.clear();
        self.host.clear();
        self.guard = Guard::begin(mode);
        self.aligns = mode & alignment::ALIGNMENT_CHECK != 0;
        self.original = Some(original);
        self.tb = tb;
        self.pc = pc;
        self.at_start = true;
        self.asks = None;
        self.exits = 0;
        self.in_atomic = false;
        self.builder.begin(pc, mapping);
    }

    /// Adds facts for the call graph to the plan of the block, which is at this place.
    /// Unless it `records_all`, only slots that the call graph needs are in its records.
    pub(super) fn follow_calls(&mut self, place: CodePlace, records_all: bool) {
        self.builder.follow_calls(place, records_all);
    }

    /// Has the counts of a process begin with the block.
    pub(super) fn begin_counts(&mut self) {
        self.builder.begin_counts();
    }

    /// The engine's operations, while a block is translated.
    pub(super) fn original(&self) -> Option<TranslatorOps> {
        self.original
    }

    /// Checks the code generator's context when the first block is translated.
    ///
    /// # Safety
    /// A block was just translated.
    ///
    /// # Errors
    /// A description of the first difference from `layout`.
    pub(super) unsafe fn verify_once(&mut self, state: &EngineState) -> Result<(), String> {
        if std::mem::replace(&mut self.verified, true) {
            return Ok(());
        }
        // SAFETY: the context is that of the last exit check, which every block begins with.
        unsafe { state.verify_context(self.context) }
    }

    /// Start of the block.
    pub(super) fn block_pc(&self) -> u64 {
        self.pc
    }

    /// Mapping of its code.
    pub(super) fn mapping(&self) -> MappingId {
        self.builder.mapping()
    }

    /// Takes the plan of the block, which is translated.
    pub(super) fn take_plan(&mut self) -> Plan {
        self.builder.finish()
    }

    /// Patches what follows from the plan into the block, and ends its translation. Returns whether
    /// it is a superblock.
    pub(super) fn end(&mut self, id: PlanId, plans: &mut PlanTable) -> bool {
        self.patches.apply(id, plans, self.host.bytes());
        self.abandon();
        self.superblock.is_joined()
    }

    /// Writes the code of the host into that of the block, which the engine has just generated.
    ///
    /// # Errors
    /// When that is other code than expected.
    pub(super) fn write_host_code(&mut self, code: &mut [u8]) -> Result<(), Unknown> {
        self.host.write(code)
    }

    /// Forgets a translation that the engine gave up, as it does when code cannot be fetched.
    pub(super) fn abandon(&mut self) {
        self.original = None;
        self.records = false;
        self.patches.clear();
        self.shown = None;
        self.trapped = false;
        self.truncated = None;
        self.erratum = Erratum::None;
        self.in_atomic = false;
    }

    /// The place of the block, if there is a call graph.
    pub(super) fn place(&self) -> Option<CodePlace> {
        self.builder.place()
    }

    /// Tests whether the page of `pc` has had a client request. It is of the block that makes it,
    /// which has to end and begin as always.
    pub(super) fn has_request_near(&self, pc: u64) -> bool {
        self.requests.keys().any(|request| request / PAGE_SIZE == pc / PAGE_SIZE)
    }

    /// The client request that was translated at `pc`.
    pub(super) fn request(&self, pc: u64) -> Option<Request> {
        self.requests.get(&pc).copied()
    }

    /// Forgets the client request at `pc`, whose code has changed.
    pub(super) fn forget_request(&mut self, pc: u64) {
        self.requests.remove(&pc);
    }

    /// Tests whether the code at `pc`, in whose place the engine was shown an undefined opcode of
    /// one byte, is no longer what was translated; forgets it then.
    pub(super) fn is_stale(&mut self, pc: u64, bytes: &[u8]) -> bool {
        let stale =
            self.trapped_code.get(&pc).is_some_and(|(code, len)| bytes.get(..*len) != Some(&code[..*len]));
        if stale {
            self.trapped_code.remove(&pc);
        }
        stale
    }

    /// The byte to fetch in place of the one at `addr`, to fault at the end of what can be fetched.
    pub(super) fn beyond(&self, addr: u64) -> Option<u64> {
        self.truncated.filter(|(at, _)| *at == addr).map(|(_, beyond)| beyond)
    }

    /// Tests whether generated code is to record the accesses of the instruction at hand now.
    fn tapping(&self) -> bool {
        self.records && !self.in_atomic && self.builder.records_next()
    }

    /// Decides about the instruction at `pc`, the first of its block or not, and prepares its
    /// slots.
    pub(super) fn before_instruction(
        &mut self,
        pc: u64,
        first: bool,
        space: &mut AddressSpace,
        breakpoints: &FxHashSet<u64>,
        caches: Option<&mut InlineCaches>,
    ) -> Decision {
        let mut buf = [0; MAX_LENGTH];
        let bytes = space.fetch(pc, &mut buf);
        let may_be_request = request::may_begin(bytes);
        let (instruction, verdict) = decode::examine(bytes, pc);
        self.instruction = instruction;
        self.no_branch();
        self.no_way();
        self.shown = errata::shown(&instruction, bytes).map(|shown| (pc, shown, instruction.len()));
        self.trapped = false;
        self.truncated = None;
        self.request = None;
        self.erratum = errata::erratum(&instruction);
        if !first && self.guard.ends_block() {
            return Decision::EndBlock;
        }
        self.guard.instruction(&instruction);
        self.accesses = 0;
        self.target = None;
        self.labels_before_jump = None;
        self.turns_to_mmx = None;
        if !first && breakpoints.contains(&pc) {
            return Decision::EndBlock;
        }
        if !first && errata::begins_block(&instruction) {
            return Decision::EndBlock;
        }
        if !first && self.superblock.ends_before(pc, instruction.len()) {
            return Decision::EndBlock;
        }
        // The fault of an instruction that cannot be fetched comes when control gets there.
        if !first && (verdict == Verdict::Truncated || self.builder.is_full()) {
            return Decision::EndBlock;
        }
        if may_be_request && let Some(request) = request_at(space, pc) {
            self.shown = Some((pc, UNDEFINED, 1));
            self.trapped = true;
            self.request = Some(request);
            let first_slot = self.next_slot();
            self.matcher.start(request.cost(), first_slot);
            self.fetch(pc, request::LENGTH, caches);
            self.begin_data();
            self.store_computed(first_slot);
            self.requests.insert(pc, request);
            return Decision::Translate(None);
        }
        if verdict != Verdict::Run {
            if verdict == Verdict::Truncated {
                self.truncated = Some((pc, pc.wrapping_add(bytes.len() as u64)));
            } else {
                self.shown = Some((pc, UNDEFINED, 1));
                self.trapped = true;
                self.trapped_code.insert(pc, code_of(&instruction, bytes));
            }
            let cost = match verdict {
                Verdict::Trap(Trap::Descriptors | Trap::FarReturn) => self.builder.cost(&instruction),
                _ => Cost::default(),
            };
            self.matcher.start(cost, self.next_slot());
            self.fetch(pc, instruction.len(), caches);
            self.begin_data();
            return Decision::Translate(None);
        }
        if !self.trapped_code.is_empty() {
            self.trapped_code.remove(&pc);
        }
        // What unmasks exceptions is a call, so there has been one.
        if let Some(state) = self.engine_state.filter(|_| self.guard.waits()) {
            self.emit_prologue();
            guard::wait(self.context, state);
        }
        self.fetch(pc, instruction.len(), caches);
        if !self.observed.is_empty() && self.observed.get(&pc) == Some(&code_of(&instruction, bytes)) {
            self.matcher.observe(self.next_slot());
            self.begin_data();
            self.begin_branch();
            return Decision::Translate(Some(OBSERVED));
        }
        let cost = self.builder.cost(&instruction);
        let first_slot = self.next_slot();
        self.matcher.start(cost, first_slot);
        self.begin_data();
        self.begin_branch();
        self.store_computed(first_slot);
        if self.tapping() && repeat(&instruction).is_some() {
            self.store_no_iteration(first_slot);
        }
        Decision::Translate(decode::inexact(&instruction))
    }

    /// The first slot of the instruction at hand.
    fn next_slot(&self) -> usize {
        self.builder.next_slot().into()
    }

    /// Adds the instruction at `pc`, which is translated, to the plan.
    ///
    /// # Errors
    /// See [`Unexpected`]. The reference producer does not trace what the engine generates.
    pub(super) fn after_instruction(
        &mut self,
        pc: u64,
        len: u64,
        space: &mut AddressSpace,
    ) -> Result<(), Unexpected> {
        if self.trapped {
            // The engine saw another; the plan has the real instruction.
            let len = match self.request {
                Some(_) => request::LENGTH as u8,
                None => self.instruction.len().max(1) as u8,
            };
            let cost = std::mem::take(&mut self.matcher.cost);
            self.builder.push_trapped(&self.instruction, (pc, len), &cost);
            return Ok(());
        }
        if !self.matcher.is_complete() && !self.reference {
            let mut buf = [0; MAX_LENGTH];
            let code = code_of(&self.instruction, space.fetch(pc, &mut buf));
            self.observed.insert(pc, code);
            return Err(Unexpected);
        }
        self.emit_retry();
        let cost = std::mem::take(&mut self.matcher.cost);
        self.builder.push(&self.instruction, len as u8, &cost);
        Ok(())
    }

    /// The byte that the engine is shown in place of the byte of code at `addr`, if any.
    pub(super) fn replaced_byte(&self, addr: u64) -> Option<u32> {
        let (at, bytes, len) = self.shown?;
        bytes.get(..len)?.get(usize::try_from(addr.wrapping_sub(at)).ok()?).map(|byte| u32::from(*byte))
    }

    /// Notes an argument of a call if it is the engine's state.
    pub(super) fn note_state(&mut self, argument: *mut c_void) {
        if self.engine_state.is_none() && guard::is_state(argument) {
            self.engine_state = Some(argument);
        }
    }

    /// Ends the instruction for the exceptions that are not masked.
    pub(super) fn end_guard(&mut self) {
        self.guard.end(self.context);
    }

    /// Tests whether source and destination of the instruction are one register.
    pub(super) fn is_one_register(&self) -> bool {
        let instruction = &self.instruction;
        instruction.op1_kind() == OpKind::Register && instruction.op0_register() == instruction.op1_register()
    }

    /// Tests whether flags must be recorded as computed where the engine computes them for its
    /// public hooks, before each instruction: otherwise not even the first instruction of a block
    /// finds them.
    pub(super) fn records_flags(&self) -> bool {
        self.reference && errata::begins_block(&self.instruction)
    }

    /// The mode of the block that is translated, unless the reference producer needs the engine's
    /// own code.
    pub(super) fn mode(&self) -> Option<u32> {
        self.original?;
        (!self.reference).then(|| self.guard.mode())
    }

    /// The chained exit, by block and index, that a direct jump to another page may use. The engine
    /// looks such jumps up.
    pub(super) fn cross_page_exit(&mut self) -> Option<(*mut c_void, u32)> {
        self.original?;
        let direct = matches!(
            self.instruction.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch | FlowControl::Call
        );
        if !direct || self.exits == 3 || self.tb.is_null() {
            return None;
        }
        let index = u32::from(self.exits & 1 != 0);
        self.exits |= 1 << index;
        Some((self.tb, index))
    }

    /// Notes that the engine uses one of the block's two chained exits.
    pub(super) fn note_exit(&mut self, index: u32) {
        self.exits |= 1 << index;
    }
}
