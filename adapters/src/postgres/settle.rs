//! How is claimed work settled?

use sqlx::Row as _;

use super::{
    Name, PostgresStore,
    failure::Failure,
    outbox::without_nul,
    statement::{Statement, span},
};
use crate::{
    outbox::{Settlement, WorkKey, WorkState},
    sql::{KeyColumns, millis},
};

/// The row is locked before its work, as every commit does it, so that nobody waits in a circle.
pub(super) fn statement(schema: &Name) -> Statement {
    format!(
        "with machine as (
             select id from {schema}.machines where id = $1 for no key update
         ), before as (
             select o.machine, o.claim_token, o.settled_by from {schema}.outbox o, machine
             where o.machine = machine.id and o.generation = $2 and o.effect = $3 and o.holds = $4
             for no key update of o
         ), settled as (
             update {schema}.outbox o set
                 state = case when o.is_dirty then 'pending' else $6 end,
                 attempts = case when o.is_dirty then 0 else o.attempts + $7 end,
                 due_at = case when o.is_dirty then {schema}.now_ms()
                               when $8::bigint is not null then {schema}.now_ms() + $8
                               else o.due_at end,
                 note = case when o.is_dirty then null when $9 then o.note else $10 end,
                 accepted_at = case when o.is_dirty then null else coalesce($11, o.accepted_at) end,
                 is_dirty = false, claim_token = null, claim_until = null, settled_by = $5
             from before
             where o.machine = before.machine and o.generation = $2 and o.effect = $3 and o.holds = $4
                 and o.claim_token = $5
             returning o.machine
         ), freed as (
             update {schema}.machines m set claim_effect = null, claim_until = null,
                 claim_token = null, revision = m.revision + 1
             from settled where m.id = settled.machine and m.claim_token = $5
         )
         select exists (select from settled) as is_settled,
             exists (select from before where settled_by = $5) as was_settled"
    )
    .into()
}

/// A settlement as columns.
struct Columns {
    state: WorkState,
    attempts: i64,
    /// After what time it is due; none: it does not matter.
    after: Option<i64>,
    keeps_note: bool,
    note: Option<String>,
    accepted_at: Option<i64>,
}

impl Columns {
    fn of(settlement: &Settlement) -> Self {
        let ended = |state| Self {
            state,
            attempts: 0,
            after: None,
            keeps_note: false,
            note: None,
            accepted_at: None,
        };
        match settlement {
            Settlement::Done => ended(WorkState::Done),
            Settlement::Cancelled(why) => Self {
                note: Some(without_nul(why)),
                ..ended(WorkState::Cancelled)
            },
            Settlement::Retry {
                after,
                note,
                accepted_at,
            } => Self {
                attempts: 1,
                after: Some(span(*after)),
                note: Some(without_nul(note)),
                accepted_at: millis(*accepted_at),
                ..ended(WorkState::Pending)
            },
            Settlement::Dead(error) => Self {
                attempts: 1,
                note: Some(without_nul(error)),
                ..ended(WorkState::Dead)
            },
            Settlement::Released => Self {
                after: Some(0),
                keeps_note: true,
                ..ended(WorkState::Pending)
            },
        }
    }
}

impl PostgresStore {
    pub(super) async fn settle_once(
        &self,
        key: &WorkKey,
        token: &str,
        settlement: &Settlement,
        is_unsure: bool,
    ) -> Result<bool, Failure> {
        let key = KeyColumns::of(key)?;
        let Columns {
            state,
            attempts,
            after,
            keeps_note,
            note,
            accepted_at,
        } = Columns::of(settlement);
        let mut connection = self.connection().await?;
        let row = self
            .statements()
            .settle
            .query()
            .bind(key.machine)
            .bind(key.generation)
            .bind(key.effect)
            .bind(key.holds)
            .bind(token)
            .bind(state.word())
            .bind(attempts)
            .bind(after)
            .bind(keeps_note)
            .bind(note)
            .bind(accepted_at)
            .fetch_one(&mut *connection)
            .await?;
        let is_settled: bool = row.try_get("is_settled")?;
        // Only an earlier try of this very call can have settled it with this token unnoticed.
        let was_settled: bool = row.try_get("was_settled")?;
        Ok(is_settled || (is_unsure && was_settled))
    }
}
