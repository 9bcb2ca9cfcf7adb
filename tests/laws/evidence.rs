//! Does better evidence never count for less?

use lifecycle_core::{
    Answer, Ground, Misses, Observation, Policy, Proof, SeenMarker, Sighting, Source, Thresholds,
    judge, strategies,
};
use proptest::prelude::*;

use crate::inputs::policy;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stronger_proof_of_absence_never_leads_to_a_weaker_sighting(
        case in strategies::case(), policy in policy(),
        begun_at in prop_oneof![Just(strategies::NOW), strategies::timestamp()],
    ) {
        let set = policy.thresholds();
        // A policy may want more of typed proof than of listings; here it does not.
        let listed = Misses {
            count: set.typed.count.max(set.listed.count),
            span: set.typed.span.max(set.listed.span),
        };
        let policy = Policy::new(policy.table(), Thresholds { listed, ..*set }).expect("sound");
        let worth = |proof| {
            let absent =
                Observation::of(&case.machine, Answer::Absent(proof), begun_at, Source::Sweep);
            rank(judge(&case.machine, Some(&absent), case.now, &policy).sighting)
        };
        for weaker in Proof::ALL {
            for stronger in Proof::ALL.iter().filter(|proof| proof.strength() >= weaker.strength()) {
                prop_assert!(worth(*weaker) <= worth(*stronger), "{} {}", weaker, stronger);
            }
        }
    }

    #[test]
    fn an_absence_is_at_most_missing_or_gone_and_a_presence_never(
        case in strategies::case(), policy in policy(),
    ) {
        let judged = judge(&case.machine, case.observation.as_ref(), case.now, &policy);
        let is_possible = match judged.answer {
            None | Some(Answer::Unknown(_)) => judged.sighting == Sighting::Unknown,
            Some(Answer::Absent(_)) => rank(judged.sighting) <= 2,
            Some(Answer::Present(_)) => {
                !matches!(judged.sighting, Sighting::Missing | Sighting::Gone)
            }
        };
        prop_assert!(is_possible, "{:?}", judged);
    }

    #[test]
    fn another_machines_marker_is_worth_a_typed_absence(
        case in strategies::case(), policy in policy(), begun_at in strategies::timestamp(),
    ) {
        let seen = |answer, marker| {
            let machine = lifecycle_core::Machine { marker: Some("ours"), ..case.machine };
            let seen = Observation {
                marker,
                ..Observation::of(&machine, answer, begun_at, Source::Access)
            };
            judge(&machine, Some(&seen), case.now, &policy)
        };
        let running = Answer::Present(lifecycle_core::Power::Running);
        let theirs = seen(running, SeenMarker::Is("theirs"));
        let superseded = seen(Answer::Absent(Proof::Superseded), SeenMarker::NotRead);
        prop_assert_eq!(theirs.sighting, superseded.sighting);
        prop_assert_eq!(theirs.observed, superseded.observed);
        let blank = seen(running, SeenMarker::Blank);
        prop_assert_eq!(blank.sighting, Sighting::Unknown);
        prop_assert_eq!(seen(running, SeenMarker::Is("")), blank);
    }

    #[test]
    fn evidence_about_another_incarnation_or_place_is_none(
        case in strategies::case(), policy in policy(), seen in strategies::observation(),
    ) {
        let is_about_it =
            seen.generation == case.machine.generation && seen.scope == case.machine.scope;
        let judged = judge(&case.machine, Some(&seen), case.now, &policy);
        if !is_about_it {
            prop_assert_eq!(judged.sighting, Sighting::Unknown);
            prop_assert!(matches!(judged.ground, Ground::OtherGeneration | Ground::OtherScope));
        }
    }
}

#[test]
fn the_order_of_proofs_is_the_one_of_the_words_and_superseded_equals_typed() {
    for pair in Proof::ALL.windows(2) {
        let [weaker, stronger] = pair else { continue };
        let is_equal = *stronger == Proof::Superseded;
        assert_eq!(weaker.strength() == stronger.strength(), is_equal);
        assert!(weaker.strength() <= stronger.strength());
    }
}

/// Of what can be said about an absence: nothing, something, everything.
const fn rank(sighting: Sighting) -> u8 {
    match sighting {
        Sighting::Unknown => 0,
        Sighting::Missing => 1,
        Sighting::Gone => 2,
        Sighting::Booting | Sighting::Running | Sighting::Stopping | Sighting::Stopped => 3,
    }
}
