//! How does time pass for a store whose clock cannot be set?

use core::time::Duration;

use sqlx::AssertSqlSafe;

use super::{PostgresStore, failure::failed, statement::span};
use crate::store::StoreError;

impl PostgresStore {
    /// Lets time pass for every store of this schema: its clock then runs ahead of the server's.
    /// For tests; only the owner of the schema can.
    ///
    /// # Errors
    ///
    /// Returns the database's errors.
    pub async fn advance_clock(&self, by: Duration) -> Result<(), StoreError> {
        let schema = &self.schema;
        let ahead = format!(
            "select {schema}.now_ms() - floor(extract(epoch from clock_timestamp()) * 1000)::bigint"
        );
        let (ahead,): (i64,) = sqlx::query_as(AssertSqlSafe(ahead))
            .fetch_one(&self.pool)
            .await
            .map_err(failed)?;
        // Both clocks were read one after the other, at most a little apart.
        let ahead = ahead.max(0).saturating_add(span(by));
        let replaced = format!(
            "create or replace function {schema}.now_ms() returns bigint
                 language sql volatile parallel safe
                 begin atomic
                     select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + {ahead};
                 end"
        );
        sqlx::raw_sql(AssertSqlSafe(replaced.as_str()))
            .execute(&self.pool)
            .await
            .map_err(failed)?;
        Ok(())
    }
}
