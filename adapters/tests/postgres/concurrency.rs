//! Does one writer win where many collide, and does everybody get an answer?

use core::time::Duration;

use lifecycle_adapters::{
    postgres::PostgresStore,
    store::{Commit, Store as _},
};
use lifecycle_core::Status;
use sqlx::{AssertSqlSafe, PgPool};
use tokio::task::JoinSet;

use crate::{
    changes::{destroyed_facts, destroys, id, is_won, row, status},
    database::{Database, new_machine, schema},
};

const COMMITTERS: usize = 8;
const MACHINES: usize = 100;

async fn registered(store: &PostgresStore) -> Vec<String> {
    let names: Vec<String> = (0..MACHINES).map(|n| format!("vm-{n:03}")).collect();
    for name in &names {
        store.register(&new_machine(name)).await.expect("it is new");
    }
    names
}

/// Reads a row and destroys it, until it is destroyed, by whomever; returns how often it won.
async fn destroy(store: PostgresStore, names: Vec<String>) -> usize {
    let mut wins = 0;
    for name in names {
        let mut seen = row(&store, &id(&name)).await;
        while status(&seen) != Status::Destroyed {
            match store
                .commit(&destroys(&seen))
                .await
                .expect("it is answered")
            {
                Commit::Won(now) => {
                    wins += 1;
                    seen = now;
                }
                Commit::Lost(fresh) => seen = fresh.expect("it is there"),
            }
        }
    }
    wins
}

/// Destroys all in one batch, in an order of its own.
async fn destroy_at_once(store: PostgresStore, mut names: Vec<String>, turn: usize) -> usize {
    names.rotate_left(turn * MACHINES / COMMITTERS);
    let mut changes = Vec::new();
    for name in names {
        let seen = row(&store, &id(&name)).await;
        if status(&seen) != Status::Destroyed {
            changes.push(destroys(&seen));
        }
    }
    let commits = store.commit_many(&changes).await.expect("it is answered");
    commits.iter().filter(|commit| is_won(commit)).count()
}

async fn each_is_destroyed_once(store: &PostgresStore, names: &[String]) {
    for name in names {
        assert_eq!(destroyed_facts(store, &id(name)).await, 1, "{name}");
        let work = store.work(&id(name)).await.expect("it is read");
        assert_eq!(work.len(), 3, "{name}");
    }
}

async fn joined(mut tasks: JoinSet<usize>) -> usize {
    let mut sum = 0;
    while let Some(task) = tasks.join_next().await {
        sum += task.expect("none panics");
    }
    sum
}

#[tokio::test(flavor = "multi_thread")]
async fn many_observers_of_many_machines_record_each_destroy_once() {
    let database = Database::new();
    let store = database.store().await;
    let names = registered(&store).await;
    let mut tasks = JoinSet::new();
    for _ in 0..COMMITTERS {
        tasks.spawn(destroy(store.clone(), names.clone()));
    }
    assert_eq!(joined(tasks).await, MACHINES);
    each_is_destroyed_once(&store, &names).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_batches_over_the_same_machines_record_each_destroy_once() {
    let database = Database::new();
    let store = database.store().await;
    let names = registered(&store).await;
    let mut tasks = JoinSet::new();
    for turn in 0..COMMITTERS {
        tasks.spawn(destroy_at_once(store.clone(), names.clone(), turn));
    }
    assert_eq!(joined(tasks).await, MACHINES);
    each_is_destroyed_once(&store, &names).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serialization_failures_are_tried_again() {
    let database = Database::new();
    drop(database.store().await);
    let name = database
        .url
        .rsplit('/')
        .next()
        .expect("it names a database");
    let name = name.split('?').next().expect("it names a database");
    run(
        &database.pool(1).await,
        &format!("alter database {name} set default_transaction_isolation = 'serializable'"),
    )
    .await;
    let store = PostgresStore::open(database.pool(8).await, schema())
        .await
        .expect("it is up to date");
    let names = registered(&store).await;
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        tasks.spawn(destroy(store.clone(), names.clone()));
    }
    assert_eq!(joined(tasks).await, MACHINES);
    each_is_destroyed_once(&store, &names).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_with_the_host_is_tried_again() {
    let database = Database::new();
    let store = database.store().await;
    for name in ["a", "b"] {
        store.register(&new_machine(name)).await.expect("it is new");
    }
    let (a, b) = (row(&store, &id("a")).await, row(&store, &id("b")).await);

    // The host locks in the other order, and is patient: the store is the one that is broken off.
    let pool = database.pool(1).await;
    let mut host = pool.begin().await.expect("it begins");
    sqlx::raw_sql("set local deadlock_timeout = '10min'")
        .execute(&mut *host)
        .await
        .expect("a superuser may");
    store
        .admit_on(&mut host, &id("b"))
        .await
        .expect("it is locked");
    let batch = tokio::spawn({
        let store = store.clone();
        let changes = [destroys(&a), destroys(&b)];
        async move { store.commit_many(&changes).await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    store
        .admit_on(&mut host, &id("a"))
        .await
        .expect("the store gives way");
    host.commit().await.expect("it is committed");
    let commits = batch
        .await
        .expect("it does not panic")
        .expect("it is answered");
    assert!(commits.iter().all(is_won), "{commits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sweeps_side_by_side_never_take_a_row_twice() {
    const AT_ONCE: u32 = 10;
    let database = Database::new();
    let store = database.store().await;
    registered(&store).await;
    for _ in 0..20 {
        let mut tasks = JoinSet::new();
        for _ in 0..COMMITTERS {
            let store = store.clone();
            tasks.spawn(async move { store.take_due(None, AT_ONCE).await });
        }
        // There are more rows than all of them take, so that each row comes once.
        let mut taken = Vec::new();
        while let Some(task) = tasks.join_next().await {
            let rows = task.expect("none panics").expect("it is answered");
            taken.extend(rows.into_iter().map(|loaded| loaded.row.id));
        }
        let count = taken.len();
        taken.sort();
        taken.dedup();
        assert_eq!(taken.len(), count, "a row came twice");
    }
}

async fn run(pool: &PgPool, statement: &str) {
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(pool)
        .await
        .expect("it runs");
}
