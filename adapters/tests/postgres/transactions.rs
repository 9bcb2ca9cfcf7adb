//! Do the store's rows share the fate of the host's own transaction?

use core::time::Duration;

use lifecycle_adapters::store::{Admission, Commit, Registered, Store as _};
use lifecycle_core::Status;
use sqlx::PgConnection;

use crate::{
    changes::{destroys, id, is_won, quarantines, row, status},
    database::{Database, new_machine},
};

async fn run(connection: &mut PgConnection, statements: &'static str) {
    sqlx::raw_sql(statements)
        .execute(connection)
        .await
        .expect("it runs");
}

#[tokio::test]
async fn the_hosts_rows_and_ours_become_visible_together_or_not_at_all() {
    let database = Database::new();
    let store = database.store().await;
    let pool = database.pool(2).await;
    let mut connection = pool.acquire().await.expect("the server answers");
    run(&mut connection, "create table orders (machine text)").await;
    for is_kept in [false, true] {
        let mut host = pool.begin().await.expect("it begins");
        run(&mut host, "insert into orders values ('a')").await;
        let registered = store.register_on(&mut host, &new_machine("a")).await;
        let Ok(Registered::Created(seen)) = registered else {
            panic!("{registered:?}");
        };
        let commit = store
            .commit_on(&mut host, &destroys(&seen))
            .await
            .expect("it is written");
        assert!(is_won(&commit), "{commit:?}");

        assert_eq!(store.load(&id("a")).await.expect("it is read"), None);
        assert_eq!(store.ledger(&id("a")).await.expect("it is read"), []);
        assert_eq!(store.work(&id("a")).await.expect("it is read"), []);
        assert_eq!(store.journal(&id("a")).await.expect("it is read"), []);
        if is_kept {
            host.commit().await.expect("it is committed");
        } else {
            host.rollback().await.expect("it is taken back");
        }
        let loaded = store.load(&id("a")).await.expect("it is read");
        assert_eq!(loaded.is_some(), is_kept);
        assert_eq!(
            store.ledger(&id("a")).await.expect("it is read").len(),
            usize::from(is_kept)
        );
        assert_eq!(
            store.work(&id("a")).await.expect("it is read").len(),
            3 * usize::from(is_kept)
        );
        assert_eq!(
            store.journal(&id("a")).await.expect("it is read").len(),
            2 * usize::from(is_kept)
        );
        let (orders,): (i64,) = sqlx::query_as("select count(*) from orders")
            .fetch_one(&mut *connection)
            .await
            .expect("it is read");
        assert_eq!(orders, i64::from(is_kept));
    }
}

#[tokio::test]
async fn a_commit_that_lost_leaves_the_hosts_transaction_usable() {
    let database = Database::new();
    let store = database.store().await;
    store.register(&new_machine("a")).await.expect("it is new");
    let stale = row(&store, &id("a")).await;
    store
        .commit(&quarantines(&stale))
        .await
        .expect("it is written");
    let pool = database.pool(1).await;
    let mut host = pool.begin().await.expect("it begins");
    let commit = store
        .commit_on(&mut host, &destroys(&stale))
        .await
        .expect("it is answered");
    let Commit::Lost(Some(fresh)) = commit else {
        panic!("{commit:?}");
    };
    assert_eq!(status(&fresh), Status::Quarantined);
    let commit = store
        .commit_on(&mut host, &destroys(&fresh))
        .await
        .expect("it is written");
    assert!(is_won(&commit));
    host.commit().await.expect("it is committed");
}

#[tokio::test]
async fn a_commit_waits_until_credentials_are_minted() {
    let database = Database::new();
    let store = database.store().await;
    store.register(&new_machine("a")).await.expect("it is new");
    let seen = row(&store, &id("a")).await;
    let pool = database.pool(2).await;
    let mut host = pool.begin().await.expect("it begins");
    let admission = store
        .admit_on(&mut host, &id("a"))
        .await
        .expect("it is read");
    assert_eq!(admission, Admission::Live { generation: 1 });
    // Two may mint at once.
    let mut other = pool.begin().await.expect("it begins");
    store
        .admit_on(&mut other, &id("a"))
        .await
        .expect("it is read");
    other.commit().await.expect("it is committed");

    let commit = tokio::spawn({
        let (store, change) = (store.clone(), quarantines(&seen));
        async move { store.commit(&change).await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!commit.is_finished());
    host.commit().await.expect("it is committed");
    let commit = commit
        .await
        .expect("it does not panic")
        .expect("it is answered");
    assert!(is_won(&commit));

    let mut host = pool.begin().await.expect("it begins");
    let admission = store
        .admit_on(&mut host, &id("a"))
        .await
        .expect("it is read");
    assert_eq!(admission, Admission::Refused);
    let admission = store
        .admit_on(&mut host, &id("b"))
        .await
        .expect("it is read");
    assert_eq!(admission, Admission::Unknown);
}
