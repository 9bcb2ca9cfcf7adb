//! Is every write whole, whatever happens in its middle?

use core::{error::Error as _, future::poll_fn, pin::pin, task::Poll};

use lifecycle_adapters::{
    clock::Clock as _,
    sqlite::SqliteStore,
    store::{Admission, Change, Commit, Registered, Store as _, StoreError},
};
use lifecycle_core::Effect;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use crate::{Kit, at, change, id, new, number, registered, sql, work};

#[tokio::test]
async fn two_programs_write_one_row_at_once_and_lose_nothing() {
    let kit = Kit::new();
    let stores = [kit.open().await, kit.open().await];
    registered(&stores[0], "a").await;
    let mut writers = tokio::task::JoinSet::new();
    for store in stores.iter().cycle().take(16) {
        let store = store.clone();
        writers.spawn(async move {
            for _ in 0..10 {
                loop {
                    let row = store.load(&id("a")).await.unwrap().unwrap().row;
                    if let Commit::Won(_) = store.commit(&change(&row)).await.unwrap() {
                        break;
                    }
                }
            }
        });
    }
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    let row = stores[1].load(&id("a")).await.unwrap().unwrap().row;
    assert_eq!(row.revision, 161);
    assert_eq!(stores[1].ledger(&id("a")).await.unwrap().len(), 160);
}

#[tokio::test]
async fn what_cannot_be_stored_leaves_nothing_of_its_change() {
    let kit = Kit::new();
    let store = kit.open().await;
    let row = registered(&store, "a").await;
    let mut wrong = change(&row);
    // A fact is no work.
    wrong.work.push(work(&row, Effect::RecordOrphan));
    let error = store.commit(&wrong).await.unwrap_err();
    assert!(matches!(error, StoreError::Unstorable(_)), "{error}");
    let other = registered(&store, "c").await;
    let both = [change(&other), wrong];
    let error = store.commit_many(&both).await.unwrap_err();
    assert!(matches!(error, StoreError::Unstorable(_)), "{error}");
    assert_eq!(store.ledger(&id("c")).await.unwrap(), []);
    untouched(&store).await;
}

#[tokio::test]
async fn an_error_of_the_database_in_the_middle_leaves_nothing() {
    let kit = Kit::new();
    let store = kit.open().await;
    let row = registered(&store, "a").await;
    let mut connection = store.pool().acquire().await.unwrap();
    sql(
        &mut connection,
        "CREATE TRIGGER breaks BEFORE INSERT ON lifecycle_outbox WHEN NEW.effect = 'revoke_credentials'
         BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    .await;
    drop(connection);
    let error = store.commit(&change(&row)).await.unwrap_err();
    assert!(error.source().unwrap().to_string().contains("broken"));
    untouched(&store).await;
}

/// The row of `a` is as registered, and the store goes on.
async fn untouched(store: &SqliteStore) {
    let row = store.load(&id("a")).await.unwrap().unwrap().row;
    assert_eq!(row.revision, 1);
    assert_eq!(store.ledger(&id("a")).await.unwrap(), []);
    assert_eq!(store.work(&id("a")).await.unwrap().len(), 1);
    registered(store, "b").await;
}

#[tokio::test]
async fn a_call_that_is_dropped_anywhere_is_whole_or_not_at_all() {
    let kit = Kit::new();
    let store = kit.open().await;
    registered(&store, "a").await;
    let mut finished = 0;
    for polls in 0..60 {
        let row = store.load(&id("a")).await.unwrap().unwrap().row;
        let change = change(&row);
        {
            let mut call = pin!(store.commit(&change));
            let mut left = polls;
            let outcome = poll_fn(|context| match call.as_mut().poll(context) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                Poll::Pending if left == 0 => Poll::Ready(None),
                Poll::Pending => {
                    left -= 1;
                    Poll::Pending
                }
            })
            .await;
            finished += u32::from(outcome.is_some());
        }
        // In one statement: a commit that was on its way may land at any time.
        let halves = "SELECT revision - 1 - (SELECT count(*) FROM lifecycle_ledger)
            FROM lifecycle_machines";
        assert_eq!(number(&store, halves).await, 0);
        assert!(store.pool().size() <= 8);
    }
    assert!(finished > 10, "{finished} of 60 calls were not dropped");
}

