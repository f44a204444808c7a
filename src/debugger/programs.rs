//! Looking for the places of stops in the programs of the processes.

use super::state::Debugger;

impl Debugger {
    /// Knows the places of all stops in the programs of all processes.
    pub(super) fn find_places(&mut self) {
        let last = self.stops.last();
        if self.places.are_known(last) {
            return;
        }
        if self.stops.has_places() {
            for tid in self.session.one_task_a_space() {
                self.select_task(tid);
                let space = self.session.space_looked_at();
                self.places.look_through(&self.program, space, &self.stops);
            }
            self.look_back();
        }
        self.find_places_here();
        // What was given up is looked for again.
        if !self.is_interrupted() {
            self.places.set_known(last);
        }
    }

    /// Knows the places of all stops in the program of the running process, which may be another
    /// one than before.
    pub(super) fn find_places_here(&mut self) {
        self.program.refresh(&mut self.session);
        let space = self.session.space();
        self.places.look_through(&self.program, space, &self.stops);
    }

    /// As [`Debugger::find_places_here`] if another process runs than before.
    pub(super) fn follow_program(&mut self) {
        if !self.places.are_of(self.session.space()) {
            self.find_places_here();
        }
    }
}
