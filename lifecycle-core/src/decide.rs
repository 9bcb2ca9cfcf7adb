//! What is the machine's status now, and what must happen because of it?

use crate::{
    asked::{Asked, Refusal, Request},
    deletion::{Deletion, retirement_at},
    effect::Effect,
    facts::{Compute, Quarantine, Sighting, Status},
    judge::{Ground, Judgement, Observed, judge},
    machine::{Machine, QuarantineStamp, one_more},
    observation::Observation,
    policy::Policy,
    time::Timestamp,
    transition::{Cell, Transition},
    words::words,
};

words! {
    /// How much a decision changes.
    pub enum DecisionKind ("kind of decision") {
        /// Nothing at all.
        Nothing = "nothing",
        /// Only what was observed.
        Observed = "observed",
        /// The status, an effect, or another durable fact.
        Transition = "transition",
    }
}

/// A transition plus the machine's next durable facts, and when to look again.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The facts it was made from.
    pub before: Machine<'a>,
    /// What the observation was worth.
    pub judgement: Judgement,
    /// The columns that were looked up.
    pub cell: Cell,
    /// The answer of the table.
    pub transition: Transition,
    /// The facts to store.
    pub next: Machine<'a>,
    /// When to look again; none: never.
    pub look_again_at: Option<Timestamp>,
    /// What was asked for.
    pub request: Option<Request>,
    /// Why the request was not done; the rest is decided as if it had not been made.
    pub refused: Option<Refusal>,
    /// The time it was made at.
    pub now: Timestamp,
    /// The policy it was made under.
    pub policy: Policy<'a>,
}

/// Decides: [`judge`], then [`conclude`]. Total; changes nothing.
///
/// ```
/// use lifecycle_core::{
///     Answer, Asked, Machine, Observation, Policy, Proof, Rule, Source, Status, Timestamp, decide,
/// };
///
/// let now = Timestamp::from_millis(10_000_000);
/// let mut machine = Machine::new("account-1/eu", None, Timestamp::from_millis(0));
/// machine.status = Status::Running;
/// let absent = Observation::of(&machine, Answer::Absent(Proof::TypedNotFound), now, Source::Sweep);
///
/// let decision = decide(&machine, Some(&absent), Asked::NOTHING, now, &Policy::IMMEDIATE);
/// assert_eq!(decision.transition.rule, Rule::GoneWithoutVolume);
/// assert_eq!(decision.next.status, Status::Destroyed);
/// ```
#[must_use]
pub fn decide<'a>(
    machine: &Machine<'a>,
    observation: Option<&Observation<'_>>,
    asked: Asked,
    now: Timestamp,
    policy: &Policy<'a>,
) -> Decision<'a> {
    conclude(
        machine,
        judge(machine, observation, now, policy),
        asked,
        now,
        policy,
    )
}

/// Concludes from a judgement: looks the table up, and says the next facts and when to look again.
///
/// Stands apart from [`judge`] for what stands between them: the [`FleetGuard`](crate::FleetGuard).
#[must_use]
pub fn conclude<'a>(
    machine: &Machine<'a>,
    judgement: Judgement,
    asked: Asked,
    now: Timestamp,
    policy: &Policy<'a>,
) -> Decision<'a> {
    let deletion = Deletion::of(machine, judgement.sighting, asked.request, now, policy);
    let cell = Cell {
        status: machine.status,
        sighting: judgement.sighting,
        volume: machine.volume,
        quarantine: deletion.column,
        compute: machine.compute,
        force: asked.force,
    };
    let transition = policy.table().answer(cell);
    let next = next_facts(
        machine,
        judgement.observed,
        &deletion,
        cell,
        transition,
        now,
    );
    Decision {
        before: *machine,
        judgement,
        cell,
        transition,
        next,
        look_again_at: look_again_at(&next, &judgement, now, policy),
        request: asked.request,
        refused: deletion.refused,
        now,
        policy: *policy,
    }
}

