//! How does one SQLite file keep machines, ledger, outbox and journal?
//!
//! ```
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use lifecycle_adapters::{clock::SystemClock, sqlite::SqliteStore, store::Store as _};
//! # let folder = std::env::temp_dir().join(format!("lifecycle-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//!
//! let store = SqliteStore::open(folder.join("fleet.db"), Arc::new(SystemClock::new())).await?;
//! assert!(store.kept_volumes().await?.is_empty());
//! # drop(store);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(example()).unwrap();
//! ```
//!
//! SQLite has one writer at a time. Every write begins with `BEGIN IMMEDIATE`, so that it waits for
//! its turn at the beginning, and never fails half-way since another was faster; readers do not wait.
//!
//! # In the transaction of the host
//!
//! The methods whose names end in `_on` write on a connection of the caller. Called in a transaction
//! begun through sqlx, they are part of it: they show with its commit, and fail without leaving a
//! half behind. A host that holds a write transaction must use them: the other methods would wait
//! for it to end.

mod adopt;
mod capacity;
mod columns;
mod commit;
mod history;
mod machines;
mod open;
mod outbox;
mod repair;
mod schema;
mod scopes;
mod tokens;
mod transaction;

use core::time::Duration;
use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use lifecycle_core::{ScopeWindow, Timestamp};
use sqlx::{Connection as _, SqliteConnection, SqlitePool};
use tokio::sync::Mutex;

pub use capacity::SqliteCapacity;
pub use tokens::{MintError, SqliteTokenRevoker, Token};

use crate::{
    clock::Clock,
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    outbox::{Claimed, OutboxRow, Settlement, WorkKey},
    row::NewMachine,
    store::{
        Admission, Adopted, Change, Commit, KeptVolume, Loaded, Registered, RepairMode, Repaired,
        Store, StoreError,
    },
};

/// A store in a SQLite file: one of its own ([`Self::open`]), or the host's ([`Self::embed`]).
///
/// Clones share the pool.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    pool: SqlitePool,
    clock: Arc<dyn Clock>,
    /// Whose turn it is to write, in this process: fair, unlike SQLite's own waiting.
    turn: Arc<Mutex<()>>,
}

impl SqliteStore {
    /// Opens a file of its own; makes it where there is none.
    ///
    /// The file is kept with a write-ahead log, which is flushed with every commit.
    ///
    /// # Errors
    ///
    /// Returns, and changes nothing: [`StoreError::ForeignDatabase`] for a file that is not SQLite, or
    /// holds tables but not ours; [`StoreError::NewerSchema`] for one that a later version wrote;
    /// [`StoreError::Refused`] for one that cannot be written or made.
    pub async fn open(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let pool = open::pool(path.as_ref()).await?;
        Self::embed(pool, clock).await
    }

    /// Uses the host's own database: makes our tables there, and touches no other.
    ///
    /// A time to wait for other writers (`busy_timeout`) and a write-ahead log are the host's to set.
    ///
    /// # Errors
    ///
    /// Returns, and changes nothing: [`StoreError::NewerSchema`] where a later version made our tables;
    /// what the database answered otherwise.
    pub async fn embed(pool: SqlitePool, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let store = Self {
            pool,
            clock,
            turn: Arc::default(),
        };
        let mut turn = store.turn().await?;
        let mut write = turn.begin().await?;
        let migrated = schema::migrate(&mut write.transaction, write.now).await;
        write.end(migrated).await?;
        drop(turn);
        Ok(store)
    }

