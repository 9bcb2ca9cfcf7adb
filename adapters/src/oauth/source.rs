//! Which tokens does a machine have?

use core::fmt;

use async_trait::async_trait;
use thiserror::Error;

use crate::{revoker::Revocation, secret::Secret};

/// The host's record of the tokens that it had issued for machines.
///
/// Tokens are handed out in full, because RFC 7009 wants them so; a host that keeps only their
/// hashes cannot revoke by it. Revoking a refresh token ends, at most servers, the access tokens of
/// the same grant; where it does, naming the refresh tokens is enough.
#[async_trait]
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Returns the tokens that the revocation means and that were not noted as revoked: of the
    /// machine, of its generation and of earlier ones, issued before the instant where there is one.
    ///
    /// # Errors
    ///
    /// Returns why they are not known; the work then stays owed.
    async fn issued(&self, revocation: &Revocation) -> Result<Vec<IssuedToken>, TokenSourceError>;

    /// Notes that these do not work any more, and need not be named again.
    ///
    /// # Errors
    ///
    /// Returns why it could not be noted; they are then revoked again later.
    async fn revoked(&self, ids: &[String]) -> Result<(), TokenSourceError>;
}

/// A token that was issued for a machine.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// The host's own name of it; not the token.
    pub id: String,
    /// The token.
    pub token: Secret,
    /// Where the server should look first.
    pub hint: Option<TokenHint>,
}

/// Of which kind a token is (RFC 7009, section 2.1); a wrong hint only costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenHint {
    /// An access token.
    AccessToken,
    /// A refresh token.
    RefreshToken,
}

/// Why the host's record could not be read or written.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct TokenSourceError {
    /// In words, without secrets.
    pub message: String,
    /// Whether asking again may help without a person's doing.
    pub is_retryable: bool,
}

impl TokenHint {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::AccessToken => "access_token",
            Self::RefreshToken => "refresh_token",
        }
    }
}
