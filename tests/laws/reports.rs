//! Is a report whole, and does it never show a wish as a fact? Law 10.

use lifecycle_core::{
    ActualPower, Desired, Effect, Effects, LastSeen, Machine, Report, SeenPower, Status, strategies,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::inputs::policy;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_report_has_no_blank(
        case in strategies::case(), policy in policy(), owed in effects(),
    ) {
        let report = Report::of(&case.machine, case.now, &policy, owed);
        let written = serde_json::to_value(report).expect("a report is JSON");
        for field in ["phase", "desired", "actual", "detail"] {
            prop_assert!(written[field].as_str().is_some_and(|text| !text.trim().is_empty()));
        }
        prop_assert_eq!(report.as_of.is_none(), case.machine.last_seen.is_none());
        prop_assert_eq!(written["as_of"] == Value::Null, case.machine.last_seen.is_none());
        prop_assert_eq!(report.destroy_at.is_none(), case.machine.quarantine.is_none());
        let detail = report.detail.to_string();
        prop_assert!(!detail.contains("  ") && !detail.ends_with([' ', ';', ':']), "{}", detail);
        for effect in Effect::ALL {
            let is_pending = detail.split_once("cleanup pending: ")
                .is_some_and(|(_, list)| list.split(", ").any(|word| word == effect.word()));
            prop_assert_eq!(is_pending, owed.contains(*effect));
        }
    }

    #[test]
    fn what_is_desired_never_shows_as_what_is(
        case in strategies::case(), policy in policy(), owed in effects(),
    ) {
        let wishing = |desired| {
            let machine = Machine { desired, ..case.machine };
            Report::of(&machine, case.now, &policy, owed)
        };
        let (on, off) = (wishing(Desired::On), wishing(Desired::Off));
        prop_assert_eq!(Report { desired: Desired::Off, ..on }, off);
        let is_ending = matches!(
            case.machine.status,
            Status::Quarantined | Status::Destroying | Status::Destroyed
        );
        prop_assert_eq!(on.desired == Desired::Off, is_ending);
    }

    #[test]
    fn the_actual_power_is_the_one_last_seen_while_that_is_fresh(
        case in strategies::case(), policy in policy(),
    ) {
        let report = Report::of(&case.machine, case.now, &policy, Effects::NONE);
        let detail = report.detail.to_string();
        match case.machine.last_seen {
            None => {
                prop_assert_eq!(report.actual, ActualPower::Unknown);
                prop_assert!(detail.contains("never seen"));
            }
            Some(LastSeen { power, at }) => {
                let is_fresh = policy.is_fresh(at, case.now);
                let shown = if is_fresh { power.word() } else { "unknown" };
                prop_assert_eq!(report.actual.word(), shown);
                prop_assert_eq!(report.as_of, Some(at));
                // Also where it is unknown, the sentence says what was last seen, and when.
                let seen = format!("seen {power} at {at}");
                prop_assert!(detail.contains(&seen));
            }
        }
    }
}

#[test]
fn every_seen_power_has_its_actual_power() {
    let seen: Vec<_> = SeenPower::WORDS.to_vec();
    let actual: Vec<_> = ActualPower::WORDS
        .iter()
        .copied()
        .filter(|word| *word != "unknown")
        .collect();
    assert_eq!(seen, actual);
}

fn effects() -> impl Strategy<Value = Effects> {
    proptest::collection::vec(any::<Effect>(), 0..4).prop_map(Effects::from_iter)
}
