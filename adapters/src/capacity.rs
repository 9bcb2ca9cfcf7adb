//! Who accounts for what the host has left to give?

use core::fmt;

use async_trait::async_trait;
use thiserror::Error;

use crate::id::MachineId;

/// One reservation: a machine's n-th, in one incarnation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reservation {
    /// The machine.
    pub machine: MachineId,
    /// The incarnation.
    pub generation: u64,
    /// Which reservation of the machine.
    pub holds: u64,
}

/// The host's allocation accounting. Both calls are idempotent by reservation; a release that comes
/// before its hold wins over it.
#[async_trait]
pub trait Capacity: Send + Sync + fmt::Debug {
    /// Reserves capacity.
    ///
    /// # Errors
    ///
    /// Returns why it is not accounted for; the work then stays owed.
    async fn hold(&self, reservation: &Reservation) -> Result<(), CapacityError>;

    /// Gives capacity back.
    ///
    /// # Errors
    ///
    /// Returns why it is not accounted for; the work then stays owed.
    async fn release(&self, reservation: &Reservation) -> Result<(), CapacityError>;
}

/// Why capacity is not accounted for.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct CapacityError {
    /// In words.
    pub message: String,
    /// Whether asking again may help without a person's doing.
    pub is_retryable: bool,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn core::error::Error + Send + Sync>>,
}
