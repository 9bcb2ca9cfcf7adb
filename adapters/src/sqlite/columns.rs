//! How do our columns travel to and from SQLite?

use sqlx::{
    Row as _, Sqlite,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

use crate::{
    journal::Entry,
    ledger::Fact,
    outbox::OutboxRow,
    row::Row,
    sql::{EntryColumns, FactColumns, MachineColumns, WorkColumns, corrupt},
    store::StoreError,
};

/// A statement with its values.
pub(super) type Statement<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Reads a machine.
pub(super) fn machine(raw: &SqliteRow) -> Result<Row, StoreError> {
    machine_columns(raw)
        .map_err(|error| unreadable(raw, "id", &error))?
        .read()
}

/// Reads a piece of work.
pub(super) fn work(raw: &SqliteRow) -> Result<OutboxRow, StoreError> {
    work_columns(raw)
        .map_err(|error| unreadable(raw, "machine", &error))?
        .read()
}

/// Reads a fact of the ledger.
pub(super) fn fact(raw: &SqliteRow) -> Result<Fact, StoreError> {
    fact_columns(raw)
        .map_err(|error| unreadable(raw, "machine", &error))?
        .read()
}

/// Reads an entry of the journal.
pub(super) fn entry(raw: &SqliteRow) -> Result<Entry, StoreError> {
    entry_columns(raw)
        .map_err(|error| unreadable(raw, "machine", &error))?
        .read()
}

/// Binds a machine as `?1` to `?33`: every column but the claim.
pub(super) fn bind_machine<'q>(
    statement: Statement<'q>,
    columns: &MachineColumns,
) -> Statement<'q> {
    statement
        .bind(&columns.id)
        .bind(&columns.status)
        .bind(&columns.volume)
        .bind(&columns.compute)
        .bind(&columns.desired)
        .bind(columns.generation)
        .bind(&columns.scope)
        .bind(&columns.marker)
        .bind(columns.created_at)
        .bind(columns.status_since)
        .bind(&columns.last_seen_power)
        .bind(columns.last_seen_at)
        .bind(columns.observed_at)
        .bind(columns.missing_since)
        .bind(columns.missing_count)
        .bind(columns.quarantine_id)
        .bind(columns.quarantine_since)
        .bind(columns.destroy_at)
        .bind(columns.quarantines)
        .bind(columns.compute_lost_at)
        .bind(columns.busy_until)
        .bind(columns.holds)
        .bind(&columns.provider_id)
        .bind(&columns.volume_id)
        .bind(&columns.registered_volume)
        .bind(columns.volume_missing_since)
        .bind(columns.volume_missing_count)
        .bind(&columns.policy)
        .bind(columns.revision)
        .bind(columns.checked_at)
        .bind(columns.look_again_at)
        .bind(columns.was_sighted)
        .bind(columns.destroy_accepted_at)
}

/// Binds work as `?1` to `?12`: the key, what it says, when it is due.
pub(super) fn bind_work<'q>(statement: Statement<'q>, columns: &WorkColumns) -> Statement<'q> {
    statement
        .bind(&columns.machine)
        .bind(columns.generation)
        .bind(&columns.effect)
        .bind(columns.holds)
        .bind(&columns.provider_id)
        .bind(&columns.marker)
        .bind(&columns.scope)
        .bind(&columns.volume_id)
        .bind(columns.quarantine_id)
        .bind(columns.committed_at)
        .bind(columns.was_sighted)
        .bind(columns.due_at)
}

/// Binds a fact as `?1` to `?10`.
pub(super) fn bind_fact<'q>(statement: Statement<'q>, columns: &FactColumns) -> Statement<'q> {
    statement
        .bind(&columns.machine)
        .bind(columns.generation)
        .bind(&columns.fact)
        .bind(columns.occurrence)
        .bind(columns.at)
        .bind(&columns.source)
        .bind(&columns.rule)
        .bind(columns.was_sighted)
        .bind(&columns.volume)
        .bind(&columns.volume_id)
}

/// Binds an entry as `?1` to `?7`.
pub(super) fn bind_entry<'q>(statement: Statement<'q>, columns: &EntryColumns) -> Statement<'q> {
    statement
        .bind(&columns.machine)
        .bind(columns.revision)
        .bind(columns.at)
        .bind(&columns.source)
        .bind(&columns.rule)
        .bind(&columns.input)
        .bind(&columns.why)
}

