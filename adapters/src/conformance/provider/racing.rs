//! What if several ask at once?

use std::sync::Arc;

use lifecycle_core::{Answer, Power};
use tokio::task::JoinSet;

use super::{
    Cannot, Equipment, ProviderHarness,
    trial::{Trial, is_absent},
};
use crate::provider::{Delivered, ProviderError, Target, VolumeReading};

/// Relays side by side end a machine once, and none of them harms the volume.
pub async fn many_destroys_at_once_end_it_once(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = Arc::new(trial.running(Equipment::Volume).await);
    let mut destroys = JoinSet::new();
    for _ in 0..8 {
        let (provider, target) = (trial.provider.clone(), target.clone());
        destroys.spawn(async move { provider.destroy_compute(&target).await });
    }
    for destroyed in destroys.join_all().await {
        assert_done_or_passing(&destroyed, "one of many destroys at once");
    }
    assert_over(&trial, &target).await;
    Ok(())
}

/// A destroy that comes while a polite stop still waits does not wait for ever, and wins.
pub async fn a_destroy_while_a_stop_runs_ends_it(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    let (stopped, destroyed) = tokio::join!(
        trial.provider.stop_compute(&target),
        trial.provider.destroy_compute(&target)
    );
    assert_done_or_passing(&stopped, "a stop while a destroy runs");
    assert_done_or_passing(&destroyed, "a destroy while a stop runs");
    assert_over(&trial, &target).await;
    Ok(())
}

/// Whoever looks while a machine is being destroyed sees it there, going, or gone.
pub async fn readings_during_a_destroy_never_lie(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    let other = trial.running(Equipment::Volume).await;
    let destroy = trial.provider.destroy_compute(&target);
    let look = async {
        let mut was_gone = false;
        for _ in 0..20 {
            let seen = trial.provider.observe(&target).await;
            let is_gone = is_absent(seen.answer, harness.proof());
            assert!(
                is_gone || !was_gone || matches!(seen.answer, Answer::Unknown(_)),
                "what is gone does not come back, but then {seen:?} was seen"
            );
            was_gone |= is_gone;
            let reading = trial.provider.read_volume(&target).await;
            assert!(
                matches!(
                    reading,
                    VolumeReading::Exclusive | VolumeReading::Unknown(_)
                ),
                "the volume stays while its compute is destroyed, but {reading:?} was read"
            );
            let seen = trial.provider.observe(&other).await;
            assert_eq!(
                seen.answer,
                Answer::Present(Power::Running),
                "another machine is seen as it is"
            );
        }
    };
    let (destroyed, ()) = tokio::join!(destroy, look);
    assert_done_or_passing(&destroyed, "a destroy that is looked at");
    assert_over(&trial, &target).await;
    Ok(())
}

fn assert_done_or_passing(ended: &Result<Delivered, ProviderError>, what: &str) {
    let is_well = ended
        .as_ref()
        .map_or_else(ProviderError::is_retryable, |_| true);
    assert!(
        is_well,
        "{what} is done, not found, or an error that may pass, but it was {ended:?}"
    );
}

/// Asserts that the machine is gone after a repeated destroy at the latest, and its volume is not.
async fn assert_over(trial: &Trial<'_>, target: &Target) {
    trial.destroy(target).await;
    trial
        .until_gone(target, "a machine that was destroyed is absent")
        .await;
    assert_eq!(
        trial.provider.read_volume(target).await,
        VolumeReading::Exclusive,
        "however many destroy the compute, the volume stays"
    );
}
