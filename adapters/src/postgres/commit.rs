//! How does a commit happen in one statement, and who won?
//!
//! ```text
//! changes ──> won: update … where revision = the one that was read ──┬─> ledger
//!                                                                    ├─> outbox
//!                                  not won: nothing is written,      ├─> journal
//!                                  the fresh row is read             └─> newly gone, hold
//! ```

use std::collections::HashMap;

use lifecycle_core::Effect;
use sqlx::{Connection as _, PgConnection, Row as _, postgres::PgRow};

use super::{
    Name, PostgresStore,
    batch::{Batch, ScopeOf},
    columns::{Table as _, names, parameters, source},
    failure::{Failure, Tries},
    outbox::upsert,
    rows::Fresh,
    statement::Statement,
};
use crate::{
    outbox::WorkKey,
    row::{Claim, Row},
    sql::{
        EntryColumns, FactColumns, MachineColumns, WorkColumns, fresh_token, instant, one_more,
        optional_word,
    },
    store::{Change, Commit, StoreError},
};

/// The statement; its parameters are those of [`Batch::arguments`].
pub(super) fn statement(schema: &Name) -> Statement {
    let machines = FIRST;
    let facts = machines + parameters::<MachineColumns>();
    let work = facts + parameters::<FactColumns>();
    let entries = work + parameters::<WorkColumns>();
    let gone = entries + parameters::<EntryColumns>();
    let held = gone + parameters::<ScopeOf>();
    format!(
        "with won as (
             update {schema}.machines m set {assignments},
                 recent_commits = (array[$1::text::uuid] || m.recent_commits)[1:{KEPT_COMMITS}]
             from (select * from {machines} order by id) i
             where m.id = i.id and m.revision = i.revision
             returning i.n, {schema}.now_ms() as now, m.id, m.claim_effect, m.claim_until, m.claim_token
         ), recorded as (
             insert into {schema}.ledger ({fact_names})
             select {fact_values} from {facts} join won on won.n = f.n order by f.ord
             on conflict do nothing
         ), queued as (
             insert into {schema}.outbox as o ({work_names})
             select {work_values} from {work} join won on won.n = w.n order by w.ord
             {upsert}
         ), journalled as (
             insert into {schema}.journal ({entry_names})
             select {entry_values} from {entries} join won on won.n = e.n order by e.ord
         ), gone as (
             insert into {schema}.newly_gone (machine, scope, at)
             select won.id, g.scope, won.now from {gone} join won on won.n = g.n
             on conflict (machine, scope) do update set at = excluded.at
         ), held as (
             insert into {schema}.scopes as s (scope, held_since)
             select h.scope, min(won.now) from {held} join won on won.n = h.n
             group by h.scope order by h.scope
             on conflict (scope) do update set held_since = coalesce(s.held_since, excluded.held_since)
         )
         select won.n, won.claim_effect, won.claim_until, won.claim_token, (select pg_notify($2::text, '') where $2::text is not null) from won",
        assignments = assignments(),
        machines = source::<MachineColumns>(machines, "t"),
        fact_names = names::<FactColumns>(""),
        fact_values = names::<FactColumns>("f."),
        facts = source::<FactColumns>(facts, "f"),
        work_names = names::<WorkColumns>(""),
        work_values = work_values(),
        work = source::<WorkColumns>(work, "w"),
        upsert = upsert(),
        entry_names = names::<EntryColumns>(""),
        entry_values = names::<EntryColumns>("e."),
        entries = source::<EntryColumns>(entries, "e"),
        gone = source::<ScopeOf>(gone, "g"),
        held = source::<ScopeOf>(held, "h"),
    )
    .into()
}

/// What is written of a row: not its id, and not its claim, which is the relays'.
fn assignments() -> String {
    let assigned = MachineColumns::COLUMNS
        .iter()
        .filter_map(|(name, _)| match *name {
            "id" | "claim_effect" | "claim_until" | "claim_token" => None,
            "revision" => Some("revision = m.revision + 1".to_owned()),
            name => Some(format!("{name} = i.{name}")),
        });
    assigned.collect::<Vec<_>>().join(", ")
}

/// What is queued: as asked for, but of the time of the commit. Credentials that were minted between
/// the decision and its commit are to be revoked by it as well.
fn work_values() -> String {
    let values = WorkColumns::COLUMNS.iter().map(|(name, _)| match *name {
        "committed_at" | "due_at" => "won.now".to_owned(),
        name => format!("w.{name}"),
    });
    values.collect::<Vec<_>>().join(", ")
}

