//! How is the answer of a rule put together?
//!
//! A rule says things in the order of its own sentence; the effects are brought into the order of
//! the specification at the end.

use super::table::{Answer, EFFECTS};
use super::words::{Compute, Status};

/// An answer in the making.
#[derive(Debug)]
pub(crate) struct Draft {
    from: Status,
    to: Status,
    compute: Compute,
    effects: Vec<&'static str>,
}

impl Draft {
    /// Starts with the row as it is: unchanged, no effect.
    pub(crate) fn of(status: Status, compute: Compute) -> Self {
        Self {
            from: status,
            to: status,
            compute,
            effects: Vec::new(),
        }
    }

    /// Sets the status, and records it where the row did not have it already.
    pub(crate) fn enter(mut self, to: Status) -> Self {
        self.to = to;
        if self.from == to {
            return self;
        }
        match to {
            Status::Running => self.with("record_running"),
            Status::Paused => self.with("record_paused"),
            Status::Quarantined => self.with("record_quarantined"),
            Status::Destroying => self.with("record_destroying"),
            Status::Destroyed => self.with("record_destroyed"),
            Status::Failed => self.with("record_failed"),
            Status::Provisioning => unreachable!("no rule enters provisioning"),
        }
    }

    /// Whether the status changes.
    pub(crate) fn entered(&self) -> bool {
        self.from != self.to
    }

    /// Adds an effect.
    pub(crate) fn with(mut self, effect: &'static str) -> Self {
        self.effects.push(effect);
        self
    }

    /// Adds an effect where the condition holds.
    pub(crate) fn with_if(self, condition: bool, effect: &'static str) -> Self {
        if condition { self.with(effect) } else { self }
    }

    /// Gives reserved capacity back.
    pub(crate) fn settle(self) -> Self {
        let held = self.compute == Compute::Held;
        self.with_if(held, "release_compute")
    }

    /// Gives reserved capacity back where the condition holds.
    pub(crate) fn settle_if(self, condition: bool) -> Self {
        if condition { self.settle() } else { self }
    }

    /// Reserves capacity where none is.
    pub(crate) fn hold(self) -> Self {
        let held = self.compute == Compute::Held;
        self.with_if(!held, "hold_compute")
    }

    /// Ends the sentence with the name of its rule.
    pub(crate) fn by(self, rule: &'static str) -> Answer {
        let said = self.effects;
        Answer {
            to: self.to,
            effects: EFFECTS
                .into_iter()
                .filter(|effect| said.contains(effect))
                .collect(),
            rule,
        }
    }
}
