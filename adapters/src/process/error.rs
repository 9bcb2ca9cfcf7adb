//! What can go wrong below the root?

use core::error::Error as _;
use std::io;

use lifecycle_core::Cause;
use thiserror::Error;

use super::kernel::cause_of;
use crate::provider::ProviderError;

/// Why the provider could not do what it was asked to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The operating system refused.
    #[error("{what} failed")]
    Io {
        /// What was being done.
        what: &'static str,
        /// In the operating system's words.
        #[source]
        source: io::Error,
    },
    /// What is asked for lies outside of what may be touched.
    #[error("outside of what may be touched: {0}")]
    OutOfBounds(String),
    /// A file below the root says nothing that this version understands.
    #[error("the entry {file} could not be understood")]
    Entry {
        /// Its name.
        file: String,
        /// What was wrong.
        #[source]
        source: serde_json::Error,
    },
    /// What is asked for waits for the machine's end.
    #[error("the machine has not ended")]
    NotEnded,
    /// The runtime gave up on the work, because it shuts down or because of a panic.
    #[error("the work was not finished")]
    Unfinished,
}

/// Says what was being done when it failed.
pub(super) trait During<T> {
    /// Returns the value, or the error with what was being done.
    fn during(self, what: &'static str) -> Result<T, ProcessError>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, what: &'static str) -> Result<T, ProcessError> {
        self.map_err(|source| ProcessError::Io {
            what,
            source: source.into(),
        })
    }
}

impl ProcessError {
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Io { what: _, source } => cause_of(source),
            Self::OutOfBounds(_) | Self::Entry { file: _, source: _ } => Cause::Malformed,
            Self::NotEnded | Self::Unfinished => Cause::Transport,
        }
    }
}

impl From<ProcessError> for ProviderError {
    fn from(error: ProcessError) -> Self {
        let cause = error.cause();
        match error {
            ProcessError::OutOfBounds(what) => Self::OutOfBounds(what),
            ProcessError::Io { .. }
            | ProcessError::Entry { .. }
            | ProcessError::NotEnded
            | ProcessError::Unfinished => {
                let reason = error.source().map(|source| format!(": {source}"));
                Self::refused(cause, format!("{error}{}", reason.unwrap_or_default()))
            }
        }
    }
}
