//! Two conditional jumps that share a destination, as `a && b` leaves them in machine code: VEX looks for the second one
//! behind the first, executes both always and makes one exit of them.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind};

use super::superblock::{Kind, LEFT_TO_EXTEND, is_code, kind, names_memory};
use crate::x86::decode::{self, Fetch, Verdict};
use crate::x86::request;

/// How a short look at a block ends.
enum Exit {
    Unknown,
    To(u64),
    Either(u64, u64),
}

impl Exit {
    fn leads_to(&self, pc: u64) -> bool {
        match *self {
            Exit::Unknown => false,
            Exit::To(target) => target == pc,
            Exit::Either(one, other) => one == pc || other == pc,
        }
    }
}

/// LOOP, JRCXZ and their kin.
fn is_counting(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::ConditionalBranch && !instruction.is_jcc_short_or_near()
}

/// Whether the last thing that an instruction may do is to go back to where it is: a locked NOT, which sets no flags.
fn tries_again(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Not
}

/// One of two ways, if there is code on both.
fn either(fetch: &mut Fetch<'_>, one: u64, other: u64) -> Exit {
    if is_code(fetch, one) && is_code(fetch, other) { Exit::Either(one, other) } else { Exit::Unknown }
}

/// The next few instructions, and where they lead.
fn glance(fetch: &mut Fetch<'_>, pc: u64) -> (Vec<Instruction>, Exit) {
    let mut seen = Vec::new();
    let mut pc = pc;
    loop {
        let (bytes, len) = fetch(pc);
        let instruction = decode::decode(bytes.get(..len).unwrap_or_default(), pc);
        if instruction.is_invalid() || request::may_begin(&bytes) && request::at(fetch, pc).is_some() {
            return (seen, Exit::Unknown);
        }
        seen.push(instruction);
        pc = instruction.next_ip();
        let full = seen.len() == LEFT_TO_EXTEND;
        let exit = match kind(&instruction) {
            Kind::Plain if full && is_code(fetch, pc) => Exit::To(pc),
            Kind::Side if full && is_counting(&instruction) => either(fetch, instruction.near_branch64(), pc),
            Kind::Side if full && tries_again(&instruction) => either(fetch, instruction.ip(), pc),
            Kind::Plain | Kind::Side if !full => continue,
            Kind::Conditional => either(fetch, instruction.near_branch64(), pc),
            Kind::Jump(target) if is_code(fetch, target) => Exit::To(target),
            _ => Exit::Unknown,
        };
        return (seen, exit);
    }
}

/// A second conditional jump that decides for both.
pub(super) struct Second {
    /// The instructions up to it.
    pub insns: Vec<Instruction>,
    /// Whether the first jump jumps there.
    pub at_target: bool,
}

/// The instructions that are executed always behind the conditional `jump`, up to a second one that decides for both.
pub(super) fn merged(jump: &Instruction, fetch: &mut Fetch<'_>) -> Option<Second> {
    let (target, next) = (jump.near_branch64(), jump.next_ip());
    if target == next || !is_code(fetch, target) || !is_code(fetch, next) {
        return None;
    }
    for (second, common) in [(target, next), (next, target)] {
        let (insns, exit) = glance(fetch, second);
        let shares = matches!(exit, Exit::Either(one, other) if one != other) && exit.leads_to(common);
        let Some((last, before)) = insns.split_last().filter(|_| shares) else { continue };
        let apart = match glance(fetch, common).1 {
            Exit::Unknown => false,
            Exit::Either(one, other) if one == other => false,
            exit => !exit.leads_to(second),
        };
        if apart && last.mnemonic() != Mnemonic::Not && before.iter().all(only_computes) {
            return Some(Second { insns, at_target: second == target });
        }
    }
    None
}

/// Whether an instruction may be executed where it is not reached.
fn only_computes(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    if decode::verdict(instruction) != Verdict::Run || !matches!(kind(instruction), Kind::Plain) {
        return false;
    }
    let no_access = matches!(
        instruction.mnemonic(),
        M::Lea
            | M::Nop
            | M::Prefetchw
            | M::Prefetchnta
            | M::Prefetcht0
            | M::Prefetcht1
            | M::Prefetcht2
            | M::Endbr64
            | M::Endbr32
    );
    let by_register = instruction.op1_kind() == OpKind::Register;
    let helped = match instruction.mnemonic() {
        M::Div | M::Idiv | M::Mfence | M::Lfence | M::Sfence | M::Fninit => true,
        M::Cpuid | M::Rdtsc | M::Rdtscp | M::Rdrand | M::Rdseed => true,
        M::Bt | M::Bts | M::Btr | M::Btc => by_register,
        M::Aesenc | M::Aesenclast | M::Aesdec | M::Aesdeclast | M::Aesimc | M::Aeskeygenassist => true,
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpistri | M::Pcmpistrm => true,
        _ => false,
    };
    let memory = instruction.is_stack_instruction() || instruction.is_string_instruction();
    no_access || (!names_memory(instruction) && !helped && !memory)
}
