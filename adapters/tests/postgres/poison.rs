//! Does one row that cannot be read stand in the way of the others?

use core::time::Duration;

use lifecycle_adapters::{
    outbox::Settlement,
    store::{Store as _, StoreError},
};

use crate::{
    changes::{id, quarantines, row},
    database::{Database, new_machine},
};

#[tokio::test]
async fn a_row_that_cannot_be_read_is_passed_over_and_named() {
    let database = Database::new();
    let store = database.store().await;
    for name in ["a", "b", "c"] {
        store.register(&new_machine(name)).await.expect("it is new");
    }
    sqlx::raw_sql(
        "alter table lifecycle.machines drop constraint machines_status_check;
         update lifecycle.machines set status = 'asleep' where id = 'b'",
    )
    .execute(store.pool())
    .await
    .expect("the owner may");

    let error = store
        .load(&id("b"))
        .await
        .expect_err("no version wrote that");
    assert!(
        matches!(&error, StoreError::Corrupt { machine, .. } if machine == "b"),
        "{error}"
    );
    let taken = store
        .take_due(None, 10)
        .await
        .expect("the others are taken");
    assert_eq!(taken.len(), 2);
    let claimed = store
        .claim(10, Duration::from_secs(60))
        .await
        .expect("the others are claimed");
    assert_eq!(claimed.len(), 2);
}

#[tokio::test]
async fn a_note_that_no_text_column_holds_is_kept_as_far_as_it_goes() {
    let database = Database::new();
    let store = database.store().await;
    store.register(&new_machine("a")).await.expect("it is new");
    let claimed = store
        .claim(1, Duration::from_secs(60))
        .await
        .expect("it is due");
    let claimed = claimed.first().expect("it is due");
    let settlement = Settlement::Dead("a\0b".to_owned());
    let key = &claimed.row.work.key;
    assert!(
        store
            .settle(key, &claimed.token, &settlement)
            .await
            .expect("it is settled")
    );
    let dead = store.dead_letters(10).await.expect("it is read");
    assert_eq!(
        dead.first().and_then(|row| row.note.as_deref()),
        Some("a\u{fffd}b")
    );
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_and_nothing_is_written() {
    let database = Database::new();
    let store = database.store().await;
    store.register(&new_machine("a")).await.expect("it is new");
    let seen = row(&store, &id("a")).await;
    let mut change = quarantines(&seen);
    change.next.provider_id = Some("a\0b".to_owned());
    let error = store.commit(&change).await.expect_err("no text has it");
    assert!(!error.is_retryable(), "{error:?}");
    assert_eq!(row(&store, &id("a")).await, seen);
    assert_eq!(store.ledger(&id("a")).await.expect("it is read"), []);
}
