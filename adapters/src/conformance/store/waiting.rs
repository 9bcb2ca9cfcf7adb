//! Does work wait for what it must wait for, and for nothing else?

use lifecycle_core::{Effect, Machine};

use super::{
    StoreHarness,
    trial::{Trial, WHILE, answered, with, work},
};
use crate::{
    outbox::{Settlement, WorkState},
    store::Change,
};

/// Capacity is given back only when the compute is no longer to be destroyed.
pub async fn a_release_waits_for_an_owed_destroy_of_compute(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    waits(&trial, Effect::ReleaseCompute).await;
}

/// A volume is destroyed only when the compute is no longer to be destroyed.
pub async fn the_destroy_of_a_volume_waits_for_an_owed_destroy_of_compute(
    harness: &dyn StoreHarness,
) {
    let trial = Trial::begin(harness).await;
    waits(&trial, Effect::DestroyVolume).await;
}

async fn waits(trial: &Trial<'_>, effect: Effect) {
    for (name, end) in [
        ("a", Settlement::Done),
        ("b", Settlement::Cancelled("pointless".to_owned())),
    ] {
        let row = trial.settled(name).await;
        trial
            .queue(&row.id, &[effect, Effect::DestroyCompute])
            .await;
        let destroy = trial
            .claim_only(
                Effect::DestroyCompute,
                &format!("{effect} waits for a pending destroy_compute"),
            )
            .await;
        trial
            .claim_exactly(
                &[],
                &format!("{effect} waits for a claimed destroy_compute"),
            )
            .await;
        let failed = Settlement::Retry {
            after: WHILE,
            note: "not yet".to_owned(),
            accepted_at: None,
        };
        trial.settle(&destroy, failed).await;
        trial
            .claim_exactly(
                &[],
                &format!("{effect} waits for a destroy_compute that is to be tried again"),
            )
            .await;
        trial.advance(WHILE).await;
        let destroy = trial
            .claim_only(
                Effect::DestroyCompute,
                &format!("{effect} waits for a pending destroy_compute"),
            )
            .await;
        trial.settle(&destroy, end).await;
        let waited = trial
            .claim_only(
                effect,
                &format!("{effect} is claimed once no destroy_compute is owed any more"),
            )
            .await;
        trial.settle(&waited, Settlement::Done).await;
    }
}

/// A destroy that was given up by its relay is still owed; only an operator ends that.
pub async fn a_dead_destroy_of_compute_is_waited_for(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for (name, effect) in [("a", Effect::ReleaseCompute), ("b", Effect::DestroyVolume)] {
        let row = trial.settled(name).await;
        let dead = trial
            .bring(&row.id, Effect::DestroyCompute, WorkState::Dead)
            .await;
        trial.queue(&row.id, &[effect]).await;
        trial
            .claim_exactly(&[], &format!("{effect} waits for a dead destroy_compute"))
            .await;
        let key = &dead.row.work.key;
        assert!(
            answered(trial.store.drop_dead(key, "it is gone").await),
            "a dead letter can be given up"
        );
        let waited = trial
            .claim_only(
                effect,
                &format!("{effect} is claimed once an operator has given the destroy_compute up"),
            )
            .await;
        trial.settle(&waited, Settlement::Done).await;
    }
}

/// The destroy of an older incarnation holds up the volume, which was its own too, and nothing else.
pub async fn a_volume_waits_for_every_incarnation(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    trial
        .bring(&row.id, Effect::DestroyCompute, WorkState::Dead)
        .await;
    let next = with(trial.row(&row.id).await, |machine| Machine {
        generation: 2,
        ..machine
    });
    let now = trial.now().await;
    let change = Change {
        work: vec![
            work(&next, Effect::ReleaseCompute, now),
            work(&next, Effect::DestroyVolume, now),
        ],
        ..Change::of(next)
    };
    trial.won(&change).await;
    trial
        .claim_exactly(
            &[Effect::ReleaseCompute],
            "a volume waits for an owed destroy_compute of any incarnation, a release for its own",
        )
        .await;
}

/// Stops, holds and revocations wait for nothing, and a destroy of compute does not wait for them.
pub async fn nothing_else_waits(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    trial
        .queue(
            &row.id,
            &[Effect::RevokeCredentials, Effect::DestroyCompute],
        )
        .await;
    let claimed = trial
        .claim_exactly(
            &[
                Effect::HoldCompute,
                Effect::RevokeCredentials,
                Effect::DestroyCompute,
            ],
            "a hold and a revocation do not wait for an owed destroy_compute",
        )
        .await;
    for one in claimed {
        trial
            .settle(&one, Settlement::Dead("hopeless".to_owned()))
            .await;
    }
    trial.queue(&row.id, &[Effect::StopCompute]).await;
    let stop = trial
        .claim_only(
            Effect::StopCompute,
            "a stop does not wait for a dead destroy_compute",
        )
        .await;
    trial
        .settle(&stop, Settlement::Dead("hopeless".to_owned()))
        .await;
    trial.queue(&row.id, &[Effect::DestroyCompute]).await;
    trial
        .claim_only(
            Effect::DestroyCompute,
            "a dead letter of anything else holds no destroy_compute up",
        )
        .await;
}

/// However much waits, what need not wait is found.
pub async fn work_that_waits_does_not_stand_in_the_way(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for name in ["a", "b", "c", "d"] {
        let row = trial.settled(name).await;
        trial
            .bring(&row.id, Effect::DestroyCompute, WorkState::Dead)
            .await;
        trial.queue(&row.id, &[Effect::ReleaseCompute]).await;
    }
    trial.advance(WHILE).await;
    let late = trial.settled("e").await;
    trial.queue(&late.id, &[Effect::RevokeCredentials]).await;
    let claimed = trial.claim(1).await;
    let machines: Vec<_> = claimed
        .iter()
        .map(|one| &one.row.work.key.machine)
        .collect();
    assert_eq!(
        machines,
        [&late.id],
        "work that waits does not use up the limit of a claim"
    );
}
