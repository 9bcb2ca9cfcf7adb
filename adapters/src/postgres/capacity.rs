//! How is capacity accounted for beside the machines?

use async_trait::async_trait;

use super::{
    Name, PostgresStore,
    failure::{Failure, Tries},
    statement::Statement,
};
use crate::{
    capacity::{Capacity, CapacityError, Reservation},
    sql::stored,
    store::StoreError,
};

/// Accounts for capacity in a table of the store's schema, which the host may join and count.
#[derive(Clone, Debug)]
pub struct PgCapacity {
    store: PostgresStore,
    hold: Statement,
    release: Statement,
    reserved: Statement,
}

impl PgCapacity {
    /// Accounts in the schema of this store.
    #[must_use]
    pub fn new(store: &PostgresStore) -> Self {
        let schema: &Name = store.schema();
        let insert = |columns: &str, values: &str| {
            format!(
                "insert into {schema}.capacity as c (machine, generation, holds, {columns})
                 values ($1, $2, $3, {values}) on conflict (machine, generation, holds)"
            )
        };
        let now = format!("{schema}.now_ms()");
        Self {
            hold: format!("{} do nothing", insert("reserved_at", &now)).into(),
            // One that was never held is remembered as released, so that its hold comes to nothing.
            release: format!(
                "{} do update set released_at = coalesce(c.released_at, excluded.released_at)",
                insert("reserved_at, released_at", &format!("{now}, {now}"))
            )
            .into(),
            reserved: format!("select count(*) from {schema}.capacity where released_at is null")
                .into(),
            store: store.clone(),
        }
    }

    /// Returns how many reservations there are now.
    ///
    /// # Errors
    ///
    /// Returns the database's errors.
    pub async fn reserved(&self) -> Result<u64, StoreError> {
        let mut tries = Tries::new()?;
        loop {
            match self.count().await {
                Ok(count) => return Ok(count),
                Err(failure) => tries.wait_after(failure).await?,
            }
        }
    }

    async fn count(&self) -> Result<u64, Failure> {
        let mut connection = self.store.connection().await?;
        let (count,): (i64,) = self.reserved.rows().fetch_one(&mut *connection).await?;
        Ok(count.unsigned_abs())
    }

    async fn account(
        &self,
        statement: &Statement,
        reservation: &Reservation,
    ) -> Result<(), StoreError> {
        let generation = stored("generation", reservation.generation)?;
        let holds = stored("holds", reservation.holds)?;
        let mut tries = Tries::new()?;
        loop {
            let written = async {
                let mut connection = self.store.connection().await?;
                statement
                    .query()
                    .bind(reservation.machine.as_str())
                    .bind(generation)
                    .bind(holds)
                    .execute(&mut *connection)
                    .await
                    .map_err(Failure::from)
            };
            match written.await {
                Ok(_) => return Ok(()),
                Err(failure) => tries.wait_after(failure).await?,
            }
        }
    }
}

#[async_trait]
impl Capacity for PgCapacity {
    async fn hold(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.account(&self.hold, reservation)
            .await
            .map_err(unaccounted)
    }

    async fn release(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.account(&self.release, reservation)
            .await
            .map_err(unaccounted)
    }
}

fn unaccounted(error: StoreError) -> CapacityError {
    CapacityError {
        message: "capacity could not be accounted for".to_owned(),
        is_retryable: error.is_retryable(),
        source: Some(error.into()),
    }
}
