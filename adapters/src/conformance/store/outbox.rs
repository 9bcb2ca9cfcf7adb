//! How does queueing meet work that is there already?

use core::time::Duration;

use lifecycle_core::{Effect, Timestamp};

use super::{
    StoreHarness,
    trial::{LEASE, Trial, WHILE, answered, work},
};
use crate::{
    id::MachineId,
    outbox::{Enqueue, OutboxRow, Settlement, WorkState},
    row::Row,
    store::Change,
};

/// New work is pending, due now, and was never tried.
pub async fn queued_work_is_pending_and_due_now(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let before = trial.now().await;
    trial
        .queue(
            &row.id,
            &[Effect::RevokeCredentials, Effect::DestroyCompute],
        )
        .await;
    for effect in [Effect::RevokeCredentials, Effect::DestroyCompute] {
        is_anew(
            &trial,
            &trial.work(&row.id, effect).await,
            before,
            "queued work",
        )
        .await;
    }
}

/// Queueing pending work replaces what it says and forgets its failures.
pub async fn queueing_pending_work_renews_it(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    trial.queue(&row.id, &[Effect::StopCompute]).await;
    let claimed = trial
        .claim_only(Effect::StopCompute, "work that is due can be claimed")
        .await;
    let failed = Settlement::Retry {
        after: WHILE,
        note: "it did not answer".to_owned(),
        accepted_at: None,
    };
    trial.settle(&claimed, failed).await;

    let before = trial.now().await;
    let said = renewed(&trial, &row.id, Effect::StopCompute).await;
    let stored = trial.work(&row.id, Effect::StopCompute).await;
    is_anew(&trial, &stored, before, "renewed work").await;
    says(&stored, &said, "queueing pending work renews what it says");
    trial
        .claim_only(Effect::StopCompute, "renewed work is due now")
        .await;
}

/// Queueing claimed work replaces what it says, leaves it with its relay, and marks it dirty.
pub async fn queueing_claimed_work_renews_it_and_marks_it_dirty(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let claimed = trial
        .bring(&row.id, Effect::RevokeCredentials, WorkState::Claimed)
        .await;
    assert!(
        !trial
            .work(&row.id, Effect::RevokeCredentials)
            .await
            .is_dirty,
        "claimed work is not dirty until it is queued again"
    );

    let before = trial.now().await;
    let said = renewed(&trial, &row.id, Effect::RevokeCredentials).await;
    let stored = trial.work(&row.id, Effect::RevokeCredentials).await;
    assert_eq!(
        (stored.state, stored.is_dirty, stored.attempts),
        (WorkState::Claimed, true, 0),
        "queueing claimed work leaves it claimed, and marks it dirty"
    );
    says(&stored, &said, "queueing claimed work renews what it says");
    trial
        .claim_exactly(&[], "work that is claimed and dirty stays with its relay")
        .await;

    trial.settle(&claimed, Settlement::Done).await;
    let stored = trial.work(&row.id, Effect::RevokeCredentials).await;
    is_anew(
        &trial,
        &stored,
        before,
        "work that was queued again while it was delivered",
    )
    .await;
    let again = trial
        .claim_only(
            Effect::RevokeCredentials,
            "work that was queued again while it was delivered is delivered again",
        )
        .await;
    says(
        &again.row,
        &said,
        "what is delivered again is what was queued last",
    );
    trial.settle(&again, Settlement::Done).await;
    assert_eq!(
        trial.state(&row.id, Effect::RevokeCredentials).await,
        WorkState::Done,
        "work is delivered again once for all that was queued meanwhile"
    );
}

