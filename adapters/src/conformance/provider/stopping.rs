//! Does a stop stop, and nothing more?

use super::{Cannot, Equipment, ProviderHarness, trial::Trial};
use crate::provider::VolumeReading;

/// What was asked to stop is off before long, or ended where there is no being off.
pub async fn a_stop_stops(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let other = trial.running(Equipment::Bare).await;
    let target = trial.running(Equipment::Bare).await;
    trial.stop(&target).await;
    trial.until_stopped(&target, STOPPED).await;
    trial
        .assert_untouched(&other, "a stop touches no other machine")
        .await;
    Ok(())
}

/// A stop whose answer was lost is asked for again, and that is no error.
pub async fn a_stop_may_be_repeated(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    for _ in 0..3 {
        trial.stop(&target).await;
        trial.until_stopped(&target, STOPPED).await;
    }
    Ok(())
}

/// There is nothing to stop where nothing is.
pub async fn a_stop_of_what_is_gone_is_not_found(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Bare).await;
    harness.vanish(&target).await;
    trial
        .until_gone(&target, "a machine that vanished is absent")
        .await;
    let stopped = trial.stop(&target).await;
    trial.assert_not_found(stopped, "a stop of what is gone is not found");
    Ok(())
}

/// A stopped machine is restored with what it had.
pub async fn a_stop_keeps_the_volume(harness: &dyn ProviderHarness) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let target = trial.running(Equipment::Volume).await;
    trial.stop(&target).await;
    trial.until_stopped(&target, STOPPED).await;
    assert_eq!(
        trial.provider.read_volume(&target).await,
        VolumeReading::Exclusive,
        "a stop keeps the volume"
    );
    Ok(())
}

const STOPPED: &str = "a machine that was stopped is off, or ended";
