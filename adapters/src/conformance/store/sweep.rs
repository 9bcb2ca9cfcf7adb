//! Is every row that is due looked at in its turn?

use core::time::Duration;
use std::collections::BTreeSet;

use lifecycle_core::Timestamp;

use super::{
    StoreHarness,
    trial::{Trial, WHILE, answered, new_machine},
};
use crate::{
    id::MachineId,
    row::{NewMachine, Row},
    store::Change,
};

/// The row that was not looked at for the longest comes first.
pub async fn rows_are_taken_the_longest_unchecked_first(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let now = trial.now().await;
    for (name, seconds) in [("a", 20), ("b", 40), ("c", 10), ("d", 30)] {
        let row = trial.registered(name).await;
        checked(
            &trial,
            row,
            now.saturating_sub(Duration::from_secs(seconds)),
        )
        .await;
    }
    let before = trial.now().await;
    let taken = answered(trial.store.take_due(None, 100).await);
    let after = trial.now().await;
    let ids: Vec<&str> = taken.iter().map(|one| one.row.id.as_str()).collect();
    assert_eq!(
        ids,
        ["b", "d", "a", "c"],
        "rows are taken the longest unchecked first"
    );
    for one in &taken {
        assert!(
            (before..=after).contains(&one.now),
            "a row is taken with the store's time"
        );
        let stored = trial.row(&one.row.id).await;
        assert!(
            (before..=after).contains(&stored.checked_at),
            "a row that is taken is marked as checked now"
        );
        assert_eq!(
            Row {
                checked_at: one.row.checked_at,
                ..stored
            },
            one.row,
            "a row that is taken is as it is stored"
        );
    }
}

/// A row that stays due (its look failed) comes again after all the others.
pub async fn taken_rows_rotate_so_that_none_starves(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let now = trial.now().await;
    for name in ["a", "b", "c", "d", "e"] {
        let row = trial.registered(name).await;
        checked(&trial, row, now).await;
    }
    for _ in 0..3 {
        let mut seen = BTreeSet::new();
        for limit in [1, 2, 2] {
            trial.advance(Duration::from_millis(10)).await;
            let taken = answered(trial.store.take_due(None, limit).await);
            seen.extend(taken.into_iter().map(|one| one.row.id));
        }
        assert_eq!(
            seen.len(),
            5,
            "rows rotate: a row that stays due comes again only after all the others"
        );
    }
    assert_eq!(
        answered(trial.store.take_due(None, 0).await),
        [],
        "a limit of none takes none"
    );
}

/// A row is taken only when it is time to look again, and never where it says never.
pub async fn rows_that_are_not_due_are_not_taken(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let soon = trial.now().await.saturating_add(WHILE * 2);
    for (name, look_again_at) in [
        ("never", None),
        ("soon", Some(soon)),
        ("last", Some(Timestamp::MAX)),
    ] {
        let row = trial.registered(name).await;
        trial
            .won(&Change::of(Row {
                look_again_at,
                ..row
            }))
            .await;
    }
    assert_eq!(
        answered(trial.store.take_due(None, 100).await),
        [],
        "rows that are not due are not taken"
    );
    trial.advance(WHILE * 2).await;
    let taken = answered(trial.store.take_due(None, 100).await);
    let ids: Vec<&str> = taken.iter().map(|one| one.row.id.as_str()).collect();
    assert_eq!(ids, ["soon"], "a row is taken once it is due");
}

/// Sweeps of one scope leave the rows of others alone.
pub async fn only_rows_of_the_given_scope_are_taken(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let past = trial.now().await.saturating_sub(WHILE);
    for (name, scope) in [("a", "here"), ("b", "there"), ("c", "there"), ("d", "here")] {
        let scope = scope.to_owned();
        let row = trial
            .registered_as(&NewMachine {
                scope,
                ..new_machine(name)
            })
            .await;
        checked(&trial, row, past).await;
    }
    for (scope, expected) in [
        (Some("nowhere"), &[][..]),
        (Some("there"), &["b", "c"]),
        (None, &["a", "b", "c", "d"]),
    ] {
        let taken = answered(trial.store.take_due(scope, 100).await);
        let ids: BTreeSet<&str> = taken.iter().map(|one| one.row.id.as_str()).collect();
        assert_eq!(
            ids,
            expected.iter().copied().collect(),
            "only rows of the given scope are taken, and all rows where none is given"
        );
        let others: Vec<MachineId> = ["a", "d"].map(super::trial::id).to_vec();
        for id in others {
            let is_checked = trial.row(&id).await.checked_at != past;
            assert_eq!(
                is_checked,
                scope.is_none(),
                "rows of other scopes are not marked as checked"
            );
        }
    }
}

/// Looking at a row makes nobody lose.
pub async fn taking_a_row_is_no_commit(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let row = trial.registered("a").await;
    let past = trial.now().await.saturating_sub(WHILE);
    let read = checked(&trial, row, past).await;
    let taken = answered(trial.store.take_due(None, 100).await);
    assert_eq!(
        taken.first().map(|one| one.row.revision),
        Some(read.revision),
        "taking a row does not count as a commit"
    );
    trial.won(&Change::of(read)).await;
}

/// Makes a row due, and last checked then.
async fn checked(trial: &Trial<'_>, row: Row, at: Timestamp) -> Row {
    let now = trial.now().await;
    trial
        .won(&Change::of(Row {
            checked_at: at,
            look_again_at: Some(now),
            ..row
        }))
        .await
}
