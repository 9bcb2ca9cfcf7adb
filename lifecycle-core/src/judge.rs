//! What is an observation worth for this machine?

use crate::{
    facts::Sighting,
    machine::{LastSeen, Machine, Missing, SeenPower, one_more},
    observation::{Answer, Observation, Proof, SeenMarker},
    policy::{Misses, Policy},
    time::Timestamp,
    words::words,
};

words! {
    /// The step of [`judge`] that gave the sighting.
    pub enum Ground ("ground") {
        /// Nothing was asked of the provider.
        NotAsked = "not_asked",
        /// The answer is about another incarnation.
        OtherGeneration = "other_generation",
        /// The answer is about another account, region or host.
        OtherScope = "other_scope",
        /// The question was sent before the status was entered.
        BeforeStatus = "before_status",
        /// The question was sent before the latest accepted one.
        BeforeObserved = "before_observed",
        /// The question was sent too long ago.
        TooOld = "too_old",
        /// The question was sent in the future.
        InFuture = "in_future",
        /// The provider could not be asked.
        CouldNotAsk = "could_not_ask",
        /// The provider used a word that is not known.
        Unrecognized = "unrecognized",
        /// A machine of that id is there, without the marker it should carry.
        MarkerBlank = "marker_blank",
        /// It was seen.
        Seen = "seen",
        /// The proof of absence is too weak to count.
        WeakProof = "weak_proof",
        /// Absent while an operation of ours holds the row.
        Busy = "busy",
        /// The provider says that it ended.
        FinalProof = "final_proof",
        /// Absent, and so new that it may not be visible yet.
        Young = "young",
        /// Absent, but not often or long enough.
        Unconfirmed = "unconfirmed",
        /// Absent often and long enough.
        Confirmed = "confirmed",
        /// Too many of this scope went at once: held by the fleet guard.
        FleetGuard = "fleet_guard",
    }
}

/// The observed facts of a machine: what a judgement may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Observed {
    /// The last believed sighting.
    pub last_seen: Option<LastSeen>,
    /// When the latest accepted question was sent.
    pub observed_at: Option<Timestamp>,
    /// The run of misses.
    pub missing: Option<Missing>,
}

/// What an observation is worth, why, and the observed facts after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Judgement {
    /// What it is worth.
    pub sighting: Sighting,
    /// The step that said so.
    pub ground: Ground,
    /// The answer that was judged; another machine's marker reads as [`Proof::Superseded`].
    pub answer: Option<Answer>,
    /// What it takes to believe an absence of this proof; none where that was not the question.
    pub needed: Option<Misses>,
    /// The observed facts after it.
    pub observed: Observed,
}

/// Judges what an observation is worth for this machine. Total; changes nothing.
///
/// The steps are taken in order and the first that applies answers.
///
/// ```
/// use lifecycle_core::{judge, Answer, Cause, Machine, Observation, Policy, Sighting, Source, Timestamp};
///
/// let now = Timestamp::from_millis(10_000_000);
/// let machine = Machine::new("account-1/eu", None, Timestamp::from_millis(0));
/// let silent = Observation::of(&machine, Answer::Unknown(Cause::Timeout), now, Source::Sweep);
/// let judgement = judge(&machine, Some(&silent), now, &Policy::CAUTIOUS);
/// assert_eq!(judgement.sighting, Sighting::Unknown);
/// ```
#[must_use]
pub fn judge(
    machine: &Machine<'_>,
    observation: Option<&Observation<'_>>,
    now: Timestamp,
    policy: &Policy<'_>,
) -> Judgement {
    let stored = Observed {
        last_seen: machine.last_seen,
        observed_at: machine.observed_at,
        missing: machine.missing,
    };
    let unknown = |ground| Judgement {
        sighting: Sighting::Unknown,
        ground,
        answer: observation.map(|observation| observation.answer),
        needed: None,
        observed: stored,
    };
    let Some(observation) = observation else {
        return unknown(Ground::NotAsked);
    };
    if let Some(ground) = disqualified(machine, observation, now, policy) {
        return unknown(ground);
    }
    let accepted = Observed {
        observed_at: Some(observation.begun_at),
        ..stored
    };
    let answer = match observation.answer {
        Answer::Present(_) => match identity(machine.marker, observation.marker) {
            Identity::Ours => observation.answer,
            Identity::Unproven => return unknown(Ground::MarkerBlank),
            Identity::Another => Answer::Absent(Proof::Superseded),
        },
        Answer::Absent(_) | Answer::Unknown(_) => observation.answer,
    };
    match answer {
        Answer::Unknown(_) => unknown(Ground::CouldNotAsk),
        Answer::Present(power) => match (power.sighting(), power.seen()) {
            (Some(sighting), Some(power)) => Judgement {
                sighting,
                ground: Ground::Seen,
                answer: Some(answer),
                needed: None,
                observed: Observed {
                    last_seen: Some(LastSeen {
                        power,
                        at: observation.begun_at,
                    }),
                    missing: None,
                    ..accepted
                },
            },
            (None, _) | (_, None) => unknown(Ground::Unrecognized),
        },
        Answer::Absent(proof) => {
            absent(machine, proof, observation.begun_at, now, policy, accepted)
        }
    }
}

