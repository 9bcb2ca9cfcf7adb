//! How does a write take its turn, and end whole or not at all?

use lifecycle_core::Timestamp;
use sqlx::{Connection as _, Sqlite, Transaction, pool::PoolConnection};
use tokio::sync::MutexGuard;

use super::{INPUT_OUTPUT, SqliteStore, failed, primary};
use crate::{clock::Clock, store::StoreError};

/// A connection whose turn it is to write.
pub(super) struct Turn<'s> {
    connection: PoolConnection<Sqlite>,
    clock: &'s dyn Clock,
    // Given up last, when the connection has gone back.
    _turn: MutexGuard<'s, ()>,
}

/// A write transaction; rolled back where it is dropped.
pub(super) struct Write<'t> {
    /// Where to write.
    pub(super) transaction: Transaction<'t, Sqlite>,
    /// The store's time, read when nobody else could write any more.
    pub(super) now: Timestamp,
}

impl SqliteStore {
    /// Waits for the turn to write.
    pub(super) async fn turn(&self) -> Result<Turn<'_>, StoreError> {
        let turn = self.turn.lock().await;
        loop {
            let mut connection = self.pool.acquire().await.map_err(failed)?;
            if connection.is_in_transaction() {
                // As where our own pool is made: a host's pool does not look.
                connection.close_on_drop();
                continue;
            }
            return Ok(Turn {
                connection,
                clock: &*self.clock,
                _turn: turn,
            });
        }
    }
}

impl Turn<'_> {
    /// Begins to write.
    pub(super) async fn begin(&mut self) -> Result<Write<'_>, StoreError> {
        let transaction = self
            .connection
            .begin_with("BEGIN IMMEDIATE")
            .await
            .map_err(failed)?;
        Ok(Write {
            transaction,
            now: self.clock.now(),
        })
    }
}

impl Write<'_> {
    /// Commits what succeeded, rolls back what did not.
    pub(super) async fn end<T>(self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        match outcome {
            Ok(value) => {
                self.transaction.commit().await.map_err(uncommitted)?;
                Ok(value)
            }
            Err(error) => {
                if let Err(rollback) = self.transaction.rollback().await {
                    tracing::debug!(%rollback, "rolled back by the database already");
                }
                Err(error)
            }
        }
    }
}

/// A commit that failed for input or output may be in the file or not; anything else is not.
fn uncommitted(error: sqlx::Error) -> StoreError {
    let is_in_doubt = matches!(error, sqlx::Error::WorkerCrashed)
        || primary(&error).is_some_and(|code| code == INPUT_OUTPUT);
    if is_in_doubt {
        StoreError::OutcomeUnknown(error.into())
    } else {
        failed(error)
    }
}
