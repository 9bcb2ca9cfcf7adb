//! Is what is said of a machine so?

use lifecycle_core::{Answer, Power, Proof};

use super::{
    Cannot, Equipment, ProviderHarness,
    trial::{Trial, is_absent, is_off},
};
use crate::provider::VolumeReading;

/// A machine that was made is there, and runs before long.
pub async fn a_machine_that_runs_is_present(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    trial.running(Equipment::Bare).await;
    trial.running(Equipment::Volume).await;
    Ok(())
}

/// Without the scope nothing is proved: every answer names it, of what is there and of what is not.
pub async fn an_answer_names_the_scope(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Bare).await;
    let here = trial.provider.observe(&target).await;
    harness.vanish(&target).await;
    trial.until_gone(&target, VANISHED).await;
    let gone = trial.provider.observe(&target).await;
    for seen in [here, gone] {
        assert_eq!(
            seen.scope.as_deref(),
            Some(target.scope.as_str()),
            "an answer names where we are, as the row does"
        );
    }
    Ok(())
}

/// A marker that was looked at is the one that the machine was made with.
pub async fn a_marker_that_is_seen_is_the_machines_own(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Bare).await;
    let seen = trial.provider.observe(&target).await;
    if seen.marker.is_none() {
        return Err(Cannot("the provider looks at no markers"));
    }
    assert_eq!(
        seen.marker, target.marker,
        "the marker that is seen is the one that registration was told"
    );
    Ok(())
}

/// What the provider does not know is absent, and by its own word.
pub async fn a_machine_that_vanished_is_absent_by_proof(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    harness.vanish(&target).await;
    trial.until_gone(&target, VANISHED).await;
    trial
        .until_volume(
            &target,
            "a volume outlives the machine that vanished",
            |reading| reading == VolumeReading::Exclusive,
        )
        .await;
    Ok(())
}

/// Whoever ends the guest, it is not said to run.
pub async fn a_machine_stopped_from_outside_is_not_running(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Bare).await;
    harness.stop_from_outside(&target).await?;
    let promise = "a machine that was stopped from outside is off, or ended";
    trial
        .until(&target, promise, |seen| {
            is_off(seen.answer) || is_absent(seen.answer, Proof::Tombstone)
        })
        .await;
    Ok(())
}

/// What is listed as ended is told so by its strongest proof.
pub async fn a_machine_that_is_listed_as_ended_is_a_tombstone(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Bare).await;
    harness.bury(&target).await?;
    let promise = "a machine that is listed as ended is a tombstone";
    trial
        .until(&target, promise, |seen| {
            seen.answer == Answer::Absent(Proof::Tombstone)
        })
        .await;
    Ok(())
}

/// Whoever only looks leaves no trace.
pub async fn reading_changes_nothing(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    for _ in 0..3 {
        let seen = trial.provider.observe(&target).await;
        let reading = trial.provider.read_volume(&target).await;
        trial.listing().await;
        assert_eq!(
            (seen.answer, reading),
            (Answer::Present(Power::Running), VolumeReading::Exclusive),
            "reading changes neither the machine nor its volume"
        );
    }
    Ok(())
}

const VANISHED: &str = "a machine that the provider does not know is absent by its own word";
