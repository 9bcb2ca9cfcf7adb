//! What becomes of claimed work, and who may say so?

use core::time::Duration;

use lifecycle_core::Effect;

use super::{
    StoreHarness,
    trial::{LEASE, Trial, WHILE, answered, id},
};
use crate::outbox::{Settlement, WorkKey, WorkState};

/// A settlement needs the token of the claim that holds, and is made once.
pub async fn only_the_holder_of_the_token_settles(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let claimed = trial
        .bring(&row.id, Effect::StopCompute, WorkState::Claimed)
        .await;
    let other = trial
        .bring(&row.id, Effect::RevokeCredentials, WorkState::Claimed)
        .await;
    let before = (trial.row(&row.id).await, trial.all_work(&row.id).await);
    let key = &claimed.row.work.key;
    for wrong in ["", "made up", other.token.as_str()] {
        assert!(
            !answered(trial.store.settle(key, wrong, &Settlement::Done).await),
            "work is settled only by the holder of its token"
        );
    }
    let nobodys = WorkKey {
        machine: id("b"),
        ..key.clone()
    };
    assert!(
        !answered(
            trial
                .store
                .settle(&nobodys, &claimed.token, &Settlement::Done)
                .await
        ),
        "a token settles no other work"
    );
    assert_eq!(
        (trial.row(&row.id).await, trial.all_work(&row.id).await),
        before,
        "a settlement that is refused writes nothing"
    );

    trial.settle(&claimed, Settlement::Done).await;
    let before = (trial.row(&row.id).await, trial.all_work(&row.id).await);
    assert!(
        !trial
            .try_settle(&claimed, Settlement::Dead("twice".to_owned()))
            .await,
        "a claim is settled once"
    );
    assert_eq!(
        (trial.row(&row.id).await, trial.all_work(&row.id).await),
        before,
        "a settlement that is refused writes nothing"
    );
}

/// The row is free again, and whoever read it while it was claimed loses.
pub async fn a_settlement_takes_the_claim_off_its_row_as_a_commit(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let claimed = trial
        .bring(&row.id, Effect::RevokeCredentials, WorkState::Claimed)
        .await;
    let before = trial.row(&row.id).await;
    trial.settle(&claimed, Settlement::Done).await;
    assert_eq!(
        trial.row(&row.id).await,
        before,
        "a settlement of what had not claimed its row leaves the row as it is"
    );
    for settlement in settlements() {
        let claimed = trial
            .bring(&row.id, Effect::StopCompute, WorkState::Claimed)
            .await;
        trial.settle(&claimed, settlement).await;
        let stored = trial.row(&row.id).await;
        assert_eq!(
            stored.claim, None,
            "a settlement takes the claim off its row"
        );
        assert_eq!(
            stored.revision,
            claimed.machine.revision + 1,
            "a settlement of what had claimed its row counts as a commit"
        );
    }
}

/// A late settlement frees its row of its own claim only.
pub async fn a_settlement_leaves_the_claim_of_another(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let late = trial
        .bring(&row.id, Effect::StopCompute, WorkState::Claimed)
        .await;
    trial.queue(&row.id, &[Effect::DestroyCompute]).await;
    trial.advance(LEASE + WHILE).await;
    // Both are due, the destroy for longer; whichever is claimed takes the row over.
    let [taken] = &trial.claim(1).await[..] else {
        panic!("a claim that is over stands in nobody's way");
    };
    let before = trial.row(&row.id).await;
    trial.try_settle(&late, Settlement::Done).await;
    let after = trial.row(&row.id).await;
    assert_eq!(
        (&after.claim, after.revision),
        (&before.claim, before.revision),
        "a late settlement leaves the claim that another has on the row"
    );
    trial.settle(taken, Settlement::Done).await;
    assert_eq!(
        trial.row(&row.id).await.claim,
        None,
        "a settlement takes the claim off its row"
    );
}

