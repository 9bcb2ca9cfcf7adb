//! What does an answer mean that is not the one that was asked for?

use core::time::Duration;

use lifecycle_core::Cause;

use super::{credentials::Ec2Credentials, shape};
use crate::provider::ProviderError;

/// Why a request did not bring what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    /// In the service's words, without secrets.
    pub(super) message: String,
    /// When it wants to be asked again.
    pub(super) retry_after: Option<Duration>,
}

/// Of which kind a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The service knows no such instance or volume, and says so by its own code.
    NotFound,
    /// It could not be asked, or refused.
    Refused(Cause),
}

impl Failure {
    pub(super) fn refused(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Refused(cause),
            message: message.into(),
            retry_after: None,
        }
    }

    /// The answer is none that the service gives.
    pub(super) fn malformed(message: &str) -> Self {
        Self::refused(Cause::Malformed, message)
    }

    /// Reads an answer other than 200.
    pub(super) fn of(
        status: u16,
        body: &str,
        retry_after: Option<Duration>,
        credentials: &Ec2Credentials,
    ) -> Self {
        let Some(error) = shape::error(body) else {
            return Self {
                kind: Kind::Refused(by_status(status).unwrap_or(Cause::Malformed)),
                message: format!("http {status} without an error of the service"),
                retry_after,
            };
        };
        let kind = kind(status, &error.code);
        let says = match kind {
            // What the service says of signatures and permissions quotes what it was sent.
            Kind::Refused(Cause::Unauthorized | Cause::Forbidden) => error.code,
            Kind::NotFound | Kind::Refused(_) => format!("{}: {}", error.code, error.message),
        };
        Self {
            kind,
            message: short(&credentials.redact(&says)),
            retry_after,
        }
    }

    /// Reads why no answer came.
    pub(super) fn transport(error: reqwest::Error) -> Self {
        let cause = if error.is_timeout() {
            Cause::Timeout
        } else if error.is_builder() {
            // Such as `https` where no TLS is compiled in.
            Cause::Unsupported
        } else {
            Cause::Transport
        };
        let error = error.without_url();
        let reason = core::error::Error::source(&error).map(|source| format!(": {source}"));
        let message = format!("{error}{}", reason.unwrap_or_default());
        Self::refused(cause, short(&message))
    }

    /// Returns why nothing is known; that there is no such thing is then no answer to the question.
    pub(super) const fn cause(&self) -> Cause {
        match self.kind {
            Kind::NotFound => Cause::Malformed,
            Kind::Refused(cause) => cause,
        }
    }

    /// Tells whether a reading may bring an answer when it is made again at once.
    pub(super) fn is_passing(&self) -> bool {
        matches!(
            self.cause(),
            Cause::RateLimited | Cause::ServerError | Cause::Transport
        )
    }
}

impl From<Failure> for ProviderError {
    fn from(failure: Failure) -> Self {
        Self::Refused {
            cause: failure.cause(),
            message: failure.message,
            retry_after: failure.retry_after,
        }
    }
}

/// Returns what a code means. A service that failed, or did not let us look, has not said that
/// something is not there.
fn kind(status: u16, code: &str) -> Kind {
    if matches!(status, 400 | 404 | 410) && NOT_FOUND.contains(&code) {
        return Kind::NotFound;
    }
    let known = CODES.iter().find(|(_, codes)| codes.contains(&code));
    let cause = match known {
        Some((cause, _)) => *cause,
        None => by_status(status).unwrap_or(Cause::Malformed),
    };
    Kind::Refused(cause)
}

const fn by_status(status: u16) -> Option<Cause> {
    match status {
        401 => Some(Cause::Unauthorized),
        403 => Some(Cause::Forbidden),
        408 => Some(Cause::Timeout),
        429 => Some(Cause::RateLimited),
        500..=599 => Some(Cause::ServerError),
        _ => None,
    }
}

/// One line of reasonable length.
fn short(text: &str) -> String {
    let line = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().map(line).take(200).collect()
}

const NOT_FOUND: [&str; 3] = [
    "InvalidInstanceID.NotFound",
    "InvalidVolume.NotFound",
    "InvalidVolumeID.NotFound",
];

