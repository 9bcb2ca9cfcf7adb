//! Given every column, which rule answers, and with what?

use crate::{
    choices::{
        Choices, ComputeLost, LateArrival, Orphan, RevokeOnComputeLost, VolumeAfterQuarantine,
    },
    effect::{Effect, Effects},
    facts::{Compute, Force, Quarantine, Sighting, Status, Volume},
    transition::{Cell, Rule, Transition},
};

/// Answers one cell: the first rule that matches.
///
/// This match *is* the table of the README: one arm a rule, in the same order. A [`Table`] holds
/// its answers for one set of choices.
#[must_use]
#[rustfmt::skip]
pub const fn answer(cell: Cell, choices: Choices) -> Transition {
    let Cell { status, sighting, volume, quarantine, compute, force } = cell;
    let Choices { compute_lost, volume_after_quarantine, late_arrival, orphan, revoke_on_compute_lost } = choices;
    let doomed = cell.is_doomed();
    let retain = matches!(volume_after_quarantine, VolumeAfterQuarantine::Retain);
    let settle = match compute {
        Compute::Held => RELEASE,
        Compute::Released | Compute::Lost => Effects::NONE,
    };
    match (force, status, quarantine, sighting, volume) {
        (_, Status::Destroyed, _, sighting, _) => {
            let effects = match (sighting, orphan) {
                (Sighting::Booting | Sighting::Running | Sighting::Stopping | Sighting::Stopped, Orphan::Report) =>
                    Effects::NONE.with(Effect::RecordOrphan),
                (Sighting::Booting | Sighting::Running | Sighting::Stopping | Sighting::Stopped, Orphan::Destroy) =>
                    DESTROY_COMPUTE.with(Effect::RecordOrphan),
                (Sighting::Missing | Sighting::Gone | Sighting::Unknown, Orphan::Report | Orphan::Destroy) =>
                    Effects::NONE,
            };
            stay(status, effects, Rule::Terminal)
        }
        (Force::Destroyed, _, _, Sighting::Gone, _) =>
            enter(status, Status::Destroyed, REVOKE.union(settle), Rule::ForcedDestroyed),
        (Force::Destroyed, _, _, _, _) =>
            enter(status, Status::Destroyed, REVOKE.union(settle).union(DESTROY_COMPUTE), Rule::ForcedDestroyed),
        (_, _, _, Sighting::Gone, Volume::None | Volume::Shared) if doomed =>
            enter(status, Status::Destroyed, REVOKE.union(settle), Rule::QuarantineOver),
        (_, _, _, Sighting::Gone, _) if doomed && retain =>
            enter(status, Status::Destroyed, REVOKE.union(settle), Rule::QuarantineOver),
        (_, _, _, Sighting::Gone, Volume::Owned) if doomed => {
            enter(status, Status::Destroying, DESTROY_VOLUME.union(settle).union(revoke_on_entry(status, Status::Destroying)), Rule::VolumeDue)
        }
        (_, _, _, Sighting::Gone, Volume::Unknown) if doomed =>
            enter(status, Status::Destroying, settle.union(revoke_on_entry(status, Status::Destroying)), Rule::VolumeUnreadable),
        (_, _, _, _, _) if doomed =>
            enter(status, Status::Destroying, DESTROY_COMPUTE.union(settle_if_stopped(sighting, settle)).union(revoke_on_entry(status, Status::Destroying)), Rule::ComputeDue),
        (_, _, Quarantine::Due | Quarantine::Open, Sighting::Gone, Volume::None) =>
            enter(status, Status::Destroyed, REVOKE.union(settle), Rule::NothingLeftToHold),
        (_, _, Quarantine::Due | Quarantine::Open, sighting, _) => {
            let entering = !matches!(status, Status::Quarantined);
            let held = match (sighting, entering) {
                (Sighting::Booting | Sighting::Running, true | false)
                | (Sighting::Stopping | Sighting::Missing | Sighting::Unknown, true) =>
                    STOP,
                (Sighting::Stopping | Sighting::Missing | Sighting::Unknown, false) => Effects::NONE,
                (Sighting::Stopped | Sighting::Gone, true | false) => settle,
            };
            enter(status, Status::Quarantined, held.union(revoke_on_entry(status, Status::Quarantined)), Rule::QuarantineHeld)
        }
        // From here on the quarantine is clear: elapsed is doomed, due and open were held.
        (_, Status::Quarantined, _,
            Sighting::Booting | Sighting::Stopping | Sighting::Stopped | Sighting::Missing | Sighting::Unknown, _) =>
            enter(status, Status::Paused, Effects::NONE, Rule::Restored),
        (_, _, _, Sighting::Unknown, _) => stay(status, Effects::NONE, Rule::NoEvidence),
        (_, _, _, Sighting::Missing, _) => stay(status, Effects::NONE, Rule::AbsenceUnconfirmed),
        (_, _, _, Sighting::Booting | Sighting::Stopping, _) => stay(status, Effects::NONE, Rule::Transitional),
        (_, Status::Failed, _, Sighting::Running | Sighting::Stopped, volume) => match (late_arrival, sighting, volume) {
            (LateArrival::Adopt, Sighting::Running, _) => enter(status, Status::Running, hold(compute), Rule::LateArrival),
            (LateArrival::Adopt, _, _) => enter(status, Status::Paused, Effects::NONE, Rule::LateArrival),
            (LateArrival::Destroy, _, Volume::None) =>
                enter(status, Status::Destroying, DESTROY_COMPUTE.union(REVOKE).union(settle_if_stopped(sighting, settle)), Rule::LateArrival),
            // A volume is wiped only after a quarantine, and nobody asked for one.
            (LateArrival::Destroy, _, Volume::Owned | Volume::Shared | Volume::Unknown) =>
                stay(status, DESTROY_COMPUTE.union(REVOKE).union(settle_if_stopped(sighting, settle)), Rule::LateArrival),
        },
        (_, _, _, Sighting::Running, _) => enter(status, Status::Running, hold(compute), Rule::SeenRunning),
        (_, _, _, Sighting::Stopped, _) => enter(status, Status::Paused, Effects::NONE, Rule::SeenStopped),
        (_, Status::Provisioning, _, Sighting::Gone, _) =>
            enter(status, Status::Failed, REVOKE.union(settle), Rule::NeverArrived),
        (_, Status::Failed, _, Sighting::Gone, _) => stay(status, settle, Rule::StillFailed),
        (_, _, _, Sighting::Gone, Volume::None) =>
            enter(status, Status::Destroyed, REVOKE.union(settle), Rule::GoneWithoutVolume),
        (_, _, _, Sighting::Gone, Volume::Owned | Volume::Shared | Volume::Unknown) => match (compute_lost, compute) {
            (ComputeLost::Destroy, Compute::Held | Compute::Released | Compute::Lost) =>
                enter(status, Status::Destroyed, REVOKE.union(settle), Rule::GoneDespiteVolume),
            (ComputeLost::Keep, Compute::Lost) =>
                enter(status, Status::Paused, settle, Rule::VolumeOutlivesCompute),
            (ComputeLost::Keep, Compute::Held | Compute::Released) => {
                let lost = match revoke_on_compute_lost {
                    RevokeOnComputeLost::No => Effects::NONE,
                    RevokeOnComputeLost::Yes => REVOKE,
                };
                enter(status, Status::Paused, lost.union(settle).with(Effect::RecordComputeLost), Rule::VolumeOutlivesCompute)
            }
        },
    }
}

