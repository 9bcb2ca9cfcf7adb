//! Is a volume read as it is, and destroyed only when that is asked for?

use super::{Cannot, Equipment, ProviderHarness, trial::Trial};
use crate::provider::{Delivered, VolumeReading};

/// What nobody else uses is the machine's own, whether it runs or has gone.
pub async fn a_volume_of_its_own_is_exclusive(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    assert_eq!(
        trial.provider.read_volume(&target).await,
        VolumeReading::Exclusive,
        "a volume that nobody else uses is exclusive"
    );
    Ok(())
}

/// Where there is no volume, none is made out of another's.
pub async fn a_machine_without_a_volume_has_none_to_destroy(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let other = trial.running(Equipment::Volume).await;
    let target = trial.running(Equipment::Bare).await;
    let reading = trial.provider.read_volume(&target).await;
    assert!(
        matches!(
            reading,
            VolumeReading::Absent(_) | VolumeReading::Unknown(_)
        ),
        "a machine without a volume is not said to have one, but {reading:?} was read"
    );
    let destroyed = trial.provider.destroy_volume(&target).await;
    assert_ne!(
        destroyed,
        Ok(Delivered::Accepted),
        "where there is no volume, none is destroyed"
    );
    assert_eq!(
        trial.provider.read_volume(&other).await,
        VolumeReading::Exclusive,
        "the volume of another machine stays"
    );
    Ok(())
}

/// What others use too is never taken for the machine's own.
pub async fn a_shared_volume_is_read_as_shared(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    harness.share_volume(&target).await?;
    let promise = "a volume that others use too is shared";
    let is_shared = |reading| reading == VolumeReading::Shared;
    trial.until_volume(&target, promise, is_shared).await;
    trial.destroy(&target).await;
    trial
        .until_gone(&target, "a machine that was destroyed is absent")
        .await;
    let promise = "a volume that only others use is shared";
    trial.until_volume(&target, promise, is_shared).await;
    Ok(())
}

/// A destroy of a volume destroys it, after its compute has gone.
pub async fn a_destroyed_volume_is_absent_by_proof(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    trial.destroy(&target).await;
    trial
        .until_gone(&target, "a machine that was destroyed is absent")
        .await;
    assert_eq!(
        trial.destroy_volume(&target).await,
        Delivered::Accepted,
        "a volume that nobody uses any more can be destroyed"
    );
    let least = harness.proof().strength();
    let promise = "a volume that was destroyed is absent by the provider's own word";
    trial
        .until_volume(&target, promise, |reading| match reading {
            VolumeReading::Absent(proof) => proof.strength() >= least,
            VolumeReading::Exclusive | VolumeReading::Shared | VolumeReading::Unknown(_) => false,
        })
        .await;
    Ok(())
}

/// A destroy whose answer was lost is asked for again.
pub async fn the_destroy_of_a_volume_may_be_repeated(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    trial.destroy(&target).await;
    trial
        .until_gone(&target, "a machine that was destroyed is absent")
        .await;
    trial.destroy_volume(&target).await;
    trial
        .until_volume(&target, "a destroyed volume is absent", |reading| {
            matches!(reading, VolumeReading::Absent(_))
        })
        .await;
    let again = trial.destroy_volume(&target).await;
    assert!(
        matches!(again, Delivered::NotFound(_)),
        "a volume that is not there is not found, but it was {again:?}"
    );
    Ok(())
}

/// One machine's volume is destroyed, and no other's.
pub async fn the_volume_of_another_machine_stays(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let other = trial.running(Equipment::Volume).await;
    let target = trial.running(Equipment::Volume).await;
    trial.destroy(&target).await;
    trial
        .until_gone(&target, "a machine that was destroyed is absent")
        .await;
    trial.destroy_volume(&target).await;
    assert_eq!(
        trial.provider.read_volume(&other).await,
        VolumeReading::Exclusive,
        "the volume of another machine stays"
    );
    trial
        .assert_untouched(&other, "the destroy of a volume touches no other machine")
        .await;
    Ok(())
}
