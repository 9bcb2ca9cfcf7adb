//! How does the schema come about, whoever else starts at the same time?
//!
//! One transaction under an advisory lock of the schema's own: what is not there yet is created, all
//! of it or nothing. Tables of the host, and its own bookkeeping of migrations, are never touched.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use super::{
    Name,
    failure::{Failure, Tries},
};
use crate::store::StoreError;

/// The migrations, in order; the version of a schema is how many of them it has.
const MIGRATIONS: &[(&str, &str)] = &[
    (
        "machines",
        include_str!("../../migrations/postgres/0001_machines.sql"),
    ),
    (
        "history",
        include_str!("../../migrations/postgres/0002_history.sql"),
    ),
    (
        "outbox",
        include_str!("../../migrations/postgres/0003_outbox.sql"),
    ),
    (
        "scopes and capacity",
        include_str!("../../migrations/postgres/0004_scopes_and_capacity.sql"),
    ),
];

/// What the role of a running service is granted.
const GRANTS: &str = include_str!("../../migrations/postgres/grant_role.sql");

/// Brings the schema up to date.
pub(super) async fn migrate(pool: &sqlx::PgPool, schema: &Name) -> Result<(), StoreError> {
    let mut tries = Tries::new()?;
    loop {
        let failure = match pool.acquire().await {
            Ok(mut connection) => match migrate_on(&mut connection, schema).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            },
            Err(error) => Failure::unasked(error),
        };
        tries.wait_after(failure).await?;
    }
}

async fn migrate_on(connection: &mut PgConnection, schema: &Name) -> Result<(), Failure> {
    let mut transaction = connection.begin().await?;
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('lifecycle ' || $1, 0))")
        .bind(schema.as_str())
        .execute(&mut *transaction)
        .await?;
    let found = match version(&mut transaction, schema).await? {
        Some(found) => found,
        None => {
            create(&mut transaction, schema).await?;
            0
        }
    };
    let done = usize::try_from(found).unwrap_or_default();
    for ((name, text), version) in MIGRATIONS.iter().zip(1_i64..).skip(done) {
        run(&mut transaction, &filled(text, schema)).await?;
        let record = format!("insert into {schema}.{BOOKKEEPING} (version, name) values ($1, $2)");
        sqlx::query(AssertSqlSafe(record))
            .bind(version)
            .bind(*name)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Checks that the schema is there, is ours, and is the one that this program knows.
pub(super) async fn check(connection: &mut PgConnection, schema: &Name) -> Result<(), Failure> {
    match version(connection, schema).await? {
        Some(found) if found == known() => Ok(()),
        Some(found) => Err(StoreError::Refused(
            format!(
                "the schema {schema} has version {found}, it is to be migrated to {}",
                known()
            )
            .into(),
        )
        .into()),
        None => Err(StoreError::Refused(
            format!("there is no schema {schema}, it is to be migrated first").into(),
        )
        .into()),
    }
}

/// Grants a role what a running service needs.
pub(super) async fn grant(
    connection: &mut PgConnection,
    schema: &Name,
    role: &Name,
) -> Result<(), Failure> {
    let grants = filled(GRANTS, schema).replace(":\"role\"", &role.to_string());
    run(connection, &grants).await
}

/// Returns the version of the schema; none where there is nothing of it.
async fn version(connection: &mut PgConnection, schema: &Name) -> Result<Option<i64>, Failure> {
    let found = sqlx::query(
        "select count(c.oid) as relations, count(c.oid) filter (where c.relname = $2) as ours,
             obj_description(n.oid, 'pg_namespace') as comment
         from pg_namespace n left join pg_class c on c.relnamespace = n.oid
         where n.nspname = $1 group by n.oid",
    )
    .bind(schema.as_str())
    .bind(BOOKKEEPING)
    .fetch_optional(&mut *connection)
    .await?;
    let Some(found) = found else { return Ok(None) };
    let (relations, ours): (i64, i64) = (found.try_get("relations")?, found.try_get("ours")?);
    if relations == 0 {
        return Ok(None);
    }
    let comment: Option<String> = found.try_get("comment")?;
    if ours == 0 || comment.as_deref() != Some(SIGN) {
        return Err(StoreError::ForeignDatabase(format!(
            "the schema {schema} holds {relations} relations that are not ours"
        ))
        .into());
    }
    let version = format!("select coalesce(max(version), 0) from {schema}.{BOOKKEEPING}");
    let (found,): (i64,) = sqlx::query_as(AssertSqlSafe(version))
        .fetch_one(connection)
        .await?;
    if found > known() {
        return Err(StoreError::NewerSchema {
            found,
            known: known(),
        }
        .into());
    }
    Ok(Some(found))
}

async fn create(connection: &mut PgConnection, schema: &Name) -> Result<(), Failure> {
    let (is_there,): (bool,) =
        sqlx::query_as("select exists (select from pg_namespace where nspname = $1)")
            .bind(schema.as_str())
            .fetch_one(&mut *connection)
            .await?;
    if !is_there {
        // Asked only where it must be: even `if not exists` needs the right to create schemas.
        run(connection, &format!("create schema {schema}")).await?;
    }
    run(
        connection,
        &format!(
            "comment on schema {schema} is '{SIGN}';
             create table {schema}.{BOOKKEEPING} (
                 version bigint primary key check (version >= 1),
                 name text not null,
                 applied_at timestamptz not null default clock_timestamp()
             );
             comment on table {schema}.{BOOKKEEPING} is 'Which migrations this schema has.'"
        ),
    )
    .await
}

async fn run(connection: &mut PgConnection, text: &str) -> Result<(), Failure> {
    sqlx::raw_sql(AssertSqlSafe(text))
        .execute(connection)
        .await?;
    Ok(())
}

/// Writes the name of the schema where psql would.
fn filled(text: &str, schema: &Name) -> String {
    text.replace(":\"schema\"", &schema.to_string())
}

fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

const BOOKKEEPING: &str = "lifecycle_migrations";
/// What our schema says of itself.
const SIGN: &str = "Machines and what is owed to them. Written by lifecycle-adapters alone.";
