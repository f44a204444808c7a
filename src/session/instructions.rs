//! Sums up the counts of a run by object and instruction.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::hooks::control::AccountId;
use crate::hooks::plan::MappingId;
use crate::hooks::private_code::CodeInNoFile;
use crate::profile::{CodeObject, Costs, EventSet, InsnCosts, Instructions, UNKNOWN, add_costs, clean};
use crate::session::modules::Modules;

/// Code in no file that the accounts of a profile have executed.
pub(super) struct Code<'a> {
    /// The code of all accounts.
    pub kept: &'a CodeInNoFile,
    /// The accounts, the first process's first.
    pub accounts: Vec<AccountId>,
}

/// The sums. An instruction that several blocks share, or that is mapped twice, is one.
pub(super) struct ByInstruction {
    events: EventSet,
    /// Code that is in no file comes first.
    objects: Vec<CodeObject>,
    /// By inode and device.
    places: FxHashMap<(u64, u64), usize>,
    names: FxHashSet<Arc<[u8]>>,
}

impl ByInstruction {
    /// No costs yet.
    pub(super) fn new(events: EventSet) -> Self {
        let no_file = CodeObject { path: UNKNOWN.as_bytes().to_vec(), ..CodeObject::default() };
        Self { events, objects: vec![no_file], places: FxHashMap::default(), names: FxHashSet::default() }
    }

    /// Adds what the instruction at `pc` cost, whose file, function and line are `at`.
    pub(super) fn add(
        &mut self,
        modules: &mut Modules,
        mapping: MappingId,
        pc: u64,
        at: (&str, &str, u32),
        costs: &Costs,
    ) {
        let (place, address) = match (modules.key(mapping), modules.vaddr(mapping, pc)) {
            (Some(key), Some(address)) => {
                let objects = &mut self.objects;
                let place = *self.places.entry(key).or_insert_with(|| {
                    let path = clean(modules.path(mapping).unwrap_or_default().as_bytes()).into_owned();
                    objects.push(CodeObject {
                        path,
                        identity: modules.identity(mapping).unwrap_or_default(),
                        ..CodeObject::default()
                    });
                    objects.len() - 1
                });
                (place, address)
            }
            _ => (0, pc),
        };
        let (file, function) = (self.name(at.0), self.name(at.1));
        let costs: Vec<i64> =
            self.events.iter().map(|event| i64::try_from(costs[event]).unwrap_or(i64::MAX)).collect();
        let Some(object) = self.objects.get_mut(place) else { return };
        let bias = pc.wrapping_sub(address);
        if place > 0 && !object.biases.contains(&bias) {
            object.biases.push(bias);
        }
        let insn = object.instructions.entry(address).or_insert_with(|| InsnCosts {
            file,
            function,
            line: at.2.into(),
            costs: vec![0; costs.len()],
        });
        add_costs(&mut insn.costs, &costs);
    }

    /// The sums of the run of `cmd`, objects in the order of their paths. `code` has the bytes of
    /// instructions that are in no file.
    pub(super) fn finish(mut self, cmd: &[u8], code: &Code<'_>) -> Instructions {
        if let Some(no_file) = self.objects.first_mut() {
            let bytes = |&pc: &u64| Some((pc, code.kept.get(&code.accounts, pc)?.to_vec()));
            no_file.code = no_file.instructions.keys().filter_map(bytes).collect();
        }
        self.objects.retain(|object| !object.instructions.is_empty());
        self.objects.sort_by(|a, b| (&a.path, &a.identity).cmp(&(&b.path, &b.identity)));
        for object in &mut self.objects {
            object.biases.sort_unstable();
        }
        Instructions {
            cmd: cmd.to_vec(),
            events: self.events.iter().map(|event| event.name().as_bytes().to_vec()).collect(),
            objects: self.objects,
        }
    }

    fn name(&mut self, text: &str) -> Arc<[u8]> {
        let clean = clean(text.as_bytes());
        if let Some(name) = self.names.get(&*clean) {
            return Arc::clone(name);
        }
        let name: Arc<[u8]> = Arc::from(&*clean);
        self.names.insert(Arc::clone(&name));
        name
    }
}