impl Decision<'_> {
    /// Tells whether this is a transition, only observed something, or nothing.
    #[must_use]
    pub fn kind(&self) -> DecisionKind {
        let Observed {
            last_seen,
            observed_at,
            missing,
        } = self.judgement.observed;
        let observed = Machine {
            last_seen,
            observed_at,
            missing,
            ..self.before
        };
        if !self.transition.effects.is_empty() || self.next != observed {
            DecisionKind::Transition
        } else if self.next != self.before {
            DecisionKind::Observed
        } else {
            DecisionKind::Nothing
        }
    }

    /// Tells why: the rule, the facts it used, and what would change the answer.
    #[must_use]
    pub const fn why(&self) -> Why<'_> {
        Why { decision: self }
    }
}

/// Displays why a decision was made, in one sentence; see [`Decision::why`].
#[derive(Clone, Copy, Debug)]
pub struct Why<'d> {
    pub(crate) decision: &'d Decision<'d>,
}

fn next_facts<'a>(
    machine: &Machine<'a>,
    observed: Observed,
    deletion: &Deletion,
    cell: Cell,
    transition: Transition,
    now: Timestamp,
) -> Machine<'a> {
    let Machine {
        status,
        volume,
        compute: _,
        desired,
        generation,
        scope,
        marker,
        created_at,
        status_since,
        last_seen: _,
        observed_at: _,
        missing: _,
        quarantine,
        quarantines,
        compute_lost_at,
        busy_until,
        holds,
    } = *machine;
    let Observed {
        last_seen,
        observed_at,
        missing,
    } = observed;
    let compute = transition.next_compute(cell);
    let opens =
        matches!(cell.quarantine, Quarantine::Due) && matches!(transition.to, Status::Quarantined);
    let quarantines_next = one_more(quarantines);
    let opened = QuarantineStamp {
        id: quarantines_next,
        since: now,
        destroy_at: now.saturating_add(deletion.grace),
    };
    let lost_at = match compute_lost_at {
        Some(_)
            if deletion.is_restored || transition.effects.contains(Effect::RecordComputeLost) =>
        {
            now
        }
        Some(lost_at) => lost_at,
        None => now,
    };
    Machine {
        status: transition.to,
        volume,
        compute,
        desired,
        generation,
        scope,
        marker,
        created_at,
        status_since: if transition.to == status {
            status_since
        } else {
            now
        },
        last_seen,
        observed_at,
        missing,
        quarantine: match (opens, deletion.is_restored) {
            (true, _) => Some(opened),
            (false, true) => None,
            (false, false) => quarantine,
        },
        quarantines: if opens { quarantines_next } else { quarantines },
        compute_lost_at: match compute {
            Compute::Lost => Some(lost_at),
            Compute::Held | Compute::Released => None,
        },
        busy_until,
        holds: if transition.effects.contains(Effect::HoldCompute) {
            one_more(holds)
        } else {
            holds
        },
    }
}

fn look_again_at(
    next: &Machine<'_>,
    judgement: &Judgement,
    now: Timestamp,
    policy: &Policy<'_>,
) -> Option<Timestamp> {
    let thresholds = policy.thresholds();
    if matches!(next.status, Status::Destroyed) {
        // A create in flight, or a wrong answer, must not run on unseen.
        let is_final = matches!(judgement.ground, Ground::FinalProof);
        let is_watched = now.is_within(thresholds.orphan_watch, next.status_since);
        return (is_watched && !is_final).then(|| now.saturating_add(thresholds.sweep_every));
    }
    let is_unsettled = matches!(
        next.status,
        Status::Provisioning | Status::Quarantined | Status::Destroying
    ) || matches!(judgement.sighting, Sighting::Missing | Sighting::Unknown);
    let wait = if is_unsettled {
        thresholds.recheck
    } else {
        thresholds.sweep_every
    };
    let mut look_at = now.saturating_add(wait);
    if let (Status::Quarantined, Some(stamp)) = (next.status, next.quarantine) {
        look_at = look_at.min(stamp.destroy_at.saturating_add(thresholds.clock_error));
    }
    if let Some(retirement) = retirement_at(next, policy)
        && !policy.has_passed(retirement, now)
    {
        look_at = look_at.min(retirement.saturating_add(thresholds.clock_error));
    }
    Some(look_at.max(now))
}
