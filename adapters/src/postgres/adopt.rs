//! How are the machines of an older system brought in, a batch in one statement?

use std::collections::HashMap;

use lifecycle_core::{Delivery, Effect, Timestamp};
use sqlx::{Row as _, postgres::PgArguments};

use super::{
    Name, PostgresStore,
    columns::{Table, bind, names, parameters, source},
    failure::{Failure, Tries},
    rows::machine,
    statement::Statement,
};
use crate::{
    row::Row,
    sql::{FactColumns, MachineColumns, WorkColumns},
    store::{Adopted, Registered, StoreError},
};

/// A machine that is there is left as it is: what is recorded and delivered follows only what is new.
pub(super) fn statement(schema: &Name) -> Statement {
    let facts = FIRST + parameters::<MachineColumns>();
    let work = facts + parameters::<FactColumns>();
    let now = |columns: &[&str], prefix: &str, names: &[super::columns::Column]| {
        let values = names.iter().map(|(name, _)| match columns.contains(name) {
            true => "clock.now".to_owned(),
            false => format!("{prefix}{name}"),
        });
        values.collect::<Vec<_>>().join(", ")
    };
    format!(
        "with clock as materialized (
             select {schema}.now_ms() as now
         ), m as (
             insert into {schema}.machines ({machine_names}, recent_commits)
             select {machine_values}, array[$1::text::uuid] from {machines} cross join clock
             order by i.id, i.ord
             on conflict (id) do nothing
             returning *
         ), recorded as (
             insert into {schema}.ledger ({fact_names})
             select {fact_values} from {facts} join m on m.id = f.machine order by f.ord
             on conflict do nothing
         ), delivered as (
             insert into {schema}.outbox ({work_names})
             select {work_values} from {work} join m on m.id = w.machine cross join clock order by w.ord
             on conflict do nothing
         )
         select {columns} from m",
        machine_names = names::<MachineColumns>(""),
        machine_values = now(&["checked_at", "look_again_at"], "i.", MachineColumns::COLUMNS),
        machines = source::<MachineColumns>(FIRST, "i"),
        fact_names = names::<FactColumns>(""),
        fact_values = names::<FactColumns>("f."),
        facts = source::<FactColumns>(facts, "f"),
        work_names = names::<WorkColumns>(""),
        work_values = now(&["committed_at", "due_at"], "w.", WorkColumns::COLUMNS),
        work = source::<WorkColumns>(work, "w"),
        columns = names::<MachineColumns>("m."),
    )
    .into()
}

#[derive(Default)]
struct Batch {
    machines: Vec<(i64, MachineColumns)>,
    facts: Vec<(i64, FactColumns)>,
    work: Vec<(i64, WorkColumns)>,
}

impl Batch {
    fn of(adopted: &[Adopted]) -> Result<Self, StoreError> {
        let mut batch = Self::default();
        // Of a machine that is named twice, the first is taken.
        let mut seen = std::collections::HashSet::new();
        for (n, adopted) in (0..).zip(adopted) {
            if !seen.insert(adopted.new.id.as_str()) {
                continue;
            }
            let row = first_row(adopted);
            batch.machines.push((n, MachineColumns::of(&row)?));
            for fact in &adopted.recorded {
                batch.facts.push((n, FactColumns::of(fact)?));
            }
            for effect in adopted.delivered.delivered(Delivery::Outbox).iter() {
                batch.work.push((n, done(&row, effect)?));
            }
        }
        Ok(batch)
    }

    fn arguments(&self, mark: &str) -> Result<PgArguments, sqlx::error::BoxDynError> {
        use sqlx::Arguments as _;
        let mut arguments = PgArguments::default();
        arguments.add(mark)?;
        bind(&self.machines, &mut arguments)?;
        bind(&self.facts, &mut arguments)?;
        bind(&self.work, &mut arguments)?;
        Ok(arguments)
    }
}

