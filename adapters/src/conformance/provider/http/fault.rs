//! Which answers were seen in the field, and what may be made of them?

use core::time::Duration;

use lifecycle_core::{Cause, Proof};

use super::{HttpReply, Outcome};

/// One broken answer.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What it is.
    pub name: &'static str,
    /// What is made of an answer that would be well, and of the service's own words for "not found".
    pub strike: fn(HttpReply, Option<HttpReply>) -> Outcome,
    /// What may be made of it.
    pub expected: Expected,
}

/// What a provider may make of a broken answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Unknown, by one of these causes.
    Unknown(&'static [Cause]),
    /// Absent by this proof or a weaker one, or unknown.
    AtMost(Proof),
}

/// What the service says that has enough, in whole seconds.
pub const RETRY_AFTER: Duration = Duration::from_secs(7);

/// The faults that strike every call.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a 404 without the service's own words",
        strike: |_, _| Outcome::Reply(HttpReply::new(404, "text/plain", "404 page not found\n")),
        expected: Expected::AtMost(Proof::UntypedNotFound),
    },
    Fault {
        name: "a 404 of a proxy, in HTML",
        strike: |_, _| Outcome::Reply(HttpReply::new(404, "text/html", HTML)),
        expected: Expected::AtMost(Proof::UntypedNotFound),
    },
    Fault {
        name: "a 404 without a body",
        strike: |_, _| Outcome::Reply(HttpReply::empty(404)),
        expected: Expected::AtMost(Proof::UntypedNotFound),
    },
    Fault {
        name: "a 410",
        strike: |_, _| Outcome::Reply(HttpReply::empty(410)),
        expected: Expected::AtMost(Proof::TypedNotFound),
    },
    Fault {
        name: "a 401",
        strike: |_, _| Outcome::Reply(HttpReply::new(401, "text/plain", "who are you")),
        expected: Expected::Unknown(&[Cause::Unauthorized]),
    },
    Fault {
        name: "a 401 that says not found",
        strike: |_, missing| Outcome::Reply(saying_not_found(401, missing)),
        expected: Expected::Unknown(&[Cause::Unauthorized]),
    },
    Fault {
        name: "a 403",
        strike: |_, _| Outcome::Reply(HttpReply::new(403, "text/plain", "you may not")),
        expected: Expected::Unknown(&[Cause::Forbidden]),
    },
    Fault {
        name: "a 429 that says when to ask again",
        strike: |_, _| {
            let mut reply = HttpReply::new(429, "text/plain", "enough");
            let seconds = RETRY_AFTER.as_secs().to_string();
            reply.headers.push(("retry-after".to_owned(), seconds));
            Outcome::Reply(reply)
        },
        expected: Expected::Unknown(&[Cause::RateLimited]),
    },
    Fault {
        name: "a 500 that says not found",
        strike: |_, missing| Outcome::Reply(saying_not_found(500, missing)),
        expected: Expected::Unknown(&[Cause::ServerError]),
    },
    Fault {
        name: "a 502 that says not found",
        strike: |_, missing| Outcome::Reply(saying_not_found(502, missing)),
        expected: Expected::Unknown(&[Cause::ServerError]),
    },
    Fault {
        name: "a 503 in HTML",
        strike: |_, _| Outcome::Reply(HttpReply::new(503, "text/html", HTML)),
        expected: Expected::Unknown(&[Cause::ServerError]),
    },
    Fault {
        name: "a redirect to a page to log in",
        strike: |_, _| {
            let mut reply = HttpReply::new(302, "text/html", HTML);
            let page = ("location".to_owned(), "/login".to_owned());
            reply.headers.push(page);
            Outcome::Reply(reply)
        },
        expected: Expected::Unknown(&[Cause::Malformed, Cause::Unauthorized, Cause::Forbidden]),
    },
    Fault {
        name: "HTML instead of the answer",
        strike: |_, _| Outcome::Reply(HttpReply::new(200, "text/html", HTML)),
        expected: Expected::Unknown(&[Cause::Malformed]),
    },
    Fault {
        name: "an answer of another shape",
        strike: |_, _| Outcome::Reply(HttpReply::json(200, "{}")),
        expected: Expected::Unknown(&[Cause::Malformed]),
    },
    Fault {
        name: "an empty answer",
        strike: |_, _| Outcome::Reply(HttpReply::empty(200)),
        expected: Expected::Unknown(&[Cause::Malformed]),
    },
    Fault {
        name: "an answer cut short",
        strike: |well, _| Outcome::CutShort(well),
        expected: Expected::Unknown(&[Cause::Transport, Cause::Malformed]),
    },
    Fault {
        name: "a connection closed without an answer",
        strike: |_, _| Outcome::Closed,
        expected: Expected::Unknown(&[Cause::Transport]),
    },
    Fault {
        name: "silence",
        strike: |_, _| Outcome::Silence,
        expected: Expected::Unknown(&[Cause::Timeout]),
    },
];

fn saying_not_found(status: u16, missing: Option<HttpReply>) -> HttpReply {
    let reply = missing.unwrap_or_else(|| HttpReply::new(404, "text/plain", "not found"));
    HttpReply { status, ..reply }
}

impl Expected {
    pub(super) fn allows(self, cause: Cause) -> bool {
        match self {
            Self::Unknown(causes) => causes.contains(&cause),
            // Somebody who was not found out there may be anybody's fault.
            Self::AtMost(_) => true,
        }
    }

    pub(super) fn proves(self, proof: Proof) -> bool {
        match self {
            Self::Unknown(_) => false,
            Self::AtMost(most) => proof.strength() <= most.strength(),
        }
    }
}

const HTML: &str = "<!doctype html><html><head><title>404 Not Found</title></head>\
                    <body><h1>Not Found</h1><p>no such container, volume or instance</p></body></html>";
