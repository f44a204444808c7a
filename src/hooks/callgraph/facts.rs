//! The facts of a block that decide about calls, found when it is translated.

use iced_x86::{FlowControl, Instruction, Mnemonic};

use crate::hooks::callgraph::stack_pointer::StackPointer;

/// Kinds of sections between which a jump is a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Section {
    /// Any other, or none.
    #[default]
    Other,
    /// `.text`.
    Text,
    /// `.plt`.
    Plt,
}

/// The place of a block in its object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodePlace {
    /// Number of the object, the same for all its mappings; 0 for code in no file.
    pub(crate) object: u32,
    /// Link-time address of the symbol that it is in, or of the block if it is in none.
    pub(crate) function: u64,
    /// Section of the block.
    pub(crate) section: Section,
    /// The block begins its function.
    pub(crate) entry: bool,
    /// The function is `_dl_runtime_resolve`, which a jump leaves for good.
    pub(crate) resolver: bool,
    /// Effects on the costs of entering and leaving the function.
    pub(crate) actions: Actions,
    /// Numbers by which the function is told apart, if they are not as for all.
    pub(crate) apart: Apart,
}

impl CodePlace {
    /// Tests whether it is in the function of another place, where a jump from there is no call.
    pub(crate) fn is_within(&self, from: &CodePlace) -> bool {
        !self.entry && CodePlace { entry: from.entry, ..*self } == *from
    }
}

/// Numbers by which a function is told apart that is entered in several ways; `None` is as for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Apart {
    /// Number of callers.
    pub(crate) callers: Option<u32>,
    /// Levels of recursion.
    pub(crate) recursions: Option<u32>,
}

/// Effects on the costs of entering and leaving a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Actions {
    /// Entering it switches collection, and leaving it switches it back.
    pub(crate) toggles: bool,
    /// Costs are dumped when it is entered.
    pub(crate) dumps_before: bool,
    /// Costs are dumped when it is left.
    pub(crate) dumps_after: bool,
    /// Costs are set to zero when it is entered.
    pub(crate) zeroes_before: bool,
}

/// The way in which control leaves a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Leave {
    /// A jump, taken or not, or none.
    #[default]
    Jump,
    /// A call.
    Call,
    /// A return.
    Return,
}

/// Jump at the end of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Jump {
    /// None.
    #[default]
    None,
    /// It is always followed.
    Always,
    /// It is followed or not. So are repeated string instructions, to themselves.
    Conditional,
}

/// Something between two blocks that the code does not show. Its record has one slot, the stack
/// pointer after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Between {
    /// A signal's handler is next.
    Signal,
    /// A signal's handler has returned to what it interrupted.
    SignalReturn,
}

/// Facts of a block for the call graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallFacts {
    /// Its place.
    pub(crate) place: CodePlace,
    /// Its end.
    pub(crate) leave: Leave,
    /// The jump there.
    pub(crate) jump: Jump,
    /// The stack pointer after it.
    pub(crate) sp: StackPointer,
}

/// The way in which an instruction leaves a block.
pub(crate) fn leave(instruction: &Instruction) -> Leave {
    match instruction.mnemonic() {
        Mnemonic::Call => Leave::Call,
        Mnemonic::Ret | Mnemonic::Retf => Leave::Return,
        _ => Leave::Jump,
    }
}

/// The jump that an instruction is.
pub(crate) fn jump(instruction: &Instruction) -> Jump {
    match instruction.flow_control() {
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => Jump::Always,
        FlowControl::ConditionalBranch => Jump::Conditional,
        _ if instruction.has_rep_prefix() || instruction.has_repne_prefix() => {
            match instruction.is_string_instruction() {
                true => Jump::Conditional,
                false => Jump::None,
            }
        }
        _ => Jump::None,
    }
}
