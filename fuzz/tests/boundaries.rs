//! Do both judge alike where two times meet, the ends of time included?
//!
//! Every pair of the times that one judgement looks at is put one threshold apart, and a
//! millisecond to either side of that.

use core::time::Duration;

use lifecycle_core::{
    Answer, Asked, LastSeen, Machine, Missing, Observation, Policy, Power, Proof, QuarantineStamp,
    SeenPower, Source, Status, Timestamp, decide, judge,
};
use lifecycle_fuzz::reference::{
    conclude, facts,
    judge::{self as modelled, Judgement},
    policy,
    words::{Compute, Desired, Force, Volume, Word},
};

/// Every time that a judgement looks at, in milliseconds; none where nothing is stored.
#[derive(Clone, Copy, Debug)]
struct Times {
    now: i64,
    begun_at: i64,
    created_at: i64,
    status_since: i64,
    seen_at: Option<i64>,
    observed_at: Option<i64>,
    missing_since: Option<i64>,
    busy_until: Option<i64>,
    destroy_at: Option<i64>,
}

impl Times {
    /// A machine that has been missing for a while.
    const USUAL: Self = Self {
        now: NOW,
        begun_at: NOW,
        created_at: NOW - 100_000_000,
        status_since: NOW - 90_000_000,
        seen_at: Some(NOW - 400_000),
        observed_at: Some(NOW - 90_000),
        missing_since: Some(NOW - 90_000),
        busy_until: None,
        destroy_at: None,
    };

    fn set(mut self, place: usize, time: i64) -> Self {
        match place {
            0 => self.now = time,
            1 => self.begun_at = time,
            2 => self.created_at = time,
            3 => self.status_since = time,
            4 => self.seen_at = Some(time),
            5 => self.observed_at = Some(time),
            6 => self.missing_since = Some(time),
            7 => self.busy_until = Some(time),
            _ => self.destroy_at = Some(time),
        }
        self
    }
}

