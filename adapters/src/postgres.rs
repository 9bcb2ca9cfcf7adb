//! How does a commit live in the service's own Postgres, and in its own transaction?
//!
//! ```text
//! host's transaction ──┬── host's rows
//!                      └── PostgresStore::{register_on, commit_on, admit_on}   together or not at all
//!
//! Store::commit ── one statement: row where revision = $n ─┬─ ledger ─┬─ outbox ─┬─ journal
//!                                                          └──────────┴──────────┴── only if it won
//! ```
//!
//! The tables live in a schema of their own. [`PostgresStore::migrate`] creates it, as a role that
//! may; services then run under a role that may neither define nor delete anything
//! ([`PostgresStore::grant_role`]) and start with [`PostgresStore::open`].
//!
//! Rows are locked before their work, in the order of their ids, by every statement; the relay and the
//! sweep pass over what is locked. What still collides is tried again, a bounded number of times. A
//! call whose connection broke is made again under the same mark, so that the first one, if it was
//! committed, is recognized: nothing is guessed.
//!
//! Needs Postgres 14.

mod adopt;
mod batch;
mod capacity;
mod claim;
#[cfg(feature = "testing")]
mod clock;
mod columns;
mod commit;
mod failure;
mod ledger;
mod migrate;
mod name;
mod notify;
mod outbox;
mod register;
mod repair;
mod rows;
mod scopes;
mod settle;
mod statement;
mod store;
mod tokens;

use std::sync::Arc;

use sqlx::{PgPool, Postgres, pool::PoolConnection};

pub use capacity::PgCapacity;
pub use name::{Name, WrongName};
pub use notify::WorkNotifications;
pub use tokens::{PgTokenRevoker, TokenTable};

use crate::store::StoreError;
use failure::{Failure, Tries};
use statement::Statements;

/// Keeps machines in a schema of a Postgres database. Cheap to clone.
///
/// ```no_run
/// use lifecycle_adapters::postgres::{Name, PostgresStore};
/// use sqlx::PgPool;
///
/// # async fn run() -> Result<(), Box<dyn core::error::Error>> {
/// let pool = PgPool::connect("postgres://service@localhost/service").await?;
/// let store = PostgresStore::migrate(pool.clone(), Name::new("lifecycle")?).await?;
/// # let (id, mint_token) = (lifecycle_adapters::id::MachineId::new("a")?, |_: u64| ());
///
/// // Credentials are minted where the machine admits it, and none after the last revocation.
/// let mut transaction = pool.begin().await?;
/// if let lifecycle_adapters::store::Admission::Live { generation } =
///     store.admit_on(&mut transaction, &id).await?
/// {
///     mint_token(generation);
/// }
/// transaction.commit().await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct PostgresStore {
    pool: PgPool,
    schema: Name,
    statements: Arc<Statements>,
    tokens: Option<Arc<TokenTable>>,
    /// The channel on which queued work is told of; none: it is not.
    channel: Option<Arc<str>>,
}

impl PostgresStore {
    /// Creates the schema or brings it up to date, and opens it. Several services may do so at once.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NewerSchema`] where a newer version has been here,
    /// [`StoreError::ForeignDatabase`] where the schema is somebody else's, and the database's errors.
    pub async fn migrate(pool: PgPool, schema: Name) -> Result<Self, StoreError> {
        migrate::migrate(&pool, &schema).await?;
        Ok(Self::unchecked(pool, schema))
    }

    /// Opens the schema, which is there and up to date; creates nothing.
    ///
    /// # Errors
    ///
    /// As [`PostgresStore::migrate`], and [`StoreError::Refused`] where it is not up to date.
    pub async fn open(pool: PgPool, schema: Name) -> Result<Self, StoreError> {
        let store = Self::unchecked(pool, schema);
        let mut tries = Tries::new()?;
        loop {
            match store.check().await {
                Ok(()) => return Ok(store),
                Err(failure) => tries.wait_after(failure).await?,
            }
        }
    }

    async fn check(&self) -> Result<(), Failure> {
        let mut connection = self.connection().await?;
        migrate::check(&mut connection, &self.schema).await
    }

    fn unchecked(pool: PgPool, schema: Name) -> Self {
        Self {
            statements: Arc::new(Statements::of(&schema)),
            channel: Some(channel_of(&schema).into()),
            pool,
            schema,
            tokens: None,
        }
    }

    /// Revokes the tokens of this table, of the same database, inside each commit that asks for it;
    /// the work is then done already when it becomes visible. Revocations that no commit of this store
    /// queues (adoption, repair) still go through the outbox.
    #[must_use]
    pub fn with_tokens(self, table: TokenTable) -> Self {
        Self {
            tokens: Some(Arc::new(table)),
            ..self
        }
    }

    /// Tells nobody of queued work: relays then only poll. Postgres lets commits that notify wait for
    /// each other, so that a service with very many writers may prefer it.
    #[must_use]
    pub fn without_notifications(self) -> Self {
        Self {
            channel: None,
            ..self
        }
    }

    /// Grants a role what a running service needs: no definitions, no deletions, and the ledger and
    /// journal only to append to. Run it as the owner of the schema, again after each migration.
    ///
    /// The statements are in `migrations/postgres/grant_role.sql`, for psql too.
    ///
    /// # Errors
    ///
    /// Returns the database's errors.
    pub async fn grant_role(&self, role: &Name) -> Result<(), StoreError> {
        let mut connection = self.connection().await.map_err(Failure::into_error)?;
        migrate::grant(&mut connection, &self.schema, role)
            .await
            .map_err(Failure::into_error)
    }

    /// Returns the schema.
    #[must_use]
    pub const fn schema(&self) -> &Name {
        &self.schema
    }

    /// Returns the pool of connections.
    #[must_use]
    pub const fn pool(&self) -> &PgPool {
        &self.pool
    }

    async fn connection(&self) -> Result<PoolConnection<Postgres>, Failure> {
        self.pool.acquire().await.map_err(Failure::unasked)
    }

    fn statements(&self) -> &Statements {
        &self.statements
    }

    fn tokens(&self) -> Option<&TokenTable> {
        self.tokens.as_deref()
    }

    fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    fn listen_channel(&self) -> String {
        channel_of(&self.schema)
    }
}

/// Channels are of a database, schemas too: one is named after the other.
fn channel_of(schema: &Name) -> String {
    // A channel has 63 bytes at most, and so has a schema.
    let name: String = schema.as_str().chars().take(48).collect();
    format!("lifecycle_work_{name}")
}
