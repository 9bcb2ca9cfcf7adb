//! Does a whole decision keep the laws that no single look-up can break?

use lifecycle_core::{
    Answer, Asked, Cause, Decision, DecisionKind, Effect, Force, Judgement, Machine, Observation,
    Observed, Quarantine, Sighting, Source, Status, Timestamp, conclude, decide, judge, strategies,
};
use proptest::prelude::*;

use crate::inputs::policy;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_every_time_saturates(case in strategies::case(), policy in policy()) {
        let decision =
            decide(&case.machine, case.observation.as_ref(), case.asked, case.now, &policy);
        prop_assert!(!decision.why().to_string().is_empty());
        let Machine { holds, quarantines, missing, .. } = decision.next;
        for (next, before) in [
            (holds, case.machine.holds),
            (quarantines, case.machine.quarantines),
            (missing.map_or(0, |missing| missing.count), 0),
        ] {
            prop_assert!(next == before || next <= i64::MAX.unsigned_abs() || next == u64::MAX);
        }
        if let Some(stamp) = decision.next.quarantine
            && decision.before.quarantine.is_none()
        {
            prop_assert_eq!(stamp.since, case.now);
            prop_assert!(stamp.destroy_at > case.now || case.now == Timestamp::MAX);
            prop_assert_eq!(stamp.id, quarantines);
        }
    }

    /// Law 5.
    #[test]
    fn the_source_never_changes_the_answer(case in strategies::case(), policy in policy()) {
        let from = |source| {
            let seen = case.observation.map(|seen| Observation { source, ..seen });
            let decision = decide(&case.machine, seen.as_ref(), case.asked, case.now, &policy);
            (
                (decision.judgement, decision.cell, decision.transition, decision.next),
                (decision.look_again_at, decision.refused, decision.why().to_string()),
            )
        };
        for source in Source::ALL {
            prop_assert_eq!(from(*source), from(Source::Sweep));
        }
    }

    /// Law 6.
    #[test]
    fn asking_again_is_idle(case in strategies::case(), policy in policy()) {
        let asked = Asked { force: Force::None, ..case.asked };
        let first = decide(&case.machine, case.observation.as_ref(), asked, case.now, &policy);
        let again = asked_again(&first);
        let retires = first.cell.quarantine == Quarantine::Clear
            && again.cell.quarantine != Quarantine::Clear
            && again.before.status == Status::Paused;
        if !retires {
            prop_assert_eq!(again.next.status, first.next.status);
            for effect in again.transition.effects.iter() {
                let is_once = effect.word().starts_with("record_")
                    || matches!(effect, Effect::HoldCompute | Effect::ReleaseCompute);
                prop_assert!(!is_once || effect == Effect::RecordOrphan, "{} again", effect);
            }
            // A third time nothing is left to do, not even to facts.
            let third = asked_again(&again);
            prop_assert_eq!(third.next, again.next);
        }
    }

    #[test]
    fn an_answer_that_could_not_be_had_is_worth_as_much_as_no_question(
        case in strategies::case(), cause in any::<Cause>(), policy in policy(),
    ) {
        let silent = Observation::of(
            &case.machine, Answer::Unknown(cause), case.now, Source::Sweep,
        );
        let silence = decide(&case.machine, Some(&silent), case.asked, case.now, &policy);
        let nothing = decide(&case.machine, None, case.asked, case.now, &policy);
        prop_assert_eq!(silence.judgement.sighting, Sighting::Unknown);
        prop_assert_eq!(silence.transition, nothing.transition);
        prop_assert_eq!(silence.next, nothing.next);
        prop_assert_eq!(silence.look_again_at, nothing.look_again_at);
    }

    /// Law 3, to the last fact.
    #[test]
    fn what_is_not_known_changes_no_fact_of_a_row_that_is_left_alone(
        case in strategies::case(), policy in policy(),
    ) {
        let judged = judge(&case.machine, case.observation.as_ref(), case.now, &policy);
        if judged.sighting == Sighting::Unknown {
            let decision = conclude(&case.machine, judged, Asked::NOTHING, case.now, &policy);
            if decision.cell.quarantine == Quarantine::Clear
                && (case.machine.status.is_active() || case.machine.status == Status::Destroyed)
            {
                prop_assert!(decision.transition.effects.is_empty());
                let expected = Machine {
                    compute_lost_at: decision.next.compute_lost_at,
                    ..case.machine
                };
                // A lost stamp of lost compute is the one fact that is mended without evidence.
                prop_assert_eq!(decision.next, expected);
            }
        }
    }

    #[test]
    fn the_kind_of_a_decision_says_how_much_it_changes(
        case in strategies::case(), policy in policy(),
    ) {
        let decision =
            decide(&case.machine, case.observation.as_ref(), case.asked, case.now, &policy);
        match decision.kind() {
            DecisionKind::Nothing => {
                prop_assert_eq!(decision.next, case.machine);
                prop_assert!(decision.transition.effects.is_empty());
            }
            DecisionKind::Observed => {
                prop_assert_ne!(decision.next, case.machine);
                prop_assert_eq!(decision.next.status, case.machine.status);
                prop_assert!(decision.transition.effects.is_empty());
            }
            DecisionKind::Transition => prop_assert!(
                decision.next != case.machine || !decision.transition.effects.is_empty()
            ),
        }
    }

    #[test]
    fn a_decision_leaves_to_the_caller_what_is_the_callers(
        case in strategies::case(), policy in policy(),
    ) {
        let next = decide(
            &case.machine, case.observation.as_ref(), case.asked, case.now, &policy,
        ).next;
        let before = case.machine;
        prop_assert_eq!(next.volume, before.volume);
        prop_assert_eq!(next.desired, before.desired);
        prop_assert_eq!(next.generation, before.generation);
        prop_assert_eq!((next.scope, next.marker), (before.scope, before.marker));
        prop_assert_eq!((next.created_at, next.busy_until), (before.created_at, before.busy_until));
    }
}

/// Concludes from the next facts and the same sighting, with nothing asked for.
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
