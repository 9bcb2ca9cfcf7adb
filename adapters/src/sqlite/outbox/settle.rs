//! What becomes of work that was claimed?

use lifecycle_core::Timestamp;
use sqlx::{Row as _, SqliteConnection, query, sqlite::SqliteRow};

use crate::{
    outbox::{Settlement, WorkKey, WorkState},
    sql::{KeyColumns, millis},
    sqlite::failed,
    store::StoreError,
};

/// Settles claimed work and takes its claim off the row.
pub(in crate::sqlite) async fn settle(
    connection: &mut SqliteConnection,
    key: &WorkKey,
    token: &str,
    settlement: &Settlement,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let columns = KeyColumns::of(key)?;
    let held = query(HELD)
        .bind(columns.machine)
        .bind(columns.generation)
        .bind(columns.effect)
        .bind(columns.holds)
        .bind(token)
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed)?;
    let Some(held) = held else {
        return Ok(false);
    };
    let held = Held::read(&held).map_err(failed)?;
    let next = held.settled(settlement, now);
    query(SETTLE)
        .bind(held.seq)
        .bind(next.state.word())
        .bind(next.attempts)
        .bind(next.due_at)
        .bind(next.note)
        .bind(next.accepted_at)
        .execute(&mut *connection)
        .await
        .map_err(failed)?;
    query(TAKE_OFF)
        .bind(columns.machine)
        .bind(token)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(true)
}

/// What is stored of work that is claimed.
struct Held {
    seq: i64,
    is_dirty: bool,
    attempts: i64,
    due_at: i64,
    note: Option<String>,
    accepted_at: Option<i64>,
}

/// What is stored of it next.
struct Next<'a> {
    state: WorkState,
    attempts: i64,
    due_at: i64,
    note: Option<&'a str>,
    accepted_at: Option<i64>,
}

impl Held {
    fn read(raw: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            seq: raw.try_get("seq")?,
            is_dirty: raw.try_get("is_dirty")?,
            attempts: raw.try_get("attempts")?,
            due_at: raw.try_get("due_at")?,
            note: raw.try_get("note")?,
            accepted_at: raw.try_get("accepted_at")?,
        })
    }

    fn settled<'a>(&'a self, settlement: &'a Settlement, now: Timestamp) -> Next<'a> {
        let settled = Next {
            state: WorkState::Pending,
            attempts: self.attempts,
            due_at: self.due_at,
            note: None,
            accepted_at: self.accepted_at,
        };
        if self.is_dirty {
            // As though it had just been queued.
            return Next {
                attempts: 0,
                due_at: now.as_millis(),
                accepted_at: None,
                ..settled
            };
        }
        match settlement {
            Settlement::Done => Next {
                state: WorkState::Done,
                ..settled
            },
            Settlement::Cancelled(why) => Next {
                state: WorkState::Cancelled,
                note: Some(why),
                ..settled
            },
            Settlement::Retry {
                after,
                note,
                accepted_at,
            } => Next {
                attempts: self.attempts.saturating_add(1),
                due_at: now.saturating_add(*after).as_millis(),
                note: Some(note),
                // What the provider once accepted stays accepted.
                accepted_at: millis(*accepted_at).or(self.accepted_at),
                ..settled
            },
            Settlement::Dead(error) => Next {
                state: WorkState::Dead,
                attempts: self.attempts.saturating_add(1),
                note: Some(error),
                ..settled
            },
            Settlement::Released => Next {
                due_at: now.as_millis(),
                note: self.note.as_deref(),
                ..settled
            },
        }
    }
}

const HELD: &str = "
SELECT seq, is_dirty, attempts, due_at, note, accepted_at FROM lifecycle_outbox
WHERE machine = ?1 AND generation = ?2 AND effect = ?3 AND holds = ?4
    AND state = 'claimed' AND claim_token = ?5";

const SETTLE: &str = "
UPDATE lifecycle_outbox SET state = ?2, is_dirty = FALSE, attempts = ?3, due_at = ?4, note = ?5,
    accepted_at = ?6, claimed_until = NULL, claim_token = NULL
WHERE seq = ?1";

const TAKE_OFF: &str = "
UPDATE lifecycle_machines SET claim_effect = NULL, claim_until = NULL, claim_token = NULL,
    revision = revision + 1
WHERE id = ?1 AND claim_token = ?2";
