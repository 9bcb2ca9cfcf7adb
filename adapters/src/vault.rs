//! How are the tokens and leases of a secret store revoked (OpenBao, Vault)?
//!
//! The host says what a machine holds ([`GrantSource`]): tokens, by accessor, and prefixes under
//! which leases were issued for it. A token takes its children and its leases with it; the store
//! does that after it has answered. Leases are revoked while the call waits, and count only when the
//! secret engine says so.
//!
//! An accessor that the store does not know, and a prefix without leases, are revoked. That hides a
//! wrong store, a wrong namespace of an accessor and a misspelt prefix.
//!
//! The policy that a revoker's own token needs: `update` on `auth/token/revoke-accessor` and, with
//! prefixes, `update` and `sudo` on `sys/leases/revoke-prefix/<prefix>`, `list` and `sudo` on
//! `sys/leases/lookup/<prefix>/*`, `update` on `sys/leases/lookup` and `sys/leases/revoke`.

mod answer;
mod config;
mod instant;
mod leases;
mod source;

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use reqwest::{Method, RequestBuilder, Url, header::HeaderValue};
use serde_json::{Value, json};

pub use config::{VaultConfig, VaultConfigError};
pub use source::{Grant, GrantSource, GrantSourceError, LeasePrefix, WrongPrefix};

use crate::{
    remote::{Failure, Reach, Remote, Reply, Tally},
    revoker::{Revocation, RevokeError, Revoker},
    secret::Secret,
};

/// Revokes tokens and leases at a secret store.
///
/// ```no_run
/// use std::sync::Arc;
/// use lifecycle_adapters::{
///     endpoint::Endpoint,
///     secret::Secret,
///     vault::{GrantSource, VaultConfig, VaultRevoker},
/// };
///
/// fn revoker(grants: Arc<dyn GrantSource>) -> Result<VaultRevoker, Box<dyn std::error::Error>> {
///     let token = Secret::new(std::env::var("BAO_TOKEN")?);
///     let config = VaultConfig::new(Endpoint::new("https://vault.example:8200")?, token)?;
///     Ok(VaultRevoker::new(config, grants)?)
/// }
/// ```
#[derive(Debug)]
pub struct VaultRevoker {
    config: VaultConfig,
    /// Ours; marked sensitive, so that nothing shows it.
    token: RwLock<HeaderValue>,
    remote: Remote,
    grants: Arc<dyn GrantSource>,
    turn: AtomicUsize,
}

impl VaultRevoker {
    /// Revokes these grants there.
    ///
    /// # Errors
    ///
    /// Returns why no HTTP client could be made.
    pub fn new(
        config: VaultConfig,
        grants: Arc<dyn GrantSource>,
    ) -> Result<Self, VaultConfigError> {
        Ok(Self {
            token: RwLock::new(config.token.clone()),
            remote: Remote::new(&config.endpoints(), config.timeout)?,
            config,
            grants,
            turn: AtomicUsize::new(0),
        })
    }

    /// Asks with another token of ours from now on: the store's own tokens expire.
    ///
    /// # Errors
    ///
    /// Returns [`VaultConfigError::WrongToken`] where it cannot be one.
    pub fn replace_token(&self, token: &Secret) -> Result<(), VaultConfigError> {
        let token = config::token(token)?;
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = token;
        Ok(())
    }

    async fn revoke_all(&self, revocation: &Revocation) -> Result<usize, Failure> {
        self.remote.may_be_asked()?;
        let mut grants = self.grants.issued(revocation).await.map_err(|error| {
            unnoted(&error, "it is not known what the machine holds", Reach::All)
        })?;
        let count = grants.len();
        if count > 0 {
            // What always fails does not keep the others from their turn.
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            grants.rotate_left(turn % count);
        }
        let mut tally = Tally::of(count);
        for grant in &grants {
            let revoked = match grant {
                Grant::Token { id, accessor } => self.revoke_token(id, accessor).await,
                Grant::Leases(prefix) => self.revoke_leases(prefix, revocation.issued_before).await,
            };
            if tally.count(revoked).is_break() {
                break;
            }
        }
        tally.finish("grants")?;
        Ok(count)
    }

    /// Revokes a token and notes it at once, so that it is not asked again whatever happens next.
    async fn revoke_token(&self, id: &String, accessor: &Secret) -> Result<(), Failure> {
        let path = ["auth", "token", "revoke-accessor"];
        let reply = self
            .ask(&path, Some(json!({ "accessor": accessor.expose() })))
            .await?;
        answer::read_accessor(&reply)?;
        let noted = self.grants.revoked(core::slice::from_ref(id)).await;
        noted.map_err(|error| {
            let what = "a token was revoked, which could not be noted";
            unnoted(&error, what, Reach::One)
        })
    }

    /// Puts one question: with a body it changes something, without one it lists.
    async fn ask(&self, path: &[&str], body: Option<Value>) -> Result<Reply, Failure> {
        let url = self.config.address(&self.config.endpoint, path)?;
        let reply = self.remote.ask(self.request(url.clone(), &body)).await?;
        let Some(peer) = self.config.peer_named_by(&reply, &url) else {
            return Ok(reply);
        };
        // Once: the active node does not name another.
        let url = self.config.address(peer, path)?;
        self.remote.ask(self.request(url, &body)).await
    }

    fn request(&self, mut url: Url, body: &Option<Value>) -> RequestBuilder {
        let method = if body.is_some() {
            Method::POST
        } else {
            url.set_query(Some("list=true"));
            Method::GET
        };
        let token = self.token.read().unwrap_or_else(PoisonError::into_inner);
        let mut request = self
            .remote
            .client()
            .request(method, url)
            .header("x-vault-token", token.clone())
            .header("x-vault-request", "true");
        drop(token);
        if let Some(namespace) = &self.config.namespace {
            request = request.header("x-vault-namespace", namespace);
        }
        match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(body.to_string()),
            None => request,
        }
    }
}

#[async_trait]
impl Revoker for VaultRevoker {
    async fn revoke(&self, revocation: &Revocation) -> Result<(), RevokeError> {
        let count = self.revoke_all(revocation).await?;
        tracing::debug!(machine = %revocation.machine, count, "tokens and leases were revoked");
        Ok(())
    }
}

fn unnoted(error: &GrantSourceError, what: &str, reach: Reach) -> Failure {
    let message = format!("{what}: {error}");
    if error.is_retryable {
        Failure::passing(message, reach)
    } else {
        Failure::lasting(message, reach)
    }
}
