//! Are dead letters seen, retried and given up?

use lifecycle_core::Effect;

use super::{
    StoreHarness,
    trial::{Trial, WHILE, answered, id},
};
use crate::outbox::{OutboxRow, Settlement, WorkKey, WorkState};

/// Dead letters are listed as they are stored, the oldest first, up to a limit.
pub async fn dead_letters_are_listed_the_oldest_first(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let mut expected: Vec<OutboxRow> = Vec::new();
    for name in ["c", "a", "b"] {
        let row = trial.settled(name).await;
        trial
            .bring(&row.id, Effect::RevokeCredentials, WorkState::Dead)
            .await;
        trial
            .bring(&row.id, Effect::StopCompute, WorkState::Cancelled)
            .await;
        expected.push(trial.work(&row.id, Effect::RevokeCredentials).await);
        trial.advance(WHILE).await;
    }
    for limit in [100, 2, 0] {
        let listed = answered(trial.store.dead_letters(limit).await);
        expected.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        assert_eq!(
            listed, expected,
            "dead letters are listed, the oldest first, and nothing else is"
        );
    }
}

/// A dead letter that is retried is pending as though it had just been queued.
pub async fn a_dead_letter_can_be_retried(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let dead = trial
        .bring(&row.id, Effect::RevokeCredentials, WorkState::Dead)
        .await;
    trial.advance(WHILE).await;
    let before = trial.now().await;
    assert!(
        answered(trial.store.retry_dead(&dead.row.work.key).await),
        "a dead letter can be retried"
    );
    let stored = trial.work(&row.id, Effect::RevokeCredentials).await;
    assert_eq!(
        (stored.state, stored.attempts, stored.note.as_deref()),
        (WorkState::Pending, 0, None),
        "a dead letter that is retried is pending anew"
    );
    assert!(
        (before..=trial.now().await).contains(&stored.due_at),
        "a dead letter that is retried is due now"
    );
    assert_eq!(
        stored.work, dead.row.work,
        "a dead letter that is retried says what it said"
    );
    let claimed = trial
        .claim_only(
            Effect::RevokeCredentials,
            "a dead letter that is retried can be claimed",
        )
        .await;
    trial.settle(&claimed, Settlement::Done).await;
    assert_eq!(
        answered(trial.store.dead_letters(100).await),
        [],
        "a dead letter that was retried is none any more"
    );
}

/// A dead letter that is dropped is owed no more, and says why.
pub async fn a_dead_letter_can_be_dropped(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let dead = trial
        .bring(&row.id, Effect::RevokeCredentials, WorkState::Dead)
        .await;
    assert!(
        answered(
            trial
                .store
                .drop_dead(&dead.row.work.key, "revoked by hand")
                .await
        ),
        "a dead letter can be given up"
    );
    let stored = trial.work(&row.id, Effect::RevokeCredentials).await;
    assert_eq!(
        (stored.state, stored.note.as_deref()),
        (WorkState::Dropped, Some("revoked by hand")),
        "a dead letter that is given up says why"
    );
    assert_eq!(
        answered(trial.store.dead_letters(100).await),
        [],
        "a dead letter that was given up is none any more"
    );
    trial
        .claim_exactly(&[], "a dead letter that was given up is not claimed")
        .await;
}

/// Work in any other state, and work that is not there, is left as it is.
pub async fn only_dead_letters_are_retried_or_dropped(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for (name, state) in ["a", "b", "c", "d", "e"].into_iter().zip(
        WorkState::ALL
            .iter()
            .filter(|state| !matches!(state, WorkState::Dead)),
    ) {
        let row = trial.settled(name).await;
        let claimed = trial
            .bring(&row.id, Effect::RevokeCredentials, *state)
            .await;
        let before = trial.all_work(&row.id).await;
        let key = &claimed.row.work.key;
        for key in [
            key,
            &WorkKey {
                generation: 2,
                ..key.clone()
            },
            &WorkKey {
                machine: id("nobody"),
                ..key.clone()
            },
        ] {
            assert!(
                !answered(trial.store.retry_dead(key).await)
                    && !answered(trial.store.drop_dead(key, "mistaken").await),
                "only dead letters are retried or dropped"
            );
        }
        assert_eq!(
            trial.all_work(&row.id).await,
            before,
            "what is no dead letter is left as it is"
        );
        if matches!(state, WorkState::Pending) {
            for claimed in trial.claim(100).await {
                trial.settle(&claimed, Settlement::Done).await;
            }
        }
    }
}
