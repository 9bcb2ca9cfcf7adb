//! What does each answer mean, also of a store on a bad day?

use core::time::Duration;
use std::sync::Arc;

use lifecycle_adapters::{
    endpoint::Endpoint,
    revoker::{Revocation, RevokeError, Revoker as _},
    secret::Secret,
    vault::{VaultConfig, VaultRevoker},
};

use crate::{
    faulty::{Faulty, Reply},
    grants::{Grants, before, everything},
};

/// What is to become of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Revoked,
    Retried,
    NeedsAPerson,
}

use Outcome::{NeedsAPerson, Retried, Revoked};

#[tokio::test]
async fn every_answer_has_its_meaning() {
    let errors = |text: &str| format!(r#"{{"errors":["1 error occurred: * {text}"]}}"#);
    let warned =
        r#"{"request_id":"1","data":null,"warnings":["No token found with this accessor"]}"#;
    // Of a token, of all leases, of older leases.
    for (reply, outcomes) in [
        (Reply::text(204, ""), [Revoked, Revoked, Retried]),
        (Reply::text(200, warned), [Revoked, Revoked, Retried]),
        (Reply::text(200, ""), [Retried; 3]),
        (Reply::text(200, "{}"), [Retried; 3]),
        (Reply::text(200, "<html>log in</html>"), [Retried; 3]),
        (Reply::text(202, ""), [Retried; 3]),
        (
            Reply::text(400, errors("invalid accessor")),
            [Revoked, NeedsAPerson, NeedsAPerson],
        ),
        (
            Reply::text(403, errors("invalid accessor")),
            [Revoked, NeedsAPerson, NeedsAPerson],
        ),
        (
            Reply::text(400, errors("failed to revoke it: invalid accessor")),
            [Retried; 3],
        ),
        (Reply::text(500, errors("invalid accessor")), [Retried; 3]),
        (
            Reply::text(404, errors("invalid accessor")),
            [NeedsAPerson; 3],
        ),
        (Reply::text(400, errors("anything else")), [NeedsAPerson; 3]),
        (Reply::text(400, "invalid accessor"), [NeedsAPerson; 3]),
        (Reply::text(401, ""), [NeedsAPerson; 3]),
        (
            Reply::text(403, errors("permission denied")),
            [NeedsAPerson; 3],
        ),
        (Reply::text(403, "<html>a proxy</html>"), [NeedsAPerson; 3]),
        (Reply::text(404, "<html>not here</html>"), [NeedsAPerson; 3]),
        // Nothing is listed; no lease of that id is known either, but this says it in no way known.
        (Reply::text(404, r#"{"errors":[]}"#), [NeedsAPerson; 3]),
        (Reply::text(405, ""), [NeedsAPerson; 3]),
        (Reply::text(412, ""), [Retried; 3]),
        (Reply::text(429, ""), [Retried; 3]),
        (Reply::text(472, ""), [Retried; 3]),
        (Reply::text(473, ""), [Retried; 3]),
        (Reply::text(500, "token not found"), [Retried; 3]),
        (Reply::text(502, "<html>bad gateway</html>"), [Retried; 3]),
        (Reply::text(503, errors("Vault is sealed")), [Retried; 3]),
        (Reply::text(504, ""), [Retried; 3]),
        (Reply::Silence, [Retried; 3]),
        (Reply::Closed, [Retried; 3]),
        (Reply::Cut(200), [Retried; 3]),
        (Reply::Cut(500), [Retried; 3]),
    ] {
        let server = Faulty::always(reply.clone());
        let token = || Grants::default().with_token("an-accessor");
        let leases = || Grants::default().with_leases("a/b");
        for (grants, revocation, outcome) in [
            (token(), everything(), outcomes[0]),
            (leases(), everything(), outcomes[1]),
            (leases(), before(0), outcomes[2]),
        ] {
            let grants = Arc::new(grants);
            let answer = revoker(&server, &grants).revoke(&revocation).await;
            assert_eq!(outcome_of(&answer), outcome, "{reply:?}: {answer:?}");
            let is_noted = outcome == Revoked && outcomes[0] == Revoked && is_token(&grants);
            assert_eq!(!grants.noted().is_empty(), is_noted);
        }
    }
}

#[tokio::test]
async fn requests_have_the_form_that_the_store_wants() {
    let server = Faulty::always(Reply::text(204, ""));
    let grants = Grants::default()
        .with_token("an-accessor")
        .with_leases("a/b c/%2e%2e");
    let endpoint = Endpoint::new(&format!("{}/behind/", server.address));
    let config = VaultConfig::new(endpoint.expect("an endpoint"), Secret::new("s.ours"))
        .and_then(|config| config.with_namespace("team/a"))
        .expect("a configuration");
    let revoker = VaultRevoker::new(config, Arc::new(grants)).expect("a revoker");
    revoker.revoke(&everything()).await.expect("revoked");
    let [token, leases] = &server.received()[..] else {
        panic!("two requests");
    };
    let path = "/behind/v1/auth/token/revoke-accessor";
    assert_eq!(token.line, format!("POST {path} HTTP/1.1"));
    assert_eq!(token.body, r#"{"accessor":"an-accessor"}"#);
    let path = "/behind/v1/sys/leases/revoke-prefix/a/b%20c/%252e%252e";
    assert_eq!(leases.line, format!("POST {path} HTTP/1.1"));
    assert_eq!(leases.body, r#"{"sync":true}"#);
    for request in [token, leases] {
        assert_eq!(request.header("x-vault-token"), Some("s.ours"));
        assert_eq!(request.header("x-vault-namespace"), Some("team/a"));
    }
}

#[tokio::test]
async fn a_lease_that_does_not_say_how_old_it_is_ends_as_well() {
    for issued in ["null", r#""yesterday""#, r#""1970-01-01T00:00:00Z""#] {
        let server = Faulty::new(move |_, request| {
            let path = request.line.split(' ').nth(1).unwrap_or_default();
            match path {
                "/v1/sys/leases/lookup/a/b?list=true" => {
                    Reply::text(200, r#"{"request_id":"1","data":{"keys":["one"]}}"#)
                }
                "/v1/sys/leases/lookup" if request.body.contains("a/b/one") => Reply::text(
                    200,
                    format!(r#"{{"request_id":"1","data":{{"issue_time":{issued}}}}}"#),
                ),
                "/v1/sys/leases/lookup" => Reply::text(400, r#"{"errors":["invalid lease"]}"#),
                _ => Reply::text(204, ""),
            }
        });
        let grants = Arc::new(Grants::default().with_leases("a/b"));
        let revoker = revoker(&server, &grants);
        revoker.revoke(&before(1)).await.expect("revoked");
        let received = server.received();
        let last = received.last().expect("a request");
        assert!(
            last.line.starts_with("POST /v1/sys/leases/revoke "),
            "{last:?}"
        );
        assert_eq!(last.body, r#"{"lease_id":"a/b/one","sync":true}"#);
    }
}

fn is_token(grants: &Grants) -> bool {
    format!("{grants:?}").contains("Token {")
}

pub(crate) fn revoker(server: &Faulty, grants: &Arc<Grants>) -> VaultRevoker {
    let endpoint = Endpoint::new(&server.address).expect("an endpoint");
    let config = VaultConfig::new(endpoint, Secret::new("s.ours"))
        .expect("a configuration")
        .with_clock_error(Duration::ZERO)
        .with_timeout(Duration::from_millis(300));
    VaultRevoker::new(config, grants.clone()).expect("a revoker")
}

fn outcome_of(answer: &Result<(), RevokeError>) -> Outcome {
    match answer {
        Ok(()) => Revoked,
        Err(error) if error.is_retryable => Retried,
        Err(_) => NeedsAPerson,
    }
}

/// Revokes everything, and says whether that is to be tried again.
pub(crate) async fn is_retried(revoker: &VaultRevoker, revocation: &Revocation) -> bool {
    outcome_of(&revoker.revoke(revocation).await) == Retried
}