/// Dead, cancelled and dropped work is revived by queueing it: a dead letter never blocks.
pub async fn queueing_work_that_was_given_up_makes_it_pending_anew(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    for (name, state) in [
        ("a", WorkState::Dead),
        ("b", WorkState::Cancelled),
        ("c", WorkState::Dropped),
    ] {
        let row = trial.settled(name).await;
        for effect in [Effect::ReleaseCompute, Effect::RevokeCredentials] {
            trial.bring(&row.id, effect, state).await;
            let before = trial.now().await;
            let said = renewed(&trial, &row.id, effect).await;
            let stored = trial.work(&row.id, effect).await;
            is_anew(
                &trial,
                &stored,
                before,
                &format!("{state} work that is queued"),
            )
            .await;
            says(
                &stored,
                &said,
                "work that is revived says what was queued last",
            );
            let claimed = trial
                .claim_only(effect, "revived work can be claimed")
                .await;
            trial.settle(&claimed, Settlement::Done).await;
        }
    }
}

/// An effect that occurs again is delivered again.
pub async fn queueing_done_work_makes_it_pending_anew(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    for effect in [
        Effect::StopCompute,
        Effect::RevokeCredentials,
        Effect::DestroyCompute,
        Effect::DestroyVolume,
    ] {
        trial.bring(&row.id, effect, WorkState::Done).await;
        let before = trial.now().await;
        let said = renewed(&trial, &row.id, effect).await;
        let stored = trial.work(&row.id, effect).await;
        is_anew(&trial, &stored, before, "done work that is queued again").await;
        says(
            &stored,
            &said,
            "work that is done again says what was queued last",
        );
        let claimed = trial
            .claim_only(effect, "work that is queued again can be claimed")
            .await;
        trial.settle(&claimed, Settlement::Done).await;
    }
}

/// A hold or release that was done is not done again for the same reservation, but for the next.
pub async fn a_reservation_is_held_and_released_once(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let mut row = trial.settled("a").await;
    trial
        .bring(&row.id, Effect::ReleaseCompute, WorkState::Done)
        .await;
    for effect in [Effect::HoldCompute, Effect::ReleaseCompute] {
        trial.queue(&row.id, &[effect]).await;
        assert_eq!(
            trial.state(&row.id, effect).await,
            WorkState::Done,
            "a reservation is held and released once"
        );
    }
    trial
        .claim_exactly(&[], "a hold or release that was done is not claimed again")
        .await;

    row = trial.row(&row.id).await;
    row.facts.update(|machine| lifecycle_core::Machine {
        holds: machine.holds + 1,
        ..machine
    });
    row = trial.won(&Change::of(row)).await;
    trial
        .queue(&row.id, &[Effect::HoldCompute, Effect::ReleaseCompute])
        .await;
    let claimed = trial
        .claim_exactly(
            &[Effect::HoldCompute, Effect::ReleaseCompute],
            "the next reservation is held and released on its own",
        )
        .await;
    assert!(
        claimed.iter().all(|one| one.row.work.key.holds == 2),
        "the work of a reservation says which one it is"
    );
    assert_eq!(
        trial.all_work(&row.id).await.len(),
        4,
        "each reservation has one hold and one release"
    );
}

/// Each incarnation has work of its own.
pub async fn work_of_another_incarnation_is_other_work(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let older = trial
        .bring(&row.id, Effect::RevokeCredentials, WorkState::Done)
        .await;
    let row = trial.row(&row.id).await;
    let mut newer = work(&row, Effect::RevokeCredentials, trial.now().await);
    newer.key.generation = 2;
    let change = Change {
        work: vec![newer.clone()],
        ..Change::of(row)
    };
    let row = trial.won(&change).await;
    let claimed = trial
        .claim_only(
            Effect::RevokeCredentials,
            "work of another incarnation is other work",
        )
        .await;
    assert_eq!(
        claimed.row.work.key, newer.key,
        "work that is done for one incarnation is still owed for another"
    );
    let found = trial.all_work(&row.id).await;
    assert!(
        found
            .iter()
            .any(|row| row.work.key == older.row.work.key && matches!(row.state, WorkState::Done)),
        "queueing work of one incarnation leaves that of another as it is"
    );
}

