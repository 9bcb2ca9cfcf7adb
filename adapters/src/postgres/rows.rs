//! How are rows read, taken to be looked at, and locked for admission?

use lifecycle_core::Timestamp;
use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::{
    Name, PostgresStore,
    columns::names,
    failure::{Failure, failed},
    statement::Statement,
};
use crate::{
    id::MachineId,
    row::Row,
    sql::{MachineColumns, ordinal, word},
    store::{Admission, Loaded, StoreError},
};

#[derive(Debug)]
pub(super) struct Statements {
    pub(super) now: Statement,
    load: Statement,
    fresh: Statement,
    take_due: Statement,
    admit: Statement,
}

impl Statements {
    pub(super) fn of(schema: &Name) -> Self {
        let columns = names::<MachineColumns>("m.");
        Self {
            now: format!("select {schema}.now_ms()").into(),
            load: format!(
                "select {columns}, {schema}.now_ms() as now from {schema}.machines m where m.id = $1"
            )
            .into(),
            fresh: format!(
                "select {columns}, $2::text::uuid = any(m.recent_commits) as is_ours
                 from {schema}.machines m where m.id = any($1)"
            )
            .into(),
            // By an array, so that no more rows are looked at than are taken, whatever the statistics say.
            take_due: format!(
                "with due as materialized (
                     select id, checked_at from {schema}.lock_due($1, $2)
                 )
                 update {schema}.machines m set checked_at = clock.now
                 from due, (select {schema}.now_ms() as now) clock
                 where m.id = due.id and m.id = any(array(select id from due))
                 returning {columns}, clock.now, due.checked_at as last_checked_at"
            )
            .into(),
            admit: format!(
                "select status, generation from {schema}.machines where id = $1 for share"
            )
            .into(),
        }
    }
}

/// A row as it is after a lost commit, and whether that commit had been ours after all.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) row: Row,
    pub(super) is_ours: bool,
}

impl PostgresStore {
    pub(super) async fn read_row(&self, id: &MachineId) -> Result<Option<Loaded>, Failure> {
        let mut connection = self.connection().await?;
        let row = self
            .statements()
            .rows
            .load
            .query()
            .bind(id.as_str())
            .fetch_optional(&mut *connection)
            .await?;
        Ok(row.as_ref().map(loaded).transpose()?)
    }

    /// Reads rows with a new snapshot.
    pub(super) async fn fresh(
        &self,
        connection: &mut PgConnection,
        ids: &[&str],
        mark: &str,
    ) -> Result<Vec<Fresh>, Failure> {
        let rows = self
            .statements()
            .rows
            .fresh
            .query()
            .bind(ids)
            .bind(mark)
            .fetch_all(connection)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(Fresh {
                    row: machine(row)?,
                    is_ours: row.try_get("is_ours")?,
                })
            })
            .collect()
    }

    pub(super) async fn take(
        &self,
        scope: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Loaded>, Failure> {
        let mut connection = self.connection().await?;
        let mut rows = self
            .statements()
            .rows
            .take_due
            .query()
            .bind(scope)
            .bind(i64::from(limit))
            .fetch_all(&mut *connection)
            .await?;
        rows.sort_by_key(|row| row.try_get::<i64, _>("last_checked_at").unwrap_or(i64::MIN));
        let mut taken = Vec::with_capacity(rows.len());
        for row in &rows {
            match loaded(row) {
                Ok(loaded) => taken.push(loaded),
                // It is marked checked, so that it comes last next time and starves nobody.
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(%error, "a row is passed over");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(taken)
    }

    /// Tells whether credentials may be minted in this transaction, and keeps it true until the
    /// transaction ends: a commit of that machine waits for it.
    ///
    /// # Errors
    ///
    /// Returns the database's errors; the transaction is then of no more use.
    pub async fn admit_on(
        &self,
        connection: &mut PgConnection,
        id: &MachineId,
    ) -> Result<Admission, StoreError> {
        self.admission(connection, id)
            .await
            .map_err(Failure::into_error)
    }

    pub(super) async fn admission(
        &self,
        connection: &mut PgConnection,
        id: &MachineId,
    ) -> Result<Admission, Failure> {
        use lifecycle_core::Status as S;
        let row = self
            .statements()
            .rows
            .admit
            .query()
            .bind(id.as_str())
            .fetch_optional(connection)
            .await?;
        let Some(row) = row else {
            return Ok(Admission::Unknown);
        };
        let status: String = row.try_get("status")?;
        let generation: i64 = row.try_get("generation")?;
        Ok(match word(id.as_str(), "status", &status)? {
            S::Provisioning | S::Running | S::Paused => Admission::Live {
                generation: ordinal(id.as_str(), "generation", generation)?,
            },
            S::Quarantined | S::Destroying | S::Destroyed | S::Failed => Admission::Refused,
        })
    }
}

/// Reads a machine from a row that has its columns.
pub(super) fn machine(row: &PgRow) -> Result<Row, StoreError> {
    use sqlx::FromRow as _;
    MachineColumns::from_row(row).map_err(failed)?.read()
}

fn loaded(row: &PgRow) -> Result<Loaded, StoreError> {
    let now: i64 = row.try_get("now").map_err(failed)?;
    Ok(Loaded {
        row: machine(row)?,
        now: Timestamp::from_millis(now),
    })
}