impl PostgresStore {
    pub(super) async fn commit_all(&self, changes: &[Change]) -> Result<Vec<Commit>, StoreError> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let batch = Batch::of(changes)?;
        let mut tries = Tries::new()?;
        loop {
            match self.try_commit(&batch, &tries).await {
                Ok(commits) => return Ok(commits),
                Err(failure) => tries.wait_after(failure).await?,
            }
        }
    }

    async fn try_commit(&self, batch: &Batch<'_>, tries: &Tries) -> Result<Vec<Commit>, Failure> {
        let mut connection = self.connection().await?;
        self.write(&mut connection, batch, tries.mark(), tries.is_unsure())
            .await
    }

    /// Writes a change in the caller's own transaction, or nothing: it becomes visible with what else
    /// the transaction writes, or not at all.
    ///
    /// # Errors
    ///
    /// Returns the database's errors; the transaction is then of no more use. Nothing is tried again.
    pub async fn commit_on(
        &self,
        connection: &mut PgConnection,
        change: &Change,
    ) -> Result<Commit, StoreError> {
        let commits = self
            .commit_many_on(connection, core::slice::from_ref(change))
            .await?;
        Ok(commits.into_iter().next().unwrap_or(Commit::Lost(None)))
    }

    /// Writes several changes in the caller's own transaction, each winning or losing on its own.
    ///
    /// # Errors
    ///
    /// As [`PostgresStore::commit_on`].
    pub async fn commit_many_on(
        &self,
        connection: &mut PgConnection,
        changes: &[Change],
    ) -> Result<Vec<Commit>, StoreError> {
        let batch = Batch::of(changes)?;
        let mark = fresh_token()?;
        self.write(connection, &batch, &mark, false)
            .await
            .map_err(Failure::into_error)
    }

    async fn write(
        &self,
        connection: &mut PgConnection,
        batch: &Batch<'_>,
        mark: &str,
        is_unsure: bool,
    ) -> Result<Vec<Commit>, Failure> {
        let mut won = match self.tokens().filter(|_| batch.revokes()) {
            None => self.update(connection, batch, mark).await?,
            Some(tokens) => {
                let mut transaction = connection.begin().await?;
                let won = self.update(&mut transaction, batch, mark).await?;
                let revoked = batch
                    .changes
                    .iter()
                    .zip(0_i64..)
                    .filter(|(_, n)| won.contains_key(n));
                let revoked = revoked.flat_map(|(change, _)| &change.work);
                let keys: Vec<&WorkKey> = revoked
                    .map(|work| &work.key)
                    .filter(|key| matches!(key.effect, Effect::RevokeCredentials))
                    .collect();
                tokens
                    .revoke_with_commit(&mut transaction, self.schema(), &keys)
                    .await?;
                transaction.commit().await?;
                won
            }
        };
        if won.len() < batch.changes.len() {
            let lost: Vec<&str> = batch
                .changes
                .iter()
                .zip(0_i64..)
                .filter(|(_, n)| !won.contains_key(n))
                .map(|(change, _)| change.next.id.as_str())
                .collect();
            let fresh = self.fresh(connection, &lost, mark).await?;
            return answers(batch.changes, won, fresh, is_unsure);
        }
        Ok((0_i64..)
            .zip(batch.changes)
            .map(|(n, _)| won.remove(&n).map_or(Commit::Lost(None), Commit::Won))
            .collect())
    }

    async fn update(
        &self,
        connection: &mut PgConnection,
        batch: &Batch<'_>,
        mark: &str,
    ) -> Result<HashMap<i64, Row>, Failure> {
        let arguments = batch.arguments(mark, self.channel())?;
        let rows = self
            .statements()
            .commit
            .query_with(arguments)
            .fetch_all(connection)
            .await?;
        let mut won = HashMap::with_capacity(rows.len());
        for row in &rows {
            let n: i64 = row.try_get("n")?;
            let change = usize::try_from(n).ok().and_then(|n| batch.changes.get(n));
            if let Some(Change { next, .. }) = change {
                won.insert(n, written(next, row)?);
            }
        }
        Ok(won)
    }
}

/// The row as it is now: as it was to be written, with the claim that is stored.
fn written(next: &Row, row: &PgRow) -> Result<Row, Failure> {
    let id = next.id.as_str();
    let effect: Option<String> = row.try_get("claim_effect")?;
    let until: Option<i64> = row.try_get("claim_until")?;
    let token: Option<String> = row.try_get("claim_token")?;
    let claim = match (
        optional_word(id, "claim_effect", effect.as_deref())?,
        instant(until),
        token,
    ) {
        (Some(effect), Some(until), Some(token)) => Some(Claim {
            effect,
            until,
            token,
        }),
        (_, _, _) => None,
    };
    Ok(Row {
        revision: one_more("revision", next.revision)?,
        claim,
        ..next.clone()
    })
}

/// Says of each change whether it won, where some did not.
fn answers(
    changes: &[Change],
    mut won: HashMap<i64, Row>,
    fresh: Vec<Fresh>,
    is_unsure: bool,
) -> Result<Vec<Commit>, Failure> {
    let mut fresh: HashMap<String, Fresh> = fresh
        .into_iter()
        .map(|fresh| (fresh.row.id.as_str().to_owned(), fresh))
        .collect();
    (0_i64..)
        .zip(changes)
        .map(|(n, change)| {
            if let Some(row) = won.remove(&n) {
                return Ok(Commit::Won(row));
            }
            match fresh.remove(change.next.id.as_str()) {
                None => Ok(Commit::Lost(None)),
                Some(Fresh { row, is_ours: true }) => Ok(Commit::Won(row)),
                Some(Fresh {
                    row,
                    is_ours: false,
                }) if is_unsure && forgets(&row, change) => Err(StoreError::OutcomeUnknown(
                    "so many commits followed that this one is no longer remembered".into(),
                )
                .into()),
                Some(Fresh {
                    row,
                    is_ours: false,
                }) => Ok(Commit::Lost(Some(row))),
            }
        })
        .collect()
}

/// Tells whether the change could have been committed and no longer be among the recent commits.
fn forgets(row: &Row, change: &Change) -> bool {
    row.revision > change.next.revision.saturating_add(KEPT_COMMITS)
}

/// The first parameter of the rows: behind the commit's mark and the channel to notify.
const FIRST: usize = 3;
/// How many commits a row remembers.
const KEPT_COMMITS: u64 = 4;
