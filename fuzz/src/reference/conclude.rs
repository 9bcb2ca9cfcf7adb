//! What follows from a sighting: the answer, the next facts, and when to look again?

use super::facts::{Asked, Machine, Observation, Quarantine};
use super::judge::{Judgement, judge};
use super::policy::Policy;
use super::quarantine::{self, Found, has_passed, retirement_of};
use super::table::{Answer, Cell, answer};
use super::wide::{narrow, plus, wide};
use super::words::{Compute, Proof, QuarantineColumn, Sighting, Status};

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What the observation was worth.
    pub sighting: Sighting,
    /// The cell that was looked up.
    pub cell: Cell,
    /// What the table said.
    pub answer: Answer,
    /// The facts from now on.
    pub machine: Machine,
    /// When to look again; none where no look is needed any more.
    pub look_again_at: Option<i64>,
    /// Whether a restore was asked for and refused.
    pub refused: bool,
}

/// Judges and concludes.
#[must_use]
pub fn decide(
    machine: &Machine,
    observation: Option<&Observation>,
    asked: Asked,
    now: i64,
    policy: &Policy,
) -> Decision {
    let judgement = judge(machine, observation, now, policy);
    conclude(machine, &judgement, asked, now, policy)
}

/// Draws the conclusion from a judgement.
#[must_use]
pub fn conclude(
    machine: &Machine,
    judgement: &Judgement,
    asked: Asked,
    now: i64,
    policy: &Policy,
) -> Decision {
    let sighting = judgement.sighting;
    let found = quarantine::find(machine, sighting, asked.request, now, policy);
    let cell = Cell {
        status: machine.status,
        sighting,
        volume: machine.volume,
        quarantine: found.column,
        compute: machine.compute,
        force: asked.force,
    };
    let answer = answer(cell, policy.choices);

    let mut next = machine.clone();
    next.last_seen = judgement.last_seen;
    next.observed_at = judgement.observed_at;
    next.missing = judgement.missing;
    next.status = answer.to;
    if answer.to != machine.status {
        next.status_since = now;
    }
    next.compute = next_compute(machine.compute, sighting, &answer);
    next.compute_lost_at = next_compute_lost_at(machine, next.compute, found, &answer, now);
    if found.cleared {
        next.quarantine = None;
    }
    if found.column == QuarantineColumn::Due && answer.to == Status::Quarantined {
        let id = plus(machine.quarantines, 1);
        next.quarantines = id;
        next.quarantine = Some(Quarantine {
            id,
            since: now,
            destroy_at: quarantine::end_of(found.grace_ms, now),
        });
    }
    if answer.has("hold_compute") {
        next.holds = plus(machine.holds, 1);
    }

    Decision {
        sighting,
        cell,
        look_again_at: look_again_at(&next, judgement, now, policy),
        answer,
        machine: next,
        refused: found.refused,
    }
}

fn next_compute(compute: Compute, sighting: Sighting, answer: &Answer) -> Compute {
    if answer.has("record_compute_lost") {
        return Compute::Lost;
    }
    if answer.has("release_compute") {
        return Compute::Released;
    }
    if answer.has("hold_compute") {
        return Compute::Held;
    }
    let paused = answer.to == Status::Paused;
    if compute == Compute::Lost && sighting == Sighting::Stopped && paused {
        return Compute::Released;
    }
    compute
}

fn next_compute_lost_at(
    machine: &Machine,
    next_compute: Compute,
    found: Found,
    answer: &Answer,
    now: i64,
) -> Option<i64> {
    if next_compute != Compute::Lost {
        return None;
    }
    if answer.has("record_compute_lost") || machine.compute_lost_at.is_none() {
        return Some(now);
    }
    // Else the row that was just restored would retire again at the next look.
    if found.cleared {
        return Some(now);
    }
    machine.compute_lost_at
}

fn look_again_at(next: &Machine, judgement: &Judgement, now: i64, policy: &Policy) -> Option<i64> {
    let sweep = wide(now) + wide(policy.sweep_every_ms);
    if next.status == Status::Destroyed {
        let watched = wide(now) - wide(next.status_since) < wide(policy.orphan_watch_ms);
        let over = judgement.gone_by == Some(Proof::Tombstone)
            || judgement.gone_by == Some(Proof::DeleteConfirmed);
        if !watched || over {
            return None;
        }
        return Some(narrow(sweep));
    }

    let soon = next.status == Status::Provisioning
        || next.status == Status::Quarantined
        || next.status == Status::Destroying
        || judgement.sighting == Sighting::Missing
        || judgement.sighting == Sighting::Unknown;
    let mut look = if soon {
        wide(now) + wide(policy.recheck_ms)
    } else {
        sweep
    };
    let error = wide(policy.clock_error_ms);
    if next.status == Status::Quarantined
        && let Some(quarantine) = next.quarantine
    {
        look = look.min(wide(quarantine.destroy_at) + error);
    }
    if next.compute == Compute::Lost
        && let Some(retirement) = retirement_of(next, policy)
        && !has_passed(retirement, now, policy)
    {
        look = look.min(retirement + error);
    }
    Some(narrow(look.max(wide(now))))
}
