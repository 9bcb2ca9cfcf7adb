//! What does whoever runs the machines answer, and what can it be asked to do?

use core::{fmt, time::Duration};

use async_trait::async_trait;
use lifecycle_core::{Answer, Cause, Power, Proof};
use thiserror::Error;

use crate::id::MachineId;

/// A machine as its provider knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The service's own name.
    pub machine: MachineId,
    /// The incarnation.
    pub generation: u64,
    /// The provider's id; ids are reused.
    pub provider_id: String,
    /// What the provider's machine carries to say that it is this one.
    pub marker: Option<String>,
    /// Where it is kept.
    pub scope: String,
    /// The provider's id of its volume.
    pub volume_id: Option<String>,
}

/// What one question about one machine brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The answer.
    pub answer: Answer,
    /// Where the provider says we are logged in; none where it does not say: then nothing was proved.
    pub scope: Option<String>,
    /// The marker seen; none where the adapter did not look, blank where it looked and found none.
    pub marker: Option<String>,
}

impl Seen {
    /// An answer that could not be had.
    #[must_use]
    pub const fn unknown(cause: Cause) -> Self {
        Self {
            answer: Answer::Unknown(cause),
            scope: None,
            marker: None,
        }
    }
}

/// Whether a listing holds everything that there is. A page that failed makes it partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Every page was read, and is fresh.
    Complete,
    /// Some of it is missing.
    Partial,
    /// It may be an old copy.
    Stale,
}

/// The machines of one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Where the provider says we are logged in.
    pub scope: String,
    /// Whether it holds everything.
    pub completeness: Completeness,
    /// The machines.
    pub machines: Vec<Listed>,
}

/// One machine of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The provider's id.
    pub provider_id: String,
    /// Present in some power, or listed as ended ([`Proof::Tombstone`]).
    pub answer: Answer,
    /// The marker seen, as in [`Seen`].
    pub marker: Option<String>,
}

/// What the provider did of what it was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// It is done or under way.
    Accepted,
    /// There is no such machine or volume (or it is another's, [`Proof::Superseded`], and was not touched).
    NotFound(Proof),
}

/// What a fresh reading of a volume brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeReading {
    /// It is there, and nobody else uses it.
    Exclusive,
    /// It is there, and others use it too.
    Shared,
    /// It is not there.
    Absent(Proof),
    /// It could not be read.
    Unknown(Cause),
}

/// Runs machines for us. Every call may be repeated; every destroying call verifies identity first.
///
/// A 404 is an answer, not an error; so is a time-out of a reading.
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Asks about one machine.
    async fn observe(&self, target: &Target) -> Seen;

    /// Lists the machines of the scope we are logged in to.
    ///
    /// # Errors
    ///
    /// Returns why nothing could be listed; what could be listed in part is [`Completeness::Partial`].
    async fn list(&self) -> Result<Listing, ProviderError>;

    /// Reads the machine's volume.
    async fn read_volume(&self, target: &Target) -> VolumeReading;

    /// Shuts the guest down: politely, then hard after the adapter's limit.
    ///
    /// # Errors
    ///
    /// Returns why it could not be asked for.
    async fn stop_compute(&self, target: &Target) -> Result<Delivered, ProviderError>;

    /// Destroys the compute, after making sure that no volume goes with it.
    ///
    /// # Errors
    ///
    /// Returns why it could not be asked for.
    async fn destroy_compute(&self, target: &Target) -> Result<Delivered, ProviderError>;

    /// Destroys the volume.
    ///
    /// # Errors
    ///
    /// Returns why it could not be asked for.
    async fn destroy_volume(&self, target: &Target) -> Result<Delivered, ProviderError>;
}

/// Why a provider did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The provider could not be asked, or refused.
    #[error("{cause}: {message}")]
    Refused {
        /// Of what kind.
        cause: Cause,
        /// In the provider's words, without secrets.
        message: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The machine of that id does not carry our marker; it was not touched.
    #[error("the machine of that id carries no marker of ours")]
    Unproven,
    /// A volume would go down with the compute, and that could not be prevented.
    #[error("a volume would be destroyed with the compute: {0}")]
    VolumeAtRisk(String),
    /// What is asked for lies outside of what the adapter may touch.
    #[error("outside of what may be touched: {0}")]
    OutOfBounds(String),
}

impl ProviderError {
    /// An error of this cause.
    #[must_use]
    pub fn refused(cause: Cause, message: impl Into<String>) -> Self {
        Self::Refused {
            cause,
            message: message.into(),
            retry_after: None,
        }
    }

    /// Tells whether asking again may help without a person's doing.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Refused {
                cause,
                message: _,
                retry_after: _,
            } => match cause {
                Cause::RateLimited | Cause::ServerError | Cause::Timeout | Cause::Transport => true,
                // Credentials are renewed and permissions granted while work waits.
                Cause::Unauthorized | Cause::Forbidden => true,
                Cause::Malformed | Cause::Unsupported => false,
            },
            Self::Unproven | Self::VolumeAtRisk(_) => true,
            Self::OutOfBounds(_) => false,
        }
    }
}

impl Listed {
    /// A machine that is there.
    #[must_use]
    pub fn present(provider_id: impl Into<String>, power: Power, marker: Option<String>) -> Self {
        Self {
            provider_id: provider_id.into(),
            answer: Answer::Present(power),
            marker,
        }
    }
}
