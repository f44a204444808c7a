//! What the consumers are to look out for, and what they saw.

use crate::hooks::lookout::{Sighting, Target, Watched};
use crate::hooks::recorder::Recorder;

impl Recorder {
    /// Looks out for these targets and no others from here on. Returns true if generated code is to
    /// write a trace from here on, which it has not done before.
    pub(crate) fn look_out(&mut self, targets: &[Target]) -> bool {
        let begins = !targets.is_empty() && self.begin_trace();
        self.flush();
        self.send_plans();
        self.watching = !targets.is_empty();
        let since = self.instructions();
        let now = self.link.instructions() + self.tasks.unseen();
        let mut first = true;
        self.link.visit(|_, consumer| {
            // All consumers see the same accesses, so one looks out for them.
            let first = std::mem::take(&mut first);
            let wanted = |target: &Target| match target {
                Target::Access(_) if first => target.clone(),
                Target::Access(watched) => Target::Access(Watched { range: 0..0, ..watched.clone() }),
                Target::Miss(..) => target.clone(),
            };
            consumer.look_out(targets.iter().map(wanted).collect(), now, since);
        });
        begins
    }

    /// The sightings since [`Recorder::look_out`], in order, and the moment until which everything
    /// is known.
    pub(crate) fn sightings(&mut self) -> (Vec<Sighting>, u64) {
        let (mut all, mut known) = (Vec::new(), u64::MAX);
        self.visit(|consumer| {
            if let Some((seen, until)) = consumer.seen() {
                all.extend_from_slice(seen);
                known = known.min(until);
            }
        });
        all.retain(|sighting| sighting.moment <= known);
        all.sort_unstable();
        all.dedup();
        (all, known)
    }
}
