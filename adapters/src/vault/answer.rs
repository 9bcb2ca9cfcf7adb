//! What does an answer of the secret store mean?

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::remote::{Failure, Reach, Reply, said};

/// Reads the answer to a revocation: done, or why something may still work.
pub(super) fn read(reply: &Reply) -> Result<(), Failure> {
    match reply.status {
        204 if reply.body.is_empty() => Ok(()),
        // With a warning, where there was nothing to revoke.
        200 => data(reply).map(drop),
        _ => Err(failure(reply)),
    }
}

/// Reads the answer to the revocation of a token; one that is not known does not work.
pub(super) fn read_accessor(reply: &Reply) -> Result<(), Failure> {
    // Older stores refuse what newer ones warn of.
    let is_unknown =
        matches!(reply.status, 400 | 403) && phrase(&reply.body) == Some(UNKNOWN_ACCESSOR);
    if is_unknown { Ok(()) } else { read(reply) }
}

/// Reads the answer to a listing. None: there is nothing.
pub(super) fn read_list(reply: &Reply) -> Result<Option<Vec<String>>, Failure> {
    // A path that does not exist is answered with words, an empty one without.
    if reply.status == 404 && errors(&reply.body).is_some_and(|errors| errors.is_empty()) {
        return Ok(None);
    }
    let data = found(reply)?;
    let keys = data.get("keys").and_then(Value::as_array);
    let keys = keys.and_then(|keys| {
        keys.iter()
            .map(|key| key.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    });
    keys.map(Some).ok_or_else(strange)
}

/// Reads when a lease was issued. None: there is no such lease.
pub(super) fn read_issue_time(reply: &Reply) -> Result<Option<String>, Failure> {
    if reply.status == 400 && phrase(&reply.body) == Some(UNKNOWN_LEASE) {
        return Ok(None);
    }
    let data = found(reply)?;
    let issued = data.get("issue_time").and_then(Value::as_str);
    Ok(Some(issued.unwrap_or_default().to_owned()))
}

fn found(reply: &Reply) -> Result<Map<String, Value>, Failure> {
    match reply.status {
        200 => data(reply)?.ok_or_else(strange),
        _ => Err(failure(reply)),
    }
}

/// Returns what a good answer carries; it is one only in the store's own form.
fn data(reply: &Reply) -> Result<Option<Map<String, Value>>, Failure> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "request_id")]
        _request_id: String,
        data: Option<Map<String, Value>>,
    }
    let answer: Answer = serde_json::from_slice(&reply.body).map_err(|_| strange())?;
    Ok(answer.data)
}

fn failure(reply: &Reply) -> Failure {
    let status = reply.status;
    let phrase = phrase(&reply.body);
    if let Some(failure) = Failure::by_status(status, phrase) {
        return failure;
    }
    let said = said(status, phrase);
    match status {
        200..=299 => strange(),
        300..=399 => Failure::passing(
            format!("{said}: a standby names another address, which is not a configured peer"),
            Reach::All,
        ),
        // The engine behind it failed; the lease is kept, and revoked when it is asked again.
        400 if phrase == Some(UNREVOKED) => Failure::passing(said, Reach::One),
        // A policy may permit one path and not another.
        401 | 403 => Failure::lasting(
            format!("{said}; the token or its policy needs a person"),
            Reach::One,
        ),
        472 | 473 => Failure::passing(format!("{said}: a standby"), Reach::All),
        _ => Failure::lasting(said, Reach::One),
    }
}

fn strange() -> Failure {
    Failure::passing("the answer is none that the store gives", Reach::Server)
}

fn errors(body: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Refusal {
        errors: Vec<String>,
    }
    let refusal: Refusal = serde_json::from_slice(body).ok()?;
    Some(refusal.errors)
}

/// Returns a phrase that is known to be in it; the rest may quote a secret.
fn phrase(body: &[u8]) -> Option<&'static str> {
    let errors = errors(body)?;
    PHRASES
        .into_iter()
        .find(|phrase| errors.iter().any(|error| error.contains(phrase)))
}

const UNKNOWN_ACCESSOR: &str = "invalid accessor";
const UNKNOWN_LEASE: &str = "invalid lease";
const UNREVOKED: &str = "failed to revoke";

/// What went wrong behind the store comes first: its words may contain any of the others.
const PHRASES: [&str; 12] = [
    UNREVOKED,
    "permission denied",
    UNKNOWN_ACCESSOR,
    UNKNOWN_LEASE,
    "missing client token",
    "Vault is sealed",
    "rate limit quota exceeded",
    "namespace not found",
    "no handler for route",
    "unsupported path",
    "unsupported operation",
    "batch tokens cannot be revoked",
];
