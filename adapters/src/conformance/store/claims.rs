//! Is work claimed by one relay at a time, for as long as it said?

use core::time::Duration;
use std::collections::BTreeSet;

use lifecycle_core::Effect;

use super::{
    StoreHarness,
    trial::{LEASE, Trial, WHILE, answered},
};
use crate::{
    outbox::{Claimed, Settlement, WorkState, claims_row},
    row::Claim,
    store::{Change, Commit},
};

/// What a relay has claimed nobody else gets.
pub async fn work_is_claimed_by_one_relay_at_a_time(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    trial.queue(&row.id, &[Effect::RevokeCredentials]).await;
    let claimed = trial
        .claim_only(Effect::RevokeCredentials, "work that is due can be claimed")
        .await;
    assert_eq!(
        trial.state(&row.id, Effect::RevokeCredentials).await,
        WorkState::Claimed,
        "claimed work says so"
    );
    trial
        .claim_exactly(&[], "work is claimed by one relay at a time")
        .await;
    trial.advance(LEASE - WHILE).await;
    trial
        .claim_exactly(&[], "work is claimed by one relay until its lease ends")
        .await;
    trial.settle(&claimed, Settlement::Done).await;
    trial
        .claim_exactly(&[], "work that was delivered is not claimed again")
        .await;
}

/// A claim brings what a delivery needs: the work and the row as stored, a token of its own, and the time.
pub async fn a_claim_tells_the_work_the_row_and_the_time(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for row in trial.all_settled(&["a", "b"]).await {
        trial
            .queue(&row.id, &[Effect::StopCompute, Effect::RevokeCredentials])
            .await;
    }
    let before = trial.now().await;
    let claimed = trial
        .claim_exactly(
            &[
                Effect::StopCompute,
                Effect::StopCompute,
                Effect::RevokeCredentials,
                Effect::RevokeCredentials,
            ],
            "all work that is due can be claimed at once",
        )
        .await;
    let after = trial.now().await;
    let tokens: BTreeSet<&str> = claimed.iter().map(|one| one.token.as_str()).collect();
    assert_eq!(tokens.len(), 4, "each claim gets a token of its own");
    for one in &claimed {
        let key = &one.row.work.key;
        let stored = trial.work(&key.machine, key.effect).await;
        assert_eq!(one.row, stored, "a claim tells its work as it is stored");
        assert!(
            (before..=after).contains(&one.now),
            "a claim tells the store's time"
        );
        assert_eq!(
            one.until,
            one.now.saturating_add(LEASE),
            "a claim lasts for the lease, from the store's time on"
        );
        assert_eq!(
            one.machine.id, key.machine,
            "a claim tells the row of its machine"
        );
        if claims_row(key.effect) {
            assert_eq!(
                one.machine,
                trial.row(&key.machine).await,
                "a claim tells the row as it is after the claim"
            );
        }
    }
}

/// No more is claimed than was asked for, and the rest stays claimable.
pub async fn the_limit_bounds_a_claim(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for row in trial.all_settled(&["a", "b", "c"]).await {
        trial.queue(&row.id, &[Effect::RevokeCredentials]).await;
    }
    let mut seen = BTreeSet::new();
    for expected in [2, 1, 0] {
        let claimed = trial.claim(2).await;
        assert_eq!(
            claimed.len(),
            expected,
            "a claim takes as much as it asks for, and leaves the rest to the next"
        );
        seen.extend(claimed.into_iter().map(|one| one.row.work.key.machine));
    }
    assert_eq!(seen.len(), 3, "each piece of work is claimed once");
    assert!(
        trial.claim(0).await.is_empty(),
        "a claim of nothing claims nothing"
    );
}

/// Work that is to be tried later waits until then.
pub async fn work_that_is_not_due_is_not_claimed(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    trial.queue(&row.id, &[Effect::RevokeCredentials]).await;
    let claimed = trial
        .claim_only(Effect::RevokeCredentials, "work that is due can be claimed")
        .await;
    let failed = Settlement::Retry {
        after: LEASE,
        note: "it did not answer".to_owned(),
        accepted_at: None,
    };
    trial.settle(&claimed, failed).await;
    trial
        .claim_exactly(&[], "work that is not due is not claimed")
        .await;
    trial.advance(LEASE - WHILE).await;
    trial
        .claim_exactly(&[], "work that is not due is not claimed")
        .await;
    trial.advance(WHILE).await;
    trial
        .claim_only(
            Effect::RevokeCredentials,
            "work that has become due is claimed",
        )
        .await;
}

