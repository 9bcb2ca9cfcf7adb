//! Is "I could not ask" ever taken for "it is gone"?

use core::time::Duration;

use lifecycle_core::{Answer, Cause};

use super::{Cannot, Equipment, ProviderHarness, trial::Trial};
use crate::provider::{Completeness, Provider, ProviderError, Target, VolumeReading};

/// Where nobody listens, nothing is known, and nothing was done.
pub async fn a_refused_connection_is_unknown_and_not_absent(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let refused = harness.refused().await?;
    let target = trial.running(Equipment::Volume).await;
    check(harness, &*refused, &target, "refused").await;
    trial
        .assert_untouched(&target, "what could not be asked for was not done")
        .await;
    Ok(())
}

/// Where nobody answers, nothing is known after the time that the adapter waits.
pub async fn a_provider_that_never_answers_is_unknown_and_not_absent(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let silent = harness.silent().await?;
    let target = trial.running(Equipment::Volume).await;
    check(harness, &*silent, &target, "never answered").await;
    trial
        .assert_untouched(&target, "what was not answered was not done")
        .await;
    Ok(())
}

async fn check(
    harness: &dyn ProviderHarness,
    provider: &dyn Provider,
    target: &Target,
    what: &str,
) {
    let patience = harness.patience();
    let seen = within(patience, what, provider.observe(target)).await;
    assert!(
        matches!(
            seen.answer,
            Answer::Unknown(Cause::Timeout | Cause::Transport)
        ),
        "a question that was {what} is unknown, but it was {seen:?}"
    );
    let reading = within(patience, what, provider.read_volume(target)).await;
    assert!(
        matches!(
            reading,
            VolumeReading::Unknown(Cause::Timeout | Cause::Transport)
        ),
        "a reading of a volume that was {what} is unknown, but it was {reading:?}"
    );
    let listing = within(patience, what, provider.list()).await;
    assert!(
        listing.as_ref().map_or(true, |listing| listing.completeness
            != Completeness::Complete),
        "a listing that was {what} is an error or incomplete, but it was {listing:?}"
    );
    for ended in [
        within(patience, what, provider.stop_compute(target)).await,
        within(patience, what, provider.destroy_compute(target)).await,
        within(patience, what, provider.destroy_volume(target)).await,
    ] {
        assert!(
            ended.as_ref().is_err_and(ProviderError::is_retryable),
            "what was {what} is an error that may pass, but it was {ended:?}"
        );
    }
}

async fn within<T>(patience: Duration, what: &str, asked: impl Future<Output = T>) -> T {
    match tokio::time::timeout(patience, asked).await {
        Ok(answer) => answer,
        Err(_) => panic!("a question that is {what} ends by itself within {patience:?}"),
    }
}
