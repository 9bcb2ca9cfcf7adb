//! Does a destroy destroy the compute, and nothing more?

use super::{Cannot, Equipment, ProviderHarness, trial::Trial};
use crate::provider::{Delivered, VolumeReading};

/// What was destroyed is gone before long, and only that.
pub async fn a_destroy_ends_the_machine_and_no_other(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let other = trial.running(Equipment::Volume).await;
    let target = trial.running(Equipment::Bare).await;
    assert_eq!(
        trial.destroy(&target).await,
        Delivered::Accepted,
        "a machine that runs can be destroyed"
    );
    trial.until_gone(&target, DESTROYED).await;
    trial
        .assert_untouched(&other, "a destroy touches no other machine")
        .await;
    Ok(())
}

/// The volume outlives the compute, whatever the provider would do by itself.
pub async fn a_destroy_keeps_the_volume(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    trial.destroy(&target).await;
    trial.until_gone(&target, DESTROYED).await;
    trial
        .until_volume(
            &target,
            "the destroy of compute keeps the volume",
            |reading| {
                assert!(
                    !matches!(reading, VolumeReading::Absent(_)),
                    "the destroy of compute keeps the volume, but {reading:?} was read"
                );
                reading == VolumeReading::Exclusive
            },
        )
        .await;
    Ok(())
}

/// A destroy whose answer was lost is asked for again, at once and later.
pub async fn a_destroy_may_be_repeated(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    trial.destroy(&target).await;
    trial.destroy(&target).await;
    trial.until_gone(&target, DESTROYED).await;
    let again = trial.destroy(&target).await;
    trial.assert_not_found(again, "a destroy of what was destroyed is not found");
    assert_eq!(
        trial.provider.read_volume(&target).await,
        VolumeReading::Exclusive,
        "a repeated destroy keeps the volume"
    );
    Ok(())
}

/// There is nothing to destroy where nothing is.
pub async fn a_destroy_of_what_is_gone_is_not_found(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Bare).await;
    harness.vanish(&target).await;
    trial
        .until_gone(&target, "a machine that vanished is absent")
        .await;
    let destroyed = trial.destroy(&target).await;
    trial.assert_not_found(destroyed, "a destroy of what is gone is not found");
    Ok(())
}

/// The usual way: stopped in quarantine, destroyed after it.
pub async fn a_stopped_machine_can_be_destroyed(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    trial.stop(&target).await;
    trial
        .until_stopped(&target, "a machine that was stopped is off, or ended")
        .await;
    trial.destroy(&target).await;
    trial.until_gone(&target, DESTROYED).await;
    assert_eq!(
        trial.provider.read_volume(&target).await,
        VolumeReading::Exclusive,
        "the destroy of a stopped machine keeps the volume"
    );
    Ok(())
}

const DESTROYED: &str = "a machine that was destroyed is absent";
