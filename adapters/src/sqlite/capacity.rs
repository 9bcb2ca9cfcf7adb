//! How does a table account for what the host has left to give?

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{Row as _, SqliteConnection, query};

use super::{SqliteStore, failed};
use crate::{
    capacity::{Capacity, CapacityError, Reservation},
    sql::stored,
    store::StoreError,
};

/// The accounting in the same database: a row for each reservation.
#[derive(Clone, Debug)]
pub struct SqliteCapacity {
    store: Arc<SqliteStore>,
}

impl SqliteCapacity {
    /// Accounts in the store's database.
    #[must_use]
    pub const fn new(store: Arc<SqliteStore>) -> Self {
        Self { store }
    }

    /// Returns how many reservations are held.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn held(&self) -> Result<u64, StoreError> {
        let held: i64 = query(
            "SELECT count(*) FROM lifecycle_capacity
             WHERE held_at IS NOT NULL AND released_at IS NULL",
        )
        .fetch_one(&self.store.pool)
        .await
        .and_then(|raw| raw.try_get(0))
        .map_err(failed)?;
        crate::sql::count("every machine", "reservations", held)
    }

    /// Reserves capacity on the caller's connection.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn hold_on(
        &self,
        connection: &mut SqliteConnection,
        reservation: &Reservation,
    ) -> Result<(), StoreError> {
        self.write(connection, HOLD, reservation).await
    }

    /// Gives capacity back on the caller's connection.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn release_on(
        &self,
        connection: &mut SqliteConnection,
        reservation: &Reservation,
    ) -> Result<(), StoreError> {
        self.write(connection, RELEASE, reservation).await
    }

    async fn write(
        &self,
        connection: &mut SqliteConnection,
        sql: &'static str,
        reservation: &Reservation,
    ) -> Result<(), StoreError> {
        query(sql)
            .bind(reservation.machine.as_str())
            .bind(stored("generation", reservation.generation)?)
            .bind(stored("holds", reservation.holds)?)
            .bind(self.store.clock.now().as_millis())
            .execute(connection)
            .await
            .map_err(failed)?;
        Ok(())
    }

    async fn account(
        &self,
        sql: &'static str,
        reservation: &Reservation,
    ) -> Result<(), StoreError> {
        let mut turn = self.store.turn().await?;
        let mut write = turn.begin().await?;
        let accounted = self.write(&mut write.transaction, sql, reservation).await;
        write.end(accounted).await
    }
}

#[async_trait]
impl Capacity for SqliteCapacity {
    async fn hold(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.account(HOLD, reservation).await.map_err(unaccounted)
    }

    async fn release(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.account(RELEASE, reservation)
            .await
            .map_err(unaccounted)
    }
}

fn unaccounted(error: StoreError) -> CapacityError {
    CapacityError {
        message: error.to_string(),
        is_retryable: error.is_retryable(),
        source: Some(error.into()),
    }
}

const HOLD: &str = "
INSERT INTO lifecycle_capacity (machine, generation, holds, held_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (machine, generation, holds) DO NOTHING";

const RELEASE: &str = "
INSERT INTO lifecycle_capacity (machine, generation, holds, released_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (machine, generation, holds)
DO UPDATE SET released_at = coalesce(released_at, excluded.released_at)";
