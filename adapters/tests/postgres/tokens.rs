//! Is nothing live that a commit was to revoke, inside the commit and through the outbox?

use core::time::Duration;

use lifecycle_adapters::{
    outbox::WorkState,
    postgres::{Name, PgTokenRevoker, TokenTable},
    revoker::{Revocation, Revoker as _},
    store::Store as _,
};
use lifecycle_core::{Effect, Timestamp};
use sqlx::{AssertSqlSafe, PgPool};

use crate::{
    changes::{id, is_won, quarantines, row},
    database::{Database, new_machine},
};

fn name(text: &str) -> Name {
    Name::new(text).expect("it is plain")
}

/// A table with names that need their quotes.
pub(crate) fn example() -> TokenTable {
    TokenTable {
        schema: name("public"),
        table: name("Order"),
        machine: name("user"),
        generation: Some(name("Generation")),
        issued_at: Some(name("from")),
        revoked_at: name("to"),
    }
}

pub(crate) async fn create(pool: &PgPool, table: &TokenTable) {
    let TokenTable {
        schema,
        table,
        machine,
        generation,
        issued_at,
        revoked_at,
    } = table;
    let (generation, issued_at) = (generation.as_ref().unwrap(), issued_at.as_ref().unwrap());
    let create = format!(
        "create table {schema}.{table} ({machine} text, {generation} bigint,
             {issued_at} timestamptz default clock_timestamp(), {revoked_at} timestamptz)"
    );
    sqlx::raw_sql(AssertSqlSafe(create.as_str()))
        .execute(pool)
        .await
        .expect("it is created");
}

pub(crate) async fn mint<'c>(
    connection: impl sqlx::Executor<'c, Database = sqlx::Postgres>,
    machine: &str,
    generation: i64,
) {
    sqlx::query("insert into \"Order\" (\"user\", \"Generation\") values ($1, $2)")
        .bind(machine)
        .bind(generation)
        .execute(connection)
        .await
        .expect("it is minted");
}

/// Returns how many tokens of a machine still work.
pub(crate) async fn working(pool: &PgPool, machine: &str) -> i64 {
    let (count,) =
        sqlx::query_as("select count(*) from \"Order\" where \"user\" = $1 and \"to\" is null")
            .bind(machine)
            .fetch_one(pool)
            .await
            .expect("it is read");
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_minted_while_the_commit_waits_is_revoked_by_it() {
    let database = Database::new();
    let table = example();
    let store = database.store().await.with_tokens(table.clone());
    create(store.pool(), &table).await;
    for machine in ["a", "b"] {
        store
            .register(&new_machine(machine))
            .await
            .expect("it is new");
        mint(store.pool(), machine, 1).await;
    }
    let seen = row(&store, &id("a")).await;
    let mut host = store.pool().begin().await.expect("it begins");
    store
        .admit_on(&mut host, &id("a"))
        .await
        .expect("it is live");
    let commit = tokio::spawn({
        let (store, change) = (store.clone(), quarantines(&seen));
        async move { store.commit(&change).await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    mint(&mut *host, "a", 1).await;
    host.commit().await.expect("it is committed");
    assert!(is_won(
        &commit
            .await
            .expect("it does not panic")
            .expect("it is answered")
    ));

    assert_eq!(working(store.pool(), "a").await, 0);
    assert_eq!(working(store.pool(), "b").await, 1);
    let work = store.work(&id("a")).await.expect("it is read");
    let revocation = work
        .iter()
        .find(|work| work.work.key.effect == Effect::RevokeCredentials)
        .expect("it is kept as done");
    assert_eq!(revocation.state, WorkState::Done);
}

#[tokio::test]
async fn a_commit_that_lost_revokes_nothing() {
    let database = Database::new();
    let table = example();
    let store = database.store().await.with_tokens(table.clone());
    create(store.pool(), &table).await;
    store.register(&new_machine("a")).await.expect("it is new");
    let mut stale = row(&store, &id("a")).await;
    stale.revision += 7;
    mint(store.pool(), "a", 1).await;
    let commit = store
        .commit(&quarantines(&stale))
        .await
        .expect("it is answered");
    assert!(!is_won(&commit));
    assert_eq!(working(store.pool(), "a").await, 1);
}

#[tokio::test]
async fn what_was_issued_before_the_commit_is_revoked_and_later_incarnations_are_not() {
    let database = Database::new();
    let table = example();
    let store = database.store().await;
    let pool = store.pool();
    create(pool, &table).await;
    let revoker = PgTokenRevoker::new(pool.clone(), table);
    revoker.check().await.expect("the names are right");
    for generation in [1, 2] {
        mint(pool, "a", generation).await;
    }
    let mut revocation = Revocation {
        machine: id("a"),
        generation: 1,
        issued_before: Some(Timestamp::from_millis(0)),
    };
    revoker
        .revoke(&revocation)
        .await
        .expect("there is nothing to revoke");
    assert_eq!(working(pool, "a").await, 2);

    revocation.issued_before = Some(store.now().await.expect("it is read"));
    for _ in 0..2 {
        revoker.revoke(&revocation).await.expect("it is revoked");
        assert_eq!(working(pool, "a").await, 1);
    }
    revocation.generation = 2;
    revocation.issued_before = None;
    revoker.revoke(&revocation).await.expect("it is revoked");
    assert_eq!(working(pool, "a").await, 0);
}

#[tokio::test]
async fn a_wrong_name_is_found_at_the_start() {
    let database = Database::new();
    let revoker = PgTokenRevoker::new(database.pool(1).await, example());
    assert!(revoker.check().await.is_err());
    let error = revoker
        .revoke(&Revocation {
            machine: id("a"),
            generation: 1,
            issued_before: None,
        })
        .await
        .expect_err("there is no such table");
    assert!(!error.is_retryable);
}
