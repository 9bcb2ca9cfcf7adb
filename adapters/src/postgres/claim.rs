//! How do several relays share the outbox?
//!
//! One transaction: what is due is locked, rows with it, passing over what others have locked; then, in
//! a new snapshot, what still may be claimed is. Nobody can commit to a locked row in between, so that
//! what a claim says of its machine is true of it.

use core::time::Duration;
use std::collections::HashMap;

use lifecycle_core::Timestamp;
use sqlx::{Connection as _, PgConnection, Row as _};

use super::{
    Name, PostgresStore,
    columns::names,
    failure::{Failure, failed},
    outbox::work,
    rows::machine,
    statement::{Statement, effects, owed, span},
};
use crate::{
    outbox::{Claimed, OutboxRow, claims_row, waits_for_destroy_compute},
    row::Row,
    sql::{MachineColumns, WorkColumns},
    store::StoreError,
};

#[derive(Debug)]
pub(super) struct Statements {
    lock: Statement,
    claim: Statement,
    machines: Statement,
}

impl Statements {
    pub(super) fn of(schema: &Name) -> Self {
        let row_claims = effects(claims_row);
        let waiting = effects(waits_for_destroy_compute);
        let owed = owed();
        // Not `exists`: of that Postgres makes a scan of all that is owed.
        let may_be_claimed = |now: &str| {
            format!(
                "o.state in ('pending', 'claimed') and coalesce(o.claim_until, o.due_at) <= {now}
                 and not (o.effect in ({waiting}) and (
                     select true from {schema}.outbox d
                     where d.machine = o.machine
                         and (d.generation = o.generation or o.effect = 'destroy_volume')
                         and d.effect = 'destroy_compute' and d.state in ({owed})
                     limit 1
                 ) is not null)
                 and not (o.effect in ({row_claims}) and coalesce(m.claim_until > {now}, false))"
            )
        };
        let (at_first, at_last) = (
            may_be_claimed(&format!("(select {schema}.now_ms())")),
            may_be_claimed("clock.now"),
        );
        Self {
            lock: format!(
                "select o.machine, o.generation, o.effect, o.holds
                 from {schema}.outbox o join {schema}.machines m on m.id = o.machine
                 where {at_first}
                 order by coalesce(o.claim_until, o.due_at)
                 limit $1
                 for no key update of m, o skip locked"
            )
            .into(),
            claim: format!(
                "with fit as (
                     select o.machine, o.generation, o.effect, o.holds, p.ord, clock.now,
                         row_number() over (
                             partition by o.machine, o.effect in ({row_claims}) order by p.ord
                         ) as nth
                     from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) with ordinality
                         as p(machine, generation, effect, holds, ord)
                     join {schema}.outbox o using (machine, generation, effect, holds)
                     join {schema}.machines m on m.id = o.machine
                     cross join (select {schema}.now_ms() as now) clock
                     where {at_last}
                 ), claimed as (
                     update {schema}.outbox o set state = 'claimed', is_dirty = false,
                         claim_token = gen_random_uuid()::text, claim_until = fit.now + $5
                     from fit
                     where o.machine = fit.machine and o.generation = fit.generation
                         and o.effect = fit.effect and o.holds = fit.holds
                         and (fit.nth = 1 or o.effect not in ({row_claims}))
                     returning {columns}, o.claim_token, o.claim_until, fit.ord, fit.now
                 ), rows_claimed as (
                     update {schema}.machines m set claim_effect = c.effect,
                         claim_until = c.claim_until, claim_token = c.claim_token,
                         revision = m.revision + 1
                     from claimed c where m.id = c.machine and c.effect in ({row_claims})
                 )
                 select * from claimed order by ord",
                columns = names::<WorkColumns>("o."),
            )
            .into(),
            machines: format!(
                "select {} from {schema}.machines m where m.id = any($1)",
                names::<MachineColumns>("m.")
            )
            .into(),
        }
    }
}

impl PostgresStore {
    pub(super) async fn claim_once(
        &self,
        limit: u32,
        lease: Duration,
    ) -> Result<Vec<Claimed>, Failure> {
        let mut connection = self.connection().await?;
        let mut transaction = connection.begin().await?;
        let claims = self.claim_on(&mut transaction, limit, lease).await?;
        transaction.commit().await?;
        Ok(claims)
    }

    async fn claim_on(
        &self,
        connection: &mut PgConnection,
        limit: u32,
        lease: Duration,
    ) -> Result<Vec<Claimed>, Failure> {
        let statements = &self.statements().claim;
        let keys: Vec<(String, i64, String, i64)> = statements
            .lock
            .rows()
            .bind(i64::from(limit))
            .fetch_all(&mut *connection)
            .await?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = statements
            .claim
            .query()
            .bind(keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>())
            .bind(keys.iter().map(|key| key.1).collect::<Vec<_>>())
            .bind(keys.iter().map(|key| key.2.as_str()).collect::<Vec<_>>())
            .bind(keys.iter().map(|key| key.3).collect::<Vec<_>>())
            .bind(span(lease))
            .fetch_all(&mut *connection)
            .await?;
        let ids: Vec<&str> = keys.iter().map(|key| key.0.as_str()).collect();
        let rows = statements
            .machines
            .query()
            .bind(ids)
            .fetch_all(connection)
            .await?;
        let mut machines: HashMap<String, Result<Row, StoreError>> = HashMap::new();
        for row in &rows {
            machines.insert(row.try_get("id")?, machine(row));
        }
        let mut claims = Vec::with_capacity(claimed.len());
        for row in &claimed {
            let id: String = row.try_get("machine")?;
            match (work(row), machines.get(&id)) {
                (Ok(work), Some(Ok(machine))) => claims.push(claim_of(row, work, machine)?),
                // It stays claimed and is met again when the lease is over: others go first.
                (Err(error), _) => tracing::error!(%error, "work is passed over"),
                (Ok(_), Some(Err(error))) => tracing::error!(%error, "work is passed over"),
                (Ok(_), None) => {}
            }
        }
        Ok(claims)
    }
}

fn claim_of(
    row: &sqlx::postgres::PgRow,
    work: OutboxRow,
    machine: &Row,
) -> Result<Claimed, StoreError> {
    let instant = |column| {
        row.try_get(column)
            .map(Timestamp::from_millis)
            .map_err(failed)
    };
    Ok(Claimed {
        row: work,
        machine: machine.clone(),
        token: row.try_get("claim_token").map_err(failed)?,
        until: instant("claim_until")?,
        now: instant("now")?,
    })
}
