//! Which promises does every table keep?
//!
//! The laws that one look-up can break are checked here: for the default choices while this crate
//! is compiled, so that a table that breaks one does not build; for any other table by
//! [`Law::first_broken`]. The rest are about whole decisions and are kept by tests.

use crate::{
    choices::ComputeLost,
    effect::{Effect, Effects},
    facts::{Compute, Force, Quarantine, Sighting, Status, Volume},
    table::Table,
    transition::{Cell, Transition},
    words::words,
};

words! {
    /// A promise that holds for every machine, whatever is seen or asked.
    pub enum Law ("law") {
        /// Destroyed absorbs.
        DestroyedAbsorbs = "destroyed_absorbs",
        /// `record_destroyed` exactly where a row enters destroyed.
        DestroyRecordedOnEntry = "destroy_recorded_on_entry",
        /// Sighting unknown or missing changes no active or destroyed row whose quarantine is clear
        /// and that is not forced, and has no effect there.
        IgnoranceChangesNothing = "ignorance_changes_nothing",
        /// An active row with a volume never becomes destroyed while lost compute is kept, the
        /// quarantine is clear and nothing forces it.
        VolumeKeepsMachine = "volume_keeps_machine",
        /// The source never changes the answer.
        SourceIsIrrelevant = "source_is_irrelevant",
        /// Without a force, asking again with the next facts and the same sighting changes no status
        /// and emits no record, hold or release; orphans and a retirement falling due aside.
        AskingAgainIsIdle = "asking_again_is_idle",
        /// `destroy_volume` only where the volume is owned, the sighting gone, the row doomed and
        /// nothing forces it.
        VolumeDestroyedOnlyWhenDoomed = "volume_destroyed_only_when_doomed",
        /// No effect starts, resumes or creates compute.
        NothingIsStarted = "nothing_is_started",
        /// Every row that may still change has a next time to look, never before now; and from every
        /// quarantined or destroying row destroyed is reachable.
        EveryRowIsLookedAt = "every_row_is_looked_at",
        /// A report has no blank, and never shows desired power as actual.
        ReportsAreWhole = "reports_are_whole",
        /// Entering quarantined, destroying, destroyed or failed revokes credentials.
        EndingRevokes = "ending_revokes",
        /// Entering destroyed leaves compute not held and, unless it is gone, destroys it.
        DestroyedHoldsNothing = "destroyed_holds_nothing",
        /// A destroying row that is not gone destroys compute; a quarantined one that runs stops it.
        DeletionIsPursued = "deletion_is_pursued",
    }
}

impl Law {
    /// Returns the first law and cell that this table breaks.
    ///
    /// ```
    /// use lifecycle_core::{Choices, Law, Table};
    ///
    /// for choices in Choices::all() {
    ///     assert_eq!(Law::first_broken(&Table::new(choices)), None);
    /// }
    /// ```
    #[must_use]
    pub fn first_broken(table: &Table) -> Option<(Self, Cell)> {
        Cell::all().find_map(|cell| Self::broken_at(cell, table).map(|law| (law, cell)))
    }

    /// Returns the first law that one look-up breaks.
    #[must_use]
    pub const fn broken_at(cell: Cell, table: &Table) -> Option<Self> {
        Self::broken_by(table.answer(cell), cell, table)
    }

    /// Returns the first law that this answer would break in a cell of the table.
    #[must_use]
    pub const fn broken_by(transition: Transition, cell: Cell, table: &Table) -> Option<Self> {
        let Transition {
            to,
            effects,
            rule: _,
        } = transition;
        let Cell {
            status,
            sighting,
            volume,
            quarantine,
            compute: _,
            force,
        } = cell;
        let is_entered = status as u8 != to as u8;
        let is_gone = matches!(sighting, Sighting::Gone);
        let is_forced = matches!(force, Force::Destroyed);
        let is_left_alone = matches!(quarantine, Quarantine::Clear) && !is_forced;
        let ends = is_entered && matches!(to, Status::Destroyed);

        if matches!(status, Status::Destroyed) && is_entered {
            return Some(Self::DestroyedAbsorbs);
        }
        if effects.contains(Effect::RecordDestroyed) != ends {
            return Some(Self::DestroyRecordedOnEntry);
        }
        if is_left_alone
            && matches!(sighting, Sighting::Unknown | Sighting::Missing)
            && (status.is_active() || matches!(status, Status::Destroyed))
            && (is_entered || !effects.is_empty())
        {
            return Some(Self::IgnoranceChangesNothing);
        }
        if is_left_alone
            && ends
            && status.is_active()
            && !matches!(volume, Volume::None)
            && matches!(table.choices().compute_lost, ComputeLost::Keep)
        {
            return Some(Self::VolumeKeepsMachine);
        }
        if !is_forced && !is_idle_again(cell, transition, table) {
            return Some(Self::AskingAgainIsIdle);
        }
        if effects.contains(Effect::DestroyVolume)
            && !(matches!(volume, Volume::Owned) && is_gone && cell.is_doomed() && !is_forced)
        {
            return Some(Self::VolumeDestroyedOnlyWhenDoomed);
        }
        if is_entered
            && matches!(
                to,
                Status::Quarantined | Status::Destroying | Status::Destroyed | Status::Failed
            )
            && !effects.contains(Effect::RevokeCredentials)
        {
            return Some(Self::EndingRevokes);
        }
        if ends
            && (matches!(transition.next_compute(cell), Compute::Held)
                || !(is_gone || effects.contains(Effect::DestroyCompute)))
        {
            return Some(Self::DestroyedHoldsNothing);
        }
        if (matches!(to, Status::Destroying)
            && !is_gone
            && !effects.contains(Effect::DestroyCompute))
            || (matches!(to, Status::Quarantined)
                && matches!(sighting, Sighting::Booting | Sighting::Running)
                && !effects.contains(Effect::StopCompute))
        {
            return Some(Self::DeletionIsPursued);
        }
        None
    }
}

/// Asks the table again with what the transition leaves behind.
const fn is_idle_again(cell: Cell, transition: Transition, table: &Table) -> bool {
    let next = Cell {
        status: transition.to,
        compute: transition.next_compute(cell),
        quarantine: match cell.quarantine {
            Quarantine::Due if matches!(transition.to, Status::Quarantined) => Quarantine::Open,
            // Destroyed at once: no quarantine was made.
            Quarantine::Due => Quarantine::Clear,
            same @ (Quarantine::Clear | Quarantine::Open | Quarantine::Elapsed) => same,
        },
        ..cell
    };
    let again = table.answer(next);
    again.to as u8 == next.status as u8 && !again.effects.intersects(ONCE)
}

/// The effects that asking again must not bring; orphans may be seen again.
const ONCE: Effects = Effects::NONE
    .with(Effect::HoldCompute)
    .with(Effect::ReleaseCompute)
    .with(Effect::RecordRunning)
    .with(Effect::RecordPaused)
    .with(Effect::RecordQuarantined)
    .with(Effect::RecordDestroying)
    .with(Effect::RecordDestroyed)
    .with(Effect::RecordFailed)
    .with(Effect::RecordComputeLost);

const _: () = {
    let mut place = 0;
    while place < Cell::COUNT {
        assert!(
            Law::broken_at(Cell::nth(place), Table::DEFAULT).is_none(),
            "the table of the default choices breaks a law of this crate"
        );
        place += 1;
    }
};
