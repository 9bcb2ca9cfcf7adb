//! How are OAuth 2.0 tokens revoked (RFC 7009)?
//!
//! The host says which tokens a machine has ([`TokenSource`]); each is shown to the authorization
//! server's revocation endpoint, and noted as soon as it does not work any more.
//!
//! A token that the server does not know is revoked (RFC 7009, section 2.2). That hides a wrong
//! server: one that never issued a token answers as one that revoked it does. A server may let
//! access tokens that it has signed work until they expire; revoking the refresh token as well
//! ends what would follow them.

mod answer;
mod config;
mod source;

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use async_trait::async_trait;

pub use config::{ClientAuthentication, OAuthConfig, OAuthConfigError};
pub use source::{IssuedToken, TokenHint, TokenSource, TokenSourceError};

use crate::{
    remote::{Failure, Reach, Remote, Tally},
    revoker::{Revocation, RevokeError, Revoker},
};

/// Revokes tokens at an authorization server.
///
/// ```no_run
/// use std::sync::Arc;
/// use lifecycle_adapters::{
///     endpoint::Endpoint,
///     oauth::{ClientAuthentication, OAuthConfig, OAuthRevoker, TokenSource},
///     secret::Secret,
/// };
///
/// fn revoker(tokens: Arc<dyn TokenSource>) -> Result<OAuthRevoker, Box<dyn std::error::Error>> {
///     let client = ClientAuthentication::Basic {
///         id: "control-plane".into(),
///         secret: Secret::new(std::env::var("CLIENT_SECRET")?),
///     };
///     let endpoint = Endpoint::new("https://login.example/oauth/revoke")?;
///     Ok(OAuthRevoker::new(OAuthConfig::new(endpoint, client), tokens)?)
/// }
/// ```
#[derive(Debug)]
pub struct OAuthRevoker {
    config: OAuthConfig,
    remote: Remote,
    tokens: Arc<dyn TokenSource>,
    turn: AtomicUsize,
}

impl OAuthRevoker {
    /// Revokes these tokens there.
    ///
    /// # Errors
    ///
    /// Returns why no HTTP client could be made.
    pub fn new(
        config: OAuthConfig,
        tokens: Arc<dyn TokenSource>,
    ) -> Result<Self, OAuthConfigError> {
        let remote = Remote::new(&[&config.endpoint], config.timeout)?;
        Ok(Self {
            config,
            remote,
            tokens,
            turn: AtomicUsize::new(0),
        })
    }

    async fn revoke_all(&self, revocation: &Revocation) -> Result<usize, Failure> {
        self.remote.may_be_asked()?;
        let mut tokens = self.tokens.issued(revocation).await.map_err(|error| {
            unnoted(
                &error,
                "it is not known which tokens were issued",
                Reach::All,
            )
        })?;
        let count = tokens.len();
        if count > 0 {
            // Tokens that always fail do not keep the others from their turn.
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            tokens.rotate_left(turn % count);
        }
        let mut tally = Tally::of(count);
        for token in &tokens {
            if tally.count(self.revoke_one(token).await).is_break() {
                break;
            }
        }
        tally.finish("tokens")?;
        Ok(count)
    }

    /// Revokes a token and notes it at once, so that it is not asked again whatever happens next.
    async fn revoke_one(&self, token: &IssuedToken) -> Result<(), Failure> {
        let request = self.config.request(self.remote.client(), token);
        let reply = self.remote.ask(request).await?;
        answer::read(&reply)?;
        let noted = self.tokens.revoked(core::slice::from_ref(&token.id)).await;
        noted.map_err(|error| {
            let what = "a token was revoked, which could not be noted";
            unnoted(&error, what, Reach::One)
        })
    }
}

#[async_trait]
impl Revoker for OAuthRevoker {
    async fn revoke(&self, revocation: &Revocation) -> Result<(), RevokeError> {
        let count = self.revoke_all(revocation).await?;
        tracing::debug!(machine = %revocation.machine, count, "tokens were revoked");
        Ok(())
    }
}

fn unnoted(error: &TokenSourceError, what: &str, reach: Reach) -> Failure {
    let message = format!("{what}: {error}");
    if error.is_retryable {
        Failure::passing(message, reach)
    } else {
        Failure::lasting(message, reach)
    }
}
