//! What does each law that speaks of one cell promise, written a second time?

use lifecycle_core::{Cell, Choices, Law, Transition};

/// A promise about one look-up: whether it is kept.
pub(crate) type Promise = fn(&Lookup) -> bool;

/// One look-up, in the words of the wire: promises share no helper with the core.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    pub(crate) status: &'static str,
    pub(crate) sighting: &'static str,
    pub(crate) volume: &'static str,
    pub(crate) quarantine: &'static str,
    pub(crate) compute: &'static str,
    pub(crate) force: &'static str,
    pub(crate) compute_lost: &'static str,
    pub(crate) to: &'static str,
    pub(crate) effects: Vec<&'static str>,
}

impl Lookup {
    pub(crate) fn of(cell: Cell, choices: Choices, transition: Transition) -> Self {
        Self {
            status: cell.status.word(),
            sighting: cell.sighting.word(),
            volume: cell.volume.word(),
            quarantine: cell.quarantine.word(),
            compute: cell.compute.word(),
            force: cell.force.word(),
            compute_lost: choices.compute_lost.word(),
            to: transition.to.word(),
            effects: transition
                .effects
                .iter()
                .map(|effect| effect.word())
                .collect(),
        }
    }

    pub(crate) fn has(&self, effect: &str) -> bool {
        self.effects.contains(&effect)
    }

    fn enters(&self, status: &str) -> bool {
        self.status != status && self.to == status
    }

    fn is_active(&self) -> bool {
        ["provisioning", "running", "paused", "failed"].contains(&self.status)
    }

    fn is_left_alone(&self) -> bool {
        self.quarantine == "clear" && self.force == "none"
    }
}

/// The laws of one cell, each with its promise. Law 6 needs a second look-up and stands apart.
pub(crate) const PROMISES: [(Law, Promise); 9] = [
    (Law::DestroyedAbsorbs, |found| {
        found.status != "destroyed" || found.to == "destroyed"
    }),
    (Law::DestroyRecordedOnEntry, |found| {
        found.enters("destroyed") == found.has("record_destroyed")
    }),
    (Law::IgnoranceChangesNothing, |found| {
        let is_blind = ["unknown", "missing"].contains(&found.sighting);
        let is_protected = found.is_active() || found.status == "destroyed";
        let is_unchanged = found.to == found.status && found.effects.is_empty();
        !(is_blind && is_protected && found.is_left_alone()) || is_unchanged
    }),
    (Law::VolumeKeepsMachine, |found| {
        let is_kept = found.is_active() && found.volume != "none" && found.is_left_alone();
        !(is_kept && found.compute_lost == "keep") || found.to != "destroyed"
    }),
    (Law::VolumeDestroyedOnlyWhenDoomed, |found| {
        let is_doomed = found.status == "destroying" || found.quarantine == "elapsed";
        let may = found.volume == "owned"
            && found.sighting == "gone"
            && found.force == "none"
            && is_doomed;
        may || !found.has("destroy_volume")
    }),
    (Law::NothingIsStarted, |found| {
        let starting = ["start", "resume", "create", "boot", "launch", "wake"];
        found
            .effects
            .iter()
            .all(|effect| !starting.iter().any(|verb| effect.starts_with(verb)))
    }),
    (Law::EndingRevokes, |found| {
        let endings = ["quarantined", "destroying", "destroyed", "failed"];
        !endings.iter().any(|status| found.enters(status)) || found.has("revoke_credentials")
    }),
    (Law::DestroyedHoldsNothing, |found| {
        let is_given_back = found.compute != "held" || found.has("release_compute");
        let is_taken_again = found.has("hold_compute");
        let is_destroyed = found.sighting == "gone" || found.has("destroy_compute");
        !found.enters("destroyed") || (is_given_back && !is_taken_again && is_destroyed)
    }),
    (Law::DeletionIsPursued, |found| {
        let may_live = found.sighting != "gone";
        let runs = ["booting", "running"].contains(&found.sighting);
        (found.to != "destroying" || !may_live || found.has("destroy_compute"))
            && (found.to != "quarantined" || !runs || found.has("stop_compute"))
    }),
];
