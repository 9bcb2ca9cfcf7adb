//! How far has the deletion of a machine come, and may it still be taken back?

use core::time::Duration;

use crate::{
    asked::{Refusal, Request},
    facts::{Compute, Quarantine, Sighting, Status},
    machine::Machine,
    policy::Policy,
    time::Timestamp,
};

/// The quarantine column, and what becomes of the stored quarantine.
pub(crate) struct Deletion {
    pub(crate) column: Quarantine,
    /// The grace to open a quarantine with, where the column is due.
    pub(crate) grace: Duration,
    /// A restore took a deletion back.
    pub(crate) is_restored: bool,
    pub(crate) refused: Option<Refusal>,
}

impl Deletion {
    pub(crate) fn of(
        machine: &Machine<'_>,
        sighting: Sighting,
        request: Option<Request>,
        now: Timestamp,
        policy: &Policy<'_>,
    ) -> Self {
        let (column, grace) = column(machine, sighting, request, now, policy);
        let is_doomed = matches!(machine.status, Status::Destroying | Status::Destroyed)
            || matches!(column, Quarantine::Elapsed);
        let as_stored = Self {
            column,
            grace,
            is_restored: false,
            refused: None,
        };
        match (request, column) {
            (None | Some(Request::Delete), _) => as_stored,
            (Some(Request::Restore), _) if is_doomed => Self {
                refused: Some(Refusal::PointOfNoReturn),
                ..as_stored
            },
            (Some(Request::Restore), Quarantine::Due | Quarantine::Open) => Self {
                column: Quarantine::Clear,
                is_restored: true,
                ..as_stored
            },
            (Some(Request::Restore), Quarantine::Clear | Quarantine::Elapsed) => as_stored,
        }
    }
}

fn column(
    machine: &Machine<'_>,
    sighting: Sighting,
    request: Option<Request>,
    now: Timestamp,
    policy: &Policy<'_>,
) -> (Quarantine, Duration) {
    let thresholds = policy.thresholds();
    if let Some(stamp) = machine.quarantine {
        let column = if policy.has_passed(stamp.destroy_at, now) {
            Quarantine::Elapsed
        } else {
            Quarantine::Open
        };
        return (column, thresholds.grace);
    }
    let due_with = |grace: Duration| {
        // Sub-millisecond graces are none: instants count whole milliseconds.
        let is_held = crate::time::millis(grace) > 0;
        (
            if is_held {
                Quarantine::Due
            } else {
                Quarantine::Elapsed
            },
            grace,
        )
    };
    match machine.status {
        Status::Destroying | Status::Destroyed => (Quarantine::Clear, thresholds.grace),
        // A lost stamp gets a full grace.
        Status::Quarantined => due_with(thresholds.grace),
        Status::Provisioning | Status::Running | Status::Paused | Status::Failed => {
            let is_retired = matches!(machine.status, Status::Paused)
                && matches!(sighting, Sighting::Gone)
                && retirement_at(machine, policy).is_some_and(|at| policy.has_passed(at, now));
            match request {
                Some(Request::Delete) => due_with(thresholds.grace),
                None | Some(Request::Restore) if is_retired => {
                    due_with(thresholds.retirement_grace)
                }
                None | Some(Request::Restore) => (Quarantine::Clear, thresholds.grace),
            }
        }
    }
}

/// Returns when lost compute retires the machine, where it is lost and the policy retires at all.
pub(crate) fn retirement_at(machine: &Machine<'_>, policy: &Policy<'_>) -> Option<Timestamp> {
    match (
        machine.compute,
        machine.compute_lost_at,
        policy.thresholds().retire_compute_lost_after,
    ) {
        (Compute::Lost, Some(lost_at), Some(after)) => Some(lost_at.saturating_add(after)),
        (Compute::Lost | Compute::Held | Compute::Released, _, _) => None,
    }
}