/// The service's codes, from its list of error codes; the rest is told by the status.
const CODES: [(Cause, &[&str]); 5] = [
    (
        Cause::RateLimited,
        &[
            "EC2ThrottledException",
            "RequestLimitExceeded",
            "RequestThrottled",
            "RequestThrottledException",
            "SlowDown",
            "Throttling",
            "ThrottlingException",
            "TooManyRequestsException",
        ],
    ),
    (
        Cause::Unauthorized,
        &[
            "AuthFailure",
            "ExpiredToken",
            "ExpiredTokenException",
            "IncompleteSignature",
            "InvalidClientTokenId",
            "InvalidSecurityToken",
            "MissingAuthenticationToken",
            "RequestExpired",
            "SignatureDoesNotMatch",
            "UnrecognizedClientException",
        ],
    ),
    (
        Cause::Forbidden,
        &[
            "AccessDenied",
            "AccessDeniedException",
            "Blocked",
            "OperationNotPermitted",
            "OptInRequired",
            "PendingVerification",
            "UnauthorizedOperation",
        ],
    ),
    (
        Cause::Unsupported,
        &[
            "InvalidAction",
            "NoSuchVersion",
            "Unsupported",
            "UnsupportedOperation",
        ],
    ),
    // Not now: the same request is right once something else has come to its end.
    (
        Cause::ServerError,
        &[
            "IncorrectInstanceState",
            "IncorrectState",
            "InternalError",
            "InternalFailure",
            "ResourceInUse",
            "ServiceUnavailable",
            "Unavailable",
            "VolumeInUse",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use lifecycle_core::Cause;

    use super::{Failure, Kind};
    use crate::ec2::credentials::Ec2Credentials;

    fn read(status: u16, code: &str, message: &str) -> Failure {
        let body = format!(
            "<?xml version=\"1.0\"?>\n<Response><Errors><Error><Code>{code}</Code><Message>{message}\
             </Message></Error></Errors><RequestID>r</RequestID></Response>"
        );
        Failure::of(status, &body, None, &credentials())
    }

    fn credentials() -> Ec2Credentials {
        Ec2Credentials::new("AKIDEXAMPLE", "s3cr3t", Some("t0k3n".to_owned()))
    }

    #[test]
    fn a_service_that_failed_has_not_said_that_something_is_gone() {
        let code = "InvalidInstanceID.NotFound";
        assert_eq!(read(400, code, "").kind, Kind::NotFound);
        for (status, cause) in [
            (401, Cause::Unauthorized),
            (403, Cause::Forbidden),
            (429, Cause::RateLimited),
            (500, Cause::ServerError),
            (503, Cause::ServerError),
        ] {
            assert_eq!(read(status, code, "not found").kind, Kind::Refused(cause));
        }
    }

    #[test]
    fn what_is_no_answer_of_the_service_is_told_by_its_status() {
        for (status, cause) in [
            (200, Cause::Malformed),
            (302, Cause::Malformed),
            (400, Cause::Malformed),
            (404, Cause::Malformed),
            (410, Cause::Malformed),
            (401, Cause::Unauthorized),
            (403, Cause::Forbidden),
            (408, Cause::Timeout),
            (429, Cause::RateLimited),
            (502, Cause::ServerError),
        ] {
            for body in [
                "",
                "not found",
                "<html><Code>InvalidInstanceID.NotFound</Code></html>",
            ] {
                let failure = Failure::of(status, body, None, &credentials());
                assert_eq!(failure.kind, Kind::Refused(cause), "{status} {body}");
            }
        }
    }

    #[test]
    fn what_the_service_quotes_is_shown_without_secrets_and_in_one_line() {
        let says = read(400, "InvalidParameterValue", "AKIDEXAMPLE s3cr3t\n t0k3n");
        assert_eq!(
            says.message,
            "InvalidParameterValue: [redacted] [redacted]  [redacted]"
        );
        let says = read(
            403,
            "SignatureDoesNotMatch",
            "should have been x-amz-security-token:t",
        );
        assert_eq!(says.message, "SignatureDoesNotMatch");
        assert_eq!(says.kind, Kind::Refused(Cause::Unauthorized));
        assert_eq!(read(400, "Odd", &"x".repeat(9_999)).message.len(), 200);
    }
}