/// Returns why an observation says nothing about this machine now, steps 1 to 3.
fn disqualified(
    machine: &Machine<'_>,
    observation: &Observation<'_>,
    now: Timestamp,
    policy: &Policy<'_>,
) -> Option<Ground> {
    let begun_at = observation.begun_at;
    let is_before = |fence: Timestamp| !policy.is_void(fence, now) && begun_at < fence;
    if observation.generation != machine.generation {
        Some(Ground::OtherGeneration)
    } else if observation.scope != machine.scope {
        Some(Ground::OtherScope)
    } else if is_before(machine.status_since) {
        Some(Ground::BeforeStatus)
    } else if machine.observed_at.is_some_and(is_before) {
        Some(Ground::BeforeObserved)
    } else if now.is_beyond(policy.thresholds().max_age, begun_at) {
        Some(Ground::TooOld)
    } else if policy.is_void(begun_at, now) {
        Some(Ground::InFuture)
    } else {
        match observation.answer {
            Answer::Unknown(_) => Some(Ground::CouldNotAsk),
            Answer::Present(power) if power.sighting().is_none() => Some(Ground::Unrecognized),
            Answer::Present(_) | Answer::Absent(_) => None,
        }
    }
}

enum Identity {
    Ours,
    Unproven,
    Another,
}

/// A deleted tag proves nothing, so a blank marker is neither ours nor another's.
fn identity(own: Option<&str>, seen: SeenMarker<'_>) -> Identity {
    match (own, seen) {
        (None, _) | (_, SeenMarker::NotRead) | (Some(""), SeenMarker::Blank) => Identity::Ours,
        (Some(own), SeenMarker::Is(seen)) if own == seen => Identity::Ours,
        (Some(_), SeenMarker::Blank | SeenMarker::Is("")) => Identity::Unproven,
        (Some(_), SeenMarker::Is(_)) => Identity::Another,
    }
}

/// Judges an absence, steps 6 to 10. `accepted` are the facts with the observation accepted.
fn absent(
    machine: &Machine<'_>,
    proof: Proof,
    begun_at: Timestamp,
    now: Timestamp,
    policy: &Policy<'_>,
    accepted: Observed,
) -> Judgement {
    let thresholds = policy.thresholds();
    let needed = if proof.is_typed() {
        thresholds.typed
    } else {
        thresholds.listed
    };
    let answered = |sighting, ground, observed| Judgement {
        sighting,
        ground,
        answer: Some(Answer::Absent(proof)),
        needed: Some(needed),
        observed,
    };
    let gone = Some(LastSeen {
        power: SeenPower::Gone,
        at: begun_at,
    });
    if proof.strength() < thresholds.min_proof.strength() {
        let stored = Observed {
            observed_at: machine.observed_at,
            ..accepted
        };
        return answered(Sighting::Unknown, Ground::WeakProof, stored);
    }
    let is_busy = machine.busy_until.is_some_and(|until| until > now);
    if is_busy && !matches!(proof, Proof::DeleteConfirmed) {
        return answered(Sighting::Missing, Ground::Busy, accepted);
    }
    if proof.is_final() {
        return answered(
            Sighting::Gone,
            Ground::FinalProof,
            Observed {
                last_seen: gone,
                ..accepted
            },
        );
    }
    let young_for = match machine.last_seen {
        Some(_) => thresholds.visibility_window,
        None => thresholds.launch_deadline,
    };
    if now.is_within(young_for, machine.created_at) {
        return answered(Sighting::Missing, Ground::Young, accepted);
    }
    let missing = missed(machine, begun_at, now, policy);
    let is_believed = missing.is_some_and(|missing| {
        missing.count >= needed.count && !begun_at.is_within(needed.span, missing.since)
    });
    if is_believed {
        answered(
            Sighting::Gone,
            Ground::Confirmed,
            Observed {
                last_seen: gone,
                missing,
                ..accepted
            },
        )
    } else {
        answered(
            Sighting::Missing,
            Ground::Unconfirmed,
            Observed {
                missing,
                ..accepted
            },
        )
    }
}

/// Returns the run of misses with this one in it. The same answer twice counts once.
fn missed(
    machine: &Machine<'_>,
    begun_at: Timestamp,
    now: Timestamp,
    policy: &Policy<'_>,
) -> Option<Missing> {
    let observed_at = machine.observed_at.filter(|at| !policy.is_void(*at, now));
    let running = machine
        .missing
        .filter(|missing| !policy.is_void(missing.since, now));
    let first = Missing {
        since: begun_at,
        count: 1,
    };
    match (observed_at, running) {
        (Some(at), running) if at == begun_at => running,
        (Some(at), Some(Missing { since, count }))
            if !begun_at.is_beyond(policy.thresholds().fresh_for, at) =>
        {
            Some(Missing {
                since,
                count: one_more(count),
            })
        }
        (Some(_) | None, _) => Some(first),
    }
}
