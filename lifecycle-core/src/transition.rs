//! What does one cell of the table look like, and what is its answer?

use crate::{
    effect::{Effect, Effects},
    facts::{Compute, Force, Quarantine, Sighting, Status, Volume},
    words::words,
};

/// One cell of the table: a value for every column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// What the row stores.
    pub status: Status,
    /// What the evidence is worth.
    pub sighting: Sighting,
    /// What is known of the volume.
    pub volume: Volume,
    /// How far a deletion has come.
    pub quarantine: Quarantine,
    /// Whether capacity is reserved.
    pub compute: Compute,
    /// A deliberate override.
    pub force: Force,
}

impl Cell {
    /// How many cells the table has.
    pub const COUNT: usize = 7 * 7 * 4 * 4 * 3 * 2;

    /// Returns every cell, the last column fastest.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..Self::COUNT).map(Self::nth)
    }

    /// Returns the cell at this place of [`Self::all`]; places beyond the end count round.
    #[must_use]
    pub const fn nth(place: usize) -> Self {
        Self {
            status: Status::ALL[place / 672 % 7],
            sighting: Sighting::ALL[place / 96 % 7],
            volume: Volume::ALL[place / 24 % 4],
            quarantine: Quarantine::ALL[place / 6 % 4],
            compute: Compute::ALL[place / 2 % 3],
            force: Force::ALL[place % 2],
        }
    }

    /// How many cells in a row have the same status and sighting.
    pub(crate) const OF_ONE_SIGHTING: usize = 4 * 4 * 3 * 2;

    /// Tells whether the cell at this place of [`Self::all`] has the sighting gone.
    pub(crate) const fn is_gone_at(place: usize) -> bool {
        matches!(
            Sighting::ALL[place / Self::OF_ONE_SIGHTING % 7],
            Sighting::Gone
        )
    }

    /// Tells whether the point of no return is passed: destroying, or the quarantine elapsed.
    #[must_use]
    pub const fn is_doomed(self) -> bool {
        matches!(self.status, Status::Destroying) || matches!(self.quarantine, Quarantine::Elapsed)
    }
}

words! {
    /// The named row of the table that answered.
    pub enum Rule ("rule") {
        /// Destroyed is never left.
        Terminal = "terminal",
        /// A deliberate override ends the row; no volume goes with it.
        ForcedDestroyed = "forced_destroyed",
        /// Compute is gone and no volume is to be destroyed: the end.
        QuarantineOver = "quarantine_over",
        /// Compute is gone: now the volume.
        VolumeDue = "volume_due",
        /// Compute is gone and the volume could not be read: wait for a reading.
        VolumeUnreadable = "volume_unreadable",
        /// The grace is over: now the compute.
        ComputeDue = "compute_due",
        /// To be deleted, and nothing is there that a grace could save.
        NothingLeftToHold = "nothing_left_to_hold",
        /// To be deleted, held for the grace.
        QuarantineHeld = "quarantine_held",
        /// The deletion was taken back.
        Restored = "restored",
        /// Nothing can be said, so nothing changes.
        NoEvidence = "no_evidence",
        /// Absent, not yet believed.
        AbsenceUnconfirmed = "absence_unconfirmed",
        /// On its way; the next sighting tells.
        Transitional = "transitional",
        /// It was given up, and is here after all.
        LateArrival = "late_arrival",
        /// Seen running.
        SeenRunning = "seen_running",
        /// Seen at rest.
        SeenStopped = "seen_stopped",
        /// It never came.
        NeverArrived = "never_arrived",
        /// It never came, and still has not.
        StillFailed = "still_failed",
        /// Gone, and nothing is left of it.
        GoneWithoutVolume = "gone_without_volume",
        /// Gone, its volume there, and so chosen: the end; the volume stays.
        GoneDespiteVolume = "gone_despite_volume",
        /// Gone, its volume there: it can be recovered.
        VolumeOutlivesCompute = "volume_outlives_compute",
    }
}

/// The answer of one cell: the status to take, what must happen, and the rule that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transition {
    /// The status to take.
    pub to: Status,
    /// What the winner of the commit must see done.
    pub effects: Effects,
    /// The rule that answered.
    pub rule: Rule,
}

impl Transition {
    /// Returns the state of the machine's compute after this transition from `cell`.
    #[must_use]
    pub const fn next_compute(self, cell: Cell) -> Compute {
        if self.effects.contains(Effect::RecordComputeLost) {
            return Compute::Lost;
        }
        if self.effects.contains(Effect::ReleaseCompute) {
            return Compute::Released;
        }
        if self.effects.contains(Effect::HoldCompute) {
            return Compute::Held;
        }
        match (cell.compute, cell.sighting, self.to) {
            // It was seen again, at rest: no longer lost, and no capacity is reserved for it.
            (Compute::Lost, Sighting::Stopped, Status::Paused) => Compute::Released,
            (unchanged, _, _) => unchanged,
        }
    }
}
