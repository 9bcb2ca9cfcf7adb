//! What does an answer of the revocation endpoint mean (RFC 7009, section 2.2)?

use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;

use crate::remote::{Failure, Reach, Reply, said};

/// Reads an answer: revoked, or why the token may still work.
pub(super) fn read(reply: &Reply) -> Result<(), Failure> {
    let status = reply.status;
    let code = code(&reply.body);
    if let Some(failure) = Failure::by_status(status, code) {
        return Err(failure);
    }
    let said = || said(status, code);
    match (status, code) {
        // The RFC has the client not read the text; a page for a browser is no endpoint's answer.
        (200 | 204, _) if !is_page(reply) => Ok(()),
        (200..=299, _) => Err(Failure::passing(
            format!("{}, which does not say that it is revoked", said()),
            Reach::Server,
        )),
        (300..=399, _) => Err(Failure::lasting(
            format!("{}, and is not followed to another address", said()),
            Reach::All,
        )),
        // Not an answer of the RFC, which has 200 for it; but what it says is what was wanted.
        (400, Some("invalid_token")) => Ok(()),
        (_, Some("temporarily_unavailable" | "server_error" | "slow_down")) => {
            Err(Failure::passing(said(), Reach::Server))
        }
        // It concerns the kind of token: others may be revoked.
        (_, Some("unsupported_token_type")) => Err(Failure::lasting(said(), Reach::One)),
        (401, _) | (_, Some("invalid_client")) => Err(Failure::lasting(
            format!("{}; the client's credentials need a person", said()),
            Reach::All,
        )),
        // The client may be refused this token only, because it is another client's.
        (400 | 403, _) => Err(Failure::lasting(said(), Reach::One)),
        (404 | 405 | 410, _) => Err(Failure::lasting(
            format!("{}; the endpoint's address needs a person", said()),
            Reach::All,
        )),
        _ => Err(Failure::lasting(said(), Reach::One)),
    }
}

/// Tells whether this is a page for a browser, as a proxy or a wrong address answers.
fn is_page(reply: &Reply) -> bool {
    let content = reply.headers.get(CONTENT_TYPE);
    let content = content.and_then(|content| content.to_str().ok());
    let is_html = content.is_some_and(|content| content.to_ascii_lowercase().contains("html"));
    let text = reply.body.trim_ascii_start();
    let begins = |with: &[u8]| {
        text.get(..with.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(with))
    };
    begins(b"<!doctype") || begins(b"<html") || (is_html && !text.is_empty())
}

/// Returns the error's code where it is one that is known; anything else may quote a secret.
fn code(body: &[u8]) -> Option<&'static str> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let refusal: Refusal = serde_json::from_slice(body).ok()?;
    CODES.into_iter().find(|code| *code == refusal.error)
}

/// Of RFC 6749, section 5.2 and 4.1.2.1, RFC 7009, RFC 6750 and RFC 8628.
const CODES: [&str; 13] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "unsupported_token_type",
    "invalid_token",
    "insufficient_scope",
    "access_denied",
    "server_error",
    "temporarily_unavailable",
    "slow_down",
];
