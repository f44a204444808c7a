use crate::hooks::callgraph::facts::CodePlace;
use crate::hooks::callgraph::stack_pointer::StackPointer;
use crate::hooks::plan::{Builder, Plan, PlannedInsn};
use crate::hooks::plan_table::PlanTable;
use crate::x86::decode::decode;

/// The plan of these instructions for a call graph, with all accesses or those that it needs.
fn plan(code: &[&[u8]], records_all: bool) -> Plan {
    let mut builder = Builder::default();
    builder.begin(0x1000, 0);
    builder.follow_calls(CodePlace::default(), records_all);
    let mut pc = 0x1000;
    for bytes in code {
        let instruction = decode(bytes, pc);
        let cost = builder.cost(&instruction);
        builder.push(&instruction, bytes.len() as u8, &cost);
        pc += bytes.len() as u64;
    }
    builder.finish()
}

/// Slots of the data events, or `None` for one that is in no record.
fn slots(plan: &Plan) -> Vec<Option<u16>> {
    plan.events.iter().map(|event| event.is_recorded().then_some(event.slot)).collect()
}

#[test]
fn a_call_graph_needs_the_slots_of_calls_and_returns() {
    // push rbx; mov rax,[rsp+8]; call
    let code: [&[u8]; 3] = [&[0x53], &[0x48, 0x8b, 0x44, 0x24, 8], &[0xe8, 0, 0, 0, 0]];
    let (all, needed) = (plan(&code, true), plan(&code, false));
    assert_eq!((all.slots, slots(&all)), (3, vec![Some(0), Some(1), Some(2)]));
    assert_eq!((needed.slots, slots(&needed)), (1, vec![None, None, Some(0)]));
    let sp = |plan: &Plan| plan.call_facts().expect("facts").sp;
    assert_eq!((sp(&all), sp(&needed)), (StackPointer::Slot(2, 0), StackPointer::Slot(0, 0)));
    // rep stosb, of which a slot says if it iterates
    let repeated = plan(&[&[0x53], &[0xf3, 0xaa]], false);
    assert_eq!((repeated.slots, slots(&repeated)), (1, vec![None, Some(0)]));
}

#[test]
fn a_part_of_a_block_knows_its_stack_pointer() {
    // push rbx; mov rsp,rbp; je; sub rsp,8; je
    let code: [&[u8]; 5] =
        [&[0x53], &[0x48, 0x89, 0xec], &[0x74, 0x10], &[0x48, 0x83, 0xec, 8], &[0x74, 0x10]];
    for (records_all, slot) in [(true, 1), (false, 0)] {
        let mut plans = PlanTable::default();
        let whole = plans.insert(plan(&code, records_all));
        let after_push = plans.prefix(whole, 1, None);
        let (first, second) = (plans.exit(whole, 3), plans.prefix(whole, 4, None));
        for (part, slots, sp) in [
            (after_push, slot, StackPointer::Before(-8)),
            (first, slot + 1, StackPointer::Slot(slot, 0)),
            (second, slot + 1, StackPointer::Slot(slot, -8)),
        ] {
            let part = plans.get(part).expect("the part");
            assert_eq!((part.slots, part.call_facts().expect("facts").sp), (slots, sp), "{part:?}");
        }
    }
}

#[test]
fn instructions_keep_canonical_addresses() {
    for pc in [0, 0x1000, 0x7fff_ffff_ffff, 0xffff_8000_0000_0000, 0xffff_ffff_ff60_0000, u64::MAX] {
        for len in [0, 1, 15, u8::MAX] {
            let insn = PlannedInsn::new(pc, len);
            assert_eq!((insn.pc(), insn.len()), (pc, len));
        }
    }
}

#[test]
fn plans_that_share_a_key_are_found_again() {
    let code: [&[u8]; 2] = [&[0x53], &[0xc3]];
    let (all, needed) = (plan(&code, true), plan(&code, false));
    let other: [&[u8]; 2] = [&[0x90], &[0xc3]];
    let plans = [all, needed, plan(&other, true)];
    let mut table = PlanTable::default();
    let ids = plans.clone().map(|plan| table.insert(plan));
    assert_eq!(ids.map(|id| id.0), [0, 1, 2]);
    assert_eq!(plans.map(|plan| table.insert(plan)), ids);
    assert_eq!(table.len(), 3);
}
