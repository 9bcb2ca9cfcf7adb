//! What was left undone, and how is it mended?

use lifecycle_core::{Compute, Effect, Machine, Source, Timestamp};
use sqlx::{SqliteConnection, query};

use super::{
    adopt::reservation,
    columns,
    commit::{noted, owed},
    failed, history, machines, outbox,
};
use crate::{
    ledger::{Fact, occurrence},
    row::Row,
    store::{RepairMode, Repaired, StoreError},
};

/// Counts what is undone, and mends it where so asked. Rows that cannot be read are passed over.
pub(super) async fn repair(
    connection: &mut SqliteConnection,
    mode: RepairMode,
    now: Timestamp,
) -> Result<Repaired, StoreError> {
    let mut repaired = Repaired::default();
    for row in find(connection, WITHOUT_DESTROY_FACT).await? {
        repaired.destroy_facts += 1;
        if matches!(mode, RepairMode::Mend) {
            history::record(connection, &destroyed(&row, now)).await?;
        }
    }
    for row in find(connection, WITHOUT_REVOCATION).await? {
        repaired.revocations += 1;
        queue(connection, mode, &row, Effect::RevokeCredentials, now).await?;
    }
    for row in find(connection, UNRELEASED).await? {
        repaired.releases += 1;
        if matches!(mode, RepairMode::Mend) {
            release(connection, row, now).await?;
        }
    }
    for row in find(connection, WITHOUT_STAMP).await? {
        if row.look_again_at.is_some_and(|at| at <= now) {
            // It gets its stamp when it is looked at.
            continue;
        }
        repaired.stamps += 1;
        if matches!(mode, RepairMode::Mend) {
            make_due(connection, row, now).await?;
        }
    }
    for row in find(connection, WITHOUT_DESTRUCTION).await? {
        repaired.destructions += 1;
        queue(connection, mode, &row, Effect::DestroyCompute, now).await?;
    }
    Ok(repaired)
}

async fn find(
    connection: &mut SqliteConnection,
    sql: &'static str,
) -> Result<Vec<Row>, StoreError> {
    let found = query(sql).fetch_all(connection).await.map_err(failed)?;
    Ok(found
        .iter()
        .filter_map(|raw| {
            columns::machine(raw)
                .inspect_err(|error| tracing::error!(%error, "row passed over"))
                .ok()
        })
        .collect())
}

async fn queue(
    connection: &mut SqliteConnection,
    mode: RepairMode,
    row: &Row,
    effect: Effect,
    now: Timestamp,
) -> Result<(), StoreError> {
    match mode {
        RepairMode::DryRun => Ok(()),
        RepairMode::Mend => {
            let work = owed(row, effect, reservation(row, effect), now);
            outbox::enqueue(connection, &work, now).await
        }
    }
}

async fn release(
    connection: &mut SqliteConnection,
    mut row: Row,
    now: Timestamp,
) -> Result<(), StoreError> {
    row.facts.update(|machine| Machine {
        compute: Compute::Released,
        ..machine
    });
    let Some(row) = machines::update(connection, &row).await? else {
        return Ok(());
    };
    queue(
        connection,
        RepairMode::Mend,
        &row,
        Effect::ReleaseCompute,
        now,
    )
    .await?;
    history::note(
        connection,
        &noted(&row, "repaired: its compute was still held", now),
    )
    .await
}

async fn make_due(
    connection: &mut SqliteConnection,
    row: Row,
    now: Timestamp,
) -> Result<(), StoreError> {
    let due = Row {
        look_again_at: Some(now),
        ..row
    };
    let Some(row) = machines::update(connection, &due).await? else {
        return Ok(());
    };
    history::note(
        connection,
        &noted(&row, "repaired: it had no quarantine stamp", now),
    )
    .await
}

/// Makes the fact that is missing. Nobody knows any more who noticed, nor which rule answered.
fn destroyed(row: &Row, now: Timestamp) -> Fact {
    let machine = row.facts.machine();
    Fact {
        machine: row.id.clone(),
        generation: machine.generation,
        fact: Effect::RecordDestroyed,
        occurrence: occurrence(Effect::RecordDestroyed, row.revision),
        at: now,
        source: Source::Sweep,
        rule: None,
        was_sighted: row.was_sighted,
        volume: machine.volume,
        volume_id: row.volume_id.clone(),
    }
}

const WITHOUT_DESTROY_FACT: &str = "
SELECT * FROM lifecycle_machines AS machine
WHERE status = 'destroyed' AND NOT EXISTS (
    SELECT 1 FROM lifecycle_ledger AS fact
    WHERE fact.machine = machine.id AND fact.generation = machine.generation
        AND fact.fact = 'record_destroyed')
ORDER BY id";

const WITHOUT_REVOCATION: &str = "
SELECT * FROM lifecycle_machines AS machine
WHERE status IN ('quarantined', 'destroying', 'destroyed', 'failed') AND NOT EXISTS (
    SELECT 1 FROM lifecycle_outbox AS work
    WHERE work.machine = machine.id AND work.generation = machine.generation
        AND work.effect = 'revoke_credentials')
ORDER BY id";

const UNRELEASED: &str = "
SELECT * FROM lifecycle_machines WHERE status = 'destroyed' AND compute = 'held' ORDER BY id";

const WITHOUT_STAMP: &str = "
SELECT * FROM lifecycle_machines
WHERE status = 'quarantined' AND quarantine_id IS NULL ORDER BY id";

const WITHOUT_DESTRUCTION: &str = "
SELECT * FROM lifecycle_machines AS machine
WHERE status IN ('destroying', 'destroyed') AND last_seen_power IS NOT 'gone' AND NOT EXISTS (
    SELECT 1 FROM lifecycle_outbox AS work
    WHERE work.machine = machine.id AND work.generation = machine.generation
        AND work.effect = 'destroy_compute')
ORDER BY id";
