//! What does a fuzzer call? Each target takes any bytes and panics where a promise is broken.
//!
//! The binaries under `fuzz_targets/` hand them to libFuzzer; a sweep over a corpus and random
//! mutations of it calls the same functions on stable Rust.

use lifecycle_adapters::wire;
use lifecycle_core::{
    ActualPower, Cause, Compute, ComputeLost, DecisionKind, Delivery, Desired, Effect, EffectClass,
    Force, Ground, LateArrival, Law, Lint, Orphan, Phase, Power, Proof, Quarantine, Refusal,
    Request, RevokeOnComputeLost, Rule, SeenPower, Sighting, Source, Status, UnknownWord, Volume,
    VolumeAfterQuarantine,
};
use serde_json::{Value, json};

use crate::{compare, reference::line::sound_policy};

/// Answers any bytes as one line: no panic, the same as the reference, an answer that can be read
/// back in.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn decide_line(bytes: &[u8]) {
    let answer = wire::decide_bytes(bytes, 7);
    if let Ok(text) = core::str::from_utf8(bytes)
        && let Some(difference) = compare::difference(text)
    {
        panic!("{difference}");
    }
    match answer {
        None => assert!(core::str::from_utf8(bytes).is_ok_and(|text| text.trim().is_empty())),
        Some(Err(error)) => {
            assert_eq!(error["line"], 7);
            assert!(error["error"].as_str().is_some_and(|text| !text.is_empty()));
        }
        Some(Ok(answer)) => {
            let next = json!({"machine": answer["machine"], "now": i64::MAX});
            let again = wire::decide_line(&next.to_string(), 8);
            assert!(matches!(again, Some(Ok(_))), "{answer} leads to {again:?}");
        }
    }
}

/// Reads any bytes as a policy: no panic, accepted exactly where the reference accepts it, and an
/// accepted one has the reference's choices.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn policy(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let modelled = sound_policy(Some(&value).filter(|value| !value.is_null()));
    match (wire::policy(value.clone()), modelled) {
        (Err(wrong), Err(_)) => assert!(!wrong.to_string().is_empty()),
        (Ok(policy), Ok(modelled)) => {
            let choices = policy.choices();
            assert_eq!(
                [
                    choices.compute_lost.word(),
                    choices.volume_after_quarantine.word(),
                    choices.late_arrival.word(),
                    choices.orphan.word(),
                    choices.revoke_on_compute_lost.word(),
                ],
                modelled.choices.words(),
                "{value}"
            );
            assert!(policy.lints().iter().all(|lint| !lint.is_unsound()));
        }
        (answered, modelled) => panic!("{value}\n{answered:?}\n{modelled:?}"),
    }
}

/// Reads any bytes as numbers and as a word of every enum: what is read writes the same again.
///
/// # Panics
///
/// Panics where it does not.
pub fn tags(bytes: &[u8]) {
    let text = core::str::from_utf8(bytes).ok();
    macro_rules! round_trip {
        ($($name:ident),+) => {$(
            for byte in bytes {
                if let Some(member) = $name::from_tag(*byte) {
                    assert_eq!(member.tag(), *byte);
                    assert_eq!(member.word().parse(), Ok(member));
                    assert!($name::ALL.contains(&member));
                } else {
                    assert!(*byte == 0 || usize::from(*byte) > $name::ALL.len());
                }
            }
            if let Some(text) = text {
                match text.parse::<$name>() {
                    Ok(member) => {
                        assert_eq!(member.word(), text);
                        assert_eq!($name::from_tag(member.tag()), Some(member));
                    }
                    Err(UnknownWord { expected, words }) => {
                        assert!(!expected.is_empty() && !words.contains(&text));
                    }
                }
            }
        )+};
    }
    round_trip!(
        ActualPower,
        Cause,
        Compute,
        ComputeLost,
        DecisionKind,
        Delivery,
        Desired,
        Effect,
        EffectClass,
        Force,
        Ground,
        LateArrival,
        Law,
        Lint,
        Orphan,
        Phase,
        Power,
        Proof,
        Quarantine,
        Refusal,
        Request,
        RevokeOnComputeLost,
        Rule,
        SeenPower,
        Sighting,
        Source,
        Status,
        Volume,
        VolumeAfterQuarantine
    );
}
