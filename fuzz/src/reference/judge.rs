//! What is an observation worth for this machine?

use super::facts::{LastSeen, Machine, Missing, Observation, Said};
use super::policy::Policy;
use super::wide::{plus, wide};
use super::words::{Power, Proof, SeenPower, Sighting};

/// The worth of an observation, and the observed facts from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The sighting.
    pub sighting: Sighting,
    /// The proof that made it gone; none for any other sighting.
    pub gone_by: Option<Proof>,
    /// The next `last_seen`.
    pub last_seen: Option<LastSeen>,
    /// The next `observed_at`.
    pub observed_at: Option<i64>,
    /// The next `missing`.
    pub missing: Option<Missing>,
}

/// Judges an observation in the ten steps of the specification.
#[must_use]
pub fn judge(
    machine: &Machine,
    observation: Option<&Observation>,
    now: i64,
    policy: &Policy,
) -> Judgement {
    let unknown = Judgement {
        sighting: Sighting::Unknown,
        gone_by: None,
        last_seen: machine.last_seen,
        observed_at: machine.observed_at,
        missing: machine.missing,
    };

    // Step 1: nothing asked, or asked about something else.
    let Some(observation) = observation else {
        return unknown;
    };
    if observation.generation != machine.generation || observation.scope != machine.scope {
        return unknown;
    }

    // Step 2: stale.
    if is_stale(machine, observation.begun_at, now, policy) {
        return unknown;
    }

    // Steps 3 to 5: what was not said at all, and what was seen.
    let begun_at = observation.begun_at;
    let proof = match observation.said {
        Said::Unknown(_) => return unknown,
        Said::Present(power) => {
            let Some((sighting, seen)) = seen_as(power) else {
                return unknown;
            };
            match whose(machine, observation) {
                Whose::Nobodys => return unknown,
                Whose::Anothers => Proof::Superseded,
                Whose::Ours => {
                    return Judgement {
                        sighting,
                        gone_by: None,
                        last_seen: Some(LastSeen {
                            power: seen,
                            at: begun_at,
                        }),
                        observed_at: Some(begun_at),
                        missing: None,
                    };
                }
            }
        }
        Said::Absent(proof) => proof,
    };

    // Step 6: too weak.
    if strength(proof) < strength(policy.min_proof) {
        return unknown;
    }

    // From here on the observation is accepted.
    let missing = Judgement {
        sighting: Sighting::Missing,
        observed_at: Some(begun_at),
        ..unknown
    };
    let gone = Judgement {
        sighting: Sighting::Gone,
        gone_by: Some(proof),
        last_seen: Some(LastSeen {
            power: SeenPower::Gone,
            at: begun_at,
        }),
        ..missing
    };

    // Step 7: an operation of ours holds the row.
    let busy = machine.busy_until.is_some_and(|until| until > now);
    if busy && proof != Proof::DeleteConfirmed {
        return missing;
    }

    // Step 8: the provider itself says that it is over.
    if proof == Proof::Tombstone || proof == Proof::DeleteConfirmed {
        return gone;
    }

    // Step 9: too young to be missed.
    let threshold = if machine.last_seen.is_some() {
        policy.visibility_window_ms
    } else {
        policy.launch_deadline_ms
    };
    if wide(now) - wide(machine.created_at) < wide(threshold) {
        return missing;
    }

    // Step 10: a miss.
    let counted = count(machine, begun_at, now, policy);
    let (misses, span) = if proof == Proof::TypedNotFound || proof == Proof::Superseded {
        (policy.typed_misses, policy.typed_span_ms)
    } else {
        (policy.listed_misses, policy.listed_span_ms)
    };
    let enough = counted
        .is_some_and(|run| run.count >= misses && wide(begun_at) - wide(run.since) >= wide(span));
    Judgement {
        missing: counted,
        ..if enough { gone } else { missing }
    }
}

/// Whether a stored instant comes from a clock that ran ahead.
#[must_use]
pub fn is_void(instant: i64, now: i64, policy: &Policy) -> bool {
    wide(instant) > wide(now) + wide(policy.clock_error_ms)
}

fn is_stale(machine: &Machine, begun_at: i64, now: i64, policy: &Policy) -> bool {
    let fence = |instant: i64| !is_void(instant, now, policy) && begun_at < instant;
    if fence(machine.status_since) {
        return true;
    }
    if machine.observed_at.is_some_and(fence) {
        return true;
    }
    if wide(now) - wide(begun_at) > wide(policy.max_age_ms) {
        return true;
    }
    wide(begun_at) > wide(now) + wide(policy.clock_error_ms)
}

fn seen_as(power: Power) -> Option<(Sighting, SeenPower)> {
    match power {
        Power::Booting => Some((Sighting::Booting, SeenPower::Booting)),
        Power::Running => Some((Sighting::Running, SeenPower::Running)),
        Power::Stopping => Some((Sighting::Stopping, SeenPower::Stopping)),
        Power::Off => Some((Sighting::Stopped, SeenPower::Off)),
        Power::Suspended => Some((Sighting::Stopped, SeenPower::Suspended)),
        Power::Unrecognized => None,
    }
}

enum Whose {
    Ours,
    Nobodys,
    Anothers,
}

/// Step 4, for a machine that is present.
fn whose(machine: &Machine, observation: &Observation) -> Whose {
    let Some(found) = &observation.marker else {
        return Whose::Ours;
    };
    let Some(own) = &machine.marker else {
        return Whose::Ours;
    };
    if found == own {
        return Whose::Ours;
    }
    // A deleted mark proves nothing, another one does.
    if found.is_empty() {
        return Whose::Nobodys;
    }
    Whose::Anothers
}

fn strength(proof: Proof) -> u8 {
    match proof {
        Proof::PartialList => 1,
        Proof::StaleList => 2,
        Proof::UntypedNotFound => 3,
        Proof::CompleteList => 4,
        Proof::TypedNotFound => 5,
        Proof::Superseded => 5,
        Proof::Tombstone => 6,
        Proof::DeleteConfirmed => 7,
    }
}

/// The misses after this one.
fn count(machine: &Machine, begun_at: i64, now: i64, policy: &Policy) -> Option<Missing> {
    let observed_at = machine
        .observed_at
        .filter(|instant| !is_void(*instant, now, policy));
    let so_far = machine
        .missing
        .filter(|missing| !is_void(missing.since, now, policy));
    let anew = Missing {
        since: begun_at,
        count: 1,
    };
    let Some(observed_at) = observed_at else {
        return Some(anew);
    };
    if begun_at == observed_at {
        return so_far;
    }
    if wide(begun_at) - wide(observed_at) > wide(policy.fresh_for_ms) {
        return Some(anew);
    }
    let Some(so_far) = so_far else {
        return Some(anew);
    };
    Some(Missing {
        since: so_far.since,
        count: plus(so_far.count, 1),
    })
}