    /// Returns the pool, for the host's own transactions in this file.
    #[must_use]
    pub const fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Does what [`Store::register`] does, on the caller's connection.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn register_on(
        &self,
        connection: &mut SqliteConnection,
        new: &NewMachine,
    ) -> Result<Registered, StoreError> {
        let mut part = connection.begin().await.map_err(failed)?;
        let registered = commit::register(&mut part, new, self.clock.now()).await?;
        part.commit().await.map_err(failed)?;
        Ok(registered)
    }

    /// Does what [`Store::commit`] does, on the caller's connection.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn commit_on(
        &self,
        connection: &mut SqliteConnection,
        change: &Change,
    ) -> Result<Commit, StoreError> {
        let mut part = connection.begin().await.map_err(failed)?;
        let commit = commit::commit(&mut part, change, self.clock.now()).await?;
        part.commit().await.map_err(failed)?;
        Ok(commit)
    }

    /// Does what [`Store::adopt`] does, on the caller's connection.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn adopt_on(
        &self,
        connection: &mut SqliteConnection,
        batch: &[Adopted],
    ) -> Result<Vec<Registered>, StoreError> {
        let mut part = connection.begin().await.map_err(failed)?;
        let adopted = adopt::adopt(&mut part, batch, self.clock.now()).await?;
        part.commit().await.map_err(failed)?;
        Ok(adopted)
    }

    /// Tells whether credentials may be minted, on the caller's connection, where they are minted too.
    ///
    /// Until the caller's transaction ends nobody else writes: SQLite has one writer at a time. Where
    /// the transaction had not begun as a write and somebody was faster, the minting fails as busy.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn admit_on(
        &self,
        connection: &mut SqliteConnection,
        id: &MachineId,
    ) -> Result<Admission, StoreError> {
        machines::admit(connection, id).await
    }

    /// Removes the decisions made before this time from the journal; returns how many. The ledger is
    /// never pruned.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn prune_journal(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let pruned = history::prune(&mut write.transaction, before).await;
        write.end(pruned).await
    }

    async fn reader(&self) -> Result<sqlx::pool::PoolConnection<sqlx::Sqlite>, StoreError> {
        self.pool.acquire().await.map_err(failed)
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.clock.now())
    }

    async fn register(&self, new: &NewMachine) -> Result<Registered, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let registered = commit::register(&mut write.transaction, new, write.now).await;
        write.end(registered).await
    }

    async fn load(&self, id: &MachineId) -> Result<Option<Loaded>, StoreError> {
        let row = machines::load(&mut *self.reader().await?, id).await?;
        // Read after the row, so that no instant of the row lies after it.
        let now = self.clock.now();
        Ok(row.map(|row| Loaded { row, now }))
    }

    async fn commit(&self, change: &Change) -> Result<Commit, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let commit = commit::commit(&mut write.transaction, change, write.now).await;
        write.end(commit).await
    }

    async fn commit_many(&self, changes: &[Change]) -> Result<Vec<Commit>, StoreError> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let commits = commit::commit_many(&mut write.transaction, changes, write.now).await;
        write.end(commits).await
    }

    async fn take_due(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Loaded>, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let taken = machines::take_due(&mut write.transaction, scope, limit, write.now).await;
        write.end(taken).await
    }

    async fn claim(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let claimed = outbox::claim(&mut write.transaction, limit, lease, write.now).await;
        write.end(claimed).await
    }

    async fn settle(
        &self,
        key: &WorkKey,
        token: &str,
        settlement: &Settlement,
    ) -> Result<bool, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let settled =
            outbox::settle(&mut write.transaction, key, token, settlement, write.now).await;
        write.end(settled).await
    }

    async fn work(&self, id: &MachineId) -> Result<Vec<OutboxRow>, StoreError> {
        outbox::of_machine(&mut *self.reader().await?, id).await
    }

    async fn dead_letters(&self, limit: u32) -> Result<Vec<OutboxRow>, StoreError> {
        outbox::dead_letters(&mut *self.reader().await?, limit).await
    }

    async fn retry_dead(&self, key: &WorkKey) -> Result<bool, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let retried = outbox::retry_dead(&mut write.transaction, key, write.now).await;
        write.end(retried).await
    }

    async fn drop_dead(&self, key: &WorkKey, reason: &str) -> Result<bool, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let dropped = outbox::drop_dead(&mut write.transaction, key, reason).await;
        write.end(dropped).await
    }

    async fn next_work_at(&self) -> Result<Option<Timestamp>, StoreError> {
        outbox::next_at(&mut *self.reader().await?).await
    }

    async fn ledger(&self, id: &MachineId) -> Result<Vec<Fact>, StoreError> {
        history::ledger(&mut *self.reader().await?, id).await
    }

    async fn journal(&self, id: &MachineId) -> Result<Vec<Entry>, StoreError> {
        history::journal(&mut *self.reader().await?, id).await
    }

    async fn kept_volumes(&self) -> Result<Vec<KeptVolume>, StoreError> {
        history::kept_volumes(&mut *self.reader().await?).await
    }

    async fn scope_window(&self, scope: &str, window: Duration) -> Result<ScopeWindow, StoreError> {
        scopes::window(&mut *self.reader().await?, scope, window, self.clock.now()).await
    }

    async fn release_scope(&self, scope: &str) -> Result<(), StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let released = scopes::release(&mut write.transaction, scope, write.now).await;
        write.end(released).await
    }

    async fn admit(&self, id: &MachineId) -> Result<Admission, StoreError> {
        machines::admit(&mut *self.reader().await?, id).await
    }

    async fn adopt(&self, batch: &[Adopted]) -> Result<Vec<Registered>, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let adopted = adopt::adopt(&mut write.transaction, batch, write.now).await;
        write.end(adopted).await
    }

    async fn repair(&self, mode: RepairMode) -> Result<Repaired, StoreError> {
        let mut turn = self.turn().await?;
        let mut write = turn.begin().await?;
        let repaired = repair::repair(&mut write.transaction, mode, write.now).await;
        write.end(repaired).await
    }
}

/// Says what an error of SQLite means.
fn failed(error: sqlx::Error) -> StoreError {
    if primary(&error).is_some_and(|code| code == NOT_A_DATABASE) {
        return StoreError::ForeignDatabase(error.to_string());
    }
    crate::sql::classified(error, passes)
}

/// Tells whether what this (extended) result code says passes by itself.
fn passes(code: &str) -> bool {
    code.parse::<u32>().is_ok_and(|code| {
        matches!(
            code & 0xff,
            BUSY | LOCKED | NO_MEMORY | INTERRUPTED | INPUT_OUTPUT | LOCK_PROTOCOL
        )
    })
}

/// Returns the primary result code of an error.
fn primary(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = crate::sql::code(error)?.parse().ok()?;
    Some(code & 0xff)
}

// The primary result codes that mean something here (<https://www.sqlite.org/rescode.html>).
const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const NO_MEMORY: u32 = 7;
const INTERRUPTED: u32 = 9;
const INPUT_OUTPUT: u32 = 10;
const LOCK_PROTOCOL: u32 = 15;
const NOT_A_DATABASE: u32 = 26;
