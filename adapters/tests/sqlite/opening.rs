//! Which files are opened, and which are refused and left as they were?

use std::{collections::BTreeMap, fs, sync::Arc};

use lifecycle_adapters::{clock::SystemClock, sqlite::SqliteStore, store::StoreError};
use sqlx::{Connection as _, SqliteConnection};

use crate::{Kit, number, registered, sql};

#[tokio::test]
async fn what_is_not_sqlite_is_refused() {
    for content in [
        "short",
        "a text that is longer than the header of a database",
    ] {
        let kit = Kit::new();
        fs::write(kit.path(), content).unwrap();
        let error = refused(&kit).await;
        assert!(matches!(error, StoreError::ForeignDatabase(_)), "{error}");
        assert!(error.to_string().ends_with("is not a SQLite file"));
    }
}

#[tokio::test]
async fn the_database_of_another_program_is_refused() {
    for journal_mode in ["delete", "wal"] {
        let kit = Kit::new();
        let mut other = kit.host().await.acquire().await.unwrap().detach();
        sql(
            &mut other,
            &format!("PRAGMA journal_mode = {journal_mode}; CREATE TABLE notes (t)"),
        )
        .await;
        other.close().await.unwrap();
        let error = refused(&kit).await;
        assert!(matches!(error, StoreError::ForeignDatabase(_)), "{error}");
        assert!(
            error
                .to_string()
                .contains("another program (it has \"notes\")"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_database_of_another_program_that_is_in_use_is_refused() {
    let kit = Kit::new();
    let mut other = kit.host().await.acquire().await.unwrap().detach();
    sql(
        &mut other,
        "PRAGMA journal_mode = wal; CREATE TABLE notes (t)",
    )
    .await;
    let error = refused(&kit).await;
    assert!(matches!(error, StoreError::ForeignDatabase(_)), "{error}");
    sql(&mut other, "INSERT INTO notes VALUES (1)").await;
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let kit = Kit::new();
    let store = kit.open().await;
    sqlx::query("INSERT INTO lifecycle_migrations VALUES (99, 'of the future', 0)")
        .execute(store.pool())
        .await
        .unwrap();
    store.pool().close().await;
    let error = refused(&kit).await;
    assert_eq!(
        error.to_string(),
        "the schema has version 99, this program knows up to 1"
    );

    let host = kit.host().await;
    let embedded = SqliteStore::embed(host, kit.clock.clone()).await;
    assert!(matches!(
        embedded,
        Err(StoreError::NewerSchema {
            found: 99,
            known: 1
        })
    ));
}

#[tokio::test]
async fn a_read_only_file_is_refused() {
    let kit = Kit::new();
    let store = kit.open().await;
    store.pool().close().await;
    let mut permissions = fs::metadata(kit.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(kit.path(), permissions).unwrap();
    let error = refused(&kit).await;
    assert!(matches!(error, StoreError::Refused(_)), "{error}");
    let cause = core::error::Error::source(&error).unwrap().to_string();
    assert!(cause.ends_with("is read-only"), "{cause}");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_refused() {
    let kit = Kit::new();
    let path = kit.folder.path().join("nowhere/fleet.db");
    let error = SqliteStore::open(&path, kit.clock.clone())
        .await
        .unwrap_err();
    assert!(!error.is_retryable(), "{error}");
    assert!(!path.parent().unwrap().exists());
}

#[tokio::test]
async fn an_empty_file_becomes_ours() {
    let kit = Kit::new();
    fs::write(kit.path(), "").unwrap();
    let store = kit.open().await;
    registered(&store, "a").await;
}

#[tokio::test]
async fn a_file_is_opened_again_and_kept_with_a_log_that_is_flushed() {
    let kit = Kit::new();
    let store = kit.open().await;
    registered(&store, "a").await;
    store.pool().close().await;
    let store = kit.open().await;
    assert_eq!(
        number(&store, "SELECT count(*) FROM lifecycle_machines").await,
        1
    );
    assert_eq!(
        number(&store, "SELECT count(*) FROM lifecycle_migrations").await,
        1
    );
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(store.pool())
        .await
        .unwrap();
    assert_eq!(mode, "wal");
    assert_eq!(number(&store, "PRAGMA synchronous").await, 2);
    assert_eq!(number(&store, "PRAGMA foreign_keys").await, 1);
    assert_eq!(number(&store, "PRAGMA busy_timeout").await, 10_000);
}

#[tokio::test]
async fn a_file_that_a_crash_left_with_a_log_is_opened() {
    let kit = Kit::new();
    let store = kit.open().await;
    registered(&store, "a").await;
    // A copy of a file in use is what a crash leaves: the log holds what the file does not.
    let crashed = Kit::new();
    for suffix in ["", "-wal"] {
        let name = format!("fleet.db{suffix}");
        fs::copy(
            kit.folder.path().join(&name),
            crashed.folder.path().join(&name),
        )
        .unwrap();
    }
    let store = crashed.open().await;
    assert_eq!(
        number(&store, "SELECT count(*) FROM lifecycle_machines").await,
        1
    );
}

#[tokio::test]
async fn several_programs_may_make_the_file_at_once() {
    for _ in 0..30 {
        let kit = Kit::new();
        let open = || SqliteStore::open(kit.path(), Arc::new(SystemClock::new()));
        let (one, two, three) = tokio::join!(open(), open(), open());
        for store in [one, two, three] {
            let store = store.unwrap();
            assert_eq!(
                number(&store, "SELECT count(*) FROM lifecycle_migrations").await,
                1
            );
        }
    }
}

#[tokio::test]
async fn the_hosts_tables_and_migrations_stay_as_they_are() {
    let kit = Kit::new();
    let host = kit.host().await;
    let mut connection: SqliteConnection = host.acquire().await.unwrap().detach();
    sql(
        &mut connection,
        "CREATE TABLE users (name TEXT); CREATE TABLE _sqlx_migrations (version BIGINT)",
    )
    .await;
    for _ in 0..2 {
        let store = SqliteStore::embed(host.clone(), kit.clock.clone())
            .await
            .unwrap();
        let others: Vec<String> = sqlx::query_scalar(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                AND name NOT LIKE 'lifecycle_%' ORDER BY name",
        )
        .fetch_all(store.pool())
        .await
        .unwrap();
        assert_eq!(others, ["_sqlx_migrations", "users"]);
        assert_eq!(
            number(&store, "SELECT count(*) FROM _sqlx_migrations").await,
            0
        );
    }
    // Embedded once, it may be opened by its path too.
    kit.open().await;
}

/// Opens, is refused, and finds every file of the folder as it was.
async fn refused(kit: &Kit) -> StoreError {
    let before = files(kit);
    let error = SqliteStore::open(kit.path(), kit.clock.clone())
        .await
        .unwrap_err();
    assert_eq!(files(kit), before);
    error
}

fn files(kit: &Kit) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(kit.folder.path())
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            // The index of the log is memory that readers mark their place in.
            let content = if name.ends_with("-shm") {
                Vec::new()
            } else {
                fs::read(file.path()).unwrap()
            };
            (name, content)
        })
        .collect()
}