/// Work is stamped by the store: credentials minted between decision and commit are to be revoked too.
pub async fn work_is_stamped_with_the_time_of_its_commit(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.settled("a").await;
    let decided_at = trial.now().await;
    for _ in 0..2 {
        trial.advance(WHILE).await;
        let before = trial.now().await;
        let row = trial.row(&row.id).await;
        let change = Change {
            work: vec![work(&row, Effect::RevokeCredentials, decided_at)],
            ..Change::of(row)
        };
        let row = trial.won(&change).await;
        let stored = trial.work(&row.id, Effect::RevokeCredentials).await;
        assert!(
            (before..=trial.now().await).contains(&stored.work.committed_at),
            "work says when it was committed by the store's clock, not when it was decided: credentials \
             that were minted in between are to be revoked too"
        );
    }
}

/// An idle relay can sleep until something is due.
pub async fn the_next_work_is_due_when_it_is_pending_or_its_lease_ends(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let next = async || answered(trial.store.next_work_at().await);
    assert_eq!(next().await, None, "without work none is due");
    let row = trial.settled("a").await;
    assert_eq!(next().await, None, "done work is not due");

    trial.queue(&row.id, &[Effect::RevokeCredentials]).await;
    let pending = trial.work(&row.id, Effect::RevokeCredentials).await;
    assert_eq!(
        next().await,
        Some(pending.due_at),
        "pending work is due when it says"
    );
    let claimed = trial
        .claim_only(Effect::RevokeCredentials, "work that is due can be claimed")
        .await;
    assert_eq!(
        next().await,
        Some(claimed.until),
        "claimed work is due when its lease ends"
    );
    let failed = Settlement::Retry {
        after: LEASE + WHILE,
        note: "it did not answer".to_owned(),
        accepted_at: None,
    };
    trial.settle(&claimed, failed).await;
    let retried = trial.work(&row.id, Effect::RevokeCredentials).await;
    assert_eq!(
        next().await,
        Some(retried.due_at),
        "work that is to be tried again is due when it says"
    );
    trial.queue(&row.id, &[Effect::StopCompute]).await;
    let sooner = trial.work(&row.id, Effect::StopCompute).await;
    assert_eq!(
        next().await,
        Some(sooner.due_at),
        "the next work is the one that is due first"
    );
    let claimed = trial
        .claim_only(Effect::StopCompute, "work that is due can be claimed")
        .await;
    trial
        .settle(&claimed, Settlement::Dead("hopeless".to_owned()))
        .await;
    assert_eq!(
        next().await,
        Some(retried.due_at),
        "a dead letter is not due"
    );
}

/// Queues an effect again, with everything about it changed; returns what was said.
async fn renewed(trial: &Trial<'_>, id: &MachineId, effect: Effect) -> Enqueue {
    trial.advance(Duration::from_millis(1)).await;
    let row: Row = trial.row(id).await;
    let said = Enqueue {
        provider_id: Some("another provider id".to_owned()),
        marker: None,
        scope: "another scope".to_owned(),
        volume_id: Some("another volume".to_owned()),
        quarantine_id: Some(9),
        was_sighted: true,
        ..work(&row, effect, trial.now().await)
    };
    let change = Change {
        work: vec![said.clone()],
        ..Change::of(row)
    };
    trial.won(&change).await;
    said
}

/// Checks what work says, but for the time of its commit.
fn says(stored: &OutboxRow, said: &Enqueue, promise: &str) {
    let said = Enqueue {
        committed_at: stored.work.committed_at,
        ..said.clone()
    };
    assert_eq!(stored.work, said, "{promise}");
}

async fn is_anew(trial: &Trial<'_>, stored: &OutboxRow, before: Timestamp, what: &str) {
    let seen = (
        stored.state,
        stored.is_dirty,
        stored.attempts,
        stored.note.as_deref(),
    );
    assert_eq!(
        seen,
        (WorkState::Pending, false, 0, None),
        "{what} is pending, with no attempts and no note"
    );
    assert!(
        (before..=trial.now().await).contains(&stored.due_at),
        "{what} is due now"
    );
}