/// Work that was delivered, cancelled or given up says so, and why.
pub async fn delivered_work_is_done(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for (name, settlement, state, note) in [
        ("a", Settlement::Done, WorkState::Done, None),
        (
            "b",
            Settlement::Cancelled("pointless".to_owned()),
            WorkState::Cancelled,
            Some("pointless"),
        ),
        (
            "c",
            Settlement::Dead("hopeless".to_owned()),
            WorkState::Dead,
            Some("hopeless"),
        ),
    ] {
        let row = trial.settled(name).await;
        let claimed = trial
            .bring(&row.id, Effect::RevokeCredentials, WorkState::Claimed)
            .await;
        trial.settle(&claimed, settlement).await;
        let stored = trial.work(&row.id, Effect::RevokeCredentials).await;
        assert_eq!(
            stored.state, state,
            "a settlement is what becomes of the work"
        );
        if note.is_some() {
            assert_eq!(
                stored.note.as_deref(),
                note,
                "work that was not delivered says why"
            );
        }
        trial.advance(LEASE).await;
        trial
            .claim_exactly(&[], &format!("{state} work is not claimed again"))
            .await;
    }
}

/// A failed delivery counts, says why, and is tried again after the time that it was given.
pub async fn failed_work_is_tried_again_later(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    trial.queue(&row.id, &[Effect::DestroyCompute]).await;
    let after = LEASE;
    for attempt in 1..=3 {
        let claimed = trial
            .claim_only(Effect::DestroyCompute, "work that is due can be claimed")
            .await;
        assert_eq!(
            claimed.row.attempts,
            attempt - 1,
            "a claim tells how many deliveries failed"
        );
        let accepted_at = trial.now().await;
        let before = trial.now().await;
        trial
            .settle(
                &claimed,
                Settlement::Retry {
                    after,
                    note: format!("failure {attempt}"),
                    accepted_at: Some(accepted_at),
                },
            )
            .await;
        let stored = trial.work(&row.id, Effect::DestroyCompute).await;
        assert_eq!(
            (
                stored.state,
                stored.attempts,
                stored.note,
                stored.accepted_at
            ),
            (
                WorkState::Pending,
                attempt,
                Some(format!("failure {attempt}")),
                Some(accepted_at)
            ),
            "failed work is pending again, counts the attempt, and says why and what was accepted"
        );
        let settled = before.saturating_add(after)..=trial.now().await.saturating_add(after);
        assert!(
            settled.contains(&stored.due_at),
            "failed work is due after the time that it was given"
        );
        trial.advance(after).await;
    }
}

/// A relay that stops leaves its work to the others, as though it had never had it.
pub async fn released_work_is_due_at_once_and_counts_no_attempt(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    trial.queue(&row.id, &[Effect::StopCompute]).await;
    let claimed = trial
        .claim_only(Effect::StopCompute, "work that is due can be claimed")
        .await;
    let failed = Settlement::Retry {
        after: Duration::ZERO,
        note: "it did not answer".to_owned(),
        accepted_at: None,
    };
    trial.settle(&claimed, failed).await;
    for _ in 0..2 {
        let claimed = trial
            .claim_only(Effect::StopCompute, "released work is due at once")
            .await;
        trial.settle(&claimed, Settlement::Released).await;
        let stored = trial.work(&row.id, Effect::StopCompute).await;
        assert_eq!(
            (stored.state, stored.attempts),
            (WorkState::Pending, 1),
            "released work is pending, and counts no attempt"
        );
    }
}

/// What was queued during a delivery is delivered after it, however that one ended.
pub async fn dirty_work_is_pending_anew_whatever_became_of_it(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    for effect in [Effect::RevokeCredentials, Effect::DestroyCompute] {
        for settlement in settlements() {
            let claimed = trial.bring(&row.id, effect, WorkState::Claimed).await;
            trial.queue(&row.id, &[effect]).await;
            trial.settle(&claimed, settlement).await;
            let stored = trial.work(&row.id, effect).await;
            assert_eq!(
                (stored.state, stored.is_dirty, stored.attempts),
                (WorkState::Pending, false, 0),
                "work that was queued again while it was delivered is pending anew, whatever became of it"
            );
            let again = trial
                .claim_only(
                    effect,
                    "work that was queued again is due now, whatever became of it",
                )
                .await;
            assert!(
                !again.row.is_dirty,
                "a claim is dirty only where the work was queued after it"
            );
            trial.settle(&again, Settlement::Done).await;
            assert_eq!(
                trial.state(&row.id, effect).await,
                WorkState::Done,
                "work that was not queued again is done"
            );
        }
    }
}

fn settlements() -> [Settlement; 5] {
    [
        Settlement::Done,
        Settlement::Cancelled("pointless".to_owned()),
        Settlement::Retry {
            after: WHILE,
            note: "it did not answer".to_owned(),
            accepted_at: None,
        },
        Settlement::Dead("hopeless".to_owned()),
        Settlement::Released,
    ]
}
