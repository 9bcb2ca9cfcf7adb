//! Which work may be delivered now, and by whom?

use core::time::Duration;
use std::collections::HashSet;

use lifecycle_core::Timestamp;
use sqlx::{Row as _, SqliteConnection, query};

use crate::{
    outbox::{Claimed, OutboxRow, WorkState, claims_row},
    row::{Claim, Row},
    sql::{corrupt, fresh_token, one_more},
    sqlite::{columns, failed, machines},
    store::StoreError,
};

/// How long work that cannot be read is put off.
const PUT_OFF: Duration = Duration::from_secs(60);

/// Claims work that is due.
pub(in crate::sqlite) async fn claim(
    connection: &mut SqliteConnection,
    limit: u32,
    lease: Duration,
    now: Timestamp,
) -> Result<Vec<Claimed>, StoreError> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut claimed, mut seen) = (Vec::new(), HashSet::new());
    while claimed.len() < wanted {
        // What was claimed, put off or blocked by a claim of this call is not found again, or was seen.
        let page = candidates(connection, wanted - claimed.len(), now).await?;
        let fresh: Vec<i64> = page.into_iter().filter(|seq| seen.insert(*seq)).collect();
        if fresh.is_empty() {
            break;
        }
        for seq in fresh {
            match read(connection, seq).await {
                Ok((work, machine)) => {
                    let is_blocked =
                        claims_row(work.work.key.effect) && machine.claim_at(now).is_some();
                    if !is_blocked {
                        let until = now.saturating_add(lease);
                        claimed.push(take(connection, seq, work, machine, until, now).await?);
                    }
                }
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(%error, "work passed over");
                    put_off(connection, seq, &error, now).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(claimed)
}

async fn candidates(
    connection: &mut SqliteConnection,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<i64>, StoreError> {
    query(CANDIDATES)
        .bind(now.as_millis())
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await
        .map_err(failed)?
        .iter()
        .map(|raw| raw.try_get("seq").map_err(failed))
        .collect()
}

async fn read(connection: &mut SqliteConnection, seq: i64) -> Result<(OutboxRow, Row), StoreError> {
    let raw = query("SELECT * FROM lifecycle_outbox WHERE seq = ?1")
        .bind(seq)
        .fetch_one(&mut *connection)
        .await
        .map_err(failed)?;
    let work = columns::work(&raw)?;
    let machine = &work.work.key.machine;
    match machines::load(connection, machine).await? {
        Some(row) => Ok((work, row)),
        None => Err(corrupt(machine.as_str(), "there is work but no row")),
    }
}

async fn take(
    connection: &mut SqliteConnection,
    seq: i64,
    work: OutboxRow,
    machine: Row,
    until: Timestamp,
    now: Timestamp,
) -> Result<Claimed, StoreError> {
    let token = fresh_token()?;
    // What is delivered from now on is what the work says now.
    query(
        "UPDATE lifecycle_outbox
         SET state = 'claimed', is_dirty = FALSE, claimed_until = ?2, claim_token = ?3
         WHERE seq = ?1",
    )
    .bind(seq)
    .bind(until.as_millis())
    .bind(&token)
    .execute(&mut *connection)
    .await
    .map_err(failed)?;
    let effect = work.work.key.effect;
    let machine = if claims_row(effect) {
        let revision = one_more("revision", machine.revision)?;
        query(
            "UPDATE lifecycle_machines
             SET claim_effect = ?2, claim_until = ?3, claim_token = ?4, revision = revision + 1
             WHERE id = ?1",
        )
        .bind(machine.id.as_str())
        .bind(effect.word())
        .bind(until.as_millis())
        .bind(&token)
        .execute(connection)
        .await
        .map_err(failed)?;
        Row {
            revision,
            claim: Some(Claim {
                effect,
                until,
                token: token.clone(),
            }),
            ..machine
        }
    } else {
        machine
    };
    Ok(Claimed {
        row: OutboxRow {
            state: WorkState::Claimed,
            is_dirty: false,
            ..work
        },
        machine,
        token,
        until,
        now,
    })
}

/// Puts work off that cannot be read, so that the rest has its turn, and says why.
async fn put_off(
    connection: &mut SqliteConnection,
    seq: i64,
    error: &StoreError,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "UPDATE lifecycle_outbox
         SET state = 'pending', claimed_until = NULL, claim_token = NULL, due_at = ?2, note = ?3
         WHERE seq = ?1",
    )
    .bind(seq)
    .bind(now.saturating_add(PUT_OFF).as_millis())
    .bind(error.to_string())
    .execute(connection)
    .await
    .map_err(failed)?;
    Ok(())
}

/// Both halves are read in the order of their index, and merged; nothing is sorted.
const CANDIDATES: &str = "
WITH ready AS NOT MATERIALIZED (
    SELECT work.seq, work.due_at, work.claimed_until, work.state
    FROM lifecycle_outbox AS work LEFT JOIN lifecycle_machines AS machine ON machine.id = work.machine
    WHERE NOT (work.effect IN ('destroy_volume', 'release_compute') AND EXISTS (
            SELECT 1 FROM lifecycle_outbox AS owed
            WHERE owed.machine = work.machine
                AND (owed.generation = work.generation OR work.effect = 'destroy_volume')
                AND owed.effect = 'destroy_compute' AND owed.state IN ('pending', 'claimed', 'dead')))
        AND NOT (work.effect IN ('stop_compute', 'destroy_compute', 'destroy_volume')
            AND machine.claim_until IS NOT NULL AND machine.claim_until > ?1)
)
SELECT seq, due_at AS at FROM ready WHERE state = 'pending' AND due_at <= ?1
UNION ALL
SELECT seq, claimed_until AS at FROM ready WHERE state = 'claimed' AND claimed_until <= ?1
ORDER BY at, seq LIMIT ?2";
