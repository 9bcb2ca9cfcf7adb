//! How far is the quarantine of a row, and what does a request change about it?

use super::facts::Machine;
use super::policy::Policy;
use super::wide::{plus, wide};
use super::words::{Compute, QuarantineColumn, Request, Sighting, Status};

/// The column, and what else follows from finding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The column.
    pub column: QuarantineColumn,
    /// How long a quarantine that opens now lasts.
    pub grace_ms: i64,
    /// Whether a restore has made it clear.
    pub cleared: bool,
    /// Whether a restore came too late.
    pub refused: bool,
}

/// Finds the quarantine column of a row.
#[must_use]
pub fn find(
    machine: &Machine,
    sighting: Sighting,
    request: Option<Request>,
    now: i64,
    policy: &Policy,
) -> Found {
    let found = without_restore(machine, sighting, request, now, policy);
    if request != Some(Request::Restore) {
        return found;
    }
    let over = machine.status == Status::Destroyed || machine.status == Status::Destroying;
    if over || found.column == QuarantineColumn::Elapsed {
        return Found {
            refused: true,
            ..found
        };
    }
    if found.column == QuarantineColumn::Clear {
        return found;
    }
    Found {
        column: QuarantineColumn::Clear,
        cleared: true,
        ..found
    }
}

fn without_restore(
    machine: &Machine,
    sighting: Sighting,
    request: Option<Request>,
    now: i64,
    policy: &Policy,
) -> Found {
    let as_column = |column| Found {
        column,
        grace_ms: policy.grace_ms,
        cleared: false,
        refused: false,
    };
    if let Some(stored) = machine.quarantine {
        if has_passed(wide(stored.destroy_at), now, policy) {
            return as_column(QuarantineColumn::Elapsed);
        }
        return as_column(QuarantineColumn::Open);
    }
    if machine.status == Status::Destroyed || machine.status == Status::Destroying {
        return as_column(QuarantineColumn::Clear);
    }
    // A quarantined row without stamps has lost them: it gets a full grace.
    let asked_for = request == Some(Request::Delete) || machine.status == Status::Quarantined;
    if !asked_for && !retirement_is_due(machine, sighting, now, policy) {
        return as_column(QuarantineColumn::Clear);
    }
    let grace_ms = if asked_for {
        policy.grace_ms
    } else {
        policy.retirement_grace_ms
    };
    let column = if grace_ms == 0 {
        QuarantineColumn::Elapsed
    } else {
        QuarantineColumn::Due
    };
    Found {
        grace_ms,
        ..as_column(column)
    }
}

fn retirement_is_due(machine: &Machine, sighting: Sighting, now: i64, policy: &Policy) -> bool {
    if machine.status != Status::Paused {
        return false;
    }
    if machine.compute != Compute::Lost || sighting != Sighting::Gone {
        return false;
    }
    retirement_of(machine, policy).is_some_and(|deadline| has_passed(deadline, now, policy))
}

/// When a row whose compute was lost retires, as far as that is known.
pub(crate) fn retirement_of(machine: &Machine, policy: &Policy) -> Option<i128> {
    let lost_at = machine.compute_lost_at?;
    let after = policy.retire_compute_lost_after_ms?;
    // A deadline is an instant like a stored one: it ends where they end.
    Some(wide(plus(lost_at, after)))
}

/// Whether a deadline has passed on every clock.
pub(crate) fn has_passed(deadline: i128, now: i64, policy: &Policy) -> bool {
    wide(now) - wide(policy.clock_error_ms) >= deadline
}

/// When a quarantine that opens now is over.
pub(crate) fn end_of(grace_ms: i64, now: i64) -> i64 {
    plus(now, grace_ms)
}