/// A relay that went away blocks nothing for longer than its lease, and may then not settle any more.
pub async fn a_lease_ends_by_time_and_then_another_may_claim(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    for effect in [Effect::RevokeCredentials, Effect::StopCompute] {
        let first = trial.bring(&row.id, effect, WorkState::Claimed).await;
        trial.advance(LEASE).await;
        let second = trial
            .claim_only(effect, "work can be claimed again once its lease is over")
            .await;
        assert_ne!(
            first.token, second.token,
            "each claim gets a token of its own"
        );
        let before = (trial.row(&row.id).await, trial.all_work(&row.id).await);
        for settlement in [
            Settlement::Done,
            Settlement::Cancelled("late".to_owned()),
            Settlement::Dead("late".to_owned()),
            Settlement::Released,
        ] {
            assert!(
                !trial.try_settle(&first, settlement).await,
                "a claim that another has taken over settles nothing"
            );
        }
        assert_eq!(
            (trial.row(&row.id).await, trial.all_work(&row.id).await),
            before,
            "a settlement that is refused writes nothing"
        );
        trial.settle(&second, Settlement::Done).await;
    }
}

/// A lease that is over takes the work away only once somebody else has it.
pub async fn a_late_settlement_counts_until_another_has_claimed(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let claimed = trial
        .bring(&row.id, Effect::StopCompute, WorkState::Claimed)
        .await;
    trial.advance(LEASE + WHILE).await;
    trial.settle(&claimed, Settlement::Done).await;
    assert_eq!(
        trial.state(&row.id, Effect::StopCompute).await,
        WorkState::Done,
        "a late settlement counts as long as the token is the work's"
    );
}

/// The claim of a stop or destroy is in the row, so that whoever read it before loses.
pub async fn a_stop_or_destroy_claims_its_row_as_a_commit(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for (name, effect) in [
        ("a", Effect::StopCompute),
        ("b", Effect::DestroyCompute),
        ("c", Effect::DestroyVolume),
        ("d", Effect::RevokeCredentials),
        ("e", Effect::ReleaseCompute),
    ] {
        let row = trial.settled(name).await;
        let read = trial.queue(&row.id, &[effect]).await;
        let claimed = trial
            .claim_only(effect, "work that is due can be claimed")
            .await;
        let stored = trial.row(&row.id).await;
        if claims_row(effect) {
            assert_eq!(
                stored.claim,
                Some(claim_of(&claimed)),
                "a stop or destroy writes its claim into the row"
            );
            assert_eq!(
                stored.revision,
                read.revision + 1,
                "a claim of the row counts as a commit"
            );
            assert_eq!(
                trial.commit(&Change::of(read)).await,
                Commit::Lost(Some(stored)),
                "who read the row before it was claimed loses"
            );
        } else {
            assert_eq!(
                stored, read,
                "work that is neither a stop nor a destroy leaves its row as it is"
            );
        }
        trial.settle(&claimed, Settlement::Done).await;
    }
}

/// One stop or destroy of a row at a time; other work, and other rows, do not wait for it.
pub async fn work_is_passed_over_while_another_claim_of_its_row_holds(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let other = trial.settled("b").await;
    trial
        .queue(&row.id, &[Effect::StopCompute, Effect::DestroyCompute])
        .await;
    let mut both = trial.claim(100).await;
    assert_eq!(
        both.len(),
        1,
        "of two stops and destroys of one row, one is claimed at a time"
    );
    let Some(first) = both.pop() else { return };

    trial.queue(&row.id, &[Effect::RevokeCredentials]).await;
    trial.queue(&other.id, &[Effect::StopCompute]).await;
    let unrelated = trial
        .claim_exactly(
            &[Effect::StopCompute, Effect::RevokeCredentials],
            "work that claims no row, and work of other rows, is not passed over",
        )
        .await;
    for one in unrelated {
        trial.settle(&one, Settlement::Done).await;
    }
    trial.settle(&first, Settlement::Done).await;
    let [second] = &trial.claim(100).await[..] else {
        panic!("a stop or destroy is claimed once the other one of its row is settled");
    };
    assert_ne!(
        second.row.work.key, first.row.work.key,
        "a stop or destroy that was passed over is claimed afterwards"
    );

    // The claim of a relay that went away is over with its lease, whatever became of it.
    trial.advance(LEASE + Duration::from_millis(1)).await;
    trial.queue(&row.id, &[first.row.work.key.effect]).await;
    let taken_over = trial.claim(1).await;
    assert_eq!(
        taken_over.len(),
        1,
        "a claim of a row that is over stands in nobody's way"
    );
    let stored = trial.row(&row.id).await;
    assert_eq!(
        stored.claim,
        taken_over.first().map(claim_of),
        "a claim that is over gives way to the next"
    );
    assert_eq!(
        answered(trial.store.claim(100, LEASE).await).len(),
        0,
        "of two stops and destroys of one row, one is claimed at a time"
    );
}

fn claim_of(claimed: &Claimed) -> Claim {
    Claim {
        effect: claimed.row.work.key.effect,
        until: claimed.until,
        token: claimed.token.clone(),
    }
}