/// Gives back the capacity of compute that was seen at rest.
const fn settle_if_stopped(sighting: Sighting, settle: Effects) -> Effects {
    match sighting {
        Sighting::Stopped => settle,
        Sighting::Booting
        | Sighting::Running
        | Sighting::Stopping
        | Sighting::Missing
        | Sighting::Gone
        | Sighting::Unknown => Effects::NONE,
    }
}

/// Reserves capacity where there is none.
const fn hold(compute: Compute) -> Effects {
    match compute {
        Compute::Held => Effects::NONE,
        Compute::Released | Compute::Lost => HOLD,
    }
}

/// Takes the status `to`; where the row was not there already, the ledger says so.
const fn enter(from: Status, to: Status, effects: Effects, rule: Rule) -> Transition {
    let effects = match Effect::record_of(to) {
        Some(record) if from as u8 != to as u8 => effects.with(record),
        Some(_) | None => effects,
    };
    Transition { to, effects, rule }
}

const fn stay(status: Status, effects: Effects, rule: Rule) -> Transition {
    Transition {
        to: status,
        effects,
        rule,
    }
}

const fn revoke_on_entry(from: Status, to: Status) -> Effects {
    if from as u8 == to as u8 {
        Effects::NONE
    } else {
        REVOKE
    }
}

