//! Do whole lives of machines go as the reference says, and keep the laws on the way?
//!
//! `LIFECYCLE_FUZZ_HISTORIES` says how many; 2,000 of 20 steps each where it is not set.

use std::{collections::BTreeMap, env};

use lifecycle_adapters::wire::{Input, decide_line};
use lifecycle_core::{
    Asked, Decision, Effect, Effects, Force, Judgement, Observed, Quarantine, Rule, Status,
    conclude,
};
use lifecycle_fuzz::{compare::difference, generate::History};

#[test]
fn histories_go_as_the_reference_says_and_keep_the_laws() {
    let mut reached: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..histories() {
        let (mut history, mut input) = History::begin(seed);
        for step in 0..20 {
            let at = format!("history {seed}, step {step}");
            let text = input.to_string();
            if let Some(difference) = difference(&text) {
                panic!("{at}\n{difference}");
            }
            let read = Input::read(input).unwrap_or_else(|wrong| panic!("{at}: {wrong}\n{text}"));
            let decision = read.decide();
            keeps_the_laws(&decision, &format!("{at}\n{text}"));
            *reached.entry(decision.transition.rule.word()).or_default() += 1;
            let answer = decide_line(&text, 1)
                .and_then(Result::ok)
                .unwrap_or_default();
            assert!(answer["machine"].is_object(), "{at}\n{text}");
            input = history.next(&answer["machine"]);
        }
    }
    assert_eq!(reached.len(), Rule::ALL.len(), "{reached:?}");
}

fn keeps_the_laws(decision: &Decision<'_>, at: &str) {
    let Decision {
        before,
        next,
        transition,
        look_again_at,
        now,
        ..
    } = *decision;
    // Law 1.
    if before.status == Status::Destroyed {
        assert_eq!(next.status, Status::Destroyed, "destroyed was left: {at}");
    }
    // Law 9, the part of one decision.
    match look_again_at {
        Some(look_at) => assert!(look_at >= now, "looks back: {at}"),
        None => assert_eq!(
            next.status,
            Status::Destroyed,
            "never looked at again: {at}"
        ),
    }
    // Law 6.
    if decision.cell.force == Force::None {
        let again = asked_again(decision);
        let retires = decision.cell.quarantine == Quarantine::Clear
            && again.cell.quarantine != Quarantine::Clear
            && again.before.status == Status::Paused;
        if !retires {
            assert_eq!(
                again.transition.to, transition.to,
                "asking again moves on, by {}: {at}",
                again.transition.rule
            );
            assert!(
                !again.transition.effects.intersects(once()),
                "asking again brings {}: {at}",
                again.transition.effects
            );
        }
    }
}

/// Concludes from the next facts and the same sighting, with nothing asked for, at the same time.
fn asked_again<'a>(decision: &Decision<'a>) -> Decision<'a> {
    let next = &decision.next;
    let again = Judgement {
        observed: Observed {
            last_seen: next.last_seen,
            observed_at: next.observed_at,
            missing: next.missing,
        },
        ..decision.judgement
    };
    conclude(next, again, Asked::NOTHING, decision.now, &decision.policy)
}

/// What asking again must not bring; orphans may be seen again.
fn once() -> Effects {
    Effect::ALL
        .iter()
        .copied()
        .filter(|effect| {
            let word = effect.word();
            (word.starts_with("record_") && *effect != Effect::RecordOrphan)
                || word == "hold_compute"
                || word == "release_compute"
        })
        .collect()
}

fn histories() -> u64 {
    env::var("LIFECYCLE_FUZZ_HISTORIES").map_or(2_000, |count| {
        count.parse().expect("LIFECYCLE_FUZZ_HISTORIES is a number")
    })
}
