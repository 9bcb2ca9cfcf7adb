//! What does the SQLite store promise beyond the contract of every store?

mod accounting;
mod opening;
mod poison;
mod tokens;
mod writing;

use std::{path::PathBuf, sync::Arc};

use lifecycle_adapters::{
    clock::ManualClock,
    id::MachineId,
    ledger::Fact,
    outbox::{Enqueue, WorkKey},
    row::{NewMachine, Row},
    sqlite::SqliteStore,
    store::{Change, Registered, Store as _},
};
use lifecycle_core::{Effect, Rule, Source, Timestamp, Volume};
use sqlx::{AssertSqlSafe, SqliteConnection, SqlitePool, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

/// A folder that goes with the test, and a clock that stands still.
struct Kit {
    folder: TempDir,
    clock: Arc<ManualClock>,
}

impl Kit {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(ManualClock::at(at(1_000_000))),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("fleet.db")
    }

    async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.path(), self.clock.clone())
            .await
            .unwrap()
    }

    /// A pool of somebody else's on the same file.
    async fn host(&self) -> SqlitePool {
        let options = SqliteConnectOptions::new()
            .filename(self.path())
            .create_if_missing(true);
        SqlitePool::connect_with(options).await.unwrap()
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn id(text: &str) -> MachineId {
    MachineId::new(text).unwrap()
}

fn new(name: &str) -> NewMachine {
    NewMachine {
        id: id(name),
        scope: "account-1/eu".to_owned(),
        marker: Some(format!("marker-of-{name}")),
        provider_id: Some(format!("i-{name}")),
        volume: Volume::Owned,
        volume_id: Some(format!("vol-{name}")),
        policy: None,
    }
}

async fn registered(store: &SqliteStore, name: &str) -> Row {
    match store.register(&new(name)).await.unwrap() {
        Registered::Created(row) => row,
        Registered::Existing(row) => panic!("{} was there", row.id),
    }
}

/// A change with a consequence of every kind.
fn change(row: &Row) -> Change {
    let revision = row.revision + 1;
    Change {
        facts: vec![Fact {
            machine: row.id.clone(),
            generation: 1,
            fact: Effect::RecordRunning,
            occurrence: revision,
            at: at(1_000_000),
            source: Source::Sweep,
            rule: Some(Rule::SeenRunning),
            was_sighted: true,
            volume: Volume::Owned,
            volume_id: None,
        }],
        work: vec![work(row, Effect::RevokeCredentials)],
        ..Change::of(row.clone())
    }
}

fn work(row: &Row, effect: Effect) -> Enqueue {
    Enqueue {
        key: WorkKey {
            machine: row.id.clone(),
            generation: 1,
            effect,
            holds: 0,
        },
        provider_id: row.provider_id.clone(),
        marker: None,
        scope: "account-1/eu".to_owned(),
        volume_id: None,
        quarantine_id: None,
        committed_at: at(0),
        was_sighted: true,
    }
}

/// Runs statements of a test.
async fn sql(connection: &mut SqliteConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))
        .execute(connection)
        .await
        .unwrap();
}

async fn number(store: &SqliteStore, query: &'static str) -> i64 {
    sqlx::query_scalar(query)
        .fetch_one(store.pool())
        .await
        .unwrap()
}
