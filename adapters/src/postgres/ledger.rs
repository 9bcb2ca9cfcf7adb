//! What was recorded, why, and what volumes are left?

use lifecycle_core::Timestamp;

use super::{Name, PostgresStore, columns::names, failure::Failure, statement::Statement};
use crate::{
    id::MachineId,
    journal::Entry,
    ledger::Fact,
    sql::{EntryColumns, FactColumns, machine_id, ordinal, word},
    store::{KeptVolume, StoreError},
};

#[derive(Debug)]
pub(super) struct Statements {
    ledger: Statement,
    journal: Statement,
    kept_volumes: Statement,
    prune: Statement,
}

impl Statements {
    pub(super) fn of(schema: &Name) -> Self {
        Self {
            ledger: format!(
                "select {} from {schema}.ledger l where l.machine = $1 order by l.seq",
                names::<FactColumns>("l.")
            )
            .into(),
            journal: format!(
                "select {} from {schema}.journal j where j.machine = $1 order by j.seq",
                names::<EntryColumns>("j.")
            )
            .into(),
            // A volume that a later incarnation took over is in use, or ended with that one.
            kept_volumes: format!(
                "select l.machine, l.generation, l.volume, l.volume_id, l.at from {schema}.ledger l
                 where l.fact = 'record_destroyed' and l.volume <> 'none' and not exists (
                     select from {schema}.machines m
                     where m.id = l.machine and m.generation > l.generation
                         and m.volume_id is not distinct from l.volume_id
                 )
                 order by l.machine, l.seq"
            )
            .into(),
            prune: format!("select {schema}.prune_journal($1, $2)").into(),
        }
    }
}

impl PostgresStore {
    pub(super) async fn facts_of(&self, id: &MachineId) -> Result<Vec<Fact>, Failure> {
        let mut connection = self.connection().await?;
        let facts: Vec<FactColumns> = self
            .statements()
            .ledger
            .ledger
            .rows()
            .bind(id.as_str())
            .fetch_all(&mut *connection)
            .await?;
        Ok(facts
            .iter()
            .map(FactColumns::read)
            .collect::<Result<_, _>>()?)
    }

    pub(super) async fn entries_of(&self, id: &MachineId) -> Result<Vec<Entry>, Failure> {
        let mut connection = self.connection().await?;
        let entries: Vec<EntryColumns> = self
            .statements()
            .ledger
            .journal
            .rows()
            .bind(id.as_str())
            .fetch_all(&mut *connection)
            .await?;
        Ok(entries
            .iter()
            .map(EntryColumns::read)
            .collect::<Result<_, _>>()?)
    }

    pub(super) async fn kept(&self) -> Result<Vec<KeptVolume>, Failure> {
        let mut connection = self.connection().await?;
        let volumes: Vec<(String, i64, String, Option<String>, i64)> = self
            .statements()
            .ledger
            .kept_volumes
            .rows()
            .fetch_all(&mut *connection)
            .await?;
        Ok(volumes.into_iter().map(kept).collect::<Result<_, _>>()?)
    }

    /// Deletes journal entries older than this, and says how many. The ledger is never touched.
    ///
    /// It deletes in batches, each a transaction of its own, so that nobody waits for it; a run that
    /// breaks off is simply repeated.
    ///
    /// # Errors
    ///
    /// Returns the database's errors; what was deleted before stays deleted.
    pub async fn prune_journal(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut pruned = 0;
        loop {
            let batch = self.prune(before).await.map_err(Failure::into_error)?;
            pruned += batch;
            if batch == 0 {
                return Ok(pruned);
            }
        }
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, Failure> {
        let mut connection = self.connection().await?;
        let (count,): (i64,) = self
            .statements()
            .ledger
            .prune
            .rows()
            .bind(before.as_millis())
            .bind(PRUNED_AT_ONCE)
            .fetch_one(&mut *connection)
            .await?;
        Ok(count.unsigned_abs())
    }
}

fn kept(
    (machine, generation, volume, volume_id, at): (String, i64, String, Option<String>, i64),
) -> Result<KeptVolume, StoreError> {
    Ok(KeptVolume {
        generation: ordinal(&machine, "generation of the fact", generation)?,
        volume: word(&machine, "volume of the fact", &volume)?,
        machine: machine_id(&machine)?,
        volume_id,
        at: Timestamp::from_millis(at),
    })
}

const PRUNED_AT_ONCE: i64 = 10_000;
