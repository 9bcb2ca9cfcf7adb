//! What does a machine hold of the secret store?

use core::fmt;

use async_trait::async_trait;
use thiserror::Error;

use crate::{revoker::Revocation, secret::Secret};

/// The host's record of the tokens and leases that it had issued for machines.
#[async_trait]
pub trait GrantSource: Send + Sync + fmt::Debug {
    /// Returns what the revocation means: tokens that were not noted as revoked, of the machine, of
    /// its generation and of earlier ones, issued before the instant where there is one; and the
    /// prefixes of those generations' leases, always.
    ///
    /// A prefix must hold no lease of a later generation (`database/creds/m-7-1`, say: a role of a
    /// generation). Under it, only leases issued before the instant are revoked.
    ///
    /// # Errors
    ///
    /// Returns why it is not known; the work then stays owed.
    async fn issued(&self, revocation: &Revocation) -> Result<Vec<Grant>, GrantSourceError>;

    /// Notes that these tokens do not work any more, and need not be named again.
    ///
    /// # Errors
    ///
    /// Returns why it could not be noted; they are then revoked again later.
    async fn revoked(&self, ids: &[String]) -> Result<(), GrantSourceError>;
}

/// What was issued for a machine.
#[derive(Clone, Debug)]
pub enum Grant {
    /// A token of the store, with its children and the leases that were made with it.
    Token {
        /// The host's own name of it; not the token.
        id: String,
        /// The store's name of it, good for revoking only, and shown no more than the token.
        accessor: Secret,
    },
    /// The leases under a prefix.
    Leases(LeasePrefix),
}

/// Where a machine's leases are: `database/creds/<role>`, say. Leases of `…/m10` are not under `…/m1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasePrefix(String);

/// A text that is no prefix of one machine's leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a lease prefix has two segments at least, none of them blank, `.`, `..` or with control characters"
)]
pub struct WrongPrefix;

/// Why the host's record could not be read or written.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct GrantSourceError {
    /// In words, without secrets.
    pub message: String,
    /// Whether asking again may help without a person's doing.
    pub is_retryable: bool,
}

impl LeasePrefix {
    /// Makes a prefix of a text, without slashes around it.
    ///
    /// ```
    /// use lifecycle_adapters::vault::LeasePrefix;
    ///
    /// assert!(LeasePrefix::new("database/creds/m-7-1").is_ok());
    /// // The leases of a whole engine are no machine's.
    /// assert!(LeasePrefix::new("database").is_err());
    /// assert!(LeasePrefix::new("database/creds/../../auth").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`WrongPrefix`] for what may name more than was meant.
    pub fn new(text: impl Into<String>) -> Result<Self, WrongPrefix> {
        let text = text.into();
        let is_segment = |segment: &str| {
            let is_plain = !segment.chars().any(|letter| letter.is_control());
            !["", ".", ".."].contains(&segment.trim()) && is_plain
        };
        let fits = text.contains('/') && text.len() <= 1_000 && text.split('/').all(is_segment);
        if fits {
            Ok(Self(text))
        } else {
            Err(WrongPrefix)
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_names_no_more_than_was_meant() {
        for wrong in [
            "", "/", "a", "a/", "/a", "a//b", "a/./b", "a/../b", "a/b/", "a/b\n", "a/ ", "a/..",
            "a/b/ ..",
        ] {
            assert_eq!(LeasePrefix::new(wrong), Err(WrongPrefix), "{wrong:?}");
        }
        let prefix = LeasePrefix::new("a/b c/%2e%2e").expect("a prefix");
        assert_eq!(prefix.as_str(), "a/b c/%2e%2e");
    }
}
