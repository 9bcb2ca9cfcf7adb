//! Which inputs should a property test of a policy draw? Strategies for every input type.
//!
//! Instants cluster around one `now` and around each other, since that is where decisions turn.
//!
//! ```
//! use lifecycle_core::{Asked, Policy, decide, strategies};
//! use proptest::prelude::*;
//!
//! proptest!(|(case in strategies::case())| {
//!     let decision = decide(&case.machine, case.observation.as_ref(), case.asked, case.now, &Policy::CAUTIOUS);
//!     prop_assert!(decision.look_again_at.is_none_or(|at| at >= case.now));
//! });
//! ```

use core::time::Duration;

use proptest::{option, prelude::*, sample::select};

use crate::{
    Answer, Asked, Cause, Cell, Choices, Compute, Desired, Force, LastSeen, Machine, Misses,
    Missing, Observation, Power, Proof, Quarantine, QuarantineStamp, Request, SeenMarker,
    SeenPower, Sighting, Source, Status, Thresholds, Timestamp, Volume,
};

/// The instant that the others cluster around.
pub const NOW: Timestamp = Timestamp::from_millis(1_000_000_000_000);

/// One input of [`decide`](crate::decide), the policy aside.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The stored facts.
    pub machine: Machine<'static>,
    /// What was seen.
    pub observation: Option<Observation<'static>>,
    /// What was asked.
    pub asked: Asked,
    /// The time.
    pub now: Timestamp,
}

/// Draws a cell of the table.
pub fn cell() -> impl Strategy<Value = Cell> {
    (
        any::<Status>(),
        any::<Sighting>(),
        any::<Volume>(),
        any::<Quarantine>(),
        any::<Compute>(),
        any::<Force>(),
    )
        .prop_map(
            |(status, sighting, volume, quarantine, compute, force)| Cell {
                status,
                sighting,
                volume,
                quarantine,
                compute,
                force,
            },
        )
}

/// Draws a set of choices.
pub fn choices() -> impl Strategy<Value = Choices> {
    (0..Choices::COUNT).prop_map(|set| Choices::all().nth(set).unwrap_or_default())
}

/// Draws thresholds, unsound ones among them: [`Policy::new`](crate::Policy::new) tells.
pub fn thresholds() -> impl Strategy<Value = Thresholds> {
    let misses = || (0..4u64, duration()).prop_map(|(count, span)| Misses { count, span });
    (
        (
            any::<Proof>(),
            misses(),
            misses(),
            duration(),
            duration(),
            duration(),
            duration(),
        ),
        (
            duration(),
            duration(),
            option::of(duration()),
            duration(),
            duration(),
            duration(),
            duration(),
        ),
    )
        .prop_map(
            |(
                (min_proof, typed, listed, visibility_window, launch_deadline, max_age, fresh_for),
                (
                    clock_error,
                    grace,
                    retire_compute_lost_after,
                    retirement_grace,
                    orphan_watch,
                    recheck,
                    sweep_every,
                ),
            )| Thresholds {
                min_proof,
                typed,
                listed,
                visibility_window,
                launch_deadline,
                max_age,
                fresh_for,
                clock_error,
                grace,
                retire_compute_lost_after,
                retirement_grace,
                orphan_watch,
                recheck,
                sweep_every,
            },
        )
}

/// Draws a length of time of the kinds that policies have, both ends included.
pub fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        8 => select(&[0, 1, 1_000, 1_999, 2_000, 2_001, 30_000, 60_000, 300_000, 600_000, 1_800_000, 86_400_000][..])
            .prop_map(Duration::from_millis),
        1 => any::<u64>().prop_map(Duration::from_millis),
        1 => Just(Duration::MAX),
    ]
}