/// The answers of every cell for one set of choices.
///
/// ```
/// use lifecycle_core::{Cell, Compute, Force, Quarantine, Rule, Sighting, Status, Table, Volume};
///
/// let cell = Cell {
///     status: Status::Running,
///     sighting: Sighting::Gone,
///     volume: Volume::Owned,
///     quarantine: Quarantine::Clear,
///     compute: Compute::Held,
///     force: Force::None,
/// };
/// let transition = Table::DEFAULT.answer(cell);
/// assert_eq!(transition.rule, Rule::VolumeOutlivesCompute);
/// assert_eq!(transition.to, Status::Paused);
/// assert_eq!(transition.effects.to_string(), "release_compute+record_paused+record_compute_lost");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    choices: Choices,
    answers: [Transition; Self::SLOTS],
}

impl Table {
    /// The table of the default choices.
    pub const DEFAULT: &'static Self = &DEFAULT;

    /// The table in which a machine ends when its compute is gone, volume or not.
    pub const COMPUTE_LOST_DESTROY: &'static Self = &COMPUTE_LOST_DESTROY;

    /// Builds the table of these choices.
    #[must_use]
    pub const fn new(choices: Choices) -> Self {
        // Slots that no cell maps to are never read; they hold what changes nothing.
        let mut answers =
            [stay(Status::Provisioning, Effects::NONE, Rule::NoEvidence); Self::SLOTS];
        let mut place = 0;
        while place < Cell::COUNT {
            let cell = Cell::nth(place);
            answers[Self::slot_of(cell)] = answer(cell, choices);
            place += 1;
        }
        Self { choices, answers }
    }

    /// Returns this table under another choice for lost compute. Only the cells that ask for the
    /// choice are answered anew, which keeps the build of this crate short.
    #[must_use]
    pub const fn with_compute_lost(&self, compute_lost: ComputeLost) -> Self {
        let choices = Choices {
            compute_lost,
            ..self.choices
        };
        let mut answers = self.answers;
        let mut place = 0;
        while place < Cell::COUNT {
            if !Cell::is_gone_at(place) {
                // None of a whole block of cells asks for it.
                place += Cell::OF_ONE_SIGHTING;
                continue;
            }
            let cell = Cell::nth(place);
            let slot = Self::slot_of(cell);
            if matches!(
                answers[slot].rule,
                Rule::GoneDespiteVolume | Rule::VolumeOutlivesCompute
            ) {
                answers[slot] = answer(cell, choices);
            }
            place += 1;
        }
        Self { choices, answers }
    }

    /// Returns the choices this table was built from.
    #[must_use]
    pub const fn choices(&self) -> Choices {
        self.choices
    }

    /// Looks one cell up.
    #[must_use]
    pub const fn answer(&self, cell: Cell) -> Transition {
        self.answers[Self::slot_of(cell)]
    }

    /// Three bits each for status and sighting, two each for volume, quarantine and compute, one for force.
    const SLOTS: usize = 1 << 13;

    /// Packs a cell into a slot. The mask keeps it inside the array in the compiler's eyes too, so that
    /// a look-up has no bounds check and cannot panic.
    const fn slot_of(cell: Cell) -> usize {
        let Cell {
            status,
            sighting,
            volume,
            quarantine,
            compute,
            force,
        } = cell;
        ((status as usize) << 10
            | (sighting as usize) << 7
            | (volume as usize) << 5
            | (quarantine as usize) << 3
            | (compute as usize) << 1
            | force as usize)
            & (Self::SLOTS - 1)
    }
}

const STOP: Effects = Effects::NONE.with(Effect::StopCompute);
const HOLD: Effects = Effects::NONE.with(Effect::HoldCompute);
const RELEASE: Effects = Effects::NONE.with(Effect::ReleaseCompute);
const REVOKE: Effects = Effects::NONE.with(Effect::RevokeCredentials);
const DESTROY_COMPUTE: Effects = Effects::NONE.with(Effect::DestroyCompute);
const DESTROY_VOLUME: Effects = Effects::NONE.with(Effect::DestroyVolume);

static DEFAULT: Table = Table::new(Choices::DEFAULT);

static COMPUTE_LOST_DESTROY: Table = DEFAULT.with_compute_lost(ComputeLost::Destroy);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_another_choice_is_the_one_built_from_it() {
        for choices in Choices::all() {
            for compute_lost in [ComputeLost::Keep, ComputeLost::Destroy] {
                let chosen = Table::new(choices).with_compute_lost(compute_lost);
                assert_eq!(
                    chosen,
                    Table::new(Choices {
                        compute_lost,
                        ..choices
                    })
                );
            }
        }
    }
}
