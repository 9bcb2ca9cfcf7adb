//! How are credentials revoked that a table of the host holds?
//!
//! Inside the commit where the table lives in the store's database
//! ([`PostgresStore::with_tokens`]), through the outbox where it does not ([`PgTokenRevoker`]).

use async_trait::async_trait;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

use super::{
    Name,
    failure::{Failure, Tries, failed},
};
use crate::{
    outbox::WorkKey,
    revoker::{Revocation, RevokeError, Revoker},
    sql::{KeyColumns, stored},
    store::StoreError,
};

/// Where a host keeps its tokens. Names are quoted, and were checked when they became [`Name`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenTable {
    /// The schema of the table.
    pub schema: Name,
    /// The table.
    pub table: Name,
    /// The column with the machine's id, a text.
    pub machine: Name,
    /// The column with the incarnation, a bigint; none: every token of the machine is meant.
    pub generation: Option<Name>,
    /// The column that says when it was issued, a `timestamptz` written by this database's clock
    /// (`default now()`, say). None: tokens are revoked whenever they were issued.
    pub issued_at: Option<Name>,
    /// The column that says when it was revoked, a `timestamptz`; null while it works.
    pub revoked_at: Name,
}

impl TokenTable {
    /// Takes effect on the tokens `t` that match a machine `r` and its incarnation.
    fn revoke(&self, from: &str, and: &str) -> String {
        let Self {
            schema,
            table,
            machine,
            generation,
            issued_at: _,
            revoked_at,
        } = self;
        let generation = generation
            .as_ref()
            .map(|column| format!("and t.{column} <= r.generation"))
            .unwrap_or_default();
        format!(
            "update {schema}.{table} t set {revoked_at} = clock_timestamp() from {from}
             where t.{machine} = r.machine {generation} {and} and t.{revoked_at} is null"
        )
    }

    /// Revokes all that there is, in the transaction of the commit that asks for it, and settles the
    /// work. Nothing is minted in between: the commit has locked the rows, and this is a snapshot
    /// younger than the lock.
    pub(super) async fn revoke_with_commit(
        &self,
        connection: &mut PgConnection,
        schema: &Name,
        keys: &[&WorkKey],
    ) -> Result<(), Failure> {
        let keys: Vec<KeyColumns<'_>> = keys
            .iter()
            .map(|key| KeyColumns::of(key))
            .collect::<Result<_, _>>()?;
        let machines: Vec<&str> = keys.iter().map(|key| key.machine).collect();
        let generations: Vec<i64> = keys.iter().map(|key| key.generation).collect();
        const KEYS: &str = "unnest($1::text[], $2::bigint[]) as r(machine, generation)";
        sqlx::query(AssertSqlSafe(self.revoke(KEYS, "")))
            .bind(&machines)
            .bind(&generations)
            .execute(&mut *connection)
            .await?;
        let settle = format!(
            "update {schema}.outbox o set state = 'done' from {KEYS}
             where o.machine = r.machine and o.generation = r.generation
                 and o.effect = 'revoke_credentials' and o.state = 'pending'"
        );
        sqlx::query(AssertSqlSafe(settle))
            .bind(machines)
            .bind(generations)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Revokes in the caller's own transaction, and says how many tokens it was.
    ///
    /// # Errors
    ///
    /// Returns the database's errors; the transaction is then of no more use.
    pub async fn revoke_on(
        &self,
        connection: &mut PgConnection,
        revocation: &Revocation,
    ) -> Result<u64, StoreError> {
        self.revoke_once(connection, revocation)
            .await
            .map_err(Failure::into_error)
    }

    async fn revoke_once(
        &self,
        connection: &mut PgConnection,
        revocation: &Revocation,
    ) -> Result<u64, Failure> {
        let Revocation {
            machine,
            generation,
            issued_before,
        } = revocation;
        // The commit's time is cut to the millisecond, so a token's is too: none slips in between.
        let and = match &self.issued_at {
            Some(issued_at) => format!(
                "and ($3::bigint is null or floor(extract(epoch from t.{issued_at}) * 1000) <= $3)"
            ),
            None => "and ($3::bigint is null or true)".to_owned(),
        };
        let from = "(select $1::text as machine, $2::bigint as generation) r";
        let done = sqlx::query(AssertSqlSafe(self.revoke(from, &and)))
            .bind(machine.as_str())
            .bind(stored("generation", *generation)?)
            .bind(issued_before.map(lifecycle_core::Timestamp::as_millis))
            .execute(connection)
            .await?;
        Ok(done.rows_affected())
    }
}

/// Revokes tokens of a host's table, wherever its database is.
#[derive(Clone, Debug)]
pub struct PgTokenRevoker {
    pool: PgPool,
    table: TokenTable,
}

impl PgTokenRevoker {
    /// Revokes in this database.
    #[must_use]
    pub const fn new(pool: PgPool, table: TokenTable) -> Self {
        Self { pool, table }
    }

    async fn try_revoke(&self, revocation: &Revocation) -> Result<u64, Failure> {
        let mut connection = self.pool.acquire().await.map_err(Failure::unasked)?;
        self.table.revoke_once(&mut connection, revocation).await
    }

    /// Checks that the table and its columns are there and may be written, so that a wrong name is
    /// found at the start, not at the first revocation.
    ///
    /// # Errors
    ///
    /// Returns what the database says of it.
    pub async fn check(&self) -> Result<(), StoreError> {
        let nothing = self.table.revoke(
            "(select null::text as machine, null::bigint as generation) r",
            &self
                .table
                .issued_at
                .as_ref()
                .map(|column| format!("and t.{column} is null"))
                .unwrap_or_default(),
        );
        sqlx::query(AssertSqlSafe(nothing))
            .execute(&self.pool)
            .await
            .map_err(failed)?;
        Ok(())
    }
}

#[async_trait]
impl Revoker for PgTokenRevoker {
    async fn revoke(&self, revocation: &Revocation) -> Result<(), RevokeError> {
        let mut tries = Tries::new().map_err(unrevoked)?;
        loop {
            match self.try_revoke(revocation).await {
                Ok(count) => {
                    tracing::debug!(machine = %revocation.machine, count, "tokens were revoked");
                    return Ok(());
                }
                Err(failure) => tries.wait_after(failure).await.map_err(unrevoked)?,
            }
        }
    }
}

fn unrevoked(error: StoreError) -> RevokeError {
    RevokeError {
        message: "tokens could not be revoked".to_owned(),
        is_retryable: error.is_retryable(),
        source: Some(error.into()),
    }
}
