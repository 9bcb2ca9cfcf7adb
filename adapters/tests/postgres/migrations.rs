//! Does the schema come about once, whoever starts, and is it left alone where it is not ours?

use lifecycle_adapters::{
    postgres::{Name, PostgresStore},
    store::{Store as _, StoreError},
};
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::database::{Database, new_machine, pool, schema};

async fn migrate(pool: &PgPool) -> Result<PostgresStore, StoreError> {
    PostgresStore::migrate(pool.clone(), schema()).await
}

async fn run(pool: &PgPool, statements: &'static str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(statements).execute(pool).await.map(drop)
}

#[tokio::test]
async fn migrating_again_changes_nothing() {
    let database = Database::new();
    let pool = database.pool(2).await;
    let store = migrate(&pool).await.expect("it is created");
    store.register(&new_machine("a")).await.expect("it is new");
    let again = migrate(&pool).await.expect("it is there");
    let id = new_machine("a").id;
    assert!(again.load(&id).await.expect("it is read").is_some());
}

#[tokio::test]
async fn services_that_start_at_once_create_one_schema() {
    let database = Database::new();
    let mut services = JoinSet::new();
    for _ in 0..8 {
        let url = database.url.clone();
        services.spawn(async move { migrate(&pool(&url, 1).await).await.map(drop) });
    }
    while let Some(service) = services.join_next().await {
        service
            .expect("none panics")
            .expect("each finds it migrated");
    }
    let pool = database.pool(1).await;
    let (count, last): (i64, i64) =
        sqlx::query_as("select count(*), max(version) from lifecycle.lifecycle_migrations")
            .fetch_one(&pool)
            .await
            .expect("it is read");
    assert_eq!(count, last);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let database = Database::new();
    let pool = database.pool(2).await;
    migrate(&pool).await.expect("it is created");
    run(
        &pool,
        "insert into lifecycle.lifecycle_migrations (version, name) values (1000, 'later')",
    )
    .await
    .expect("it is written");
    for error in [
        migrate(&pool).await.map(drop),
        PostgresStore::open(pool.clone(), schema()).await.map(drop),
    ] {
        let error = error.expect_err("it is newer");
        assert!(
            matches!(error, StoreError::NewerSchema { found: 1000, .. }),
            "{error:?}"
        );
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_schema_of_somebody_else_is_left_alone() {
    let database = Database::new();
    let pool = database.pool(2).await;
    run(
        &pool,
        "create schema lifecycle; create table lifecycle.lifecycle_migrations (version bigint)",
    )
    .await
    .expect("it is created");
    let error = migrate(&pool).await.expect_err("it is not ours");
    assert!(matches!(error, StoreError::ForeignDatabase(_)), "{error:?}");
}

#[tokio::test]
async fn the_host_keeps_its_own_tables_and_an_empty_schema_may_be_there_already() {
    let database = Database::new();
    let pool = database.pool(2).await;
    run(
        &pool,
        "create table machines (mine int); create table _sqlx_migrations (version bigint);
         create schema lifecycle",
    )
    .await
    .expect("it is created");
    migrate(&pool).await.expect("it is created");
    let other = Name::new("Second Service".replace(' ', "_")).expect("it is plain");
    PostgresStore::migrate(pool.clone(), other)
        .await
        .expect("it is created");
    run(
        &pool,
        "insert into public.machines values (1); select from \"Second_Service\".machines",
    )
    .await
    .expect("both are there");
}

#[tokio::test]
async fn a_schema_that_is_not_there_is_not_opened() {
    let database = Database::new();
    let error = PostgresStore::open(database.pool(1).await, schema()).await;
    assert!(matches!(error, Err(StoreError::Refused(_))));
}

#[tokio::test]
async fn nobody_changes_what_is_recorded() {
    let database = Database::new();
    let pool = database.pool(2).await;
    migrate(&pool).await.expect("it is created");
    for statement in [
        "update lifecycle.ledger set at = 0",
        "delete from lifecycle.ledger",
        "truncate lifecycle.ledger",
        "update lifecycle.journal set at = 0",
        "delete from lifecycle.journal",
        "truncate lifecycle.journal",
    ] {
        let error = run(&pool, statement).await.expect_err(statement);
        assert!(error.to_string().contains("is append-only"), "{error}");
    }
}

#[tokio::test]
async fn a_service_may_define_and_delete_nothing() {
    let database = Database::new();
    let owner = database.store().await;
    let (role, url) = database.role();
    owner.grant_role(&role).await.expect("the owner grants");
    let pool = pool(&url, 2).await;
    for statement in [
        "create table lifecycle.more (a int)",
        "alter table lifecycle.machines add more int",
        "drop table lifecycle.journal",
        "delete from lifecycle.machines",
        "delete from lifecycle.outbox",
        "delete from lifecycle.ledger",
        "update lifecycle.ledger set at = 0",
        "delete from lifecycle.journal",
        "set lifecycle.pruning = 'ledger'; delete from lifecycle.ledger",
        "insert into lifecycle.lifecycle_migrations (version, name) values (1000, 'later')",
        "create or replace function lifecycle.now_ms() returns bigint language sql as 'select 1::bigint'",
    ] {
        run(&pool, statement).await.expect_err(statement);
    }
}
