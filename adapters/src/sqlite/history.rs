//! How are the ledger and the journal written and read?

use lifecycle_core::Timestamp;
use sqlx::{SqliteConnection, query};

use super::{
    columns::{self, bind_entry, bind_fact},
    failed,
};
use crate::{
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    sql::{EntryColumns, FactColumns},
    store::{KeptVolume, StoreError},
};

/// Appends a fact; one that is there already stays as it is.
pub(super) async fn record(
    connection: &mut SqliteConnection,
    fact: &Fact,
) -> Result<(), StoreError> {
    bind_fact(query(RECORD), &FactColumns::of(fact)?)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(())
}

/// Appends a decision.
pub(super) async fn note(
    connection: &mut SqliteConnection,
    entry: &Entry,
) -> Result<(), StoreError> {
    bind_entry(query(NOTE), &EntryColumns::of(entry)?)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(())
}

/// Reads the facts of one machine.
pub(super) async fn ledger(
    connection: &mut SqliteConnection,
    id: &MachineId,
) -> Result<Vec<Fact>, StoreError> {
    query("SELECT * FROM lifecycle_ledger WHERE machine = ?1 ORDER BY seq")
        .bind(id.as_str())
        .fetch_all(connection)
        .await
        .map_err(failed)?
        .iter()
        .map(columns::fact)
        .collect()
}

/// Reads the decisions of one machine.
pub(super) async fn journal(
    connection: &mut SqliteConnection,
    id: &MachineId,
) -> Result<Vec<Entry>, StoreError> {
    query("SELECT * FROM lifecycle_journal WHERE machine = ?1 ORDER BY seq")
        .bind(id.as_str())
        .fetch_all(connection)
        .await
        .map_err(failed)?
        .iter()
        .map(columns::entry)
        .collect()
}

/// Removes old decisions.
pub(super) async fn prune(
    connection: &mut SqliteConnection,
    before: Timestamp,
) -> Result<u64, StoreError> {
    query("INSERT INTO lifecycle_journal_pruning (before) VALUES (?1)")
        .bind(before.as_millis())
        .execute(&mut *connection)
        .await
        .map_err(failed)?;
    let pruned = query("DELETE FROM lifecycle_journal WHERE at < ?1")
        .bind(before.as_millis())
        .execute(&mut *connection)
        .await
        .map_err(failed)?;
    query("DELETE FROM lifecycle_journal_pruning")
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(pruned.rows_affected())
}

/// Reads which volumes outlived their machines; a fact that cannot be read is passed over.
pub(super) async fn kept_volumes(
    connection: &mut SqliteConnection,
) -> Result<Vec<KeptVolume>, StoreError> {
    let facts = query(KEPT).fetch_all(connection).await.map_err(failed)?;
    Ok(facts
        .iter()
        .filter_map(|raw| match columns::fact(raw) {
            Ok(fact) => Some(KeptVolume {
                machine: fact.machine,
                generation: fact.generation,
                volume: fact.volume,
                volume_id: fact.volume_id,
                at: fact.at,
            }),
            Err(error) => {
                tracing::error!(%error, "fact passed over");
                None
            }
        })
        .collect())
}

const RECORD: &str = "
INSERT INTO lifecycle_ledger (
    machine, generation, fact, occurrence, at, source, rule, was_sighted, volume, volume_id
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (machine, generation, fact, occurrence) DO NOTHING";

const NOTE: &str = "
INSERT INTO lifecycle_journal (machine, revision, at, source, rule, input, why)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// A volume that a later incarnation took over is in use, or ended with that one.
const KEPT: &str = "
SELECT * FROM lifecycle_ledger AS fact
WHERE fact.fact = 'record_destroyed' AND fact.volume <> 'none' AND NOT EXISTS (
    SELECT 1 FROM lifecycle_machines AS machine
    WHERE machine.id = fact.machine AND machine.generation > fact.generation
        AND machine.volume_id IS fact.volume_id)
ORDER BY seq";
