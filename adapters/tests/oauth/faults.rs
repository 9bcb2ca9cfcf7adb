//! What does each answer mean, also of a server on a bad day?

use core::time::Duration;
use std::sync::Arc;

use lifecycle_adapters::{
    endpoint::Endpoint,
    oauth::{OAuthConfig, OAuthRevoker},
    revoker::{RevokeError, Revoker as _},
};

use crate::{
    faulty::{Faulty, Reply},
    server::{by_basic, by_post},
    tokens::{Tokens, everything},
};

/// What is to become of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Revoked,
    Retried,
    NeedsAPerson,
}

use Outcome::{NeedsAPerson, Retried, Revoked};

#[tokio::test]
async fn every_answer_has_its_meaning() {
    let error = |code: &str| format!(r#"{{"error":"{code}","error_description":"of yours"}}"#);
    for (reply, outcome) in [
        (Reply::text(200, ""), Revoked),
        (Reply::text(200, "{}"), Revoked),
        (Reply::text(204, ""), Revoked),
        (Reply::text(400, error("invalid_token")), Revoked),
        (Reply::text(202, ""), Retried),
        (
            Reply::text(200, " <!DOCTYPE html><html>log in</html>"),
            Retried,
        ),
        (
            Reply::with(200, "content-type: text/html\r\n", "welcome"),
            Retried,
        ),
        (Reply::text(408, ""), Retried),
        (Reply::text(425, ""), Retried),
        (Reply::text(429, ""), Retried),
        (Reply::text(500, error("invalid_token")), Retried),
        (Reply::text(500, "token not found"), Retried),
        (Reply::text(502, "<html>bad gateway</html>"), Retried),
        (Reply::text(503, ""), Retried),
        (Reply::text(504, ""), Retried),
        (Reply::text(400, error("temporarily_unavailable")), Retried),
        (Reply::Silence, Retried),
        (Reply::Closed, Retried),
        (Reply::Cut(200), Retried),
        (Reply::Cut(500), Retried),
        (
            Reply::text(400, error("unsupported_token_type")),
            NeedsAPerson,
        ),
        (Reply::text(400, error("invalid_request")), NeedsAPerson),
        (Reply::text(400, error("invalid_client")), NeedsAPerson),
        (Reply::text(400, error("unauthorized_client")), NeedsAPerson),
        (Reply::text(400, "nonsense"), NeedsAPerson),
        (Reply::Cut(400), NeedsAPerson),
        (Reply::text(401, error("invalid_client")), NeedsAPerson),
        (Reply::text(401, error("invalid_token")), NeedsAPerson),
        (Reply::text(401, ""), NeedsAPerson),
        (Reply::text(403, ""), NeedsAPerson),
        (Reply::text(404, error("invalid_token")), NeedsAPerson),
        (Reply::text(404, "<html>not here</html>"), NeedsAPerson),
        (Reply::text(405, ""), NeedsAPerson),
        (Reply::text(410, ""), NeedsAPerson),
        (Reply::text(418, ""), NeedsAPerson),
        (
            Reply::with(302, "location: http://127.0.0.1:1/\r\n", ""),
            NeedsAPerson,
        ),
        (
            Reply::with(307, "location: http://127.0.0.1:1/\r\n", ""),
            NeedsAPerson,
        ),
    ] {
        let server = Faulty::always(reply.clone());
        let tokens = Arc::new(Tokens::default());
        tokens.issue(1, 0, "one");
        let answer = revoker(&server, &tokens).revoke(&everything()).await;
        assert_eq!(outcome_of(&answer), outcome, "{reply:?}: {answer:?}");
        assert_eq!(tokens.noted().len(), usize::from(outcome == Revoked));
    }
}

#[tokio::test]
async fn a_connection_that_is_refused_is_tried_again_later() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", closed.local_addr().expect("an address"));
    drop(closed);
    let tokens = Arc::new(Tokens::default());
    tokens.issue(1, 0, "one");
    let endpoint = Endpoint::new(&address).expect("an endpoint");
    let revoker = OAuthRevoker::new(OAuthConfig::new(endpoint, by_post()), tokens);
    let answer = revoker.expect("a revoker").revoke(&everything()).await;
    assert_eq!(outcome_of(&answer), Retried, "{answer:?}");
}

#[tokio::test]
async fn a_server_that_asks_to_be_left_alone_is_left_alone_for_so_long() {
    for status in [429, 503] {
        let server = Faulty::new(move |number, _| match number {
            0 => Reply::with(status, "retry-after: 1\r\n", ""),
            _ => Reply::text(200, ""),
        });
        let tokens = Arc::new(Tokens::default());
        tokens.issue(1, 0, "one");
        tokens.issue(1, 0, "two");
        let revoker = revoker(&server, &tokens);
        for _ in 0..3 {
            let answer = revoker.revoke(&everything()).await;
            assert_eq!(outcome_of(&answer), Retried, "{answer:?}");
        }
        assert_eq!(server.received().len(), 1, "it is left alone");
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        revoker.revoke(&everything()).await.expect("revoked");
        assert_eq!(server.received().len(), 3);
    }
}

#[tokio::test]
async fn requests_have_the_form_that_the_rfc_gives() {
    use lifecycle_adapters::oauth::TokenHint;
    let server = Faulty::always(Reply::text(200, ""));
    for client in [by_basic(), by_post()] {
        let tokens = Arc::new(Tokens::default());
        tokens.issue_kind(1, 0, "a b&c", Some(TokenHint::RefreshToken));
        let endpoint = Endpoint::new(&format!("{}/revoke?tenant=7", server.address));
        let config = OAuthConfig::new(endpoint.expect("an endpoint"), client);
        let revoker = OAuthRevoker::new(config, tokens).expect("a revoker");
        revoker.revoke(&everything()).await.expect("revoked");
    }
    let [basic, post] = &server.received()[..] else {
        panic!("two requests");
    };
    for request in [basic, post] {
        assert_eq!(request.line, "POST /revoke?tenant=7 HTTP/1.1");
        let content = request.header("content-type");
        assert_eq!(content, Some("application/x-www-form-urlencoded"));
    }
    assert_eq!(basic.body, "token=a+b%26c&token_type_hint=refresh_token");
    // by%3Abasic:s%2520+ec%3Ar%2Bet%2F%26%3D
    assert_eq!(
        basic.header("authorization"),
        Some("Basic YnklM0FiYXNpYzpzJTI1MjArZWMlM0FyJTJCZXQlMkYlMjYlM0Q=")
    );
    assert!(post.header("authorization").is_none());
    assert!(
        post.body
            .ends_with("&client_id=by+post&client_secret=s%2520+ec%3Ar%2Bet%2F%26%3D"),
        "{}",
        post.body
    );
}

pub(crate) fn revoker(server: &Faulty, tokens: &Arc<Tokens>) -> OAuthRevoker {
    let endpoint = Endpoint::new(&server.address).expect("an endpoint");
    let config = OAuthConfig::new(endpoint, by_basic()).with_timeout(Duration::from_millis(300));
    OAuthRevoker::new(config, tokens.clone()).expect("a revoker")
}

fn outcome_of(answer: &Result<(), RevokeError>) -> Outcome {
    match answer {
        Ok(()) => Revoked,
        Err(error) if error.is_retryable => Retried,
        Err(_) => NeedsAPerson,
    }
}