/// The row as it begins; the statement knows the time.
fn first_row(adopted: &Adopted) -> Row {
    let Adopted {
        new,
        facts,
        recorded,
        delivered: _,
    } = adopted;
    let machine = facts.machine();
    let was_sighted = machine.last_seen.is_some()
        || recorded
            .iter()
            .any(|fact| fact.was_sighted && fact.generation == machine.generation);
    Row {
        id: new.id.clone(),
        facts: facts.clone(),
        provider_id: new.provider_id.clone(),
        volume_id: new.volume_id.clone(),
        registered_volume: new.volume,
        volume_missing: None,
        policy: new.policy.clone(),
        revision: 1,
        checked_at: UNKNOWN,
        look_again_at: Some(UNKNOWN),
        was_sighted,
        destroy_accepted_at: None,
        claim: None,
    }
}

/// Work of the row's incarnation that was delivered already.
fn done(row: &Row, effect: Effect) -> Result<WorkColumns, StoreError> {
    let machine = row.facts.machine();
    let is_reservation = matches!(effect, Effect::HoldCompute | Effect::ReleaseCompute);
    let work = crate::outbox::Enqueue {
        key: crate::outbox::WorkKey {
            machine: row.id.clone(),
            generation: machine.generation,
            effect,
            holds: if is_reservation { machine.holds } else { 0 },
        },
        provider_id: row.provider_id.clone(),
        marker: machine.marker.map(str::to_owned),
        scope: machine.scope.to_owned(),
        volume_id: row.volume_id.clone(),
        quarantine_id: machine.quarantine.map(|stamp| stamp.id),
        committed_at: UNKNOWN,
        was_sighted: row.was_sighted,
    };
    let mut columns = WorkColumns::pending(&work, UNKNOWN)?;
    "done".clone_into(&mut columns.state);
    Ok(columns)
}

impl PostgresStore {
    pub(super) async fn adopt_all(&self, batch: &[Adopted]) -> Result<Vec<Registered>, StoreError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let columns = Batch::of(batch)?;
        let mut tries = Tries::new()?;
        loop {
            match self.try_adopt(batch, &columns, tries.mark()).await {
                Ok(registered) => return Ok(registered),
                Err(failure) => tries.wait_after(failure).await?,
            }
        }
    }

    async fn try_adopt(
        &self,
        batch: &[Adopted],
        columns: &Batch,
        mark: &str,
    ) -> Result<Vec<Registered>, Failure> {
        let mut connection = self.connection().await?;
        let rows = self
            .statements()
            .adopt
            .query_with(columns.arguments(mark)?)
            .fetch_all(&mut *connection)
            .await?;
        let mut created = HashMap::new();
        for row in &rows {
            created.insert(row.try_get::<String, _>("id")?, machine(row)?);
        }
        let mut known = HashMap::new();
        if created.len() < batch.len() {
            let others = batch.iter().map(|adopted| adopted.new.id.as_str());
            let others: Vec<&str> = others.filter(|id| !created.contains_key(*id)).collect();
            for fresh in self.fresh(&mut connection, &others, mark).await? {
                if fresh.is_ours {
                    created.insert(fresh.row.id.as_str().to_owned(), fresh.row);
                } else {
                    known.insert(fresh.row.id.as_str().to_owned(), fresh.row);
                }
            }
        }
        batch
            .iter()
            .map(|adopted| {
                let id = adopted.new.id.as_str();
                if let Some(row) = created.remove(id) {
                    known.insert(id.to_owned(), row.clone());
                    return Ok(Registered::Created(row));
                }
                let row = known.get(id).cloned().ok_or_else(|| {
                    StoreError::Unavailable("a row vanished while it was read".into())
                })?;
                Ok(Registered::Existing(row))
            })
            .collect()
    }
}

/// The first parameter of the rows: behind the mark.
const FIRST: usize = 2;
/// An instant that the statement replaces.
const UNKNOWN: Timestamp = Timestamp::from_millis(0);