#[test]
fn both_judge_alike_at_every_boundary_of_two_times() {
    let (policy, modelled) = (Policy::CAUTIOUS, policy::Policy::cautious());
    let mut compared = 0;
    for place in 0..PLACES {
        for base in BASES {
            for other in 0..PLACES {
                for distance in distances() {
                    let times = Times::USUAL
                        .set(place, base)
                        .set(other, base.saturating_add(distance));
                    check(times, &policy, &modelled);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn both_judge_alike_when_every_time_is_at_an_end_of_time() {
    let (policy, modelled) = (Policy::CAUTIOUS, policy::Policy::cautious());
    for set in 0..1_usize << PLACES {
        let times = (0..PLACES).fold(Times::USUAL, |times, place| {
            let time = if set & 1 << place == 0 {
                i64::MIN
            } else {
                i64::MAX
            };
            times.set(place, time)
        });
        check(times, &policy, &modelled);
    }
}

fn check(times: Times, policy: &Policy<'_>, modelled_policy: &policy::Policy) {
    let now = Timestamp::from_millis(times.now);
    let begun_at = Timestamp::from_millis(times.begun_at);
    let machine = machine(times);
    let modelled_machine = modelled_machine(times);
    for answer in ANSWERS {
        let seen = Observation::of(&machine, answer, begun_at, Source::Sweep);
        let modelled_seen = modelled_observation(answer, times.begun_at);
        let own = judge(&machine, Some(&seen), now, policy);
        let expected = modelled::judge(
            &modelled_machine,
            Some(&modelled_seen),
            times.now,
            modelled_policy,
        );
        let found = Judgement {
            sighting: word(own.sighting.word()),
            last_seen: own.observed.last_seen.map(|seen| facts::LastSeen {
                power: word(seen.power.word()),
                at: seen.at.as_millis(),
            }),
            observed_at: own.observed.observed_at.map(Timestamp::as_millis),
            missing: own.observed.missing.map(|missing| facts::Missing {
                since: missing.since.as_millis(),
                count: missing.count.try_into().expect("a small count"),
            }),
            ..expected
        };
        assert_eq!(found, expected, "{answer:?} {times:?}");

        let decision = decide(&machine, Some(&seen), Asked::NOTHING, now, policy);
        let asked = facts::Asked {
            request: None,
            force: Force::None,
        };
        let concluded = conclude::conclude(
            &modelled_machine,
            &expected,
            asked,
            times.now,
            modelled_policy,
        );
        assert_eq!(
            decision.transition.rule.word(),
            concluded.answer.rule,
            "{answer:?} {times:?}"
        );
        assert_eq!(
            decision.look_again_at.map(Timestamp::as_millis),
            concluded.look_again_at,
            "{answer:?} {times:?}"
        );
    }
}

fn machine(times: Times) -> Machine<'static> {
    let at = Timestamp::from_millis;
    Machine {
        status: status(times),
        created_at: at(times.created_at),
        status_since: at(times.status_since),
        last_seen: times.seen_at.map(|seen_at| LastSeen {
            power: SeenPower::Running,
            at: at(seen_at),
        }),
        observed_at: times.observed_at.map(at),
        missing: times.missing_since.map(|since| Missing {
            since: at(since),
            count: 1,
        }),
        busy_until: times.busy_until.map(at),
        quarantine: times.destroy_at.map(|destroy_at| QuarantineStamp {
            id: 1,
            since: at(0),
            destroy_at: at(destroy_at),
        }),
        ..Machine::new("default", None, at(times.now))
    }
}

fn modelled_machine(times: Times) -> facts::Machine {
    facts::Machine {
        status: word(status(times).word()),
        volume: Volume::None,
        compute: Compute::Held,
        desired: Desired::On,
        generation: 1,
        scope: "default".to_owned(),
        marker: None,
        created_at: times.created_at,
        status_since: times.status_since,
        last_seen: times.seen_at.map(|at| facts::LastSeen {
            power: word("running"),
            at,
        }),
        observed_at: times.observed_at,
        missing: times
            .missing_since
            .map(|since| facts::Missing { since, count: 1 }),
        quarantine: times.destroy_at.map(|destroy_at| facts::Quarantine {
            id: 1,
            since: 0,
            destroy_at,
        }),
        quarantines: 0,
        compute_lost_at: None,
        busy_until: times.busy_until,
        holds: 1,
    }
}

const fn status(times: Times) -> Status {
    if times.destroy_at.is_some() {
        Status::Quarantined
    } else {
        Status::Running
    }
}

fn modelled_observation(answer: Answer, begun_at: i64) -> facts::Observation {
    facts::Observation {
        said: match answer {
            Answer::Present(power) => facts::Said::Present(word(power.word())),
            Answer::Absent(proof) => facts::Said::Absent(word(proof.word())),
            Answer::Unknown(cause) => facts::Said::Unknown(word(cause.word())),
        },
        begun_at,
        generation: 1,
        scope: "default".to_owned(),
        marker: None,
        source: word("sweep"),
    }
}

fn word<W: Word>(text: &str) -> W {
    W::parse(text).unwrap_or_else(|| panic!("the reference does not know {text}"))
}

/// Every threshold of the policy, both ways, and a millisecond beside it; and the ends of time.
fn distances() -> Vec<i64> {
    let set = *Policy::CAUTIOUS.thresholds();
    let thresholds = [
        Duration::ZERO,
        set.typed.span,
        set.listed.span,
        set.visibility_window,
        set.launch_deadline,
        set.max_age,
        set.fresh_for,
        set.clock_error,
        set.grace,
        set.recheck,
        set.orphan_watch,
    ];
    let mut distances = vec![i64::MIN, i64::MAX];
    for threshold in thresholds {
        let millis = i64::try_from(threshold.as_millis()).expect("a short time");
        for beside in [millis - 1, millis, millis + 1] {
            distances.extend([beside, -beside]);
        }
    }
    distances
}

const NOW: i64 = 1_000_000_000_000;

const PLACES: usize = 9;

const BASES: [i64; 5] = [NOW, 0, i64::MIN, i64::MAX, NOW - 100_000_000];

const ANSWERS: [Answer; 5] = [
    Answer::Present(Power::Running),
    Answer::Absent(Proof::CompleteList),
    Answer::Absent(Proof::TypedNotFound),
    Answer::Absent(Proof::Tombstone),
    Answer::Absent(Proof::DeleteConfirmed),
];
