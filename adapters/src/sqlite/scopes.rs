//! What does the fleet guard need of a scope?

use core::time::Duration;

use lifecycle_core::{ScopeWindow, Timestamp};
use sqlx::{Row as _, SqliteConnection, query, sqlite::SqliteRow};

use super::failed;
use crate::{
    row::Row,
    sql::{count, instant, stored},
    store::StoreError,
};

/// Notes that a machine is newly gone.
pub(super) async fn gone(
    connection: &mut SqliteConnection,
    scope: &str,
    row: &Row,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(GONE)
        .bind(scope)
        .bind(row.id.as_str())
        .bind(stored("generation", row.facts.machine().generation)?)
        .bind(now.as_millis())
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(())
}

/// Begins the hold of a scope; one that is held stays held since it was.
pub(super) async fn hold(
    connection: &mut SqliteConnection,
    scope: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO lifecycle_scopes (scope, held_since) VALUES (?1, ?2)
         ON CONFLICT (scope) DO UPDATE SET held_since = coalesce(held_since, excluded.held_since)",
    )
    .bind(scope)
    .bind(now.as_millis())
    .execute(connection)
    .await
    .map_err(failed)?;
    Ok(())
}

/// Ends the hold of a scope.
pub(super) async fn release(
    connection: &mut SqliteConnection,
    scope: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO lifecycle_scopes (scope, released_at) VALUES (?1, ?2)
         ON CONFLICT (scope) DO UPDATE SET held_since = NULL, released_at = excluded.released_at",
    )
    .bind(scope)
    .bind(now.as_millis())
    .execute(connection)
    .await
    .map_err(failed)?;
    Ok(())
}

/// Counts what went and what is active.
pub(super) async fn window(
    connection: &mut SqliteConnection,
    scope: &str,
    window: Duration,
    now: Timestamp,
) -> Result<ScopeWindow, StoreError> {
    let raw = query(WINDOW)
        .bind(scope)
        .bind(now.saturating_sub(window).as_millis())
        .fetch_one(connection)
        .await
        .map_err(failed)?;
    read(scope, &raw)
}

fn read(scope: &str, raw: &SqliteRow) -> Result<ScopeWindow, StoreError> {
    let instant_of = |column| raw.try_get(column).map(instant).map_err(failed);
    Ok(ScopeWindow {
        newly_gone: count(
            scope,
            "newly_gone",
            raw.try_get("newly_gone").map_err(failed)?,
        )?,
        active: count(scope, "active", raw.try_get("active").map_err(failed)?)?,
        held_since: instant_of("held_since")?,
        released_at: instant_of("released_at")?,
    })
}

const GONE: &str = "
INSERT INTO lifecycle_newly_gone (scope, machine, generation, at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (scope, machine) DO UPDATE SET generation = excluded.generation, at = excluded.at";

/// The window is open at its beginning, as the guard's own arithmetic is.
const WINDOW: &str = "
WITH gone AS (SELECT machine FROM lifecycle_newly_gone WHERE scope = ?1 AND at > ?2),
    active AS (
        SELECT id FROM lifecycle_machines
        WHERE scope = ?1 AND status IN ('provisioning', 'running', 'paused', 'failed'))
SELECT (SELECT count(*) FROM gone) AS newly_gone,
    (SELECT count(*) FROM (SELECT id FROM active UNION SELECT machine FROM gone)) AS active,
    (SELECT held_since FROM lifecycle_scopes WHERE scope = ?1) AS held_since,
    (SELECT released_at FROM lifecycle_scopes WHERE scope = ?1) AS released_at";
