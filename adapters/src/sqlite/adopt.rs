//! How do machines of an older system come in?

use lifecycle_core::{Delivery, Effect, LastSeen, SeenPower, Timestamp};
use sqlx::SqliteConnection;

use super::{
    commit::{first, noted, owed},
    history, machines, outbox,
};
use crate::{
    row::Row,
    store::{Adopted, Registered, StoreError},
};

/// Brings machines in; one that is there stays as it is.
pub(super) async fn adopt(
    connection: &mut SqliteConnection,
    batch: &[Adopted],
    now: Timestamp,
) -> Result<Vec<Registered>, StoreError> {
    let mut registered = Vec::with_capacity(batch.len());
    for adopted in batch {
        registered.push(one(connection, adopted, now).await?);
    }
    Ok(registered)
}

async fn one(
    connection: &mut SqliteConnection,
    adopted: &Adopted,
    now: Timestamp,
) -> Result<Registered, StoreError> {
    let Adopted {
        new,
        facts,
        recorded,
        delivered,
    } = adopted;
    if let Some(row) = machines::load(connection, &new.id).await? {
        return Ok(Registered::Existing(row));
    }
    if let Some(other) = recorded.iter().find(|fact| fact.machine != new.id) {
        return Err(StoreError::Unstorable(format!(
            "{} comes with a fact of {}",
            new.id, other.machine
        )));
    }
    let row = Row {
        was_sighted: was_sighted(adopted),
        ..first(new, facts.clone(), now)
    };
    machines::insert(connection, &row).await?;
    for fact in recorded {
        history::record(connection, fact).await?;
    }
    for effect in delivered.delivered(Delivery::Outbox).iter() {
        let work = owed(&row, effect, reservation(&row, effect), now);
        outbox::enqueue_done(connection, &work, now).await?;
    }
    history::note(connection, &noted(&row, "adopted", now)).await?;
    Ok(Registered::Created(row))
}

/// Tells whether the older system ever saw this incarnation.
fn was_sighted(adopted: &Adopted) -> bool {
    let machine = adopted.facts.machine();
    let is_seen = match machine.last_seen {
        None
        | Some(LastSeen {
            power: SeenPower::Gone,
            at: _,
        }) => false,
        Some(_) => true,
    };
    is_seen
        || adopted
            .recorded
            .iter()
            .any(|fact| fact.generation == machine.generation && fact.was_sighted)
}

/// Returns which reservation an effect is about: the latest, for a hold or release.
pub(super) fn reservation(row: &Row, effect: Effect) -> u64 {
    if matches!(effect, Effect::HoldCompute | Effect::ReleaseCompute) {
        row.facts.machine().holds
    } else {
        0
    }
}
