//! What was left undone, and how is it mended without holding everybody up?
//!
//! In batches, each a transaction: rows that lack something are locked, then, in a new snapshot, what
//! they still lack is counted and mended. A dry run does the same and takes it back.

use sqlx::Connection as _;

use super::{
    Name, PostgresStore,
    failure::{Failure, Tries},
    outbox::upsert,
    statement::Statement,
};
use crate::store::{RepairMode, Repaired, StoreError};

#[derive(Debug)]
pub(super) struct Statements {
    lock: Statement,
    mend: Statement,
}

impl Statements {
    pub(super) fn of(schema: &Name) -> Self {
        let lacking = lacking(schema);
        Self {
            lock: format!(
                "select m.id from {schema}.machines m
                 where m.id > $1 and m.status in ('quarantined', 'destroying', 'destroyed', 'failed')
                     and ({})
                 order by m.id limit $2
                 for no key update of m",
                lacking.each_ref().map(|(_, lacks)| lacks.as_str()).join(" or ")
            )
            .into(),
            mend: mend(schema, &lacking).into(),
        }
    }
}

/// What a row of `machines m` may lack; see [`Repaired`].
fn lacking(schema: &Name) -> [(&'static str, String); 5] {
    // Not `exists`: of that Postgres makes a scan of everything, once for each batch.
    let has_no_work = |effect: &str| {
        format!(
            "(
                 select true from {schema}.outbox o where o.machine = m.id
                     and o.generation = m.generation and o.effect = '{effect}' limit 1
             ) is null"
        )
    };
    [
        (
            "lacks_fact",
            format!(
                "(m.status = 'destroyed' and (
                     select true from {schema}.ledger l where l.machine = m.id
                         and l.generation = m.generation and l.fact = 'record_destroyed' limit 1
                 ) is null)"
            ),
        ),
        (
            "lacks_revocation",
            format!(
                "(m.status in ('quarantined', 'destroying', 'destroyed', 'failed') and {})",
                has_no_work("revoke_credentials")
            ),
        ),
        (
            "lacks_release",
            "(m.status = 'destroyed' and m.compute = 'held')".to_owned(),
        ),
        (
            // One that is due already is mended: it gets its stamp when it is looked at.
            "lacks_stamp",
            format!(
                "(m.status = 'quarantined' and m.quarantine_id is null
                     and not coalesce(m.look_again_at <= (select {schema}.now_ms()), false))"
            ),
        ),
        (
            "lacks_destruction",
            format!(
                "(m.status in ('destroying', 'destroyed') and m.last_seen_power is distinct from 'gone' and {})",
                has_no_work("destroy_compute")
            ),
        ),
    ]
}

fn mend(schema: &Name, lacking: &[(&'static str, String); 5]) -> String {
    let found = lacking
        .iter()
        .map(|(name, lacks)| format!("{lacks} as {name}"));
    let counts = lacking
        .iter()
        .map(|(name, _)| format!("count(*) filter (where {name})"));
    format!(
        "with found as materialized (
             select m.*, clock.now, {found}
             from {schema}.machines m cross join (select {schema}.now_ms() as now) clock
             where m.id = any($1)
         ), recorded as (
             insert into {schema}.ledger (machine, generation, fact, occurrence, at, source,
                 was_sighted, volume, volume_id)
             select id, generation, 'record_destroyed', 0, now, 'sweep', was_sighted, volume, volume_id
             from found where lacks_fact
             on conflict do nothing
         ), queued as (
             insert into {schema}.outbox as o (machine, generation, effect, holds, provider_id, marker,
                 scope, volume_id, quarantine_id, committed_at, was_sighted, state, due_at)
             select f.id, f.generation, lacks.effect,
                 case lacks.effect when 'release_compute' then f.holds else 0 end, f.provider_id,
                 f.marker, f.scope, f.volume_id, f.quarantine_id, f.now, f.was_sighted, 'pending', f.now
             from found f cross join lateral (values
                 ('revoke_credentials', f.lacks_revocation),
                 ('release_compute', f.lacks_release),
                 ('destroy_compute', f.lacks_destruction)
             ) as lacks(effect, is_lacking)
             where lacks.is_lacking
             {upsert}
         ), mended as (
             update {schema}.machines m set
                 compute = case when found.lacks_release then 'released' else m.compute end,
                 look_again_at = case when found.lacks_stamp then found.now else m.look_again_at end,
                 revision = m.revision + 1
             from found
             where m.id = found.id and (found.lacks_release or found.lacks_stamp)
         )
         select {counts}, (select pg_notify($2::text, '') where $2::text is not null) from found",
        found = found.collect::<Vec<_>>().join(", "),
        upsert = upsert(),
        counts = counts.collect::<Vec<_>>().join(", "),
    )
}

impl PostgresStore {
    pub(super) async fn repair_all(&self, mode: RepairMode) -> Result<Repaired, StoreError> {
        let mut repaired = Repaired::default();
        let mut after = String::new();
        loop {
            let mut tries = Tries::new()?;
            let batch = loop {
                match self.repair_batch(mode, &after).await {
                    Ok(batch) => break batch,
                    Err(failure) => tries.wait_if_certain(failure).await?,
                }
            };
            let Some((found, last)) = batch else {
                return Ok(repaired);
            };
            let Repaired {
                destroy_facts,
                revocations,
                releases,
                stamps,
                destructions,
            } = found;
            repaired.destroy_facts += destroy_facts;
            repaired.revocations += revocations;
            repaired.releases += releases;
            repaired.stamps += stamps;
            repaired.destructions += destructions;
            after = last;
        }
    }

    /// Mends the next rows after this id; returns what was found and the last id, none at the end.
    async fn repair_batch(
        &self,
        mode: RepairMode,
        after: &str,
    ) -> Result<Option<(Repaired, String)>, Failure> {
        let statements = &self.statements().repair;
        let mut connection = self.connection().await?;
        let mut transaction = connection.begin().await?;
        let ids: Vec<(String,)> = statements
            .lock
            .rows()
            .bind(after)
            .bind(REPAIRED_AT_ONCE)
            .fetch_all(&mut *transaction)
            .await?;
        let Some((last,)) = ids.last().cloned() else {
            return Ok(None);
        };
        let ids: Vec<&str> = ids.iter().map(|(id,)| id.as_str()).collect();
        let (destroy_facts, revocations, releases, stamps, destructions): Counts = statements
            .mend
            .rows()
            .bind(ids)
            .bind(self.channel())
            .fetch_one(&mut *transaction)
            .await?;
        match mode {
            RepairMode::DryRun => transaction.rollback().await?,
            RepairMode::Mend => transaction.commit().await?,
        }
        let found = Repaired {
            destroy_facts: destroy_facts.unsigned_abs(),
            revocations: revocations.unsigned_abs(),
            releases: releases.unsigned_abs(),
            stamps: stamps.unsigned_abs(),
            destructions: destructions.unsigned_abs(),
        };
        Ok(Some((found, last)))
    }
}

type Counts = (i64, i64, i64, i64, i64);

const REPAIRED_AT_ONCE: i64 = 5_000;
