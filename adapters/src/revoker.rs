//! Who takes access away?

use core::fmt;

use async_trait::async_trait;
use lifecycle_core::Timestamp;
use thiserror::Error;

use crate::id::MachineId;

/// What must not work any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The machine.
    pub machine: MachineId,
    /// The incarnation; credentials of it and of earlier ones are meant.
    pub generation: u64,
    /// Only what was issued up to this, its millisecond included; none: everything, for a machine
    /// that ended.
    pub issued_before: Option<Timestamp>,
}

/// Revokes credentials. Revoking again, or what is not there, is a success.
#[async_trait]
pub trait Revoker: Send + Sync + fmt::Debug {
    /// Revokes.
    ///
    /// # Errors
    ///
    /// Returns why some of it may still work; the work then stays owed.
    async fn revoke(&self, revocation: &Revocation) -> Result<(), RevokeError>;
}

/// Why credentials may still work.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct RevokeError {
    /// In words, without secrets.
    pub message: String,
    /// Whether asking again may help without a person's doing.
    pub is_retryable: bool,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn core::error::Error + Send + Sync>>,
}
