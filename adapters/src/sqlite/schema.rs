//! Which version of our tables does a database have, and how does it get the latest?

use lifecycle_core::Timestamp;
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, query, raw_sql};

use super::failed;
use crate::store::StoreError;

/// Every version of the schema: its number, its name, what makes it of the one before.
const MIGRATIONS: &[(i64, &str, &str)] = &[(
    1,
    "lifecycle",
    include_str!("../../migrations/sqlite/0001_lifecycle.sql"),
)];

/// The bookkeeping; not the `_sqlx_migrations` of a host that keeps its own.
const BOOKKEEPING: &str = "CREATE TABLE IF NOT EXISTS lifecycle_migrations (
    version INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT";

/// Brings our tables to the latest version, in the caller's transaction.
pub(super) async fn migrate(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<(), StoreError> {
    let found = version(connection).await?.unwrap_or(0);
    refuse_newer(found)?;
    if found == known() {
        return Ok(());
    }
    query(BOOKKEEPING)
        .execute(&mut *connection)
        .await
        .map_err(failed)?;
    for (version, name, sql) in MIGRATIONS {
        if *version <= found {
            continue;
        }
        raw_sql(AssertSqlSafe(*sql))
            .execute(&mut *connection)
            .await
            .map_err(failed)?;
        query("INSERT INTO lifecycle_migrations (version, name, applied_at) VALUES (?1, ?2, ?3)")
            .bind(version)
            .bind(*name)
            .bind(now.as_millis())
            .execute(&mut *connection)
            .await
            .map_err(failed)?;
    }
    Ok(())
}

/// Returns the version of our tables; none where there are none.
pub(super) async fn version(connection: &mut SqliteConnection) -> Result<Option<i64>, StoreError> {
    let is_there =
        query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'lifecycle_migrations'")
            .fetch_optional(&mut *connection)
            .await
            .map_err(failed)?
            .is_some();
    if !is_there {
        return Ok(None);
    }
    query("SELECT max(version) FROM lifecycle_migrations")
        .fetch_one(connection)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(failed)
}

/// Refuses what a later version wrote.
pub(super) fn refuse_newer(found: i64) -> Result<(), StoreError> {
    if found > known() {
        return Err(StoreError::NewerSchema {
            found,
            known: known(),
        });
    }
    Ok(())
}

const fn known() -> i64 {
    match MIGRATIONS.last() {
        Some((version, _, _)) => *version,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_up_from_one() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|(version, _, _)| *version).collect();
        let counted: Vec<i64> = (1..).take(versions.len()).collect();
        assert_eq!(versions, counted);
    }
}
