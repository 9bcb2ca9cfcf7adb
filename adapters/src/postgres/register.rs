//! How does a machine begin?

use sqlx::{PgConnection, postgres::PgArguments};

use super::{
    Name, PostgresStore,
    columns::names,
    failure::{Failure, Tries},
    outbox::upsert,
    rows::machine,
    statement::Statement,
};
use crate::{
    row::NewMachine,
    sql::{MachineColumns, fresh_token},
    store::{Registered, StoreError},
};

pub(super) fn statement(schema: &Name) -> Statement {
    format!(
        "with life as materialized (
             select coalesce(max(generation), 0) + 1 as generation, {schema}.now_ms() as now
             from {schema}.ledger where machine = $3
         ), m as (
             insert into {schema}.machines (id, status, volume, compute, desired, generation, scope,
                 marker, created_at, status_since, quarantines, holds, provider_id, volume_id,
                 registered_volume, policy, revision, checked_at, look_again_at, was_sighted,
                 recent_commits)
             select $3, 'provisioning', $4, 'held', 'on', life.generation, $5,
                 $6, life.now, life.now, 0, 1, $7, $8,
                 $4, $9, 1, life.now, life.now, false,
                 array[$1::text::uuid]
             from life
             on conflict (id) do nothing
             returning *
         ), queued as (
             insert into {schema}.outbox as o (machine, generation, effect, holds, provider_id, marker,
                 scope, volume_id, committed_at, was_sighted, state, due_at)
             select m.id, m.generation, 'hold_compute', m.holds, m.provider_id, m.marker,
                 m.scope, m.volume_id, m.created_at, false, 'pending', m.created_at
             from m {upsert}
         ), journalled as (
             insert into {schema}.journal (machine, revision, at, source, input, why)
             select m.id, m.revision, m.created_at, 'user', '', 'registered' from m
         )
         select {columns}, (select pg_notify($2::text, '') where $2::text is not null) from m",
        upsert = upsert(),
        columns = names::<MachineColumns>("m."),
    )
    .into()
}

impl PostgresStore {
    pub(super) async fn register_new(&self, new: &NewMachine) -> Result<Registered, StoreError> {
        let mut tries = Tries::new()?;
        loop {
            match self.try_register(new, &tries).await {
                Ok(registered) => return Ok(registered),
                Err(failure) => tries.wait_after(failure).await?,
            }
        }
    }

    async fn try_register(&self, new: &NewMachine, tries: &Tries) -> Result<Registered, Failure> {
        let mut connection = self.connection().await?;
        self.insert(&mut connection, new, tries.mark()).await
    }

    /// Registers a machine in the caller's own transaction; see
    /// [`Store::register`](crate::store::Store::register).
    ///
    /// # Errors
    ///
    /// Returns the database's errors; the transaction is then of no more use. Nothing is tried again.
    pub async fn register_on(
        &self,
        connection: &mut PgConnection,
        new: &NewMachine,
    ) -> Result<Registered, StoreError> {
        self.insert(connection, new, &fresh_token()?)
            .await
            .map_err(Failure::into_error)
    }

    async fn insert(
        &self,
        connection: &mut PgConnection,
        new: &NewMachine,
        mark: &str,
    ) -> Result<Registered, Failure> {
        let arguments = arguments(new, mark, self.channel())?;
        let created = self
            .statements()
            .register
            .query_with(arguments)
            .fetch_optional(&mut *connection)
            .await?;
        if let Some(row) = created {
            return Ok(Registered::Created(machine(&row)?));
        }
        // Somebody's row was in the way; it may be that of an earlier try whose answer was lost.
        let known = self.fresh(connection, &[new.id.as_str()], mark).await?;
        match known.into_iter().next() {
            Some(fresh) if fresh.is_ours => Ok(Registered::Created(fresh.row)),
            Some(fresh) => Ok(Registered::Existing(fresh.row)),
            // Only a transaction that sees an old snapshot meets a row that it cannot read.
            None => Err(StoreError::Unavailable(
                "the row was registered after this transaction began".into(),
            )
            .into()),
        }
    }
}

fn arguments(
    new: &NewMachine,
    mark: &str,
    channel: Option<&str>,
) -> Result<PgArguments, sqlx::error::BoxDynError> {
    use sqlx::Arguments as _;
    let NewMachine {
        id,
        scope,
        marker,
        provider_id,
        volume,
        volume_id,
        policy,
    } = new;
    let mut arguments = PgArguments::default();
    arguments.add(mark)?;
    arguments.add(channel)?;
    arguments.add(id.as_str())?;
    arguments.add(volume.word())?;
    arguments.add(scope.as_str())?;
    arguments.add(marker.as_deref())?;
    arguments.add(provider_id.as_deref())?;
    arguments.add(volume_id.as_deref())?;
    arguments.add(policy.as_deref())?;
    Ok(arguments)
}
