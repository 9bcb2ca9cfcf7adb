//! Does queued work wake an idle relay?

use core::time::Duration;

use lifecycle_adapters::store::Store as _;
use tokio::time::timeout;

use crate::{
    changes::{destroys, id, row},
    database::{Database, new_machine},
};

const SOON: Duration = Duration::from_secs(20);
const A_WHILE: Duration = Duration::from_millis(300);

#[tokio::test]
async fn queued_work_wakes_and_what_queues_nothing_does_not() {
    let database = Database::new();
    let store = database.store().await;
    let mut relay = store.work_notifications().await.expect("it listens");
    store.register(&new_machine("a")).await.expect("it is new");
    timeout(SOON, relay.queued())
        .await
        .expect("it is told")
        .expect("it listens");

    let seen = row(&store, &id("a")).await;
    store.commit(&destroys(&seen)).await.expect("it is written");
    timeout(SOON, relay.queued())
        .await
        .expect("it is told")
        .expect("it listens");

    // A commit that lost queues nothing.
    store
        .commit(&destroys(&seen))
        .await
        .expect("it is answered");
    timeout(A_WHILE, relay.queued())
        .await
        .expect_err("nothing was queued");
}

#[tokio::test]
async fn a_lost_connection_wakes_too() {
    let database = Database::new();
    let store = database.store().await;
    let mut relay = store.work_notifications().await.expect("it listens");
    sqlx::query(
        "select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query ilike 'listen%'",
    )
    .execute(store.pool())
    .await
    .expect("a superuser may");
    timeout(SOON, relay.queued())
        .await
        .expect("it is told")
        .expect("it listens again");
    store.register(&new_machine("a")).await.expect("it is new");
    timeout(SOON, relay.queued())
        .await
        .expect("it is told")
        .expect("it listens");
}
