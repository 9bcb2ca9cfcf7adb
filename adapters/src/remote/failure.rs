//! Why may a credential still work?

use crate::revoker::RevokeError;

/// Why something was not revoked, in words of ours: a server may quote what it was sent.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Whether asking again may help without a person's doing.
    pub(crate) is_retryable: bool,
    pub(crate) reach: Reach,
    /// Without the address that was asked.
    pub(super) source: Option<reqwest::Error>,
}

/// What else a failure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This credential.
    One,
    /// Perhaps the server: others are still tried, but not for ever.
    Server,
    /// Everything that would be asked of the server now.
    All,
}

impl Failure {
    /// Something that may be over when it is tried again.
    pub(crate) fn passing(message: impl Into<String>, reach: Reach) -> Self {
        Self {
            message: message.into(),
            is_retryable: true,
            reach,
            source: None,
        }
    }

    /// Something that a person has to see to.
    pub(crate) fn lasting(message: impl Into<String>, reach: Reach) -> Self {
        Self {
            is_retryable: false,
            ..Self::passing(message, reach)
        }
    }

    /// Reads why no answer came.
    pub(crate) fn transport(error: reqwest::Error) -> Self {
        let failure = if error.is_builder() {
            Self::lasting(
                "the request could not be made (https needs the feature tls-rustls)",
                Reach::All,
            )
        } else if error.is_timeout() {
            Self::passing("the server did not answer in time", Reach::Server)
        } else if error.is_connect() {
            Self::passing("the server could not be reached", Reach::Server)
        } else {
            Self::passing("the answer was cut short", Reach::Server)
        };
        Self {
            source: Some(error.without_url()),
            ..failure
        }
    }

    /// Reads a status that means the same to every server; none where it depends on the protocol.
    pub(crate) fn by_status(status: u16, says: Option<&'static str>) -> Option<Self> {
        let message = said(status, says);
        match status {
            // It asked for time, or says that it serves nobody now.
            429 | 503 => Some(Self::passing(message, Reach::All)),
            408 | 412 | 425 | 500..=599 => Some(Self::passing(message, Reach::Server)),
            _ => None,
        }
    }
}

impl From<Failure> for RevokeError {
    fn from(failure: Failure) -> Self {
        Self {
            message: failure.message,
            is_retryable: failure.is_retryable,
            source: failure.source.map(Into::into),
        }
    }
}

/// Returns the words for an answer, of which `says` is a fixed phrase.
pub(crate) fn said(status: u16, says: Option<&'static str>) -> String {
    match says {
        Some(says) => format!("the server answered http {status}: {says}"),
        None => format!("the server answered http {status}"),
    }
}
