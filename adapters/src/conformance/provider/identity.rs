//! Is a machine ever touched that is not proven to be the one that is meant?

use lifecycle_core::{Answer, Cause, Proof};

use super::{Cannot, Equipment, ProviderHarness, trial::Trial};
use crate::provider::{Delivered, ProviderError, Target};

/// Ids are reused: who has the id now is told by its marker.
pub async fn an_id_that_another_has_is_not_this_machine(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let mut target = trial.running(Equipment::Bare).await;
    let other = harness.supersede(&mut target).await?;
    let seen = trial.provider.observe(&target).await;
    match seen.answer {
        Answer::Present(_) => assert_eq!(
            seen.marker, other.marker,
            "what is there under a reused id shows whose it is"
        ),
        Answer::Absent(Proof::Superseded) => {}
        answer @ (Answer::Absent(_) | Answer::Unknown(_)) => {
            panic!("a reused id shows another's marker, or is superseded, but it was {answer:?}")
        }
    }
    Ok(())
}

/// A stop for a machine whose id is another's by now stops nothing.
pub async fn a_stop_never_touches_another_machine(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let mut target = trial.running(Equipment::Volume).await;
    let other = harness.supersede(&mut target).await?;
    let stopped = trial.provider.stop_compute(&target).await;
    assert_not_its_own(&stopped, "a stop under a reused id");
    trial
        .assert_untouched(&other, "a stop under a reused id touches nobody")
        .await;
    Ok(())
}

/// A destroy for a machine whose id is another's by now destroys nothing.
pub async fn a_destroy_never_touches_another_machine(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let mut target = trial.running(Equipment::Volume).await;
    let other = harness.supersede(&mut target).await?;
    let destroyed = trial.provider.destroy_compute(&target).await;
    assert_not_its_own(&destroyed, "a destroy under a reused id");
    trial
        .assert_untouched(&other, "a destroy under a reused id touches nobody")
        .await;
    Ok(())
}

/// What carries no marker is not proven to be ours.
pub async fn a_machine_without_a_marker_is_never_touched(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let trial = Trial::begin(harness);
    let unmarked = harness.make_unmarked().await?;
    trial.until_running(&unmarked).await;
    let claims = [
        unmarked.clone(),
        Target {
            marker: Some("somebody".to_owned()),
            ..unmarked.clone()
        },
        Target {
            marker: Some(String::new()),
            ..unmarked.clone()
        },
    ];
    for claim in &claims {
        let ended = [
            trial.provider.stop_compute(claim).await,
            trial.provider.destroy_compute(claim).await,
        ];
        for ended in &ended {
            assert_not_its_own(ended, "what carries no marker");
        }
    }
    trial
        .assert_untouched(&unmarked, "what carries no marker is never touched")
        .await;
    Ok(())
}

/// A null that became an id, or a path that reaches further, means nothing and nobody.
pub async fn a_malformed_id_is_unknown_and_touches_nothing(
    harness: &dyn ProviderHarness,
) -> Result<(), Cannot> {
    let malformed = harness.malformed_ids();
    if malformed.is_empty() {
        return Err(Cannot("every text is an id"));
    }
    let trial = Trial::begin(harness);
    let bystander = trial.running(Equipment::Volume).await;
    for id in malformed {
        let target = Target {
            provider_id: id.clone(),
            ..bystander.clone()
        };
        assert_eq!(
            trial.provider.observe(&target).await.answer,
            Answer::Unknown(Cause::Malformed),
            "an id that can be none proves nothing: {id:?}"
        );
        for ended in [
            trial.provider.stop_compute(&target).await,
            trial.provider.destroy_compute(&target).await,
        ] {
            assert!(
                matches!(
                    ended,
                    Err(ProviderError::OutOfBounds(_) | ProviderError::Refused { .. })
                ),
                "an id that can be none is an error, not {ended:?}: {id:?}"
            );
        }
    }
    trial
        .assert_untouched(&bystander, "an id that can be none touches nobody")
        .await;
    Ok(())
}

fn assert_not_its_own(ended: &Result<Delivered, ProviderError>, what: &str) {
    match ended {
        Ok(Delivered::NotFound(Proof::Superseded)) | Err(ProviderError::Unproven) => {}
        Ok(_) | Err(_) => panic!("{what} is superseded or unproven, but it was {ended:?}"),
    }
}
