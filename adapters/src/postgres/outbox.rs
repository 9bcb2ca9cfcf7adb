//! How is work queued, read and given up?

use lifecycle_core::{Effect, Timestamp};
use sqlx::FromRow as _;

use super::{
    Name, PostgresStore,
    columns::names,
    failure::{Failure, failed},
    statement::{Statement, effects},
};
use crate::{
    id::MachineId,
    outbox::{OutboxRow, WorkKey},
    sql::{KeyColumns, WorkColumns},
    store::StoreError,
};

#[derive(Debug)]
pub(super) struct Statements {
    work: Statement,
    dead: Statement,
    next_at: Statement,
    retry_dead: Statement,
    drop_dead: Statement,
}

impl Statements {
    pub(super) fn of(schema: &Name) -> Self {
        let columns = names::<WorkColumns>("o.");
        // Settled before by this very call, whose answer was lost; or dead, and then changed.
        let on_dead = |assignments: &str| {
            format!(
                "with before as (
                     select o.state, o.settled_by from {schema}.outbox o
                     where o.machine = $1 and o.generation = $2 and o.effect = $3 and o.holds = $4
                     for update
                 ), changed as (
                     update {schema}.outbox o set {assignments}, settled_by = $5
                     from before
                     where o.machine = $1 and o.generation = $2 and o.effect = $3 and o.holds = $4
                         and o.state = 'dead'
                     returning 1
                 )
                 select (select count(*) from changed) > 0
                     or exists (select from before where settled_by = $5)"
            )
            .into()
        };
        Self {
            work: format!(
                "select {columns} from {schema}.outbox o where o.machine = $1 order by o.seq"
            )
            .into(),
            dead: format!(
                "select {columns} from {schema}.outbox o where o.state = 'dead'
                 order by o.committed_at, o.machine limit $1"
            )
            .into(),
            next_at: format!(
                "select min(coalesce(claim_until, due_at)) from {schema}.outbox
                 where state in ('pending', 'claimed')"
            )
            .into(),
            retry_dead: on_dead(&format!(
                "state = 'pending', is_dirty = false, attempts = 0, due_at = {schema}.now_ms(),
                 note = null, accepted_at = null"
            )),
            drop_dead: on_dead("state = 'dropped', note = $6"),
        }
    }
}

/// What becomes of work that is queued where some is: see [`Store::commit`](crate::store::Store::commit).
///
/// What the provider accepted meanwhile stays true of what is still being delivered.
pub(super) fn upsert() -> String {
    let once = effects(|effect| matches!(effect, Effect::HoldCompute | Effect::ReleaseCompute));
    format!(
        "on conflict (machine, generation, effect, holds) do update set
             provider_id = excluded.provider_id, marker = excluded.marker, scope = excluded.scope,
             volume_id = excluded.volume_id, quarantine_id = excluded.quarantine_id,
             committed_at = excluded.committed_at, was_sighted = excluded.was_sighted,
             state = case o.state when 'claimed' then 'claimed' else 'pending' end,
             is_dirty = (o.state = 'claimed'), attempts = 0, due_at = excluded.due_at, note = null,
             accepted_at = case when o.state in ('pending', 'claimed') then o.accepted_at end
         where not (o.state = 'done' and o.effect in ({once}))"
    )
}

impl PostgresStore {
    pub(super) async fn work_of(&self, id: &MachineId) -> Result<Vec<OutboxRow>, Failure> {
        let mut connection = self.connection().await?;
        let rows: Vec<WorkColumns> = self
            .statements()
            .outbox
            .work
            .rows()
            .bind(id.as_str())
            .fetch_all(&mut *connection)
            .await?;
        Ok(rows
            .iter()
            .map(WorkColumns::read)
            .collect::<Result<_, _>>()?)
    }

    pub(super) async fn dead(&self, limit: u32) -> Result<Vec<OutboxRow>, Failure> {
        let mut connection = self.connection().await?;
        let rows: Vec<WorkColumns> = self
            .statements()
            .outbox
            .dead
            .rows()
            .bind(i64::from(limit))
            .fetch_all(&mut *connection)
            .await?;
        Ok(rows
            .iter()
            .map(WorkColumns::read)
            .collect::<Result<_, _>>()?)
    }

    pub(super) async fn next_at(&self) -> Result<Option<Timestamp>, Failure> {
        let mut connection = self.connection().await?;
        let (at,): (Option<i64>,) = self
            .statements()
            .outbox
            .next_at
            .rows()
            .fetch_one(&mut *connection)
            .await?;
        Ok(at.map(Timestamp::from_millis))
    }

    pub(super) async fn retry(&self, key: &WorkKey, mark: &str) -> Result<bool, Failure> {
        self.on_dead(&self.statements().outbox.retry_dead, key, mark, None)
            .await
    }

    pub(super) async fn drop_work(
        &self,
        key: &WorkKey,
        mark: &str,
        reason: &str,
    ) -> Result<bool, Failure> {
        self.on_dead(&self.statements().outbox.drop_dead, key, mark, Some(reason))
            .await
    }

    async fn on_dead(
        &self,
        statement: &Statement,
        key: &WorkKey,
        mark: &str,
        reason: Option<&str>,
    ) -> Result<bool, Failure> {
        let key = KeyColumns::of(key)?;
        let mut query = statement
            .rows::<(bool,)>()
            .bind(key.machine)
            .bind(key.generation)
            .bind(key.effect)
            .bind(key.holds)
            .bind(mark);
        if let Some(reason) = reason {
            query = query.bind(without_nul(reason));
        }
        let mut connection = self.connection().await?;
        let (is_changed,) = query.fetch_one(&mut *connection).await?;
        Ok(is_changed)
    }
}

/// Reads work from a row that has its columns.
pub(super) fn work(row: &sqlx::postgres::PgRow) -> Result<OutboxRow, StoreError> {
    WorkColumns::from_row(row).map_err(failed)?.read()
}

/// Postgres keeps no NUL in a text; a note in somebody else's words may have one.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
