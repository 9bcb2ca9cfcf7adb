//! Is every row looked at again until it has ended, and does it end? Law 9.

use core::time::Duration;

use lifecycle_core::{
    Answer, Asked, Effect, Ground, Machine, Observation, Policy, Proof, QuarantineStamp, Source,
    Status, Timestamp, Volume, decide, strategies,
};
use proptest::prelude::*;

use crate::inputs::{of_our_time, policy};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_row_that_may_change_has_a_next_look_and_never_in_the_past(
        case in strategies::case(), policy in policy(),
    ) {
        let decision =
            decide(&case.machine, case.observation.as_ref(), case.asked, case.now, &policy);
        let is_over = decision.next.status == Status::Destroyed
            && (decision.judgement.ground == Ground::FinalProof
                || case.now.millis_since(decision.next.status_since)
                    >= millis(policy.thresholds().orphan_watch));
        prop_assert_eq!(decision.look_again_at.is_none(), is_over);
        if let Some(look_at) = decision.look_again_at {
            prop_assert!(look_at >= case.now);
            let longest = policy.thresholds().sweep_every.max(policy.thresholds().recheck);
            prop_assert!(look_at <= case.now.saturating_add(longest));
        }
    }

    #[test]
    fn a_quarantined_row_is_looked_at_when_its_grace_is_over(
        case in strategies::case(), policy in policy(),
    ) {
        let decision =
            decide(&case.machine, case.observation.as_ref(), case.asked, case.now, &policy);
        if let (Status::Quarantined, Some(stamp), Some(look_at)) =
            (decision.next.status, decision.next.quarantine, decision.look_again_at)
        {
            let over_at = stamp.destroy_at.saturating_add(policy.thresholds().clock_error);
            prop_assert!(look_at <= over_at.max(case.now));
            prop_assert!(over_at == Timestamp::MAX || policy.has_passed(stamp.destroy_at, over_at));
        }
    }

    #[test]
    fn a_row_that_is_being_deleted_ends_by_sightings_time_and_its_volume(
        machine in strategies::machine(), policy in policy(), is_destroying in any::<bool>(),
        is_stamped in any::<bool>(),
    ) {
        let machine = of_our_time(machine);
        let machine = Machine {
            status: if is_destroying { Status::Destroying } else { Status::Quarantined },
            quarantine: machine.quarantine.filter(|_| is_stamped).or_else(|| {
                is_stamped.then_some(QuarantineStamp {
                    id: 1,
                    since: strategies::NOW,
                    destroy_at: strategies::NOW,
                })
            }),
            ..machine
        };
        // A grace without an end is one that an operator wanted.
        prop_assume!(policy.thresholds().grace < YEARS);
        prop_assert!(ends(machine, &policy), "{:?}", machine);
    }
}

/// Deletes by what the world does: time passes, the provider confirms, the volume is read and wiped.
fn ends(mut machine: Machine<'static>, policy: &Policy<'static>) -> bool {
    let mut now = strategies::NOW;
    for _ in 0..8 {
        let absent = Observation::of(
            &machine,
            Answer::Absent(Proof::DeleteConfirmed),
            now,
            Source::Relay,
        );
        let decision = decide(&machine, Some(&absent), Asked::NOTHING, now, policy);
        machine = decision.next;
        if machine.status == Status::Destroyed {
            return true;
        }
        if decision.transition.effects.contains(Effect::DestroyVolume) {
            machine.volume = Volume::None;
        } else if machine.volume == Volume::Unknown {
            machine.volume = Volume::Owned;
        }
        let over_at = machine
            .quarantine
            .map_or(now, |stamp| stamp.destroy_at.max(now));
        now = over_at.saturating_add(policy.thresholds().clock_error + Duration::from_secs(1));
    }
    false
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

const YEARS: Duration = Duration::from_secs(100 * 365 * 86_400);
