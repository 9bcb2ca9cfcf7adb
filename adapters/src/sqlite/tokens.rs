//! How are credentials kept in a table, so that they can be taken away?

use core::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use lifecycle_core::Timestamp;
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, SqliteConnection, query, query_scalar, raw_sql};
use thiserror::Error;

use super::{SqliteStore, failed, machines};
use crate::{
    id::MachineId,
    revoker::{Revocation, RevokeError, Revoker},
    sql::{count, instant, millis, random_hex, stored},
    store::{Admission, StoreError},
};

/// Keeps tokens that open a route to a machine in a table `route_tokens`, as hashes.
#[derive(Clone, Debug)]
pub struct SqliteTokenRevoker {
    store: Arc<SqliteStore>,
}

/// A token, to be handed to its owner once; nobody can read it back.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Returns the secret.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl SqliteTokenRevoker {
    /// Keeps tokens in the store's database; makes the table where there is none.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn create(store: Arc<SqliteStore>) -> Result<Self, StoreError> {
        let mut turn = store.turn().await?;
        let mut write = turn.begin().await?;
        let made = raw_sql(include_str!("../../migrations/sqlite/route_tokens.sql"))
            .execute(&mut *write.transaction)
            .await
            .map_err(failed);
        write.end(made).await?;
        drop(turn);
        Ok(Self { store })
    }

    /// Mints a token for a live machine, in a transaction of its own.
    ///
    /// # Errors
    ///
    /// As [`Self::mint_on`].
    pub async fn mint(&self, machine: &MachineId) -> Result<Token, MintError> {
        let mut turn = self.store.turn().await?;
        let mut write = turn.begin().await?;
        // What is refused wrote nothing: committing that is harmless.
        let minted = self.mint_on(&mut write.transaction, machine).await;
        write.end(Ok(())).await?;
        minted
    }

    /// Mints a token for a live machine, in the caller's transaction: whether it is live is read there
    /// too, so that no token is born after the machine's last revocation.
    ///
    /// # Errors
    ///
    /// Returns [`MintError::NotLive`] where the machine is not live, and what the database answered.
    pub async fn mint_on(
        &self,
        connection: &mut SqliteConnection,
        machine: &MachineId,
    ) -> Result<Token, MintError> {
        let mut part = connection.begin().await.map_err(failed)?;
        let generation = match machines::admit(&mut part, machine).await? {
            Admission::Live { generation } => generation,
            refused @ (Admission::Refused | Admission::Unknown) => {
                return Err(MintError::NotLive(refused));
            }
        };
        let token = Token(
            random_hex::<32>()
                .map_err(|error| StoreError::Unavailable(error.to_string().into()))?,
        );
        query(MINT)
            .bind(hash(token.secret()))
            .bind(machine.as_str())
            .bind(stored("generation", generation)?)
            .bind(self.store.clock.now().as_millis())
            .execute(&mut *part)
            .await
            .map_err(failed)?;
        part.commit().await.map_err(failed)?;
        Ok(token)
    }

    /// Tells whether a token opens a route now.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn is_live(&self, token: &str) -> Result<bool, StoreError> {
        let live = query("SELECT 1 FROM route_tokens WHERE token_hash = ?1 AND revoked_at IS NULL")
            .bind(hash(token))
            .fetch_optional(&self.store.pool)
            .await
            .map_err(failed)?;
        Ok(live.is_some())
    }

    /// Returns how many tokens of a machine work now.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn live(&self, machine: &MachineId) -> Result<u64, StoreError> {
        let live: i64 = query_scalar(
            "SELECT count(*) FROM route_tokens WHERE machine = ?1 AND revoked_at IS NULL",
        )
        .bind(machine.as_str())
        .fetch_one(&self.store.pool)
        .await
        .map_err(failed)?;
        count(machine.as_str(), "live tokens", live)
    }

    /// Revokes on the caller's connection; returns how many tokens worked until now.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn revoke_on(
        &self,
        connection: &mut SqliteConnection,
        revocation: &Revocation,
    ) -> Result<u64, StoreError> {
        let Revocation {
            machine,
            generation,
            issued_before,
        } = revocation;
        let revoked = query(REVOKE)
            .bind(machine.as_str())
            .bind(stored("generation", *generation)?)
            .bind(millis(*issued_before))
            .bind(self.store.clock.now().as_millis())
            .execute(connection)
            .await
            .map_err(failed)?;
        Ok(revoked.rows_affected())
    }

    /// Returns when a token was revoked; none where it was not, or there is no such token.
    ///
    /// # Errors
    ///
    /// Returns what the database answered.
    pub async fn revoked_at(&self, token: &str) -> Result<Option<Timestamp>, StoreError> {
        let at: Option<Option<i64>> =
            query_scalar("SELECT revoked_at FROM route_tokens WHERE token_hash = ?1")
                .bind(hash(token))
                .fetch_optional(&self.store.pool)
                .await
                .map_err(failed)?;
        Ok(instant(at.flatten()))
    }
}

#[async_trait]
impl Revoker for SqliteTokenRevoker {
    async fn revoke(&self, revocation: &Revocation) -> Result<(), RevokeError> {
        let revoked = async {
            let mut turn = self.store.turn().await?;
            let mut write = turn.begin().await?;
            let revoked = self.revoke_on(&mut write.transaction, revocation).await;
            write.end(revoked).await
        }
        .await;
        match revoked {
            Ok(count) => {
                tracing::debug!(machine = %revocation.machine, count, "revoked");
                Ok(())
            }
            Err(error) => Err(RevokeError {
                message: error.to_string(),
                is_retryable: error.is_retryable(),
                source: Some(error.into()),
            }),
        }
    }
}

/// Why no token was minted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MintError {
    /// The machine failed, is being deleted, ended, or was never registered.
    #[error("the machine is not live")]
    NotLive(Admission),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The tokens are random and long: one round of hashing keeps them.
fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

const MINT: &str = "
INSERT INTO route_tokens (token_hash, machine, generation, issued_at) VALUES (?1, ?2, ?3, ?4)";

/// Instants are whole milliseconds: a token of the very millisecond may be the older one.
const REVOKE: &str = "
UPDATE route_tokens SET revoked_at = ?4
WHERE machine = ?1 AND generation <= ?2 AND revoked_at IS NULL AND (?3 IS NULL OR issued_at <= ?3)";
