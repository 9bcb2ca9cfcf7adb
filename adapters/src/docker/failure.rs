//! What does an answer mean that is not the one that was asked for?

use core::{error::Error, time::Duration};
use std::io;

use lifecycle_core::{Cause, Proof};
use serde::Deserialize;

use crate::provider::ProviderError;

/// Why a request did not bring what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    /// In the engine's words.
    pub(super) message: String,
    /// When it wants to be asked again.
    pub(super) retry_after: Option<Duration>,
}

/// Of which kind a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// There is no such thing.
    NotFound(Proof),
    /// Something else stands in the way: a name that is taken, a volume in use, a removal under way.
    Conflict,
    /// The engine could not be asked, or refused.
    Refused(Cause),
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    Container,
    Volume,
    /// Nothing whose absence would mean anything.
    Other,
}

/// An error as the engines write it; the cause is Podman's.
#[derive(Debug, Default, Deserialize)]
struct Said {
    message: String,
    #[serde(default)]
    cause: String,
}

impl Failure {
    pub(super) fn refused(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Refused(cause),
            message: message.into(),
            retry_after: None,
        }
    }

    /// The answer is none that the engine gives.
    pub(super) fn malformed(message: &str) -> Self {
        Self::refused(Cause::Malformed, message)
    }

    /// Reads an answer that is no success.
    pub(super) fn of(
        status: u16,
        body: &[u8],
        thing: Thing,
        retry_after: Option<Duration>,
    ) -> Self {
        let said = serde_json::from_slice::<Said>(body).ok();
        let message = match &said {
            Some(said) => format!("http {status}: {}", short(&said.message)),
            None => format!("http {status} without an error of the engine"),
        };
        Self {
            kind: kind(status, &said.unwrap_or_default(), thing),
            message,
            retry_after,
        }
    }

    /// Reads why no answer came.
    pub(super) fn transport(error: reqwest::Error) -> Self {
        let cause = if error.is_timeout() {
            Cause::Timeout
        } else if is_denied(&error) {
            Cause::Forbidden
        } else {
            Cause::Transport
        };
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(inner) = source {
            message = format!("{message}: {inner}");
            source = inner.source();
        }
        Self::refused(cause, short(&message))
    }

    /// Returns why nothing is known; an absence of something else is no answer to the question.
    pub(super) const fn cause(&self) -> Cause {
        match self.kind {
            Kind::NotFound(_) => Cause::Malformed,
            // Not now: the same request is right once something else has come to its end.
            Kind::Conflict => Cause::ServerError,
            Kind::Refused(cause) => cause,
        }
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

fn kind(status: u16, said: &Said, thing: Thing) -> Kind {
    let Said { message, cause } = said;
    match status {
        // Podman answers so to a name that is taken.
        500 if cause == "that name is already in use" => Kind::Conflict,
        409 => Kind::Conflict,
        404 | 410 if matches!(thing, Thing::Other) => Kind::Refused(Cause::Malformed),
        404 if thing.is_missing(cause) || thing.is_missing(message) => {
            Kind::NotFound(Proof::TypedNotFound)
        }
        404 => Kind::NotFound(Proof::UntypedNotFound),
        410 => Kind::NotFound(Proof::TypedNotFound),
        401 => Kind::Refused(Cause::Unauthorized),
        403 => Kind::Refused(Cause::Forbidden),
        408 => Kind::Refused(Cause::Timeout),
        429 => Kind::Refused(Cause::RateLimited),
        // Whatever it says: an engine that failed has not said that something is not there.
        500..=599 => Kind::Refused(Cause::ServerError),
        _ => Kind::Refused(Cause::Malformed),
    }
}

impl Thing {
    fn is_missing(self, said: &str) -> bool {
        let words = match self {
            Self::Container => "no such container",
            Self::Volume => "no such volume",
            Self::Other => return false,
        };
        said.to_ascii_lowercase().contains(words)
    }
}

fn is_denied(error: &reqwest::Error) -> bool {
    let mut source = error.source();
    while let Some(inner) = source {
        let denied = inner
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        if denied {
            return true;
        }
        source = inner.source();
    }
    false
}

/// One line of reasonable length.
fn short(text: &str) -> String {
    let line = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().map(line).take(300).collect()
}

#[cfg(test)]
mod tests {
    use lifecycle_core::{Cause, Proof};

    use super::{Failure, Kind, Thing};

    fn read(status: u16, body: &str, thing: Thing) -> Kind {
        Failure::of(status, body.as_bytes(), thing, None).kind
    }

    #[test]
    fn only_the_engines_own_words_make_a_404_typed() {
        let docker = r#"{"message":"No such container: 0123"}"#;
        let podman = r#"{"cause":"no such container","message":"no container with name or ID \"0123\" found: no such container","response":404}"#;
        let volume = r#"{"message":"get home: no such volume"}"#;
        let typed = Kind::NotFound(Proof::TypedNotFound);
        let untyped = Kind::NotFound(Proof::UntypedNotFound);
        for (body, thing, kind) in [
            (docker, Thing::Container, typed),
            (podman, Thing::Container, typed),
            (volume, Thing::Volume, typed),
            (docker, Thing::Volume, untyped),
            (volume, Thing::Container, untyped),
            (r#"{"message":"page not found"}"#, Thing::Container, untyped),
            ("No such container: 0123", Thing::Container, untyped),
            ("<html>no such container</html>", Thing::Container, untyped),
            ("", Thing::Container, untyped),
            (docker, Thing::Other, Kind::Refused(Cause::Malformed)),
        ] {
            assert_eq!(read(404, body, thing), kind, "{body}");
        }
    }

    #[test]
    fn an_engine_that_failed_has_not_said_that_something_is_gone() {
        let body = r#"{"message":"no such container: not found"}"#;
        for status in [500, 502, 503, 504] {
            let kind = read(status, body, Thing::Container);
            assert_eq!(kind, Kind::Refused(Cause::ServerError));
        }
    }

    #[test]
    fn a_name_that_is_taken_is_a_conflict_in_the_words_of_either() {
        let podman = r#"{"cause":"that name is already in use","message":"…","response":500}"#;
        assert_eq!(read(500, podman, Thing::Other), Kind::Conflict);
        assert_eq!(
            read(409, r#"{"message":"Conflict"}"#, Thing::Other),
            Kind::Conflict
        );
    }
}
