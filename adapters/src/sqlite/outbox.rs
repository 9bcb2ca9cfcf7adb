//! How is work queued, claimed and settled?

mod claim;
mod settle;

use lifecycle_core::Timestamp;
use sqlx::{Row as _, SqliteConnection, query};

pub(super) use claim::claim;
pub(super) use settle::settle;

use super::{
    columns::{self, bind_work},
    failed,
};
use crate::{
    id::MachineId,
    outbox::{Enqueue, OutboxRow, WorkKey},
    sql::{KeyColumns, WorkColumns, instant},
    store::StoreError,
};

/// Queues work.
pub(super) async fn enqueue(
    connection: &mut SqliteConnection,
    work: &Enqueue,
    now: Timestamp,
) -> Result<(), StoreError> {
    bind_work(query(ENQUEUE), &WorkColumns::pending(work, now)?)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(())
}

/// Queues work as delivered; work that is there stays as it is.
pub(super) async fn enqueue_done(
    connection: &mut SqliteConnection,
    work: &Enqueue,
    now: Timestamp,
) -> Result<(), StoreError> {
    bind_work(query(ENQUEUE_DONE), &WorkColumns::pending(work, now)?)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(())
}

/// Reads the work of one machine.
pub(super) async fn of_machine(
    connection: &mut SqliteConnection,
    id: &MachineId,
) -> Result<Vec<OutboxRow>, StoreError> {
    query("SELECT * FROM lifecycle_outbox WHERE machine = ?1 ORDER BY seq")
        .bind(id.as_str())
        .fetch_all(connection)
        .await
        .map_err(failed)?
        .iter()
        .map(columns::work)
        .collect()
}

/// Reads dead letters; one that cannot be read is passed over.
pub(super) async fn dead_letters(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<OutboxRow>, StoreError> {
    let letters = query(
        "SELECT * FROM lifecycle_outbox WHERE state = 'dead' ORDER BY committed_at, seq LIMIT ?1",
    )
    .bind(limit)
    .fetch_all(connection)
    .await
    .map_err(failed)?;
    Ok(letters
        .iter()
        .filter_map(|raw| {
            columns::work(raw)
                .inspect_err(|error| tracing::error!(%error, "dead letter passed over"))
                .ok()
        })
        .collect())
}

/// Makes a dead letter pending anew.
pub(super) async fn retry_dead(
    connection: &mut SqliteConnection,
    key: &WorkKey,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let key = KeyColumns::of(key)?;
    let retried = query(RETRY_DEAD)
        .bind(key.machine)
        .bind(key.generation)
        .bind(key.effect)
        .bind(key.holds)
        .bind(now.as_millis())
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(retried.rows_affected() == 1)
}

/// Gives a dead letter up.
pub(super) async fn drop_dead(
    connection: &mut SqliteConnection,
    key: &WorkKey,
    reason: &str,
) -> Result<bool, StoreError> {
    let key = KeyColumns::of(key)?;
    let dropped = query(DROP_DEAD)
        .bind(key.machine)
        .bind(key.generation)
        .bind(key.effect)
        .bind(key.holds)
        .bind(reason)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(dropped.rows_affected() == 1)
}

/// Returns when work is due next.
pub(super) async fn next_at(
    connection: &mut SqliteConnection,
) -> Result<Option<Timestamp>, StoreError> {
    query(NEXT_AT)
        .fetch_one(connection)
        .await
        .and_then(|raw| raw.try_get(0))
        .map(instant)
        .map_err(failed)
}

/// In the update, a bare name is the stored row's, as it was. What the provider accepted stays true of
/// what is still being delivered.
const ENQUEUE: &str = "
INSERT INTO lifecycle_outbox (
    machine, generation, effect, holds, provider_id, marker, scope, volume_id, quarantine_id,
    committed_at, was_sighted, due_at, state, is_dirty, attempts
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'pending', FALSE, 0)
ON CONFLICT (machine, generation, effect, holds) DO UPDATE SET
    provider_id = excluded.provider_id,
    marker = excluded.marker,
    scope = excluded.scope,
    volume_id = excluded.volume_id,
    quarantine_id = excluded.quarantine_id,
    committed_at = excluded.committed_at,
    was_sighted = excluded.was_sighted,
    state = CASE state WHEN 'claimed' THEN 'claimed' ELSE 'pending' END,
    is_dirty = (state = 'claimed'),
    attempts = 0,
    due_at = excluded.due_at,
    note = NULL,
    accepted_at = CASE WHEN state IN ('pending', 'claimed') THEN accepted_at END
WHERE state <> 'done' OR effect NOT IN ('hold_compute', 'release_compute')";

const ENQUEUE_DONE: &str = "
INSERT INTO lifecycle_outbox (
    machine, generation, effect, holds, provider_id, marker, scope, volume_id, quarantine_id,
    committed_at, was_sighted, due_at, state, is_dirty, attempts
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'done', FALSE, 0)
ON CONFLICT (machine, generation, effect, holds) DO NOTHING";

const RETRY_DEAD: &str = "
UPDATE lifecycle_outbox SET state = 'pending', attempts = 0, due_at = ?5, note = NULL,
    accepted_at = NULL
WHERE machine = ?1 AND generation = ?2 AND effect = ?3 AND holds = ?4 AND state = 'dead'";

const DROP_DEAD: &str = "
UPDATE lifecycle_outbox SET state = 'dropped', note = ?5
WHERE machine = ?1 AND generation = ?2 AND effect = ?3 AND holds = ?4 AND state = 'dead'";

const NEXT_AT: &str = "
SELECT min(at) FROM (
    SELECT min(due_at) AS at FROM lifecycle_outbox WHERE state = 'pending'
    UNION ALL
    SELECT min(claimed_until) AS at FROM lifecycle_outbox WHERE state = 'claimed')";
