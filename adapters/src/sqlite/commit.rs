//! How is one change, or a new machine, written whole?

use lifecycle_core::{Compute, Effect, Machine, Source, Timestamp};
use sqlx::{Row as _, SqliteConnection, query};

use super::{failed, history, machines, outbox, scopes};
use crate::{
    facts::Facts,
    id::MachineId,
    journal::Entry,
    outbox::{Enqueue, WorkKey},
    row::{NewMachine, Row},
    sql::{count, one_more},
    store::{Change, Commit, Registered, StoreError},
};

/// Writes a change where the revision is still the one that was read.
pub(super) async fn commit(
    connection: &mut SqliteConnection,
    change: &Change,
    now: Timestamp,
) -> Result<Commit, StoreError> {
    let Change {
        next,
        facts,
        work,
        journal,
        newly_gone,
        hold,
    } = change;
    let Some(row) = machines::update(connection, next).await? else {
        return Ok(Commit::Lost(machines::load(connection, &next.id).await?));
    };
    for fact in facts {
        history::record(connection, fact).await?;
    }
    for work in work {
        outbox::enqueue(connection, work, now).await?;
    }
    if let Some(entry) = journal {
        history::note(connection, entry).await?;
    }
    if let Some(scope) = newly_gone {
        scopes::gone(connection, scope, next, now).await?;
    }
    if let Some(scope) = hold {
        scopes::hold(connection, scope, now).await?;
    }
    Ok(Commit::Won(row))
}

/// Writes several changes, each of which wins or loses on its own.
pub(super) async fn commit_many(
    connection: &mut SqliteConnection,
    changes: &[Change],
    now: Timestamp,
) -> Result<Vec<Commit>, StoreError> {
    let mut commits = Vec::with_capacity(changes.len());
    for change in changes {
        commits.push(commit(connection, change, now).await?);
    }
    Ok(commits)
}

/// Writes a new machine with its reservation and its entry in the journal.
pub(super) async fn register(
    connection: &mut SqliteConnection,
    new: &NewMachine,
    now: Timestamp,
) -> Result<Registered, StoreError> {
    if let Some(row) = machines::load(connection, &new.id).await? {
        return Ok(Registered::Existing(row));
    }
    let generation = one_more("generation", last_generation(connection, &new.id).await?)?;
    let facts = Facts::of(&Machine {
        volume: new.volume,
        compute: Compute::Held,
        generation,
        ..Machine::new(&new.scope, new.marker.as_deref(), now)
    });
    let row = Row {
        look_again_at: Some(now),
        ..first(new, facts, now)
    };
    machines::insert(connection, &row).await?;
    let holds = row.facts.machine().holds;
    let hold = owed(&row, Effect::HoldCompute, holds, now);
    outbox::enqueue(connection, &hold, now).await?;
    history::note(connection, &noted(&row, "registered", now)).await?;
    Ok(Registered::Created(row))
}

/// Makes the first row of a machine.
pub(super) fn first(new: &NewMachine, facts: Facts, now: Timestamp) -> Row {
    Row {
        id: new.id.clone(),
        facts,
        provider_id: new.provider_id.clone(),
        volume_id: new.volume_id.clone(),
        registered_volume: new.volume,
        volume_missing: None,
        policy: new.policy.clone(),
        revision: 1,
        checked_at: now,
        look_again_at: Some(now),
        was_sighted: false,
        destroy_accepted_at: None,
        claim: None,
    }
}

/// Makes work of a row as it is.
pub(super) fn owed(row: &Row, effect: Effect, holds: u64, now: Timestamp) -> Enqueue {
    let machine = row.facts.machine();
    Enqueue {
        key: WorkKey {
            machine: row.id.clone(),
            generation: machine.generation,
            effect,
            holds,
        },
        provider_id: row.provider_id.clone(),
        marker: machine.marker.map(str::to_owned),
        scope: machine.scope.to_owned(),
        volume_id: row.volume_id.clone(),
        quarantine_id: machine.quarantine.map(|stamp| stamp.id),
        committed_at: now,
        was_sighted: row.was_sighted,
    }
}

/// Makes an entry of the journal for what no rule decides.
pub(super) fn noted(row: &Row, why: &str, now: Timestamp) -> Entry {
    Entry {
        machine: row.id.clone(),
        revision: row.revision,
        at: now,
        source: Source::User,
        rule: None,
        input: String::new(),
        why: why.to_owned(),
    }
}

/// Returns the latest generation that the ledger has of this machine, 0 where it has none.
async fn last_generation(
    connection: &mut SqliteConnection,
    id: &MachineId,
) -> Result<u64, StoreError> {
    let last: Option<i64> =
        query("SELECT max(generation) FROM lifecycle_ledger WHERE machine = ?1")
            .bind(id.as_str())
            .fetch_one(connection)
            .await
            .and_then(|raw| raw.try_get(0))
            .map_err(failed)?;
    count(id.as_str(), "generation of the ledger", last.unwrap_or(0))
}