fn machine_columns(raw: &SqliteRow) -> Result<MachineColumns, sqlx::Error> {
    Ok(MachineColumns {
        id: raw.try_get("id")?,
        status: raw.try_get("status")?,
        volume: raw.try_get("volume")?,
        compute: raw.try_get("compute")?,
        desired: raw.try_get("desired")?,
        generation: raw.try_get("generation")?,
        scope: raw.try_get("scope")?,
        marker: raw.try_get("marker")?,
        created_at: raw.try_get("created_at")?,
        status_since: raw.try_get("status_since")?,
        last_seen_power: raw.try_get("last_seen_power")?,
        last_seen_at: raw.try_get("last_seen_at")?,
        observed_at: raw.try_get("observed_at")?,
        missing_since: raw.try_get("missing_since")?,
        missing_count: raw.try_get("missing_count")?,
        quarantine_id: raw.try_get("quarantine_id")?,
        quarantine_since: raw.try_get("quarantine_since")?,
        destroy_at: raw.try_get("destroy_at")?,
        quarantines: raw.try_get("quarantines")?,
        compute_lost_at: raw.try_get("compute_lost_at")?,
        busy_until: raw.try_get("busy_until")?,
        holds: raw.try_get("holds")?,
        provider_id: raw.try_get("provider_id")?,
        volume_id: raw.try_get("volume_id")?,
        registered_volume: raw.try_get("registered_volume")?,
        volume_missing_since: raw.try_get("volume_missing_since")?,
        volume_missing_count: raw.try_get("volume_missing_count")?,
        policy: raw.try_get("policy")?,
        revision: raw.try_get("revision")?,
        checked_at: raw.try_get("checked_at")?,
        look_again_at: raw.try_get("look_again_at")?,
        was_sighted: raw.try_get("was_sighted")?,
        destroy_accepted_at: raw.try_get("destroy_accepted_at")?,
        claim_effect: raw.try_get("claim_effect")?,
        claim_until: raw.try_get("claim_until")?,
        claim_token: raw.try_get("claim_token")?,
    })
}

fn work_columns(raw: &SqliteRow) -> Result<WorkColumns, sqlx::Error> {
    Ok(WorkColumns {
        machine: raw.try_get("machine")?,
        generation: raw.try_get("generation")?,
        effect: raw.try_get("effect")?,
        holds: raw.try_get("holds")?,
        provider_id: raw.try_get("provider_id")?,
        marker: raw.try_get("marker")?,
        scope: raw.try_get("scope")?,
        volume_id: raw.try_get("volume_id")?,
        quarantine_id: raw.try_get("quarantine_id")?,
        committed_at: raw.try_get("committed_at")?,
        was_sighted: raw.try_get("was_sighted")?,
        state: raw.try_get("state")?,
        is_dirty: raw.try_get("is_dirty")?,
        attempts: raw.try_get("attempts")?,
        due_at: raw.try_get("due_at")?,
        note: raw.try_get("note")?,
        accepted_at: raw.try_get("accepted_at")?,
    })
}

fn fact_columns(raw: &SqliteRow) -> Result<FactColumns, sqlx::Error> {
    Ok(FactColumns {
        machine: raw.try_get("machine")?,
        generation: raw.try_get("generation")?,
        fact: raw.try_get("fact")?,
        occurrence: raw.try_get("occurrence")?,
        at: raw.try_get("at")?,
        source: raw.try_get("source")?,
        rule: raw.try_get("rule")?,
        was_sighted: raw.try_get("was_sighted")?,
        volume: raw.try_get("volume")?,
        volume_id: raw.try_get("volume_id")?,
    })
}

fn entry_columns(raw: &SqliteRow) -> Result<EntryColumns, sqlx::Error> {
    Ok(EntryColumns {
        machine: raw.try_get("machine")?,
        revision: raw.try_get("revision")?,
        at: raw.try_get("at")?,
        source: raw.try_get("source")?,
        rule: raw.try_get("rule")?,
        input: raw.try_get("input")?,
        why: raw.try_get("why")?,
    })
}

/// A column does not even hold what its type says: a text that is not UTF-8, for one.
fn unreadable(raw: &SqliteRow, id: &str, error: &sqlx::Error) -> StoreError {
    let machine: String = raw.try_get(id).unwrap_or_default();
    corrupt(&machine, error)
}