/// Draws an instant, mostly near [`NOW`].
pub fn timestamp() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        12 => select(&[0, 1, 1_000, 2_000, 2_001, 30_000, 60_000, 300_000, 300_001, 600_000, 1_800_000, 90_000_000][..])
            .prop_map(|before| Timestamp::from_millis(NOW.as_millis() - before)),
        3 => select(&[1i64, 1_000, 2_000, 2_001, 60_000][..])
            .prop_map(|after| Timestamp::from_millis(NOW.as_millis() + after)),
        1 => any::<i64>().prop_map(Timestamp::from_millis),
        1 => select(&[i64::MIN, 0, i64::MAX][..]).prop_map(Timestamp::from_millis),
    ]
}

/// Draws an answer of a provider.
pub fn provider_answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        any::<Power>().prop_map(Answer::Present),
        any::<Proof>().prop_map(Answer::Absent),
        any::<Cause>().prop_map(Answer::Unknown),
    ]
}

/// Draws the stored facts of a machine, inconsistent ones among them.
pub fn machine() -> impl Strategy<Value = Machine<'static>> {
    let last_seen =
        (any::<SeenPower>(), timestamp()).prop_map(|(power, at)| LastSeen { power, at });
    let missing = (timestamp(), count()).prop_map(|(since, count)| Missing { since, count });
    let quarantine =
        (count(), timestamp(), timestamp()).prop_map(|(id, since, destroy_at)| QuarantineStamp {
            id,
            since,
            destroy_at,
        });
    (
        (
            any::<Status>(),
            any::<Volume>(),
            any::<Compute>(),
            any::<Desired>(),
            1..3u64,
            scope(),
        ),
        (
            option::of(select(&["a", "b", ""][..])),
            timestamp(),
            timestamp(),
            option::of(last_seen),
        ),
        (
            option::of(timestamp()),
            option::of(missing),
            option::of(quarantine),
            count(),
        ),
        (option::of(timestamp()), option::of(timestamp()), count()),
    )
        .prop_map(
            |(
                (status, volume, compute, desired, generation, scope),
                (marker, created_at, status_since, last_seen),
                (observed_at, missing, quarantine, quarantines),
                (compute_lost_at, busy_until, holds),
            )| Machine {
                status,
                volume,
                compute,
                desired,
                generation,
                scope,
                marker,
                created_at,
                status_since,
                last_seen,
                observed_at,
                missing,
                quarantine,
                quarantines,
                compute_lost_at,
                busy_until,
                holds,
            },
        )
}

/// Draws an observation, mostly of the machines that [`machine`] draws.
pub fn observation() -> impl Strategy<Value = Observation<'static>> {
    let marker = prop_oneof![
        Just(SeenMarker::NotRead),
        Just(SeenMarker::Blank),
        select(&["a", "b", ""][..]).prop_map(SeenMarker::Is),
    ];
    (
        provider_answer(),
        1..3u64,
        scope(),
        marker,
        timestamp(),
        any::<Source>(),
    )
        .prop_map(
            |(answer, generation, scope, marker, begun_at, source)| Observation {
                answer,
                generation,
                scope,
                marker,
                begun_at,
                source,
            },
        )
}

/// Draws what a caller asks for.
pub fn asked() -> impl Strategy<Value = Asked> {
    (
        option::of(any::<Request>()),
        prop_oneof![4 => Just(Force::None), 1 => Just(Force::Destroyed)],
    )
        .prop_map(|(request, force)| Asked { request, force })
}

/// Draws a whole input; half of the observations are about this very machine.
pub fn case() -> impl Strategy<Value = Case> {
    let now = prop_oneof![9 => Just(NOW), 1 => timestamp()];
    (
        machine(),
        option::of(observation()),
        any::<bool>(),
        asked(),
        now,
    )
        .prop_map(|(machine, observation, is_about_it, asked, now)| Case {
            machine,
            observation: observation.map(|seen| {
                if is_about_it {
                    Observation {
                        generation: machine.generation,
                        scope: machine.scope,
                        ..seen
                    }
                } else {
                    seen
                }
            }),
            asked,
            now,
        })
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 0..4u64, 1 => Just(u64::MAX)]
}

fn scope() -> impl Strategy<Value = &'static str> {
    prop_oneof![9 => Just("account-1/eu"), 1 => Just("account-2/eu")]
}