#[tokio::test]
async fn the_hosts_row_and_ours_show_together_or_not_at_all() {
    let kit = Kit::new();
    let store = kit.open().await;
    let mut connection = store.pool().acquire().await.unwrap();
    sql(&mut connection, "CREATE TABLE orders (machine TEXT)").await;
    drop(connection);
    let seen = async || {
        (
            number(&store, "SELECT count(*) FROM orders").await,
            number(&store, "SELECT count(*) FROM lifecycle_machines").await,
            number(
                &store,
                "SELECT coalesce(sum(revision), 0) FROM lifecycle_machines",
            )
            .await,
        )
    };
    for is_committed in [false, true] {
        let mut host = store.pool().begin_with("BEGIN IMMEDIATE").await.unwrap();
        sql(&mut host, "INSERT INTO orders VALUES ('a')").await;
        let Registered::Created(row) = store.register_on(&mut host, &new("a")).await.unwrap()
        else {
            panic!("it is new");
        };
        let commit = store.commit_on(&mut host, &change(&row)).await.unwrap();
        assert!(matches!(commit, Commit::Won(_)));
        assert_eq!(
            store.admit_on(&mut host, &id("a")).await.unwrap(),
            Admission::Live { generation: 1 }
        );
        assert_eq!(seen().await, (0, 0, 0));
        if is_committed {
            host.commit().await.unwrap();
        } else {
            host.rollback().await.unwrap();
        }
    }
    assert_eq!(seen().await, (1, 1, 2));
}

#[tokio::test]
async fn a_change_that_fails_in_the_hosts_transaction_leaves_no_half_in_it() {
    let kit = Kit::new();
    let store = kit.open().await;
    let row = registered(&store, "a").await;
    let mut wrong = change(&row);
    wrong.work.push(work(&row, Effect::RecordOrphan));
    let mut host = store.pool().begin_with("BEGIN IMMEDIATE").await.unwrap();
    store.commit_on(&mut host, &wrong).await.unwrap_err();
    sql(&mut host, "CREATE TABLE orders (machine TEXT)").await;
    host.commit().await.unwrap();
    assert_eq!(number(&store, "SELECT count(*) FROM orders").await, 0);
    untouched(&store).await;
}

#[tokio::test]
async fn a_call_outside_of_a_transaction_is_one_of_its_own() {
    let kit = Kit::new();
    let store = kit.open().await;
    let row = registered(&store, "a").await;
    let mut wrong = change(&row);
    wrong.work.push(work(&row, Effect::RecordOrphan));
    let mut connection = store.pool().acquire().await.unwrap();
    store.commit_on(&mut connection, &wrong).await.unwrap_err();
    drop(connection);
    untouched(&store).await;
    let mut connection = store.pool().acquire().await.unwrap();
    let commit = store
        .commit_on(&mut connection, &change(&row))
        .await
        .unwrap();
    assert!(matches!(commit, Commit::Won(_)));
}

#[tokio::test]
async fn a_full_disk_refuses_changes_nothing_and_passes() {
    for connections in [1, 4] {
        let kit = Kit::new();
        let options = SqliteConnectOptions::new()
            .filename(kit.path())
            .create_if_missing(true)
            .foreign_keys(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(connections)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    sqlx::query("PRAGMA max_page_count = 60")
                        .execute(connection)
                        .await?;
                    Ok(())
                })
            })
            .connect_with(options)
            .await
            .unwrap();
        let store = SqliteStore::embed(pool, kit.clock.clone()).await.unwrap();
        let mut kept = 0;
        let error = loop {
            match store
                .register(&new(&format!("{kept}-{}", "x".repeat(100))))
                .await
            {
                Ok(_) => kept += 1,
                Err(error) => break error,
            }
        };
        assert!(kept > 0);
        let cause = error.source().unwrap().to_string();
        assert!(cause.contains("full"), "{cause}");
        for _ in 0..20 {
            store.register(&new("b")).await.ok();
            store.register(&new(&"y".repeat(200))).await.ok();
        }
        let machines = number(&store, "SELECT count(*) FROM lifecycle_machines").await;
        let entries = number(&store, "SELECT count(*) FROM lifecycle_journal").await;
        let work = number(&store, "SELECT count(*) FROM lifecycle_outbox").await;
        assert!(machines >= kept);
        assert_eq!((machines, machines), (entries, work));

        let mut connection = store.pool().acquire().await.unwrap();
        sql(&mut connection, "PRAGMA max_page_count = 100000").await;
        drop(connection);
        if connections == 1 {
            registered(&store, "room-again").await;
        }
    }
}

