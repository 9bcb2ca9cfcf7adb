//! How are machines written, read, and taken for a look?

use lifecycle_core::{Status, Timestamp};
use sqlx::{Row as _, SqliteConnection, query, sqlite::SqliteRow};

use super::{
    columns::{self, bind_machine},
    failed,
};
use crate::{
    id::MachineId,
    row::Row,
    sql::{MachineColumns, corrupt, one_more, ordinal, word},
    store::{Admission, Loaded, StoreError},
};

/// Writes a new machine; false where it is there already.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    row: &Row,
) -> Result<bool, StoreError> {
    let columns = MachineColumns::of(row)?;
    let written = bind_machine(query(INSERT), &columns)
        .bind(&columns.claim_effect)
        .bind(columns.claim_until)
        .bind(&columns.claim_token)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(written.rows_affected() == 1)
}

/// Writes a machine where its revision is still the one that was read; returns it as it is then.
pub(super) async fn update(
    connection: &mut SqliteConnection,
    row: &Row,
) -> Result<Option<Row>, StoreError> {
    one_more("revision", row.revision)?;
    bind_machine(query(UPDATE), &MachineColumns::of(row)?)
        .fetch_optional(connection)
        .await
        .map_err(failed)?
        .as_ref()
        .map(columns::machine)
        .transpose()
}

/// Reads a machine.
pub(super) async fn load(
    connection: &mut SqliteConnection,
    id: &MachineId,
) -> Result<Option<Row>, StoreError> {
    query("SELECT * FROM lifecycle_machines WHERE id = ?1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await
        .map_err(failed)?
        .as_ref()
        .map(columns::machine)
        .transpose()
}

/// Takes rows that are due, and marks them checked.
///
/// A row that cannot be read is marked like the others, so that it comes last next time, and another
/// is taken instead.
pub(super) async fn take_due(
    connection: &mut SqliteConnection,
    scope: Option<&str>,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<Loaded>, StoreError> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut taken, mut seen) = (Vec::new(), Vec::new());
    while taken.len() < wanted {
        let page = due(connection, scope, wanted - taken.len(), seen.len(), now).await?;
        if page.is_empty() {
            break;
        }
        for raw in &page {
            seen.push(raw.try_get::<i64, _>("rowid").map_err(failed)?);
            match columns::machine(raw) {
                Ok(row) => taken.push(Loaded {
                    row: Row {
                        checked_at: now,
                        ..row
                    },
                    now,
                }),
                Err(error) => tracing::error!(%error, "row passed over"),
            }
        }
    }
    for rowid in seen {
        query("UPDATE lifecycle_machines SET checked_at = ?2 WHERE rowid = ?1")
            .bind(rowid)
            .bind(now.as_millis())
            .execute(&mut *connection)
            .await
            .map_err(failed)?;
    }
    Ok(taken)
}

/// Tells whether credentials may be minted.
pub(super) async fn admit(
    connection: &mut SqliteConnection,
    id: &MachineId,
) -> Result<Admission, StoreError> {
    let found = query("SELECT status, generation FROM lifecycle_machines WHERE id = ?1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await
        .map_err(failed)?;
    let Some(raw) = found else {
        return Ok(Admission::Unknown);
    };
    let unreadable = |error: sqlx::Error| corrupt(id.as_str(), error);
    let status: String = raw.try_get("status").map_err(unreadable)?;
    let generation: i64 = raw.try_get("generation").map_err(unreadable)?;
    Ok(match word(id.as_str(), "status", &status)? {
        Status::Provisioning | Status::Running | Status::Paused => Admission::Live {
            generation: ordinal(id.as_str(), "generation", generation)?,
        },
        Status::Quarantined | Status::Destroying | Status::Destroyed | Status::Failed => {
            Admission::Refused
        }
    })
}

async fn due(
    connection: &mut SqliteConnection,
    scope: Option<&str>,
    limit: usize,
    offset: usize,
    now: Timestamp,
) -> Result<Vec<SqliteRow>, StoreError> {
    query(DUE)
        .bind(now.as_millis())
        .bind(scope)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .bind(i64::try_from(offset).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await
        .map_err(failed)
}

const INSERT: &str = "
INSERT INTO lifecycle_machines (
    id, status, volume, compute, desired, generation, scope, marker, created_at, status_since,
    last_seen_power, last_seen_at, observed_at, missing_since, missing_count, quarantine_id,
    quarantine_since, destroy_at, quarantines, compute_lost_at, busy_until, holds, provider_id,
    volume_id, registered_volume, volume_missing_since, volume_missing_count, policy, revision,
    checked_at, look_again_at, was_sighted, destroy_accepted_at, claim_effect, claim_until,
    claim_token
) VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
    ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36
) ON CONFLICT (id) DO NOTHING";

const UPDATE: &str = "
UPDATE lifecycle_machines SET
    status = ?2, volume = ?3, compute = ?4, desired = ?5, generation = ?6, scope = ?7, marker = ?8,
    created_at = ?9, status_since = ?10, last_seen_power = ?11, last_seen_at = ?12,
    observed_at = ?13, missing_since = ?14, missing_count = ?15, quarantine_id = ?16,
    quarantine_since = ?17, destroy_at = ?18, quarantines = ?19, compute_lost_at = ?20,
    busy_until = ?21, holds = ?22, provider_id = ?23, volume_id = ?24, registered_volume = ?25,
    volume_missing_since = ?26, volume_missing_count = ?27, policy = ?28, revision = ?29 + 1,
    checked_at = ?30, look_again_at = ?31, was_sighted = ?32, destroy_accepted_at = ?33
WHERE id = ?1 AND revision = ?29
RETURNING *";

const DUE: &str = "
SELECT rowid, * FROM lifecycle_machines WHERE rowid IN (
    SELECT rowid FROM lifecycle_machines
    -- What was looked at in the future was so by a clock that ran ahead.
    WHERE look_again_at IS NOT NULL AND (look_again_at <= ?1 OR checked_at > ?1 + 60000)
        AND (?2 IS NULL OR scope = ?2)
    ORDER BY checked_at, id LIMIT ?3 OFFSET ?4
) ORDER BY checked_at, id";