#[tokio::test]
async fn a_writer_that_holds_on_makes_others_give_up_for_now() {
    let kit = Kit::new();
    let store = kit.open().await;
    let row = registered(&store, "a").await;
    let options = SqliteConnectOptions::new()
        .filename(kit.path())
        .busy_timeout(core::time::Duration::from_millis(50));
    let pool = SqlitePoolOptions::new()
        .connect_with(options)
        .await
        .unwrap();
    let other = SqliteStore::embed(pool, kit.clock.clone()).await.unwrap();

    let host = store.pool().begin_with("BEGIN IMMEDIATE").await.unwrap();
    let error = other.commit(&change(&row)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert!(error.is_retryable());
    // Readers do not wait.
    assert!(other.load(&id("a")).await.unwrap().is_some());
    host.rollback().await.unwrap();
    assert!(matches!(
        other.commit(&change(&row)).await.unwrap(),
        Commit::Won(_)
    ));
}

#[tokio::test]
async fn ledger_and_journal_refuse_changes_and_only_the_journal_is_pruned() {
    let kit = Kit::new();
    let store = kit.open().await;
    let row = registered(&store, "a").await;
    store.commit(&change(&row)).await.unwrap();
    for statement in [
        "UPDATE lifecycle_ledger SET at = 0",
        "DELETE FROM lifecycle_ledger",
        "UPDATE lifecycle_journal SET at = 0",
        "DELETE FROM lifecycle_journal",
    ] {
        let refused = sqlx::query(statement)
            .execute(store.pool())
            .await
            .unwrap_err();
        assert!(
            refused.to_string().contains("append-only"),
            "{statement}: {refused}"
        );
    }
    let (facts, entries) = (
        store.ledger(&id("a")).await.unwrap(),
        store.journal(&id("a")).await.unwrap(),
    );
    for statement in [
        "INSERT OR REPLACE INTO lifecycle_ledger (machine, generation, fact, occurrence, at, source,
            was_sighted, volume)
         SELECT machine, generation, fact, occurrence, 0, 'user', 0, 'none' FROM lifecycle_ledger",
        "INSERT OR REPLACE INTO lifecycle_ledger (seq, machine, generation, fact, occurrence, at,
            source, was_sighted, volume)
         SELECT seq, machine, 9, fact, occurrence, 0, 'user', 0, 'none' FROM lifecycle_ledger",
        "INSERT OR REPLACE INTO lifecycle_journal (seq, machine, revision, at, source, input, why)
         SELECT seq, machine, revision, 0, 'user', '', '' FROM lifecycle_journal",
    ] {
        sqlx::query(statement).execute(store.pool()).await.unwrap();
    }
    assert_eq!(store.ledger(&id("a")).await.unwrap(), facts);
    assert_eq!(store.journal(&id("a")).await.unwrap(), entries);
    let now = kit.clock.now();
    assert_eq!(store.prune_journal(now).await.unwrap(), 0);
    assert_eq!(
        store.prune_journal(at(now.as_millis() + 1)).await.unwrap(),
        1
    );
    assert_eq!(store.journal(&id("a")).await.unwrap(), []);
    assert_eq!(store.ledger(&id("a")).await.unwrap().len(), 1);
    assert_eq!(
        number(&store, "SELECT count(*) FROM lifecycle_journal_pruning").await,
        0
    );
}

#[tokio::test]
async fn a_count_that_no_column_can_hold_is_refused() {
    let kit = Kit::new();
    let store = kit.open().await;
    let mut row = registered(&store, "a").await;
    row.facts.update(|machine| lifecycle_core::Machine {
        holds: u64::MAX,
        ..machine
    });
    let error = store.commit(&Change::of(row)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unstorable(_)), "{error}");
    untouched(&store).await;
}
